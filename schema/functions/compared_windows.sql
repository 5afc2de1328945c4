-- SPDX-License-Identifier: Apache-2.0
-- Compares the functions inside the windows of poor and of good page loads. -- A cell is a stratum (page loads that
-- agree in site, route, device and browser) in some hours. The weighted mean of the cells' differences is the extra
-- cost of poor page loads. Its error comes from the scatter of the hours' differences: sums suffice for that, and the
-- page loads of one visitor, who stays for some hours, count once.

create or replace function fleetprof_data.compared_windows(
    hours     fleetprof_data.selection,
    markers   smallint[],
    poor_ids  bigint[],
    good_ids  bigint[],
    frame_ids bigint[],
    numbers   integer[]
)
returns table (
    number        integer,
    difference_ms double precision,
    low_ms        double precision,
    high_ms       double precision,
    p             double precision,
    verdict       text
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set enable_nestloop = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    evidence record;
    every_marker boolean := are_all(compared_windows.markers);
    -- How much of the strata's information is left when they are cut into hours.
    least_kept constant double precision := 0.8;
    -- Hours per cell: the fewest that keep that much; a day where hours are gone.
    lengths constant integer[] := '{1,2,4,8}';
    -- The least relative error of a cost.
    least_error constant double precision := 0.001;
begin
    select * into evidence from least_evidence();
    -- Citus fails on a query that cannot find a row.
    if compared_windows.frame_ids is null then
        return;
    end if;
    return query
    with member as materialized (
        select segment_id, dense_rank() over (order by site, route, device, browser) as stratum
        from segment
        where segment_id = any((compared_windows.hours).segment_ids)
    ),
    total as materialized (
        select timing_id = any(compared_windows.poor_ids) as is_poor, stratum, bucket, sum(loads)::double precision as loads
        from (
            select
                group_id as segment_id, bucket, unnest(timing_id) as timing_id, unnest(coalesce(loads, uploads)) as loads
            from measure_packed
            where is_selected(compared_windows.hours, sealed, group_id, bucket, span)
        ) as entry
        join member using (segment_id)
        where timing_id = any(compared_windows.poor_ids || compared_windows.good_ids)
        group by 1, 2, 3
        having sum(loads) > 0
    ),
    possible as materialized (
        select *, poor_loads * good_loads / (poor_loads + good_loads) as weight
        from (
            select
                length, stratum, date_bin(length * interval '1 hour', bucket, 'epoch') as block,
                coalesce(sum(loads) filter (where is_poor), 0) as poor_loads,
                coalesce(sum(loads) filter (where not is_poor), 0) as good_loads
            from total
            cross join unnest(lengths) as length
            group by 1, 2, 3
        ) as possible
    ),
    chosen as (
        select coalesce(min(length) filter (where kept >= least_kept * uncut), max(length)) as length
        from (select length, sum(weight) as kept from possible group by length) as cut
        cross join (
            select sum(poor_loads * good_loads / (poor_loads + good_loads)) as uncut
            from (
                select sum(poor_loads) as poor_loads, sum(good_loads) as good_loads
                from possible
                where length = 1
                group by stratum
            ) as stratum
        ) as whole
    ),
    cell as materialized (
        select possible.* from possible join chosen using (length) where weight > 0
    ),
    block_weight as materialized (
        select block, sum(weight) as weight from cell group by block
    ),
    whole as materialized (
        select
            poor_loads, good_loads, all_poor_loads, weight, squares, blocks,
            weight ^ 2 / squares - 1 as df,
            case
                when least(all_poor_loads, all_good_loads) < evidence.uploads or blocks < evidence.hours then 'too few'
                when poor_loads < evidence.share * all_poor_loads then 'not comparable'
            end as obstacle
        from (select sum(poor_loads) as poor_loads, sum(good_loads) as good_loads from cell) as compared
        cross join (select sum(weight) as weight, sum(weight ^ 2) as squares, count(*) as blocks from block_weight) as cut
        cross join (
            select
                coalesce(sum(loads) filter (where is_poor), 0) as all_poor_loads,
                coalesce(sum(loads) filter (where not is_poor), 0) as all_good_loads
            from total
        ) as everything
    ),
    cost as (
        select
            number, stratum, date_bin(length * interval '1 hour', bucket, 'epoch') as block, is_poor,
            sum(self_us)::double precision as self_us, sum(uploads) as uploads
        from (
            select number, stratum, bucket, timing_id = any(compared_windows.poor_ids) as is_poor, self_us, uploads
            from (
                select
                    group_id as segment_id, bucket, unnest(timing_id) as timing_id, unnest(marker) as marker,
                    unnest(frame_id) as frame_id, unnest(self_us) as self_us,
                    unnest(case when every_marker then first_uploads else uploads end) as uploads
                from measure_frame_packed
                where is_selected(compared_windows.hours, sealed, group_id, bucket, span)
            ) as entry
            join member using (segment_id)
            join unnest(compared_windows.frame_ids, compared_windows.numbers) as wanted (frame_id, number) using (frame_id)
            where timing_id = any(compared_windows.poor_ids || compared_windows.good_ids)
                and marker = any(compared_windows.markers)
        ) as entry
        cross join chosen
        group by 1, 2, 3, 4
    ),
    -- For each function and block: weighted means of both sides, times the block's weight.
    block_cost as (
        select
            number, block,
            coalesce(sum(weight * self_us / poor_loads) filter (where is_poor), 0) as poor,
            coalesce(sum(weight * self_us / good_loads) filter (where not is_poor), 0) as good,
            sum(uploads) as uploads
        from cost
        join cell using (stratum, block)
        group by number, block
    ),
    sums as materialized (
        select
            number, sum(poor) as poor, sum(good) as good, sum(poor ^ 2) as poor2, sum(good ^ 2) as good2,
            sum(poor * good) as product, sum(poor * block_weight.weight) as poor_weight,
            sum(good * block_weight.weight) as good_weight, sum(uploads) as uploads
        from block_cost
        join block_weight using (block)
        group by number
    ),
    known as materialized (
        select
            sums.*, whole.weight, squares, df, blocks / (blocks - 1.0) as correction,
            (poor * poor_loads + good * good_loads) / (poor_loads + good_loads) as level
        from sums
        cross join whole
        where blocks > 1 and obstacle is null
            and uploads * least(poor_loads, good_loads) / (poor_loads + good_loads) >= evidence.effective
            and poor + good > 0
    ),
    -- A slow device makes all functions longer: then the device makes the vital poor, not a function.
    common as materialized (
        select common, common_error
        from common_change(
            (select array_agg(ln(poor / good)) from known where least(poor, good) > 0),
            (
                select array_agg(greatest(least_error, sqrt(greatest(0, correction * (
                    poor2 - 2 * product + good2 - 2 * (poor - good) / weight * (poor_weight - good_weight)
                        + ((poor - good) / weight) ^ 2 * squares))) / level))
                from known
                where least(poor, good) > 0
            ))
    ),
    estimate as materialized (
        select
            number, df, difference / weight / 1000 as difference_ms,
            sqrt(greatest(
                correction * (poor2 - 2 * factor * product + factor ^ 2 * good2
                    - 2 * difference / weight * (poor_weight - factor * good_weight) + (difference / weight) ^ 2 * squares),
                (least_error * level) ^ 2) + (factor * good * common_error) ^ 2) / weight / 1000 as error_ms
        from (
            select *, exp(common) as factor, poor - exp(common) * good as difference from known cross join common
        ) as known
    ),
    -- The tail of the distribution in which poor page loads cost more.
    tested as (
        select
            *, row_number() over (order by tail) as place, count(*) over () as functions
        from (
            select *, case when difference_ms > 0 then two_sided / 2 else 1 - two_sided / 2 end as tail
            from (select *, p_of_t(difference_ms / error_ms, df) as two_sided from estimate) as estimate
        ) as estimate
    ),
    judged as (
        select *, tail <= coalesce(max(tail) filter (where tail <= 0.05 * place / functions) over (), -1) as is_more
        from tested
    )
    select
        number,
        difference_ms,
        difference_ms - 2 * error_ms,
        difference_ms + 2 * error_ms,
        tail,
        coalesce(obstacle, case when is_more then 'slower' when is_more is not null then 'no change seen' else 'too few' end)
    from (select distinct unnest(compared_windows.numbers) as number) as wanted
    cross join whole
    left join judged using (number);
end
$$;

comment on function fleetprof_data.compared_windows is
    'Compares functions inside poor and good windows, a row per number; frame_ids and numbers, in parallel, say which frames make up each function. hours: segments by the hour. Columns as in fleetprof.vital_hotspots.';

revoke execute on function fleetprof_data.compared_windows from public;
grant execute on function fleetprof_data.compared_windows to fleetprof_reader;
