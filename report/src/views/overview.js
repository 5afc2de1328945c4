// SPDX-License-Identifier: Apache-2.0
/** A site at a glance: the latest finding, vitals, what to fix first, what costs most, third parties, what needs somebody. Each part asks for itself. */
import { ask, isAnswered, isSaved, question } from '../api.js';
import { mostCompared, verdictBadge } from '../changes.js';
import { emptiness } from '../emptiness.js';
import { miniature } from '../spark.js';
import { clock, counted, hostOf, localised, number, visible } from '../format.js';
import { button, h } from '../h.js';
import { functionCell, groupCell, noVitals, nothing } from '../parts.js';
import { literal } from '../state.js';
import { functions } from './functions.js';
import { ratingBar, ratingOf, thresholds, value, valueText } from './vitals.js';

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
const always = { since: undefined, until: undefined, release: undefined, exclude_release: undefined };

/** @param {State} state @returns {Record<string, Question>} */
const asks = (state) => ({
  'release?': question('overview', state, { of_part: 'release' }),
  'vitals?': question('vitals', state),
  'summary?': question('summary', state),
  'hotspots?': functions.asks(state).rows,
  'hosts?': question('third_parties', state),
  'needs?': question('overview', state, { of_part: 'need' }),
  'marks?': question('releases', state),
  'first?': question('fix_first', state, { top: state.params.top ?? 2 * mostListed }),
});

/** Returns the filters of the releases that a finding compares; null: there are not two. @param {Row} [row] of overview */
const pairOf = (row) => (row && row.before_release !== null ? { before: literal(row.before_release), after: literal(row.after_release) } : null);

/** @param {State} state @param {Row} [row] of overview @returns {Record<string, Question> | null} */
function comparison(state, row) {
  const pair = pairOf(row);
  return pair && {
    'changes?': question('compare_releases', state, { ...always, ...pair, top: mostCompared }),
    'felt?': question('compare_vitals', state, { ...always, ...pair }),
  };
}

/** @param {State} state @param {string} name */
const trendOf = (state, name) => question('trend', state, { by: 'vital', key: name, step: 'hour' });

/** Returns the 75th percentile of a vital on both sides, as a line. @param {Row} row of compare_vitals @param {Page} page */
const feltLine = (row, page) => h('li', null, verdictBadge(row.verdict, row.change), ' ',
  h('a', { href: page.link({ view: 'vital', item: row.name }) }, `${row.name} p75`),
  ` ${value(row, 'before_value')} → ${value(row, 'after_value')}`);

/** @param {Row} row of compare_releases @param {Page} page */
const changeLine = (row, page) => h('li', null, verdictBadge(row.verdict, row.own_change), ' ', functionCell(page, { ...row, resource: null }),
  ` ${number(row.before_self_ms)} → ${number(row.after_self_ms)} ms per page load`);

/** Returns why nothing is known to make a vital longer. @param {Row[]} vitals @param {Row[]} hours of summary */
function whyNoGain(vitals, hours) {
  if (!vitals.some(({ name }) => name === 'INP' || name === 'LCP')) return noVitals('INP or LCP');
  const loads = sum(hours, 'loads');
  if (loads < leastProfiled) return `${counted(loads, 'page load')} of these filters ${loads === 1 ? 'is' : 'are'} profiled. What INP and LCP would gain is known from ${leastProfiled} on.`;
  return 'Nothing that ran is known to make INP or LCP longer. Only page loads whose profile and vitals come from one agent count.';
}

/** Where a need shows, if not in the coverage. @type {Record<string, string>} */
const needViews = { unattributed: 'flame', minified: 'functions', budgets: 'vitals' };

