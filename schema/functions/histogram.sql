-- How often the values of a timing came.

create or replace function fleetprof.histogram(
    kind        text,
    timing_name text,
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
returns table (from_ms double precision, to_ms double precision, count bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    kinds constant text[] := '{mark,measure,vital}';
    selected selection := select_segments(
        histogram.site, histogram.since, histogram.until, histogram.route, histogram.release, histogram.environment,
        histogram.variant, histogram.browser, histogram.os, histogram.device, histogram.thread,
        exclude => array[
            histogram.exclude_route, histogram.exclude_release, histogram.exclude_environment, histogram.exclude_variant,
            histogram.exclude_browser, histogram.exclude_os, histogram.exclude_device, histogram.exclude_thread]);
    -- Each site has timings of its own, and site may be a wildcard.
    timing_ids bigint[];
begin
    if (histogram.kind = any(kinds)) is not true then
        raise invalid_parameter_value using
            message = format('there is no histogram of the kind "%s"', coalesce(histogram.kind, 'null')),
            hint = format('kind is one of %s.', array_to_string(kinds, ', '));
    end if;
    if histogram.timing_name is null then
        raise invalid_parameter_value using
            message = 'timing_name is null',
            hint = 'Name a mark, a measure or a vital; timings() and vitals() list them.';
    end if;
    timing_ids := array(
        select timing_id from timing where name = histogram.timing_name and kind::text = histogram.kind);
    return query
    select
        bin_start_us(bin) / 1000, bin_start_us((bin + 1)::smallint) / 1000, sum(count)::bigint
    from (
        select unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
        from timing_bin_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    where timing_id = any(timing_ids)
    group by bin
    order by bin;
end
$$;

comment on function fleetprof.histogram is
    'Returns how many values of a mark, a measure or a vital (kind) lie in [from_ms, to_ms): milliseconds, of CLS the score x 1000. Bins are a microsecond wide below 0.064 ms, above that 32 to an octave. Bins without values have no row, and negative values are in none.';

revoke execute on function fleetprof.histogram from public;
grant execute on function fleetprof.histogram to fleetprof_reader;
