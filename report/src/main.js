// SPDX-License-Identifier: Apache-2.0
/** The page: reads the address, asks, shows the view, and listens to keys. */
// In the order of the bundle: see views.js.
import { counted, csv, duration, markdown, clock, percent, setZone, visible } from './format.js';
import { ask, askAll, Failure, filtersOf, firstSaved, forget, isAnswered, isSaved, openSaved, question, savedAt, savedBegin, savedPage } from './api.js';
import { append, button, h } from './h.js';
import { changed, format, literal, namedKey, parse, pinned, readable } from './state.js';
import { formats } from './exports.js';
import { filterBar } from './filters.js';
import { views } from './views.js';
import { recolour, strip } from './chart.js';
import { emptiness } from './emptiness.js';
import { inOrder } from './changes.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./api.js').Answer} Answer
 * @typedef {import('./api.js').Question} Question
 * @typedef {{ name: string, columns: string[], rows: Record<string, unknown>[] }} Exported
 *
 * @typedef {object} Page what a view may use
 * @property {(changes: Parameters<typeof changed>[1], how?: { replace?: boolean }) => void} go
 * @property {(changes: Parameters<typeof changed>[1]) => string} link
 * @property {() => void} again asks all again
 * @property {(text: string) => void} say to who listens instead of looking
 * @property {(text: string) => Promise<void>} copy
 * @property {Totals} totals
 * @property {State} state what the address says now
 * @property {AbortSignal} signal of the view's questions: it ends with the view
 *
 * @typedef {{ loads: number, uploads: number, profiled_ms: number, unattributed_ms: number, unseen_ms: number }} Totals
 *
 * @typedef {object} Period
 * @property {string} since
 * @property {string} until
 * @property {[string, string][]} sides hours that are compared
 *
 * @typedef {object} Shown
 * @property {(state: State) => void} update
 * @property {() => Exported | null} [exported]
 * @property {() => import('./tree.js').Tree} [tree] the graph in view, for other tools
 * @property {() => import('./exports.js').Picture} [picture] how it looks
 * @property {(key: string) => boolean} [key] true if it did something
 * @property {Promise<void>} [settled] when all that it asked is there; fails if nothing can be shown
 *
 * @typedef {object} View
 * @property {string} title
 * @property {string} [key] after g
 * @property {(state: State) => string} [parent] the view that the line of views marks, of one without a key
 * @property {boolean} [alone] it is about one thing: filters do not apply
 * @property {boolean} [asksItself] it shows at once and asks for its parts itself; only a saved file needs `asks` and `more`
 * @property {(state: State) => Record<string, Question>} asks names that end in ? may fail
 * @property {(state: State, answers: Record<string, Answer>) => Record<string, Question>} [more] what the answers lead to
 * @property {(state: State, answers?: Record<string, Answer>) => Record<string, Question>} [later] what blocks ask by themselves
 * @property {(state: State, answers: Record<string, Answer>) => Record<string, string | null> | null} [otherwise] parameters that the address leaves open
 * @property {(answers: Record<string, Answer>) => Period | null} [period] what the strip of page loads shows, where the address does not say it
 * @property {(page: Page, state: State) => Promise<Node>} [above] what stays above the view when its questions fail
 * @property {(state: State) => unknown} [also] what else `more` depends on
 * @property {(main: HTMLElement, answers: Record<string, Answer>, page: Page, state: State) => Shown} mount
 */

await openSaved();
const inHash = isSaved();
const main = h('main', { id: 'main', tabIndex: -1 });
const heading = h('h1', null);
const live = h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
const sites = h('span', { class: 'site' });
const nav = h('nav', { 'aria-label': 'Views' });
const bar = h('div', { class: 'bar-filters' });
const over = h('div', { class: 'over' });
const notice = h('p', { class: 'anecdote', hidden: true });
const savedNote = h('p', { class: 'saved', hidden: !inHash });
const footer = h('footer', null);
const asking = h('p', { class: 'asking', hidden: true });
const told = h('p', { class: 'told', hidden: true, 'aria-hidden': 'true' });

