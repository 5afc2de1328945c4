// SPDX-License-Identifier: Apache-2.0
/**
 * Bad uploads, at least one for each rule of the contract: what is sent, and the expected reply.
 *
 * A case either overrides members of one good trace (`trace`) or has its own body. The limits are those of
 * `smallLimits`.
 */
import zlib from 'node:zlib';

export const smallLimits = {
  max_body: '256KiB', max_inflated: '1MiB', samples: 6, stacks: 6, frames: 6, resources: 6, entries: 6,
  stack_depth: 4, json_depth: 12, max_span: '10s',
};

export const goodTrace = {
  resources: ['https://shop.example/a.js', 'https://shop.example/b.js'],
  frames: [{ name: 'outer', resourceId: 0, line: 1, column: 1 }, { name: 'inner', resourceId: 1 }],
  stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
  samples: [{ timestamp: 10, stackId: 1 }, { timestamp: 20 }, { timestamp: 30, stackId: 0, marker: 'gc' }],
};

/**
 * @typedef {object} BadUpload
 * @property {string} what
 * @property {number} status
 * @property {string} [pointer]
 * @property {number} [offset]
 * @property {RegExp} detail
 * @property {string | Uint8Array} body
 * @property {Record<string, string>} [headers]
 * @property {string} [query]
 */

/** @type {BadUpload[]} */
export const badUploads = [];

/**
 * @param {string} what
 * @param {number} status
 * @param {string | number | undefined} where a pointer or an offset
 * @param {RegExp} detail
 * @param {unknown} body text and bytes as they are, all else as JSON
 * @param {{ headers?: Record<string, string>, query?: string }} [more]
 */
function bad(what, status, where, detail, body, more = {}) {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  badUploads.push({
    what, status, detail, body: raw ? body : JSON.stringify(body), ...more,
    ...(typeof where === 'string' ? { pointer: where } : typeof where === 'number' ? { offset: where } : {}),
  });
}

/** @param {Record<string, unknown>} members @param {Record<string, unknown>} [around] */
const trace = (members, around = {}) => ({ ...around, trace: { ...goodTrace, ...members } });
/** @param {unknown} value */
const frame = (value) => trace({ frames: [goodTrace.frames[0], value] });
/** @param {unknown} value */
const stack = (value) => trace({ stacks: [goodTrace.stacks[0], value] });
/** @param {unknown} value */
const sample = (value) => trace({ samples: [goodTrace.samples[0], value, goodTrace.samples[2]] });
/** @param {string} text JSON that JSON.stringify cannot write */
const samples = (text) => JSON.stringify(trace({ samples: 'HERE' })).replace('"HERE"', text);
/** @param {unknown} value */
const mark = (value) => ({ marks: [value] });

const good = JSON.stringify(trace({}));
const zipped = zlib.gzipSync(good);

// Not JSON: 400 with the offset of the byte.
bad('nothing', 400, undefined, /empty/, '');
bad('blanks', 400, undefined, /empty/, '  \n ');
bad('truncated JSON', 400, good.length - 5, /too early/, good.slice(0, -5));
bad('a word that is not JSON', 400, 0, /not JSON/, 'undefined');
bad('two values', 400, good.length, /after the end/, `${good}${good}`);
bad('a trailing comma', 400, 6, /not JSON/, '{"a":1,}');
bad('single quotes', 400, 1, /not JSON/, "{'a': 1}");
bad('NaN', 400, undefined, /not JSON/, samples('[{"timestamp":NaN}]'));
bad('a number with a leading zero', 400, undefined, /not JSON/, samples('[{"timestamp":01}]'));
bad('bytes that are not UTF-8', 400, 6, /UTF-8/, Buffer.from('7b2261223a22ff227d', 'hex'));
bad('a raw control character in a string', 400, 6, /control character/, '{"a":"\u0001"}');
bad('random bytes', 400, 0, /not JSON/, Buffer.from('f3a19c00d2', 'hex'));
bad('HTML', 400, 0, /not JSON/, '<html></html>');

