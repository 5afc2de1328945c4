-- SPDX-License-Identifier: Apache-2.0
-- The statistics of comparisons: what many changes have in common.
\ir fixture.inc
set local search_path = pgtap, fleetprof_data, pg_catalog;

select plan(12);

create function pg_temp.common(changes double precision[], errors double precision[]) returns numeric
language sql
return (select round(common::numeric, 9) from common_change(changes, errors, 1));

select is(pg_temp.common('{3, 1, 2}', '{1, 1, 1}'), 2.0, 'the common change is the median');
select is(pg_temp.common('{3, 1, 2}', '{0.1, 1, 1}'), 3.0, 'precise changes weigh more');
select is(pg_temp.common('{4, 1, 2, 3}', '{1, 1, 1, 1}'), 2.5, 'halfway between two changes it is their mean');
-- The weights of the first 15 are those of the others, in another order.
select is(
    array_agg(distinct pg_temp.common(
        array(select number from generate_series(1, 30) as number),
        array(select 0.3 + ((number + seed) % 15) * 0.1 from generate_series(1, 30) as number))),
    '{15.5}', 'rounding does not choose one of the two')
from generate_series(0, 29) as seed;

select is(round(t_of_z(1.96, df)::numeric, 2), t, format('95 %% of t with %s degrees of freedom', df))
from (values (3, 3.22), (11, 2.20), (35, 2.03), (1000, 1.96)) as known (df, t);
select ok(abs(p_of_t(t_of_z(1.96, df), df) - 0.05) < 0.0001, format('p_of_t is its inverse, %s', df)) from unnest('{3,11,35}'::integer[]) as df;
select is(t_of_z(1.96, 0), 'Infinity', 'no degree of freedom says nothing');

select * from finish();
rollback;
