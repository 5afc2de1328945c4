-- SPDX-License-Identifier: Apache-2.0
-- change_parts: code and mix, in worlds whose truth is known.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Each world is a site: uploads and ms per upload, which all are page loads unless said.
create temp table cell (site text, variant text, route text, device text, uploads bigint, ms float8, loads bigint);
insert into cell values
    -- Only the mix changes: phones 25 % -> 75 %, and cost 40 ms instead of 20.
    ('mix', 'A', '/cart', 'desktop', 300, 20), ('mix', 'A', '/cart', 'mobile', 100, 40),
    ('mix', 'B', '/cart', 'desktop', 100, 20), ('mix', 'B', '/cart', 'mobile', 300, 40),
    -- Only the code changes: 20 -> 26 ms, 40 -> 46 ms.
    ('code', 'A', '/cart', 'desktop', 300, 20), ('code', 'A', '/cart', 'mobile', 100, 40),
    ('code', 'B', '/cart', 'desktop', 600, 26), ('code', 'B', '/cart', 'mobile', 200, 46),
    -- Both.
    ('both', 'A', '/cart', 'desktop', 300, 20), ('both', 'A', '/cart', 'mobile', 100, 40),
    ('both', 'B', '/cart', 'desktop', 100, 26), ('both', 'B', '/cart', 'mobile', 300, 46),
    -- Route and device change by themselves: cost is 10, and 10 more on /b, and 20 more on a phone.
    ('two', 'A', '/a', 'desktop', 100, 10), ('two', 'A', '/a', 'mobile', 100, 30), ('two', 'A', '/b', 'desktop', 100, 20), ('two', 'A', '/b', 'mobile', 100, 40),
    ('two', 'B', '/a', 'desktop', 50, 10), ('two', 'B', '/a', 'mobile', 150, 30), ('two', 'B', '/b', 'desktop', 150, 20), ('two', 'B', '/b', 'mobile', 450, 40),
    -- A page that is new, and thirds that no decimal fraction holds.
    ('new', 'A', '/a', 'desktop', 3, 10), ('new', 'B', '/a', 'desktop', 7, 11), ('new', 'B', '/b', 'mobile', 4, 133.333 / 4),
    ('one', 'A', '/a', 'desktop', 10, 10), ('one', 'B', '/a', 'desktop', 10, 12);
-- The same uploads are half as many page loads.
insert into cell values ('parts', 'A', '/a', 'desktop', 100, 10, 100), ('parts', 'B', '/a', 'desktop', 100, 10, 50);
create temp table fact as
select row_number() over () as segment_id, *, '2026-01-05 10:00Z'::timestamptz as bucket from cell;
insert into segment (segment_id, site, variant, route, device) select segment_id, site, variant, route, device from fact;
insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
-- A tenth of the time is unattributed.
insert into segment_fact
select segment_id, bucket, uploads, coalesce(loads, uploads), uploads * 100, uploads * 100, round(uploads * ms / 0.9 * 1000)::bigint, uploads * 1e12, round(uploads * ms / 0.9 * 1000)::bigint - round(uploads * ms * 1000)::bigint
from fact;
insert into marker_fact (segment_id, bucket, marker, samples, self_us)
select segment_id, bucket, '(none)', uploads, round(uploads * ms * 1000)::bigint from fact;
select pg_temp.pack() \g /dev/null
select plan(18);

create temp table answer as
select site, parts.* from (select distinct site from cell) as world
cross join lateral change_parts(site, before_variant => 'A', after_variant => 'B') with ordinality as parts (part, ms, share, place);
create function pg_temp.parts(world text) returns text language sql as $$
    select string_agg(part || ' ' || trim_scale(ms), ', ' order by place) from answer where site = world $$;

select is(pg_temp.parts('mix'), '(all) 10, (code) 0, device 10', 'only the mix changed');
select is(pg_temp.parts('code'), '(all) 6, (code) 6, device 0', 'only the code changed');
select is(pg_temp.parts('both'), '(all) 16, (code) 6, device 10', 'both changed');
-- Route: /b from 50 to 75 %, 10 ms each; device: phones from 50 to 75 %, 20 ms each.
select is(pg_temp.parts('two'), '(all) 7.5, (code) 0, route 2.5, device 5', 'each dimension has its part, in no order');
-- Code: /a is 1 ms dearer, in the mean of 100 % and 7 of 11 page loads. The new page comes with a new device: half each.
select is(pg_temp.parts('new'), (
    select '(all) ' || trim_scale(whole) || ', (code) ' || trim_scale(whole - 2 * half) || ', route ' || trim_scale(half) || ', device ' || trim_scale(half)
    from (values (round((7 * 11 + 133.333) / 11, 6) - 10, round(((-4.0 / 11) * 10.5 + (4.0 / 11) * (133.333 / 4)) / 2, 6))) as hand (whole, half)),
    'what one side lacks is mix');
select ok(abs(ms - (1 + 7.0 / 11) / 2) < 0.000003, 'code is what alike page loads differ by') from answer where site = 'new' and part = '(code)';
select is(pg_temp.parts('one'), '(all) 2, (code) 2', 'without a mix all is code');
select is(pg_temp.parts('parts'), '(all) 10, (code) 0, (uploads per page load) 10', 'longer page loads are a part');
select is(
    (select sum(ms) filter (where part <> '(all)') from answer where site = world), (select ms from answer where site = world and part = '(all)'),
    'parts add up to the last digit: ' || world)
from unnest('{mix,both,two,new}'::text[]) as world;
select results_eq(
    $$ select round((after.self / after.loads - before.self / before.loads)::numeric, 6)
       from (select sum(profiled_ms - unattributed_ms) as self, sum(loads) as loads from summary('new', '2026-01-05Z', '2026-01-06Z', variant => 'A')) as before,
           (select sum(profiled_ms - unattributed_ms) as self, sum(loads) as loads from summary('new', '2026-01-05Z', '2026-01-06Z', variant => 'B')) as after $$,
    $$ select ms from answer where site = 'new' and part = '(all)' $$, 'to what the summaries of the sides say');
select is((select array_agg(share order by place) from answer where site = 'both'), array[0.64, 0.24, 0.4], 'shares are of the earlier side''s time');
update fleetprof_data.segment set browser_version = case variant when 'A' then '155' else '156' end where site = 'both';
select is(
    (select string_agg(part, ', ' order by place) from change_parts('both', before_variant => 'A', after_variant => 'B') with ordinality as parts (part, ms, share, place)),
    '(all), (code), device', 'the version of a browser that came between the sides is not a part');
update fleetprof_data.segment set os = case device when 'desktop' then 'Windows' else 'Android' end where site = 'mix';
select is(
    (select string_agg(part || ' ' || trim_scale(ms), ', ' order by place)
     from change_parts('mix', before_device => 'desktop', after_device => 'mobile') with ordinality as parts (part, ms, share, place)),
    '(all) 20, (code) 20, variant 0', 'what sides have no value in common of tells them apart');
select throws_ok($$ select from change_parts('mix') $$, '22023', 'before and after are the same', 'nothing has no parts');
select is_empty($$ select from change_parts('mix', before_variant => 'A', after_variant => 'B', since => '2026-02-01Z') $$, 'nor has an empty side');

select * from finish();
rollback;
