-- SPDX-License-Identifier: Apache-2.0
-- A function, a timing or a group over time.

create or replace function fleetprof_data.trend_blocks(
    side   fleetprof_data.selection,
    by_day boolean,
    zone   text default 'UTC'
)
returns fleetprof_data.selection
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    blocks selection := trend_blocks.side;
    hours_from timestamptz := (select hours_from from horizon);
    first_hour timestamptz := (trend_blocks.side).after + interval '1 hour';
    days record := cover((trend_blocks.side).sites, first_hour, least((trend_blocks.side).before, hours_from), '{2}');
    hours record := cover(
        (trend_blocks.side).sites, greatest(first_hour, hours_from), (trend_blocks.side).before,
        case
            when not trend_blocks.by_day then '{0}'::smallint[]
            -- Segments have no blocks of four hours; blocks of a day are UTC days.
            when (trend_blocks.side).group_ids = (trend_blocks.side).segment_ids then
                case when trend_blocks.zone = 'UTC' then '{0,2}'::smallint[] else '{0}' end
            when trend_blocks.zone = 'UTC' then '{0,1,2}'
            else '{0,1}'
        end);
begin
    blocks.buckets := days.buckets || hours.buckets;
    blocks.spans := days.spans || hours.spans;
    if trend_blocks.by_day and trend_blocks.zone <> 'UTC' then
        blocks := without_midnights(blocks, trend_blocks.zone);
    end if;
    perform explain_selection(blocks);
    return blocks;
end
$$;

comment on function fleetprof_data.trend_blocks is
    'Returns the same selection in blocks of an hour, or of at most a day of the zone; in UTC days where hours are gone.';

