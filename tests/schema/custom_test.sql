-- SPDX-License-Identifier: Apache-2.0
-- Custom dimensions: filters by their names, and lists by one of them.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, variant) select id, id from generate_series(1, 6) as id;
insert into sample (segment_id, us, marker, path)
select segment_id, 1000 * 2 ^ (segment_id - 1), '(none)', '{main}' from segment;
insert into timing_value (segment_id, kind, name, us) select segment_id, 'vital', 'LCP', 1000 from segment;
select pg_temp.store() \g /dev/null
update fleetprof_data.segment set custom = (array['plan=pro; country=de', 'plan=professional; country=fr', 'country=de', '', '(overflow)', 'plan=a.b (c)*; tier=plan=x'])[variant::integer];

create function pg_temp.found(custom text, exclude_custom text default null) returns text language sql as $$
    select coalesce(string_agg(segment_id::text, '' order by segment_id), '')
    from generate_series(1, 6) as segment_id
    where (select sum(self_ms) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', custom => found.custom, exclude_custom => found.exclude_custom))::integer
        & (2 ^ (segment_id - 1))::integer > 0
$$;

select plan(27);
select is(pg_temp.found(filter), expected, format('"%s" selects', filter))
from (values
    (null, '123456'), ('%', '123456'), ('plan=pro', '1'), ('plan=pro%', '12'), ('country=de', '13'),
    ('country=de; plan=pro', '1'), (' plan=pro ;country=fr', ''), ('plan=%', '126'), ('an=pro', ''), ('plan=x', ''),
    ('', '4'), ('(overflow)', '5'), ('plan=a.b (c)*', '6'), ('plan=aXb (c)*', '')) as example (filter, expected);
select is(pg_temp.found(null, 'plan=%'), '345', 'all but those with a plan');
select results_eq(
    $$ select value, count from vitals_by('custom.plan', 'shop', '2026-01-05Z', '2026-01-06Z') where name = 'LCP' order by value collate "C" $$,
    $$ values ('', 3::bigint), ('a.b (c)*', 1), ('pro', 1), ('professional', 1) $$, 'vitals by one of them');
select results_eq(
    $$ select name, round(self_ms)::integer from cost_by('custom.country', 'shop', '2026-01-05Z', '2026-01-06Z') where name <> '(unattributed)' order by name collate "C" $$,
    $$ values ('', 56), ('de', 5), ('fr', 2) $$, 'time by one of them');
select results_eq(
    $$ select value from field_values('custom.country', 'shop', '2026-01-05Z', '2026-01-06Z') order by value collate "C" $$,
    $$ values (''), ('de'), ('fr') $$, 'values of one of them');
select results_eq(
    $$ select value_ms, uploads from trend('custom.country', 'de', 'day', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (5 / 2.0::float8, 2::bigint) $$, 'a trend of one of them');
select results_eq(
    $$ select value_ms, uploads from trend('custom.country', '', 'hour', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (56 / 3.0::float8, 3::bigint) $$, 'a trend of page loads without it');
select is_empty($$ select from trend('custom.plan', 'nobody', 'day', 'shop', '2026-01-05Z', '2026-01-06Z') $$, 'a trend of a value that nobody has');
select results_eq(
    $$ select name, before_uploads, after_uploads
       from compare_costs('custom.country', 'shop', before_variant => '1', after_variant => '3', since => '2026-01-05Z', until => '2026-01-06Z') $$,
    $$ values ('de', 1::bigint, 1::bigint) $$, 'costs of two sides by one of them');
select throws_ok(
    $$ select from compare_costs('custom.country', 'shop', before_custom => 'plan=pro', after_custom => 'plan=professional') $$,
    '22023', 'costs cannot be compared by "custom.country"', 'not by what makes the sides');
select throws_ok(format($$ select from %s $$, call), '22023', message, 'a name that cannot be one: ' || call)
from (values
    ('trend(''custom.'', ''x'', ''day'', ''shop'')', 'there is no trend by "custom."'),
    ('compare_costs(''custom.'', ''shop'', before_variant => ''2'', after_variant => ''3'')', 'costs cannot be compared by "custom."'))
    as wrong (call, message);
select is(
    (select array[before_uploads, after_uploads] from compare_summary('shop', before_custom => 'plan=pro', after_custom => 'plan=professional')),
    array[1, 1]::bigint[], 'two sides');
select throws_ok($$ select from vitals_by('customplan', 'shop') $$, '22023', 'no dimension is named "customplan"', 'an unknown name');
select * from finish();
