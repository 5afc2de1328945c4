-- SPDX-License-Identifier: Apache-2.0
-- Selections: which blocks cover an interval, which groups answer, where hours were dropped.
\ir fixture.inc
set local search_path = pgtap, fleetprof_data, pg_catalog;

-- The blocks of cover(), such as '05 10:00 hour', in order. Eight days begin at 2026-01-03.
create function pg_temp.covered(sites text[], since text, until text, group_spans smallint[] default '{0,1,2,3}')
returns text
language sql
return (
    select coalesce(string_agg(to_char(bucket at time zone 'UTC', 'DD HH24') || ' ' || ('{h,4h,d,8d}'::text[])[span + 1], ', ' order by bucket), '')
    from fleetprof_data.cover(sites, ('2026-01-' || since || 'Z')::timestamptz, ('2026-01-' || until || 'Z')::timestamptz, group_spans) as blocks
    cross join unnest(blocks.buckets, blocks.spans) as block (bucket, span)
);

insert into sealed
select site, ('2026-01-' || block || 'Z')::timestamptz, span
from (values
    ('hours', '05 10:00', 0), ('hours', '05 11:00', 0), ('hours', '05 13:00', 0),
    ('4 hours', '05 08:00', 1), ('4 hours', '05 12:00', 1), ('4 hours', '05 16:00', 0),
    ('days', '04 00:00', 2), ('days', '05 00:00', 2), ('days', '06 00:00', 1), ('days', '06 04:00', 0),
    ('8 days', '03 00:00', 3), ('8 days', '11 00:00', 2),
    ('late', '02 07:00', 0), ('late', '03 00:00', 3), ('late', '12 05:00', 0)
) as tile (site, block, span);

select plan(58);

select is(pg_temp.covered('{hours}', '05 10:00', '05 12:00'), '05 10 h, 05 11 h', 'hours');
select is(pg_temp.covered('{hours}', '05 11:00', '05 12:00'), '05 11 h', 'one of them');
select is(pg_temp.covered('{hours}', '05 00:00', '06 00:00'), '05 10 h, 05 11 h, 05 13 h', 'those that are there');
select is(pg_temp.covered('{hours}', '05 14:00', '06 00:00'), '', 'after them');
select is(pg_temp.covered('{hours}', '05 00:00', '05 10:00'), '', 'before them');
select is(pg_temp.covered('{nobody}', '01 00:00', '31 00:00'), '', 'a site that has none');
select is(pg_temp.covered('{}', '01 00:00', '31 00:00'), '', 'no site');
select is(
    (select cover('{hours}', '-infinity', 'infinity', '{0,1,2,3}')::text),
    (select cover('{hours}', '2026-01-01Z', '2026-01-31Z', '{0,1,2,3}')::text), 'from -infinity to infinity');
select is((select cover('{hours}', 'infinity', '2026-01-31Z', '{0,1,2,3}')::text), '({},{})', 'an empty interval');

select is(pg_temp.covered('{4 hours}', '05 08:00', '05 16:00'), '05 08 4h, 05 12 4h', 'four hours');
select is(pg_temp.covered('{4 hours}', '05 09:00', '05 17:00'), '05 09 h, 05 10 h, 05 11 h, 05 12 4h, 05 16 h', 'hours of them at the edge');
select is(pg_temp.covered('{4 hours}', '05 09:00', '05 10:00'), '05 09 h', 'an hour of them');
select is(pg_temp.covered('{4 hours}', '05 08:00', '05 12:00', '{0,2}'), '05 08 h, 05 09 h, 05 10 h, 05 11 h', 'of segments, by hour');
select is(pg_temp.covered('{4 hours}', '05 00:00', '06 00:00'), '05 08 4h, 05 12 4h, 05 16 h', 'no day while there are smaller tiles');

select is(pg_temp.covered('{days}', '04 00:00', '06 00:00'), '04 00 d, 05 00 d', 'days');
select is(
    pg_temp.covered('{days}', '04 22:00', '06 06:00'), '04 22 h, 04 23 h, 05 00 d, 06 00 4h, 06 04 h',
    'hours before a day, what there is of the next one');
