// SPDX-License-Identifier: Apache-2.0
/** The jobs of both forges are ./check --ci, and nothing of the project is on one forge alone. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import yaml from 'yaml';

import { repository, runOrThrow } from './stack.mjs';

/** @param {string} name @returns {string} */
const read = (name) => fs.readFileSync(path.join(repository, name), 'utf8');

/** @typedef {{ name: string, steps: string[], command: string, logs: string[], image: string }} Job */

/** @returns {Job[]} */
function githubJobs() {
  const { check } = yaml.parse(read('.github/workflows/ci.yml')).jobs;
  const command = check.steps.map((/** @type {any} */ { run }) => run).find((/** @type {string} */ run) => run?.startsWith('./check'));
  const { path: logs } = check.steps.find((/** @type {any} */ { uses }) => /upload-artifact/.test(uses)).with;
  return check.strategy.matrix.include.map((/** @type {any} */ { name, steps }) => ({
    name, steps: steps.split(' '), command: command.replace('${{ matrix.steps }}', 'STEPS'), logs: logs.trim().split('\n'), image: check.container.image,
  }));
}

/** @returns {Job[]} */
function gitlabJobs() {
  const { '.check': base, ...rest } = yaml.parse(read('.gitlab-ci.yml'));
  return Object.entries(rest).filter(([, job]) => job.extends === '.check').map(([name, { variables }]) => ({
    name, steps: variables.STEPS.split(' '), command: base.script[0].replace('$STEPS', 'STEPS'), logs: base.artifacts.paths, image: base.image,
  }));
}

/** The steps that ./check prints when asked what would run. @param {string[]} words */
async function planned(...words) {
  const plan = await runOrThrow([path.join(repository, 'check'), '--plan', ...words]);
  return plan.split('\n').filter((line) => /^\S/.test(line));
}

for (const [forge, jobs] of /** @type {[string, Job[]][]} */ ([['GitHub', githubJobs()], ['GitLab', gitlabJobs()]])) {
  test(`${forge}: four jobs run each step of ./check --ci once, as CI does, and keep the logs`, async () => {
    assert.equal(jobs.length, 4);
    const all = jobs.flatMap(({ steps }) => steps);
    assert.deepEqual([...all].sort(), (await planned('--ci')).sort());
    for (const { command, logs, image } of jobs) {
      assert.equal(command, './check --ci STEPS');
      assert.equal(image, 'debian:bookworm');
      assert.deepEqual(logs, ['build/check', 'build/fuzz/findings']);
    }
  });
}

test('both forges have the same jobs', () => {
  const [github, gitlab] = [githubJobs(), gitlabJobs()].map((jobs) => jobs.map(({ name, steps }) => ({ name, steps })));
  assert.deepEqual(gitlab, github);
});

test('a plan has the steps that run, and no others', async () => {
  const long = (/** @type {string} */ step) => /-long$|^(packages|chroot|stranger)-|^containers$/.test(step);
  const [usual, ci, all] = [await planned(), await planned('--ci'), await planned('--long')];
  assert.ok(usual.length > 15 && ci.length > usual.length && all.length > ci.length);
  assert.ok(usual.every((step) => ci.includes(step)) && ci.every((step) => all.includes(step)));
  assert.ok(!ci.some(long));
  assert.deepEqual(all.filter((step) => !ci.includes(step)), all.filter(long));
  assert.ok((await planned('debian')).includes('packages-trixie'));
});

/** @param {string} name without what only GitHub reads before it */
const body = (name) => read(name).replace(/^---\n[^]*?\n---\n\n/, '');

test('both forges have the same templates', () => {
  const issues = fs.readdirSync(path.join(repository, '.github/ISSUE_TEMPLATE')).sort();
  assert.ok(issues.length > 1);
  assert.deepEqual(fs.readdirSync(path.join(repository, '.gitlab/issue_templates')).sort(), issues);
  for (const name of issues) assert.equal(body(`.gitlab/issue_templates/${name}`), body(`.github/ISSUE_TEMPLATE/${name}`), name);
  assert.equal(read('.gitlab/merge_request_templates/Default.md'), read('.github/PULL_REQUEST_TEMPLATE.md'));
});

/** Fails for a program of the project that is not there, and for an option of Meson that it does not have. @param {string} line */
function assertRunnable(line) {
  for (const [program] of line.matchAll(/(?<![\w/])(?:\.|tools)\/\w[\w/-]*/g)) fs.accessSync(path.join(repository, program), fs.constants.X_OK);
  for (const [, option] of line.matchAll(/ -D(\w+)=/g)) assert.ok(read('meson_options.txt').includes(`option('${option}'`), option);
}

test('workflows, fuzzing and the development container are well-formed, and name files that exist', () => {
  for (const name of fs.readdirSync(path.join(repository, '.github/workflows'))) {
    const { name: title, on, jobs } = yaml.parse(read(`.github/workflows/${name}`));
    assert.ok(title && on, name);
    for (const { steps, 'runs-on': machine } of Object.values(jobs)) {
      assert.ok(machine && steps.length > 1, name);
      for (const { run = '' } of steps) assertRunnable(run);
    }
  }
  const { build, postCreateCommand } = JSON.parse(read('.devcontainer/devcontainer.json'));
  assertRunnable(postCreateCommand);
  const folder = path.join(repository, '.devcontainer');
  assert.ok(fs.existsSync(path.join(folder, build.dockerfile)));
  assert.equal(path.resolve(folder, build.context), path.resolve(repository));
  const { base_os_version: system } = yaml.parse(read('.clusterfuzzlite/project.yaml'));
  assert.match(read('.clusterfuzzlite/Dockerfile'), new RegExp(`^FROM \\S+:${system}$`, 'm'));
});
