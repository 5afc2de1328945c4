// SPDX-License-Identifier: Apache-2.0
/**
 * Random Speed Tracer dumps: requests with their records in any order, work that nests and overlaps, pages and their
 * marks.
 */

/** @typedef {import('../chaos/random.mjs').Random} Random */
/** @typedef {{ type: number, time?: number, duration?: number, data?: object, children?: Item[] }} Item */

const TAB = 2147483646, UPDATE = 2147483645, ANNOUNCED = 2147483642, ANSWERED = 2147483641, CHUNK = 2147483640, FINISHED = 2147483639;

/** Milliseconds, to the microsecond. @param {Random} random @param {number} limit */
const within = (random, limit) => random.below(limit * 1000) / 1000;

/** @param {Random} random */
function responseHeaders(random) {
  const cased = (/** @type {string} */ name) => random.pick([name, name.toLowerCase(), name.toUpperCase()]);
  return {
    ...random.chance(0.8) && { [cased('Content-Type')]: random.pick(['text/html', 'text/css', 'text/javascript; charset=utf-8', 'image/png',
      'application/x-shockwave-flash', 'application/json', 'video/mp4', 'TEXT/PLAIN']) },
    ...random.chance(0.4) && { [cased('Content-Encoding')]: random.pick(['gzip', 'deflate', 'identity', 'SDCH,gzip']) },
    ...random.chance(0.6) && { [cased('Cache-Control')]: random.pick(['public', 'private, max-age=0', 'max-age=2592000', 'no-store',
      'public,max-age = 28512000', 'max-age="60", must-revalidate', 'PUBLIC, max-age=99999999', 'no-transform']) },
    ...random.chance(0.1) && { Pragma: 'no-cache' },
    ...random.chance(0.3) && { Vary: random.pick(['Accept-Encoding', 'Cookie', 'accept-encoding , User-Agent', '*', '']) },
    ...random.chance(0.3) && { [cased('Set-Cookie')]: 'a=b' },
    ...random.chance(0.5) && { Date: 'Fri, 18 Jun 2010 22:43:07 GMT', Expires: random.pick(['Fri, 18 Jun 2010 22:43:07 GMT',
      'Sat, 19 Jun 2010 22:43:07 GMT', 'Thu, 17 Jun 2010 01:00:00 GMT', 'Tue, 18 Jun 2019 22:43:07 GMT']) },
  };
}

/** @param {Random} random */
const address = (random) => `https://shop.example/${random.pick(['a.js', 'favicon.ico', 'b.css', 'x/y.png', 'shop.nocache.js',
  `${'aB'.repeat(16)}.cache.html`, 'page'])}${random.pick(['', '', '?q=1', '#f'])}`;

/** A record about one of a few requests. @param {Random} random @returns {Item} */
function network(random) {
  const requestId = random.pick(['1', '2', '3', '4', 'a', 'b']);
  const time = within(random, 4000);
  const url = address(random);
  return random.pick([
    { type: 12, time, data: { requestId, url, requestMethod: random.pick(['GET', 'POST']) } },
    { type: 13, time, data: { requestId, mimeType: random.pick(['text/html', 'text/css']), statusCode: random.pick([200, 304, 404]) } },
    { type: 14, time, data: { requestId, didFail: random.chance(0.3) } },
    { type: ANNOUNCED, time, data: { requestId, request: { url, method: 'GET', headers: { Accept: '*', ...random.chance(0.3) && { Cookie: 'x=y' } } } } },
    { type: ANSWERED, ...random.chance(0.9) && { time }, data: { requestId, response: { status: 200, headers: responseHeaders(random), fromDiskCache: random.chance(0.5) } } },
    { type: CHUNK, time, data: { requestId, dataLength: random.below(400_000) } },
    { type: FINISHED, time, data: { requestId, ...random.chance(0.5) && { didFail: false } } },
    { type: UPDATE, time, data: { identifier: requestId, url,
      ...random.chance(0.5) && { startTime: within(random, 4000) }, ...random.chance(0.5) && { responseReceivedTime: within(random, 4000) },
      ...random.chance(0.5) && { endTime: random.pick([0, within(random, 4000)]) }, ...random.chance(0.5) && { resourceSize: random.below(1_500_000) },
      ...random.chance(0.7) && { responseHeaders: responseHeaders(random), requestHeaders: random.chance(0.3) ? { cookie: 'k=v' } : {} } } },
  ]);
}

/** An event and those inside it, which may reach over its end. @param {Random} random @param {number} time @param {number} longest @returns {Item} */
function work(random, time, longest, level = 0) {
  const length = within(random, longest);
  /** @type {Item[]} */
  const children = [];
  for (let at = time; level < 5 && at < time + length && random.chance(0.7); at += length / 3) {
    children.push(work(random, Math.round((at + random.share() * 3) * 1000) / 1000, Math.ceil(length * 0.6), level + 1));
  }
  return { type: random.pick([0, 1, 1, 1, 2, 3, 4, 11, 15, 17]), time, ...random.chance(0.9) && { duration: length },
    data: { message: `m${random.below(9)}`, type: 'click' }, children };
}

/** Records as text, one per line; pages in the order of time, as they are shown. @param {Random} random */
export function randomDump(random) {
  /** @type {Item[]} */
  const records = Array.from({ length: 20 + random.below(120) }, () => random.pick([network, network, network,
    () => work(random, within(random, 4000), random.pick([3, 30, 300, 3000])),
    () => ({ type: random.pick([18, 19]), time: within(random, 4000) }),
    () => ({ type: TAB, time: 0, data: { url: address(random) } })])(random));
  const pages = records.filter(({ type }) => type === TAB);
  const times = pages.map(() => within(random, 4000)).sort((a, b) => a - b);
  pages.forEach((page, index) => { page.time = times[index]; });
  return [{ type: 3, time: 1, duration: 2 }, ...records].map((record) => JSON.stringify(record)).join('\n');
}