/** The manual, which `fleetprof serve` may have: without it, /help/ is 204. */
const manual = h('a', { class: 'button help', id: 'manual', target: '_blank' }, 'Manual');
if (!inHash) void fetch('/help/', { method: 'HEAD' }).then(({ status }) => { document.body.classList.toggle('helpful', status === 200); }, () => {});
/** Its pages by view. @type {Record<string, string>} */
const pages = { compare: 'comparison', vitals: 'vitals', vital: 'vitals', interactions: 'vitals', coverage: 'troubleshooting' };

/** @type {State} */
let state = read();
/** @type {{ view: string, asked: string, shown: Shown, answers: Record<string, Answer> } | null} */
let current = null;
const nothing = { loads: 0, uploads: 0, profiled_ms: 0, unattributed_ms: 0, unseen_ms: 0 };
let totals = /** @type {Totals} */ (nothing);
/** @type {AbortController | null} */
let running = null;

/** @param {string} [hash] of a saved file; '' is where it begins */
function read(hash = location.hash) {
  if (!inHash) return parse(location.pathname + location.search);
  const begin = hash.slice(1) || savedBegin;
  if (begin.startsWith('/')) return parse(begin);
  const first = firstSaved('compare_summary') ?? firstSaved('flamegraph_columns') ?? '/?';
  const { site = '', max_nodes: _, ...params } = Object.fromEntries(new URLSearchParams(first.split('?')[1]));
  return site ? { site, view: first.includes('/compare_summary?') ? 'compare' : 'overview', item: '', params } : parse('/');
}

/** The function in view, by its name. @type {{ key: string, name: string } | null} */
let named = null;

/** @param {State} next */
function address(next) {
  const text = format(next.view === 'function' && next.item === named?.key ? { ...next, item: namedKey(named.name, next.item) } : next);
  return inHash ? `#${text}` : text;
}

/** @type {Page} */
const page = {
  go(changes, { replace = false } = {}) {
    const next = changed(state, changes);
    const isHere = format(next) === format(state);
    state = next;
    history[replace || isHere ? 'replaceState' : 'pushState'](null, '', address(state));
    void show();
  },
  link: (changes) => address(changed(state, changes)),
  again() { forget(); current = null; void show(); },
  say(text) { live.textContent = text; },
  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      tell('Copied.');
    } catch {
      dialog('Copy', text);
    }
  },
  get totals() { return totals; },
  get state() { return state; },
  get signal() { return /** @type {AbortController} */ (running).signal; },
};

// ---- showing ----

/** Shows what the address says. */
async function show() {
  const view = viewNow();
  applyTheme();
  setZone(Boolean(state.params.utc));
  if (!view) {
    current = null;
    frame(null);
    return failed(new Failure(`There is no view “${visible(state.view, 60)}”.`, 'The line above has those that there are.'));
  }
  const asks = view.asks(state);
  const asked = JSON.stringify([state.view, state.site, state.item, asks, view.later?.(state), view.also?.(state), state.params.utc]);
  if (current && current.view === state.view && current.asked === asked) {
    if (framed !== lastingAddress()) frame(view);
    current.shown.update(state);
    nameTitle();
    ready();
    return undefined;
  }
  running?.abort();
  const mine = running = new AbortController();
  current = null;
  main.removeAttribute('data-ready');
  main.setAttribute('aria-busy', 'true');
  const had = focusedInView();
  if (drawn !== thing()) wait();
  frame(view);
  time(view, mine.signal);
  try {
    const hours = view.period ? null : summarise(mine.signal);
    const [answers] = view.asksItself ? [{}] : await Promise.all([askAll(asks, mine.signal), hours]);
    if (mine.signal.aborted) return undefined;
    const open = view.otherwise?.(state, answers);
    if (open) return page.go(open, { replace: true });
    const [more] = view.asksItself ? [{}] : await Promise.all([askAll(view.more?.(state, answers) ?? {}, mine.signal), view.period ? summarise(mine.signal, view.period(answers)) : null]);
    Object.assign(answers, more);
    if (mine.signal.aborted) return undefined;
    const focused = focusedInView() ?? had;
    main.replaceChildren();
    drawn = thing();
    const shown = view.mount(main, answers, page, state);
    current = { view: state.view, asked, shown, answers };
    main.prepend(...Object.values(answers).flatMap(({ failure }) => (failure
      ? [h('p', { class: 'warning', role: 'alert' }, `A part of this view is missing: ${visible(failure.message)} ${visible(failure.detail ?? '')}`)] : [])));
    shown.update(state);
    nameTitle();
    if (focused) /** @type {HTMLElement | null} */ (main.querySelector(focused))?.focus({ preventScroll: true });
    main.removeAttribute('aria-busy');
    await Promise.all([shown.settled, hours]);
    if (mine.signal.aborted) return undefined;
    await explain(mine.signal);
    if (mine.signal.aborted) return undefined;
    foot();
    ready();
  } catch (error) {
    const above = mine.signal.aborted ? null : await view.above?.(page, state).catch(() => null);
    if (!mine.signal.aborted) failed(error, above);
  }
  return undefined;
}

