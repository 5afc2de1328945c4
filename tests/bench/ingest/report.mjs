// SPDX-License-Identifier: Apache-2.0
/** The figures as text. */

/**
 * @typedef {Record<string, number>} Figures
 * @typedef {{ size: string, count: number, jsonBytes: number, gzipBytes: number, idleMiB: number, limit_us: number,
 *             uploads: number, sealing: Figures, stored: Figures, blocks: Figures, storedAfter: Figures,
 *             fleetprof: Figures, half: Figures, stages: Figures, peers: any[] }} Result
 */

/** @param {number[]} numbers */
export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The median of each figure. @param {Figures[]} rounds @returns {Figures} */
export const medians = (rounds) => Object.fromEntries(
  Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))]));

const ms = (/** @type {number} */ us) => (us / 1000).toFixed(1);
const kB = (/** @type {number} */ bytes) => (bytes / 1000).toFixed(1);

/** @param {string} name @param {Figures} figures */
const line = (name, { perSecond, p50_us, p99_us, cpu_us, databaseCpu_us, walBytes, diskBytes, peakMiB }) => console.log(
  `  ${name.padEnd(22)} ${perSecond.toFixed(0).padStart(6)} /s   reply p50 ${ms(p50_us)} p99 ${ms(p99_us)} ms   CPU ${cpu_us.toFixed(0)} + database `
  + `${databaseCpu_us.toFixed(0)} µs   WAL ${kB(walBytes)} disk ${kB(diskBytes)} kB   peak ${peakMiB.toFixed(0)} MiB`);

/** The database's part of an upload, with what sealing put off. @param {Result} result */
const database = ({ fleetprof, sealing }) => fleetprof.databaseCpu_us + sealing.databaseCpu_us;

/** All of it. @param {Result} result */
const everything = (result) => result.fleetprof.cpu_us + result.sealing.cpu_us + database(result);

/** Kilobytes in the database: facts, log, ids, names. @param {Figures} stored */
const factBytes = ({ recent, hours, days }) => recent + hours + days;

/** @param {Figures} stored bytes by place, of an upload */
const disk = ({ packed, ...bytes }) => {
  const places = Object.entries(bytes).map(([place, some]) => `${place} ${kB(some)}`).join(', ');
  return `disk of an upload, kB: ${places}; facts ${kB(factBytes(bytes))}, of which ${(packed / 1000).toFixed(2)} are rows `
    + 'and the rest is free for later ones';
};

/** Processor time before the database: all threads but the writer and the sealer. @param {Figures} figures */
const before = ({ http_us, spool_us }) => http_us + spool_us;

/** @param {Result} result */
export function printSize(result) {
  const { size, count, jsonBytes, gzipBytes, idleMiB, uploads, sealing, stored, blocks, storedAfter, fleetprof, half, stages, limit_us, peers } = result;
  console.log(`\n${size}: ${count} different bodies, ${kB(gzipBytes)} kB gzip, ${kB(jsonBytes)} kB of JSON; ${stages.keys} rows an upload, 1,000 merged`);
  line('fleetprofd', fleetprof);
  for (const { name, ...figures } of peers) line(name, figures);
  line('fleetprofd, half load', half);
  const { inflate, general, decode, fold, encode, check, merge } = stages;
  const steps = { inflate, decode, fold, encode, check };
  const inside = Object.values(steps).reduce((sum, step) => sum + step, 0);
  const stage = (/** @type {[string, number][]} */ entries) => entries.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(', ');
  console.log(`  µs an upload: ${stage([['HTTP', Math.max(0, fleetprof.http_us - inside)], ...Object.entries(steps), ['spool', fleetprof.spool_us],
    ['merge', merge], ['flush', Math.max(0, fleetprof.writer_us - merge)], ['sealer', fleetprof.sealer_us], ['database', fleetprof.databaseCpu_us]])}`);
  console.log(`  sealing put off, and vacuum: ${sealing.cpu_us.toFixed(1)} + database ${sealing.databaseCpu_us.toFixed(1)} µs, WAL ${kB(sealing.walBytes)} kB, over ${uploads} uploads; `
    + `later blocks: ${blocks.cpu_us.toFixed(1)} + ${blocks.databaseCpu_us.toFixed(1)} µs`);
  console.log(`  ${disk(stored)}; with longer blocks ${kB(storedAfter.packed)}`);
  console.log(`  general decoder ${general.toFixed(0)} µs; inflate + parse alone ${limit_us.toFixed(0)} µs; before the database ${before(fleetprof).toFixed(0)} µs`);
  const jsonb = peers[1];
  const times = (/** @type {number} */ theirs, /** @type {number} */ ours) => `${(theirs / ours).toFixed(2)}×`;
  console.log(`  processor time of COPY jsonb over ours: database ${times(jsonb.databaseCpu_us, database(result))}, in all `
    + `${times(jsonb.cpu_us + jsonb.databaseCpu_us, everything(result))}, sealing included`);
  console.log(`  ${fleetprof.perSync.toFixed(1)} uploads a sync, ${fleetprof.perFlush.toFixed(0)} a flush, ${fleetprof.rows.toFixed(0)} rows an upload; acknowledged ${fleetprof.ackedPerSecond.toFixed(0)} /s, `
    + `the last in SQL ${(fleetprof.lag_ms / 1000).toFixed(2)} s after its reply; idle ${idleMiB.toFixed(1)} MiB, record ${kB(stages.record_bytes)} kB`);
}

