-- SPDX-License-Identifier: Apache-2.0
-- State that the collectors of one database share (table file 0006).

create or replace function fleetprof_data.share_secret(proposed bytea)
returns bytea
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if not exists (select from draw_secret) then
        insert into draw_secret values (proposed) on conflict do nothing;
    end if;
    return (select secret from draw_secret);
end
$$;

comment on function fleetprof_data.share_secret is
    'Returns the secret of the draw for sample_keep. The first collector that asks proposes it.';

create or replace function fleetprof_data.share_kept(spool uuid, hour timestamptz, kept jsonb)
returns table (site text, own bigint, others bigint)
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    -- After a restart, the row has a higher count than its collector.
    insert into kept_bytes as known (spool_id, site, bucket, bytes)
    select spool, key, hour, value::bigint
    from jsonb_each_text(share_kept.kept)
    order by key
    on conflict (spool_id, site) do update
    set bucket = excluded.bucket,
        bytes = case when known.bucket = excluded.bucket then greatest(known.bytes, excluded.bytes) else excluded.bytes end
    where known.bucket <> excluded.bucket or known.bytes < excluded.bytes;
    delete from kept_bytes where bucket < hour - interval '1 day';
    return query
    select
        known.site,
        coalesce(sum(bytes) filter (where spool_id = spool), 0)::bigint,
        coalesce(sum(bytes) filter (where spool_id <> spool), 0)::bigint
    from kept_bytes as known
    where bucket = hour
    group by known.site;
end
$$;

comment on function fleetprof_data.share_kept is
    'Notes how many bytes a collector has kept in this hour, an object of numbers by site, and returns for each site what this collector and all others have kept.';

revoke execute on function fleetprof_data.share_secret, fleetprof_data.share_kept from public;
grant execute on function fleetprof_data.share_secret, fleetprof_data.share_kept to fleetprof_writer;
