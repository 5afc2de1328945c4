-- SPDX-License-Identifier: Apache-2.0
-- Web vitals, responses and measures without something that ran: what they would be at most.

create or replace function fleetprof_data.least_profiled_loads()
returns integer
language sql immutable parallel safe
return 100;

comment on function fleetprof_data.least_profiled_loads is
    'Returns of how many profiled page loads what_if needs the vital to say in which interval a gain lies.';

create or replace function fleetprof_data.share_spread_us(
    bins   smallint[],
    shares double precision[],
    share  double precision,
    count  double precision
)
returns double precision
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- The width of Hall and Sheather for intervals of 95 %, at the 75th percentile of normal values.
    width double precision := least(0.67 * count ^ (-1.0 / 3), 0.2);
begin
    return (share_value_us(bins, shares, share_spread_us.share + width)
        - share_value_us(bins, shares, share_spread_us.share - width)) / (2 * width);
end
$$;

comment on function fleetprof_data.share_spread_us is
    'Returns how many microseconds a percentile moves per share of values, where it lies: one divided by the density there.';

create or replace function fleetprof_data.vital_good_us(vital text)
returns double precision
language sql immutable parallel safe
return 1000 * case vital
    -- {{each vital: when '$name' then $good}}
end;

comment on function fleetprof_data.vital_good_us is 'Returns up to which value a vital is good, in microseconds.';

create or replace function fleetprof_data.vital_poor_us(vital text)
returns double precision
language sql immutable parallel safe
return 1000 * case vital
    -- {{each vital: when '$name' then $poor}}
end;

comment on function fleetprof_data.vital_poor_us is 'Returns above which value a vital is poor, in microseconds.';

create or replace function fleetprof_data.waited_kind(vital text)
returns text
language sql immutable parallel safe
return case vital
    -- {{each vital: when '$name' then 'vital'}}
    when '(response)' then 'response'
    else 'measure'
end;

comment on function fleetprof_data.waited_kind is
    'Returns the kind of timing of what what_if looks at: vital, response, or measure for any other name.';

create or replace function fleetprof_data.waited_good_us(vital text)
returns double precision
language sql immutable parallel safe
return coalesce(fleetprof_data.vital_good_us(waited_good_us.vital), 1000000);

comment on function fleetprof_data.waited_good_us is
    'Returns vital_good_us; of a response or a measure one second, up to which a visitor''s flow of thought is said to stay.';

create or replace function fleetprof_data.may_rates_differ(selected fleetprof_data.selection)
returns boolean
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return (
        select count(distinct rate_ppm) <> 1 or count(distinct site) < cardinality(may_rates_differ.selected.sites)
        from segment
        where segment_id = any(may_rates_differ.selected.segment_ids) and rate_ppm > 0);
end
$$;

comment on function fleetprof_data.may_rates_differ is
    'False if all verified rates of profiling are the same, and each selected site has one.';

create or replace function fleetprof_data.profiled_weights(selected fleetprof_data.selection, vital text)
returns table (group_id bigint, weight double precision)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    waited constant text := waited_kind(profiled_weights.vital);
    -- How many profiled values of a route weigh as much as what its verified rate says.
    prior constant double precision := 2;