/** @param {{ size: string, rate: number, byWindow: any[], byCount: any[], stored: Figures }} curves */
export function printCurve({ size, rate, byWindow, byCount, stored: { uploads: all, ...stored } }) {
  const cost = (/** @type {Figures} */ { perFlush, rows, writer_us, databaseCpu_us, walBytes }) =>
    `${perFlush.toFixed(0).padStart(6)} a flush   an upload: ${rows.toFixed(0)} rows, writer ${writer_us.toFixed(0)} µs, `
    + `database ${databaseCpu_us.toFixed(0)} µs, WAL ${kB(walBytes)} kB`;
  console.log(`\nCost by flush.min_window, ${rate} uploads a second, ${size}`);
  for (const { seconds, ...figures } of byWindow) console.log(`  ${`${seconds} s`.padStart(9)} ${cost(figures)}`);
  console.log(`\nCost by number of uploads, full load, ${size}`);
  for (const { uploads, ...figures } of byCount) console.log(`  ${String(uploads).padStart(9)} ${cost(figures)}, ${figures.perSecond.toFixed(0)} /s, peak ${figures.peakMiB.toFixed(0)} MiB`);
  console.log(`\nSealed, all ${all} uploads: ${disk(stored)}`);
}

/** @param {{ size: string, bySegments: any[], byDays: any[] }} growth */
export function printGrowth({ size, bySegments, byDays }) {
  const cost = (/** @type {any} */ { perFlush, rows, cpu_us, databaseCpu_us, walBytes, sealing }) =>
    `${perFlush.toFixed(0).padStart(6)} a flush   an upload: ${rows.toFixed(0)} rows, program ${cpu_us.toFixed(0)} + sealing ${sealing.cpu_us.toFixed(0)} µs, `
    + `database ${databaseCpu_us.toFixed(0)} + ${sealing.databaseCpu_us.toFixed(0)} µs, WAL ${kB(walBytes)} kB`;
  console.log(`\nCost by number of segments, 10,000 uploads, full load, ${size}`);
  for (const { segments, ...figures } of bySegments) console.log(`  ${String(segments).padStart(9)} ${cost(figures)}`);
  console.log(`\nCost by days in the database, 10,000 uploads, full load, ${size}`);
  for (const { days, ...figures } of byDays) console.log(`  ${String(days).padStart(9)} ${cost(figures)}`);
}

/** @param {Result[]} results @param {string} spool what spool_bench printed */
export function printAims(results, spool) {
  /** @type {[string, (result: Result) => number, (figure: number) => boolean, string][]} */
  const aims = [
    ['CPU of COPY jsonb over ours, in all, ≥ 3.5', (result) => (result.peers[1].cpu_us + result.peers[1].databaseCpu_us) / everything(result), (figure) => figure >= 3.5, '×'],
    ['CPU of COPY jsonb over ours, database, ≥ 20', (result) => result.peers[1].databaseCpu_us / database(result), (figure) => figure >= 20, '×'],
    ['rows of facts on disk, sealed, ≤ 1.0 kB (medium)', ({ stored }) => stored.packed / 1000, (figure) => figure <= 1, ' kB'],
    ['CPU before the database over inflate + parse, ≤ 2', ({ fleetprof, limit_us }) => before(fleetprof) / limit_us, (figure) => figure <= 2, '×'],
    ['reply p99 at half load, ≤ 20 ms', ({ half }) => half.p99_us / 1000, (figure) => figure <= 20, ' ms'],
    ['in SQL after the reply, ≤ 10 s', ({ fleetprof }) => fleetprof.lag_ms / 1000, (figure) => figure <= 10, ' s'],
    ['µs an upload in all, full load over half, < 1', ({ fleetprof, half }) => (fleetprof.cpu_us + fleetprof.databaseCpu_us) / (half.cpu_us + half.databaseCpu_us), (figure) => figure < 1, '×'],
    ['memory at full load, ≤ 96 MiB', ({ fleetprof }) => fleetprof.peakMiB, (figure) => figure <= 96, ' MiB'],
    ['memory idle, ≤ 16 MiB', ({ idleMiB }) => idleMiB, (figure) => figure <= 16, ' MiB'],
  ];
  console.log('\nAims');
  for (const [aim, figure, met, unit] of aims) {
    for (const result of results) {
      const value = figure(result);
      console.log(`  ${met(value) ? 'met   ' : 'missed'} ${aim.padEnd(52)} ${result.size.padEnd(7)} ${value.toFixed(2)}${unit}`);
    }
  }
  for (const row of spool.trim().split('\n').slice(1)) {
    const [group, , , value] = row.trim().split(/\s+/);
    console.log(`  ${Number(value) >= 1.5 ? 'met   ' : 'missed'} ${'spool over SQLite, ≥ 1.5'.padEnd(52)} ${`of ${group}`.padEnd(7)} ${value}×`);
  }
}