/** The thing that the body shows: never that of another heading. */
let drawn = '';
const thing = () => [state.site, state.view, state.item].join('\n');

/** Shows that the view is asked for. */
function wait() {
  main.replaceChildren(h('p', { class: 'skeleton waiting' }, 'Asking the database …'));
  footer.replaceChildren();
  drawn = '';
}

/** Says beside the heading what is asked, from a second on, for how long, with a way out. @param {View} view @param {AbortSignal} signal */
function time(view, signal) {
  const line = h('span', null);
  let seconds = 0;
  asking.replaceChildren(line, ' ', button('Cancel', cancel, { id: 'cancel' }));
  asking.hidden = true;
  const timer = setInterval(() => {
    if (signal.aborted) return clearInterval(timer);
    seconds += 1;
    asking.hidden = !document.querySelector('[aria-busy]');
    line.textContent = `Asking for ${view.title.toLowerCase()} … ${seconds} s`;
    return asking.hidden && clearInterval(timer);
  }, 1000);
}

/** Ends all questions; what is answered stays. */
function cancel() {
  running?.abort();
  asking.hidden = true;
  if (!current) return failed(new Failure('You cancelled this question.'));
  for (const part of main.querySelectorAll('.skeleton, .latest[aria-busy]')) part.replaceWith(h('span', { class: 'note' }, 'You cancelled this question. ', button('Try again', () => page.again())));
  return ready();
}

/** Says why a view is empty where the whole period is. @param {AbortSignal} signal */
async function explain(signal) {
  const empty = main.querySelector('.empty');
  if (!empty || hasLoads || isAlone() || ['overview', 'compare', 'sessions'].includes(state.view)) return;
  const why = await emptiness(state, page).catch(() => null);
  if (why && !signal.aborted) empty.replaceWith(why);
}

/** Returns a selector of the focused element, so that it keeps the focus in the next answer; null outside of the view. */
function focusedInView() {
  const focused = document.activeElement;
  if (!focused || !main.contains(focused)) return null;
  return focused.id ? `#${CSS.escape(focused.id)}` : focused.matches('.icicle canvas') ? '.icicle canvas' : null;
}

/** Names a page of one thing after it, for tabs and the history; a function also in its address. */
function nameTitle() {
  const name = main.querySelector('h2.name')?.textContent;
  if (name && state.view === 'function') {
    named = { key: state.item, name };
    history.replaceState(null, '', address(state));
  }
  if (name) document.title = `${siteName()}: ${viewNow()?.title} ${visible(name, 80)} – fleetprof`;
}

/** Returns what a view is of: the site, the period, filters. @param {State} of */
const selection = ({ params }) => [siteName(), ...Object.entries(params).filter(([name]) => !['theme', 'utc', 'sort', 'sel', 'root', 'q', 'top'].includes(name))
  .map(([name, value]) => `${name}: ${visible(value === '' ? '(none)' : readable(value), 60)}`)].join(' · ');

const siteName = () => (isSites() ? 'Sites' : state.site === '%' ? 'all sites' : visible(state.site, 80));

function ready() {
  main.removeAttribute('aria-busy');
  main.setAttribute('data-ready', format(state));
  performance.clearMarks('drawn');
  performance.mark('drawn');
}

