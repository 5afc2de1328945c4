// SPDX-License-Identifier: Apache-2.0
/** A site at a glance: the latest finding, vitals, what to fix first, what costs most, third parties, what needs somebody. Each part asks for itself. */
import { ask, isAnswered, isSaved, question } from '../api.js';
import { successors, mostCompared, verdictBadge } from '../changes.js';
import { emptiness } from '../emptiness.js';
import { miniature } from '../spark.js';
import { count, counted, hostOf, number, percent, time, visible } from '../format.js';
import { button, h } from '../h.js';
import { functionCell, nothing } from '../parts.js';
import { readable } from '../state.js';
import { functions } from './functions.js';
import { ratingBar, ratingOf, value, valueText } from './vitals.js';

/**
 * @typedef {import('../api.js').Answer} Answer
 * @typedef {import('../api.js').Question} Question
 * @typedef {import('../api.js').Row} Row
 * @typedef {import('../h.js').Child} Child
 * @typedef {import('../main.js').Page} Page
 * @typedef {import('../state.js').State} State
 */

const mostListed = 5;
/** From how many profiled page loads on fix_first says a gain. */
const leastProfiled = 100;

/** The finding is about the latest release, whatever period is looked at. */
const releaseHours = { since: undefined, until: undefined, release: undefined, exclude_release: undefined };

/** Filters that no comparison takes, or that would leave out one of its sides. */
const notCompared = ['marker', 'exclude_marker', 'release', 'exclude_release'];

/** @param {State} state */
const isComparable = ({ site, params }) => !site.includes('%') && !notCompared.some((name) => params[name] !== undefined);

/** @param {State} state @returns {Record<string, Question>} */
const asks = (state) => ({
  ...isComparable(state) ? { 'releases?': question('releases', state, { since: '30d', until: undefined }) } : {},
  'vitals?': question('vitals', state),
  'summary?': question('summary', state),
  'hotspots?': functions.asks(state).rows,
  'hosts?': question('third_parties', state),
  'coverage?': question('coverage', state),
  'refusals?': question('refusals', state),
  'hangs?': question('hangs', state),
  'marks?': question('releases', state),
  'first?': question('fix_first', state, { top: 2 * mostListed }),
});

/** @param {State} state @param {{ before: string, after: string }} pair @returns {Record<string, Question>} */
const comparison = (state, pair) => ({
  'compared?': question('compare_summary', state, { ...releaseHours, ...pair }),
  'changes?': question('compare_releases', state, { ...releaseHours, ...pair, top: mostCompared }),
  'felt?': question('compare_vitals', state, { ...releaseHours, ...pair }),
});

/** @param {State} state @param {string} name */
const trendOf = (state, name) => question('trend', state, { by: 'vital', key: name, step: 'hour' });

/** Returns what a finding is about, and by which visitors felt it. @param {Row} row of compare_summary @param {Row[]} changes @param {{ before: string, after: string }} pair @param {Page} page */
function found(row, changes, pair, page) {
  const after = visible(readable(pair.after), 60) || '(none)';
  const before = visible(readable(pair.before), 60) || '(none)';
  if (!(row.before_uploads > 0) || !(row.after_uploads > 0)) return { sign: '', words: [`There is nothing to compare between ${after} and ${before}.`], rows: [] };
  const slower = changes.filter(({ verdict, is_agent: own }) => verdict === 'slower' && !own);
  const begun = row.after_hours?.[0] ? `, since ${time(row.after_hours[0])} UTC` : '';
  if (row.slower > 0) return { sign: '▲', words: [`${after} made ${counted(row.slower, 'function')} slower${begun}`], rows: slower };
  if (row.obstacle === 'early') return { sign: '', words: [`It is too early to judge ${after} against ${before}.`], rows: [] };
  if (row.obstacle) return { sign: '', words: [`${after} and ${before} cannot be compared: ${row.obstacle}.`], rows: [] };
  const faster = row.faster > 0 ? `, and ${counted(row.faster, 'function')} faster` : '';
  return { sign: '✓', words: [`${after} made no function slower than ${before}${faster}${begun}`], rows: changes.filter(({ verdict, is_agent: own }) => verdict === 'faster' && !own) };
}

/** Returns the 75th percentile of a vital on both sides, as a line. @param {Row} row of compare_vitals @param {Page} page */
const feltLine = (row, page) => h('li', null, verdictBadge(row.verdict, row.change), ' ',
  h('a', { href: page.link({ view: 'vital', item: row.name }) }, `${row.name} p75`),
  ` ${value(row, 'before_value')} → ${value(row, 'after_value')}`);