create or replace function fleetprof_data.function_trend(selected fleetprof_data.selection, starts timestamptz[], key text)
returns table (bucket timestamptz, value_ms double precision, low_ms double precision, high_ms double precision, uploads bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set enable_sort = off
as $$
#variable_conflict use_column
declare
    by_key boolean := function_trend.key ~ '^-?[0-9]{1,20}$';
    wanted bigint[];
begin
    if by_key then
        wanted := frames_with_key((function_trend.selected).sites, function_trend.key);
    else
        wanted := array(select frame_id from named_frame where function = function_trend.key);
    end if;

    return query
    with total as materialized (
        select
            coalesce((function_trend.starts)[width_bucket(bucket, function_trend.starts)], bucket) as bucket,
            sum(uploads)::double precision as uploads,
            sum(loads)::double precision as loads
        from (
            select bucket, unnest(uploads) as uploads, unnest(loads) as loads
            from total_packed
            where is_selected(function_trend.selected, sealed, group_id, bucket, span)
        ) as entry
        group by 1
    ),
    cost as (
        select bucket, sum(self_us) as self_us, sum(sqrt(self_us2)) as spread, sum(uploads) as uploads
        from (
            select
                coalesce((function_trend.starts)[width_bucket(bucket, function_trend.starts)], bucket) as bucket,
                frame_id,
                sum(self_us)::double precision as self_us, sum(self_us2) as self_us2, sum(uploads) as uploads
            from (
                select
                    bucket, wanted_id as frame_id, self_us[place] as self_us, self_us2[place]::double precision as self_us2,
                    uploads[place] as uploads
                from (
                    -- || reads each array once, not for each element.
                    select
                        bucket, frame_id || '{}' as frame_id, self_us || '{}' as self_us, self_us2 || '{}' as self_us2,
                        uploads || '{}' as uploads
                    from frame_packed
                    where is_selected(function_trend.selected, sealed, group_id, bucket, span)
                    offset 0
                ) as packed
                cross join lateral (
                    select wanted_id, unnest(array_positions(frame_id, wanted_id)) as place from unnest(wanted) as wanted_id
                ) as found
            ) as entry
            group by 1, 2
        ) as frame
        group by bucket
    ),
    estimate as (
        select
            bucket,
            coalesce(self_us, 0) / 1000 as self_ms,
            -- The error of the sum, from the variance between uploads within the step.
            1.96 / 1000 * sqrt(greatest(0, coalesce(spread, 0) ^ 2 - coalesce(self_us, 0) ^ 2 / nullif(total.uploads, 0))
                * total.uploads / nullif(total.uploads - 1, 0)) as error_ms,
            nullif(loads, 0) as loads,
            coalesce(cost.uploads, 0)::bigint as uploads
        from total
        left join cost using (bucket)
    )
    select
        bucket, self_ms / loads, case when error_ms is not null then greatest(0, self_ms - error_ms) / loads end,
        (self_ms + error_ms) / loads, uploads
    from estimate
    order by bucket;
end
$$;

comment on function fleetprof_data.function_trend is
    'Returns fleetprof.trend for a function, by its function_key or its name.';

create or replace function fleetprof_data.timing_trend(
    selected    fleetprof_data.selection,
    starts      timestamptz[],
    kind        text,
    key         text,
    navigations text[]
)
returns table (bucket timestamptz, value_ms double precision, low_ms double precision, high_ms double precision, uploads bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    wanted bigint[] := array(
        select timing_id
        from timing
        where name = timing_trend.key and kind::text = timing_trend.kind
            and (timing_trend.navigations is null or navigation = any(timing_trend.navigations)));
    share double precision := case timing_trend.kind when 'vital' then 0.75 else 0.5 end;
begin
    return query
    with histogram as (
        select
            coalesce((timing_trend.starts)[width_bucket(bucket, timing_trend.starts)], bucket) as bucket,
            bin, sum(count) as count
        from (
            select bucket, unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
            from timing_bin_packed
            where is_selected(timing_trend.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(wanted)
        group by 1, 2
        -- Vitals that a later part replaced in another step leave no count.
        having sum(count) > 0
    ),
    cumulative as (
        select
            bucket,
            bin_middle_us(bin) / 1000 as value_ms,
            sum(count) over (partition by bucket order by bin) as up_to,
            sum(count) over (partition by bucket) as count
        from histogram
    ),
    upload as (
        select
            coalesce((timing_trend.starts)[width_bucket(bucket, timing_trend.starts)], bucket) as bucket,
            sum(uploads)::bigint as uploads,
            min(min_us) / 1000::double precision as min_ms, max(max_us) / 1000::double precision as max_ms
        from (
            select
                bucket, unnest(timing_id) as timing_id, unnest(uploads) as uploads, unnest(min_us) as min_us,
                unnest(max_us) as max_us
            from timing_packed
            where is_selected(timing_trend.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(wanted)
        group by 1
    )
    select
        bucket,
        -- The percentile and its 95 % interval, from the values at both ends of its interval of ranks. The middle of a
        -- bin may lie beyond all of its values.
        least(greatest(min(value_ms) filter (where up_to >= share * count), min_ms), max_ms),
        least(greatest(
            min(value_ms) filter (where up_to >= low_rank(share, count::double precision)), min_ms), max_ms),
        -- Null if too few values are above.
        case
            when max(count) >= high_rank(share, max(count)::double precision) then
                least(greatest(
                    min(value_ms) filter (where up_to >= high_rank(share, count::double precision)), min_ms), max_ms)
        end,
        uploads
    from cumulative
    join upload using (bucket)
    group by bucket, uploads, min_ms, max_ms
    order by bucket;
end
$$;

comment on function fleetprof_data.timing_trend is
    'Returns fleetprof.trend for a mark, a measure or a vital (kind), by its name. navigations: of these kinds of navigation; null: all.';

create or replace function fleetprof_data.group_trend(
    selected fleetprof_data.selection,
    starts   timestamptz[],
    kind     text,
    key      text
)
returns table (bucket timestamptz, value_ms double precision, low_ms double precision, high_ms double precision, uploads bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    of_scripts constant boolean := group_trend.kind = any(script_groups())
        and group_trend.key <> '(unattributed)';
    markers smallint[] := case
        when group_trend.key = '(unattributed)' then '{-1}'
        when group_trend.kind = 'marker' then array(
            select number - 1
            from unnest(enum_range(null::marker)) with ordinality as marker (name, number)
            where name::text = group_trend.key)
        else select_markers(null)
    end;
    wanted bigint[];
begin
    if of_scripts then
        wanted := array(
            select frame_id
            from frame_groups(
                group_trend.kind,
                array(
                    select distinct frame_id
                    from (
                        select unnest(frame_id) as frame_id
                        from frame_packed
                        where is_selected(group_trend.selected, sealed, group_id, bucket, span)
                    ) as entry),
                case when group_trend.kind in ('party', 'owner') then own_hosts(group_trend.selected) end)
            where name = group_trend.key);
    end if;

    return query
    with total as materialized (
        select
            coalesce((group_trend.starts)[width_bucket(bucket, group_trend.starts)], bucket) as bucket,
            sum(uploads)::double precision as uploads,
            sum(loads)::double precision as loads, sum(self_us)::double precision as profiled_us,
            sum(profiled_us2) as profiled_us2,
            coalesce(sum(self_us) filter (where marker = any(markers)), 0)::double precision as self_us
        from (
            select
                bucket, unnest(marker) as marker, unnest(uploads) as uploads, unnest(loads) as loads,
                unnest(self_us) as self_us, unnest(profiled_us2) as profiled_us2
            from total_packed
            where is_selected(group_trend.selected, sealed, group_id, bucket, span)
        ) as entry
        group by 1
    ),
    cost as (
        select
            bucket, sum(self_us)::double precision as self_us, sum(sqrt(self_us2)) as spread, sum(uploads) as uploads
        from (
            select
                coalesce((group_trend.starts)[width_bucket(bucket, group_trend.starts)], bucket) as bucket,
                frame_id, sum(self_us) as self_us,
                sum(self_us2)::double precision as self_us2, sum(uploads) as uploads
            from (
                select
                    bucket, unnest(frame_id) as frame_id, unnest(self_us) as self_us, unnest(self_us2) as self_us2,
                    unnest(uploads) as uploads
                from frame_packed
                where is_selected(group_trend.selected, sealed, group_id, bucket, span)
            ) as entry
            where frame_id = any(wanted)
            group by 1, 2
        ) as frame
        group by bucket
    ),
    estimate as (
        select
            bucket,
            case when of_scripts then coalesce(cost.self_us, 0) else total.self_us end as self_us,
            -- The sum of squares over uploads is not stored for groups. Two upper bounds are known: all functions of
            -- the group peak in the same uploads; each upload spends either all of its time in the group, or none.
            least(
                case when of_scripts then coalesce(spread, 0) ^ 2 end,
                case when of_scripts then coalesce(cost.self_us, 0) else total.self_us end / nullif(profiled_us, 0) * profiled_us2
            ) as self_us2,
            total.uploads as all_uploads,
            nullif(loads, 0) as loads,
            case
                when of_scripts then least(coalesce(cost.uploads, 0), total.uploads)
                when markers = select_markers(null) then total.uploads
            end::bigint as uploads
        from total
        left join cost using (bucket)
    ),
    ranged as (
        select
            *,
            1.96 * sqrt(greatest(0, coalesce(self_us2, 0) - self_us ^ 2 / nullif(all_uploads, 0))
                * all_uploads / nullif(all_uploads - 1, 0)) as error_us
        from estimate
    )
    select
        bucket, self_us / 1000 / loads, case when error_us is not null then greatest(0, self_us - error_us) / 1000 / loads end,
        (self_us + error_us) / 1000 / loads, uploads
    from ranged
    order by bucket;
end
$$;

comment on function fleetprof_data.group_trend is
    'Returns fleetprof.trend for a group of scripts, a marker, or the whole selection (any other kind), by the name that fleetprof.cost_by lists.';

create or replace function fleetprof.trend(
    by   text,
    key  text,
    step text,
    -- {{filters and vitals}}
)
returns table (
    bucket            timestamptz,
    value_ms          double precision,
    low_ms            double precision,
    high_ms           double precision,
    uploads           bigint,
    definition_change text
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    of_dimension constant boolean := is_dimension(trend.by);
    navigations constant text[] := select_navigations_of(trend.by, trend.navigation, trend.exclude_navigation);
    selected selection;
    -- Before its blocks are those of the trend.
    whole selection;
    zone constant text := fleetprof.timezone_of(trend.site);
    -- Null: each hour is a step.
    starts timestamptz[];
begin
    if (trend.step = any('{hour,day}')) is not true then
        raise invalid_parameter_value using
            message = format('step is "%s"', coalesce(trend.step, 'null')),
            hint = 'step is hour or day.';
    end if;
    if trend.key is null then
        raise invalid_parameter_value using
            message = 'key is null',
            hint = 'Name what to follow: a function by its function_key or name, others by their name.';
    end if;
    selected := select_segments(listed_by(given, trend.by), by_segment => of_dimension);
    if of_dimension and trend.key <> '(unattributed)' then
        -- All time of uploads with this value.
        selected.segment_ids := (
            select array_agg(segment_id order by segment_id)
            from segment
            where segment_id = any(selected.segment_ids) and coalesce(to_jsonb(segment) ->> trend.by, custom_value(custom, trend.by)) = trend.key);
        selected.group_ids := selected.segment_ids;
    end if;
    whole := selected;
    selected := trend_blocks(selected, trend.step = 'day', zone);
    if trend.step = 'day' then
        starts := day_starts(selected, zone);
    end if;
    case
        when trend.by = 'function' then
            return query select trend.*, null from function_trend(selected, starts, trend.key) as trend;
        when trend.by = 'vital' then
            return query
            select bucket, value_ms, low_ms, high_ms, uploads, definition_change
            from timing_trend(selected, starts, trend.by, trend.key, navigations)
            left join definition_changes(whole, trend.step = 'day', zone, starts, trend.key, navigations) using (bucket)
            order by bucket;
        when trend.by in ('mark', 'measure') then
            return query select trend.*, null from timing_trend(selected, starts, trend.by, trend.key, navigations) as trend;
        when of_dimension or trend.by = any(script_groups() || 'marker'::text) then
            -- Citus has no plan for the joins if nothing is selected.
            if selected.segment_ids is not null then
                return query select trend.*, null from group_trend(selected, starts, trend.by, trend.key) as trend;
            end if;
        else
            raise invalid_parameter_value using
                message = format('there is no trend by "%s"', coalesce(trend.by, 'null')),
                hint = 'by is function, mark, measure or vital; ' || array_to_string(script_groups(), ', ') || '; '
                    || array_to_string(dimensions() || 'custom.NAME'::text, ', ') || '; or marker.';
    end case;
end
$$;

comment on function fleetprof.trend is
    -- {{comment of trend}};

revoke execute on function
    fleetprof_data.trend_blocks, fleetprof_data.function_trend, fleetprof_data.timing_trend, fleetprof_data.group_trend,
    fleetprof.trend
from public;
grant execute on function
    fleetprof_data.trend_blocks, fleetprof_data.function_trend, fleetprof_data.timing_trend, fleetprof_data.group_trend,
    fleetprof.trend
to fleetprof_reader;
