// SPDX-License-Identifier: Apache-2.0
/** The agent as a classic script. */
import { install } from './agent.js';

install();
