/** docs/troubleshooting.md and doctor's findings say the same. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { pageMistakes, rightSetups, serverMistakes } from './doctor_setups.mjs';
import { doctor } from './doctor_site.mjs';
import { binDir, repository, run } from './stack.mjs';

const page = fs.readFileSync(path.join(repository, 'docs/troubleshooting.md'), 'utf8');
const { findings: kinds } = await doctor(['--list']);
const ids = kinds.map(({ id }) => id);

/** Sections by their headings. @type {Map<string, string>} */
const sections = new Map(page.split(/^(?=##)/m).filter((text) => text.startsWith('### '))
  .map((text) => [text.slice(4, text.indexOf('\n')), text]));

/** Without line breaks, which the page has elsewhere. @param {string} text */
const flat = (text) => text.replace(/\s+/g, ' ').trim();

test('each finding has a section, and each section a finding', () => {
  assert.ok(ids.length > 60);
  assert.deepEqual([...sections.keys()], ids);
});

for (const { id, what, why, fix, nginx, httpd, express } of kinds) {
  test(`the section ${id} has the finding's words and lines`, () => {
    const section = sections.get(id) ?? '';
    for (const text of [what, why, fix]) assert.ok(!text || flat(section).includes(flat(text)), text);
    for (const [language, lines] of [['nginx', nginx], ['apache', httpd], ['js', express]]) {
      assert.equal(section.includes(`\`\`\`${language}\n`), Boolean(lines), language);
      assert.ok(!lines || section.includes(`\`\`\`${language}\n${lines}\n\`\`\``), lines);
    }
  });
}

test('every link of the table of symptoms leads to a section', () => {
  const links = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, id]) => id);
  assert.ok(links.length > 40);
  assert.deepEqual(links.filter((id) => !sections.has(id)), []);
});

test('every finding is made on purpose in some test', () => {
  const made = new Set(Object.values({ ...rightSetups, ...serverMistakes, ...pageMistakes }).flatMap(({ finds = [] }) => finds));
  const text = ['behaviour/doctor.test.mjs', 'behaviour/doctor_machine.test.mjs', 'behaviour/status.test.mjs', 'unit/doctor/status_judge_test.c']
    .map((file) => fs.readFileSync(path.join(repository, 'tests', file), 'utf8')).join();
  // Its clock is this machine's.
  const untested = ids.filter((id) => !made.has(id) && ![`'${id}'`, `"${id}"`].some((quoted) => text.includes(quoted)) && id !== 'clock-database');
  assert.deepEqual(untested, []);
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
