// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers: functions that a bundler adds to a script, such as esbuild's `__commonJS`. No source has them. Their names
 * begin with an underscore; where a minifier has taken these, their code tells which they are.
 */
import { nameOf } from './syntax.js';

/** Source and package of helpers. */
export const helperSource = '(bundler)';

const mostCode = 4000;

/** Telling code of helpers without spaces; the first one that is found names it. @type {[name: string, code: RegExp][]} */
const helpers = [
  ['__require', /typeofrequire/],
  ['__commonJS', /\{exports:\{\}\}\)?\.exports/],
  ['__decorateClass', /\.length-1.*>=0;[\w$]+--/],
  ['__objRest', /\.indexOf\([\w$]+\)<0&&/],
  ['__toCommonJS', /\(\{\},"__esModule",\{value:/],
  ['__toESM', /\.__esModule\?/],
  ['__copyProps', /typeof[\w$]+===?"object"\|\|typeof[\w$]+===?"function".*get:\(\)=>/],
  ['__export', /for\((?:var|let|const)?[\w$]+in[\w$]+\).*\{get:[\w$]+\[[\w$]+\],enumerable:/],
  ['__name', /,"name",\{value:[\w$]+,configurable:/],
  ['__spreadValues', /for\((?:var|let)[\w$]+in[\w$]+\|\|=?.*hasOwn|for\((?:var|let)[\w$]+in[\w$]+\|\|\([\w$]+=\{\}\)\)/],
  ['__async', /newPromise\(\([\w$]+,[\w$]+\)=>\{.*\.throw\(/],
  ['__publicField', /\(([\w$]+),typeof([\w$]+)!=?="symbol"\?\2\+""/],
  ['__esm', /=\(0,[\w$]+\[[\w$]+\([\w$]+\)\[0\]\]\)\([\w$]+=0\)|&&\(([\w$]+)=([\w$]+)\(\2=0\)\),\1/],
];

/**
 * Returns a helper's name; null: its name is not known.
 * @param {import('@lezer/common').SyntaxNode} node of the helper in the bundle @param {string} script
 */
export function helperName(node, script) {
  const own = nameOf(node, script);
  if (/^_[\w$]{3,}$/.test(own)) return own;
  const code = script.slice(node.from, Math.min(node.to, node.from + mostCode)).replace(/\s+/g, '');
  return helpers.find(([, telling]) => telling.test(code))?.[0] ?? null;
}