select is(pg_temp.covered('{days}', '04 03:00', '04 09:00'), '04 03 h, 04 04 4h, 04 08 h', 'four hours of a day');
select is(pg_temp.covered('{days}', '04 20:00', '05 12:00', '{0,2}'),
    '04 20 h, 04 21 h, 04 22 h, 04 23 h, ' || (select string_agg(format('05 %s h', lpad(n::text, 2, '0')), ', ' order by n) from generate_series(0, 11) as n),
    'of segments');

select is(pg_temp.covered('{8 days}', '03 00:00', '11 00:00'), '03 00 8d', 'eight days');
select is(pg_temp.covered('{8 days}', '03 00:00', '12 00:00'), '03 00 8d, 11 00 d', 'and a day');
select is(
    pg_temp.covered('{8 days}', '03 00:00', '11 00:00', '{0,2}'),
    '03 00 d, 04 00 d, 05 00 d, 06 00 d, 07 00 d, 08 00 d, 09 00 d, 10 00 d', 'of segments, by day');
select is(
    pg_temp.covered('{8 days}', '09 19:00', '12 00:00'), '09 19 h, 09 20 4h, 10 00 d, 11 00 d', 'their end');

-- Several sites: blocks of which all have sums, even a site without facts.
select is(pg_temp.covered('{8 days,nobody}', '03 00:00', '11 00:00'), '03 00 8d', 'a site that has none hinders nobody');
select is(
    pg_temp.covered('{8 days,days}', '03 00:00', '11 00:00'),
    '03 00 d, 04 00 d, 05 00 d, 06 00 4h, 06 04 h, 06 05 h, 06 06 h, 06 07 h, 06 08 4h, 06 12 4h, 06 16 4h, 06 20 4h, '
    || '07 00 d, 08 00 d, 09 00 d, 10 00 d',
    'as short as the shortest, only where it is');
select is(
    pg_temp.covered('{days,hours}', '05 00:00', '06 00:00'),
    '05 00 4h, 05 04 4h, 05 08 h, 05 09 h, 05 10 h, 05 11 h, 05 12 h, 05 13 h, 05 14 h, 05 15 h, 05 16 4h, 05 20 4h',
    'a day and hours');
select is(
    pg_temp.covered('{4 hours,hours}', '05 00:00', '06 00:00'),
    '05 08 h, 05 09 h, 05 10 h, 05 11 h, 05 12 h, 05 13 h, 05 14 h, 05 15 h, 05 16 h', 'four hours and hours');
select is(pg_temp.covered('{late}', '01 00:00', '31 00:00'), '02 07 h, 03 00 8d, 12 05 h', 'lonely hours around');
select is(
    (select count(*) from (
        select 1
        from generate_series(0, 400) as first
        cross join generate_series(1, 400, 7) as length
        cross join lateral cover(
            '{hours,4 hours,days,8 days,late}',
            '2026-01-01Z'::timestamptz + first * interval '1 hour',
            '2026-01-01Z'::timestamptz + (first + length) * interval '1 hour', '{0,1,2,3}') as blocks
        cross join unnest(blocks.buckets, blocks.spans) as block (bucket, span)
        where first % 13 = 0
        group by first, length
        having sum(('{1,4,24,192}'::integer[])[span + 1]) > length
            or min(bucket) < '2026-01-01Z'::timestamptz + first * interval '1 hour'
            or max(bucket + ('{1,4,24,192}'::integer[])[span + 1] * interval '1 hour') > '2026-01-01Z'::timestamptz + (first + length) * interval '1 hour'
        ) as wrong), 0::bigint, 'no block reaches beyond the interval, and none overlap');
select is(
    (select sum(('{1,4,24,192}'::integer[])[span + 1]) from cover('{8 days}', '2026-01-03 05:00Z', '2026-01-11 17:00Z', '{0,1,2,3}') as blocks
     cross join unnest(blocks.buckets, blocks.spans) as block (bucket, span)), 204::bigint, 'and they cover all of it');
delete from sealed;

-- Levels. Facts of one day and the morning of the next one.
insert into segment (segment_id, route, browser) values (1, '/cart', 'Chrome'), (2, '/cart', 'Firefox'), (3, '/home', 'Chrome');
insert into segment (segment_id, release) values (4, 'v2');
insert into segment (segment_id, site) values (5, 'shop-eu');
insert into cohort_level values (3, '{site,environment,route}', '-infinity', '-infinity');
insert into sample (segment_id, bucket, us, path)
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', (1 << segment_id::integer) * 1000, '{main}'
from segment, generate_series(0, 29) as hour;
select pg_temp.store() \g /dev/null
select pg_temp.pack('blocks') \g /dev/null

