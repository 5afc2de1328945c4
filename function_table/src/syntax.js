/** Syntax: finds functions and classes in JavaScript, TypeScript and JSX, and the names that people gave them. */
import { parser } from '@lezer/javascript';

/** @typedef {import('@lezer/common').SyntaxNode} SyntaxNode */
/** @typedef {import('@lezer/common').Tree} Tree */

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunction', 'MethodDeclaration']);
const classTypes = new Set(['ClassDeclaration', 'ClassExpression']);
const longestName = 200;

/** A method of an object literal is a property with parameters. @param {SyntaxNode} node */
export const isFunction = (node) => functionTypes.has(node.name) || (node.name === 'Property' && node.getChild('ParamList') !== null);

/** @param {SyntaxNode} node */
export const isClass = (node) => classTypes.has(node.name);

/** Parses a script; broken code, too. @param {string} text @param {string} path its ending says which language it is */
export function parse(text, path) {
  if (/\.(vue|svelte|astro|html?)$/i.test(path)) return parseRepaired(parser.configure({ dialect: 'ts' }), onlyScripts(text));
  const dialect = /\.[cm]?ts$/i.test(path) ? 'ts' : /\.tsx$/i.test(path) ? 'ts jsx' : 'jsx';
  return parseRepaired(parser.configure({ dialect }), text);
}

const mostRepairs = 10;

/**
 * Parses a script without the defaults that the parser takes for assignments: those of a pattern that is an arrow
 * function's first parameter, as in ({ a } = {}) => a. Places stay. One round repairs all but functions in functions.
 * @param {import('@lezer/lr').LRParser} language @param {string} given
 */
function parseRepaired(language, given) {
  let text = given;
  let tree = language.parse(text);
  for (let round = 0; round < mostRepairs; round += 1) {
    const wrong = patternDefaults(tree);
    if (wrong.length === 0) break;
    let result = '';
    let end = 0;
    for (const { from, to } of wrong) {
      if (from < end) continue;
      result += text.slice(end, from) + blank(text.slice(from, to));
      end = to;
    }
    text = result + text.slice(end);
    tree = language.parse(text);
  }
  return tree;
}

