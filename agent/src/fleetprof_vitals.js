// SPDX-License-Identifier: Apache-2.0
/** The agent with web vitals as a classic script. */
import { install } from './agent.js';
import { startVitals } from './vitals.js';

install(startVitals);
