// SPDX-License-Identifier: Apache-2.0
/** tools/reference.mjs: the manual's tables are what the sources say. tools/lint docs compares every page. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { withThresholds, written } from '../../tools/reference.mjs';
import { binDir, repository, runOrThrow } from './stack.mjs';

const page = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, 'docs', name), 'utf8');

test('what somebody changed by hand in a table is written again, and what stands around it stays', () => {
  const good = page('configuration.md');
  const changed = good.replace('| `limits.samples` | 200000 |', '| `limits.samples` | 100000 |').replace('# Configuration', '# The configuration');
  assert.notEqual(changed, good);
  assert.equal(written(changed, 'page'), good.replace('# Configuration', '# The configuration'));
  assert.equal(written(good, 'page'), good);
});

test('a block that cannot be written is named', () => {
  for (const [text, problem] of /** @type {[string, RegExp][]} */ ([
    ['<!-- reference: nothing -->\n<!-- /reference -->\n', /page: there is no table "nothing"/],
    ['<!-- reference: settings nothing -->\n<!-- /reference -->\n', /page: the table "settings nothing" has no row/],
    ['<!-- reference: settings spool -->\n', /page: a block has no end, or no begin/],
    ['<!-- reference: settings spool -->\n<!-- reference: settings http -->\n<!-- /reference -->\n', /page: a block has no end, or no begin/],
    ['text\n<!-- /reference -->\n', /page: a block has no end, or no begin/],
  ])) assert.throws(() => written(text, 'page'), problem, text);
});

test('texts of findings become Markdown: tags are code, paths are links, lines are no wider than the page', () => {
  const [, section] = /^### agent-no-endpoint\n([\s\S]*?)^### /m.exec(page('troubleshooting.md')) ?? assert.fail();
  assert.match(section, /^`<script src="[^`]*<\/script>`$/m);
  assert.match(page('troubleshooting.md'), /^Finish the upgrade \(\[operations\.md\]\(operations\.md#upgrades\)\)\.$/m);
});

test('alerts have the thresholds of status', () => {
  const file = 'config/prometheus/fleetprof_alerts.yml';
  const good = fs.readFileSync(path.join(repository, file), 'utf8');
  const changed = good.replaceAll('> 3600 # SITE_SILENT_S', '> 60 # SITE_SILENT_S').replace('> 0.8 # SPOOL_FILLING_SHARE', '> 0.9 # SPOOL_FILLING_SHARE');
  assert.notEqual(changed, good);
  assert.equal(withThresholds(changed), good);
  assert.throws(() => withThresholds(good.replace('# REFUSED_COUNT', '# REFUSED')), /there is no threshold REFUSED$/);
  assert.throws(() => withThresholds(good.replace(' # REFUSED_COUNT', '')), /no alert has the threshold REFUSED_COUNT$/);
});

test('what a metric says at /metrics is plain, and a metric without a text is of a name that has one', async () => {
  const { metrics } = JSON.parse(await runOrThrow([path.join(repository, 'build/trees/plain/tests/tools/reference_tables')]));
  assert.ok(metrics.length > 90);
  const described = new Set();
  for (const { name, labels, help } of metrics) {
    assert.doesNotMatch(help, /[`\n]|\]\(/, name);
    assert.equal(help !== '', !described.has(name), `${name}{${labels}}`);
    described.add(name);
  }
});

test('every setting is in a block, with its default', async () => {
  const sample = await runOrThrow([path.join(binDir, 'fleetprofd'), '--print-default-config']);
  const names = [...sample.matchAll(/^ *# \[(\S+)\] .*\n *(?:- )?(\w+): (.*)$/gm)].map(([, name, , value]) => ({ name, value }));
  const rows = new Map([...page('configuration.md').matchAll(/^\| `([a-z_.[\]]+)` \| ([^|]*) \| [^|]* \| (?:reload|restart) \| .{5,} \|$/gm)].map(([, name, value]) => [name, value]));
  assert.ok(names.length > 60);
  assert.deepEqual([...rows.keys()], names.map(({ name }) => name));
  for (const { name, value } of names) {
    const shown = rows.get(name) ?? '';
    assert.ok(shown === value || shown === 'required' || shown === 'none', `${name}: ${shown}, ${value}`);
  }
});

test('the limits of arms are those of the header', () => {
  const header = fs.readFileSync(path.join(repository, 'header_policy/arms.h'), 'utf8');
  const limit = (/** @type {string} */ name) => Number(new RegExp(`^#define FLEETPROF_${name} (\\d+)$`, 'm').exec(header)?.[1]);
  const manual = page('headers.md');
  const sentence = `At most ${limit('EXPERIMENTS_MAX')} experiments (\`a-z 0-9 _\`) of ${limit('ARMS_MAX')} arms (also \`A-Z -\`), ${limit('ARM_NAME_MAX')} characters a name, weights 1 to ${limit('ARM_WEIGHT_MAX')}.`;
  assert.ok(manual.includes(sentence), sentence);
});
