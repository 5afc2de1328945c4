// SPDX-License-Identifier: Apache-2.0
/** Syntax: finds functions and classes in a parsed script, and the names that people gave them. */
/** @typedef {import('@lezer/common').SyntaxNode} SyntaxNode */
/** @typedef {import('@lezer/common').Tree} Tree */

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunction', 'MethodDeclaration']);
const classTypes = new Set(['ClassDeclaration', 'ClassExpression']);
const literalTypes = new Set(['String', 'TemplateString', 'Number']);
const keyTypes = new Set(['PropertyDefinition', 'PrivatePropertyDefinition', 'String', 'Number']);

/** A method of an object literal is a property with parameters. @param {SyntaxNode} node */
export const isFunction = (node) => functionTypes.has(node.name) || (node.name === 'Property' && node.getChild('ParamList') !== null);

/** @param {SyntaxNode} node */
export const isClass = (node) => classTypes.has(node.name);

/**
 * A place at which V8 says that a function begins.
 * @typedef {{ offset: number, kind: 'function' | 'constructor' | 'class', name: SyntaxNode | null, from: number, to: number, owner: number, body: number }} Definition
 *   name: the identifier of the function itself; from, to: where it is written; owner: where its function, or its
 * class, begins;
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
  const { lastChild } = node;
  const body = (lastChild?.from ?? node.to) + (lastChild?.name === 'Block' ? 1 : 0);
  return { offset: start.from, kind: mayBeConstructor(node) ? 'constructor' : 'function', name: identifierOf(node), from: node.from, to: node.to, owner: node.from, body };
}

/** A class begins where it has no constructor; initializers of fields begin at the class, or at the first field. @param {SyntaxNode} node @returns {Definition[]} */
function definitionsOfClass(node) {
  const members = node.getChild('ClassBody')?.getChildren('PropertyDeclaration') ?? [];
  const blocks = node.getChild('ClassBody')?.getChildren('StaticBlock') ?? [];
  const isStatic = (/** @type {SyntaxNode} */ member) => member.name === 'StaticBlock' || member.getChild('static') !== null;
  const firsts = [members.find((member) => !isStatic(member)), [...members.filter(isStatic), ...blocks].sort((a, b) => a.from - b.from)[0]];
  return [node, ...firsts].flatMap((start) => (start ? [{ offset: start.from, kind: /** @type {const} */ ('class'), name: identifierOf(node), from: start.from, to: start.to, owner: node.from, body: node.from }] : []));
}

/** @param {SyntaxNode} node */
const isMethod = (node) => node.name === 'MethodDeclaration' || node.name === 'Property';

/**
 * Returns the key of a property, method or field; null if it is computed by more than a string or a number.
 * @param {SyntaxNode} node @returns {SyntaxNode | null}
 */
function keyOf(node) {
  let key = node.firstChild;
  while (key && key.name !== '[' && !keyTypes.has(key.name)) key = key.nextSibling;
  if (key?.name !== '[') return key;
  const inside = key.nextSibling;
  return inside && literalTypes.has(inside.name) && !inside.getChild('Interpolation') && inside.nextSibling?.name === ']' ? inside : null;
}

/** Returns the identifier of a function or class itself; null: it has none. @param {SyntaxNode} node */
function identifierOf(node) {
  const found = isMethod(node) ? keyOf(node) : node.getChild('VariableDefinition');
  return found && !literalTypes.has(found.name) && found.to > found.from ? found : null;
}

/** Returns the key of a method that its class may call as its constructor, by all but its text. @param {SyntaxNode} node */
function constructorKey(node) {
  const key = node.name === 'MethodDeclaration' && !node.getChild('static') ? keyOf(node) : null;
  return key && (key.name === 'PropertyDefinition' || (key.name === 'String' && key.prevSibling?.name !== '[')) ? key : null;
}

/** True for methods that may be a class's constructor: the name is as long. @param {SyntaxNode} node */
function mayBeConstructor(node) {
  const key = constructorKey(node);
  return key !== null && key.to - key.from === 'constructor'.length + (key.name === 'String' ? 2 : 0);
}

/** Returns the innermost function or class around an offset. @param {Tree} tree @param {number} offset @returns {SyntaxNode | null} */
export function enclosing(tree, offset) {
  for (let node = /** @type {SyntaxNode | null} */ (tree.resolveInner(offset, 1)); node; node = node.parent) {
    if (isFunction(node) || isClass(node)) return node;
  }
  return null;
}

/** Returns the class to whose instances the value at an offset belongs, which no function inside makes; null: none. @param {Tree} tree @param {number} offset @returns {SyntaxNode | null} */
export function classOfField(tree, offset) {
  const around = enclosing(tree, offset);
  const fields = (around && isClass(around) && around.getChild('ClassBody')?.getChildren('PropertyDeclaration')) || [];
  const field = fields.find(({ from, to }) => from <= offset && offset < to);
  return field && !field.getChild('static') && (field.getChild('Equals')?.to ?? field.to) <= offset ? around : null;
}

