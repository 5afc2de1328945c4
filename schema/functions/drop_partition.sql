-- SPDX-License-Identifier: Apache-2.0
-- Retention: collectors drop partitions through these functions, since their role may not drop tables.

create or replace function fleetprof_data.drop_partition(
    facts_from    date,
    hours_from    date,
    uploads_from  date,
    sessions_from date
)
returns name
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
-- Queries that queue behind this lock wait as long as the drop itself waits.
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
    horizon date := (select least(drop_partition.hours_from, (h.hours_from at time zone 'UTC')::date)
        from fleetprof_data.horizon h);
    child   name;
begin
    select c.relname
    into child
    from pg_inherits i
    join pg_class p on p.oid = i.inhparent
    join pg_class c on c.oid = i.inhrelid
    where p.relnamespace = 'fleetprof_data'::regnamespace
        and p.relkind = 'p'
        and c.relkind = 'r'
        and c.relname ~ '_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') + fleetprof_data.partition_days(p.relname) <= case
            when p.relname in ('upload', 'refusal') then drop_partition.uploads_from
            when p.relname in ('session', 'timeline', 'event') then drop_partition.sessions_from
            when p.relname like '%\_hours' then horizon
            else drop_partition.facts_from
        end
    -- Drops the oldest day first, a few partitions at a time. Sessions go before their events, else they would be
    -- listed without events.
    order by right(c.relname, 8), p.relname in ('timeline', 'event'), c.relname
    limit 1;
    if child is not null then
        execute format('drop table fleetprof_data.%I', child);
    end if;
    return child;
end
$$;

comment on function fleetprof_data.drop_partition(date, date, date, date) is
    'Drops one partition whose last UTC day is before facts_from (of KIND_hours: before hours_from and the horizon; of upload and refusal: uploads_from; of session, timeline and event: sessions_from; sessions before their events) and returns its name, null when there is none. One per call: each takes a lock that readers and writers of its table wait for.';

create or replace function fleetprof_data.move_horizon(facts_from date, hours_from date)
returns timestamptz
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    facts_start timestamptz := move_horizon.facts_from::timestamp at time zone 'UTC';
    hours_start timestamptz := move_horizon.hours_from::timestamp at time zone 'UTC';
    -- Where partitions of eight days that are kept begin.
    kept_start  timestamptz := (move_horizon.facts_from - (move_horizon.facts_from - '1970-01-01') % 8)::timestamp
        at time zone 'UTC';
    moved       timestamptz;
    kind        text;
begin
    -- Rows past their retention that were never sealed are dropped together with their partition.
    if exists (select 1 from fleetprof_data.unsealed where bucket < kept_start) then
        foreach kind in array array[
            'total', 'frame', 'frame_marker', 'stack', 'timing', 'timing_bin', 'measure', 'measure_frame'
        ] loop
            execute format('delete from fleetprof_data.%I where bucket < $1', kind || '_recent') using kept_start;
        end loop;
        delete from fleetprof_data.unsealed where bucket < kept_start;
    end if;
    delete from fleetprof_data.sealed
    where bucket < kept_start or span < 2 and bucket < facts_start;
    -- Hours of a day may be dropped once the day of each site is built.
    update fleetprof_data.horizon h
    set hours_from = n.moved
    from (
        select greatest(facts_start, least(hours_start, date_trunc('day', least(
            (select min(bucket) from fleetprof_data.sealed where span < 2),
            (select min(bucket) from fleetprof_data.unsealed)), 'UTC'))) as moved
    ) n
    where h.hours_from < n.moved
    returning h.hours_from into moved;
    return moved;
end
$$;

comment on function fleetprof_data.move_horizon(date, date) is
    'Moves horizon.hours_from, and returns it if it moved: to hours_from, or to the first day of which a site has unsealed rows or only blocks that are shorter than a day; at least to facts_from. Forgets blocks and unsealed rows whose partitions are past facts_from. Only one collector may call it at a time, and none may seal meanwhile.';

revoke execute on function fleetprof_data.drop_partition, fleetprof_data.move_horizon from public;
grant execute on function fleetprof_data.drop_partition, fleetprof_data.move_horizon to fleetprof_writer;
