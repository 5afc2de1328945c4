// SPDX-License-Identifier: Apache-2.0
/** Walks schema/questions: signatures in the database, examples, and the manual. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { startFleet } from '../browser/report_fleet.mjs';
import { filters } from '../../tools/filters.mjs';
import { parse, questions, typeOf } from '../../tools/questions.mjs';
import { postgresBinDir, repository, run } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startFleet({ perHour: 4, hostile: false, sessions: true }); });
after(() => stack?.stop());

/** Names, types, and defaults of the parameters that a row stands for. @param {string} set */
function filterParameters(set) {
  const taken = filters.filter(({ of }) => of === 'loads' || (of === 'samples' && /^filters of samples\b/.test(set)) || (of === 'sides' && !/ of (both sides|each side)\b/.test(set)) || (of === 'vitals' && / and vitals$/.test(set)));
  const period = set.startsWith('filters') ? ['site text', "since timestamp with time zone = (now() - '1 day'::interval)", 'until timestamp with time zone = now()'] : [];
  return [...period, ...taken.map(({ name, default: usual }) => `${name} text = ${usual}`), ...taken.map(({ name }) => `exclude_${name} text = null`),
    ...set.includes('of each side') ? ['before', 'after'].flatMap((side) => taken.filter(({ of }) => of === 'loads').map(({ name }) => `${side}_${name} text = null`)) : []];
}

const full = (/** @type {string} */ type) => type.replace('timestamptz', 'timestamp with time zone');

test('each function has the parameters of its entry, with their types and defaults', async () => {
  const found = await stack.sql(`select proname as name, array_agg(
      concat(argument, ' ', format_type(type, null), ' = ' || regexp_replace(regexp_replace(pg_get_function_arg_default(oid, place::integer), '^NULL::.*', 'null'), '^(''[a-z]+''|[0-9.]+)::.*', '\\1'))
      order by place) filter (where place <= pronargs) as parameters
    from pg_proc left join unnest(proargnames, coalesce(proallargtypes, proargtypes::oid[])) with ordinality as arguments (argument, type, place) on true
    where pronamespace = 'fleetprof'::regnamespace group by oid, proname`);
  const described = questions.filter(({ kind }) => !['view', 'table'].includes(kind)).map(({ name, takes }) => [name, takes.flatMap((row) => ('filters' in row
    ? filterParameters(row.filters)
    : row.names.map((each) => `${each} ${full(row.type)}${row.default === null ? '' : ` = ${row.default}`}`)))]);
  assert.deepEqual(Object.fromEntries(found.map(({ name, parameters }) => [name, parameters ?? []]).sort()), Object.fromEntries(described.sort()));
});

test('each question has the columns of its entry, with their types', async () => {
  const found = await stack.sql(`select relname as name, attname::text as member, format_type(atttypid, null) as type from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
      where relnamespace = 'fleetprof'::regnamespace and relkind in ('v', 'r')
    union all select proname, argument, format_type(type, null) from pg_proc cross join unnest(proargnames, proallargtypes, proargmodes) as arguments (argument, type, mode) where pronamespace = 'fleetprof'::regnamespace and mode = 't'
    union all select proname, attname, format_type(atttypid, null) from pg_proc join pg_type on pg_type.oid = prorettype join pg_attribute on attrelid = typrelid and attnum > 0 where pronamespace = 'fleetprof'::regnamespace`);
  assert.ok(found.length > 600, `${found.length}`);
  const described = questions.flatMap((question) => question.gives.flatMap(({ names }) => names.map((member) => ({ question, name: question.name, member, type: full(typeOf(question, member)) }))));
  const key = (/** @type {{ name: string, member: string, type: string }} */ { name, member, type }) => `${name}.${member} ${type}`;
  // The manual explains columns that all views have for all of them.
  const ofAllViews = new Set(described.filter(({ type }) => type === '').map(({ name, member }) => `${name}.${member}`));
  assert.deepEqual([...ofAllViews].filter((column) => !found.some(({ name, member }) => `${name}.${member}` === column)), []);
  assert.deepEqual(found.filter(({ name, member }) => !ofAllViews.has(`${name}.${member}`)).map(key).sort(), described.filter(({ type }) => type !== '').map(key).sort());
});

