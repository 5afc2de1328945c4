-- Records that were refused although their uploads were accepted.

create or replace function fleetprof.refusals(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
)
returns table (
    format      text,
    reason      text,
    records     bigint,
    uploads     bigint,
    latest      timestamptz,
    first_place text
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        refusals.site, refusals.since, refusals.until, refusals.route, refusals.release, refusals.environment,
        refusals.variant, refusals.browser, refusals.os, refusals.device, refusals.thread,
        exclude => array[
            refusals.exclude_route, refusals.exclude_release, refusals.exclude_environment, refusals.exclude_variant,
            refusals.exclude_browser, refusals.exclude_os, refusals.exclude_device, refusals.exclude_thread]);
    -- Citus takes variables as parameters of a query that it distributes, but not fields of them.
    segments constant bigint[] := selected.segment_ids;
    after constant timestamptz := selected.after;
    before constant timestamptz := selected.before;
begin
    return query
    select
        format,
        reason,
        sum(records)::bigint,
        sum(uploads)::bigint,
        max(latest),
        (array_agg(first_place order by latest desc, bucket desc, segment_id))[1]
    from refusal
    where segment_id = any(segments) and bucket > after and bucket < before
    group by format, reason
    order by 3 desc, format collate "C", reason collate "C";
end
$$;

comment on function fleetprof.refusals is
    'Returns the records that were refused although their uploads were accepted, by format and reason, most records first: records (and parts of kept records, such as a detail), uploads with such a record, when the latest of these was received, and where its first such record is: a JSON pointer, "byte N" of the inflated body, or "element N" of the array of records or entries; empty: unknown. docs/formats.md explains the reasons.';

revoke execute on function fleetprof.refusals from public;
grant execute on function fleetprof.refusals to fleetprof_reader;