begin
    -- Citus has no plan for the join below if nothing is selected.
    if (profiled_weights.selected).segment_ids is null then
        return;
    end if;
    return query
    with part as materialized (
        select
            part_id,
            coalesce(segment.site, cohort.site) as site,
            coalesce(segment.route, cohort.route) as route,
            coalesce(sum(count) filter (where kind <> 'vital_profiled'), 0)::double precision as every,
            coalesce(sum(count) filter (where kind = 'vital_profiled'), 0)::double precision as profiled
        from (
            select group_id as part_id, timing_id, sum(count) as count
            from (
                select group_id, unnest(timing_id) as timing_id, unnest(count) as count
                from timing_bin_packed
                where is_selected(profiled_weights.selected, sealed, group_id, bucket, span)
            ) as entry
            group by group_id, timing_id
        ) as sums
        join timing using (timing_id)
        left join segment on segment_id = part_id
        left join cohort on cohort.group_id = part_id
        where kind in (waited::timing_kind, 'vital_profiled')
            and (name = profiled_weights.vital or kind = 'response')
            and (waited <> 'vital' or navigation not in ('soft', 'back-forward-cache'))
        group by 1, 2, 3
    ),
    rate as materialized (
        select site, route, avg(1e6::double precision / rate_ppm) as inverse
        from segment
        where segment_id = any((profiled_weights.selected).segment_ids) and rate_ppm > 0
        group by site, route
    ),
    stratum as materialized (
        select
            site, route, every, profiled,
            coalesce(inverse, sum(profiled * inverse) over () / nullif(sum(profiled) filter (where inverse is not null) over (), 0), 1) as inverse
        from (select site, route, sum(every) as every, sum(profiled) as profiled from part group by site, route) as part
        left join rate using (site, route)
    ),
    weight as materialized (
        select site, route, profiled, (every + prior * inverse * undelivered) / (profiled + prior) as weight
        from stratum
        cross join (select sum(every) / nullif(sum(profiled * inverse), 0) as undelivered from stratum) as whole
    ),
    -- So that weighted values are as many as there would have to be of equal weight (Kish's effective size).
    scale as materialized (
        select sum(profiled * weight) / nullif(sum(profiled * weight ^ 2), 0) as factor from weight
    )
    select part_id, weight * factor
    from part
    join weight using (site, route)
    cross join scale;
end
$$;

comment on function fleetprof_data.profiled_weights is
    'Returns how much a profiled value of a vital, response or measure of each selected group counts, where rates of profiling differ by site and route: in proportion to all values per profiled one there; of few, to what the verified rate there says, or the average. Weights of profiled values add up to the effective number of values.';

create or replace function fleetprof_data.without_bins(selected fleetprof_data.selection, vital text)
returns table (kind text, name text, histogram smallint, bin smallint, count double precision, weight double precision)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set enable_sort = off
as $$
#variable_conflict use_column
declare
    waited constant text := waited_kind(without_bins.vital);
    group_ids bigint[];
    weights double precision[];
begin
    -- Citus has no plan for the join below if nothing is selected.
    if (without_bins.selected).segment_ids is null then
        return;
    end if;
    if may_rates_differ(without_bins.selected) then
        select array_agg(group_id), array_agg(weight)
        into group_ids, weights
        from profiled_weights(without_bins.selected, without_bins.vital);
    end if;
    return query
    select
        case when kind = waited::timing_kind then '(all)' when kind = 'vital_profiled' then '(profiled)' else source end,
        case kind when 'vital_without' then function else '' end,
        (bin / 2048)::smallint,
        (bin % 2048)::smallint,
        sum(count)::double precision,
        sum(weight)
    from (
        select timing_id, bin, sum(count) as count, sum(count * weight) as weight
        from (
            select coalesce(weight, 1) as weight, unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
            from timing_bin_packed
            left join unnest(group_ids, weights) as part (group_id, weight) using (group_id)
            where is_selected(without_bins.selected, sealed, group_id, bucket, span)
        ) as entry
        group by timing_id, bin
    ) as sums
    join timing using (timing_id)
    where kind in (waited::timing_kind, 'vital_profiled', 'vital_without')
        and (name = without_bins.vital or kind = 'response')
        -- Vitals of views of soft navigations, and of pages that come back whole, are not looked at.
        and (waited <> 'vital' or navigation not in ('soft', 'back-forward-cache'))
    group by 1, 2, 3, 4
    having sum(count) > 0;
end
$$;

comment on function fleetprof_data.without_bins is
    'Returns histograms of a vital of page loads, of responses, or of a measure: of all (kind (all)), of profiled ones ((profiled)), and by kind and name of what ran those that it made longer: histogram 0 as they are, 1 without it, 2 with half of it. weight: of profiled ones, their count by profiled_weights.';

create or replace function fleetprof_data.vital_gains(
    selected fleetprof_data.selection,
    vital    text
)
returns table (
    kind                     text,
    name                     text,
    frame_ids                bigint[],
    p75_us                   double precision,
    gain_us                  double precision,
    error_us                 double precision,
    half_gain_us             double precision,
    half_error_us            double precision,
    less_poor_share          double precision,
    loads                    bigint,
    profiled_loads           bigint
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- How many things are looked at: those that made page loads longest.
    most constant integer := 150;
    share constant double precision := 0.75;
    poor_us constant double precision := vital_poor_us(vital_gains.vital);
begin
    return query
    with counted as materialized (
        select kind, name, histogram, bin, count as loads, case kind when '(all)' then count else weight end as count
        from without_bins(vital_gains.selected, vital_gains.vital)
    ),
    -- Once per bin, because it takes powers.
    value as materialized (
        select bin, bin_middle_us(bin) as value_us from counted group by bin
    ),
    entry as materialized (
        select kind, name, histogram, bin, value_us, loads, count from counted join value using (bin)
    ),
    profiled as materialized (
        select bin, value_us, loads, count from entry where kind = '(profiled)'
    ),
    whole as materialized (
        select
            (select sum(loads) from profiled) as loads,
            (select sum(count) from profiled) as profiled,
            min(value_us) filter (where up_to >= share * binned) as p75_us
        from (
            select value_us, sum(count) over (order by bin) as up_to, sum(count) over () as binned
            from entry
            where kind = '(all)'
        ) as cumulative
    ),
    -- A function may have several frames, one per build of its script.
    frame_entry as materialized (
        select name::bigint as frame_id, sum(count) as count
        from entry
        where kind = 'function' and histogram = 0
        group by 1
    ),
    merged as materialized (
        select merged.frame_id::text as name, shown_id
        from (
            select array_agg(frame_id) as frame_ids, array_agg(count) as weights from frame_entry
        ) as given
        cross join lateral merged_frames(given.frame_ids, given.weights) as merged
    ),
    frames_of as materialized (
        select shown_id::text as name, array_agg(name::bigint order by name) as frame_ids
        from merged
        group by 1
    ),
    thing as materialized (
        select kind, name, histogram, bin, value_us, sum(loads) as loads, sum(count) as count
        from (
            select kind, coalesce(shown_id::text, entry.name) as name, histogram, bin, value_us, loads, count
            from entry
            left join merged on kind = 'function' and merged.name = entry.name
            where kind not in ('(all)', '(profiled)')
        ) as part
        group by kind, name, histogram, bin, value_us
    ),
    candidate as materialized (
        select
            row_number() over (order by longer_us desc, kind, name) as number,
            kind, name, loads, less_poor
        from (
            select
                kind,
                name,
                sum(loads) filter (where histogram = 0) as loads,
                sum(case histogram when 0 then count when 1 then -count end * value_us) as longer_us,
                sum(case histogram when 0 then count when 1 then -count end) filter (where value_us > poor_us) as less_poor
            from thing
            group by kind, name
        ) as sums
        order by longer_us desc
        limit most
    ),
    -- Each candidate has three histograms of all profiled page loads. Those that it did not make longer are as they are.
    moved_bin as materialized (
        select number, histogram, bin, value_us, count
        from thing
        join candidate using (kind, name)
    ),
    histogram as (
        select number, kept, bin, sum(count) as count
        from (
            select number, kept, bin, count
            from profiled
            cross join candidate
            cross join generate_series(0, 2) as kept
            union all
            select number, kept, bin, case histogram when 0 then -count else count end
            from moved_bin
            join generate_series(1, 2) as kept on histogram in (0, kept)
        ) as part
        group by number, kept, bin
    ),
    cumulative as (
        select
            number, kept,
            array_agg(bin order by bin) as bins,
            array_agg(up_to order by bin) as shares
        from (
            select
                number, kept, bin,
                sum(count) over (partition by number, kept order by bin) / whole.profiled as up_to
            from histogram
            cross join whole
            -- Not what rounding leaves.
            where abs(count) > 1e-9 * whole.profiled
        ) as sums
        group by number, kept
    ),
    quantile as materialized (
        select
            number, kept,
            share_value_us(bins, shares, share) as value_us,
            share_spread_us(bins, shares, share, whole.profiled) as spread_us
        from cumulative
        cross join whole
    ),
    -- With and without it, which share of the profiled page loads is up to its own percentile? Page loads that it did
    -- not make longer have one value. Of the others only both histograms are known: they are taken as independent,
    -- which makes the interval wider than it need be.
    pair as materialized (
        select number, changed.kept, now.value_us as now_us, changed.value_us as changed_us
        from quantile as now
        join quantile as changed using (number)
        where now.kept = 0 and changed.kept > 0
    ),
    below as (
        select number, kept, sum(count) filter (where value_us <= least(now_us, changed_us)) as count
        from profiled
        cross join pair
        group by number, kept
    ),
    moved as (
        select
            number,
            pair.kept,
            sum(count) filter (where histogram = 0) as all_moved,
            sum(count) filter (where histogram = 0 and value_us <= now_us) as now_below,
            sum(count) filter (where histogram = 0 and value_us <= least(now_us, changed_us)) as kept_below,
            sum(count) filter (where histogram = pair.kept and value_us <= changed_us) as changed_below
        from moved_bin
        join pair using (number)
        group by number, pair.kept
    ),
    shared as (
        select
            number, kept, now_us, changed_us,
            coalesce(below.count, 0) - coalesce(kept_below, 0)
                + coalesce(now_below, 0) * coalesce(changed_below, 0) / greatest(1, all_moved) as count
        from moved
        join pair using (number, kept)
        join below using (number, kept)
    ),
    gain as (
        select
            number,
            shared.kept,
            -- Profiled page loads may be slower than all.
            least(p75_us, greatest(0, now_us - changed_us)) as gain_us,
            sqrt(greatest(0,
                share * (1 - share) * (now.spread_us ^ 2 + changed.spread_us ^ 2)
                - 2 * now.spread_us * changed.spread_us * (shared.count / whole.profiled - share ^ 2))
                / whole.profiled) as error_us
        from shared
        join quantile as changed using (number, kept)
        join quantile as now using (number)
        cross join whole
        where now.kept = 0
    )
    select
        candidate.kind,
        candidate.name,
        frames_of.frame_ids,
        whole.p75_us,
        gone.gain_us,
        case when whole.loads >= least_profiled_loads() then gone.error_us end,
        half.gain_us,
        case when whole.loads >= least_profiled_loads() then half.error_us end,
        case when poor_us is not null then coalesce(candidate.less_poor, 0) / whole.profiled end,
        candidate.loads::bigint,
        whole.loads::bigint
    from candidate
    cross join whole
    left join frames_of on candidate.kind = 'function' and frames_of.name = candidate.name
    join gain as gone on gone.number = candidate.number and gone.kept = 1
    join gain as half on half.number = candidate.number and half.kept = 2;
end
$$;

comment on function fleetprof_data.vital_gains is
    'Returns of what ran in page loads how much less the 75th percentile of a vital would be at most without it, and with half of it, with standard errors (null for few profiled page loads): functions by the frame that stands for them. The percentile of all page loads changes as that of profiled ones does, which are weighted by profiled_weights.';

create or replace function fleetprof_data.named_gains(
    given  fleetprof_data.filters,
    vitals text[]
)
returns table (
    vital              text,
    kind               text,
    name               text,
    resource           text,
    line               integer,
    column_number      integer,
    package            text,
    party              text,
    owner              text,
    p75_ms             double precision,
    gain_ms            double precision,
    gain_low           double precision,
    gain_high          double precision,
    half_gain_ms       double precision,
    less_poor_share    double precision,
    loads              bigint,
    profiled_loads     bigint,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    thing              text,
    frame_ids          bigint[]
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(named_gains.given);
    own text[] := own_hosts(selected);
begin
    if may_rates_differ(selected) then
        selected := select_segments(kept_apart(named_gains.given, 'route'));
    end if;
    return query
    with gain as materialized (
        select asked as vital, gains.*
        from unnest(named_gains.vitals) as asked
        cross join lateral vital_gains(selected, asked) as gains
    ),
    frame_id as materialized (
        select array_agg(distinct name::bigint) as ids from gain where kind = 'function'
    )
    select
        gain.vital,
        gain.kind,
        coalesce(named.function, gain.name),
        named.resource,
        named.line,
        named.column_number,
        case gain.kind when 'package' then gain.name else nullif(package.name, '(no package)') end,
        case gain.kind when 'function' then party.name when 'host' then party_of_host(gain.name, own) end,
        -- Such as (nobody): not an owner.
        case when owner.name not like '(%' then owner.name end,
        p75_us / 1000,
        gain_us / 1000,
        -- An unknown error stays unknown.
        case when error_us is not null then greatest(0, gain_us - 1.96 * error_us) / 1000 end,
        case when error_us is not null then least(p75_us, gain_us + 1.96 * error_us) / 1000 end,
        half_gain_us / 1000,
        less_poor_share,
        loads,
        profiled_loads,
        named.function_key::text,
        named.generated_resource,
        named.generated_line,
        named.generated_column,
        gain.name,
        gain.frame_ids
    from gain
    left join (select named.* from frame_id cross join lateral named_frames(ids) as named) as named
        on gain.kind = 'function' and named.frame_id::text = gain.name
    left join (select listed.* from frame_id cross join lateral frame_groups('package', ids, own) as listed) as package
        on gain.kind = 'function' and package.frame_id::text = gain.name
    left join (select listed.* from frame_id cross join lateral frame_groups('party', ids, own) as listed) as party
        on gain.kind = 'function' and party.frame_id::text = gain.name
    left join (select listed.* from frame_id cross join lateral frame_groups('owner', ids, own) as listed) as owner
        on gain.kind = 'function' and owner.frame_id::text = gain.name;
end
$$;

comment on function fleetprof_data.named_gains is
    'Returns vital_gains of several vitals, as fleetprof.what_if lists them; thing: their name there; frame_ids: of a function all.';

create or replace function fleetprof.what_if(
    vital text,
    -- {{filters}},
    top   integer default 20
)
returns table (
    kind               text,
    name               text,
    resource           text,
    line               integer,
    column_number      integer,
    package            text,
    party              text,
    owner              text,
    p75_ms             double precision,
    p75_gone_ms        double precision,
    p75_halved_ms      double precision,
    gain_ms            double precision,
    gain_low           double precision,
    gain_high          double precision,
    less_poor_share    double precision,
    loads              bigint,
    profiled_loads     bigint,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
begin
    if what_if.vital is null or what_if.vital = '' or waited_kind(upper(what_if.vital)) = 'vital' and what_if.vital not in ('INP', 'LCP') then
        raise invalid_parameter_value using
            message = coalesce('nothing is known of "' || what_if.vital || '" without what ran', 'vital is null'),
            hint = 'vital is INP, LCP, (response), or the name of an own measure.';
    end if;
    if what_if.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', what_if.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    return query
    select
        kind,
        name,
        resource,
        line,
        column_number,
        package,
        party,
        owner,
        p75_ms,
        greatest(0, p75_ms - gain_ms),
        greatest(0, p75_ms - half_gain_ms),
        gain_ms,
        gain_low,
        gain_high,
        less_poor_share,
        loads,
        profiled_loads,
        function_key,
        generated_resource,
        generated_line,
        generated_column
    from named_gains(given, array[what_if.vital])
    order by gain_ms desc, loads desc, kind, name collate "C", resource collate "C", line, column_number
    limit what_if.top;
end
$$;

comment on function fleetprof.what_if is
    -- {{comment of what_if}};

revoke execute on function
    fleetprof_data.least_profiled_loads, fleetprof_data.share_spread_us, fleetprof_data.vital_good_us,
    fleetprof_data.vital_poor_us, fleetprof_data.waited_kind, fleetprof_data.waited_good_us, fleetprof_data.may_rates_differ, fleetprof_data.profiled_weights,
    fleetprof_data.without_bins, fleetprof_data.vital_gains, fleetprof_data.named_gains, fleetprof.what_if
from public;
grant execute on function
    fleetprof_data.least_profiled_loads, fleetprof_data.share_spread_us, fleetprof_data.vital_good_us,
    fleetprof_data.vital_poor_us, fleetprof_data.waited_kind, fleetprof_data.waited_good_us, fleetprof_data.may_rates_differ, fleetprof_data.profiled_weights,
    fleetprof_data.without_bins, fleetprof_data.vital_gains, fleetprof_data.named_gains, fleetprof.what_if
to fleetprof_reader;
