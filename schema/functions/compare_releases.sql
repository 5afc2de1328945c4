-- Releases, or periods, beside each other: what got slower, and is it more than noise.

create or replace function fleetprof_data.release_hours(
    site        text,
    route       text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text,
    exclude     text[]
)
returns table (release text, bucket timestamptz, length interval, uploads bigint)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- '%%' matches as '%' does, but keeps the release in the sums that are read.
    selected selection := (compared_side(
        release_hours.site, null, null, release_hours.route, '%%', release_hours.environment, release_hours.variant,
        release_hours.browser, release_hours.os, release_hours.device, release_hours.thread,
        release_hours.exclude)).hours;
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
    'Returns the hours (days, where hours are gone) in which each release had uploads, and how many.';

create or replace function fleetprof_data.release_periods(
    site             text,
    before           text,
    after            text,
    route            text,
    environment      text,
    variant          text,
    browser          text,
    os               text,
    device           text,
    thread           text,
    exclude          text[],
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
    earlier timestamptz;
    uploads record;
begin
    with hour as materialized (
        select
            bucket, length, uploads, matches(release, release_periods.before) as is_before,
            matches(release, release_periods.after) as is_after
        from release_hours(
            release_periods.site, release_periods.route, release_periods.environment, release_periods.variant,
            release_periods.browser, release_periods.os, release_periods.device, release_periods.thread,
            release_periods.exclude)
    ),
    bound as (
        select
            min(bucket) filter (where is_after) as first,
            max(bucket + length) filter (where is_after) as last,
            max(bucket + length) filter (where is_before) as last_before
        from hour
    ),
    period as (
        select
            first, least(last, first + longest) as until, last_before,
            -- Whole days earlier, so that the hours of the day are the same.
            first - ceil(extract(epoch from least(last - first, longest)) / 86400) * interval '24 hours' as earlier
        from bound
    )
    select
        min(first) as first,
        min(until) as until,
        min(earlier) as earlier,
        min(last_before) as last_before,
        coalesce(sum(uploads) filter (where is_after and bucket >= first and bucket < until), 0) as after,
        coalesce(sum(uploads) filter (where is_before and bucket >= first and bucket < until), 0) as same,
        coalesce(sum(uploads) filter (
            where is_before and bucket >= earlier and bucket < earlier + (until - first)), 0) as earlier_uploads,
        coalesce(sum(uploads) filter (
            where is_before and bucket >= last_before - (until - first)), 0) as latest
    into uploads
    from hour
    cross join period;

    since := uploads.first;
    until := uploads.until;
    earlier := case
        when uploads.same >= uploads.after then uploads.first
        when uploads.earlier_uploads >= uploads.latest then uploads.earlier
        else uploads.last_before - (until - since)
    end;
    before_since := earlier;
    before_until := earlier + (until - since);
end
$$;

comment on function fleetprof_data.release_periods is
    'Returns the periods over which two releases are compared unless the caller says otherwise. After: from the release''s first hour on, 48 hours at most. Before: the same hours, if the earlier release has as many uploads there; else as long a period whole days earlier, or the earlier release''s last one, whichever has more uploads. Null where a release has no uploads.';

create or replace function fleetprof_data.compared_sides(
    site         text,
    before       text,
    after        text,
    since        timestamptz,
    until        timestamptz,
    route        text,
    environment  text,
    variant      text,
    browser      text,
    os           text,
    device       text,
    thread       text,
    before_since timestamptz,
    before_until timestamptz,
    exclude      text[],
    out before_side  fleetprof_data.compared_side,
    out after_side   fleetprof_data.compared_side
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    is_same boolean := compared_sides.before is not distinct from compared_sides.after;
    period record;
begin
    if is_same and num_nonnulls(compared_sides.before_since, compared_sides.before_until) = 0 then
        raise invalid_parameter_value using
            message = 'before and after are the same',
            hint = 'Name two releases, or two periods: before_since and before_until, since and until.';
    end if;
    if is_same and (coalesce(compared_sides.before_since, '-infinity'), coalesce(compared_sides.before_until, 'infinity'))
        overlaps (coalesce(compared_sides.since, '-infinity'), coalesce(compared_sides.until, 'infinity')) then
        raise invalid_parameter_value using
            message = 'the periods overlap',
            hint = 'Uploads on both sides would be compared with themselves. One period ends before the other begins.';
    end if;

    if num_nonnulls(
        compared_sides.since, compared_sides.until, compared_sides.before_since, compared_sides.before_until) = 0 then
        period := release_periods(
            compared_sides.site, compared_sides.before, compared_sides.after, compared_sides.route,
            compared_sides.environment, compared_sides.variant, compared_sides.browser, compared_sides.os,
            compared_sides.device, compared_sides.thread, compared_sides.exclude);
    elsif num_nonnulls(compared_sides.before_since, compared_sides.before_until) = 0 then
        select since, until, since as before_since, until as before_until
        into period
        from (values (compared_sides.since, compared_sides.until)) as given (since, until);
    else
        select
            compared_sides.since as since, compared_sides.until as until,
            compared_sides.before_since as before_since, compared_sides.before_until as before_until
        into period;
        -- An hour in which one period ends and the other begins belongs to the one that begins.
        -- date_bin takes no infinity.
        if period.before_until <= period.since then
            period.before_until := least(period.before_until, date_bin('1 hour', least(period.since, '3000-01-01Z'), 'epoch'));
        elsif period.until <= period.before_since then
            period.until := least(period.until, date_bin('1 hour', least(period.before_since, '3000-01-01Z'), 'epoch'));
        end if;
    end if;
    before_side := compared_side(
        compared_sides.site, period.before_since, period.before_until, compared_sides.route, compared_sides.before,
        compared_sides.environment, compared_sides.variant, compared_sides.browser, compared_sides.os,
        compared_sides.device, compared_sides.thread, compared_sides.exclude);
    after_side := compared_side(
        compared_sides.site, period.since, period.until, compared_sides.route, compared_sides.after,
        compared_sides.environment, compared_sides.variant, compared_sides.browser, compared_sides.os,
        compared_sides.device, compared_sides.thread, compared_sides.exclude);
    if (before_side.whole).segment_ids && (after_side.whole).segment_ids
        and greatest((before_side.whole).after, (after_side.whole).after) + interval '1 hour'
            < least((before_side.whole).before, (after_side.whole).before) then
        raise invalid_parameter_value using
            message = 'before and after share uploads',
            detail = format(
                'Release "%s" is on both sides, in the same hours.',
                (select min(release) from segment
                 where segment_id = any((before_side.whole).segment_ids) and segment_id = any((after_side.whole).segment_ids))),
            hint = 'Name two releases, or two periods that do not overlap. Numbers are kept by the hour, older ones by the day.';
    end if;
end
$$;

comment on function fleetprof_data.compared_sides is
    'Returns the two sides that a caller of compare_releases names; raises an error with a hint when they are one.';

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
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
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
        -- First what was found, then what costs most.
        order by
            array_position('{slower,new,faster,gone}', verdict) nulls last,
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
        smallest_visible,
        p,
        verdict,
        before_uploads,
        after_uploads,
        samples,
        generated_resource,
        generated_line,
        generated_column
    from compared
    join named_frames(array(select frame_id from compared)) as named using (frame_id)
    order by
        array_position('{slower,new,faster,gone}', verdict) nulls last,
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
    route        text default null,
    environment  text default null,
    variant      text default null,
    browser      text default null,
    os           text default null,
    device       text default null,
    thread       text default null,
    top          integer default null,
    before_since timestamptz default null,
    before_until timestamptz default null,
    exclude_route text default null, exclude_environment text default null, exclude_variant text default null,
    exclude_browser text default null, exclude_os text default null, exclude_device text default null,
    exclude_thread text default null
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
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    sides record := compared_sides(
        compare_releases.site, compare_releases.before, compare_releases.after, compare_releases.since,
        compare_releases.until, compare_releases.route, compare_releases.environment, compare_releases.variant,
        compare_releases.browser, compare_releases.os, compare_releases.device, compare_releases.thread,
        compare_releases.before_since, compare_releases.before_until,
        array[
            compare_releases.exclude_route, null, compare_releases.exclude_environment, compare_releases.exclude_variant,
            compare_releases.exclude_browser, compare_releases.exclude_os, compare_releases.exclude_device,
            compare_releases.exclude_thread]);
begin
    return query
    select * from listed_comparison(sides.before_side, sides.after_side, false, null, compare_releases.top);
end
$$;

comment on function fleetprof.compare_releases is
    'Compares the functions of two releases, or of two periods. before_self_ms, after_self_ms, before_total_ms, after_total_ms: milliseconds per page load, as observed. change: ratio of self time after to before, less 1, for the same mix of pages, devices and browsers on both sides; change_low, change_high: where it lies with a probability of 95 %. smallest_visible: the least change that would have been found in nine of ten cases. p: probability of such a difference from the common change by chance. verdict: slower, faster, no change seen, new, gone, too few, early, not comparable, unmatched. before_uploads, after_uploads: with the function; samples: on both sides, with the function anywhere on the stack. function_key: the function, across releases. generated_resource, generated_line, generated_column: as in hotspots. since, until: period of after, before_since, before_until: that of before, without them that of after; when none of the four is given, the first 48 hours of after and as many before. top: rows to return, null for all.';

create or replace function fleetprof.compare_summary(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    route        text default null,
    environment  text default null,
    variant      text default null,
    browser      text default null,
    os           text default null,
    device       text default null,
    thread       text default null,
    before_since timestamptz default null,
    before_until timestamptz default null,
    exclude_route text default null, exclude_environment text default null, exclude_variant text default null,
    exclude_browser text default null, exclude_os text default null, exclude_device text default null,
    exclude_thread text default null
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
    obstacle         text,
    by_time          boolean,
    before_uploads   bigint,
    after_uploads    bigint,
    before_hours     tstzrange,
    after_hours      tstzrange
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    exclude text[] := array[
        compare_summary.exclude_route, null, compare_summary.exclude_environment, compare_summary.exclude_variant,
        compare_summary.exclude_browser, compare_summary.exclude_os, compare_summary.exclude_device,
        compare_summary.exclude_thread];
    sides record := compared_sides(
        compare_summary.site, compare_summary.before, compare_summary.after, compare_summary.since,
        compare_summary.until, compare_summary.route, compare_summary.environment, compare_summary.variant,
        compare_summary.browser, compare_summary.os, compare_summary.device, compare_summary.thread,
        compare_summary.before_since, compare_summary.before_until, exclude);
    earlier record;
    later record;
    middle timestamptz;
    placebo record;
begin
    earlier := compared_hours_span((sides.before_side).segment_hours);
    later := compared_hours_span((sides.after_side).segment_hours);
    -- What the same test finds between two halves of one side is noise.
    middle := date_bin('1 hour', lower(earlier.hours) + (upper(earlier.hours) - lower(earlier.hours)) / 2, 'epoch');
    -- A day without hours cannot be cut: both halves would have all of it.
    if middle < (select hours_from from horizon) then
        middle := date_bin('24 hours', middle, 'epoch');
    end if;
    select
        count(*) filter (where verdict in ('slower', 'faster')) as flags,
        count(*) filter (where verdict in ('slower', 'faster', 'no change seen')) as tested
    into placebo
    from compared_functions(
        compared_side(
        compare_summary.site, lower(earlier.hours), middle, compare_summary.route, compare_summary.before,
        compare_summary.environment, compare_summary.variant, compare_summary.browser, compare_summary.os,
        compare_summary.device, compare_summary.thread, exclude),
        compared_side(
        compare_summary.site, middle, upper(earlier.hours), compare_summary.route, compare_summary.before,
        compare_summary.environment, compare_summary.variant, compare_summary.browser, compare_summary.os,
        compare_summary.device, compare_summary.thread, exclude),
        false)
    where middle is not null;

    return query
    select
        max(common_change),
        max(comparable_share),
        count(*) filter (where verdict = 'slower'),
        count(*) filter (where verdict = 'faster'),
        count(*) filter (where verdict = 'no change seen'),
        count(*) filter (where verdict = 'too few'),
        placebo.flags,
        placebo.tested,
        count(*) filter (where verdict = 'new'),
        count(*) filter (where verdict = 'gone'),
        count(*) filter (where verdict = 'unmatched'),
        case when least(earlier.uploads, later.uploads) = 0 then 'early'
            else max(verdict) filter (where verdict in ('early', 'not comparable')) end,
        coalesce(bool_or(by_time), false),
        earlier.uploads,
        later.uploads,
        earlier.hours,
        later.hours
    from compared_functions(sides.before_side, sides.after_side, false);
end
$$;

comment on function fleetprof.compare_summary is
    'Returns one row about what compare_releases does with the same arguments. common_change: change that most functions share, 0.05 for 5 % slower; it is taken off before a function is judged. comparable_share: share of the later uploads whose mix of page, device and browser both sides have, 0 to 1. slower, faster, unchanged, too_few, new, gone, unmatched: functions with this verdict. obstacle: early or not comparable, when that is every function''s verdict; early, too, when a side has no uploads. placebo_flags: functions found slower or faster between two halves of before, where nothing changed, of placebo_tested. by_time: self time was compared per profiled time, since uploads per page load differ by more than 5 %. before_uploads, after_uploads: uploads of each side; before_hours, after_hours: from its first hour with uploads to its last, null without uploads.';

create or replace function fleetprof_data.latest_releases(
    site        text,
    release     text,
    route       text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text,
    exclude     text[],
    out previous text,
    out latest   text
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    with hour as materialized (
        select *
        from release_hours(
            latest_releases.site, latest_releases.route, latest_releases.environment, latest_releases.variant,
            latest_releases.browser, latest_releases.os, latest_releases.device, latest_releases.thread,
            latest_releases.exclude)
    ),
    life as materialized (
        select release, min(bucket) as first, max(bucket) as last from hour group by release
    ),
    chosen as (
        select release, first
        from life
        where release = latest_releases.release or latest_releases.release is null and release <> ''
        order by first desc, last desc, release desc
        limit 1
    )
    select life.release, chosen.release
    into previous, latest
    from chosen
    left join life on life.release <> chosen.release and life.first < chosen.first
    order by
        (select sum(uploads) from hour
         where hour.release = life.release and bucket < chosen.first and bucket >= chosen.first - interval '48 hours')
            desc nulls last,
        life.last desc, life.release desc
    limit 1;
end
$$;

comment on function fleetprof_data.latest_releases is
    'Returns a release (null: that which began last, of those with a name) and the one before it: that with the most uploads in the 48 hours before its first hour.';

create or replace function fleetprof.regressions(
    site         text,
    release      text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    route        text default null,
    environment  text default null,
    variant      text default null,
    browser      text default null,
    os           text default null,
    device       text default null,
    thread       text default null,
    least_change double precision default 0.03,
    exclude_route text default null, exclude_environment text default null, exclude_variant text default null,
    exclude_browser text default null, exclude_os text default null, exclude_device text default null,
    exclude_thread text default null
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
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    before_release   text,
    after_release    text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    exclude text[] := array[
        regressions.exclude_route, null, regressions.exclude_environment, regressions.exclude_variant,
        regressions.exclude_browser, regressions.exclude_os, regressions.exclude_device, regressions.exclude_thread];
    names record := latest_releases(
        regressions.site, regressions.release, regressions.route, regressions.environment, regressions.variant,
        regressions.browser, regressions.os, regressions.device, regressions.thread, exclude);
    sides record;
begin
    if (regressions.least_change >= 0 and regressions.least_change < 'infinity') is not true then
        raise invalid_parameter_value using
            message = format('least_change is %s', coalesce(regressions.least_change::text, 'null')),
            hint = 'least_change is a share, 0 or more: 0.03 is 3 %.';
    end if;
    -- The first release has nothing to be compared with.
    if names.previous is null then
        return;
    end if;
    sides := compared_sides(
        regressions.site, literal_filter(names.previous), literal_filter(names.latest), regressions.since,
        regressions.until, regressions.route, regressions.environment, regressions.variant, regressions.browser,
        regressions.os, regressions.device, regressions.thread, null, null, exclude);
    return query
    select
        function_key, function, resource, line, column_number, before_self_ms, after_self_ms, before_total_ms,
        after_total_ms, change, change_low, change_high, smallest_visible, p, verdict, before_uploads, after_uploads, samples,
        names.previous, names.latest, generated_resource, generated_line, generated_column
    from listed_comparison(sides.before_side, sides.after_side, true, '{slower,new}', null)
    where verdict = 'new' or change is null or change >= regressions.least_change;
end
$$;

comment on function fleetprof.regressions is
    'Returns the functions that a release made slower, or brought, against the release before it: rows of compare_releases with the verdict slower or new, looked for in this direction only. release: null is the one that began last, of those with a name. least_change: smaller changes are left out, however certain. before_release, after_release: what was compared. No rows: nothing was found, or there is no earlier release; compare_summary tells what could not be compared.';

revoke execute on function
    fleetprof_data.release_hours, fleetprof_data.release_periods, fleetprof_data.compared_sides,
    fleetprof_data.listed_comparison, fleetprof_data.latest_releases, fleetprof.compare_releases,
    fleetprof.compare_summary, fleetprof.regressions
from public;
grant execute on function
    fleetprof_data.release_hours, fleetprof_data.release_periods, fleetprof_data.compared_sides,
    fleetprof_data.listed_comparison, fleetprof_data.latest_releases, fleetprof.compare_releases,
    fleetprof.compare_summary, fleetprof.regressions
to fleetprof_reader;
