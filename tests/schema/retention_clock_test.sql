-- SPDX-License-Identifier: Apache-2.0
-- Retention's clock: the table of what judge_clock believes, and trust_clock.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;
set local timezone = 'America/New_York';
grant usage on schema pgtap to public;
select plan(48);

create function pg_temp.judge(trusted interval, collector interval default '0', watched interval default null, days int default 0)
returns text
language plpgsql
as $$
begin
    update fleetprof_data.retention_clock
    set trusted = clock_timestamp() + judge.trusted, stated = null, watched = clock_timestamp() + judge.watched, watched_days = days;
    return fleetprof_data.judge_clock(clock_timestamp() + judge.collector);
end
$$;

-- The verdict on clocks that differ, after trust_clock.
create function pg_temp.judge_stated(away interval)
returns text
language plpgsql
as $$
begin
    update fleetprof_data.retention_clock
    set trusted = clock_timestamp(), stated = clock_timestamp() + judge_stated.away, watched = null, watched_days = 0;
    return fleetprof_data.judge_clock(clock_timestamp() + interval '50 hours');
end
$$;

-- Before any moment is trusted.
create function pg_temp.judge_unborn(unsealed interval, sealed interval, span smallint default 0)
returns text
language plpgsql
as $$
begin
    delete from fleetprof_data.unsealed;
    delete from fleetprof_data.sealed;
    insert into fleetprof_data.unsealed (site, bucket, spool_id, position, entries)
    select 'shop', clock_timestamp() + judge_unborn.unsealed, gen_random_uuid(), 1, 1 where judge_unborn.unsealed is not null;
    insert into fleetprof_data.sealed (site, bucket, span)
    select 'shop', clock_timestamp() + judge_unborn.sealed, judge_unborn.span where judge_unborn.sealed is not null;
    update fleetprof_data.retention_clock set trusted = null, stated = null, watched = null, watched_days = 0;
    return fleetprof_data.judge_clock(clock_timestamp());
end
$$;
select is(pg_temp.judge_unborn(unsealed, sealed, span::smallint), expected, format('nothing is trusted, %s unsealed, %s sealed: %s', unsealed, sealed, expected))
from (values
    ('-47 hours'::interval, null::interval, 0, null), ('-49 hours', null, 0, 'clock_ahead'), ('49 hours', null, 0, 'clock_behind'),
    ('-20 days', '-47 hours', 0, null), ('-20 days', '-50 hours', 0, 'clock_ahead'), ('-20 days', '-239 hours', 3, null),
    (null, '-241 hours', 3, 'clock_ahead')
) as cases (unsealed, sealed, span, expected);
select pg_temp.judge_unborn(null, null) \g /dev/null
update fleetprof_data.retention_clock set trusted = null;

select is((select trusted from fleetprof_data.retention_clock), null, 'a new database has no time that it trusts');
select is(fleetprof_data.judge_clock(clock_timestamp() + interval '50 hours'), 'clocks_differ', 'and trusts none when clocks differ');
select is((select trusted from fleetprof_data.retention_clock), null, 'nor notes one');
select is(fleetprof_data.judge_clock(clock_timestamp()), null, 'clocks that agree are its first');
select ok((select trusted > now() - interval '1 hour' from fleetprof_data.retention_clock), 'they are noted');

select is(pg_temp.judge(trusted, collector), expected, format('trusted %s, collector %s: %s', trusted, collector, expected))
from (values
    (interval '0', interval '0', null),
    ('-47 hours', '47 hours', null),
    ('-47 hours', '-47 hours', null),
    ('47 hours', '0', null),
    ('-49 hours', '0', 'clock_ahead'),
    ('-500 days', '0', 'clock_ahead'),
    ('49 hours', '0', 'clock_behind'),
    ('500 days', '0', 'clock_behind'),
    ('0', '49 hours', 'clocks_differ'),
    ('0', '-49 hours', 'clocks_differ'),
    ('-500 days', '-500 days', 'clocks_differ')
) as cases (trusted, collector, expected);

select is(pg_temp.judge('-20 days', '0', '-24 hours', 5), 'clock_ahead', 'the sixth day is not enough');
select is((select watched_days from fleetprof_data.retention_clock), 6::smallint, 'it is counted');
select is(pg_temp.judge('-20 days', '0', '-24 hours', 6), null, 'the seventh is');
select is(pg_temp.judge('20 days', '0', '-24 hours', 6), null, 'also for clocks that are behind');
select is(pg_temp.judge('-20 days', '0', '0', 6), 'clock_ahead', 'a second look on one day counts once');
select is(pg_temp.judge('-20 days', '0', '-193 hours', 6), 'clock_ahead', 'a long pause starts the week again');
select is((select watched_days from fleetprof_data.retention_clock), 1::smallint, 'with this day');
select is(pg_temp.judge('-20 days', '0', '24 hours', 6), 'clock_ahead', 'and so does a step back');
select is(pg_temp.judge('-20 days', '3 days', '-24 hours', 6), 'clocks_differ', 'and a clock that differs');
select is((select watched_days from fleetprof_data.retention_clock), 0::smallint, 'which ends the watch');

select is(
    (select (refused, refused_since is not null) from fleetprof_data.retention_clock)::text, '(clocks_differ,t)', 'the reason is noted');
select lives_ok('select fleetprof_data.trust_clock(now())', 'the owner says what time it is');
select is(fleetprof_data.judge_clock(clock_timestamp() + interval '3 days'), null, 'that holds whatever the collector says');
select is((select (refused, stated) from fleetprof_data.retention_clock)::text, '(,)', 'and leaves no trace');
select is(fleetprof_data.judge_clock(clock_timestamp() + interval '3 days'), 'clocks_differ', 'once');
select throws_ok(
    $$ select fleetprof_data.trust_clock(now() - interval '3 days') $$, '22023', null, 'another time than the database has is refused');
select lives_ok(
    format('select fleetprof_data.trust_clock(clock_timestamp() + %L)', away), format('a time that is %s away is within two days', away))
from unnest('{47:59,-47:59}'::interval[]) as away;
select throws_ok(
    format('select fleetprof_data.trust_clock(clock_timestamp() + %L)', away), '22023', null, format('one that is %s away is not', away))
from unnest('{48:01,-48:01}'::interval[]) as away;
-- Later the clocks must agree with what was stated, within the same.
select is(pg_temp.judge_stated(away), expected, format('a statement %s away: %s', away, expected))
from (values ('47:59'::interval, null), ('-48:01', 'clocks_differ')) as cases (away, expected);
select throws_ok('select fleetprof_data.trust_clock(null)', '22004', null, 'and so is none');
set local role fleetprof_writer;
select throws_ok('select fleetprof_data.trust_clock(now())', '42501', null, 'a collector cannot say it');
select throws_ok('update fleetprof_data.retention_clock set trusted = now()', '42501', null, 'nor write it');
reset role;

select * from finish();
rollback;