/** @param {Row} row of compare_releases @param {Page} page */
const changeLine = (row, page) => h('li', null, verdictBadge(row.verdict, row.own_change), ' ', functionCell(page, { ...row, resource: null }),
  ` ${number(row.before_self_ms)} → ${number(row.after_self_ms)} ms per page load`);

/** Returns why nothing is known to make a vital longer. @param {Row[]} vitals @param {Row[]} hours of summary */
function whyNoGain(vitals, hours) {
  if (!vitals.some(({ name }) => name === 'INP' || name === 'LCP')) return 'No page load of these filters sends INP or LCP. They come from pages with the agent’s vitals build.';
  const loads = sum(hours, 'loads');
  if (loads < leastProfiled) return `${counted(loads, 'page load')} of these filters ${loads === 1 ? 'is' : 'are'} profiled. What INP and LCP would gain is known from ${leastProfiled} on.`;
  return 'Nothing that ran is known to make INP or LCP longer. Only page loads whose profile and vitals come from one agent count.';
}

/** True if a function's name was made short, and no function table knows a better one. @param {Row} row of hotspots */
const isMinified = ({ kind, function: name, resource, generated_resource: generated, column_number: column }) =>
  kind === 'function' && resource !== null && resource === generated && /^[\w$]{1,2}$/.test(name) && column > 1;

/** @param {number} then @param {number} now */
const isStale = (then, now) => now - then > 3 * 3_600_000;

