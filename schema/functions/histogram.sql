-- SPDX-License-Identifier: Apache-2.0
-- How often each value of a timing occurred.

create or replace function fleetprof.histogram(
    kind        text,
    timing_name text,
    -- {{filters and vitals}}
)
returns table (from_ms double precision, to_ms double precision, count bigint)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    kinds constant text[] := '{mark,measure,vital}';
    selected selection := select_segments(given);
    navigations text[];
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
    navigations := select_navigations_of(histogram.kind, histogram.navigation, histogram.exclude_navigation);
    timing_ids := array(
        select timing_id
        from timing
        where name = histogram.timing_name and kind::text = histogram.kind
            and (navigations is null or navigation = any(navigations)));
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
    -- Vitals that were replaced leave nothing.
    having sum(count) > 0
    order by bin;
end
$$;

comment on function fleetprof.histogram is
    -- {{comment of histogram}};

revoke execute on function fleetprof.histogram from public;
grant execute on function fleetprof.histogram to fleetprof_reader;
