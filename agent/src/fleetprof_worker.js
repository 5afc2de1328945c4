// SPDX-License-Identifier: Apache-2.0
/** The agent for workers as a classic script: `importScripts('/fleetprof.worker.js')`. */
import { install } from './agent.js';

install();
