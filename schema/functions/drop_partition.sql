-- Retention: collectors drop partitions through this function, since their role may not drop tables.

create or replace function fleetprof_data.drop_partition(facts_from date, uploads_from date, sessions_from date)
returns name
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- Whoever queues behind the lock that dropping needs waits as long as it waits itself.
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
    child name;
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
        and to_date(right(c.relname, 8), 'YYYYMMDD') < case
            when p.relname = 'upload' then drop_partition.uploads_from
            when p.relname in ('session', 'timeline', 'event') then drop_partition.sessions_from
            else drop_partition.facts_from
        end
    order by c.relname
    limit 1;
    if child is not null then
        execute format('drop table fleetprof_data.%I', child);
    end if;
    return child;
end
$$;

comment on function fleetprof_data.drop_partition(date, date, date) is
    'Drops one partition of a UTC day before facts_from (of upload: uploads_from; of session, timeline and event: sessions_from) and returns its name, null when there is none. One per call: each takes a lock that readers and writers of its table wait for.';

revoke execute on function fleetprof_data.drop_partition from public;
grant execute on function fleetprof_data.drop_partition to fleetprof_writer;
