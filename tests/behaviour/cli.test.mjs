// SPDX-License-Identifier: Apache-2.0
/** fleetprof without a server: help, wrong usage, validate. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { dimensions } from '../../tools/filters.mjs';
import { everyCommand } from './commands.mjs';
import { binDir, repository, run, temporaryDir } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('cli');
const manual = fs.readFileSync(path.join(repository, 'docs/cli.md'), 'utf8');
const every = await everyCommand();
const commands = every.map(({ name }) => name);
const { stdout: filters } = await fleetprof(['help', 'filters']);
/** Names that only group commands. */
const families = [...new Set(commands.flatMap((name) => name.split(' ').map((_, i, words) => words.slice(0, i).join(' '))))].filter(Boolean);

/** @param {string[]} args @param {Parameters<typeof run>[1]} [options] */
function fleetprof(args, options) {
  return run([program, ...args], { env: { FLEETPROF_DATABASE: '' }, ...options });
}

/** @param {string} name @param {string | Buffer} content */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, content);
  return full;
}

const trace = {
  frames: [{ name: 'outer', resourceId: 0, line: 1, column: 2 }, { name: 'inner', resourceId: 0, line: 3, column: 4 }],
  resources: ['https://shop.example/app.js'],
  stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
  samples: [{ timestamp: 0, stackId: 1 }, { timestamp: 10, stackId: 0 }, { timestamp: 20 }],
};

