// SPDX-License-Identifier: Apache-2.0
/** The contract that every web server keeps (conformance/cases.json), as cases of the modules: each in a virtual host of its own. */
import { cases, servers } from '../../../../conformance/application.mjs';

const tokens = ['fleetprof_site shop', 'fleetprof_token_key KEY_FILE'];

/** @type {Record<string, string[]>} the settings of each part of the server */
const places = Object.fromEntries(Object.entries(servers).map(([name, setting]) => [name,
  setting ? ['fleetprof on', `fleetprof_sample ${setting.rate}`, ...setting.key ? tokens : []] : []]));

/** Returns the values of the variables. @param {string} server @param {string} reason @returns {[string, string, string]} */
function logOf(server, reason) {
  if (!servers[server]) return ['', '', reason];
  const rate = String(parseFloat(servers[server].rate) / 100);
  const sampled = { sampled: '1', rate: '0', cacheable: '0' }[reason] ?? '';
  return [sampled, ['type', 'status'].includes(reason) ? '' : rate, reason];
}

/** @type {import('../cases.mjs').Case[]} */
export const contract = cases.map(({ name, server, reason, request, answer, expect }) => ({
  name: `contract: ${name}`,
  place: places[server],
  method: request?.method,
  ask: request?.fields,
  path: '/page',
  answer,
  status: expect.status,
  policy: expect.policy,
  serverTiming: expect.timing.map((line) => line.replace('<token>', '<shop 1000000>')),
  fields: expect.fields,
  log: reason ? logOf(server, reason) : undefined,
}));
