/** Responses that shared caches may serve to others are not sampled. */
import { html, no, sampled, unsampled, yes } from './words.mjs';

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const cached = (...lines) => ({ fields: [html, ...lines.map(
  (line) => /** @type {[string, string]} */ (['Cache-Control', line]))] });

/** @type {import('../cases.mjs').Case[]} */
export const caching = [
  ...[['public'], ['s-maxage=10'], ['private, s-maxage=10'], ['max-age=60'], ['no-cache', 'max-age=60'],
    ['max-age=60, private="set-cookie"'], ['PUBLIC']].map((lines) => (
    { name: `shared: ${lines.join(' | ')}`, place: sampled, answer: cached(...lines), policy: [no],
      log: /** @type {[string, string, string]} */ (['0', '1', 'cacheable']) })),
  ...[['private'], ['max-age=60, private'], ['private', 'max-age=60'], ['max-age=0'], ['no-store'],
    ['no-cache'], ['public, no-store'], ['x="public"']].map((lines) => (
    { name: `not_shared: ${lines.join(' | ')}`, place: sampled, answer: cached(...lines), policy: [yes],
      log: /** @type {[string, string, string]} */ (['1', '1', 'sampled']) })),
  { name: 'an_unsampled_one_is_unsampled_by_its_rate', place: unsampled, answer: cached('public'), policy: [no],
    log: ['0', '0', 'rate'] },
];