test('--version names the program and its version', async () => {
  const { code, stdout } = await fleetprof(['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^fleetprof \d+\.\d+\.\d+\n$/);
});

test('the manual has every command, and no other', () => {
  const words = (/** @type {string} */ name) => name.split(' ')[0];
  const listed = [...manual.split('\n## ')[0].matchAll(/^\| \[`([a-z -]+)`\]/gm)].map(([, name]) => name);
  assert.deepEqual(listed.map(words).sort(), [...new Set(commands.map(words))].sort());
  for (const name of listed) assert.match(manual, new RegExp(`^## ${name}$`, 'm'));
});

test('every command, and every command of a command, knows the options that all know, and help explains it', async () => {
  for (const command of [...commands, ...families]) {
    const words = command.split(' ');
    const said = await Promise.all(['-?', '--help', '--usage', '-V', '--version'].map((option) => fleetprof([...words, option])));
    for (const { code, stderr } of said) assert.deepEqual([code, stderr], [0, ''], command);
    const [help, same, usage, version, sameVersion] = said.map(({ stdout }) => stdout);
    assert.equal(same, help);
    assert.match(help, new RegExp(`^Usage: fleetprof ${words[0]} `));
    assert.match(usage, /^Usage: fleetprof /);
    assert.match(version, /^fleetprof \d/);
    assert.equal(sameVersion, version);
    assert.equal((await fleetprof(['help', ...words])).stdout, help);
  }
});

const ofSide = new RegExp(`^--(before|after)-(${dimensions.join('|').replaceAll('_', '-')})$`);
/** The options in a text. Those of each dimension, of one side, are --before-NAME and --after-NAME in the manual. @param {string} text */
const optionsIn = (text) => [...text.matchAll(/--[a-z][a-z-]*(?:NAME)?/g)].map(([option]) => option.replace(ofSide, '--$1-NAME'));

test('--help of a command lists filters on few lines, and help explains them', () => {
  for (const { name, help } of every.filter((command) => command.help.includes('--FILTER=PATTERN'))) {
    assert.doesNotMatch(help, /--(browser|network|drawn)=/, name);
    assert.match(help.replace(/\s+/g, ' '), /--FILTER=PATTERN environment, variant, browser, .*: `fleetprof help filters' explains them/, name);
  }
  assert.match(filters, /^ {6}--browser=PATTERN {6}browser families/m);
  assert.match(filters, /^ {2}-r, --release=PATTERN/m);
  assert.ok(filters.split('\n').every((line) => line.length <= 80));
});

test('-s, -S and -r are --site, --since and --release, wherever these are', () => {
  for (const { name, help } of every)
    for (const [, letter, option] of help.matchAll(/^ {2}(?:-(\w), | {4})--(site|since|release)=/gm)) assert.equal(letter, { site: 's', since: 'S', release: 'r' }[option], `${name} --${option}`);
});

test('every option in --help has an entry in the manual', () => {
  for (const { name, help } of every) {
    assert.ok(optionsIn(help).length > 2);
    // Commands of a command may share their sentences.
    const entry = (/** @type {string} */ option) => new RegExp(name.includes(' ') ? `${option}[^a-z-]` : `\`${option}[ \`]`);
    for (const option of optionsIn(help)) assert.match(manual, entry(option), `docs/cli.md has no entry for ${option} of ${name}`);
  }
});

test('every option in a table of the manual is in the --help of a command that the section is about', () => {
  const found = manual.split('\n## ').slice(1).flatMap((section) => {
    const [heading] = section.split('\n');
    const own = /^Which /.test(heading) ? [{ help: filters }] : every.filter(({ name }) => name.split(' ')[0] === heading);
    const rows = [...section.matchAll(/^\| option[^|]*\|[^]*?(?=\n(?!\|))/gm)].flatMap(([table]) => table.split('\n').slice(2));
    const options = rows.flatMap((row) => optionsIn(row.slice(2).split(' | ')[0]));
    for (const option of options) assert.ok(own.some(({ help }) => optionsIn(help).includes(option)), `docs/cli.md, ${heading}: ${option}`);
    return options;
  });
  assert.ok(found.length > 80, `${found.length}`);
});

test('the formats of the manual are those of export and of its help', async () => {
  const table = manual.split('\n| format | for |\n')[1].split('\n\n')[0];
  const documented = [...table.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
  const { stderr } = await fleetprof(['export', '--format', 'perf']);
  assert.equal(/there are (.*)/.exec(stderr)?.[1], documented.join(', '));
  const help = every.find(({ name }) => name === 'export')?.help ?? '';
  const without = documented.filter((name) => !new RegExp(`^ +${name} `, 'm').test(help));
  assert.deepEqual(without, []);
});

for (const [what, args, stderr] of /** @type {[string, string[], RegExp][]} */ ([
  ['no command', [], /^Usage: fleetprof .*Commands:/s],
  ['an unknown command', ['burn'], /unknown command "burn".*\n.*migrate/s],
  ['a mistyped command', ['tpo'], /unknown command "tpo"\n.*hint: Did you mean "top"\?\n$/],
  ['a mistyped command of a command', ['spool', 'dead-letter', 'list'], /spool has no command "dead-letter"\n.*hint: Did you mean "dead-letters"\?\n$/],
  ['a mistyped second word', ['spool', 'dead-letters', 'lst'], /hint: Did you mean "list"\?\n$/],
  ['a mistyped option', ['top', '--sice', '2h'], /top has no option "--sice"\n.*hint: Did you mean --since\?\n$/],
  ['a mistyped option with a value', ['top', '--site', '--sice', '--relase=1'], /top has no option "--relase=1"\n.*hint: Did you mean --release\?\n$/],
  ['help of an unknown command', ['help', 'burn'], /unknown command "burn"/],
  ['help of an unknown command of a command', ['help', 'session', 'burn'], /session has no command "burn"/],
  ['help of too much', ['help', 'a', 'b', 'c', 'd'], /help takes one command/],
  ['a command of a command that is cut short', ['spool', 'dead-letters'], /^Usage: fleetprof spool COMMAND.*dead-letters list/s],
  ['an unknown one', ['spool', 'dead-letters', 'burn'], /spool dead-letters has no command "burn"\n.*dead-letters list/s],
  ['an unknown option', ['top', '--colour'], /fleetprof top: unrecognized option '--colour'/],
  ['an argument too many', ['top', 'shop'], /Too many arguments/],
  ['an unknown format', ['export', '--format', 'perf'], /unknown format "perf"; there are folded, speedscope, gecko, chrome, pprof/],
  ['no format', ['export'], /--format is missing; there are folded, speedscope, gecko, chrome, pprof/],
  ['a top that is not a number', ['top', '--top', 'ten'], /--top takes a number from 1 on, not "ten"/],
  ['a top of nothing', ['top', '--top', '0'], /--top takes a number from 1 on, not "0"/],
  ['a marker for timings', ['timings', '--marker', 'gc'], /unrecognized option '--marker'/],
  ['validate without a file', ['validate'], /no file was named/],
  ['import without a file', ['import', '--url', 'http://127.0.0.1:1/'], /no file was named/],
  ['a configuration that is not there', ['top', '-c', '/nonexistent/f.yaml'], /could not read the configuration\n.*\/nonexistent\/f\.yaml/],
  ['a database that is not there', ['top', '-d', 'host=/nonexistent'], /could not connect to the database\n.*detail: .*\/nonexistent/],
  ['a file that is not there', ['validate', '/nonexistent/trace.json'], /could not read \/nonexistent\/trace\.json: No such file/],
  ['a directory as file', ['validate', '/'], /could not read \/: Is a directory/],
])) {
  test(`wrong use: ${what} exits with 2 and says what is wrong`, async () => {
    const result = await fleetprof(args);
    assert.match(result.stderr, stderr);
    assert.equal(result.stdout, '');
    assert.equal(result.code, 2);
  });
}

test('a database is asked for when none is named', { skip: fs.existsSync('/etc/fleetprof/fleetprof.yaml') }, async () => {
  const { code, stderr } = await fleetprof(['migrate']);
  assert.equal(code, 2);
  assert.match(stderr, /no database was named\n.*hint: .*FLEETPROF_DATABASE/);
});

test('what could not be written is an error', async () => {
  const { code, stderr } = await run(['sh', '-c', `"${program}" validate --json - >/dev/full`], { input: JSON.stringify(trace) });
  assert.match(stderr, /could not write to standard output: No space left on device/);
  assert.equal(code, 2);
  for (const words of ['--help', 'top --help', 'help top', '--version']) {
    assert.equal((await run(['sh', '-c', `"${program}" ${words} >/dev/full`])).code, 2, words);
  }
});

test('validate counts what a file holds', async () => {
  const { code, stdout, stderr } = await fleetprof(['validate', '--json', file('trace.json', JSON.stringify(trace))]);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), [{
    file: path.join(dir, 'trace.json'), valid: true, format: 'self-profile', samples: 3, frames: 2, stacks: 2,
    profiled_ms: 30, unattributed_ms: 10, timings: 0, events: 0, timelines: 0, session: null, truncated: false,
    records_read: null, records_kept: null, records_refused: null, notes: [], pointer: null, offset: null, detail: null,
  }]);
});

test('validate prints a table with one line per file', async () => {
  const entries = [{ name: 'hero', entryType: 'mark', startTime: 12.5, duration: 0 }];
  const { code, stdout } = await fleetprof(['validate', file('trace.json', JSON.stringify(trace)),
    file('entries.json', JSON.stringify(entries))]);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split('\n').map((line) => line.split('\t'));
  assert.equal(lines.length, 3);
  assert.deepEqual(lines[0], ['FILE', 'FORMAT', 'SAMPLES', 'FRAMES', 'STACKS', 'PROFILED MS', 'UNATTRIBUTED MS', 'TIMINGS', 'EVENTS']);
  assert.deepEqual(lines[1], [path.join(dir, 'trace.json'), 'self-profile', '3', '2', '2', '30.0', '10.0', '0', '0']);
  assert.deepEqual(lines[2], [path.join(dir, 'entries.json'), 'user-timing', '0', '0', '0', '0.0', '0.0', '1', '0']);
});

test('validate names where and why a file is invalid, goes on, and exits with 1', async () => {
  const bad = { ...trace, samples: [{ timestamp: 0, stackId: 2 }] };
  const badFile = file('bad.json', JSON.stringify(bad));
  const cutFile = file('cut.json', '{"frames":[');
  const { code, stdout, stderr } = await fleetprof(['validate', badFile, cutFile, file('trace.json', JSON.stringify(trace))]);
  assert.equal(code, 1);
  const [first, second] = stderr.split('\n');
  assert.match(first, new RegExp(`^${badFile}: /samples/0/stackId: .*2`));
  assert.match(second, new RegExp(`^${cutFile}: byte \\d+: \\S`));
  assert.match(stdout, /trace\.json/);
  assert.doesNotMatch(stdout, /bad\.json/);
});

test('validate --json holds the invalid files too', async () => {
  const { code, stdout, stderr } = await fleetprof(['validate', '--json', file('cut.json', '{"frames":[')]);
  assert.equal(code, 1);
  assert.equal(stderr, '');
  const [row] = JSON.parse(stdout);
  assert.equal(row.valid, false);
  assert.equal(row.samples, null);
  assert.equal(typeof row.offset, 'number');
  assert.match(row.detail, /JSON/);
});

test('an unreadable file beats an invalid one: exit 2', async () => {
  const { code } = await fleetprof(['validate', '/nonexistent', file('cut.json', '{')]);
  assert.equal(code, 2);
});

test('validate reads standard input', async () => {
  const { code, stdout } = await fleetprof(['validate', '-'], { input: JSON.stringify(trace) });
  assert.equal(code, 0);
  assert.match(stdout, /^standard input\tself-profile/m);
});

test('validate inflates by name and by magic', async () => {
  const text = JSON.stringify(trace);
  const { code, stdout, stderr } = await fleetprof(['validate', '--json', file('t.json.gz', zlib.gzipSync(text)),
    file('t.json.br', zlib.brotliCompressSync(text)), file('gzip-without-name', zlib.gzipSync(text))]);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).map((/** @type {any} */ row) => row.samples), [3, 3, 3]);
});

