// SPDX-License-Identifier: Apache-2.0
/** The agent for workers as an ES module: `import { start } from 'fleetprof-agent/worker'`. */
import { install } from './agent.js';

export const { start, version } = install();