/** @param {unknown} error @param {Node | null} [above] what stays of the view */
function failed(error, above = null) {
  const failure = error instanceof Failure ? error : new Failure('The page cannot show this answer.', String(/** @type {Error} */ (error)?.message ?? error));
  if (!(error instanceof Failure)) console.warn(error);
  const focused = focusedInView();
  main.replaceChildren(...above ? [above] : [], h('section', { class: 'failure', role: 'alert' },
    h('h2', null, visible(failure.message)), failure.detail ? h('p', null, visible(failure.detail)) : null,
    button('Try again', () => page.again(), { id: 'again' })));
  if (focused) /** @type {HTMLElement | null} */ (main.querySelector(focused))?.focus({ preventScroll: true });
  footer.replaceChildren();
  drawn = thing();
  ready();
}

// ---- around the view ----

/** The state that the frame shows: the address without the view's own parameters. */
const lastingAddress = () => page.link({ view: state.view, item: state.item });
let framed = '';

const isSites = () => state.view === 'sites';
/** True if the view shows other hours than the last day. Without `since`, page loads of the last day are counted. */
const hasOtherPeriod = () => state.view === 'compare' && !state.params.since;
/** Returns the view of the address; none of them is "constructor". @returns {View | undefined} */
const viewNow = () => (Object.hasOwn(views, state.view) ? views[state.view] : undefined);
const isAlone = () => isSites() || viewNow()?.alone === true;

/** @param {View | null} view */
function frame(view) {
  framed = lastingAddress();
  const title = view?.title ?? 'Not found';
  const site = siteName();
  heading.replaceChildren(...isSites() ? ['Sites'] : [h('span', { class: 'of' }, site), ` ${title}`]);
  document.title = `${isSites() ? 'Sites' : `${site}: ${title}`} – fleetprof`;
  sites.replaceChildren(...isSites() ? [] : [...inHash ? [] : [h('a', { href: page.link({ view: 'sites', ...cleared() }) }, 'Sites'), ' / '], h('strong', null, site)]);
  savedNote.textContent = `Saved${savedAt && ` ${clock(savedAt)}`} from ${selection(state)}`;
  nav.hidden = isSites();
  nav.replaceChildren(...keyed().filter(([name]) => name !== 'sites').map(([name, { title: label }]) =>
    h('a', { href: page.link({ view: name }), 'aria-current': name === (view?.key ? state.view : view?.parent?.(state)) ? 'page' : null }, label)));
  manual.href = `/help/${pages[state.view] ?? 'report'}.html`;
  const here = /** @type {HTMLElement | null} */ (nav.querySelector('[aria-current]'));
  if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - 40; // a narrow screen has no room for all
  withFocus(() => {
    bar.replaceChildren(...isAlone() || !view || inHash ? [] : [filterBar(state, (changes) => page.go(changes), takenBy(view), () => inOrder(knownReleases).at(-1))]);
  });
}

/** True if the report has what the view needs: a saved one has few. @param {State} of */
function isOffered(of) {
  if (!inHash) return true;
  const view = Object.hasOwn(views, of.view) ? views[of.view] : undefined;
  return view !== undefined && (of.view !== 'compare' || firstSaved('compare_summary') !== undefined)
    && Object.entries(view.asks(of)).every(([name, asked]) => name.endsWith('?') || isAnswered(asked));
}

/** Returns the views with a key. */
const keyed = () => Object.entries(views).filter(([name, { key }]) => key && isOffered(changed(state, { view: name })));

// A saved report has no links to what it lacks.
if (inHash) {
  new MutationObserver(() => {
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (main.querySelectorAll('a[href^="#"]'))) if (!isOffered(parse(link.hash.slice(1)))) if (link.className === 'button') link.remove(); else link.removeAttribute('href');
  }).observe(main, { childList: true, subtree: true });
}

const cleared = () => Object.fromEntries(Object.keys(state.params).filter((name) => !['theme', 'utc'].includes(name)).map((name) => [name, null]));

/** @param {View} view */
const takenBy = (view) => [...new Set(Object.values({ ...view.asks(state), ...view.later?.(state) }).flatMap(({ name, taken }) => taken ?? filtersOf(name)))];

