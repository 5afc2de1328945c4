-- SPDX-License-Identifier: Apache-2.0
-- overview and overview_of_sites: sentences about a site, each from another question.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site, route, release, device, browser) values
    (1, 'shop', '/cart', 'v1', 'desktop', 'Chrome'), (2, 'shop', '/', 'v2', 'mobile', 'Chrome'), (3, 'blog', '', '', 'mobile', ''),
    (4, 'quiet', '/', 'v1', 'mobile', 'Chrome'), (5, 'tagged', '/', 'v1', 'mobile', 'Chrome');
insert into frame_name values ('tag', 'tag', 'https://tag.example/t.js', 1, 1, 'function');
insert into sample (segment_id, bucket, upload, us, path) values
    (1, '2026-01-05 10:00Z', 1, 10000, '{main,render}'),
    (1, '2026-01-05 10:00Z', 2, 30000, '{main}'),
    (1, '2026-01-05 10:00Z', 2, 20000, null),
    (2, '2026-01-06 01:00Z', 4, 8000, '{main}'),
    (3, '2026-01-06 02:00Z', 5, 6000, null),
    (5, '2026-01-06 01:00Z', 6, 4000, '{tag}');
insert into sample (segment_id, bucket, upload, us, marker, path) values
    (1, '2026-01-05 10:00Z', 1, 7000, 'layout', '{main}'), (1, '2026-01-05 10:00Z', 1, 5000, 'gc', '{}'), (2, '2026-01-06 01:00Z', 4, 3000, 'script', '{}');
insert into timing_value (segment_id, bucket, kind, name, us)
select 2, '2026-01-06 01:00Z', 'vital', 'INP', 373000 from generate_series(1, 60);
insert into timing_value (segment_id, bucket, kind, name, us) values
    (5, '2026-01-06 01:00Z', 'resource', 'hidden.example', 40000), (5, '2026-01-06 01:00Z', 'page_host', 'shop.example', 0);
select pg_temp.store() \g /dev/null
select pg_temp.pack() \g /dev/null

select plan(18);

select is(
    (select array_agg(distinct part order by part) from overview('shop', '2026-01-05Z', 'infinity')), '{need,release,scripts,vital}',
    'parts without anything have no row');
select results_eq(
    $$ select name, verdict, sentence, before_release, after_release from overview('shop', '2026-01-05Z', 'infinity', of_part => 'release') $$,
    $$ values ('v2', 'early', 'It is too early to judge v2 against v1.', 'v1', 'v2') $$, 'two releases with hardly an upload');
select results_eq(
    $$ select verdict, sentence, before_release from overview('blog', '2026-01-05Z', 'infinity', of_part => 'release') $$,
    $$ values ('not comparable', 'No release has one before it, so nothing says what a release changed.', null::text) $$,
    'without a release there is nothing to compare');
select is_empty($$ select from overview('%', '2026-01-05Z', 'infinity', of_part => 'release') $$, 'releases of several sites are not compared');
select is_empty($$ select from overview('shop', '2026-01-05Z', 'infinity', release => 'v2', of_part => 'release') $$, 'nor is one release with itself');
select results_eq(
    $$ select name, verdict, sentence, unit from overview('shop', '2026-01-05Z', 'infinity', of_part => 'vital') $$,
    $$ values ('INP', 'needs improvement', 'INP p75 ' || (select round(p75) from vitals('shop', '2026-01-05Z', 'infinity')) || ' ms: needs improvement', 'ms') $$, 'a vital and its rating');
select results_eq(
    $$ select sentence, value from overview('shop', '2026-01-05Z', 'infinity', of_part => 'scripts') $$,
    $$ values ('Scripts take 17.0 ms per page load', 17::float8) $$, 'time of scripts per page load, without layout and garbage collection');
select is(sum(script_ms), 51::float8, 'the hours have the same') from summary('shop', '2026-01-05Z', 'infinity');
select results_eq(
    $$ select name, sentence, value from overview('tagged', '2026-01-05Z', 'infinity', of_part => 'third_party') $$,
    $$ values ('tag.example', 'tag.example: 4.00 ms per page load', 4::float8), ('hidden.example', 'hidden.example: no function seen', null) $$,
    'a third party whose functions browsers hide has no time');
select results_eq(
    $$ select name, verdict, sentence from overview('shop', '2026-01-05Z', 'infinity', of_part => 'need') where name <> 'newest' $$,
    $$ values ('coverage', 'fine', '3 of 3 page loads are profiled'), ('refusals', 'fine', 'No record was refused'),
        ('unseen', 'fine', '0 % of the watched time is unseen'),
        ('unattributed', 'fine', '24.1 % of the profiled time is idle or has no visible stack') $$, 'what needs somebody');
create temp view budget_need as
select verdict || ' ' || sentence as said, value from overview('shop', '2026-01-05Z', '2026-01-07Z', of_part => 'need') where name = 'budgets';
select is_empty('table budget_need', 'without budgets there is nothing to exceed');
select fleetprof_data.keep_budgets('{"shop": [
    {"name": "INP p75 <= 1s", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 1000000, "route": ""},
    {"name": "INP p50 <= 100ms", "kind": "vital", "what": "INP", "percentile": 50, "limit_us": 100000, "route": ""},
    {"name": "INP p60 <= 100ms", "kind": "vital", "what": "INP", "percentile": 60, "limit_us": 100000, "route": ""}]}') \g /dev/null
select results_eq('table budget_need', $$ values ('wrong 2 budgets exceeded: INP p50 <= 100ms', 2::float8) $$, 'budgets that visitors exceed need a look');
select fleetprof_data.keep_budgets('{"shop": [
    {"name": "INP p75 <= 1s", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 1000000, "route": ""}]}') \g /dev/null
select results_eq('table budget_need', $$ values ('fine No budget is exceeded', 0::float8) $$, 'budgets that are kept');
select fleetprof_data.keep_budgets('{"shop": []}') \g /dev/null
select is(verdict || ' ' || sentence, 'wrong Newest data: 2026-01-06 02:00 UTC', 'old data need a look') from overview('blog', '2026-01-05Z', 'infinity', of_part => 'need') where name = 'newest';
select is_empty(
    $$ select from overview('shop', '2026-01-05Z', '2026-01-07Z', of_part => 'need') where name = 'newest' $$,
    'an earlier end says nothing about the newest data');
select throws_ok(
    $$ select from overview('shop', '2026-01-05Z', 'infinity', of_part => 'parts') $$, '22023', 'there is no part "parts" of the overview', 'an unknown part');
select results_eq(
    $$ select site, verdict, busy_ms, wrong, worst > 0 from overview_of_sites(since => '2026-01-05Z', until => '2026-01-07Z') $$,
    $$ values ('shop', 'early', 17::float8, 0::bigint, true), ('blog', 'not comparable', 0, 0, false), ('tagged', 'not comparable', 4, 0, false),
        ('quiet', 'not comparable', null, 1, false) $$,
    'sites, the worst first');
select results_eq(
    $$ select value, words from (values (1234567.8, '1,234,568'), (12.34, '12.3'), (1.234, '1.23'), (0.001, '< 0.01'), (0, '0'), (null, '–'))
        as example (value, expected) cross join lateral fleetprof_data.number_words(value) as words $$,
    $$ values (1234567.8, '1,234,568'), (12.34, '12.3'), (1.234, '1.23'), (0.001, '< 0.01'), (0, '0'), (null, '–') $$,
    'numbers as the report writes them');
select * from finish();
rollback;