// Compression: 400; too large: 413; unknown: 415.
bad('gzip that is cut off', 400, undefined, /gzip/, zipped.subarray(0, -9));
bad('gzip with a wrong checksum', 400, undefined, /gzip/, damaged(zipped, zipped.length - 5));
bad('gzip with a flipped byte', 400, undefined, /gzip|not JSON/, damaged(zipped, 40));
bad('gzip with garbage behind it', 400, undefined, /follow the end/, Buffer.concat([zipped, Buffer.from('x')]));
bad('gzip that is only its magic', 400, undefined, /gzip/, Buffer.from([0x1f, 0x8b]));
bad('JSON announced as gzip', 400, undefined, /gzip/, good, { headers: { 'content-encoding': 'gzip' } });
bad('JSON announced as deflate', 400, undefined, /deflate/, good, { headers: { 'content-encoding': 'deflate' } });
bad('JSON announced as br', 400, undefined, /br/, good, { headers: { 'content-encoding': 'br' } });
bad('JSON announced as zstd', 400, undefined, /zstd/, good, { headers: { 'content-encoding': 'zstd' } });
bad('deflate that is cut off', 400, undefined, /deflate/, zlib.deflateSync(good).subarray(0, -6),
  { headers: { 'content-encoding': 'deflate' } });
bad('br that is cut off', 400, undefined, /br/, zlib.brotliCompressSync(good).subarray(0, -3),
  { headers: { 'content-encoding': 'br' } });
bad('a gzip bomb', 413, undefined, /limits\.max_inflated/, zlib.gzipSync(Buffer.alloc(2 << 20, 32)));
bad('a br bomb', 413, undefined, /limits\.max_inflated/, zlib.brotliCompressSync(Buffer.alloc(2 << 20, 32)),
  { headers: { 'content-encoding': 'br' } });