test('each view, table and function has an entry', async () => {
  const found = await stack.sql(`select proname as name, case when pg_get_function_result(oid) ~ '^TABLE|^SETOF fleetprof' then 'rows' else format_type(prorettype, null) end as kind
      from pg_proc where pronamespace = 'fleetprof'::regnamespace
    union all select relname, case relkind when 'v' then 'view' else 'table' end from pg_class where relnamespace = 'fleetprof'::regnamespace and relkind in ('v', 'r')`);
  const pair = (/** @type {{ name: string, kind: string }} */ { name, kind }) => `${name} ${kind}`;
  assert.deepEqual(questions.map(pair).sort(), found.map(pair).sort());
});

test('each has an example, and the database answers it in the columns that are shown', async () => {
  const [{ session_id: session }] = await stack.sql("select session_id::text from fleetprof.sessions where format = 'speed-tracer' order by received limit 1");
  const [{ timeline_id: timeline }] = await stack.sql(`select timeline_id::text from fleetprof.timelines where session_id = ${session} limit 1`);
  /** @type {string[]} */
  const wrong = [];
  const cells = (/** @type {string} */ line) => line.split('|').map((cell) => cell.trim());
  const psql = [`${postgresBinDir()}/psql`, '-Xq', '-v', 'ON_ERROR_STOP=1', '-d'];
  for (const { name, example, output } of questions) {
    const text = example.join('\n').replace('6031769213380436736, 1,', `${session}, ${timeline},`).replaceAll('6031769213380436736', session);
    const role = name === 'release_session' ? 'fleetprof_writer' : 'fleetprof_reader';
    assert.match(text, new RegExp(`fleetprof\\.${name}\\b`), name);
    const { code, stdout, stderr } = await run([...psql, stack.postgres.conninfo(role), '-c', text]);
    if (code !== 0) wrong.push(`${name}: ${stderr}`);
    // Columns as it shows them; of rows, each has as many.
    else if (output[1]?.includes('-+-')) {
      assert.deepEqual(cells(output[0]), cells(stdout.split('\n')[0]), name);
      for (const row of output.slice(2)) assert.equal(cells(row).length, cells(output[0]).length, `${name}: ${row}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('each has a comment in the database that says what its entry says, without Markdown', async () => {
  const plain = (/** @type {string} */ text) => text.replace(/\[((?:`[^`]*`|[^\]`])*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
  const found = await stack.sql(`select proname as name, null as member, obj_description(oid, 'pg_proc') as comment from pg_proc where pronamespace = 'fleetprof'::regnamespace
    union all select relname, attname, col_description(pg_class.oid, attnum) from pg_class left join pg_attribute on attrelid = pg_class.oid and attnum >= 0 where relnamespace = 'fleetprof'::regnamespace and relkind = 'v'
    union all select relname, null, obj_description(oid, 'pg_class') from pg_class where relnamespace = 'fleetprof'::regnamespace and relkind = 'v'`);
  for (const { name, kind, about, takes, gives } of questions.filter((question) => question.kind !== 'table')) {
    const commentOf = (/** @type {string | null} */ column) => found.find((row) => row.name === name && row.member === column).comment.toLowerCase();
    const whole = commentOf(null);
    assert.ok(whole.startsWith(`${plain(about)}.`.toLowerCase()), `${name}: ${whole}`);
    assert.doesNotMatch(whole, /`|\]\(|\{\{/, name);
    for (const row of [...takes, ...gives]) {
      if ('filters' in row || ('as' in row && row.as === 'views') || ('type' in row && kind === 'view')) continue;
      if (kind === 'view') for (const column of row.names) assert.ok(commentOf(column).startsWith(plain(row.meaning).toLowerCase()), `${name}.${column}`);
      else assert.ok(whole.includes(` ${row.names.join(', ')}: ${plain(row.meaning)}.`.toLowerCase()), `${name}: ${row.names}`);
    }
  }
});

test('each has its entry in the manual', () => {
  const page = fs.readFileSync(path.join(repository, 'docs/sql.md'), 'utf8');
  const entries = [...page.matchAll(/^### `(\w+)`\n<!-- reference: question (\w+) -->$/gm)];
  assert.deepEqual(entries.map(([, heading]) => heading), questions.map(({ name }) => name));
  assert.deepEqual(entries.map(([, , name]) => name), questions.map(({ name }) => name));
});

test('a line that is not a row of the catalogue is named', () => {
  for (const [text, problem] of /** @type {[string, RegExp][]} */ ([
    ['gives | a | text | x', /has the line "gives \| a/],
    ['question | q | rows | what\nwants | a | text | x', /has the line "wants/],
    ['question | q | rows | what\ngives | a | | without a type', /q: a has no type/],
    ['question | q | rows | what\ngives | a b | text | two words', /q: a b has no type, or no name/],
  ])) assert.throws(() => parse(text), problem, text);
});
