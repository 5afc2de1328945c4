-- SPDX-License-Identifier: Apache-2.0
-- Timings of two sides, judged: while a release rolls out, also by the whole fleet.

create or replace function fleetprof_data.rollout_sides(
    given          fleetprof_data.filters,
    before         text,
    after          text,
    after_side     fleetprof_data.compared_side,
    out is_rollout boolean,
    out earlier    fleetprof_data.compared_side,
    out later      fleetprof_data.compared_side
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    zone constant text := fleetprof.timezone_of(given.site);
    -- The share of uploads that the earlier release has while the later one rolls out.
    least_beside constant double precision := 0.1;
    hours constant tstzrange := (compared_hours_span((rollout_sides.after_side).segment_hours)).hours;
    since timestamptz;
    until timestamptz;
    step double precision;
    found record;
begin
    is_rollout := false;
    if rollout_sides.before is not distinct from rollout_sides.after or (rollout_sides.after_side).apart <> '{}' or hours is null then
        return;
    end if;
    -- Compares weekends with weekends; else takes the whole days right before.
    foreach step in array array[7, ceil(extract(epoch from upper(hours) - lower(hours)) / 86400)] loop
        since := days_earlier(lower(hours), step, zone);
        until := days_earlier(upper(hours), step, zone);
        select
            coalesce(sum(uploads) filter (where is_earlier), 0) as uploads,
            coalesce(sum(uploads) filter (where is_earlier and matches(release, rollout_sides.before)), 0) as of_before,
            coalesce(sum(uploads) filter (where is_earlier and matches(release, rollout_sides.after)), 0) as of_after,
            coalesce(sum(uploads) filter (where hours @> bucket), 0) as later,
            coalesce(sum(uploads) filter (where hours @> bucket and matches(release, rollout_sides.before)), 0) as beside
        into found
        from (select *, bucket >= since and bucket < until as is_earlier from release_hours(given)) as hour;
        is_rollout := since >= (select hours_from from horizon) and found.of_after = 0
            and found.of_before * 2 >= found.uploads and found.uploads * 2 >= found.later
            and found.beside >= least_beside * found.later and found.later > 0;
        exit when is_rollout;
    end loop;
    if is_rollout then
        earlier := compared_side(given, null, since, until);
        later := compared_side(given, null, lower(hours), upper(hours));
    end if;
end
$$;

comment on function fleetprof_data.rollout_sides is
    'Returns the whole fleet before and while a release rolls out beside another one (before and after: filters of the two): all releases in the same hours of days in which most page loads had the earlier one and none the later one, and in the hours of the later one. is_rollout: false if the two do not run side by side, or there are no such days.';

create or replace function fleetprof_data.judged_timings(
    given       fleetprof_data.filters,
    before      text,
    after       text,
    before_side fleetprof_data.compared_side,
    after_side  fleetprof_data.compared_side,
    kinds       fleetprof_data.timing_kind[],
    navigations text[]
)
returns table (
    name             text,
    kind             fleetprof_data.timing_kind,
    percentile       integer,
    before_us        double precision,
    after_us         double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_count     bigint,
    after_count      bigint,
    common_change    double precision,
    fleet_change     double precision
)
language plpgsql stable parallel safe rows 50
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Standard errors by which a change, without the effect of machines, must point in the direction of the fleet's
    -- change.
    sure_z constant double precision := 2;
begin
    return query
    with beside as materialized (
        select * from compared_timings(judged_timings.before_side, judged_timings.after_side, judged_timings.kinds, judged_timings.navigations)
    ),
    -- The whole fleet has the same machines, whichever visitors get the release first.
    fleet as materialized (
        select fleet.name, fleet.kind, fleet.percentile, fleet.change, fleet.p, fleet.verdict
        from (select from beside where verdict = 'no change seen' and machines is not null limit 1) as hidden
        cross join lateral rollout_sides(
            judged_timings.given, judged_timings.before, judged_timings.after, judged_timings.after_side) as sides
        cross join lateral compared_timings(sides.earlier, sides.later, judged_timings.kinds, judged_timings.navigations) as fleet
        where sides.is_rollout and fleet.verdict in ('slower', 'faster')
    )
    select
        beside.name, beside.kind, beside.percentile, before_us, after_us, beside.change, change_low, change_high, own_low, own_high,
        smallest_visible, coalesce(fleet.p, beside.p), coalesce(fleet.verdict, beside.verdict), before_count, after_count,
        case when fleet.name is null then common_change else exp(machines) - 1 end, fleet.change
    from beside
    left join fleet on fleet.name = beside.name and fleet.kind = beside.kind and fleet.percentile = beside.percentile
        and beside.verdict = 'no change seen' and least(beside.change, change_low) > -1
        and case fleet.verdict when 'slower' then 1 else -1 end * (ln(1 + beside.change) - machines)
            > sure_z * sqrt((ln((1 + change_high) / (1 + change_low)) / 4) ^ 2 + machines_error ^ 2);
end
$$;

comment on function fleetprof_data.judged_timings is
    'Returns what compared_timings returns for two sides (before and after: the filters of their releases); where machines hide a change between releases side by side, the verdict of the whole fleet against the days before, and fleet_change, the change of the fleet.';

revoke execute on function fleetprof_data.rollout_sides, fleetprof_data.judged_timings from public;
grant execute on function fleetprof_data.rollout_sides, fleetprof_data.judged_timings to fleetprof_reader;