/** Keeps the focus on the element of the same id while others are made in its place. @param {() => void} make */
function withFocus(make) {
  const { id } = document.activeElement ?? {};
  make();
  if (id && document.activeElement?.id !== id) document.getElementById(id)?.focus({ preventScroll: true });
}

/**
 * Returns the questions about page loads by hour, and releases.
 * @param {State} of @param {Period | null} [period]
 */
function hoursOf(of, period) {
  const more = period ? { since: period.since, until: period.until } : {};
  return /** @type {const} */ (['summary', 'releases']).map((name) => question(name, of, period && name === 'summary' ? { ...more, release: undefined } : more));
}

/** Asks for page loads by hour, on which all figures rest. @param {AbortSignal} signal @param {Period | null} [period] */
async function summarise(signal, period) {
  if (isAlone()) {
    over.replaceChildren();
    notice.hidden = true;
    return;
  }
  try {
    const [hours, releases] = await Promise.all(hoursOf(state, period).map((wanted) => ask(wanted, signal)));
    if (signal.aborted) return;
    const sum = (/** @type {string} */ name) => hours.rows.reduce((all, row) => all + (row[name] ?? 0), 0);
    totals = /** @type {Totals} */ (Object.fromEntries(Object.keys(nothing).map((name) => [name, sum(name)])));
    knownReleases = releases.rows;
    over.replaceChildren(...hours.rows.length > 0 ? [strip(hours.rows, releases.rows,
      inHash ? undefined : (since, until) => page.go({ since: since.toISOString(), until: until.toISOString() }), period?.sides)] : []);
    hasLoads = hours.rows.length > 0;
    notice.hidden = totals.uploads >= 100 || totals.uploads === 0 || hasOtherPeriod();
    notice.textContent = `Only ${counted(totals.uploads, 'upload')} ${totals.uploads === 1 ? 'matches' : 'match'}: treat these numbers as an anecdote.`;
    if (hours.rows.length === 0) await nameUnknownSite(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    totals = nothing;
    over.replaceChildren(h('p', { class: 'note' }, `Page loads by hour: ${/** @type {Failure} */ (error).message} ${/** @type {Failure} */ (error).detail ?? ''}`));
    notice.hidden = true;
  }
}
/** Shows a note if the site never had an upload, for example because its name is misspelt. @param {AbortSignal} signal */
async function nameUnknownSite(signal) {
  if (isSaved() || state.site.includes('%')) return;
  const { rows } = await ask({ name: 'sites', address: '/api/v1/sites' }, signal, false);
  if (rows.some(({ site }) => site === state.site)) return;
  notice.hidden = false;
  notice.textContent = `No upload of a site “${visible(state.site, 60)}” is in the database.`;
}

/** @type {import('./api.js').Row[]} */
let knownReleases = [];
/** True if the period has profiled page loads of these filters. */
let hasLoads = true;

function foot() {
  const took = Object.values(current?.answers ?? {}).reduce((most, { took_ms: ms }) => Math.max(most, ms), 0);
  const { loads, uploads, profiled_ms: profiled, unattributed_ms: unattributed, unseen_ms: unseen } = totals;
  footer.replaceChildren(h('span', null, isAlone() || hasOtherPeriod() ? '' : [
    counted(loads, 'page load'), counted(uploads, 'upload'), `${duration(profiled)} profiled`,
    profiled > 0 ? `${percent(unattributed / profiled)} of it unattributed` : null,
    unseen > 0 ? `${percent(unseen / (profiled + unseen))} of the watched time unseen` : null].filter(Boolean).join(' · ')),
  asked().some(({ truncated }) => truncated) ? h('strong', { class: 'warning' }, 'An answer was too long and is cut: a filter makes it shorter.') : '',
  h('span', { class: 'took' }, `answered in ${duration(took)}`));
}

// ---- what can be done with every view ----

/** @type {ReturnType<typeof setTimeout> | undefined} */
let untilUntold;
/** Announces for a moment what was done, on the screen and to screen readers. @param {string} text */
function tell(text) {
  page.say(text);
  told.textContent = text;
  told.hidden = false;
  clearTimeout(untilUntold);
  untilUntold = setTimeout(() => { told.hidden = true; }, 3000);
}

/** @param {string} title @param {string} text */
function dialog(title, text) {
  const box = h('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() },
    h('h2', { id: 'dialog-title' }, title), h('pre', { tabIndex: 0 }, visible(text, 100_000).replaceAll('\\u{a}', '\n')),
    h('form', { method: 'dialog', class: 'row' }, button('Copy', () => { void page.copy(text); }), h('button', { type: 'submit' }, 'Close')));
  document.body.append(box);
  box.showModal();
}

const asked = () => Object.values(current?.answers ?? {});
const showSql = () => dialog('SQL', asked().map(({ sql }) => sql).filter(Boolean).map((sql) => sql.replace(/;*\s*$/, ';')).join('\n\n'));
const showCommand = () => dialog('Command', [...new Set(asked().map(({ command }) => command).filter(Boolean))].join('\n') || 'No command of fleetprof prints this; the SQL does.');
const viewAddress = () => new URL(address(pinned(state, Date.now())), location.href).href;
/** A saved file has a local path, which helps nobody elsewhere and names folders of its reader. */
const copyLink = () => (inHash ? tell('This file has no address.') : page.copy(viewAddress()));

/** @param {string} name @param {string} type @param {string | Uint8Array<ArrayBuffer> | Blob} content */
function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: `fleetprof-${name.replace(/[^\w.-]+/g, '-')}` }).click();
  URL.revokeObjectURL(url);
}

