/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, scan: finds the records in a body. Pure functions; any thread.
 */
#ifndef FP_FORMAT_SPEED_TRACER_SCAN_H
#define FP_FORMAT_SPEED_TRACER_SCAN_H

#include "collector/base/base.h"

/* The part of a body that is not scanned yet. */
struct fp_st_scan {
    struct fp_str body;
    size_t at;         /* the next byte to scan */
    size_t lines_end;  /* before it, a line that begins with a brace ends an open record */
    size_t brace_line; /* cache of next_brace_line: the answer for ... */
    size_t line_above; /* ... all positions from here up to it */
    bool in_page;      /* `</div` between records ends them */
    bool in_list;      /* commas separate records, and ... */
    size_t list_end;   /* ... the bracket here ends them; the body's end if unknown */
};

enum fp_st_scan_result {
    FP_ST_SCAN_FOUND,
    FP_ST_SCAN_TRUNCATED, /* there is no closing brace */
    FP_ST_SCAN_END,
};

struct fp_st_record {
    struct fp_str text;
    size_t offset;  /* into the body */
    uint32_t depth; /* of nesting; exact if the text is JSON */
    bool is_plain;  /* true if yyjson would write it the same, apart from numbers: no space outside
                       of strings, no escape that has a shorter form; exact if the text is JSON */
    bool has_junk;  /* something other than white space is before it, ... */
    size_t junk_offset;
};

/*
 * Finds the next record as the tool's loader does: skips everything before a brace, and counts
 * braces outside of strings. Strings are in " or ', and \ escapes in them. Sets has_junk also with
 * FP_ST_SCAN_END.
 */
enum fp_st_scan_result fp_st_scan_next(struct fp_st_scan *scan, struct fp_st_record *record);

/*
 * Resynchronizes after a record that is truncated or not JSON, and may have swallowed records on
 * the lines after it. Goes back to the first line in it that begins with a brace; from there to its
 * end each such line begins a record. False if there is none. All calls together scan each byte at
 * most once more.
 */
bool fp_st_scan_resync(struct fp_st_scan *scan, const struct fp_st_record *record);

/* A posted body that is not JSON as a whole, but whose records may be. */
struct fp_st_broken_post {
    struct fp_str header; /* its value; "" if there is none before the records */
    size_t records;       /* offset of the first one, after the bracket */
};

/* True if invalid JSON still looks like a posted body: an object that starts with `header` or
 * `data` and whose `data` is an array. */
bool fp_st_broken_post_find(const struct fp_st_record *text,
                            struct fp_st_broken_post *post) FP_MUST_CHECK;

/* Returns where the list of records ends, body.len if unknown. Searches from the body's end: an
 * earlier bracket may belong to a record that is not JSON. */
size_t fp_st_broken_post_end(struct fp_str body, size_t records);

/* The facts in a saved page's tag about the records in it. */
struct fp_st_page {
    size_t begin;          /* of the element's text */
    struct fp_str version; /* "" if there is no such attribute */
    struct fp_str charset; /* that a `meta` element before it declares; "" if there is none */
    bool is_raw;
};

/* Finds the element with the id traceData. False if there is none. */
bool fp_st_page_find(struct fp_str html, struct fp_st_page *page) FP_MUST_CHECK;

#endif
