// SPDX-License-Identifier: Apache-2.0
/** The filter bar: the period and the filters of page loads, each value with its uploads. */
import { ask, question } from './api.js';
import { count, ownZone, percent, time, visible, zone } from './format.js';
import { rows } from './filter_rows.js';
import { button, h } from './h.js';
import { ago, fields, literal, moment, ofScripts, readable, sideOf, takesReleaseHours, twin } from './state.js';

const periods = [['1h', 'hour'], ['1d', 'day'], ['7d', '7 days'], ['30d', '30 days']];
/** Default period of a comparison. */
const releaseHours = 'First 48 h of the release';
export const markers = ['script', 'gc', 'style', 'layout', 'paint', 'other', '(none)'];
/** Fields whose values are always the same. */
export const fixed = /** @type {Record<string, string[]>} */ ({ marker: markers, navigation: ['hard', 'soft', 'back-forward', 'back-forward-cache', 'prerender', 'reload', 'restore', ''] });

const about = new Map(rows.map(({ name, help }) => [name, help]));

/** @typedef {import('./state.js').State} State */

/**
 * @param {State} state
 * @param {(changes: Record<string, string | null>) => void} go
 * @param {string[]} taken the filters that the view takes
 * @param {() => import('./api.js').Row | undefined} latest the latest release
 */
export function filterBar(state, go, taken, latest) {
  const { params } = state;
  const since = params.since ?? '1d';
  const isOpen = takesReleaseHours(state);
  const isPlain = params.until === undefined && periods.some(([value]) => value === since);
  const written = (/** @type {string} */ text) => `${inZone(text)}${ago(text) === null ? '' : ' ago'}`;
  const end = params.until ? written(params.until) : 'now';
  const label = isOpen ? releaseHours : params.since === undefined ? (state.view === 'compare' ? `Until ${end}` : 'Last day')
    : params.until === undefined && ago(since) !== null ? `Last ${periods.find(([value]) => value === since)?.[1] ?? since}`
      : `${written(since)} – ${end}`;
  const all = state.view === 'functions' ? [...fields, ...ofScripts] : fields;
  const more = button('+ Filter', () => {
    more.setAttribute('aria-expanded', String(bar.classList.toggle('unfolded')));
  }, { class: 'more quiet', 'aria-expanded': 'false', id: 'more-filters' });
  const bar = h('div', { class: 'filters', role: 'group', 'aria-label': 'Filters' },
    popover('period', label, !isOpen, () => periodPanel(state, go, isPlain && !isOpen, latest())),
    all.map((field) => {
      const value = params[field];
      const left = params[twin(field)];
      const isOfScripts = ofScripts.includes(field);
      const isTaken = isOfScripts || taken.includes(field);
      const shown = (/** @type {string} */ text) => (text === '' ? '(none)' : visible(readable(text), 40));
      const chip = popover(field, [field, value !== undefined && `: ${shown(value)}`, left !== undefined && ` ≠ ${shown(left)}`].filter(Boolean).join(''),
        value !== undefined || left !== undefined, () => valuesPanel(field, state, go), isTaken ? undefined : `${field} does not apply to this view`, about.get(field));
      if (value === undefined && left === undefined) {
        chip.classList.add('unset');
        return chip;
      }
      return h('span', { class: 'chip' }, chip,
        isOfScripts ? null : button('≠', () => go({ [field]: left ?? null, [twin(field)]: value ?? null }),
          { class: 'remove', 'aria-pressed': String(left !== undefined), 'aria-label': `Leave out what the filter ${field} selects`, id: `exclude-${field}` }),
        button('×', () => go({ [field]: null, [twin(field)]: null }), { class: 'remove', 'aria-label': `Remove the filter ${field}`, id: `remove-${field}` }));
    }),
    all.some((field) => field in params || twin(field) in params)
      ? button('clear', () => go(Object.fromEntries(all.flatMap((field) => [[field, null], [twin(field), null]]))), { class: 'quiet', id: 'clear-filters' }) : null, more);
  return bar;
}

/**
 * Returns a button that opens a panel below itself.
 * @param {string} name @param {string} label @param {boolean} isOn @param {() => Node} content @param {string} [note] why it does not count
 * @param {string} [help]
 */
function popover(name, label, isOn, content, note, help) {
  const id = `panel-${name}`;
  const opener = button(label, () => (box.querySelector('.panel') ? close() : open()), {
    'aria-expanded': 'false', 'aria-haspopup': 'dialog', class: [isOn && 'on', note && 'idle'].filter(Boolean).join(' ') || null, id: `filter-${name}`, title: note ?? help ?? null,
  });
  const box = h('span', { class: 'popover' }, opener);
  const outside = (/** @type {Event} */ event) => { if (!box.contains(/** @type {Node} */ (event.target))) close(); };
  function open() {
    const panel = h('div', { class: 'panel', id, role: 'dialog', 'aria-label': `Filter by ${name}` }, note ? h('p', { class: 'note' }, `${note}.`) : null, content());
    box.append(panel);
    opener.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside);
    /** @type {HTMLElement | null} */ (panel.querySelector('input, button'))?.focus();
  }
  function close() {
    box.querySelector('.panel')?.remove();
    opener.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside);
  }
  box.addEventListener('focusout', ({ relatedTarget }) => { if (relatedTarget && !box.contains(/** @type {Node} */ (relatedTarget))) close(); });
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && box.querySelector('.panel')) {
      event.stopPropagation();
      close();
      opener.focus();
    }
  });
  return box;
}

/** A day, or a time without an offset. */
const withoutOffset = /^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+))?$/;

/** Returns a time of an address by the clock of the shown zone, other texts unchanged. @param {string} [text] */
export const inZone = (text = '') => (ago(text) === null ? time(moment(text, 0) ?? text) : text);