-- Levels and routes of the groups that answer, or segments.
create function pg_temp.answered_by(
    site text, since timestamptz default '2026-01-05Z', route text default null, release text default null,
    environment text default null, browser text default null, by_segment boolean default false
)
returns text
language sql
return (
    select coalesce(
        (select string_agg(concat_ws(' ', cohort.level, cohort.site, cohort.route, cohort.release), ', ' order by cohort.level, cohort.site, cohort.route, cohort.release)
         from fleetprof_data.cohort where group_id = any(group_ids)),
        'segments ' || group_ids::text)
    from fleetprof_data.select_segments(
        row(answered_by.site, since, '2026-01-06 06:00Z',
            array[answered_by.route, answered_by.release, answered_by.environment, null, answered_by.browser], null),
        answered_by.by_segment)
);
select is(pg_temp.answered_by('shop'), '1 shop', 'a whole site: one group');
select is(pg_temp.answered_by('shop', environment => 'production'), '1 shop', 'its environment');
select is(pg_temp.answered_by('shop', environment => 'staging'), 'segments {}', 'an environment that it lacks: no group');
select is(pg_temp.answered_by('shop%'), '1 shop, 1 shop-eu', 'two sites');
select is(pg_temp.answered_by('shop', release => 'v2'), '2 shop v2', 'a release');
select is(pg_temp.answered_by('shop', release => 'v%'), '2 shop v1, 2 shop v2', 'releases by a wildcard');
select is(pg_temp.answered_by('shop', route => '%', release => '%', browser => '%'), '1 shop', '% is not a filter');
select is(pg_temp.answered_by('shop', route => '/cart'), '3 shop /cart', 'a level that was added');
select is(pg_temp.answered_by('shop', route => '/cart', release => 'v1'), 'segments {1,2}', 'dimensions that no level has together');
select is(pg_temp.answered_by('shop', browser => 'Chrome'), 'segments {1,3,4}', 'a dimension that no level has');
select is(pg_temp.answered_by('shop', by_segment => true), 'segments {1,2,3,4}', 'segments on demand');

-- The message of level debug1 about them.
create function pg_temp.selection_text(since timestamptz, wanted text[])
returns text
language sql
return fleetprof_data.selection_text(fleetprof_data.select_segments(row('shop%', since, '2026-01-06 06:00Z', wanted, null)));
select is(
    pg_temp.selection_text('2026-01-04 22:30Z', '{}'),
    'sites: 2; segments: 5; fresh rows: from 2026-01-04 22:00 to 2026-01-06 06:00; groups of sealed rows: 2 (cohorts of level 1); '
    || 'blocks: 1 of 24 h from 2026-01-05 00:00 to 2026-01-06 00:00, 1 of 4 h from 2026-01-06 00:00 to 2026-01-06 04:00, '
    || '4 of 1 h from 2026-01-04 22:00 to 2026-01-06 06:00 (UTC)',
    'the rows of a question in words');
select is(
    pg_temp.selection_text('2026-01-06 05:00Z', '{/cart,v1}'),
    'sites: 2; segments: 3; fresh rows: from 2026-01-06 05:00 to 2026-01-06 06:00; groups of sealed rows: 3 (segments); '
    || 'blocks: 1 of 1 h from 2026-01-06 05:00 to 2026-01-06 06:00 (UTC)', 'rows of segments');
select is(
    pg_temp.selection_text('2026-01-06 05:00Z', '{nowhere}'),
    'sites: 0; segments: 0; fresh rows: from 2026-01-06 05:00 to 2026-01-06 06:00; groups of sealed rows: 0 (segments); blocks: none (UTC)',
    'no rows');

insert into cohort_level (level, dimensions, since) values (4, '{site,browser}', '-infinity');
select is(
    pg_temp.answered_by('shop', browser => 'Chrome'), 'segments {1,3,4}',
    'a level that was added when these hours were sealed, whatever its since says');
