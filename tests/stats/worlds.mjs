// SPDX-License-Identifier: Apache-2.0
/**
 * Worlds in which the code of both sides is the same, and something else is not: what tests/stats/worlds.test.mjs walks.
 * Sides are those of fleet_tool.c, of a shop: machines that differ, 15 functions that run nearly everywhere and 45
 * that run in 2 to 30 % of page loads, 3 routes, phones and desktops, busy afternoons, 2 measures, 3 vitals.
 */

/**
 * @typedef {import('./fleet.mjs').Side & { day?: number }} DatedSide day: after that of the first side
 *
 * @typedef {object} World
 * @property {string} name
 * @property {DatedSide[]} before release 1
 * @property {DatedSide} after release 2
 * @property {number} [functions]
 * @property {Record<number, number>} [effects] of release 2, by function: what it costs, times what it did
 * @property {number} [firstWeekday] 0: Sunday
 * @property {string} [todo] why comparisons are wrong in it
 */

/** The most of `all` that chance makes of a true rate, except in one of 100 cases. @param {number} all @param {number} rate */
export function mostByChance(all, rate) {
  let term = (1 - rate) ** all;
  let sum = term;
  let count = 0;
  while (sum < 0.99 && count < all) {
    term *= (all - count) / (count + 1) * (rate / (1 - rate));
    count += 1;
    sum += term;
  }
  return count;
}

/** The fewest of `all` that chance makes of a true rate, except in one of 20 cases. @param {number} all @param {number} rate */
export function fewestByChance(all, rate) {
  let term = (1 - rate) ** all;
  let sum = term;
  let count = 0;
  while (sum < 0.05 && count < all) {
    term *= (all - count) / (count + 1) * (rate / (1 - rate));
    count += 1;
    sum += term;
  }
  return count;
}

export const ordinary = {
  uploads: 500, timings: 2, vitals: 3, day_curve: 0.8,
  route0: 0.5, route1: 0.3, route2: 0.2, route3: 0, route4: 0, route5: 0,
};
const many = 4000;

/** @param {string} name @param {DatedSide} before @param {DatedSide} after @param {Partial<World>} [more] @returns {World} */
const pair = (name, before, after, more = {}) => ({ name, before: [{ ...ordinary, ...before }], after: { ...ordinary, day: 1, ...after }, ...more });

/** @param {string} name @param {number} uploads of a side @param {Partial<World>} [more] @param {Partial<DatedSide>} [side] @returns {World} */
const rollout = (name, uploads, more = {}, side = {}) => ({
  name,
  before: [{ ...ordinary, ...side, uploads: 2 * uploads }, { ...ordinary, ...side, uploads, day: 1, rollout: -1, slow_first: -1 }],
  after: { ...ordinary, ...side, uploads, day: 1, rollout: 1, slow_first: -1 },
  ...more,
});

/**
 * A rollout whose sides have as many uploads as machines have the release: the whole fleet is that of the day before.
 * @param {string} name @param {number} uploads of a side, about @param {number} [slowdown] of the release's timings and vitals @returns {World}
 */
const fullRollout = (name, uploads, slowdown = 1) => {
  const share = 0.576; // of the later release: what draw_hour and has_release of fleet.c make
  const world = rollout(name, uploads);
  world.before[1].uploads = Math.round(2 * uploads * (1 - share));
  Object.assign(world.after, { uploads: Math.round(2 * uploads * share), slowdown });
  return world;
};

/** Fast machines get it first, so side by side it looks as if nothing had changed. */
export const hiddenSlowdown = fullRollout('a rollout of a release whose timings are 15 % slower', 6000, 1.15);

/** Thursday and Friday, and the Saturday and Sunday before and after. @param {string} name @param {number} uploads @returns {World} */
const weekend = (name, uploads) => {
  const free = { ...ordinary, uploads, hours: 48, mobile: 0.6, desktop: 1.12, rare_use: 1.3 };
  return {
    name,
    firstWeekday: 6,
    before: [free, { ...ordinary, uploads, hours: 48, mobile: 0.45, day: 5 }],
    after: { ...free, day: 7 },
  };
};

/** @type {World[]} */
export const worlds = [
  pair('nothing', {}, {}),
  ...[20, 60, 300].map((visitor) => pair(`a visitor of ${visitor} loads in three hours`, { uploads: 800 }, { uploads: 800, visitor })),
  pair('a monitor of 288 loads all day', { uploads: 800 }, { uploads: 800, visitor: 288, visitor_hours: 24 }),
  rollout('a rollout, fast machines first', 750),
  rollout('a rollout, five functions changed', 1750, { effects: { 0: 1.3, 4: 1.3, 8: 0.75, 12: 1.3, 16: 2 } }),
  rollout('a rollout, 6,000 uploads', 6000),
  fullRollout('a rollout, the whole fleet as before', 1750),
  rollout('a rollout, machine classes known', 1500, {}, { machine_noise: 0.5 }),
  pair('fast bots for six hours', {}, { uploads: 600, fast_bots: 0.2 }),
  pair('profiles twice as long', {}, { visit_ms: 16_000 }),
  pair('20 functions, machines 8 % slower', { uploads: 1000 }, { uploads: 1000, drift: 1.08 }, { functions: 20 }),
  weekend('a weekend', 500),
  weekend('a weekend, 4,000 uploads', many),
  pair('cold cache', { cold: 0.3 }, { cold: 0.7 }),
  pair('cold cache, 4,000 uploads', { uploads: many, cold: 0.3 }, { uploads: many, cold: 0.7 }),
  pair('another browser', { new_browser: 0.1 }, { new_browser: 0.8 }),
  pair('another browser, 4,000 uploads', { uploads: many, new_browser: 0.1 }, { uploads: many, new_browser: 0.8 }),
  pair('heavy products', { heavy: 0.3 }, { heavy: 0.5 }),
  pair('heavy products, 4,000 uploads', { uploads: many, heavy: 0.3 }, { uploads: many, heavy: 0.5 }),
  pair('five functions changed', { uploads: 1200 }, { uploads: 1200 }, { effects: { 0: 1.3, 4: 1.3, 8: 0.75, 12: 1.3, 16: 2 } }),
];
