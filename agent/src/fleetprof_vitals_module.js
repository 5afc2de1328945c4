// SPDX-License-Identifier: Apache-2.0
/** The agent with web vitals as an ES module: `import { start } from 'fleetprof-agent/vitals'`. */
import { install } from './agent.js';
import { startVitals } from './vitals.js';

export const { start, version } = install(startVitals);
