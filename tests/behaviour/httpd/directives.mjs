// SPDX-License-Identifier: Apache-2.0
/** The neutral cases' settings, which are written as nginx's directives, in httpd's words. */

import { withKeyFile } from '../headers/token.mjs';

/** @type {Record<string, string>} */
export const names = {
  fleetprof: 'FleetProf',
  fleetprof_sample: 'FleetProfSample',
  fleetprof_arms: 'FleetProfArms',
  fleetprof_policy: 'FleetProfPolicy',
  fleetprof_unsampled: 'FleetProfUnsampled',
  fleetprof_conflict: 'FleetProfConflict',
  fleetprof_types: 'FleetProfTypes',
  fleetprof_always: 'FleetProfAlways',
  fleetprof_not_modified: 'FleetProfNotModified',
  fleetprof_cacheable: 'FleetProfCacheable',
  fleetprof_site: 'FleetProfSite',
  fleetprof_token_key: 'FleetProfTokenKey',
  fleetprof_server_timing: 'FleetProfServerTiming',
  fleetprof_origin_trial: 'FleetProfOriginTrial',
  fleetprof_reports: 'FleetProfReports',
  timing_allow_origin: 'TimingAllowOrigin',
};

/**
 * @param {string[]} [settings]
 * @returns {string} lines of httpd's configuration
 */
export const directives = (settings = []) => settings.map((setting) => {
  const [, name, parameters] = /** @type {RegExpExecArray} */ (/^(\S+)(.*)$/.exec(withKeyFile(setting)));
  if (!names[name]) throw new Error(`httpd has no directive for "${setting}"`);
  return `${names[name]}${parameters}\n`;
}).join('');
