-- SPDX-License-Identifier: Apache-2.0
-- Retention: the day on which a partition of each table may go.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;

-- Which of the four days counts, and how many days a partition has.
create temp table kept as
select parent, day, days
from (values
    ('upload', 'uploads', 1), ('refusal', 'uploads', 1), ('session', 'sessions', 1), ('timeline', 'sessions', 1), ('event', 'sessions', 1)
) as log (parent, day, days)
union all
select kind || stage, day, days
from unnest('{total,frame,frame_marker,stack,timing,timing_bin,measure,measure_frame}'::text[]) as kind
cross join (values ('_hours', 'hours', 1), ('_days', 'facts', 8)) as form (stage, day, days);

-- The fixture has three days; the second begins a partition of eight, and so does one long before.
select fleetprof_data.make_partitions(array['2025-12-20']::date[]) \g /dev/null
create temp table made as
select parent, inhrelid::regclass::text as child, day, to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') + days as free
from kept
join pg_inherits on inhparent = ('fleetprof_data.' || parent)::regclass;

-- The names of what goes with this day, while the other days are long past.
create function pg_temp.gone(which text, day date, hours_from timestamptz default 'infinity')
returns name[]
language plpgsql
as $$
declare
    long_past constant date := '1970-01-01';
    names     name[] := '{}';
    child     name;
begin
    begin
        update fleetprof_data.horizon set hours_from = gone.hours_from;
        loop
            child := fleetprof_data.drop_partition(
                case which when 'facts' then day else long_past end, case which when 'hours' then day else long_past end,
                case which when 'uploads' then day else long_past end, case which when 'sessions' then day else long_past end);
            exit when child is null;
            names := names || child;
        end loop;
        raise sqlstate 'ZZZZZ';
    exception when sqlstate 'ZZZZZ' then -- all is there again
    end;
    return names;
end
$$;
create function pg_temp.free(which text, day date)
returns name[]
language sql
return array(
    select regexp_replace(child, '^.*[.]', '')::name
    from made
    where made.day = free.which and made.free <= free.day
    order by right(child, 8), parent in ('timeline', 'event'), 1);

select plan(16);
select results_eq(
    $$ select relname::text collate "C" from pg_partitioned_table join pg_class c on c.oid = partrelid
       where relnamespace = 'fleetprof_data'::regnamespace order by 1 $$,
    'select parent collate "C" from kept order by 1', 'each partitioned table has an example');
select is_empty('select parent from kept where fleetprof_data.partition_days(parent::name) <> days', 'a partition has one day, or eight');
select is(pg_temp.gone(which, day::date), pg_temp.free(which, day::date), format('%s from %s', which, day))
from unnest('{facts,hours,uploads,sessions}'::text[]) as which
cross join unnest('{2025-12-20,2026-01-06,2026-01-20}'::text[]) as day;
select is(pg_temp.gone('hours', '2026-01-20', '2026-01-06 05:00Z'), pg_temp.free('hours', '2026-01-06'), 'hours stay from the horizon''s day');
select is(cardinality(pg_temp.gone('uploads', '2026-01-20')), 8, 'two tables, four days');

select * from finish();
rollback;