/**
 * Returns the innermost function or class around an offset if it can be that of a definition, else null. A constructor
 * that the source does not have is of its class, and a class may have become a function.
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
 * Returns the name that people use for a function or class: its own name, else the name that it is assigned to, else
 * `outer<` for an argument of a call whose result has a name. Members carry the name of their class. '' if there is
 * none.
 * @param {SyntaxNode} node @param {string} text @returns {string}
 */
export function nameOf(node, text) {
  if (!isMethod(node)) {
    const own = identifierOf(node);
    return own ? textOf(own, text) : targetOf(node, text);
  }
  const key = keyOf(node);
  const name = key ? textOf(key, text) : '';
  const around = name === 'constructor' && constructorKey(node) ? node.parent?.parent : null;
  return around ? nameOf(around, text) : ofClass(node, name, text);
}

/** Returns the name of a member with that of its class, if both have one: `Basket.total`. @param {SyntaxNode} member @param {string} name @param {string} text */
function ofClass(member, name, text) {
  const around = member.parent?.name === 'ClassBody' ? member.parent.parent : null;
  const owner = around && name !== '' ? nameOf(around, text) : '';
  return owner === '' ? name : `${owner}.${name}`;
}

/** Returns an identifier, or the value of a string or number, as V8 names a function by it. @param {SyntaxNode} node @param {string} text */
function textOf(node, text) {
  const written = text.slice(node.from, node.to);
  if (node.name === 'Number') return numberOf(written);
  return literalTypes.has(node.name) ? unescaped(written.slice(1, -1)) : written;
}

/** @param {string} written */
function numberOf(written) {
  const digits = written.replaceAll('_', '');
  if (/^0[0-7]+$/.test(digits)) return String(parseInt(digits, 8));
  if (!digits.endsWith('n')) return String(Number(digits));
  // Broken code may have an invalid number here, and converting a long number is slow.
  return /^(?:\d{1,200}|0[xX][\da-fA-F]{1,200}|0[oO][0-7]{1,200}|0[bB][01]{1,200})n$/.test(digits) ? String(BigInt(digits.slice(0, -1))) : written;
}

/** @type {Record<string, string>} */
const escapes = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\r\n': '', '\n': '', '\r': '', '\u2028': '', '\u2029': '' };

/** Returns a text with its escapes resolved. @param {string} written */
function unescaped(written) {
  return written.replace(/\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|[^]))/g, (whole, point, unit, byte, octal, other) => {
    if (other !== undefined) return escapes[other] ?? other;
    const code = octal ? parseInt(octal, 8) : parseInt(point ?? unit ?? byte, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** More is cut anyway. */
const mostCode = 2000;

/** Returns the code of an assignment's target without spaces and comments. @param {string} code */
const withoutSpace = (code) => code.slice(0, mostCode).replace(/("|'|`)(?:\\[^]|(?!\1)[^\\])*\1|\/\*[^]*?\*\/|\/\/.*|\s+/g, (part, quote, at, whole) => {
  if (quote) return part;
  return /[\w$]/.test(whole[at - 1] ?? '') && /[\w$]/.test(whole[at + part.length] ?? '') ? ' ' : '';
});

/** True for an operand that its expression may return as it is: by a condition, or with a type. @param {SyntaxNode} node @param {string} text */
function mayBeResult({ parent, prevSibling: before, nextSibling: next }, text) {
  if (parent?.name === 'ConditionalExpression') return before !== null;
  const operator = before ?? next;
  return operator !== null && /^(?:[|][|]|&&|[?][?]|as|satisfies|!)$/.test(text.slice(operator.from, operator.to));
}

/** @param {SyntaxNode} node @param {string} text @returns {string} */
function targetOf(node, text) {
  const { parent } = node;
  if (!parent) return '';
  const before = node.prevSibling;
  switch (parent.name) {
    case 'ParenthesizedExpression':
    case 'PrefixCast': return targetOf(parent, text);
    case 'BinaryExpression':
    case 'PostfixExpression':
    case 'ConditionalExpression': return mayBeResult(node, text) ? targetOf(parent, text) : '';
    case 'ParamList':
    case 'PatternProperty':
    case 'ArrayPattern':
    case 'VariableDeclaration': {
      // With a type, the name stands before it.
      let left = before;
      while (left && left.name !== 'VariableDefinition' && left.name !== ',') left = left.prevSibling;
      return left?.name === 'VariableDefinition' ? text.slice(left.from, left.to) : '';
    }
    case 'AssignmentExpression': return parent.firstChild && parent.firstChild.from < node.from ? withoutSpace(text.slice(parent.firstChild.from, parent.firstChild.to)) : '';
    case 'Property':
    case 'PropertyDeclaration': {
      const key = keyOf(parent);
      return key && key.to <= node.from ? ofClass(parent, textOf(key, text), text) : '';
    }
    case 'JSXEscape': return parent.parent?.name === 'JSXAttribute' && parent.parent.firstChild ? text.slice(parent.parent.firstChild.from, parent.parent.firstChild.to) : '';
    case 'ExportDeclaration': return 'default';
    case 'ArgList': {
      const outer = parent.parent && ['CallExpression', 'NewExpression'].includes(parent.parent.name) ? targetOf(parent.parent, text) : '';
      return outer === '' || outer.endsWith('<') ? outer : `${outer}<`;
    }
    default: return '';
  }
}