const fileSite = () => (state.site === '%' ? 'all-sites' : state.site);

/** @param {'csv' | 'json'} kind */
function save(kind) {
  const exported = current?.shown.exported?.();
  if (!exported) return tell('This view has no table.');
  const text = kind === 'csv' ? csv(exported.columns, exported.rows)
    : `${JSON.stringify(exported.rows.map((row) => Object.fromEntries(exported.columns.map((name) => [name, row[name] ?? null]))), null, 1)}\n`;
  return download(`${exported.name}.${kind}`, kind === 'csv' ? 'text/csv' : 'application/json', text);
}

/** Copies the table in view, for an issue or a chat, with a link to the view. */
function copyMarkdown() {
  const exported = current?.shown.exported?.();
  if (!exported) return tell('This view has no table.');
  const most = 100, { name, rows } = exported;
  const columns = exported.columns.filter((column) => !/_key$|^generated_/.test(column));
  const left = rows.length - most;
  const link = viewAddress().replace(/[()]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  return page.copy(`${inHash ? `fleetprof: ${name}, ${savedAt}` : `[fleetprof: ${name}](${link})`}\n\n${markdown(columns, rows.slice(0, most))}${left > 0 ? `\n${counted(left, 'row')} more.\n` : ''}`);
}

/** Draws a picture of the graph. @param {string} svg */
async function savePng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  try {
    await image.decode();
  } catch {
    return tell('This browser cannot draw the picture; the SVG has it.');
  }
  const canvas = h('canvas', { width: image.width, height: image.height });
  canvas.getContext('2d')?.drawImage(image, 0, 0);
  return canvas.toBlob((blob) => (blob ? download(`${fileSite()}.png`, blob.type, blob) : tell('The graph is too tall for a picture.')));
}

/** Functions that a saved file answers. */
const mostLinked = 10;

/** Returns what the pages of the first functions in view ask; of a comparison, of those that it found. @param {State} then @returns {[string, Question][]} */
function linkedFunctions(then) {
  const links = /** @type {HTMLAnchorElement[]} */ ([...main.querySelectorAll('a[href*="/function/"]')])
    // The badge of a finding needs no explanation.
    .filter((link) => !link.closest('tr')?.querySelector('.badge')?.getAttribute('title'));
  const states = new Map(links.map(({ pathname, search }) => [pathname, parse(pathname + search)]));
  return [...states.values()].slice(0, mostLinked).flatMap(({ item, params }) => {
    const of = changed(then, { view: 'function', item });
    of.params = { ...params, ...of.params };
    return [...Object.values(views.function.asks(of)), ...hoursOf(of)].map((asked) => /** @type {[string, Question]} */ (['function?', asked]));
  });
}

