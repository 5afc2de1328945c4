-- SPDX-License-Identifier: Apache-2.0
-- Changes of what browsers measure as a web vital, and where they show in a trend.

create or replace function fleetprof_data.vital_changes(
    vital  text,
    after  timestamptz default '-infinity',
    before timestamptz default 'infinity'
)
returns table (browsers text[], version integer, since timestamptz, meaning text)
language plpgsql immutable parallel safe rows 1
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select browsers, version, since, meaning
    from (
        select null::text[] as vitals, null::text[] as browsers, null::integer as version, null::timestamptz as since, null::text as meaning
        -- {{each vital change: union all select '{$vitals}', '{$browsers}', $version, '$since 00:00Z', $meaning}}
    ) as change
    where vital_changes.vital = any(vitals)
        -- Half a year after a change only few page loads are left on its old side.
        and since > vital_changes.after - interval '26 weeks'
        and since < vital_changes.before;
end
$$;

comment on function fleetprof_data.vital_changes is
    'Returns the changes of what browsers measure as a web vital that can show in a period: the first major version of browsers that measures otherwise, and when it came. schema/vital_changes has their sources.';

create or replace function fleetprof_data.definition_changes(
    selected    fleetprof_data.selection,
    by_day      boolean,
    zone        text,
    starts      timestamptz[],
    vital       text,
    navigations text[]
)
returns table (bucket timestamptz, definition_change text)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    versions selection := definition_changes.selected;
    after constant timestamptz := versions.after;
    before constant timestamptz := versions.before;
    wanted bigint[] := array(
        select timing_id
        from timing
        where name = definition_changes.vital and kind = 'vital' and navigation = any(definition_changes.navigations));
begin
    -- Versions from both sides of a change.
    versions.segment_ids := (
        select array_agg(segment_id order by segment_id)
        from (
            select
                segment_id,
                bool_or(browser_version::integer < version) over of_change
                    and bool_or(browser_version::integer >= version) over of_change as has_both
            from segment
            join vital_changes(definition_changes.vital, after, before) on browser = any(browsers)
            where segment_id = any((definition_changes.selected).segment_ids)
                and browser_version ~ '^[0-9]{1,3}$'
                and os <> 'iOS'
            window of_change as (partition by browsers, version)
        ) as side
        where has_both);
    -- Citus has no plan for the joins if nothing is selected.
    if versions.segment_ids is null then
        return;
    end if;
    versions.group_ids := versions.segment_ids;
    versions := trend_blocks(versions, definition_changes.by_day, definition_changes.zone);

    return query
    with counted as materialized (
        select bucket, segment_id, sum(count) as count
        from (
            select
                coalesce((definition_changes.starts)[width_bucket(bucket, definition_changes.starts)], bucket) as bucket,
                group_id as segment_id, unnest(timing_id) as timing_id, unnest(count) as count
            from timing_packed
            where is_selected(versions, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(wanted)
        group by 1, 2
    ),
    -- How many more values are of the old definition than of the new one.
    step as (
        select
            bucket, browsers, version, meaning,
            sum(case when browser_version::integer < version then count else -count end) as old
        from counted
        join segment using (segment_id)
        join vital_changes(definition_changes.vital, after, before) on browser = any(browsers)
        group by bucket, browsers, version, meaning
    ),
    -- The step from which on the new definition explains most values, if it does better than one definition throughout.
    split as (
        select
            *,
            coalesce(sum(old) over (of_change rows between unbounded preceding and 1 preceding), 0) as gain,
            greatest(0, sum(old) over (partition by browsers, version)) as without
        from step
        window of_change as (partition by browsers, version order by bucket)
    ),
    best as (
        select distinct on (browsers, version) bucket, browsers, version, meaning
        from split
        where gain > without
        order by browsers, version, gain desc, bucket
    )
    select bucket, string_agg(format('%s %s: %s', array_to_string(browsers, ', '), version, meaning), '; ' order by version)
    from best
    group by bucket;
end
$$;

comment on function fleetprof_data.definition_changes is
    'Returns the steps of a trend from which on most values of a vital have another definition, because most browsers have a version of vital_changes; text says which. selected: before trend_blocks. starts: of days; null: steps are hours.';

revoke execute on function fleetprof_data.vital_changes, fleetprof_data.definition_changes from public;
grant execute on function fleetprof_data.vital_changes, fleetprof_data.definition_changes to fleetprof_reader;
