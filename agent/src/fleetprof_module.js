// SPDX-License-Identifier: Apache-2.0
/** The agent as an ES module: `import { start } from 'fleetprof-agent'`. */
import { install } from './agent.js';

export const { start, version } = install();
