// SPDX-License-Identifier: Apache-2.0
/**
 * Writes the manual's tables of what the sources define, such as settings: what stands between the lines
 * <!-- reference: TABLE ARGUMENT --> and <!-- /reference --> of a page. People write the rest.
 *
 *     node tools/reference.mjs            writes each block that differs, config/fleetprof.yaml, and thresholds of alerts
 *     node tools/reference.mjs --check    names them instead, and fails
 *
 * Build first: build/bin and build/trees/plain have the tables.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { dimensions, filters } from './filters.mjs';
import { marks, routes, silent } from './frameworks.mjs';
import { linesOf, sources } from './log_lines.mjs';
import { questionOf, questions, typeOf } from './questions.mjs';
import { vitalChanges, vitals } from './vitals.mjs';

/** @typedef {Record<string, string>} Row */

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (/** @type {string} */ file) => fs.readFileSync(file, 'utf8');
const output = (/** @type {string} */ program, /** @type {string[]} */ ...args) => execFileSync(path.join(root, program), args, { encoding: 'utf8' });

/** Returns the --help of a command, one line per option. @param {string} command */
const helpOf = (command) => execFileSync(path.join(root, 'build/bin/fleetprof'), [...command.split(' ').filter(Boolean), '--help'], { encoding: 'utf8', env: { ...process.env, ARGP_HELP_FMT: 'opt-doc-col=60,rmargin=10000' } });

/** @type {Record<string, Row[]>} */
const tables = JSON.parse(output('build/trees/plain/tests/tools/reference_tables'));

/** A row of a table. A bar within a cell would begin the next one. @param {string[]} cells */
const row = (cells) => `|${cells.map((text) => (text === '' ? ' ' : ` ${text.replaceAll('|', '\\|')} `)).join('|')}|`;

/** @param {string[]} names of the columns @param {string[][]} rows */
const table = (names, rows) => [row(names), `|${'---|'.repeat(names.length)}`, ...rows.map(row)];

