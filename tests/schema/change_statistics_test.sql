-- SPDX-License-Identifier: Apache-2.0
-- The statistics of comparisons: what many changes have in common.
\ir fixture.inc
set local search_path = pgtap, fleetprof_data, pg_catalog;

select plan(4);

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

select * from finish();
rollback;
