// SPDX-License-Identifier: Apache-2.0
/** Parses JavaScript, TypeScript and JSX; corrects the parser's mistakes. */
import { IterMode, Tree } from '@lezer/common';
import { parser } from '@lezer/javascript';

/** @typedef {import('@lezer/common').SyntaxNode} SyntaxNode */
/** @typedef {import('@lezer/lr').LRParser} LRParser */

/** Parses a script, even broken code. @param {string} text @param {string} path its ending says which language it is @returns {Tree} */
export function parse(text, path) {
  // To the parser, a text that goes on after a backslash and an end of line as on Windows ends there. Places stay.
  const read = text.replaceAll('\\\r\n', ' \\\n');
  if (/\.(vue|svelte|astro|html?)$/i.test(path)) return parseDefaultClass(parser.configure({ dialect: 'ts' }), onlyScripts(read));
  const dialect = /\.[cm]?ts$/i.test(path) ? 'ts' : /\.tsx$/i.test(path) ? 'ts jsx' : 'jsx';
  return parseDefaultClass(parser.configure({ dialect }), read);
}

/** @param {string} part */
const blank = (part) => part.replace(/[^\n\r]/g, ' ');

/** Returns the text with blanks for all that stands outside of script elements: places stay. @param {string} text */
function onlyScripts(text) {
  let result = '';
  let end = 0;
  for (const { index, 0: element, 1: open, 2: code } of text.matchAll(/(<script\b[^>]*>)([\s\S]*?)<\/script\s*>/gi)) {
    result += blank(text.slice(end, index)) + blank(open) + code;
    end = index + open.length + code.length;
    if (end > index + element.length) break;
  }
  return result + blank(text.slice(end));
}

/* ---- export default class {} ---- */

/** A name for a class, which is taken out of the tree again. */
const inserted = ' _';

/**
 * Parses a script with a name for the class of `export default class extends Base {}`: the parser takes Base for its
 * name, or the class for a block. In the tree, that name is empty.
 * @param {LRParser} language @param {string} text
 */
function parseDefaultClass(language, text) {
  const tree = parseRepaired(language, text);
  const places = unnamedClasses(tree, text);
  if (places.length === 0) return tree;
  const parts = places.map((place, index) => text.slice(places[index - 1] ?? 0, place) + inserted);
  return withoutInserted(parseRepaired(language, parts.join('') + text.slice(places.at(-1))), language, places);
}

/** Returns where the names of default exports' classes are missing: the ends of the words `class`. @param {Tree} tree @param {string} text */
function unnamedClasses(tree, text) {
  /** @type {number[]} */
  const found = [];
  tree.iterate({
    enter: (at) => {
      if (at.name === 'class' && isNameless(text, at.to) && isDefaultExport(at.node)) found.push(at.to);
    },
  });
  return found;
}

/** True if no name stands at an offset behind the word `class`. @param {string} text @param {number} offset */
function isNameless(text, offset) {
  const space = /(?:\s+|\/\*[\s\S]*?\*\/|\/\/.*)*/y;
  space.lastIndex = offset;
  space.test(text);
  const next = /[{<]|(?:extends|implements)(?![\w$\\\u0080-\uffff])/y;
  next.lastIndex = space.lastIndex;
  return next.test(text);
}

/** True if `default` stands before a node, or only decorators and comments between. @param {SyntaxNode} node */
function isDefaultExport(node) {
  let at = /** @type {SyntaxNode | null} */ (node);
  while (at) {
    const before = /** @type {SyntaxNode | null} */ (at.prevSibling);
    if (before && !/^(?:(?:Line|Block)Comment|Decorator|abstract)$/.test(before.name)) return before.name === 'default';
    at = before ?? at.parent;
  }
  return false;
}

/**
 * Returns the tree of the text without the inserted names.
 * @param {Tree} tree @param {LRParser} language @param {number[]} places at which it was inserted
 */
function withoutInserted(tree, language, places) {
  const { length: width } = inserted;
  const moved = (/** @type {number} */ offset) => places.reduce((sum, place, index) => sum - Math.min(Math.max(offset - place - index * width, 0), width), offset);
  /** Nodes after their children: type, beginning, end, numbers of it and its children. @type {number[]} */
  const buffer = [];
  /** @type {number[]} */
  const begun = [];
  tree.iterate({
    mode: IterMode.IncludeAnonymous,
    enter: () => { begun.push(buffer.length); },
    leave: ({ type, from, to }) => { buffer.push(type.id, moved(from), moved(to), buffer.length - (begun.pop() ?? 0) + 4); },
  });
  // The tree itself is not a node in it.
  return Tree.build({ buffer: buffer.slice(0, -4), nodeSet: language.nodeSet, topID: tree.type.id, length: moved(tree.length) });
}

/* ---- ({ a } = {}) => a, async <T>(a: T) => a, method?() {} ---- */

/** Classes with optional methods need a round for each. */
const mostRepairs = 20;

/**
 * Parses a script without the code that the parser misreads: defaults of patterns that begin an arrow function's
 * parameters, type parameters of async arrow functions, and the mark of optional methods. Places stay.
 * @param {LRParser} language @param {string} given
 */
function parseRepaired(language, given) {
  let text = given;
  let tree = language.parse(text);
  for (let round = 0; round < mostRepairs; round += 1) {
    const wrong = wrongParts(tree, text);
    if (wrong.length === 0) break;
    let result = '';
    let end = 0;
    for (const { from, to } of wrong) {
      if (from < end) continue;
      // Without line ends: none may follow `async`.
      result += text.slice(end, from) + ' '.repeat(to - from);
      end = to;
    }
    text = result + text.slice(end);
    tree = language.parse(text);
  }
  return tree;
}

/** Returns the ranges to leave out, by place. @param {Tree} tree @param {string} text */
function wrongParts(tree, text) {
  /** @type {{ from: number, to: number }[]} */
  const found = [];
  tree.iterate({
    enter: ({ type, name, node }) => {
      const part = type.isError ? optionalMark(node) ?? patternDefault(node) : name === 'InstantiationExpression' && asyncTypes(node, text);
      if (part) found.push({ from: part.from, to: part.to });
    },
  });
  return found.sort((a, b) => a.from - b.from);
}

/** Returns the type parameters of an async arrow function: the parser takes it for a call of async. @param {SyntaxNode} node @param {string} text */
function asyncTypes(node, text) {
  const callee = node.firstChild;
  return callee?.name === 'VariableName' && text.slice(callee.from, callee.to) === 'async' ? node.getChild('TypeArgList') : null;
}

/** Returns the mark of an optional method, which the parser takes for a field. @param {SyntaxNode} error */
function optionalMark(error) {
  return error.parent?.name === 'PropertyDeclaration' && error.prevSibling?.name === 'Optional' ? error.prevSibling : null;
}

/** Returns the default of the first pattern in what the parser takes for an expression in brackets. @param {SyntaxNode} error behind it */
function patternDefault(error) {
  const brackets = error.prevSibling;
  if (brackets?.name !== 'ParenthesizedExpression' && brackets?.name !== 'ArgList') return null;
  let first = brackets.firstChild?.nextSibling;
  while (first?.name === 'SequenceExpression' || first?.name === 'ArrayExpression') first = first.name === 'ArrayExpression' ? first.firstChild?.nextSibling : first.firstChild;
  const [pattern, equals] = [first?.firstChild, first?.getChild('Equals')];
  return first && equals && first.name === 'AssignmentExpression' && /^(Object|Array)Pattern$/.test(pattern?.name ?? '') ? { from: equals.from, to: first.to } : null;
}