/** Writes the lines of a block, by what stands behind `reference:`, and what it holds. @type {Record<string, (argument: string, old: string) => string[]>} */
const writers = {
  /** @param {string} section of the file; '' is what stands in none */
  settings: (section) => {
    const inSection = (/** @type {Row} */ { name }) => (section === '' ? !name.includes('.') : name.startsWith(`${section}.`) || name.startsWith(`${section}[]`));
    return table(['setting', 'default', 'range', 'change', 'meaning'], tables.settings.filter(inSection)
      .map(({ name, value, range, change, help }) => [`\`${name}\``, value, range, change, help]));
  },
  /** @param {string} as parameters of SQL, or options of the command line */
  filters: (as) => (as === 'parameters'
    ? table(['filter', 'default', 'stratum', 'meaning'], [
      ['`site`', '', 'always', "the site's name in the collector's configuration"],
      ['`since`', "`now() - interval '1 day'`", '', 'from this time on'],
      ['`until`', '`now()`', '', 'buckets that overlap [`since`, `until`) count, whole; null means no bound. Before `retention.hours` whole days count'],
      ...filters.map(({ name, default: usual, strata, help }) => [`\`${name}\``, usual === 'null' ? usual : `\`${usual}\``, strata, help]),
    ])
    : table(['option', 'meaning'], [
      ['`-s`, `--site NAME`', 'the site; not needed when the database has only one; `%` for all sites'],
      ['`-S`, `--since WHEN`', 'from this time on; default: `1d`'],
      ['`--until WHEN`', 'before this time; default: now'],
      ...filters.map(({ option, placeholder, default: usual, help }) => [
        `${option === 'release' ? '`-r`, ' : ''}\`--${option} ${placeholder}\``, usual === 'null' ? help : `${help}; default: \`${usual.replaceAll("'", '')}\``,
      ]),
      ['`--exclude FILTER=PATTERN`', 'leave out what this filter selects: `--exclude browser=Headless%`; once for each of the filters from `--route` on'],
    ])),
  /** @param {string} rooms */
  metrics: (rooms) => table(['metric', 'type', 'meaning'], metricRows(rooms)),
  /** @param {string} group */
  findings: (group) => tables.findings.filter((finding) => finding.group === group).flatMap(findingSection),
  alerts: () => table(['alert', 'severity', 'when', 'what to do'], rulesOf('alerts', 'alert').map(({ name, about, text }) => {
    const severity = /severity: (\w+)/.exec(text)?.[1] ?? '';
    const [, page, section] = /manual: docs\/(\S+)#(\S+)/.exec(text) ?? [];
    return [`\`${name}\``, severity, about, `[${section}](${page}#${section})`];
  })),
  series: () => table(['series', 'what it is'], rulesOf('recording', 'record').map(({ name, about }) => [`\`${name}\``, about])),
  vital_parts: () => table(['vital', 'parts'], vitals.filter(({ parts }) => parts.length > 0)
    .map(({ name, parts }) => [`\`${name}\``, parts.map((part) => `\`${part.name}\` (\`${part.member}\`)`).join(', ')])),
  vital_changes: () => table(['vitals', 'browsers', 'from version', 'since', 'what changed'], vitalChanges.map(({ names, browsers, version, since, source, meaning }) =>
    [names.map((name) => `\`${name}\``).join(', '), browsers.join(', '), `${version}`, since, `${meaning} ([source](${source}))`])),
  vitals: () => table(['vital', 'unit', 'good up to', 'poor above', 'meaning'],
    vitals.map(({ name, unit, good, poor, meaning }) => [`\`${name}\``, unit, `${good}`, `${poor}`, meaning])),
  framework_options: () => table(['option', 'default', 'meaning'], [...read(path.join(root, 'integrations/javascript/build.js'))
    .matchAll(/^ \* @property \{.*\} (\[?)(\w+)\]? (.*?)(?: \(([^()]*)\))?$/gm)].map(([, optional, name, help, usual]) => [`\`${name}\``, optional ? usual ?? 'none' : 'required', help])),
  silent_frameworks: () => table(['framework', 'its production build marks nothing'], silent),
  framework_routes: () => table(['framework', 'begins', 'ends'], routes),
  frameworks: () => table(['framework', 'kind', 'name', 'what it is', 'when'],
    marks.map(({ framework, version, kind, name, covers, when }) => [`${framework} ${version}`, kind, `\`${name}\``, covers, when])),
  /** Levels and fields come from the code; what a line means, and what to do, stands only here. */
  log: (_, old) => {
    const known = linesOf(sources);
    return table(['level', 'message', 'fields', 'meaning', 'what to do'], [...old.matchAll(/^\| [^|]*\| `([^`]+)` \|[^|]*\| (.+?) \| ?(.*?) ?\|$/gm)].map(([, message, meaning, advice]) => {
      const line = known.get(message);
      if (!line) throw new Error(`no line is logged with the message "${message}"`);
      return [line.levels.join(', '), `\`${message}\``, line.fields.map((field) => `\`${field}\``).join(' '), meaning, advice];
    }));
  },
  /** @param {string} name */
  question: (name) => questionSection(questionOf(name)),
  routes: () => table(['route', 'filters', 'its own parameters, with the option of the command', 'command'], questions.flatMap(route)),
  commands: () => table(['command', 'what it does'], [...(helpOf('').split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}(\S+) +(.*)$/gm)]
    .map(([, name, about]) => [name === 'help' ? '`help`' : `[\`${name}\`](#${name})`, about])),
  /** @param {string} command */
  options: (command) => table(['option', 'meaning'], [
    ...optionsOf(command).filter(({ name, help }) => !isShared(name, help)).map(({ option, help }) => [option, marked(help)]), ...columnsRow(command),
  ]),
  refusals: () => table(['reason', 'status', 'what is wrong'], tables.refusals.map(({ name, status, text }) => [`\`${name}\``, status, text])),
};

