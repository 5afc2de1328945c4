/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: replaces what JSON allows and PostgreSQL does not, and repairs names that a browser
 * mangled. Any thread.
 */
#ifndef FP_FORMAT_UTF8_H
#define FP_FORMAT_UTF8_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/buf.h"

/* True for a text of ASCII alone. */
bool fp_utf8_is_ascii(struct fp_str text);

/* Appends bytes of windows-1252 to out as UTF-8. Browsers also read ISO-8859-1 so (WHATWG Encoding
 * section 9); a byte that it leaves undefined is the control character of that number. */
void fp_utf8_add_windows_1252(struct fp_str bytes, struct fp_buf *out);

/* True for valid UTF-8 (RFC 3629). */
bool fp_utf8_is_valid(struct fp_str text);

/* Copies valid UTF-8 into the arena and replaces U+0000 by U+FFFD. False if the arena is full. */
bool fp_utf8_copy(struct fp_arena *arena, struct fp_str text, struct fp_str *copy) FP_MUST_CHECK;

/*
 * Undoes mojibake in place: Chromium reports a non-ASCII function name as its UTF-8 bytes read as
 * Latin-1. If all code points are at most U+00FF and, as bytes, are valid UTF-8, returns those
 * bytes; else the text. The result is never longer. text is valid UTF-8 in writable memory.
 */
struct fp_str fp_utf8_repair(struct fp_str text);

/*
 * Replaces the JSON escapes of unpaired surrogates (\ud800) by \ufffd in place; the length stays.
 * True if there were any.
 */
bool fp_utf8_pair_escapes(char *json, size_t len);

#endif
