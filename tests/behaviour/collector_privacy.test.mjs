// SPDX-License-Identifier: Apache-2.0
/**
 * Data that the contract promises to drop is nowhere: not in the spool, the database, the log or the metrics. Each
 * secret is a different word, so that a hit shows where it came from.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { connect, send } from './collector_client.mjs';
import { repository, runOrThrow, startCollector, startPostgres, startStack, temporaryDir, waitFor } from './stack.mjs';

/** @type {string[]} */
const secrets = [];
/** @param {string} where */
function secret(where) {
  const word = `zz${where}zz${secrets.length}secret`;
  secrets.push(word);
  return word;
}

/** A secret that a rule for paths recognises: an id with digits. @param {string} where @param {(id: string) => string} [write] */
function pathSecret(where, write = (id) => id) {
  const id = `${(0xabc0000 + secrets.length).toString(16)}${Buffer.from(where).toString('hex')}0f`;
  secrets.push(id);
  return write(id);
}

/** A name that contains secrets in all places that a rule covers. @param {string} where */
const secretName = (where) => `keptName load https://${secret(`${where}User`)}:x@shop.example/a;s=${secret(`${where}Parameter`)}?${secret(`${where}Query`)} `
  + `GET /a?${secret(`${where}PathQuery`)} GET /b#${secret(`${where}Fragment`)} ${secret(`${where}Mail`)}@mail.example `
  + `eyJhbGciOiJIUzI1NiJ9.${secret(`${where}Token`)} Bearer ${secret(`${where}Bearer`)} token=${secret(`${where}Value`)}`;

const kept = ['keptFunction', 'keptMark', 'keptRelease', 'kept-route', 'keptScript'];

