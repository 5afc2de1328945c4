-- SPDX-License-Identifier: Apache-2.0
-- Every function honours every filter, alike.
\ir fixture.inc

-- For each dimension, one segment differs from the first and one lacks it. Segment n weighs 2^n microseconds (and has
-- 2^n timings), so a sum shows which segments were read.
insert into segment (segment_id) values (1);
insert into segment (segment_id, route)       values (2, '/product/:id'), (3, '');
insert into segment (segment_id, release)     values (4, 'v2_beta'),      (5, '');
insert into segment (segment_id, environment) values (6, 'staging'),      (7, '');
insert into segment (segment_id, variant)     values (8, 'b'),            (9, '');
insert into segment (segment_id, browser)     values (10, 'Firefox'),     (11, '');
insert into segment (segment_id, os)          values (12, 'Windows'),     (13, '');
insert into segment (segment_id, device)      values (14, 'mobile'),      (15, '');
insert into segment (segment_id, thread)      values (16, 'worker'),      (17, '');
insert into segment (segment_id, site)        values (18, 'shop-eu'),     (19, 'other');
update segment set rate_ppm = 1000000;
insert into sample (segment_id, us, path)
select segment_id, 1 << segment_id::integer, array['main', 'work'] from segment;
select pg_temp.store() \g /dev/null
insert into fleetprof_data.timing values (1, 'ready', 'mark', '', '', '2026-01-05');
insert into timing_fact
select segment_id, '2026-01-05 10:00Z', 1, 1, 1 << segment_id::integer, 0, 0, 0, 0 from segment;
select pg_temp.pack() \g /dev/null

create temp table surface (name text, sum text);
insert into surface values
    ('hotspots', 'round(sum(self_ms) * 1000)'),
    ('estimated_hotspots', 'round(sum(self_ms) * 1000)'),
    ('markers', 'round(sum(self_ms) * 1000)'),
    ('flamegraph', 'round(sum(self_ms) * 1000)'),
    ('flamegraph_grafana', 'round(sum(self) * 1000)'),
    ('folded', 'sum(substring(folded from '' (\d+)$'')::bigint)'),
    ('timings', 'sum(count)');

-- Which segments a function reads with these arguments.
create function pg_temp.segments_read(name text, arguments text)
returns integer[]
language plpgsql
as $$
declare
    total bigint;
begin
    execute format(
        'select %s from fleetprof.%I(%s, since => ''2026-01-05Z'', until => ''2026-01-06Z'')',
        (select sum from surface where surface.name = segments_read.name), name, arguments)
    into total;
    return array(select n from generate_series(1, 19) as n where total & (1 << n) <> 0);
end
$$;

create temp table expectation (arguments text, segments integer[]);
insert into expectation values
    ('''shop''', array(select generate_series(1, 17))),
    ('''shop%''', array(select generate_series(1, 18))),
    ('''%''', array(select generate_series(1, 19))),
    ('''s_op''', '{}'),
    ('''Shop''', '{}'),
    ('''nobody''', '{}'),
    ('''''', '{}');
-- By name, for each dimension: the different value, a wildcard, the absent value, all, a value that does not exist.
insert into expectation
select format('''shop'', %I => %L', dimension, variation.value), segments
from (
    values
        ('route', '/product/:id', 'product', 2), ('release', 'v2_beta', '2_', 4),
        ('environment', 'staging', 'agi', 6), ('variant', 'b', 'b', 8), ('browser', 'Firefox', 'fox', 10),
        ('os', 'Windows', 'dow', 12), ('device', 'mobile', 'obi', 14), ('thread', 'worker', 'ork', 16)
) as dimension (dimension, value, part, segment_id)
cross join lateral (
    values
        (dimension.value, array[segment_id]),
        ('%' || part || '%', array[segment_id]),
        ('', array[segment_id + 1]),
        ('%', array(select generate_series(1, 17))),
        ('nothing', '{}'::integer[]),
        (overlay(dimension.value placing '_' from 1 for 1), '{}')
) as variation (value, segments);
insert into expectation values
    ('''shop'', release => ''v2\_beta''', '{}'),
    ('''shop'', release => ''v2_b%''', '{4}'),
    ('''shop'', route => ''%:id'', release => ''v1''', '{2}'),
    ('''shop'', route => ''%:id'', release => ''v2%''', '{}'),
    ('''shop'', route => null, thread => null', array(select generate_series(1, 17)));

select plan((select count(*)::integer from expectation, surface) + 33);

select is(
    pg_temp.segments_read(name, arguments), segments,
    format('%s(%s) reads segments %s', name, arguments, segments))
from expectation, surface
order by name, arguments;

-- By position: all functions take the filters in the contract's order.
select is(
    (select array_agg(array_to_string((proargnames)[1:11], ' ')) from (
        select distinct proargnames[1:11] as proargnames from pg_proc join surface on proname = name
        where pronamespace = 'fleetprof'::regnamespace) as signature),
    array['site since until route release environment variant browser os device thread'],
    'filters stand in the same order in every function');
select is(proargnames[12], 'marker', name || ' takes marker after the other filters')
from pg_proc join surface on proname = name
where pronamespace = 'fleetprof'::regnamespace and name <> 'timings' order by name;
select ok('marker' <> all(proargnames), 'timings has no marker filter') from pg_proc where proname = 'timings';

-- Invalid arguments are errors that name the reason.
select throws_ok(format('select * from fleetprof.%I(null)', name), '22023', 'site is null', name || ' wants a site')
from surface order by name;
select throws_ok(
    format('select * from fleetprof.%I(''shop'', since => ''2026-01-06Z'', until => ''2026-01-05Z'')', name),
    '22023', 'since is later than until', name || ' wants since before until')
from surface order by name;
select throws_ok(
    format('select * from fleetprof.%I(''shop'', marker => ''layuot'')', name),
    '22023', 'no marker is named "layuot"', name || ' knows its markers')
from surface where name <> 'timings' order by name;

select is(fleetprof_data.like_pattern('50%_\'), '50%\_\\', 'only % is a wildcard');
select is(
    array(select value from unnest(array['50%', '500', '50\%', '50\0', '50%%', '\50%']) as value where fleetprof_data.matches(value, filter)),
    values, 'filter ' || filter)
from (
    values ('50\%', '{50%}'::text[]), ('50\\%', array['50\%']), ('%50\%', array['50%', '\50%']), ('50\%%', array['50%', '50%%'])
) as expected (filter, values);

select * from finish();
rollback;