/** Saves the view as one file that needs no server, with its current times. */
async function saveFile() {
  const view = views[state.view];
  const then = pinned(state, Date.now());
  const asks = view.asks(then);
  try {
    const answers = await askAll(asks, new AbortController().signal);
    const more = { ...view.more?.(then, answers), ...view.later?.(then, answers) };
    const questions = [...Object.entries({ ...asks, ...more }), ...linkedFunctions(then), ...isAlone() ? [] : hoursOf(then, view.period?.(answers)).map((wanted) => /** @type {const} */ (['hours?', wanted]))];
    download(`${fileSite()}-${state.view}.html`, 'text/html',
      await savedPage(questions.map(([name, wanted]) => ({ ...wanted, mayFail: name.endsWith('?') })), format(then)));
  } catch (error) {
    const { message, detail = '' } = /** @type {Failure} */ (error);
    dialog('The view is not saved', `${message} ${detail}`);
  }
}

/** A menu of the view's exports. */
function exportMenu() {
  const panel = h('div', { class: 'panel menu', tabIndex: -1 });
  const menu = h('details', { class: 'popover' }, h('summary', { class: 'button', id: 'export' }, 'Export'), panel);
  const choice = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ act) => button(label, () => { menu.open = false; act(); }, { id: `export-${name}` });
  menu.addEventListener('toggle', () => {
    const { tree, picture } = current?.shown ?? {};
    /** @param {string} name */
    const written = (name) => formats[name].write(/** @type {NonNullable<typeof tree>} */ (tree)(), `${viewNow()?.title} · ${selection(pinned(state, Date.now()))}`, totals.loads, picture?.());
    panel.replaceChildren(
      choice('csv', 'Table as CSV', () => save('csv')), choice('json', 'Table as JSON', () => save('json')), choice('markdown', 'Copy table as Markdown', () => { void copyMarkdown(); }),
      ...tree ? Object.entries(formats).map(([name, { name: label, extension, type }]) => choice(name, `Graph: ${label}`, () => download(`${fileSite()}.${extension}`, type, written(name)))) : [],
      ...tree ? [choice('png', 'Graph: picture (PNG)', () => { void savePng(/** @type {string} */ (written('svg'))); })] : [],
      ...inHash ? [] : [choice('file', 'View as one file', () => { void saveFile(); })]);
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => { if (!menu.contains(/** @type {Node | null} */ (relatedTarget))) menu.open = false; });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
  return menu;
}

const keys = () => [
  ['?', 'this list'], ['/', 'search'], ...keyed().map(([, { key, title }]) => [`g ${key}`, title.toLowerCase()]),
  ...inHash ? [] : [['[ and ]', 'the release before, the release after'], ['l', 'copy link']], ['q', 'show SQL'], ['d', 'light or dark'], ['u', 'ask again'],
  ['in the flame graph', ''],
  ['↑ ↓ ← →', 'caller, costliest callee, siblings'], ['Enter', 'zoom in'], ['Backspace, Escape', 'zoom out'], ['PageUp PageDown', 'scroll'],
  ['c', 'callers and callees of the function'], ['o', 'focus on the function'], ['x', 'hide the function'], ['r', 'collapse recursion'], ['i', 'invert'], ['p', 'fold packages'],
  ['+ −', 'in a timeline: closer, wider'],   ['n and N', 'the next match, the match before'], ['m', 'to what can be done with the selection'],
];

function showKeys() {
  const box = h('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() }, h('h2', { id: 'dialog-title' }, 'Keys'),
    h('dl', { class: 'keys' }, keys().flatMap(([key, what]) => (what ? [h('dt', null, h('kbd', null, key)), h('dd', null, what)] : [h('dt', { class: 'part' }, key), h('dd', null)]))),
    h('form', { method: 'dialog' }, h('button', { type: 'submit' }, 'Close')));
  document.body.append(box);
  box.showModal();
  box.scrollTop = 0; // the focus is on Close, at the end
}

// ---- light and dark ----

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (state.params.theme ? state.params.theme === 'dark' : prefersDark.matches);