/** Every text that an upload can carry. */
function upload() {
  /** @param {string} where */
  const entry = (where) => ({ entryType: 'mark', startTime: 1, detail: { user: secret(`${where}Detail`) }, extra: secret(`${where}Extra`) });
  return {
    version: 1, load: randomUUID(), sampleInterval: 10, release: 'keptRelease', token: secret('token'), unknown: secret('unknown'),
    [secret('unknownKey')]: { deep: [secret('deep')] },
    page: {
      url: `https://${secret('user')}:${secret('password')}@shop.example/kept-route;jsessionid=${secret('pageParameter')}?q=${secret('pageQuery')}#${secret('pageFragment')}`,
      title: secret('title'),
    },
    timing: { navigationStart: 1, name: secret('timing') },
    trace: {
      resources: [
        `https://${secret('scriptUser')}:${secret('scriptPassword')}@cdn.example/keptScript.js?token=${secret('scriptQuery')}#${secret('scriptFragment')}`,
        `data:text/javascript,${secret('dataSource')}`,
        `blob:https://shop.example/${secret('blob')}`,
        `chrome-extension://${secret('extension')}/content.js`,
        `https://shop.example/kept-route;x=${secret('inlineParameter')}?inline=${secret('inlineQuery')}`,
        `//${secret('relativeUser')}@shop.example/?${secret('relativeQuery')}`,
        `webpack-internal:///./app.js?${secret('webpackQuery')}`,
        `  https://cdn.example/odd.js?${secret('blankQuery')}`,
        `HTTPS://CDN.EXAMPLE/UPPER.JS?${secret('upperQuery')}`,
        `https://cdn.example/back\\slash.js?${secret('backslashQuery')}`,
        `https://cdn.example/parameter.js;jsessionid=${secret('scriptParameter')}`,
        `https://shop.example/user/${pathSecret('inlineId')}/orders`,
        `https://shop.example/user/${secret('inlineMail')}%40mail.example/orders`,
      ],
      frames: [
        { name: 'keptFunction', resourceId: 0, line: 1, column: 1, source: secret('frameExtra') },
        ...Array.from({ length: 12 }, (_, i) => ({ name: `f${i}`, resourceId: i + 1 })),
      ],
      stacks: Array.from({ length: 13 }, (_, i) => ({ frameId: i, note: secret(`stackExtra${i}`) })),
      samples: Array.from({ length: 13 }, (_, i) => ({ timestamp: 10 * i, stackId: i, note: secret(`sampleExtra${i}`) })),
      extra: secret('traceExtra'),
    },
    marks: [{ name: 'keptMark', ...entry('mark') }, { name: secretName('mark'), ...entry('namedMark') }],
    measures: [{ name: 'keptMeasure', ...entry('measure'), entryType: 'measure', duration: 1 },
      { name: secretName('measure'), ...entry('namedMeasure'), entryType: 'measure', duration: 200 }],
    entries: [
      { name: `https://shop.example/${secret('resourceEntry')}`, entryType: 'resource', startTime: 1, duration: 1 },
      { name: 'keptEntry', ...entry('entry') },
      { name: secretName('entry'), ...entry('namedEntry') },
      { entryType: 'event', name: 'click', startTime: 1, processingStart: 1, processingEnd: 1, duration: 8, interactionId: 1,
        target: `button[data-user="${secret('eventTarget')}"]` },
      { entryType: 'long-animation-frame', startTime: 1, duration: 60, extra: secret('frameEntry'), scripts: [
        { startTime: 1, duration: 1, invoker: `IMG[src=https://cdn.example/${secret('invokerPath')}].onload`,
          sourceURL: `https://cdn.example/a.js?${secret('sourceQuery')}`, sourceFunctionName: 'f' }] },
    ],
    vitals: [{ name: 'LCP', value: 9, target: `#${secret('vitalId')}@shop.example` },
      { name: 'LCP', value: 9, attribution: { target: `#${secret('lcpId')}@shop.example`, url: `https://${secret('lcpUser')}:x@cdn.example/hero.png?${secret('lcpQuery')}#${secret('lcpFragment')}` } },
      { name: 'INP', value: 8, target: `.${secret('vitalTarget')}`, url: `https://${secret('vitalUser')}@cdn.example/hero.png?${secret('vitalUrl')}`, rating: secret('rating'),
      attribution: { interactionTarget: secret('attribution') }, extra: secret('vitalExtra') }],
    interactions: [
      { type: 'pointer', start: 1, processingStart: 1, processingEnd: 1, duration: 8, target: `Pay ${secret('targetText')} now` },
      { type: 'pointer', start: 1, processingStart: 1, processingEnd: 1, duration: 8, target: `#${secret('mail')}@shop.example` },
      { type: 'pointer', start: 1, processingStart: 1, processingEnd: 1, duration: 8, target: `p:contains("${secret('contained')}")` },
    ],
    responses: [
      { type: 'pointer', start: 1, duration: 80, target: `Find ${secret('responseText')} now`, text: secret('responseExtra') },
      { type: 'pointer', start: 1, duration: 80, target: `a[href="/u/${secret('responseHref')}"]` },
    ],
    frames: [{ start: 1, duration: 60, scripts: [
      { start: 1, duration: 1, invoker: `https://cdn.example/a.js?${secret('invokerQuery')}`, invokerType: secret('invokerType'),
        url: `https://${secret('urlUser')}:x@cdn.example/a.js#${secret('urlFragment')}`, function: `token=${secret('function')}` }] }],
    resources: [{ host: `https://${secret('hostUser')}@cdn.example/${secret('hostPath')}`, kind: 'img', duration: 1 }],
  };
}

const client = '203.0.113.77'; // what the collector takes for the visitor's address
secrets.push(client);

/** Headers that browsers and proxies add. */
function headers() {
  return {
    origin: 'https://shop.example',
    referer: `https://shop.example/other/${secret('refererMail')}%40mail.example/${pathSecret('refererId')};s=${secret('refererParameter')}?from=${secret('referer')}#${secret('refererFragment')}`,
    'user-agent': `Mozilla/5.0 (X11; Linux x86_64; ${secret('userAgent')}) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36 ${secret('userAgentEnd')}`,
    cookie: `session=${secret('cookie')}`,
    authorization: `Bearer ${secret('authorization')}`,
    'x-forwarded-for': `${secret('forwardedFor')}, ${client}`,
    'x-real-ip': secret('realIp'),
    'accept-language': secret('language'),
    'x-anything': secret('anything'),
  };
}

/** All bytes of all files under a directory. @param {string} dir @returns {Buffer} */
function bytesUnder(dir) {
  const files = fs.readdirSync(dir, { withFileTypes: true });
  return Buffer.concat(files.map((file) => {
    const full = path.join(dir, file.name);
    return file.isDirectory() ? bytesUnder(full) : fs.readFileSync(full);
  }));
}

