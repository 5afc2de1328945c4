// SPDX-License-Identifier: Apache-2.0
/**
 * Fit: which words of a script and its sources are compared, and how many of them must agree.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TraceMap } from '@jridgewell/trace-mapping';
import ts from 'typescript';

import { Fit } from '../../function_table/src/fit.js';

/** Compares words of a source with those that stand for them in the script, each written and built.
 * @param {[string, string][]} words */
function fitOf(words) {
  const [text, script] = [words.map(([written]) => written).join(' '), words.map(([, built]) => built).join(' ')];
  /** @type {[number, number, number, number][]} */
  const segments = [];
  let [writtenAt, builtAt] = [0, 0];
  for (const [written, built] of words) {
    segments.push([builtAt, 0, 0, writtenAt]);
    writtenAt += written.length + 1;
    builtAt += built.length + 1;
  }
  const map = new TraceMap({ version: 3, names: [], sources: ['a.js'], mappings: [segments] });
  return new Fit(script, [0], map, { get: () => ({ text, starts: [0] }) });
}

/** True if a word that is the same on both sides counts. @param {string} word */
const counts = (word) => fitOf([[word, word]]).all.agreeing === 1;

/** As many words that agree, and that do not; the latter in the middle. @param {number} agreeing @param {number} others */
const mixed = (agreeing, others) => fitOf(Array.from({ length: agreeing + others }, (_, at) => {
  const differs = at >= agreeing >> 1 && at < (agreeing >> 1) + others;
  return /** @type {[string, string]} */ ([`"text${at}"`, differs ? `"other${at}"` : `"text${at}"`]);
}));

test('the words of the language say nothing, in whatever script they stand', () => {
  const reserved = Array.from({ length: ts.SyntaxKind.LastReservedWord - ts.SyntaxKind.FirstReservedWord + 1 }, (_, at) => ts.tokenToString(ts.SyntaxKind.FirstReservedWord + at) ?? '');
  assert.ok(reserved.includes('break') && reserved.includes('with'));
  const inSomePlaces = ['async', 'await', 'from', 'get', 'let', 'of', 'set', 'static', 'undefined', 'yield'];
  assert.deepEqual([...reserved, ...inSomePlaces].filter(counts), []);
  const names = ['interface', 'package', 'arguments', 'constructor', 'Promise', 'Infinity', 'returns'];
  assert.deepEqual(names.filter(counts), names);
});

test('short words, which a minifier may have made, say nothing', () => {
  for (const [least, shorter] of [['"ab"', '"a"'], ["'ab'", "'a'"], ['`ab`', '`a`'], ['.abcd', '.abc'], ['?.abcd', '?.abc'], ['abcd', 'abc']]) {
    assert.deepEqual([counts(least), counts(shorter)], [true, false], least);
  }
});

test('four of five words must agree; of fewer than five words, one', () => {
  for (const [agreeing, others, misfit] of /** @type {[number, number, boolean][]} */ ([
    [80, 20, false], [79, 21, true], [4, 1, false], [3, 2, true], [1, 3, false], [0, 4, true], [0, 2, true], [0, 1, false], [0, 0, false],
  ])) {
    assert.equal(mixed(agreeing, others).isMisfit(), misfit, `${agreeing} and ${others}`);
  }
});

test('half of the words of a source, and of the 16 around a function, must agree', () => {
  assert.deepEqual([mixed(50, 50).isSourceMisfit(0), mixed(49, 51).isSourceMisfit(0), mixed(3, 2).isSourceMisfit(1)], [false, true, false]);
  for (const [others, misfit] of /** @type {[number, boolean][]} */ ([[8, false], [9, true]])) {
    const fit = mixed(40, others);
    const middle = fit.words[20 + (others >> 1)].offset;
    assert.deepEqual([fit.isMisfitAt(0), fit.isMisfitAt(middle), fit.isMisfitAt(1e9)], [false, misfit, false], `${others}`);
  }
  assert.equal(mixed(8, 9).isMisfitAt(0), false, 'the words of a misfit source say nothing about others');
});
