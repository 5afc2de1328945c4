// SPDX-License-Identifier: Apache-2.0
/** Colours of frames: the kind of code decides the hue. A name, a pattern or a word always says the same. */
import { hostOf } from './format.js';

/** @typedef {'own' | 'third' | 'package' | 'builtin' | 'marker' | 'event' | 'overflow' | 'agent'} Party */

/** @type {Record<Party, string>} */
export const partyNames = {
  own: 'own scripts', third: 'third parties', package: 'packages and ignored code', builtin: 'the browser’s functions', marker: 'layout, gc and the like',
  event: 'events of older formats', overflow: 'names beyond a ceiling', agent: 'fleetprof’s agent',
};

/** Hue and saturation: none of them is that of a verdict. @type {Record<Party, [number, number]>} */
export const hues = {
  own: [52, 80], third: [290, 50], package: [345, 60], builtin: [212, 14], marker: [175, 48], event: [125, 40], overflow: [0, 0], agent: [90, 12],
};

/** @param {string} text */
export function hashed(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return (hash >>> 0) / 0xffffffff;
}

/**
 * Returns the kind of code of each frame. Own scripts come from first parties; if no host's party is known, this
 * function guesses that the host with the most time is one.
 * @param {import('./tree.js').Tree} tree
 * @param {import('./api.js').Row[]} hosts rows of third_parties
 * @returns {{ parties: Party[], guessed: string | null }} guessed: the host that counts as the site's own
 */
export function partiesOf(tree, hosts) {
  const { frames, frame, self } = tree;
  /** @type {Map<string | null, string>} */
  const byResource = new Map();
  const host = frames.resource.map((resource) => {
    const known = byResource.get(resource) ?? hostOf(resource);
    byResource.set(resource, known);
    return known;
  });
  const own = new Set(hosts.filter(({ party }) => party === 'first').map((row) => row.host));
  let guessed = null;
  if (!hosts.some(({ party }) => party)) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (let i = 1; i < tree.count; i += 1) {
      const name = host[frame[i]];
      if (name) sums.set(name, (sums.get(name) ?? 0) + self[i]);
    }
    const [most] = [...sums].sort((a, b) => b[1] - a[1]);
    if (most) own.add(guessed = most[0]);
  }
  const parties = frames.kind.map((kind, i) => /** @type {Party} */ (
    kind !== 'function' ? (['builtin', 'marker', 'event', 'overflow'].includes(kind) ? kind : 'builtin')
      : isAgent(frames.resource[i]) ? 'agent' : !frames.resource[i] ? isPackage(frames.function[i]) ? 'package' : 'builtin' : host[i] === '' || own.has(host[i]) ? 'own' : 'third'));
  return { parties, guessed };
}

/** True for the name of a folded package, such as `(react-dom)`, or `(ignored)`. @param {string} name */
const isPackage = (name) => /^\((?!anonymous\)).+\)$/.test(name);

/**
 * The patterns of fleetprof.is_agent. Each part of a name matches in one way only, or else a made-up name would take
 * the browser forever.
 */
const agentName = /^(?:[^?#]*[/:])?fleetprof(?:[.-](?:[a-z_]{0,3}|worker|vitals|debug|alpha|beta|[a-z_]*[A-Z0-9]\w*))*[.][mc]?js(?:[?#]|$)/;
/** Short parts belong to a hash, so there must be others. */
const agentBuild = /^(?:[^?#]*[/:])?fleetprof(?:(?:[.-](?:min|worker|vitals|debug))*|[^/?#]*[A-Z0-9][^/?#]*)[.][mc]?js(?:[?#]|$)/;

/** True for the script of fleetprof's own agent, as fleetprof.is_agent. @param {string | null | undefined} resource */
export const isAgent = (resource) => Boolean(resource?.includes('fleetprof')) && agentName.test(resource ?? '') && agentBuild.test(resource ?? '');

/** Returns the fill of a frame: the kind of code gives the hue, the name the shade. @param {Party} party @param {string} name @param {boolean} isDark */
export function colour(party, name, isDark) {
  const [hue, saturation] = hues[party];
  const light = (isDark ? 26 : 76) + 6 * hashed(name) + (party === 'builtin' && !isDark ? 8 : 0);
  return `hsl(${hue} ${isDark ? saturation * 0.66 : saturation}% ${light}%)`;
}

/** The colours of a verdict, and the sign before the name. @type {Record<string, { light: string, dark: string, sign: string }>} */
export const verdicts = {
  slower: { light: '#f5a65b', dark: '#9c5208', sign: '▲' },
  faster: { light: '#86bdf2', dark: '#1d5a94', sign: '▼' },
  new: { light: '#f8cf9f', dark: '#6f4a1d', sign: '+' },
  gone: { light: '#cfe3f7', dark: '#27415c', sign: '−' },
  other: { light: '#dde1e6', dark: '#343b44', sign: '' },
};

/** @param {string | undefined} verdict */
export const verdictLook = (verdict) => verdicts[verdict ?? ''] ?? verdicts.other;