/** @param {Record<string, unknown>} config @param {(stack: import('./stack.mjs').Stack, url: string) => Promise<void>} fill */
async function everythingKept(config, fill) {
  const stack = await startStack({
    config: {
      sites: [{ name: 'shop', key: 'pk_shop', routes: ['/kept-route'], origins: ['https://shop.example'] }],
      spool: { path: path.join(temporaryDir('spool'), 's'), max_bytes: '4MiB', segment_bytes: '1MiB' },
      ...config,
    },
  });
  await fill(stack, `${stack.collector.url}/v1/ingest/pk_shop`);
  const metrics = await (await fetch(`${stack.collector.adminUrl}/metrics`)).text();
  await stack.collector.stop();
  const database = await runOrThrow(['pg_dump', '--inserts', '-d', stack.postgres.conninfo()]);
  const spool = bytesUnder(stack.collector.config.spool.path);
  const places = { database, spool: spool.toString('latin1'), log: stack.collector.server.output(), metrics };
  await stack.postgres.stop();
  return places;
}

/** @param {import('./stack.mjs').Stack} stack @param {number} count */
const untilLogged = (stack, count) => waitFor(async () =>
  (await stack.sql('select 1 from fleetprof.upload_log')).length >= count, { what: 'uploads in SQL' });