/** The options of a command that --help explains: their names, and the text. @param {string} command */
function optionsOf(command) {
  return [...helpOf(command).matchAll(/^ {2}(?:-(\w), | {4})--([a-z-]+)(\[?=[^ \]\n]+\]?)? {2,}(.*)$/gm)].map(([, letter, name, value = '', help]) => {
    const long = `--${name}${value.startsWith('=') ? ` ${value.slice(1)}` : value}`;
    return { name, option: letter ? `\`-${letter}\`, \`${long}\`` : `\`${long}\``, help };
  });
}

/** True for an option that the manual explains once for all commands: filters, and those of `markers`, which has no others. @param {string} name @param {string} help */
const isShared = (name, help) => filters.some(({ option, plain }) => option === name && help.startsWith(plain))
  || optionsOf('markers').some((other) => other.name === name && other.help === help);

/** Returns text of --help with its code marked. @param {string} text */
const marked = (text) => text.replace(/`([^']+)'/g, '`$1`').replace(/(?<![\w`/-])(--[a-z][a-z-]+(?:=\w+)?|\$[A-Z_]+|(?:dead_letters|retention|spool)\.[a-z_]+|fleetprof_[a-z]+|performance\.[a-z]+\(\)|https?:\/\/[^\s)]*[^\s).,;]|~?\/(?:[a-z.]+\/)*[a-z.]*[a-z])(?![\w`/])/g, '`$1`');

/** Returns the row for the columns of a command that prints the rows of questions. Without summaries: they stand below the rows. @param {string} command */
function columnsRow(command) {
  const withoutRows = optionsOf(command).filter(({ help }) => help.includes('not with --json')).map(({ name }) => `${command} --${name}`);
  const own = questions.filter(({ name, kind, serves }) => serves && kind !== 'json' && serves.command.replace(/ --.*/, '') === command && !withoutRows.includes(serves.command) && !name.endsWith('_summary'));
  return own.length === 0 || !optionsOf(command).some(({ name }) => name === 'json') ? [] : [['`--json`, `--csv`', `every column of ${own.map(({ name }) => `[\`${name}\`](sql.md#${name})`).join(', ')}`]];
}

/** A metric's name with its labels. @param {Row} metric @param {boolean} isOnly whether no other has its name */
function series({ name, labels }, isOnly) {
  if (labels === '') return `\`${name}\``;
  // A label without values, and one that is always there, have them from elsewhere: the configuration, the build.
  const shown = labels.replace(/(\w+)(="[^"]*")?/g, (_, label, value) => `${label}${isOnly || !value ? '="…"' : value}`);
  return `\`${name}{${shown}}\``;
}

/** Metrics of some rooms. Of one name, those that need no text of their own are in the row before them. @param {string} rooms */
function metricRows(rooms) {
  const metrics = rooms.split(' ').flatMap((room) => tables.metrics.filter((metric) => metric.room === room));
  /** @type {string[][]} */
  const rows = [];
  for (const metric of metrics) {
    const { name, type, labels, help, more } = metric;
    const others = metrics.filter((other) => other.name === name && other !== metric);
    const value = /"(.*)"/.exec(labels)?.[1];
    const isOfValue = help && more && others.some((other) => other.more);
    const text = [help, isOfValue ? `\`${value}\`: ${more}` : more].filter(Boolean).join('. ');
    if (text) rows.push([series(metric, others.length === 0), type, text]);
    else rows[rows.length - 1][0] += `, \`${value}\``;
  }
  return rows;
}

/** Rules for Prometheus, each with the comment above it. @param {string} file @param {string} kind */
function rulesOf(file, kind) {
  const text = read(path.join(root, `config/prometheus/fleetprof_${file}.yml`));
  const rules = [...text.matchAll(new RegExp(`^ +# (.*)\\.\\n +- ${kind}: (\\S+)\\n((?:.+\\n)+)`, 'gm'))];
  const all = text.match(new RegExp(`^ +- ${kind}:`, 'gm')) ?? [];
  if (rules.length !== all.length) throw new Error(`fleetprof_${file}.yml: a rule has no comment above it`);
  return rules.map(([, about, name, rest]) => ({ name, about, text: rest }));
}

const alertsFile = path.join(root, 'config/prometheus/fleetprof_alerts.yml');

/** Returns alerts with the thresholds of `fleetprof status`, which a comment behind the number names. @param {string} text */
export function withThresholds(text) {
  const unused = new Map(tables.thresholds.map(({ name, value }) => [name, value]));
  const found = new Map(unused);
  const alerts = text.replace(/> \S+ # ([A-Z_]+)$/gm, (_, name) => {
    const value = found.get(name);
    if (value === undefined) throw new Error(`fleetprof_alerts.yml: there is no threshold ${name}`);
    unused.delete(name);
    return `> ${value} # ${name}`;
  });
  if (unused.size > 0) throw new Error(`fleetprof_alerts.yml: no alert has the threshold ${[...unused.keys()].join(', ')}`);
  return alerts;
}

const columns = 120;

/** Returns the words of a sentence; code is one word. @param {string} sentence */
const wordsOf = (sentence) => sentence.match(/(?:`[^`]*`|\S)+/g) ?? [];

/** Joins words into lines that are not too wide. @param {string[]} words */
function joined(words) {
  /** @type {string[]} */
  const lines = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Breaks a sentence where its line would be too wide. @param {string} sentence */
const wrapped = (sentence) => joined(wordsOf(sentence));

/** Returns plain text as lines of Markdown, with its tags as code and its pages as links. @param {string} text */
function prose(text) {
  const marked = text.replace(/<[a-z][^>]*>(<\/\w+>)?/g, '`$&`')
    .replace(/docs\/([\w/-]+\.md)(#[\w-]+)?/g, (_, page, section = '') => `[${page}](${page}${section})`);
  return marked.split(/(?<=[.)]) (?=[A-Z`])/).filter(Boolean).flatMap(wrapped);
}

