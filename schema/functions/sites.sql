-- SPDX-License-Identifier: Apache-2.0
-- Lists of the stored data: sites, the values of a dimension, releases, and uploads by hour.

create or replace function fleetprof.sites()
returns table (
    site        text,
    first_hour  timestamptz,
    last_hour   timestamptz,
    loads       bigint,
    uploads     bigint,
    profiled_ms double precision,
    timezone    text
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(row('%', '-infinity', 'infinity', null, null), by_segment => true);
begin
    return query
    with total as (
        select
            site, min(bucket) as first_block, max(bucket) as last_block,
            sum(loads) filter (where frame = 'top')::bigint as loads,
            sum(uploads)::bigint as uploads, sum(self_us) / 1000::double precision as profiled_ms
        from (
            select group_id, bucket, unnest(loads) as loads, unnest(uploads) as uploads, unnest(self_us) as self_us
            from total_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join segment on segment_id = group_id
        group by site
    ),
    -- Rows of sealed days lack the hour, so the latest hour comes from rows of hours.
    latest as (
        select site, max(bucket) as last_hour
        from total_packed
        join segment on segment_id = group_id
        where span = 0 and bucket >= now() - interval '3 days'
        group by site
    ),
    known as (select distinct site from segment)
    select
        site, first_block, greatest(last_block, last_hour), coalesce(loads, 0), coalesce(uploads, 0),
        coalesce(profiled_ms, 0), coalesce(timezone, 'UTC')
    from known
    left join total using (site)
    left join latest using (site)
    left join site_timezone using (site)
    order by coalesce(uploads, 0) desc, site;
end
$$;

comment on function fleetprof.sites is
    -- {{comment of sites}};

create or replace function fleetprof.field_values(
    field text,
    -- {{filters}}
)
returns table (value text, uploads bigint)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    fields constant text[] := 'site'::text || dimensions() || 'custom.NAME'::text;
    selected selection := select_segments(listed_by(given, field_values.field), by_segment => true);
begin
    if not is_dimension(field_values.field) and (field_values.field = any(fields)) is not true then
        raise invalid_parameter_value using
            message = format('there is no field "%s"', coalesce(field_values.field, 'null')),
            hint = format('field is one of %s.', array_to_string(fields, ', '));
    end if;
    return query
    select named.value, sum(uploads)::bigint as uploads
    from (
        select group_id, unnest(uploads) as uploads
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    join (
        select segment_id as group_id, coalesce(to_jsonb(segment) ->> field_values.field, custom_value(custom, field_values.field)) as value
        from segment
    ) as named using (group_id)
    group by named.value
    having sum(uploads) > 0
    order by sum(uploads) desc, named.value;
end
$$;

comment on function fleetprof.field_values is
    -- {{comment of field_values}};

create or replace function fleetprof.summary(
    -- {{filters}}
)
returns table (
    bucket          timestamptz,
    loads           bigint,
    uploads         bigint,
    profiled_ms     double precision,
    unattributed_ms double precision,
    hours           integer,
    unseen_ms       double precision,
    seen_share      double precision,
    script_ms       double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := trend_blocks(select_segments(given), false);
    scripts constant smallint[] := script_markers();
begin
    return query
    select
        bucket, sum(loads)::bigint, sum(uploads)::bigint, sum(self_us) / 1000::double precision,
        coalesce(sum(self_us) filter (where marker < 0), 0) / 1000::double precision,
        case when max(span) = 2 then 24 else 1 end,
        coalesce(sum(unseen_us), 0) / 1000::double precision,
        sum(self_us)::double precision / nullif(sum(self_us) + coalesce(sum(unseen_us), 0), 0),
        coalesce(sum(self_us) filter (where marker = any(scripts)), 0) / 1000::double precision
    from (
        select
            bucket, span, unnest(marker) as marker, unnest(loads) as loads, unnest(uploads) as uploads,
            unnest(self_us) as self_us, unnest(unseen_us) as unseen_us
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    group by bucket
    order by bucket;
end
$$;

comment on function fleetprof.summary is
    -- {{comment of summary}};

create or replace function fleetprof.releases(
    -- {{filters of both sides}}
)
returns table (
    release       text,
    first_hour    timestamptz,
    last_hour     timestamptz,
    uploads       bigint,
    first_upload  timestamptz,
    rollout_began timestamptz
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
begin
    perform check_period(releases.since, releases.until);
    return query
    select release, first_hour, last_hour, uploads, first, begins
    from release_lives(given)
    -- An empty interval overlaps nothing.
    where (releases.since = releases.until) is not true and release in (
        select release
        from release_hours(given)
        where bucket + length > coalesce(releases.since, '-infinity') and bucket < coalesce(releases.until, 'infinity'))
    order by begins, release;
end
$$;

comment on function fleetprof.releases is
    -- {{comment of releases}};

revoke execute on function fleetprof.sites, fleetprof.field_values, fleetprof.summary, fleetprof.releases from public;
grant execute on function fleetprof.sites, fleetprof.field_values, fleetprof.summary, fleetprof.releases
to fleetprof_reader;
