/** The agent as a classic script. */
import { install } from './agent.js';

install();
