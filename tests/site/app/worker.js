// SPDX-License-Identifier: Apache-2.0
/** Ranks off the main thread. */
import { rank } from './catalogue.js';

onmessage = ({ data }) => postMessage(rank(data).slice(0, 10).map(({ id }) => id));
