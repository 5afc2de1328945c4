-- SPDX-License-Identifier: Apache-2.0
-- Compares releases or periods: which functions got slower by more than noise.

create or replace function fleetprof_data.release_hours(given fleetprof_data.filters)
returns table (release text, bucket timestamptz, length interval, uploads bigint)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- '%%' matches like '%', but keeps the release apart in the sums that are read.
    selected selection := (compared_side(given, '%%', null, null)).hours;
begin
    return query
    select release, bucket, case span when 2 then interval '24 hours' else interval '1 hour' end, sum(uploads)
    from (
        select group_id, bucket, span, unnest(uploads) as uploads
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    join (
        select segment_id as group_id, release from segment
        union all
        select group_id, release from cohort
    ) as named using (group_id)
    group by release, bucket, span
    having sum(uploads) > 0;
end
$$;

comment on function fleetprof_data.release_hours is
    'Returns the hours (days, where hours are gone) in which each release had uploads, and how many, whatever the period and the release of the filters.';

create or replace function fleetprof_data.rollout_begin(buckets timestamptz[], uploads bigint[])
returns timestamptz
language sql immutable parallel safe
return (
    select min(bucket) filter (where ahead * 3 >= most)
    from (
        select bucket, ahead, max(ahead) over () as most
        from (
            select
                bucket, min(bucket) over () as first,
                sum(uploads) over (order by bucket range between current row and interval '47 hours' following) as ahead
            from unnest(buckets, uploads) as hour (bucket, uploads)
        ) as hour
        where bucket < first + interval '28 days'
    ) as hour);

comment on function fleetprof_data.rollout_begin is
    'Returns the first hour from which on 48 hours have at least a third as many uploads as the busiest 48 hours of the four weeks after the first upload: a release that somebody tried days before has not begun. buckets and uploads are parallel.';

create or replace function fleetprof_data.release_lives(given fleetprof_data.filters)
returns table (
    release    text,
    first      timestamptz,
    begins     timestamptz,
    begin_hour timestamptz,
    first_hour timestamptz,
    last_hour  timestamptz,
    uploads    bigint
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := (compared_side(given, '%%', null, null)).hours;
begin
    return query
    select
        release, first, case when begin_hour = first_hour then first else begin_hour end, begin_hour, first_hour, last_hour, uploads
    from (
        select *, case when first_seen < first_end then greatest(first_seen, first_hour) else first_hour end as first
        from (
            select
                release, min(bucket) as first_hour, max(bucket) as last_hour, sum(uploads)::bigint as uploads,
                rollout_begin(array_agg(bucket), array_agg(uploads)) as begin_hour,
                (array_agg(bucket + length order by bucket))[1] as first_end
            from release_hours(given)
            group by release
        ) as life
        left join (
            select release, min(first_seen) as first_seen
            from segment
            where segment_id = any(selected.segment_ids)
            group by release
        ) as seen using (release)
    ) as life;
end
$$;

comment on function fleetprof_data.release_lives is
    'Returns when each release had its first upload (of an earlier version''s rows, the hour of that), when its rollout began (that, unless rollout_begin says otherwise) and the hour (day, where hours are gone) of that, its first and its last hour (day, where hours are gone), and how many uploads, whatever the period and the release of the filters.';

create or replace function fleetprof_data.days_earlier(moment timestamptz, days double precision, zone text)
returns timestamptz
language sql stable strict parallel safe
return date_bin('1 hour', (moment at time zone zone - days * interval '1 day') at time zone zone, 'epoch');

comment on function fleetprof_data.days_earlier is
    'Returns the same hour of the day in a time zone, whole days earlier.';

create or replace function fleetprof_data.window_before(
    given     fleetprof_data.filters,
    release   text,
    out since timestamptz,
    out until timestamptz
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    zone constant text := fleetprof.timezone_of(given.site);
    week record;
    is_alike boolean;
begin
    week := (days_earlier(given.since, 7, zone), days_earlier(given.until, 7, zone));
    select
        coalesce(sum(uploads) filter (where bucket >= week.f1 and bucket < week.f2), 0) * 2
            >= sum(uploads) filter (where bucket >= given.since and bucket < given.until)
    into is_alike
    from release_hours(given)
    where matches(release, window_before.release);
    since := given.since - (given.until - given.since);
    until := given.since;
    if is_alike and given.until - given.since <= interval '7 days' and week.f1 >= (select hours_from from horizon) then
        since := week.f1;
        until := week.f2;
    end if;
end
$$;

comment on function fleetprof_data.window_before is
    'Returns the period with which that of the filters is compared unless the caller says otherwise: the same hours of the site''s days seven days earlier, if hours are kept that long and have at least half as many uploads; else as long a period right before.';

create or replace function fleetprof_data.release_periods(
    given            fleetprof_data.filters,
    before           text,
    after            text,
    out since        timestamptz,
    out until        timestamptz,
    out before_since timestamptz,
    out before_until timestamptz
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    longest constant interval := '48 hours';
    zone constant text := fleetprof.timezone_of(given.site);
    uploads record;
begin
    with hour as materialized (
        select
            bucket, length, uploads, matches(release, release_periods.before) as is_before,
            matches(release, release_periods.after) as is_after
        from release_hours(given)
    ),
    bound as (
        select
            rollout_begin(array_agg(bucket) filter (where is_after), array_agg(uploads) filter (where is_after)) as first,
            max(bucket + length) filter (where is_after) as last,
            min(bucket) filter (where is_before) as first_before,
            max(bucket + length) filter (where is_before) as last_before
        from hour
    ),
    -- Goes back by whole days, so that the hours of the day are the same.
    step as (
        select 7 as week, ceil(extract(epoch from least(last - first, longest)) / 86400)::double precision as days from bound
    ),
    period as (
        select
            first, until, first_before, last_before,
            days_earlier(first, days, zone) as earlier, days_earlier(until, days, zone) as earlier_until,
            days_earlier(first, week, zone) as week, days_earlier(until, week, zone) as week_until
        from (select *, least(last, first + longest) as until from bound) as bound
        cross join step
    )
    select
        min(first) as first,
        min(until) as until,
        min(earlier) as earlier,
        min(earlier_until) as earlier_until,
        min(week) as week,
        min(week_until) as week_until,
        bool_and(first_before <= week and week >= hours_from) as knows_week,
        min(last_before) as last_before,
        coalesce(sum(uploads) filter (where is_after and bucket >= first and bucket < until), 0) as after,
        coalesce(sum(uploads) filter (where is_before and bucket >= first and bucket < until), 0) as same,
        coalesce(sum(uploads) filter (
            where is_before and bucket >= earlier and bucket < earlier_until), 0) as earlier_uploads,
        coalesce(sum(uploads) filter (where is_before and bucket >= week and bucket < week_until), 0) as week_uploads,
        coalesce(sum(uploads) filter (
            where is_before and bucket >= last_before - (until - first)), 0) as latest
    into uploads
    from hour
    cross join period
    cross join horizon;

    since := uploads.first;
    until := uploads.until;
    if uploads.same >= uploads.after then
        before_since := since;
        before_until := until;
    -- Weekends are compared with weekends.
    elsif uploads.knows_week and uploads.week_uploads * 2 >= uploads.after then
        before_since := uploads.week;
        before_until := uploads.week_until;
    elsif uploads.earlier_uploads >= uploads.latest then
        before_since := uploads.earlier;
        before_until := uploads.earlier_until;
    else
        before_since := uploads.last_before - (until - since);
        before_until := uploads.last_before;
    end if;
end
$$;

comment on function fleetprof_data.release_periods is
    'Returns the periods over which two releases (before and after, filters) are compared unless the caller says otherwise. After: from the release''s first hour on, 48 hours at most. Before: the same hours, if the earlier release has as many uploads there; else the same hours of the site''s days seven days earlier, if hours are kept that long and the earlier release was there already, with at least half as many uploads; else as long a period whole days earlier, or the earlier release''s last one, whichever has more uploads. Null where a release has no uploads.';

create or replace function fleetprof_data.own_filters(given fleetprof_data.filters, own text[])
returns fleetprof_data.filters
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    given.wanted := array(
        select coalesce(mine, shared) from unnest(own_filters.own, given.wanted) with ordinality as asked (mine, shared, place) order by place);
    return given;
end
$$;

comment on function fleetprof_data.own_filters is
    'Returns filters in which those of one side of a comparison stand for those of both. own: of each dimension, as wanted of fleetprof_data.filters; null: as both sides.';

create or replace function fleetprof_data.shared_hours(
    before_given fleetprof_data.filters,
    after_given  fleetprof_data.filters,
    release      text,
    out since    timestamptz,
    out until    timestamptz
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    longest constant interval := '48 hours';
begin
    select min(last) into until
    from (
        select max(bucket + length) as last from release_hours(before_given) where matches(release, shared_hours.release)
        union all
        select max(bucket + length) from release_hours(after_given) where matches(release, shared_hours.release)
    ) as side;
    since := until - longest;
end
$$;

comment on function fleetprof_data.shared_hours is
    'Returns the period over which two sides of one release, or of all, are compared unless the caller says otherwise: 48 hours, up to the last hour in which both have uploads. Null if neither has.';

create or replace function fleetprof_data.check_sides(
    before_side fleetprof_data.compared_side,
    after_side  fleetprof_data.compared_side
)
returns void
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    apart text[] := (check_sides.before_side).apart || 'release'::text;
    before_ids bigint[] := ((check_sides.before_side).whole).segment_ids;
    after_ids bigint[] := ((check_sides.after_side).whole).segment_ids;
    shared text;
begin
    if cardinality(apart) > 1 and (before_ids is null or after_ids is null) then
        raise invalid_parameter_value using
            message = format('no page load is on the %s side', case when before_ids is null then 'earlier' else 'later' end),
            detail = format('Nothing matches the filters that tell it from the other one: those of %s.', array_to_string(apart, ', ')),
            hint = format('fleetprof.field_values(''%s'', site) lists its values.', apart[1]);
    end if;
    if before_ids && after_ids
        and greatest(((check_sides.before_side).whole).after, ((check_sides.after_side).whole).after) + interval '1 hour'
            < least(((check_sides.before_side).whole).before, ((check_sides.after_side).whole).before) then
        select min(to_jsonb(segment) ->> apart[1]) into shared
        from segment
        where segment_id = any(before_ids) and segment_id = any(after_ids);
        raise invalid_parameter_value using
            message = 'before and after share uploads',
            detail = format('%s "%s" is on both sides, in the same hours.', initcap(apart[1]), shared),
            hint = 'Name two releases, two values of a dimension such as before_variant and after_variant, or two periods that do not overlap. Numbers are kept by the hour, older ones by the day.';
    end if;
end
$$;

comment on function fleetprof_data.check_sides is
    'Raises an error with a hint if two sides of a comparison share uploads, or if the dimension that tells them apart leaves one of them without page loads.';

create or replace function fleetprof_data.compared_sides(
    given           fleetprof_data.filters,
    before          text,
    after           text,
    before_since    timestamptz,
    before_until    timestamptz,
    before_own      text[] default null,
    after_own       text[] default null,
    out before_side fleetprof_data.compared_side,
    out after_side  fleetprof_data.compared_side
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    before_given filters := own_filters(given, compared_sides.before_own);
    after_given filters := own_filters(given, compared_sides.after_own);
    apart text[] := array(
        select dimension
        from unnest(dimensions(), before_given.wanted, after_given.wanted) as side (dimension, before, after)
        where before is distinct from after);
    of_one_release boolean := compared_sides.before is not distinct from compared_sides.after;
    is_same boolean := of_one_release and apart = '{}';
    period record;
begin
    -- A window of all releases is compared with the window before it.
    if is_same and given.since is not null and compared_sides.before_until is null then
        given.until := coalesce(given.until, now());
        if compared_sides.before_since is null then
            period := window_before(given, compared_sides.after);
            compared_sides.before_since := period.since;
            compared_sides.before_until := period.until;
        elsif compared_sides.before_since < given.since then
            compared_sides.before_until := given.since;
        end if;
    end if;
    if is_same and num_nonnulls(compared_sides.before_since, compared_sides.before_until) = 0 then
        raise invalid_parameter_value using
            message = 'before and after are the same',
            hint = 'Name two releases, two values of a dimension such as before_variant and after_variant, or two periods: before_since and before_until, since and until.';
    end if;
    if is_same and (coalesce(compared_sides.before_since, '-infinity'), coalesce(compared_sides.before_until, 'infinity'))
        overlaps (coalesce(given.since, '-infinity'), coalesce(given.until, 'infinity')) then
        raise invalid_parameter_value using
            message = 'the periods overlap',
            hint = 'Uploads on both sides would be compared with themselves. One period ends before the other begins.';
    end if;

    if num_nonnulls(given.since, given.until, compared_sides.before_since, compared_sides.before_until) = 0 then
        if of_one_release then
            select since, until, since as before_since, until as before_until
            into period
            from shared_hours(before_given, after_given, compared_sides.before);
        else
            period := release_periods(given, compared_sides.before, compared_sides.after);
        end if;
    elsif num_nonnulls(compared_sides.before_since, compared_sides.before_until) = 0 then
        select since, until, since as before_since, until as before_until
        into period
        from (values (given.since, given.until)) as both_sides (since, until);
    else
        select
            given.since as since, given.until as until,
            compared_sides.before_since as before_since, compared_sides.before_until as before_until
        into period;
        -- An hour in which one period ends and the other begins belongs to the later period. date_bin does not accept
        -- infinity.
        if period.before_until <= period.since then
            period.before_until := least(period.before_until, date_bin('1 hour', least(period.since, '3000-01-01Z'), 'epoch'));
        elsif period.until <= period.before_since then
            period.until := least(period.until, date_bin('1 hour', least(period.before_since, '3000-01-01Z'), 'epoch'));
        end if;
    end if;
    before_side := compared_side(before_given, compared_sides.before, period.before_since, period.before_until, apart);
    after_side := compared_side(after_given, compared_sides.after, period.since, period.until, apart);
    perform check_sides(before_side, after_side);
end
$$;

comment on function fleetprof_data.compared_sides is
    'Returns the two sides that a caller of compare_releases names: before and after are filters of the release, before_own and after_own filters of each dimension that hold for one side instead of those of given, whose period is that of the later side; raises an error with a hint when they are one.';

create or replace function fleetprof_data.listed_comparison(
    before_side fleetprof_data.compared_side,
    after_side  fleetprof_data.compared_side,
    one_sided   boolean,
    verdicts    text[],
    top         integer
)
returns table (
    function_key     text,
    function         text,
    resource         text,
    line             integer,
    column_number    integer,
    before_self_ms   double precision,
    after_self_ms    double precision,
    before_total_ms  double precision,
    after_total_ms   double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    at_least         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    is_agent           boolean
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if listed_comparison.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', listed_comparison.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    return query
    with compared as materialized (
        select *
        from compared_functions(listed_comparison.before_side, listed_comparison.after_side, listed_comparison.one_sided)
        where listed_comparison.verdicts is null or verdict = any(listed_comparison.verdicts)
        -- Findings come first, then what looks like some, then the costliest functions.
        order by
            array_position('{slower,new,faster,gone}', verdict) nulls last, at_least is null,
            case when verdict in ('slower', 'new', 'faster', 'gone')
                then abs(coalesce(after_self_ms, 0) - coalesce(before_self_ms, 0))
                else greatest(after_self_ms, before_self_ms) end desc nulls last,
            function_key
        limit listed_comparison.top
    )
    select
        compared.function_key::text,
        function,
        resource,
        line,
        column_number,
        before_self_ms,
        after_self_ms,
        before_total_ms,
        after_total_ms,
        change,
        change_low,
        change_high,
        own_change,
        own_low,
        own_high,
        at_least,
        smallest_visible,
        p,
        verdict,
        before_uploads,
        after_uploads,
        samples,
        generated_resource,
        generated_line,
        generated_column,
        -- The call alone costs more than the rest of the row.
        coalesce(generated_resource like '%fleetprof%' and fleetprof.is_agent(generated_resource), false)
    from compared
    join named_frames(array(select frame_id from compared)) as named using (frame_id)
    order by
        array_position('{slower,new,faster,gone}', verdict) nulls last, at_least is null,
        case when verdict in ('slower', 'new', 'faster', 'gone')
            then abs(coalesce(after_self_ms, 0) - coalesce(before_self_ms, 0))
            else greatest(after_self_ms, before_self_ms) end desc nulls last,
        compared.function_key;
end
$$;

comment on function fleetprof_data.listed_comparison is
    'Returns the rows of compare_releases for two sides. one_sided: looks for slower functions only; verdicts: those to list, null for all.';

create or replace function fleetprof.compare_releases(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side}},
    top          integer default null,
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (
    function_key     text,
    function         text,
    resource         text,
    line             integer,
    column_number    integer,
    before_self_ms   double precision,
    after_self_ms    double precision,
    before_total_ms  double precision,
    after_total_ms   double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    at_least         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    is_agent           boolean
)
language plpgsql stable parallel safe rows 1000
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, compare_releases.before, compare_releases.after, compare_releases.before_since, compare_releases.before_until, before_own, after_own);
begin
    return query
    select * from listed_comparison(sides.before_side, sides.after_side, false, null, compare_releases.top);
end
$$;

comment on function fleetprof.compare_releases is
    -- {{comment of compare_releases}};

create or replace function fleetprof.compare_summary(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side}},
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (
    common_change    double precision,
    comparable_share double precision,
    slower           bigint,
    faster           bigint,
    unchanged        bigint,
    too_few          bigint,
    placebo_flags    bigint,
    placebo_tested   bigint,
    new              bigint,
    gone             bigint,
    unmatched        bigint,
    undecided        bigint,
    obstacle         text,
    decidable_in     double precision,
    least_uploads    integer,
    by_time          boolean,
    before_uploads   bigint,
    after_uploads    bigint,
    before_hours     tstzrange,
    after_hours      tstzrange,
    before_seen_share double precision,
    after_seen_share  double precision,
    seen_differs      boolean
)
language plpgsql stable parallel safe rows 1
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, compare_summary.before, compare_summary.after, compare_summary.before_since, compare_summary.before_until, before_own, after_own);
    earlier record;
    later record;
    middle timestamptz;
    placebo record;
    before_whole record := selected_totals((sides.before_side).whole);
    after_whole record := selected_totals((sides.after_side).whole);
    before_seen double precision := before_whole.profiled_us / (before_whole.profiled_us + before_whole.unseen_us);
    after_seen double precision := after_whole.profiled_us / (after_whole.profiled_us + after_whole.unseen_us);
begin
    earlier := compared_hours_span((sides.before_side).segment_hours);
    later := compared_hours_span((sides.after_side).segment_hours);
    -- Findings between two halves of one side are noise.
    middle := date_bin('1 hour', lower(earlier.hours) + (upper(earlier.hours) - lower(earlier.hours)) / 2, 'epoch');
    -- A day without hours cannot be cut: both halves would include all of it.
    if middle < (select hours_from from horizon) then
        middle := date_bin('24 hours', middle, 'epoch');
    end if;
    select
        count(*) filter (where verdict in ('slower', 'faster')) as flags,
        count(*) filter (where verdict in ('slower', 'faster', 'no change seen')) as tested
    into placebo
    from compared_functions(
        compared_side(own_filters(given, before_own), compare_summary.before, lower(earlier.hours), middle),
        compared_side(own_filters(given, before_own), compare_summary.before, middle, upper(earlier.hours)),
        false)
    where middle is not null;

    return query
    with compared as materialized (
        select *
        from compared_functions(sides.before_side, sides.after_side, false)
    ),
    agent as materialized (
        select frame_id
        from frame
        join resource using (resource_id)
        where frame_id = any(array(select frame_id from compared)) and url like '%fleetprof%' and fleetprof.is_agent(url)
    )
    select
        max(common_change),
        max(comparable_share),
        count(*) filter (where verdict = 'slower' and agent.frame_id is null),
        count(*) filter (where verdict = 'faster' and agent.frame_id is null),
        count(*) filter (where verdict = 'no change seen' and agent.frame_id is null),
        count(*) filter (where verdict = 'too few' and agent.frame_id is null),
        placebo.flags,
        placebo.tested,
        count(*) filter (where verdict = 'new' and agent.frame_id is null),
        count(*) filter (where verdict = 'gone' and agent.frame_id is null),
        count(*) filter (where verdict = 'unmatched' and agent.frame_id is null),
        count(*) filter (where verdict in ('early', 'not enough data') and agent.frame_id is null),
        case
            when least(earlier.uploads, later.uploads) = 0 then 'early'
            when count(*) filter (where verdict in ('slower', 'faster', 'new', 'gone', 'no change seen')) = 0
                then max(verdict) filter (where verdict in ('early', 'not enough data', 'not comparable'))
        end,
        max(decidable_in),
        (compared_evidence(sides.before_side, sides.after_side)).least_uploads,
        coalesce(bool_or(by_time), false),
        earlier.uploads,
        later.uploads,
        earlier.hours,
        later.hours,
        before_seen,
        after_seen,
        coalesce(abs(after_seen - before_seen) > 0.05, false)
    from compared
    left join agent using (frame_id);
end
$$;

comment on function fleetprof.compare_summary is
    -- {{comment of compare_summary}};

create or replace function fleetprof_data.latest_releases(
    -- {{filters of both sides}},
    release text default null,
    out previous text,
    out latest   text
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- {{given}}
begin
    if (select count(distinct site) from segment where matches(site, given.site)) > 1 then
        raise invalid_parameter_value using
            message = 'releases of several sites do not follow each other',
            hint = 'Name one site, or compare two releases, two values of a dimension or two periods.';
    end if;
    with hour as materialized (
        select * from release_hours(given)
    ),
    life as materialized (
        select * from release_lives(given)
    ),
    chosen as (
        select release, begins, begin_hour
        from life
        where release = latest_releases.release or latest_releases.release is null and release <> ''
        order by begins desc, last_hour desc, release desc
        limit 1
    )
    select life.release, chosen.release
    into previous, latest
    from chosen
    left join life on life.release <> chosen.release and life.begins < chosen.begins
    order by
        (select sum(uploads) from hour
         where hour.release = life.release and bucket < chosen.begin_hour and bucket >= chosen.begin_hour - interval '48 hours')
            desc nulls last,
        life.begins desc, life.release desc
    limit 1;
end
$$;

comment on function fleetprof_data.latest_releases is
    'Returns, of one site, a release (null: the latest that has a name) and the one before it: the other release with the most uploads in the 48 hours before its first hour; among those that began in the same hour, the latest. Ignores since and until.';

create or replace function fleetprof.regressions(
    site         text,
    release      text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of both sides}},
    least_change double precision default 0.03,
    last_hours   integer default null
)
returns table (
    function_key     text,
    function         text,
    resource         text,
    line             integer,
    column_number    integer,
    before_self_ms   double precision,
    after_self_ms    double precision,
    before_total_ms  double precision,
    after_total_ms   double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    at_least         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    before_release   text,
    after_release    text,
    before_hours     tstzrange,
    after_hours      tstzrange,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    is_agent           boolean,
    owner              text
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    longest constant integer := 8784;
    names record;
    sides record;
begin
    if (regressions.least_change >= 0 and regressions.least_change < 'infinity') is not true then
        raise invalid_parameter_value using
            message = format('least_change is %s', coalesce(regressions.least_change::text, 'null')),
            hint = 'least_change is a share, 0 or more: 0.03 is 3 %.';
    end if;
    if regressions.last_hours not between 1 and longest then
        raise invalid_parameter_value using
            message = format('last_hours is %s', regressions.last_hours),
            hint = format('last_hours is how many hours back from now are judged, 1 to %s.', longest);
    end if;
    if regressions.last_hours is not null and num_nonnulls(regressions.release, regressions.since, regressions.until) > 0 then
        raise invalid_parameter_value using
            message = 'last_hours stands beside a release or a period',
            hint = 'The last hours are a period of all releases: leave out release, since and until, or last_hours.';
    end if;
    if regressions.last_hours is null then
        names := latest_releases(
            -- {{arguments}},
            release => regressions.release);
        -- The first release has no predecessor to compare with.
        if names.previous is null then
            return;
        end if;
    else
        select null::text as previous, null::text as latest into names;
        given.since := now() - regressions.last_hours * interval '1 hour';
    end if;
    sides := compared_sides(given, literal_filter(names.previous), literal_filter(names.latest), null, null);
    return query
    select
        function_key, function, resource, line, column_number, before_self_ms, after_self_ms, before_total_ms,
        after_total_ms, change, change_low, change_high, own_change, own_low, own_high, at_least, smallest_visible, p, verdict, before_uploads, after_uploads, samples,
        names.previous, names.latest, (compared_hours_span((sides.before_side).segment_hours)).hours,
        (compared_hours_span((sides.after_side).segment_hours)).hours, generated_resource, generated_line, generated_column, is_agent,
        case when resource <> generated_resource then owner_of(given.site, resource) end
    from listed_comparison(sides.before_side, sides.after_side, true, '{slower,new}', null)
    where verdict = 'new' or own_change is null or own_change >= regressions.least_change;
end
$$;

comment on function fleetprof.regressions is
    -- {{comment of regressions}};

revoke execute on function
    fleetprof_data.release_hours, fleetprof_data.rollout_begin, fleetprof_data.release_lives, fleetprof_data.days_earlier,
    fleetprof_data.window_before, fleetprof_data.release_periods, fleetprof_data.own_filters, fleetprof_data.shared_hours,
    fleetprof_data.check_sides, fleetprof_data.compared_sides,
    fleetprof_data.listed_comparison, fleetprof_data.latest_releases, fleetprof.compare_releases,
    fleetprof.compare_summary, fleetprof.regressions
from public;
grant execute on function
    fleetprof_data.release_hours, fleetprof_data.rollout_begin, fleetprof_data.release_lives, fleetprof_data.days_earlier,
    fleetprof_data.window_before, fleetprof_data.release_periods, fleetprof_data.own_filters, fleetprof_data.shared_hours,
    fleetprof_data.check_sides, fleetprof_data.compared_sides,
    fleetprof_data.listed_comparison, fleetprof_data.latest_releases, fleetprof.compare_releases,
    fleetprof.compare_summary, fleetprof.regressions
to fleetprof_reader;