bad('an encoding nobody knows', 415, undefined, /Content-Encoding/, good, { headers: { 'content-encoding': 'snappy' } });
bad('two encodings', 415, undefined, /Content-Encoding/, good, { headers: { 'content-encoding': 'gzip, br' } });
bad('a form', 415, undefined, /Content-Type/, good, { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
bad('XML', 415, undefined, /Content-Type/, good, { headers: { 'content-type': 'text/xml' } });
bad('a format nobody knows', 415, undefined, /format/, good, { query: '?format=pprof' });

// Limits: 413.
bad('a body over max_body', 413, undefined, /limits\.max_body/, ' '.repeat(300_000));
bad('samples over their limit', 413, '/trace/samples', /limits\.samples/,
  trace({ samples: Array.from({ length: 7 }, (_, i) => ({ timestamp: i })) }));
bad('stacks over their limit', 413, '/trace/stacks', /limits\.stacks/,
  trace({ stacks: Array.from({ length: 7 }, () => ({ frameId: 0 })) }));
bad('frames over their limit', 413, '/trace/frames', /limits\.frames/,
  trace({ frames: Array.from({ length: 7 }, () => ({ name: 'f' })) }));
bad('resources over their limit', 413, '/trace/resources', /limits\.resources/,
  trace({ resources: Array.from({ length: 7 }, () => 'https://a.example/') }));
bad('marks over the limit of entries', 413, undefined, /limits\.entries/,
  { marks: Array.from({ length: 7 }, () => ({ name: 'm', entryType: 'mark', startTime: 1 })) });
bad('marks and measures together over it', 413, undefined, /limits\.entries/,
  { marks: { a: [1, 2, 3, 4] }, measures: { b: [1, 2, 3] } });
bad('a stack too deep', 413, undefined, /limits\.stack_depth/,
  trace({ stacks: Array.from({ length: 5 }, (_, i) => ({ frameId: 0, ...(i ? { parentId: i - 1 } : {}) })) }));
bad('JSON nested too deep', 413, undefined, /limits\.json_depth/, { x: nested(13) });

// The shape of an upload: 422 with a pointer.
bad('a number', 422, '', /object or an array/, 5);
bad('null', 422, '', /object or an array/, null);
bad('an empty object', 422, '', /not an upload/, {});
bad('an empty array', 422, undefined, /nothing is left|no|none/, []);
bad('nothing but a page', 422, '', /none of trace|no trace/, { page: { url: 'https://shop.example/' } });
bad('a trace that is an array', 422, '/trace', /object/, { trace: [] });
bad('a trace that is a text', 422, '/trace', /object/, { trace: 'x' });
bad('another version', 422, '/version', /number 1/, trace({}, { version: 2 }));
bad('a version that is a text', 422, '/version', /number 1|number/, trace({}, { version: '1' }));
bad('an id that is not a UUID', 422, '/id', /UUID/, trace({}, { id: 'abc' }));
bad('an id that is a number', 422, '/id', /UUID|string/, trace({}, { id: 5 }));
bad('a load that is not a UUID', 422, '/load', /UUID/, trace({}, { load: '123e4567-e89b-42d3-a456-42661417400' }));
bad('a negative part', 422, '/part', /whole number/, trace({}, { part: -1 }));
bad('a part that is a fraction', 422, '/part', /whole number/, trace({}, { part: 0.5 }));
bad('an unknown coverage', 422, '/coverage', /no-policy/, { coverage: 'maybe' });
bad('an unknown thread', 422, '/thread', /window/, trace({}, { thread: 'service' }));
bad('an unknown machine class', 422, '/machine', /low/, trace({}, { machine: 'fast' }));
bad('an unknown draw', 422, '/drawn', /true or false/, trace({}, { drawn: 'yes' }));
bad('a number as network class', 422, '/network', /string/, trace({}, { network: 4 }));
bad('a view without a page', 422, '/views/0', /page is missing/, trace({}, { views: [{ vitals: [] }] }));
bad('custom dimensions in an object', 422, '/custom', /string/, trace({}, { custom: { plan: 'pro' } }));
bad('an unknown frame', 422, '/frame', /top/, trace({}, { frame: 'iframe' }));
bad('an interval of zero', 422, '/sampleInterval', /above 0/, trace({}, { sampleInterval: 0 }));
bad('a negative interval', 422, '/sampleInterval', /above 0/, trace({}, { sampleInterval: -10 }));
bad('an interval of eleven seconds', 422, '/sampleInterval', /10000/, trace({}, { sampleInterval: 11_000 }));
bad('an interval that is a text', 422, '/sampleInterval', /number/, trace({}, { sampleInterval: '10' }));
bad('a page URL that is a number', 422, '/page/url', /string/, trace({}, { page: { url: 5 } }));
bad('a page that is a text', 422, '/page', /object/, trace({}, { page: 'https://shop.example/' }));
bad('a release that is an object', 422, '/release', /string/, trace({}, { release: {} }));
bad('an agent without being one', 422, '/agent', /object/, trace({}, { agent: 'x' }));
bad('leftOut that is true', 422, '/leftOut', /array/, trace({}, { leftOut: true }));
bad('something left out without a word for it', 422, '/leftOut/0', /what/, trace({}, { leftOut: [{ name: 'Row', count: 3 }] }));
bad('more left out than a count can hold', 422, '/leftOut/0/count', /2147483647/, trace({}, { leftOut: [{ what: 'mark', count: 2 ** 31 }] }));
bad('truncated that is a number', 422, '/truncated', /true or false/, trace({}, { truncated: 1 }));

// The trace: every array, every index, every number.
for (const member of /** @type {const} */ (['resources', 'frames', 'stacks', 'samples'])) {
  const { [member]: _, ...rest } = goodTrace;
  bad(`a trace without ${member}`, 422, '/trace', new RegExp(`${member} is missing`), { trace: rest });
  bad(`${member} that are null`, 422, '/trace', new RegExp(`${member} is missing`), trace({ [member]: null }));
  bad(`${member} that are an object`, 422, `/trace/${member}`, /array/, trace({ [member]: {} }));
  bad(`one of the ${member} that is a boolean`, 422, `/trace/${member}/1`, /object|string/,
    trace({ [member]: [goodTrace[member][0], true] }));
}
bad('a resource that is a number', 422, '/trace/resources/0', /string/, trace({ resources: [5] }));
bad('a frame without name', 422, '/trace/frames/1', /name/, frame({ line: 1 }));
bad('a frame whose name is null', 422, '/trace/frames/1', /name is missing/, frame({ name: null }));
bad('a frame whose name is a number', 422, '/trace/frames/1/name', /string/, frame({ name: 5 }));
bad('a negative line', 422, '/trace/frames/1/line', /whole number/, frame({ name: 'f', line: -1 }));
bad('a line that is a fraction', 422, '/trace/frames/1/line', /whole number/, frame({ name: 'f', line: 1.5 }));
bad('a line past 2^31 - 1', 422, '/trace/frames/1/line', /whole number/, frame({ name: 'f', line: 2 ** 31 }));
bad('a column that is a text', 422, '/trace/frames/1/column', /number/, frame({ name: 'f', column: '7' }));
for (const [name, index] of /** @type {const} */ ([['the length', 2], ['-1', -1], ['1.5', 1.5], ['1e300', 1e300],
  ['a text', '0'], ['true', true], ['an array', [0]], ['2^53', 2 ** 53]])) {
  bad(`a resourceId that is ${name}`, 422, '/trace/frames/1/resourceId', /resources/, frame({ name: 'f', resourceId: index }));
  bad(`a frameId that is ${name}`, 422, '/trace/stacks/1/frameId', /frames/, stack({ frameId: index }));
  bad(`a parentId that is ${name}`, 422, '/trace/stacks/1/parentId', /stacks/, stack({ frameId: 0, parentId: index }));
  bad(`a stackId that is ${name}`, 422, '/trace/samples/1/stackId', /stacks/, sample({ timestamp: 20, stackId: index }));
}
bad('a stack without frame', 422, '/trace/stacks/1', /frameId is missing/, stack({ parentId: 0 }));
bad('a stack whose frame is null', 422, '/trace/stacks/1', /frameId is missing/, stack({ frameId: null }));
bad('an index where nothing is', 422, '/trace/stacks/0/frameId', /no frames/, trace({ frames: [] }));
bad('a stack that is its own parent', 422, '/trace/stacks/1/parentId', /own/, stack({ frameId: 0, parentId: 1 }));
bad('two stacks that are each other\'s parents', 422, '/trace/stacks/0/parentId', /never ends/,
  trace({ stacks: [{ frameId: 0, parentId: 1 }, { frameId: 1, parentId: 0 }] }));
bad('a cycle behind a tail', 422, undefined, /never ends/,
  trace({ stacks: [{ frameId: 0, parentId: 1 }, { frameId: 0, parentId: 2 }, { frameId: 0, parentId: 3 }, { frameId: 0, parentId: 1 }] }));
bad('a sample without timestamp', 422, '/trace/samples/1', /timestamp is missing/, sample({ stackId: 0 }));
bad('a timestamp that is null', 422, '/trace/samples/1', /timestamp is missing/, sample({ timestamp: null }));
bad('a timestamp that is a text', 422, '/trace/samples/1/timestamp', /number/, sample({ timestamp: '20' }));
bad('a timestamp of 1e300', 422, '/trace/samples/0/timestamp', /out of range/, samples('[{"timestamp":1e300}]'));
bad('a timestamp that overflows to infinity', 400, undefined, /not JSON/, samples('[{"timestamp":1e999}]'));
bad('a marker that is a number', 422, '/trace/samples/1/marker', /string/, sample({ timestamp: 20, marker: 1 }));
bad('a trace that spans too long', 422, undefined, /limits\.max_span/, trace({ samples: [{ timestamp: 0 }, { timestamp: 10_001 }] }));

// User Timing.
bad('a mark without name', 422, '/marks/0', /name is missing/, mark({ entryType: 'mark', startTime: 1 }));
bad('a mark without start', 422, '/marks/0', /startTime is missing/, mark({ name: 'm', entryType: 'mark' }));
bad('a mark whose start is a text', 422, '/marks/0/startTime', /number/, mark({ name: 'm', entryType: 'mark', startTime: '1' }));
bad('a mark with a duration', 422, '/marks/0/duration', /must be 0/, mark({ name: 'm', entryType: 'mark', startTime: 1, duration: 1 }));
bad('a measure among marks', 422, '/marks/0/entryType', /mark/, mark({ name: 'm', entryType: 'measure', startTime: 1, duration: 1 }));
bad('a measure without duration', 422, '/measures/0', /duration is missing/,
  { measures: [{ name: 'm', entryType: 'measure', startTime: 1 }] });
bad('an entry that is a text', 422, '/entries/0', /object/, { entries: ['m'] });
bad('entries of other types alone', 422, undefined, /nothing is left/,
  { entries: [{ name: 'https://shop.example/', entryType: 'element', startTime: 1, duration: 1 }] });
bad('marks that are a text', 422, '/marks', /array/, { marks: 'm' });
bad('a 2012 map whose times are not an array', 422, '/marks/m', /array/, { marks: { m: 5 } });
bad('a 2012 map whose time is a text', 422, '/marks/m/0', /number/, { marks: { m: ['5'] } });
bad('a window\'s mark with a navigation name', 422, undefined, /performance\.timing/,
  mark({ name: 'navigationStart', entryType: 'mark', startTime: 1 }));
bad('a name with slash and tilde in the pointer', 422, '/marks/a~1b~0c/0', /number/, { marks: { 'a/b~c': [null] } });

/** @param {Uint8Array} bytes @param {number} at */
function damaged(bytes, at) {
  const copy = Buffer.from(bytes);
  copy[at] ^= 0xff;
  return copy;
}

/** @param {number} depth @returns {unknown} */
function nested(depth) {
  return depth === 0 ? 0 : [nested(depth - 1)];
}