-- The comment of cohort_level.since has the two hours.
update cohort_level set added = '2026-01-05 02:00Z' where level = 3;
select is(pg_temp.answered_by('shop', '2026-01-05 04:00Z', '/cart'), '3 shop /cart', 'a level answers from two hours after it was added');
update cohort_level set added = '2026-01-05 02:00:01Z' where level = 3;
select is(pg_temp.answered_by('shop', '2026-01-05 04:00Z', '/cart'), 'segments {1,2,4}', 'and for no block that begins earlier');
update cohort_level set added = '-infinity' where level = 3;
update cohort_level set since = '2026-01-05 04:00Z' where level = 3;
select is(pg_temp.answered_by('shop', route => '/cart'), 'segments {1,2,4}', 'a level that is younger than the first block');
select is(pg_temp.answered_by('shop', '2026-01-05 04:00Z', route => '/cart'), '3 shop /cart', 'a level that is as old');

select results_eq(
    format('select after < ''1970-01-02Z'', before > ''2999-01-01Z'', buckets from select_segments(row(''shop'', %L, %L, null, null))', since, until),
    $$ values (true, true, '{"2026-01-03Z"}'::timestamptz[]) $$, format('from %s to %s', since, until))
from (values ('4713-01-01 00:00Z BC', '294276-12-31 23:59:59.999999Z'), ('-infinity', null)) as wide (since, until);
select results_eq(
    format('select after >= before - interval ''1 hour'', buckets from select_segments(row(''shop'', %L, null, null, null))', since),
    $$ values (true, '{}'::timestamptz[]) $$, format('from %s on there is nothing', since))
from unnest('{294276-12-31 23:59:59Z,infinity}'::text[]) as since;

-- A wildcard over sites whose tiles differ: sums of longer blocks of one are left alone, though they are there.
update sealed set bucket = '2026-01-05Z', span = 2 where site = 'shop-eu';
insert into sealed select 'shop-eu', '2026-01-06Z'::timestamptz + hour * interval '1 hour', 0 from generate_series(0, 5) as hour;
create function pg_temp.profiled_ms(site text, since timestamptz, until timestamptz)
returns double precision
language sql
return (select sum(self_ms) from fleetprof.markers(site, since, until));
select is(pg_temp.profiled_ms('shop%', '2026-01-05Z', '2026-01-07Z'), (2 + 4 + 8 + 16 + 32) * 30::float8, 'sites with different tiles add up');
select is(pg_temp.profiled_ms('shop%', '2026-01-05 03:30Z', '2026-01-06 01:30Z'), (2 + 4 + 8 + 16 + 32) * 23::float8, 'hour by hour');
update sealed set span = 3, bucket = '2026-01-03Z' where site = 'shop-eu' and span = 2;
delete from sealed where site = 'shop-eu' and span = 0;

-- Hours of the first day were dropped: its edges are whole days. Fresh rows go with them.
update horizon set hours_from = '2026-01-06Z';
delete from total_hours where bucket < '2026-01-06Z';
insert into total_recent
select group_id, '2026-01-05 01:00Z', '00000000-0000-4000-8000-000000000000', 3, marker, uploads, loads, samples, self_us, profiled_us2
from total_days where group_id = 5 and span = 2 and bucket = '2026-01-05Z';
select results_eq(
    $$ select after, before, buckets, spans from select_segments(row('shop-eu', '2026-01-05 22:30Z', '2026-01-06 02:00Z', null, null)) $$,
    $$ values ('2026-01-04 23:00Z'::timestamptz, '2026-01-06 02:00Z'::timestamptz,
               '{"2026-01-05Z","2026-01-06 00:00Z","2026-01-06 01:00Z"}'::timestamptz[], '{2,0,0}'::smallint[]) $$,
    'since in a day without hours is its start');
select results_eq(
    $$ select after, before, buckets, spans from select_segments(row('shop-eu', '2026-01-05 22:30Z', '2026-01-05 23:00Z', null, null)) $$,
    $$ values ('2026-01-04 23:00Z'::timestamptz, '2026-01-06Z'::timestamptz, '{"2026-01-05Z"}'::timestamptz[], '{2}'::smallint[]) $$,
    'until in it is its end');
select is(pg_temp.profiled_ms('shop-eu', '2026-01-05 22:30Z', '2026-01-05 22:30:00.000001Z'), 2 * 32 * 24::float8, 'also fresh rows of that day');
select is(pg_temp.profiled_ms('shop-eu', '2026-01-05 22:30Z', '2026-01-05 22:30Z'), null, 'an empty interval stays empty');

select * from finish();
rollback;