function applyTheme() {
  const theme = isDark() ? 'dark' : 'light';
  if (document.documentElement.dataset.theme === theme) return;
  document.documentElement.dataset.theme = theme;
  recolour();
}
prefersDark.addEventListener('change', () => { applyTheme(); current?.shown.update(state); });

const turn = () => page.go({ theme: isDark() ? 'light' : 'dark' }, { replace: true });

/** @param {number} step */
function otherRelease(step) {
  const view = viewNow();
  if (!view || isAlone() || !takenBy(view).includes('release')) return;
  const names = inOrder(knownReleases).map(({ release }) => literal(release));
  const at = names.indexOf(state.params.release);
  const next = state.params.release === undefined ? (step < 0 ? names.length - 1 : 0) : at + step;
  if (names[next] !== undefined && isOffered(changed(state, { release: names[next] }))) { page.go({ release: names[next] }); page.say(`Release ${visible(readable(names[next]))}`); }
}

// ---- listening ----

let afterG = false;
/** @type {Record<string, () => void>} */
const pressed = {
  '?': showKeys, l: () => { void copyLink(); }, q: showSql, d: turn, u: () => page.again(),
  '[': () => otherRelease(-1), ']': () => otherRelease(1),
  '/': () => document.getElementById('search')?.focus(),
};

/** @param {KeyboardEvent} event */
const isOurs = ({ ctrlKey, metaKey, altKey, target }) => !ctrlKey && !metaKey && !altKey && !/** @type {HTMLElement} */ (target).closest('input, select, textarea, dialog');

// Before a graph in focus takes the key after g for one of its own.
document.addEventListener('keydown', (event) => {
  if (!afterG || !isOurs(event)) return;
  afterG = false;
  event.stopPropagation();
  const view = keyed().find(([, { key }]) => key === event.key);
  if (view && (!isSites() || view[0] === 'sites')) {
    event.preventDefault();
    page.go(view[0] === 'sites' ? { view: 'sites', ...cleared() } : { view: view[0] });
  }
}, true);

document.addEventListener('keydown', (event) => {
  if (!isOurs(event)) return;
  if (event.key === 'g') { afterG = true; return; }
  if (pressed[event.key]) { event.preventDefault(); pressed[event.key](); return; }
  if (current?.shown.key?.(event.key)) event.preventDefault();
});

document.addEventListener('click', (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest('a');
  if (!link || link.origin !== location.origin || link.download || link.target || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.protocol === 'blob:' || link.rel.includes('noopener')) return;
  if (link.getAttribute('href')?.startsWith('#') && !inHash) return;
  event.preventDefault();
  const next = inHash ? read(link.hash) : parse(link.pathname + link.search);
  const isHere = format(next) === format(state); // then Back would seem to do nothing
  state = next;
  history[isHere ? 'replaceState' : 'pushState'](null, '', address(state));
  void show().then(() => heading.focus({ preventScroll: true }));
  window.scrollTo(0, 0);
});

window.addEventListener('popstate', () => { state = read(); void show(); });

// ---- the frame ----

heading.tabIndex = -1;
append(document.body, [
  h('a', { class: 'skip', href: '#main' }, 'Skip to the view'),
  h('header', null,
    h('div', { class: 'top' },
      h('a', { class: 'brand', href: inHash ? '#' : '/' }, 'fleetprof'), sites, nav),
    savedNote, bar, over),
  h('section', { class: 'title', 'aria-label': 'View' }, heading, notice, asking,
      h('div', { class: 'actions', role: 'group', 'aria-label': 'Share' },
        ...inHash ? [] : [button('Copy link', () => { void copyLink(); }, { id: 'copy-link' })], button('SQL', showSql, { id: 'show-sql', 'aria-label': 'Show SQL' }),
        button('Command', showCommand, { id: 'show-command', 'aria-label': 'Show command' }),
        exportMenu(),
        button('◐', turn, { id: 'theme', 'aria-label': 'Light or dark' }), button('?', showKeys, { id: 'keys', 'aria-label': 'Keys' }), manual)),
  main, footer, live, told,
]);
void show();