/** Returns a time of the shown zone as addresses have it, other texts unchanged. @param {unknown} text */
export function typed(text) {
  const written = String(text).trim();
  const [, day, clock = '00:00'] = zone === 'UTC' ? [] : withoutOffset.exec(written) ?? [];
  const date = new Date(`${day}T${clock}`);
  return Number.isNaN(date.getTime()) ? written || null : date.toISOString();
}

/** @param {State} state @param {(changes: Record<string, string | null>) => void} go @param {boolean} isPlain @param {import('./api.js').Row | undefined} latest release */
function periodPanel(state, go, isPlain, latest) {
  const { params } = state;
  const isCompare = state.view === 'compare';
  const now = Date.now();
  const [since, until] = [moment(params.since ?? '1d', now), moment(params.until ?? '0s', now)];
  const at = (/** @type {number} */ time) => new Date(time).toISOString();
  const input = (/** @type {string} */ name, /** @type {string} */ otherwise) => h('label', null, `${name} `,
    h('input', { name, value: inZone(params[name]), placeholder: otherwise, autocomplete: 'off', spellcheck: false }));
  return h('div', null,
    h('div', { class: 'row' }, periods.map(([value, label]) => button(`Last ${label}`, () => go({ since: value === '1d' && !isCompare ? null : value, until: null }),
      { 'aria-pressed': String(isPlain && (params.since ?? '1d') === value) })),
    isCompare || !latest ? null : button(`Since ${visible(latest.release, 40) || '(none)'}`, () => go({ since: at(Date.parse(latest.rollout_began)), until: null })),
    isCompare || since === null || until === null ? null : button('Previous period', () => go({ since: at(2 * since - until), until: at(since) })),
    isCompare ? button(releaseHours, () => go({ since: null, until: null, before_since: null, before_until: null }), { 'aria-pressed': String(takesReleaseHours(state)) }) : null),
    h('form', {
      class: 'custom',
      onsubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
        go({ since: typed(form.get('since')), until: typed(form.get('until')) });
      },
    }, input('since', isCompare ? 'first hour of the release' : '1d'), input('until', isCompare ? '' : 'now'), h('button', { type: 'submit' }, 'Apply'),
    h('p', { class: 'note' }, `A time such as 2026-05-01T14:00 (${zone}), or how long ago: 30m, 2h, 1d, 1w. Whole hours count. `,
      ownZone === 'UTC' ? null : button(`Times in ${zone === 'UTC' ? ownZone : 'UTC'}`, () => go({ utc: zone === 'UTC' ? null : '1' })))));
}

/** @param {string} field @param {State} state @param {(changes: Record<string, string | null>) => void} go */
function valuesPanel(field, state, go) {
  const side = sideOf(state.params, field);
  const list = h('div', { class: 'values' });
  const input = h('input', {
    type: 'text', placeholder: 'Search, or a pattern with %', 'aria-label': `Search values of ${field}`, autocomplete: 'off', spellcheck: false,
    oninput: () => fill(),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === 'Enter') { event.preventDefault(); go({ [side]: input.value }); }
      if (event.key === 'ArrowDown') { event.preventDefault(); /** @type {HTMLElement | null} */ (list.querySelector('button'))?.focus(); }
    },
  });
  /** @type {{ value: string, uploads: number | null }[]} */
  let values = [];
  let note = 'Asking …';
  const all = () => values.reduce((sum, { uploads }) => sum + (uploads ?? 0), 0);
  const fill = () => {
    const wanted = input.value.toLowerCase();
    const found = values.filter(({ value }) => (value || '(none)').toLowerCase().includes(wanted));
    list.replaceChildren(...found.slice(0, 60).map(({ value, uploads }) => button('', () => go({ [side]: literal(value) }), {
      'aria-pressed': String(state.params[side] === literal(value)), class: 'value', style: { '--part': `${uploads === null ? 0 : (100 * uploads) / (all() || 1)}%` },
    })));
    [...list.children].forEach((element, i) => element.append(h('span', { class: 'name' }, found[i].value === '' ? '(none)' : visible(found[i].value, 80)),
      ...found[i].uploads === null ? [] : [h('span', { class: 'figures' }, `${count(found[i].uploads)} · ${percent((found[i].uploads ?? 0) / (all() || 1))}`)]));
    if (found.length === 0) list.replaceChildren(h('p', { class: 'note' }, note || (input.value ? 'No value has this text. Enter takes it as a pattern.' : 'No upload has a value.')));
    else if (found.length > 60) list.append(h('p', { class: 'note' }, `${count(found.length - 60)} more: search.`));
  };
  list.addEventListener('keydown', (event) => {
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const next = event.key === 'ArrowDown' ? active.nextElementSibling : event.key === 'ArrowUp' ? active.previousElementSibling ?? input : null;
    if (next instanceof HTMLElement) { event.preventDefault(); next.focus(); }
  });
  fill();
  if (fixed[field]) {
    values = fixed[field].map((value) => ({ value, uploads: null }));
    fill();
  } else {
    const isOfScripts = ofScripts.includes(field);
    ask(isOfScripts ? question('cost_by', state, { by: field }) : question('values', state, { field, [field]: undefined, [twin(field)]: undefined })).then(({ rows }) => {
      values = isOfScripts ? rows.flatMap(({ name }) => (name === '(unattributed)' ? [] : [{ value: name, uploads: null }])) : /** @type {any} */ (rows);
      note = '';
      fill();
    }, (/** @type {import('./api.js').Failure} */ failure) => {
      note = `${failure.message} ${failure.detail ?? ''}`;
      fill();
    });
  }
  return h('div', null, input, list);
}