test('secrets in every text of an upload are found nowhere', async () => {
  const places = await everythingKept({}, async (stack, url) => {
    assert.equal((await send(url, { body: JSON.stringify(upload()), headers: headers() })).status, 204);
    // Without a page the Referer is used.
    const { page: _, ...withoutPage } = upload();
    assert.equal((await send(`${url}?x=${secret('ingestQuery')}`, { body: JSON.stringify(withoutPage), headers: headers() })).status, 204);
    // A path that no template matches, and a route that the page sends.
    const url2 = `https://shop.example/user/${secret('pathMail')}%40mail.example/${pathSecret('pathId')}/${pathSecret('pathToken', (id) => `eyJ${id}.${id}`)}`;
    for (const page of [{ url: url2 }, { url: url2, route: `/user/${secret('routeMail')}@mail.example/${pathSecret('routeId')};s=${secret('routeParameter')}` }])
      assert.equal((await send(url, { body: JSON.stringify({ ...upload(), page }), headers: headers() })).status, 204);
    // Refused and broken ones must not be logged.
    for (const body of [`{"x":"${secret('broken')}"`, JSON.stringify({ trace: secret('invalid') }),
      JSON.stringify({ marks: { [secret('pointer')]: 5 } })])
      assert.ok((await send(url, { body, headers: headers() })).status >= 400);
    assert.equal((await send(`${stack.collector.url}/v1/ingest/${secret('key')}`, { body: '{}' })).status, 403);
    assert.equal((await send(url, { body: '{}', headers: { origin: `https://${secret('origin')}.example` } })).status, 403);
    const cut = await connect(stack.collector.url);
    cut.socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{"x":"${secret('halfSent')}`, () => cut.socket.destroy());
    await cut.closed;
    await untilLogged(stack, 4);
  });
  assert.ok(secrets.length > 60);
  for (const [name, text] of Object.entries(places)) {
    const lower = text.toLowerCase();
    assert.deepEqual(secrets.filter((word) => lower.includes(word.toLowerCase())), [], `in the ${name}`);
    assert.doesNotMatch(name === 'spool' ? '' : text.replace(/(listen|host)=\S+/g, ''), /\b127\.0\.0\.1\b/, `an address in the ${name}`);
  }
  // Proves that the search works: it finds what may be kept.
  for (const word of kept) {
    assert.ok(places.database.includes(word), `${word} in the database`);
    assert.ok(places.spool.includes(word), `${word} in the spool`);
  }
});

test('secrets in names and paths are not in a trace that is kept whole', async () => {
  const from = secrets.length;
  const sites = [{ name: 'shop', key: 'pk_shop', origins: ['https://shop.example'], sample_keep: '100%' }];
  const places = await everythingKept({ sites }, async (stack, url) => {
    const page = { url: `https://shop.example/user/${secret('keptMail')}%40mail.example/${pathSecret('keptId')};s=${secret('keptParameter')}` };
    const body = JSON.stringify({ ...upload(), unknown: undefined, page });
    assert.equal((await send(url, { body, headers: headers() })).status, 204);
    await waitFor(async () => (await stack.sql('select 1 from fleetprof.sessions')).length === 1, { what: 'kept trace' });
  });
  const removed = secrets.slice(from).filter((word) => /zz(mark|measure|entry)(User|Parameter|Query|PathQuery|Fragment|Mail|Token|Bearer|Value)zz|zz(kept|inline)(Mail|Parameter)zz/.test(word)
    || /^[0-9a-f]+$/.test(word));
  assert.ok(removed.length > 30, `${removed.length}`);
  for (const [name, text] of Object.entries(places))
    assert.deepEqual(removed.filter((word) => text.toLowerCase().includes(word.toLowerCase())), [], `in the ${name}`);
});

/** The rows of the tables of a section of the manual: what stands between backquotes in each cell, else the cell. */
function tablesOf(/** @type {string} */ file, /** @type {string} */ heading) {
  const text = fs.readFileSync(path.join(repository, 'docs', file), 'utf8');
  const section = text.split(`\n## ${heading}\n`)[1].split('\n## ')[0];
  return section.split('\n').filter((line) => /^\| (?!what|of a)/.test(line) && !line.startsWith('|---'))
    .map((line) => line.slice(2, -2).split(' | ').map((cell) => /^`(.*)`$/.exec(cell)?.[1] ?? cell));
}

test('each row of the table of rules in the manual is what is stored, and each setting switches its rule off', async () => {
  const rows = tablesOf('privacy.md', 'Paths and names').map((cells) => cells.length === 2
    ? { what: '', of: cells[0], example: cells[1], stored: cells[1], setting: '' }
    : { what: cells[0], of: cells[1], example: cells[2], stored: cells[3], setting: cells[4] });
  const settings = new Set(rows.map(({ setting }) => setting));
  assert.deepEqual([...settings].sort(), ['', 'keep_names', 'keep_path_addresses', 'keep_path_hashes', 'keep_path_numbers',
    'keep_path_parameters', 'keep_path_tokens']);
  const postgres = await startPostgres({ migrated: true });
  for (const setting of settings) {
    const site = `site${setting}`;
    const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'),
      privacy: setting === '' ? {} : { [setting]: true }, sites: [{ name: site, key: 'pk' }] } });
    for (const { of, example } of rows) {
      const page = { url: `https://shop.example${of === 'path' ? example : '/'}` };
      const marks = [{ name: of === 'name' ? example : 'mark', startTime: 1, entryType: 'mark', duration: 0 }];
      const reply = await send(`${collector.url}/v1/ingest/pk`, { body: JSON.stringify({ version: 1, page, marks }) });
      assert.equal(reply.status, 204, `${example}: ${reply.body}`);
    }
    await waitFor(async () => (await postgres.sql(`select 1 from fleetprof.upload_log where site = '${site}'`)).length === rows.length,
      { what: `uploads of ${site}` });
    const routes = await postgres.sql(`select distinct route as name from fleetprof.segment where site = '${site}'`);
    const names = await postgres.sql(`select name from fleetprof.timings('${site}')`);
    const stored = { path: new Set(routes.map(({ name }) => name)), name: new Set(names.map(({ name }) => name)) };
    for (const row of rows) {
      const isKept = row.setting === setting || (row.what === 'path parameters' && setting === 'keep_path_parameters');
      const wanted = isKept ? row.example : row.stored;
      assert.ok(stored[/** @type {'path' | 'name'} */ (row.of)].has(wanted), `${row.example} is stored as ${wanted} with ${setting || 'the defaults'}`);
    }
    await collector.stop();
  }
  await postgres.stop();
});

test('where privacy.keep_query says so query strings stay, credentials and fragments do not', async () => {
  const places = await everythingKept({ privacy: { keep_query: true } }, async (stack, url) => {
    assert.equal((await send(url, { body: JSON.stringify(upload()), headers: headers() })).status, 204);
    await untilLogged(stack, 1);
  });
  assert.match(places.database, /zzscriptQueryzz/);
  assert.match(places.spool, /zzscriptQueryzz/);
  for (const text of Object.values(places))
    assert.doesNotMatch(text, /zz(user|password|scriptUser|scriptPassword|scriptFragment|pageFragment|dataSource|blob|extension)zz/i);
});