/** @param {Row} finding */
function findingSection({ name, severity, what, why, fix, nginx, httpd, express }) {
  const lines = [`### ${name}`, '', `**${what}**${severity === 'note' ? ' (A note.)' : ''}`, ...[why, fix].flatMap(prose), ''];
  for (const [language, text] of Object.entries({ nginx, apache: httpd, js: express })) {
    if (text) lines.push(`\`\`\`${language}`, ...text.split('\n'), '```', '');
  }
  return lines;
}

const code = (/** @type {string[]} */ names) => names.map((name) => `\`${name}\``).join(', ');

/** Returns the names of columns for a row; all dimensions together are one entry. @param {string[]} names */
function columnsInWords(names) {
  if (!dimensions.every((name) => names.includes(name))) return code(names);
  return `${code(names.filter((name) => !dimensions.includes(name)))}, each [dimension](#filters)`;
}

/** How a heading names the filters of a function. @type {Record<string, string>} */
const filtersInWords = {
  'filters of samples': 'filters', filters: 'filters without marker', 'filters of both sides': 'filters without release and marker', 'dimensions of both sides': 'filters without release and marker',
  'dimensions of each side': 'filters without release and marker, filters of each side',
};
/** The words for a set of filters. @param {string} set */
const setInWords = (set) => (set.endsWith(' and vitals') ? `${filtersInWords[set.replace(' and vitals', '')]}, navigation` : filtersInWords[set]);

/** The type and the default of a parameter. @param {{ type: string, default: string | null }} parameter */
const typed = ({ type, default: usual }) => (usual === null ? type : `${type} = ${usual}`);

/** Returns what stands above the tables of a question: its signature and what it answers. @param {import('./questions.mjs').Question} question */
function opening({ name, kind, about, takes }) {
  if (kind === 'view' || kind === 'table') return wrapped(`${about.replace(/^[a-z]/, (letter) => letter.toUpperCase())}.`);
  const parameters = takes.flatMap((row) => ('filters' in row ? [setInWords(row.filters)] : row.names.map((each) => `${each} ${typed(row)}`)));
  const returns = kind === 'rows' ? [] : wrapped(`It returns \`${kind}\`.`);
  return [...joined([...`\`${name}(${parameters.join(', ')})\`:`.split(' '), ...wordsOf(`${about}.`)]), ...returns];
}

