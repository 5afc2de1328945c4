-- SPDX-License-Identifier: Apache-2.0
-- compare_timings and compare_vitals: against values that SQL draws here.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

select plan(33);

select is((select count(*) from generate_series(0, 1500) as bin
           where bin_middle_us(bin::smallint) not between bin_start_us(bin::smallint) and bin_start_us((bin + 1)::smallint)), 0::bigint,
    'the middle of a bin is in it');
select is(share_value_us('{0,3}', '{0.5,1}', 0.5), 0::float8, 'a value in a bin of one microsecond');
select is(share_value_us('{64,65}', '{0.5,1}', 0.75), 67::float8, 'half of a bin from 66 to 68');
select is(share_value_us('{64,65}', '{0.5,1}', 2), 68::float8, 'no more than the greatest');
select is(share_value_us('{64,65}', '{0.5,1}', -1), 64::float8, 'no less than the least');

insert into pg_temp.segment (segment_id, release, route, device) values
    (1, 'v1', '/', 'desktop'), (2, 'v2', '/', 'desktop'), (3, 'v1', '/slow', 'desktop'), (4, 'v2', '/slow', 'desktop'), (6, 'v2', '/other', 'desktop');
-- 12 hours a side; 10 uploads an hour and page. Values are quantiles of an exponential distribution.
insert into timing_value (segment_id, bucket, upload, kind, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, kind::timing_kind, name, (-1e5 * factor * ln((((number * 12 + hour) * 7 % 240) + 0.5) / 240))::bigint
from generate_series(0, 11) as hour
cross join generate_series(0, 19) as number
cross join (values
    (1, 'measure', 'same', 1), (2, 'measure', 'same', 1), (1, 'measure', 'slow', 1), (2, 'measure', 'slow', 2), (1, 'measure', 'fast', 2), (2, 'measure', 'fast', 1),
    (1, 'vital', 'LCP', 1), (2, 'vital', 'LCP', 2), (1, 'measure', 'gone', 1), (2, 'mark', 'new', 1)) as given (segment_id, kind, name, factor);
-- The same on each page and system, but another mix: pages and systems are ten times apart.
insert into timing_value (segment_id, bucket, upload, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, 'mix', (-1e5 * factor * ln((((number * 12 + hour) * 7 % (12 * count)) + 0.5) / (12 * count)))::bigint
from (values
    (1, 1, 20), (3, 10, 80), (2, 1, 80), (4, 10, 20),
    (21, 1, 20), (23, 10, 80), (22, 1, 80), (24, 10, 20)) as given (segment_id, factor, count)
cross join lateral generate_series(0, count - 1) as number
cross join generate_series(0, 11) as hour;
-- CLS is 0 for most; a constant; too few; no stratum in common.
insert into timing_value (segment_id, bucket, upload, kind, name, us)
select segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end, number, kind::timing_kind, name,
    case name when 'CLS' then case when number < 16 then 0 else number * 1000 end else 5000 end
from (values (1, 'vital', 'CLS', 20), (2, 'vital', 'CLS', 20), (1, 'measure', 'constant', 20), (2, 'measure', 'constant', 20), (1, 'measure', 'rare', 2), (2, 'measure', 'rare', 20),
    (1, 'measure', 'elsewhere', 20), (6, 'measure', 'elsewhere', 20)) as given (segment_id, kind, name, count)
cross join lateral generate_series(0, count - 1) as number
cross join generate_series(0, 11) as hour;
-- Lumps of equal values; sides of very different size; timings of few hours.
insert into pg_temp.segment (segment_id, site, release) values
    (11, 'lump', 'v1'), (12, 'lump', 'v2'), (13, 'canary', 'v1'), (14, 'canary', 'v2'), (15, 'hours', 'v1'), (16, 'hours', 'v2'),
    (17, 'negative', 'v1'), (18, 'negative', 'v2');
insert into pg_temp.segment (segment_id, site, release, os) values
    (21, 'systems', 'v1', 'Windows'), (22, 'systems', 'v2', 'Windows'), (23, 'systems', 'v1', 'Android'), (24, 'systems', 'v2', 'Android');
-- A later release whose page loads are drawn more often: what is drawn costs more.
insert into pg_temp.segment (segment_id, site, release, rate_ppm) values
    (25, 'draws', 'v1', 10000), (26, 'draws', 'v2', 200000), (27, 'draws', 'v1', 0), (28, 'draws', 'v2', 0);
insert into timing_value (segment_id, bucket, upload, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, 'mix', (-1e5 * factor * ln(((number * 7 % count) + 0.5) / count))::bigint
from (values (25, 10, 2), (26, 60, 2), (27, 90, 1), (28, 60, 1)) as given (segment_id, count, factor)
cross join lateral generate_series(0, count - 1) as number
cross join generate_series(0, 11) as hour;
insert into timing_value (segment_id, bucket, upload, kind, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, kind::timing_kind, name, values[1 + (number >= low)::integer + (number >= middle)::integer]
from (values
    (11, 'vital', 'CLS', 95, 98, '{0,20000,30000}'::bigint[]), (12, 'vital', 'CLS', 85, 92, '{0,20000,30000}'),
    (11, 'vital', 'INP', 30, 64, '{8000,16000,24000}'), (12, 'vital', 'INP', 26, 56, '{8000,16000,24000}'),
    (11, 'vital', 'LCP', 60, 100, '{8000,16000,24000}'), (12, 'vital', 'LCP', 40, 100, '{8000,16000,24000}')) as given (segment_id, kind, name, low, middle, values)
cross join generate_series(0, 99) as number
cross join generate_series(0, 11) as hour;
insert into timing_value (segment_id, bucket, upload, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, name, (-1e5 * factor * ln(((number * 7 % count) + 0.5) / count))::bigint
from (values
    (13, 'base', 1, 11, 1), (14, 'base', 100, 11, 1), (14, 'seldom', 20, 11, 1),
    (15, 'base', 20, 11, 1), (16, 'base', 20, 11, 1), (15, 'once', 240, 0, 1), (16, 'once', 240, 0, 5), (15, 'twice', 120, 1, 1),
    (16, 'twice', 120, 1, 5), (15, 'thrice', 80, 2, 1), (16, 'thrice', 80, 2, 5),
    (15, 'outage', 240, 0, 1), (16, 'burst', 240, 0, 1), (16, 'five', 48, 4, 1), (16, 'six', 40, 5, 1)) as given (segment_id, name, count, last, factor)
cross join lateral generate_series(0, count - 1) as number
cross join lateral generate_series(0, last) as hour;
-- Negative durations are in no histogram.
insert into timing_value (segment_id, bucket, upload, name, us)
select
    segment_id, '2026-01-05 00:00Z'::timestamptz + hour * interval '1 hour' + case segment_id % 2 when 0 then interval '12 hours' else '0' end,
    number, name, us
from (values (17, 'base', 5000), (18, 'base', 5000), (17, 'turned', -5000), (18, 'turned', 5000)) as given (segment_id, name, us)
cross join generate_series(0, 19) as number
cross join generate_series(0, 11) as hour;
select pg_temp.store() \g /dev/null

create temp table compared as
select * from compare_timings('shop', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z');
create temp table vital as
select * from compare_vitals('shop', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z');
select results_eq(
    $$ select name || ' ' || percentile, verdict from compared order by name collate "C", percentile $$,
    $$ values
        ('constant 50', 'no change seen'), ('constant 75', 'no change seen'), ('elsewhere 50', 'not comparable'), ('elsewhere 75', 'not comparable'),
        ('fast 50', 'faster'), ('fast 75', 'faster'), ('gone 50', 'gone'), ('gone 75', 'gone'), ('mix 50', 'no change seen'), ('mix 75', 'no change seen'),
        ('new 50', 'new'), ('new 75', 'new'), ('rare 50', 'too few'), ('rare 75', 'too few'), ('same 50', 'no change seen'), ('same 75', 'no change seen'),
        ('slow 50', 'slower'), ('slow 75', 'slower') $$, 'verdicts');
select is((select bool_and(abs(change - 1) < 0.05 and change_low < 1 and change_high > 1) from compared where name = 'slow'), true, 'twice as slow, within its interval');
select is((select bool_and(abs(change + 0.5) < 0.03) from compared where name = 'fast'), true, 'twice as fast');
select is((select bool_and(change = 0 and change_low < 0 and change_high > 0 and p = 1) from compared where name = 'same'), true, 'no change, and an interval');
select is((select bool_and(abs(change) < 0.01 and before_ms > 1.2 * after_ms) from compared where name = 'mix' and percentile = 75), true, 'another mix of pages is not a change');
select is((select abs(before_ms - 100 * ln(2)) < 2 from compared where name = 'slow' and percentile = 50), true, 'the median as observed');
select is((select abs(before_ms - 100 * ln(4)) < 4 from compared where name = 'slow' and percentile = 75), true, 'the 75th percentile');
select is((select bool_and(before_count = 240 and after_count = 240) from compared where name = 'slow'), true, 'values are counted');
-- Values are exponential, 240 a side. 4.94 standard errors of a share, half of them on either side of the percentile.
select is((select bool_and(abs(smallest_visible + 1 - ln(1 - share - reach) / ln(1 - share + reach)) < 0.01)
    from compared cross join lateral (select percentile / 100.0 as share) as s
    cross join lateral (select 4.94 * sqrt(2 * share * (1 - share) / 240) / 2 as reach) as r
    where name = 'same'), true, 'what could have been seen');
select is((select bool_and(p is null and smallest_visible is null) from compared where verdict in ('too few', 'not comparable', 'new', 'gone')), true, 'what was not tested has no probability');
select is((select array_agg(verdict) from (select verdict from compared limit 8) as first), '{slower,slower,new,new,faster,faster,gone,gone}', 'what was found comes first');
select is((select array_agg(name) from (select name from compared where verdict not in ('slower', 'new', 'faster', 'gone')) as rest),
    '{mix,mix,constant,constant,elsewhere,elsewhere,rare,rare,same,same}', 'then what has the most values');
select results_eq($$ select name, percentile, verdict, unit from vital $$,
    $$ values ('LCP', 50, 'slower', 'ms'), ('LCP', 75, 'slower', 'ms'), ('CLS', 50, 'no change seen', 'score x 1000'), ('CLS', 75, 'no change seen', 'score x 1000') $$, 'vitals');
select is((select bool_and(change is null and before_value = 0) from vital where name = 'CLS'), true, 'nothing has no ratio');
select is_empty($$ select * from compare_timings('shop', 'v1', 'v3', '2026-01-05Z', '2026-01-06Z') $$, 'a side without values');
select is((select array_agg(distinct verdict) from compare_timings('shop', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-05 20:00Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z') where name = 'slow'),
    '{early}', 'eight hours are early');
select is((select count(*) from compare_timings('shop', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z', exclude_route => '/%')), 0::bigint, 'filters hold');
select is((select array_agg(distinct verdict) from compare_timings('shop', null, null, '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z') where name = 'slow'),
    '{slower}', 'two periods');
select throws_ok($$ select compare_timings('shop', 'v1', 'v1') $$, '22023', 'before and after are the same', 'sides are two');
select throws_ok($$ select compare_vitals('shop') $$, '22023', 'before and after are the same', 'also of vitals');

create function pg_temp.verdicts(name text, before text, after text) returns text language sql as $$
    select string_agg(one.name || ' ' || verdict, ', ' order by one.name collate "C", percentile)
    from (
        select name, percentile, verdict from compare_timings($1, $2, $3, '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z')
        where $2 = 'v1'
        union all
        select name, percentile, verdict from compare_timings($1, $2, $3, '2026-01-05 00:00Z', '2026-01-05 12:00Z', before_since => '2026-01-05 12:00Z', before_until => '2026-01-06Z')
        where $2 = 'v2') as one $$;
select results_eq(
    $$ select name, percentile, verdict, round(p::numeric, 3) < 0.01 from compare_vitals('lump', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z') $$,
    $$ values ('LCP', 50, 'slower', true), ('LCP', 75, 'no change seen', true), ('INP', 50, 'no change seen', true), ('INP', 75, 'no change seen', true), ('CLS', 50, 'no change seen', true), ('CLS', 75, 'no change seen', true) $$,
    'where the percentile stays, nothing is slower');
select is(pg_temp.verdicts('canary', 'v1', 'v2'), 'base too few, base too few, seldom too few, seldom too few', 'twelve uploads do not show that a timing is new');
select is(pg_temp.verdicts('canary', 'v2', 'v1'), 'base too few, base too few, seldom too few, seldom too few', 'nor that it is gone');
select is((select array_agg(distinct verdict) from compare_timings('shop', 'v1', 'v2', '2026-01-05 12:00Z', '2026-01-05 23:00Z', before_since => '2026-01-05Z', before_until => '2026-01-05 12:00Z') where name in ('new', 'gone')),
    '{early}', 'nothing is new after eleven hours');
select is(pg_temp.verdicts('hours', 'v1', 'v2'),
    'base no change seen, base no change seen, burst early, burst early, five early, five early, once early, once early, outage early, outage early, six new, six new, thrice too few, thrice too few, twice early, twice early', 'a difference needs six hours');
select is(pg_temp.verdicts('systems', 'v1', 'v2'), 'mix no change seen, mix no change seen', 'another mix of operating systems is not a change');
select is(pg_temp.verdicts('draws', 'v1', 'v2'), 'mix no change seen, mix no change seen', 'nor is another sampling rate');
select is(pg_temp.verdicts('negative', 'v1', 'v2'), 'base no change seen, base no change seen, turned not comparable, turned not comparable',
    'a timing is not new if all of its values were negative before');

select * from finish();
rollback;