/** @type {import('../main.js').View} */
export const overview = {
  title: 'Overview',
  key: 'h',
  asksItself: true,
  asks,
  more: (state, { release, vitals }) => {
    return { ...comparison(state, release?.rows[0]), ...Object.fromEntries((vitals?.rows ?? []).map(({ name }) => [`trend ${name}?`, trendOf(state, name)])) };
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
     * @param {string} title @param {string | null} href @param {Question[]} questions @param {() => Promise<Child[]>} draw
     */
    function part(title, href, questions, draw) {
      const body = h('div', { class: 'body' });
      const section = h('section', null, h('h2', null, h('a', { href }, title)), body);
      fill(body, questions, draw, section);
      return section;
    }

    const asked = isAnswered(wanted['release?']);
    const latest = asked ? one('release').then(({ rows: [row] }) => row) : null;
    const compared = latest?.then((row) => comparison(state, row));
    compared?.catch(() => {});
    /** @param {string} name */
    const side = async (name) => {
      const questions = await compared;
      return questions && isAnswered(questions[`${name}?`]) ? answerOf(name, questions[`${name}?`]) : null;
    };

    // The finding.
    const finding = h('section', { class: 'finding', 'aria-label': 'Latest release', hidden: !asked });
    if (latest) {
      fill(finding, [wanted['release?']], async () => {
        const row = await latest;
        finding.hidden = !row;
        if (!row) return [];
        const pair = pairOf(row);
        if (!pair) return [h('p', { class: 'note' }, localised(row.sentence))];
        const rows = (await side('changes'))?.rows;
        if (!rows) {
          finding.hidden = true;
          return [];
        }
        const { verdict } = row;
        const sign = verdict === 'slower' ? '▲' : ['faster', 'no change seen'].includes(verdict) ? '✓' : '';
        finding.classList.toggle('bad', sign === '▲');
        finding.classList.toggle('good', sign === '✓');
        const changed = ['slower', 'faster'].includes(verdict) ? rows.filter((each) => each.verdict === verdict && !each.is_agent) : [];
        const felt = h('div', { class: 'felt' });
        fill(felt, [], async () => {
          const vitals = (await side('felt'))?.rows.filter(({ percentile, name, verdict }) => percentile === 75 && ['INP', 'LCP'].includes(name) && ['slower', 'faster', 'no change seen'].includes(verdict)) ?? [];
          vitals.sort((one, other) => (other.own_low ?? -1) - (one.own_low ?? -1));
          return [vitals.length === 0 ? null : h('h2', null, 'What visitors felt'), vitals.length === 0 ? null : h('ul', null, vitals.map((each) => feltLine(each, page)))];
        });
        return [
          h('p', { class: 'verdict' }, sign && `${sign} `, localised(row.sentence), ' ',
            h('a', { class: 'button', href: page.link({ view: 'compare', ...pair, since: null, until: null }) }, 'Compare')),
          h('div', { class: 'row' }, changed.length === 0 ? null : h('ul', null, changed.slice(0, mostListed).map((each) => changeLine(each, page))), felt)];
      });
    }

    // Vitals.
    const vitals = h('div', { class: 'inner' });
    fill(vitals, [wanted['vitals?']], async () => {
      const { rows } = await one('vitals');
      if (rows.length === 0) return [h('p', { class: 'note' }, noVitals('vitals'))];
      return rows.map((row) => {
        const trend = h('span', { class: 'mini' });
        const since = h('span', { class: 'since' });
        fill(trend, [trendOf(state, row.name)], async () => {
          const [{ rows: points }, marks] = await Promise.all([answerOf(`trend ${row.name}`, trendOf(state, row.name)), one('marks').catch(() => ({ rows: [] }))]);
          return [miniature(points.map(({ bucket, value_ms: at }) => [Date.parse(bucket), at ?? 0]), marks.rows, (at) => valueText(row.name, at), 'hour')];
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
      const marks = await one('marks').catch(() => ({ rows: [] }));
      return [h('strong', null, `${number(sum(rows, 'script_ms') / loads)} ms`), h('span', { class: 'rated' }, 'per page load'),
        h('span', { class: 'mini' }, miniature(rows.filter((row) => row.loads > 0).map((row) => [Date.parse(row.bucket), row.script_ms / row.loads]), marks.rows, (at) => `${number(at)} ms per page load`, 'hour'))];
    }, scripts);

    // The question for vitals without something takes longest.
    const whole = isSaved() || state.params.top ? null : page.link({ top: '1000' });
    const fixes = part('What to fix first', whole, [wanted['first?']], async () => {
      // Nobody can do without the site's own scripts.
      const rows = (await one('first')).rows.filter(({ kind, party }) => kind !== 'host' || party !== 'first').slice(0, Number(state.params.top ?? mostListed));
      if (rows.length === 0) {
        const [vitalRows, hours] = await Promise.all([one('vitals'), one('summary')]);
        return [h('p', { class: 'note' }, whyNoGain(vitalRows.rows, hours.rows))];
      }
      const most = Math.max(...rows.map((row) => row.gain_ms / row.good_ms));
      return [h('ol', { class: 'bars' }, rows.map((row) => h('li', { style: { '--part': `${100 * row.gain_ms / row.good_ms / most}%` } },
        h('span', { class: 'name' }, row.kind === 'function' ? functionCell(page, { ...row, function: row.name, resource: null })
          : groupCell(page, row.kind, row.name),
        row.party === 'third' ? h('span', { class: 'badge' }, 'third party') : null, row.routes ? h('span', { class: 'place' }, visible(row.routes, 80)) : null,
        row.begins ? h('span', { class: 'place' }, `since ${clock(row.begins)}${row.nearest_release ? ` with ${visible(row.nearest_release, 80)}` : ''}`) : null),
        h('a', { class: 'amount', href: page.link({ view: thresholds[row.vital] ? 'vital' : 'timing', item: row.vital }), title: `At most ${number(row.gain_ms)} ms less; 95 % between ${number(row.gain_low)} and ${number(row.gain_high)} ms` },
          `${row.vital} ${number(row.p75_ms)} → ${number(row.p75_ms - row.gain_ms)} ms`)))),
      h('p', { class: 'note' }, 'p75 without it, at best. Gains do not add up.'), whole && h('a', { class: 'button', href: whole }, 'The whole list')];
    });

    // Functions and hosts.
    const costly = part('What costs most', page.link({ view: 'functions' }), [wanted['hotspots?']], async () => {
      const { rows } = await one('hotspots');
      const first = rows.filter(({ is_agent: own }) => !own).slice(0, mostListed);
      if (first.length === 0) return [h('p', { class: 'note' }, nothing)];
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
        h('span', { class: 'name' }, row.self_ms && !isSaved() ? groupCell(page, 'host', row.host) : h('a', { href: page.link({ view: 'where', q: row.host }) }, visible(row.host, 80)),
          row.opaque_share > 0.5 ? h('span', { class: 'place' }, 'loading time unknown: no Timing-Allow-Origin') : null),
        h('span', { class: 'amount' }, row.self_ms === null ? 'no function seen' : `${number(row.self_ms / loads)} ms`))))];
    });

    // Tells the operator what needs a look.
    const needs = h('ul', { class: 'needs' });
    fill(needs, [wanted['needs?']], async () => (await one('needs')).rows
      .filter(({ name }) => name !== 'newest' || !isSaved())
      .map(({ name, verdict, sentence }) => h('li', null, h('span', { class: verdict, 'aria-hidden': 'true' }, verdict === 'fine' ? '✓' : '!'),
        h('a', { href: page.link({ view: needViews[name] ?? 'coverage' }) }, localised(sentence)))));

    main.append(h('div', { class: 'overview' }, finding, h('div', { class: 'cards' }, vitals, scripts),
      h('div', { class: 'columns' }, fixes, costly, h('div', null, third, h('section', null, h('h2', null, 'Needs you'), needs)))));
    const settled = settle(settling).then(async () => {
      const isEmpty = ['summary', 'vitals'].every((name) => answers[name]?.rows.length === 0)
        && answers.needs?.rows.some(({ name, value: covered }) => name === 'coverage' && covered === null);
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