/** Returns the defaults of patterns in what the parser takes for an expression in brackets, before an error. @param {Tree} tree */
function patternDefaults(tree) {
  /** @type {{ from: number, to: number }[]} */
  const found = [];
  tree.iterate({
    enter: ({ type, node }) => {
      const brackets = type.isError ? node.prevSibling : null;
      if (brackets?.name !== 'ParenthesizedExpression' && brackets?.name !== 'ArgList') return;
      const inside = brackets.firstChild?.nextSibling;
      const first = inside?.name === 'SequenceExpression' ? inside.firstChild : inside;
      const [pattern, equals] = [first?.firstChild, first?.getChild('Equals')];
      if (first && equals && first.name === 'AssignmentExpression' && /^(Object|Array)Pattern$/.test(pattern?.name ?? '')) found.push({ from: equals.from, to: first.to });
    },
  });
  return found.sort((a, b) => a.from - b.from);
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

/**
 * A place at which V8 says that a function begins.
 * @typedef {{ offset: number, kind: 'function' | 'constructor' | 'class', name: SyntaxNode | null, from: number, to: number, owner: number, body: number }} Definition
 *   name: the identifier of the function itself; from, to: where it is written; owner: where its function, or its class, begins;
 *   body: where its body begins, inside of its brace
 */

/** Returns the places that a profile of this script can have. @param {Tree} tree @returns {Definition[]} */
export function definitionsOf(tree) {
  /** @type {Definition[]} */
  const found = [];
  tree.iterate({
    enter: ({ node }) => {
      if (isClass(node)) found.push(...definitionsOfClass(node));
      else if (isFunction(node)) found.push(definitionOf(node));
    },
  });
  return found;
}

/** An arrow function begins with its parameters or async, any other one with the bracket of its parameters. @param {SyntaxNode} node @returns {Definition} */
function definitionOf(node) {
  const start = node.name === 'ArrowFunction' ? node : node.getChild('ParamList') ?? node;
  const name = ownIdentifier(node);
  const { lastChild } = node;
  const body = (lastChild?.from ?? node.to) + (lastChild?.name === 'Block' ? 1 : 0);
  return { offset: start.from, kind: name?.name === 'PropertyDefinition' && isConstructor(node) ? 'constructor' : 'function', name, from: node.from, to: node.to, owner: node.from, body };
}

/** A class begins where it has no constructor; initializers of fields begin at the class, or at the first field. @param {SyntaxNode} node @returns {Definition[]} */
function definitionsOfClass(node) {
  const members = node.getChild('ClassBody')?.getChildren('PropertyDeclaration') ?? [];
  const blocks = node.getChild('ClassBody')?.getChildren('StaticBlock') ?? [];
  const isStatic = (/** @type {SyntaxNode} */ member) => member.name === 'StaticBlock' || member.getChild('static') !== null;
  const firsts = [members.find((member) => !isStatic(member)), [...members.filter(isStatic), ...blocks].sort((a, b) => a.from - b.from)[0]];
  return [node, ...firsts].flatMap((start) => (start ? [{ offset: start.from, kind: /** @type {const} */ ('class'), name: ownIdentifier(node), from: start.from, to: start.to, owner: node.from, body: node.from }] : []));
}

/** True for methods that may be a class's constructor: those that the parser knows by this name. @param {SyntaxNode} node */
const isConstructor = (node) => node.name === 'MethodDeclaration' && node.parent?.name === 'ClassBody' && node.to - node.from >= 'constructor'.length
  && ownIdentifier(node)?.to === (ownIdentifier(node)?.from ?? 0) + 'constructor'.length;

/** @param {SyntaxNode} node */
const ownIdentifier = (node) => node.getChild('VariableDefinition') ?? node.getChild('PropertyDefinition') ?? node.getChild('PrivatePropertyDefinition');

/** Returns the innermost function or class around an offset. @param {Tree} tree @param {number} offset @returns {SyntaxNode | null} */
export function enclosing(tree, offset) {
  for (let node = /** @type {SyntaxNode | null} */ (tree.resolveInner(offset, 1)); node; node = node.parent) {
    if (isFunction(node) || isClass(node)) return node;
  }
  return null;
}

/**
 * Returns the innermost function or class around an offset if it can be that of a definition, else null. A constructor that
 * the source does not have is of its class, and a class may have become a function.
 * @param {Definition} definition @param {Tree} tree @param {number} offset @param {boolean} isHead whether the offset must be before the body
 */
export function matching({ kind }, tree, offset, isHead) {
  const node = enclosing(tree, offset);
  if (!node) return null;
  const body = isClass(node) ? node.getChild('ClassBody') : node.lastChild;
  const isInHead = offset <= (body?.from ?? node.to);
  if (isClass(node)) return kind !== 'function' || isInHead ? node : null;
  return kind !== 'class' && (isInHead || !isHead) ? node : null;
}

/**
 * Returns what people call a function or class: its own name, else that of what it is assigned to, else `outer<` for an
 * argument of a call whose result has a name; '' if there is none.
 * @param {SyntaxNode} node @param {string} text @returns {string}
 */
export function nameOf(node, text) {
  const own = ownIdentifier(node);
  const of = (/** @type {SyntaxNode} */ part) => text.slice(part.from, part.to);
  if (own && of(own) === 'constructor' && node.name === 'MethodDeclaration') {
    const around = node.parent?.parent;
    return around ? nameOf(around, text) : 'constructor';
  }
  return cut(own ? of(own) : targetOf(node, text));
}

/** @param {string} name */
const cut = (name) => name.replace(/\s+/g, '').slice(0, longestName);

/** @param {SyntaxNode} node @param {string} text @returns {string} */
function targetOf(node, text) {
  const { parent } = node;
  if (!parent) return '';
  const before = node.prevSibling;
  switch (parent.name) {
    case 'ParenthesizedExpression': return targetOf(parent, text);
    case 'VariableDeclaration': {
      // With a type, the name stands before it.
      let left = before;
      while (left && left.name !== 'VariableDefinition' && left.name !== ',') left = left.prevSibling;
      return left?.name === 'VariableDefinition' ? text.slice(left.from, left.to) : '';
    }
    case 'AssignmentExpression': return parent.firstChild && parent.firstChild.from < node.from ? text.slice(parent.firstChild.from, parent.firstChild.to) : '';
    case 'Property':
    case 'PropertyDeclaration': {
      const key = parent.getChild('PropertyDefinition') ?? parent.getChild('PrivatePropertyDefinition') ?? parent.getChild('String');
      return key && key.to <= node.from ? text.slice(key.from, key.to).replace(/^(['"])(.*)\1$/, '$2') : '';
    }
    case 'ExportDeclaration': return 'default';
    case 'ArgList': {
      const outer = parent.parent && ['CallExpression', 'NewExpression'].includes(parent.parent.name) ? targetOf(parent.parent, text) : '';
      return outer === '' || outer.endsWith('<') ? outer : `${outer}<`;
    }
    default: return '';
  }
}
