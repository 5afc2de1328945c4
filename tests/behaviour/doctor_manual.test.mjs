// SPDX-License-Identifier: Apache-2.0
/** Doctor's findings and docs/troubleshooting.md, which tools/reference.mjs writes from them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { attributes, pageMistakes, rightSetups, serverMistakes } from './doctor_setups.mjs';
import { doctor, startApp } from './doctor_site.mjs';
import { binDir, repository, run } from './stack.mjs';

const page = fs.readFileSync(path.join(repository, 'docs/troubleshooting.md'), 'utf8');
const { findings: kinds } = await doctor(['--list']);
const ids = kinds.map(({ id }) => id);

/** Sections by their headings. @type {Map<string, string>} */
const sections = new Map(page.split(/^(?=##)/m).filter((text) => text.startsWith('### '))
  .map((text) => [text.slice(4, text.indexOf('\n')), text]));

test('each finding has a section, and each section a finding', () => {
  assert.ok(ids.length > 60);
  assert.deepEqual([...sections.keys()], ids);
});

test('each finding says what is wrong, why it matters and what to do', () => {
  for (const { id, what, why, fix } of kinds) for (const text of [what, why, fix]) assert.match(text, /\w{2,}/, id);
});

test('findings that pages show as examples have the words that doctor has for them', () => {
  let shown = 0;
  for (const file of fs.readdirSync(path.join(repository, 'docs')).filter((name) => name.endsWith('.md'))) {
    const text = fs.readFileSync(path.join(repository, 'docs', file), 'utf8');
    for (const [, severity, id, what, lines] of text.matchAll(/^(wrong|note): ([\w-]+): (.*)\n((?: {2}.*\n)*)/gm)) {
      const kind = kinds.find((each) => each.id === id) ?? assert.fail(`${file}: ${id}`);
      const said = (/** @type {string} */ label) => new RegExp(`^ {2}${label}: +(.*?)(?: …)?$`, 'm').exec(lines)?.[1];
      assert.deepEqual({ severity, what, why: said('why'), page: said('more') }, { severity: kind.severity, what: kind.what, why: kind.why, page: kind.page }, `${file}: ${id}`);
      assert.ok(kind.fix.startsWith(said('do')), `${file}: ${id}: ${said('do')}`);
      shown += 1;
    }
  }
  assert.ok(shown >= 2, `${shown}`);
});

test('every link of the table of symptoms leads to a section', () => {
  const links = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, id]) => id);
  assert.ok(links.length > 40);
  assert.deepEqual(links.filter((id) => !sections.has(id)), []);
});

test('every finding is made on purpose in some test', () => {
  const made = new Set(Object.values({ ...rightSetups, ...serverMistakes, ...pageMistakes }).flatMap(({ finds = [] }) => finds));
  const text = ['behaviour/doctor.test.mjs', 'behaviour/native.test.mjs', 'behaviour/doctor_machine.test.mjs', 'behaviour/status.test.mjs', 'behaviour/timezone.test.mjs', 'accidents/content_while_broken.test.mjs', 'accidents/clocks.test.mjs', 'accidents/poolers.test.mjs', 'unit/doctor/status_judge_test.c']
    .map((file) => fs.readFileSync(path.join(repository, 'tests', file), 'utf8')).join();
  // Its clock is this machine's.
  const untested = ids.filter((id) => !made.has(id) && ![`'${id}'`, `"${id}"`, `/${id}/`].some((quoted) => text.includes(quoted)) && id !== 'clock-database');
  assert.deepEqual(untested, []);
});

test('each option of the agent is in the manual, and each attribute has an example here', () => {
  const rows = [...fs.readFileSync(path.join(repository, 'docs/agent.md'), 'utf8').split('\n## Options\n')[1].split('\n## ')[0].matchAll(/^\| `(\w+)` \|(?: `(data-[a-z-]+)`)? \|/gm)];
  const [, list] = /^const optionNames = (\[[^\]]*\]);/m.exec(fs.readFileSync(path.join(repository, 'agent/src/load.js'), 'utf8')) ?? assert.fail();
  // The agent itself gives its parts the last two.
  const known = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name).filter((name) => !['load', 'url'].includes(name));
  assert.deepEqual(rows.map(([, name]) => name).sort(), known.sort());
  assert.deepEqual(rows.flatMap(([, , attribute]) => attribute ?? []).sort(), Object.keys(attributes).sort());
  for (const [, name, attribute] of rows) if (attribute) assert.equal(attribute, `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
});

test('doctor knows each attribute of the manual, and the values that it takes', async () => {
  /** The agent's tag with one attribute beside the endpoint, by host. @type {Record<string, import('./doctor_site.mjs').Setup>} */
  const setups = {};
  /** @type {Record<string, string | undefined>} what doctor must have seen */
  const expected = {};
  const add = (/** @type {string} */ attribute, /** @type {string} */ value, /** @type {string | undefined} */ seen) => {
    const host = `attribute${Object.keys(setups).length}`;
    const others = attribute === 'data-endpoint' ? '' : 'data-endpoint="/v1/ingest/pk_shop"';
    setups[host] = { tag: `<script src="/fleetprof-0.1.0.js" ${others} ${attribute}="${value}"></script>` };
    expected[host] = seen;
  };
  for (const [attribute, { right, wrong }] of Object.entries(attributes)) {
    for (const value of right) add(attribute, value, undefined);
    for (const value of wrong) add(attribute, value, `${attribute}="${value}" is not a valid value`);
    add(`${attribute}s`, right[0], `${attribute}s is not an option of the agent`);
  }
  const app = await startApp(setups);
  for (const [host, seen] of Object.entries(expected)) {
    const { findings } = await doctor(['--repeat', '1', app.url.replace('127.0.0.1', `${host}.localhost`)]);
    const found = findings.filter(({ id }) => id === 'agent-option').map((finding) => finding.seen);
    assert.deepEqual(found, seen === undefined ? [] : [seen], setups[host].tag);
  }
  app.stop();
});

for (const [what, args, message] of /** @type {[string, string[], RegExp][]} */ ([
  ['an address that is not http', ['ftp://shop.example/'], /not an http or https URL/],
  ['two addresses', ['http://a.example/', 'http://b.example/'], /one URL/],
  ['no repeats', ['--repeat', '0', 'http://a.example/'], /--repeat takes a whole number from 1 to 1000/],
  ['too many repeats', ['--repeat', '1001', 'http://a.example/'], /from 1 to 1000/],
  ['an invalid rate', ['--rate', '200%', 'http://a.example/'], /--rate 200%/],
  ['an unknown finding', ['--ignore', 'nothing', 'http://a.example/'], /no finding "nothing"/],
])) {
  test(`wrong use: ${what}`, async () => {
    const { code, stderr, stdout } = await run([path.join(binDir, 'fleetprof'), 'doctor', ...args]);
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.equal(stdout, '');
  });
}

test('a host that does not answer cannot be checked: exit code 2', async () => {
  const { code, stderr } = await doctor(['http://127.0.0.1:1/']);
  assert.equal(code, 2);
  assert.match(stderr, /could not fetch http:\/\/127\.0\.0\.1:1\//);
});
