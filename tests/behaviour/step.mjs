// SPDX-License-Identifier: Apache-2.0
/** Page loads of 80 hours with a known change point: those of one upload per release, copied to earlier hours. */
import assert from 'node:assert/strict';

import { waitFor } from './stack.mjs';

/** The new level began so many hours ago. */
export const stepBack = 40;

/**
 * Sends the body of each release and copies it: the first to the 40 hours before the step, the second to those from it on.
 * @param {import('./stack.mjs').Stack} stack
 * @param {{ site: string, key: string, agent: string }} whose
 * @param {[object, object]} bodies of release 1 and 2
 */
export async function sendStep(stack, { site, key, agent }, bodies) {
  for (const body of bodies) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/${key}`, { method: 'POST', headers: { 'user-agent': agent }, body: JSON.stringify(body) });
    assert.equal(reply.status, 204, await reply.text());
  }
  const segments = `select segment_id from fleetprof_data.segment where site = '${site}'`;
  await waitFor(async () => (await stack.sql(`select count(distinct group_id) from fleetprof_data.total_recent where group_id in (${segments})`))[0].count === 2,
    { what: `both releases of ${site}` });
  await stack.execute(`
    do $$
    declare
      parent regclass;
      names text;
      now_hour constant timestamptz := date_trunc('hour', now());
    begin
      for parent in select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and relname ~ '_recent$' loop
        select string_agg(quote_ident(attname), ', ') into names
        from pg_attribute where attrelid = parent and attnum > 0 and not attisdropped and attname <> 'bucket';
        execute format($sql$
          with moved as (delete from %1$s where group_id in (${segments}) returning *)
          insert into %1$s (bucket, %2$s)
          select $1 - (back + case (select release from fleetprof_data.segment where segment_id = group_id) when '1' then ${stepBack} else 0 end) * interval '1 hour', %2$s
          from moved cross join generate_series(1, ${stepBack}) as back$sql$, parent, names) using now_hour;
      end loop;
      with moved as (delete from fleetprof_data.unsealed where site = '${site}' returning *)
      insert into fleetprof_data.unsealed (site, bucket, spool_id, position, entries)
      select site, now_hour - back * interval '1 hour', spool_id, position, entries
      from moved cross join generate_series(1, ${2 * stepBack}) as back;
    end $$;`);
}
