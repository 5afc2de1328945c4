-- SPDX-License-Identifier: Apache-2.0
-- Time zones: the zone of a site's days, and where the days of a trend begin.

create or replace function fleetprof_data.keep_timezones(zones jsonb)
returns text
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    unknown text;
begin
    delete from site_timezone
    where keep_timezones.zones ->> site = 'UTC';
    -- Reading the server's list of zones is slow, so only a new name is checked against it.
    with given as materialized (
        select key as site, value as timezone
        from jsonb_each_text(keep_timezones.zones)
        where value <> 'UTC'
            and not exists (
                select from site_timezone as known where (known.site, known.timezone) = (key, value))
    ),
    known as materialized (
        select name from pg_timezone_names where exists (select from given)
    ),
    kept as (
        insert into site_timezone (site, timezone)
        select site, timezone from given where timezone in (select name from known) order by site
        on conflict (site) do update set timezone = excluded.timezone
    )
    select string_agg(site || '=' || timezone, ',' order by site)
    into unknown
    from given
    where timezone not in (select name from known);
    return unknown;
end
$$;

comment on function fleetprof_data.keep_timezones is
    'Replaces the time zones of these sites in site_timezone: an object of names by site. Returns those that the server does not know, as site=name with commas between them, null if there are none; these sites keep their zone.';

-- A quoted body, because Citus does not support a RETURN that reads tables.
create or replace function fleetprof.timezone_of(site text)
returns text
language sql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
    select case when count(distinct zone) = 1 then min(zone) else 'UTC' end
    from (
        select coalesce(timezone, 'UTC') as zone
        from (
            select distinct site from fleetprof_data.segment where fleetprof_data.matches(site, timezone_of.site)
        ) as selected
        left join fleetprof_data.site_timezone using (site)
    ) as each
$$;

comment on function fleetprof.timezone_of is
    -- {{comment of timezone_of}};

create or replace function fleetprof_data.without_midnights(blocks fleetprof_data.selection, zone text)
returns fleetprof_data.selection
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    parted selection := without_midnights.blocks;
begin
    select coalesce(array_agg(bucket order by span desc, bucket), '{}'), coalesce(array_agg(span order by span desc, bucket), '{}')
    into parted.buckets, parted.spans
    from (
        select part as bucket, case when is_parted then 0 else span end::smallint as span
        from (
            select
                bucket, span,
                span = 1 and (bucket at time zone without_midnights.zone)::date
                    <> ((bucket + interval '3 hours') at time zone without_midnights.zone)::date as is_parted
            from unnest((without_midnights.blocks).buckets, (without_midnights.blocks).spans) as block (bucket, span)
        ) as block
        cross join lateral generate_series(
            bucket, bucket + case when is_parted then interval '3 hours' else interval '0' end, interval '1 hour') as part
    ) as block;
    return parted;
end
$$;

comment on function fleetprof_data.without_midnights is
    'Returns the same selection, with hours instead of blocks of four hours that begin in one day of the zone and end in another.';

create or replace function fleetprof_data.day_start(day date, zone text)
returns timestamptz
language sql stable strict parallel safe
return (
    select case
        -- Where clocks go back at midnight, the day has two midnights: at time zone returns the second one.
        when ((start - interval '1 hour') at time zone zone)::date = day then start - interval '1 hour'
        else start
    end
    from (select day::timestamp at time zone zone as start) as midnight
);

comment on function fleetprof_data.day_start is 'Returns when a day begins in a time zone.';

create or replace function fleetprof_data.day_starts(blocks fleetprof_data.selection, zone text)
returns timestamptz[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    first timestamptz;
    last timestamptz;
begin
    -- Unsealed facts have no blocks.
    select min(bucket), max(bucket)
    into first, last
    from unsealed
    where site = any((day_starts.blocks).sites)
        and bucket > (day_starts.blocks).after and bucket < (day_starts.blocks).before;

    return (
        with block as (
            select bucket, span from unnest((day_starts.blocks).buckets, (day_starts.blocks).spans) as block (bucket, span)
        ),
        -- Blocks end at most a day after they begin.
        period as (
            select
                (least(first, min(bucket)) at time zone day_starts.zone)::date as first_day,
                ((greatest(last, max(bucket)) + interval '1 day') at time zone day_starts.zone)::date as last_day
            from block
            where span < 2 or day_starts.zone = 'UTC'
        )
        select array_agg(start order by start)
        from (
            select day_start(first_day + number, day_starts.zone) as start
            from period
            cross join lateral generate_series(0, last_day - first_day) as number
            union
            -- UTC days stay whole.
            select bucket from block where span = 2
        ) as step);
end
$$;

comment on function fleetprof_data.day_starts is
    'Returns where the steps of trend by day begin, in order: days of the zone, and UTC days where hours are gone. blocks: as trend_blocks returns them. The last one that is not after a bucket is its step; an hour belongs to the day in which it begins.';

revoke execute on function
    fleetprof_data.keep_timezones, fleetprof.timezone_of, fleetprof_data.without_midnights,
    fleetprof_data.day_start, fleetprof_data.day_starts
from public;
grant execute on function
    fleetprof.timezone_of, fleetprof_data.without_midnights, fleetprof_data.day_start, fleetprof_data.day_starts
to fleetprof_reader;
grant execute on function fleetprof_data.keep_timezones to fleetprof_writer;
