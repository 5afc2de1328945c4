/*
 * UTF-8: what JSON may hold and PostgreSQL may not, and names that a browser mangled. Any thread.
 */
#ifndef FP_FORMAT_UTF8_H
#define FP_FORMAT_UTF8_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

/* Copies valid UTF-8 into the arena with every U+0000 replaced by U+FFFD. False when the arena is
 * full. */
bool fp_utf8_copy(struct fp_arena *arena, struct fp_str text, struct fp_str *copy) FP_MUST_CHECK;

/*
 * Undoes mojibake in place: Chromium hands out non-ASCII function names as their UTF-8 bytes read
 * as Latin-1. When all code points of the name are at most U+00FF and, taken as bytes, are valid
 * UTF-8, those bytes are the name; else it stays. The result is never longer. text is valid UTF-8
 * in writable memory.
 */
struct fp_str fp_utf8_repair(struct fp_str text);

/*
 * Rewrites the JSON escapes of unpaired surrogates (\ud800) to \ufffd in place; the length stays.
 * Returns whether there were any.
 */
bool fp_utf8_pair_escapes(char *json, size_t len);

#endif