/** @type {import('../main.js').View} */
export const overview = {
  title: 'Overview',
  key: 'h',
  asksItself: true,
  asks,
  more: (state, { releases, vitals }) => {
    const pair = releases && successors(releases.rows);
    return { ...pair ? comparison(state, pair) : {}, ...Object.fromEntries((vitals?.rows ?? []).map(({ name }) => [`trend ${name}?`, trendOf(state, name)])) };
  },
  mount(main, answers, page, state) {
    const { signal } = page;
    const wanted = asks(state);
    /** @type {[Promise<unknown>, boolean][]} */
    const settling = [];
    /** Asks, and keeps the answer for who looks at the SQL. @param {string} name @param {Question} asked */
    const answerOf = async (name, asked) => {
      const answer = await ask(asked, signal);
      answers[name] = answer;
      return answer;
    };
    /** @param {string} name */
    const one = (name) => answerOf(name, wanted[`${name}?`]);

    /**
     * Shows a part: a skeleton, then what is drawn, or why not. A saved report leaves out what it does not have.
     * @param {HTMLElement} body @param {Question[]} questions @param {() => Promise<Child[]>} draw @param {HTMLElement} [whole] what a saved report leaves out
     */
    function fill(body, questions, draw, whole = body) {
      if (!questions.every(isAnswered)) {
        whole.hidden = true;
        return;
      }
      const attempt = async () => {
        body.replaceChildren(h('span', { class: 'skeleton' }, 'Asking …'));
        body.setAttribute('aria-busy', 'true');
        try {
          body.replaceChildren(...(await draw()).filter(Boolean).map((child) => /** @type {Node | string} */ (child)));
          return null;
        } catch (error) {
          if (signal.aborted) return null;
          const { message, detail = '' } = /** @type {import('../api.js').Failure} */ (error);
          body.replaceChildren(h('p', { class: 'warning', role: 'alert' }, `${visible(message)} ${visible(detail)}`), button('Try again', () => { void attempt(); }));
          return error;
        } finally {
          body.removeAttribute('aria-busy');
        }
      };
      settling.push([attempt(), questions.length > 0]);
    }

    /**
     * @param {string} title @param {string} href @param {Question[]} questions @param {() => Promise<Child[]>} draw
     */
    function part(title, href, questions, draw) {
      const body = h('div', { class: 'body' });
      const section = h('section', null, h('h2', null, h('a', { href }, title)), body);
      fill(body, questions, draw, section);
      return section;
    }

    const pairs = wanted['releases?'] && isAnswered(wanted['releases?']) ? one('releases').then(({ rows }) => successors(rows)) : null;
    pairs?.catch(() => {});
    const compared = pairs?.then((pair) => (pair ? comparison(state, pair) : null));
    compared?.catch(() => {});
    /** @param {string} name */
    const side = async (name) => {
      const questions = await compared;
      return questions && isAnswered(questions[`${name}?`]) ? answerOf(name, questions[`${name}?`]) : null;
    };

    // The finding.
    const finding = h('section', { class: 'finding', 'aria-label': 'Latest release', hidden: !pairs });
    if (pairs) {
      fill(finding, [wanted['releases?']], async () => {
        const pair = await pairs;
        if (!pair) return [h('p', { class: 'note' }, 'The last 30 days have no release with one before it, so nothing says what a release changed.')];
        const [summary, changes] = await Promise.all([side('compared'), side('changes')]);
        const row = summary?.rows[0];
        if (!row || !changes) {
          finding.hidden = true;
          return [];
        }
        const { sign, words, rows } = found(row, changes.rows, pair, page);
        finding.classList.toggle('bad', sign === '▲');
        finding.classList.toggle('good', sign === '✓');
        const felt = h('div', { class: 'felt' });
        fill(felt, [], async () => {
          const vitals = (await side('felt'))?.rows.filter(({ percentile, name, verdict }) => percentile === 75 && ['INP', 'LCP'].includes(name) && ['slower', 'faster', 'no change seen'].includes(verdict)) ?? [];
          vitals.sort((one, other) => (other.own_low ?? -1) - (one.own_low ?? -1));
          return [vitals.length === 0 ? null : h('h2', null, 'What visitors felt'), vitals.length === 0 ? null : h('ul', null, vitals.map((each) => feltLine(each, page)))];
        });
        return [
          h('p', { class: 'verdict' }, sign && `${sign} `, ...words, ' ',
            h('a', { class: 'button', href: page.link({ view: 'compare', ...pair, since: null, until: null }) }, 'Compare')),
          h('div', { class: 'row' }, rows.length === 0 ? null : h('ul', null, rows.slice(0, mostListed).map((each) => changeLine(each, page))), felt)];
      });
    }

    // Vitals.
    const vitals = h('div', { class: 'inner' });
    fill(vitals, [wanted['vitals?']], async () => {
      const { rows } = await one('vitals');
      if (rows.length === 0) return [h('p', { class: 'note' }, 'No page load of these filters sends vitals. They come from pages with the agent’s vitals build.')];
      return rows.map((row) => {
        const trend = h('span', { class: 'mini' });
        const since = h('span', { class: 'since' });
        fill(trend, [trendOf(state, row.name)], async () => {
          const [{ rows: points }, marks] = await Promise.all([answerOf(`trend ${row.name}`, trendOf(state, row.name)), one('marks').catch(() => ({ rows: [] }))]);
          return [miniature(points.map(({ bucket, value_ms: at }) => [Date.parse(bucket), at ?? 0]), marks.rows, (at) => valueText(row.name, at))];
        });
        fill(since, [], async () => {
          const change = (await side('felt').catch(() => null))?.rows.find(({ percentile, name }) => percentile === 75 && name === row.name);
          return change && ['slower', 'faster'].includes(change.verdict) ? [verdictBadge(change.verdict, change.change)] : [];
        });
        const rating = ratingOf(row.name, row.p75);
        return h('section', { class: `card ${rating.replace(' ', '-')}`, 'aria-label': row.name },
          h('a', { class: 'what', href: page.link({ view: 'vital', item: row.name }) }, row.name), h('strong', null, value(row, 'p75')), h('span', { class: 'rated' }, rating), trend, ratingBar(row), since);
      });
    });
    const cost = h('div', { class: 'inner' });
    const scripts = h('section', { class: 'card', 'aria-label': 'Scripts' }, h('a', { class: 'what', href: page.link({ view: 'flame' }) }, 'Scripts'), cost);
    fill(cost, [wanted['summary?']], async () => {
      const { rows } = await one('summary');
      const loads = sum(rows, 'loads');
      if (loads === 0) return [h('span', { class: 'note' }, 'Nothing is profiled.')];
      const busy = sum(rows, 'profiled_ms') - sum(rows, 'unattributed_ms');
      const marks = await one('marks').catch(() => ({ rows: [] }));
      return [h('strong', null, `${number(busy / loads)} ms`), h('span', { class: 'rated' }, 'per page load'),
        h('span', { class: 'mini' }, miniature(rows.filter((row) => row.loads > 0).map((row) => [Date.parse(row.bucket), (row.profiled_ms - row.unattributed_ms) / row.loads]), marks.rows, (at) => `${number(at)} ms per page load`))];
    }, scripts);

    // The question for vitals without something takes longest.
    const fixes = part('What to fix first', page.link({ view: 'vitals' }), [wanted['first?']], async () => {
      // Nobody can do without the site's own scripts.
      const rows = (await one('first')).rows.filter(({ kind, party }) => kind !== 'host' || party !== 'first').slice(0, mostListed);
      if (rows.length === 0) {
        const [vitalRows, hours] = await Promise.all([one('vitals'), one('summary')]);
        return [h('p', { class: 'note' }, whyNoGain(vitalRows.rows, hours.rows))];
      }
      const most = Math.max(...rows.map((row) => row.gain_ms / row.good_ms));
      return [h('ol', { class: 'bars' }, rows.map((row) => h('li', { style: { '--part': `${100 * row.gain_ms / row.good_ms / most}%` } },
        h('span', { class: 'name' }, row.kind === 'function' ? functionCell(page, { ...row, function: row.name, resource: null })
          : h('a', { href: page.link({ view: 'where', by: row.kind, q: row.name }) }, visible(row.name, 80)),
        row.party === 'third' ? h('span', { class: 'badge' }, 'third party') : null, row.routes ? h('span', { class: 'place' }, visible(row.routes, 80)) : null),
        h('a', { class: 'amount', href: page.link({ view: 'vital', item: row.vital }), title: `At most ${number(row.gain_ms)} ms less; 95 % between ${number(row.gain_low)} and ${number(row.gain_high)} ms` },
          `${row.vital} ${number(row.p75_ms)} → ${number(row.p75_ms - row.gain_ms)} ms`)))),
      h('p', { class: 'note' }, 'p75 without it, at best. Gains do not add up.')];
    });

    // Functions and hosts.
    const costly = part('What costs most', page.link({ view: 'functions' }), [wanted['hotspots?']], async () => {
      const { rows } = await one('hotspots');
      const first = rows.filter(({ is_agent: own }) => !own).slice(0, mostListed);
      if (first.length === 0) return [h('p', { class: 'note' }, 'No profiled page load matches these filters.')];
      const most = first[0].self_ms_per_load || 1;
      /** @type {[Row, HTMLElement][]} */
      const tags = first.map((row) => [row, h('span', { class: 'tags' })]);
      fill(h('div', null), [], async () => {
        const [hosts, changes] = await Promise.all([isAnswered(wanted['hosts?']) ? one('hosts').catch(() => null) : null, side('changes').catch(() => null)]);
        for (const [row, tag] of tags) {
          const isThird = hosts?.rows.some(({ host, party }) => party === 'third' && host === hostOf(row.generated_resource ?? row.resource));
          const changed = changes?.rows.find(({ function_key: key }) => key === row.function_key);
          tag.append(...isThird ? [h('span', { class: 'badge' }, 'third party')] : [], ...changed && ['slower', 'faster', 'new'].includes(changed.verdict) ? [verdictBadge(changed.verdict, changed.own_change)] : []);
        }
        return [];
      });
      return [h('ol', { class: 'bars' }, tags.map(([row, tag]) => h('li', { style: { '--part': `${100 * row.self_ms_per_load / most}%` } },
        h('span', { class: 'name' }, functionCell(page, row), tag), h('span', { class: 'amount' }, `${number(row.self_ms_per_load)} ms`))))];
    });
    const third = part('Third parties', page.link({ view: 'where' }), [wanted['hosts?']], async () => {
      const [{ rows }, { rows: hours }] = await Promise.all([one('hosts'), one('summary')]);
      const loads = sum(hours, 'loads') || 1;
      const others = rows.filter(({ party }) => party === 'third');
      if (others.length === 0) return [h('p', { class: 'note' }, 'No host of a third party is known in this period.')];
      const most = Math.max(...others.map(({ self_ms: self }) => self ?? 0)) || 1;
      return [h('ol', { class: 'bars' }, others.slice(0, mostListed).map((row) => h('li', { style: { '--part': `${100 * (row.self_ms ?? 0) / most}%` } },
        h('span', { class: 'name' }, h('a', { href: page.link({ view: 'where', q: row.host }) }, visible(row.host, 80)),
          row.opaque_share > 0.5 ? h('span', { class: 'place' }, 'loading time unknown: no Timing-Allow-Origin') : null),
        h('span', { class: 'amount' }, `${number((row.self_ms ?? 0) / loads)} ms`))))];
    });

    // Tells the operator what needs a look.
    const needs = h('ul', { class: 'needs' });
    /** @param {string} name @param {string} href @param {(answer: Answer) => [boolean, string] | null} judge */
    const need = (name, href, judge) => {
      const line = h('li', null);
      needs.append(line);
      fill(line, [wanted[`${name}?`]], async () => {
        const judged = judge(await one(name));
        if (!judged) line.remove();
        return judged ? [h('span', { class: judged[0] ? 'fine' : 'wrong', 'aria-hidden': 'true' }, judged[0] ? '✓ ' : '! '), h('a', { href }, judged[1])] : [];
      });
    };
    const toCoverage = page.link({ view: 'coverage' });
    need('coverage', toCoverage, ({ rows: [row] }) => {
      if (!row) return [false, 'No page load says whether it was profiled'];
      if (row.no_policy > 0) return [false, `${counted(row.no_policy, 'sampled page load')} got no Document-Policy header`];
      if (row.sampled > 0) return [row.delivered / row.sampled >= 0.9, `${percent(row.delivered / row.sampled)} of sampled page loads arrived`];
      return [true, `${count(row.profiled)} of ${counted(row.loads, 'page load')} are profiled`];
    });
    need('refusals', toCoverage, ({ rows }) => [rows.length === 0, rows.length === 0 ? 'No record was refused' : `${counted(sum(rows, 'records'), 'record')} refused: ${visible(rows[0].reason, 60)}`]);
    need('hangs', toCoverage, ({ rows }) => (rows.length === 0 ? null : [false, `${counted(sum(rows, 'count'), 'document')} hung or crashed`]));
    need('summary', toCoverage, ({ rows }) => {
      const [profiled, unseen] = [sum(rows, 'profiled_ms'), sum(rows, 'unseen_ms')];
      return profiled + unseen === 0 ? null : [unseen / (profiled + unseen) < 0.2, `${percent(unseen / (profiled + unseen))} of the watched time is unseen`];
    });
    need('summary', page.link({ view: 'flame' }), ({ rows }) => {
      const share = sum(rows, 'unattributed_ms') / sum(rows, 'profiled_ms');
      return Number.isNaN(share) ? null : [true, `${percent(share)} of the profiled time is idle or has no visible stack`];
    });
    if (!state.params.until && !isSaved()) {
      need('summary', toCoverage, ({ rows }) => {
        const newest = Math.max(...rows.map((row) => Date.parse(row.bucket) + row.hours * 3_600_000));
        return rows.length === 0 ? null : [!isStale(newest, Date.now()), `Newest data: ${time(newest - 3_600_000)} UTC`];
      });
    }
    need('hotspots', page.link({ view: 'functions' }), ({ rows }) => {
      const short = rows.slice(0, 50).filter(isMinified).length;
      return short === 0 ? null : [false, `${count(short)} of the ${count(Math.min(50, rows.length))} costliest functions have minified names: add a function table`];
    });

    main.append(h('div', { class: 'overview' }, finding, h('div', { class: 'cards' }, vitals, scripts),
      h('div', { class: 'columns' }, fixes, costly, h('div', null, third, h('section', null, h('h2', null, 'Needs you'), needs)))));
    const settled = settle(settling).then(async () => {
      const isEmpty = ['summary', 'vitals', 'coverage'].every((name) => answers[name]?.rows.length === 0);
      const why = isEmpty && !signal.aborted ? await emptiness(state, page) : null;
      if (why) main.replaceChildren(why);
      else if (isEmpty && !signal.aborted) main.replaceChildren(h('p', { class: 'empty' }, nothing));
    });
    return { update() {}, settled, exported: () => ({ name: 'overview', columns: Object.keys(answers.vitals?.rows[0] ?? {}), rows: answers.vitals?.rows ?? [] }) };
  },
};

/** @param {Row[]} rows @param {string} name */
const sum = (rows, name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);

/** Waits for parts, and for those that they begin; fails if all that ask fail for one reason. @param {[Promise<unknown>, boolean][]} parts and whether each asks */
async function settle(parts) {
  /** @type {unknown[]} */
  const failures = [];
  for (let i = 0; i < parts.length; i += 1) {
    const failure = await parts[i][0];
    if (parts[i][1]) failures.push(failure);
  }
  const [first] = failures;
  if (first && failures.every((failure) => /** @type {Error | null} */ (failure)?.message === /** @type {Error} */ (first).message)) throw first;
}