test('validate takes its limits from a configuration', async () => {
  const config = file('limits.yaml', `
listen: 127.0.0.1:8600
database: dbname=fleetprof
spool: { path: ${dir}/spool }
limits: { samples: 2 }
sites: [{ name: demo, key: pk_demo }]
`);
  const traceFile = file('trace.json', JSON.stringify(trace));
  const { code, stderr } = await fleetprof(['validate', '-c', config, traceFile]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`^${traceFile}: /samples: .*2`));
});

test('a file cannot steer the terminal: control characters are not repeated', async () => {
  const controls = '\u001b\u009b\u007f\u061c\u200f\u202e\u2066';
  const evil = { ...trace, [`${controls}[2J`]: 1, samples: [{ timestamp: 0, stackId: `${controls}[31m` }] };
  const { stderr } = await fleetprof(['validate', file(`evil${controls}[2J–é.json`, JSON.stringify(evil))]);
  assert.match(stderr, /\[2J–é\.json/);
  const dump = file(`dump${controls}.ndjson`, '{"type":0,"time":1000,"duration":5,"data":{}}\n');
  const { stdout } = await fleetprof(['validate', dump]);
  assert.match(stdout, /dump\?+\.ndjson: 1 of 1 records kept/);
  const server = http.createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8')
    .end(`<script defer src="/fleetprof-0.1.0.js" data-endpoint="/v1" data-x="${controls}[2J"></script>`)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const { stdout: findings } = await fleetprof(['doctor', '--repeat', '1', `http://127.0.0.1:${port}/`]);
  server.close();
  assert.match(findings, /seen: +<script .*\?\[2J/);
  for (const control of controls) assert.ok(![stderr, stdout, findings].join().includes(control), control.codePointAt(0)?.toString(16));
});

test('on a terminal --csv and --json do not repeat control characters either; elsewhere they are whole', async () => {
  const steering = '\u0007\u001b\u007f\u0085\u009b\u061c\u200b\u200f\u202e\u2066\u2060\ufeff\u2062\u206a\ufff9\u{e0041}';
  const name = file(`a${steering}z–é.json`, JSON.stringify(trace));
  const shell = `'${path.join(binDir, 'fleetprof')}' validate "$FILE"`;
  const env = { ...process.env, FILE: name, TERM: 'dumb' };
  const onTerminal = async (/** @type {string} */ form) => {
    const { stdout, code } = await run(['script', '-qec', `stty cols 200; ${shell} ${form}`, '/dev/null'], { env });
    assert.equal(code, 0, stdout);
    return stdout.replaceAll('\r\n', '\n');
  };
  const csv = await onTerminal('--csv');
  assert.match(csv, /a\\x07\\x1b\\x7f\\xc2\\x85\\xc2\\x9b\?{11}z–é\.json/);
  const json = await onTerminal('--json');
  assert.equal(JSON.parse(json)[0].file, name, 'an escape means the same character');
  assert.match(json, /\\u009b/);
  const table = await onTerminal('');
  for (const text of [csv, json, table])
    for (const character of steering) assert.ok(!text.includes(character), `${character.codePointAt(0)?.toString(16)} in ${JSON.stringify(text)}`);
  for (const form of ['--csv', '--json']) {
    const { stdout } = await fleetprof(['validate', form, name]);
    assert.ok(stdout.includes('\u009b') && stdout.includes('\u202e') && stdout.includes('\u200b'), form);
  }
});