/** Returns the row of a route, if the question has one. @param {import('./questions.mjs').Question} question */
function route({ name, serves, takes }) {
  if (!serves) return [];
  const set = takes.flatMap((row) => ('filters' in row ? [row.filters] : []))[0];
  const own = takes.flatMap((row) => ('filters' in row ? [] : row.names.map((each, i) => ({ each, option: row.options[i] ?? row.options[0] ?? '' }))))
    .filter(({ each }) => set === undefined || !['site', 'since', 'until'].includes(each));
  return [[
    `[\`${serves.route}\`](sql.md#${name})`, set === undefined ? 'none' : setInWords(set).replace(/^filters(?=$|,)/, 'all').replace(/^filters without (.*)/, 'no $1').replace(' and ', ', no '),
    own.map(({ each, option }) => (option.startsWith('--') ? `\`${each}\` (\`${option}\`)` : `\`${each}\``)).join(', '), serves.command && `\`${serves.command}\``,
  ]];
}

/** @param {import('./questions.mjs').Question} question */
function questionSection(question) {
  const { kind, takes, gives, example, output } = question;
  const own = takes.flatMap((row) => ('filters' in row || kind === 'view' ? [] : [row]));
  const types = (/** @type {string[]} */ names) => {
    const each = names.map((name) => typeOf(question, name));
    return each.every((type) => type === each[0]) ? each[0] : each.join(', ');
  };
  return [
    ...opening(question),
    ...own.length > 0 ? ['', ...table(['parameter', 'type', 'meaning'], own.map((row) => [code(row.names), typed(row), row.meaning]))] : [],
    '', '```sql', ...example, '```',
    ...output.length > 0 ? ['```', ...output, '```'] : [],
    ...gives.length > 0 ? ['', ...table(['column', 'type', 'meaning'], gives.map(({ names, as, meaning }) => [columnsInWords(names), as === null ? types(names) : '', meaning]))] : [],
  ];
}

const blocks = /^<!-- reference: (\w+) ?(.*?) -->\n([\s\S]*?)^<!-- \/reference -->\n/gm;

/** Returns a page with its blocks as the sources give them. @param {string} page @param {string} name for messages */
export function written(page, name) {
  const marks = page.match(/^<!-- \/?reference\b.*$/gm) ?? [];
  const text = page.replace(blocks, (_, kind, argument, old) => {
    const lines = writers[kind]?.(argument, old);
    if (!lines) throw new Error(`${name}: there is no table "${kind}"`);
    if (lines.length < 3) throw new Error(`${name}: the table "${kind} ${argument}" has no row`);
    return `<!-- reference: ${[kind, argument].join(' ').trim()} -->\n${lines.join('\n')}\n<!-- /reference -->\n`;
  });
  if (marks.length !== 2 * (page.match(blocks) ?? []).length) throw new Error(`${name}: a block has no end, or no begin`);
  return text;
}

/** The manual's pages, as paths in the repository. */
const pages = () => /** @type {string[]} */ (fs.readdirSync(path.join(root, 'docs'), { recursive: true }))
  .filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`).sort();

/** Files and the texts that they should have. */
function* files() {
  yield { file: path.join(root, 'config/fleetprof.yaml'), text: output('build/bin/fleetprofd', '--print-default-config') };
  yield { file: alertsFile, text: withThresholds(read(alertsFile)) };
  for (const page of pages()) yield { file: path.join(root, page), text: written(read(path.join(root, page)), page) };
}

function write(/** @type {boolean} */ isCheck) {
  for (const { file, text } of files()) {
    if (read(file) === text) continue;
    const name = path.relative(root, file);
    if (isCheck) {
      console.error(`${name} is not what the sources say: run tools/build and node tools/reference.mjs`);
      process.exitCode = 1;
    } else {
      fs.writeFileSync(file, text);
      console.log(`wrote ${name}`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  write(process.argv.includes('--check'));
}
