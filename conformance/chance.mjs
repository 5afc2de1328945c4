// SPDX-License-Identifier: Apache-2.0
/** The limits of chance. */

/**
 * Returns the sum of the binomial probabilities that are at most that of `hits`: below 0.001 the count lies outside
 * the 99.9 % interval.
 * @param {number} hits
 * @param {number} trials
 * @param {number} rate
 */
export function likelihood(hits, trials, rate) {
  let log = trials * Math.log1p(-rate);
  const logs = [log];
  for (let k = 1; k <= Math.min(trials, Math.max(2 * hits, 2 * trials * rate) + 100); k++) {
    log += Math.log((trials - k + 1) / k) + Math.log(rate / (1 - rate));
    logs.push(log);
  }
  return logs.filter((other) => other <= logs[hits] + 1e-9).reduce((sum, other) => sum + Math.exp(other), 0);
}
