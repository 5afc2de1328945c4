/*
 * Speed Tracer, containers: where in a body the records lie. Pure functions; any thread.
 */
#ifndef FP_FORMAT_SPEED_TRACER_SCAN_H
#define FP_FORMAT_SPEED_TRACER_SCAN_H

#include "collector/base/base.h"

/* The part of a body that is still to be looked at for records. */
struct fp_record_scan {
    struct fp_str body;
    size_t at;         /* the next byte to look at */
    size_t lines_end;  /* up to here a line that begins with a brace ends an open record */
    size_t brace_line; /* such a line, and there is none ... */
    size_t line_above; /* ... below the one of this byte and above it */
    bool in_page;      /* `</div` between records ends them */
    bool in_list;      /* commas stand between them, and ... */
    size_t list_end;   /* ... with the bracket here it ends; the body's end: none is known */
};

enum fp_record_scan_result {
    FP_RECORD_FOUND,
    FP_RECORD_CUT_OFF, /* no closing brace before the end */
    FP_RECORD_NO_MORE,
};

struct fp_record_text {
    struct fp_str text;
    size_t offset;  /* into the body */
    uint32_t depth; /* objects and arrays open at once; exact when the text is JSON */
    bool is_plain;  /* as yyjson would write it, but for numbers: without space outside of strings,
                       and without escapes that have a shorter form; exact, too */
    bool has_junk;  /* there is something else than white space before it, ... */
    size_t junk_offset;
};

/*
 * Finds the next record as the tool's loader did: whatever stands before a brace is skipped, braces
 * are counted outside of strings, which " or ' begin and end, with \ as their escape. has_junk is
 * also set with FP_RECORD_NO_MORE.
 */
enum fp_record_scan_result fp_record_scan_next(struct fp_record_scan *scan,
                                               struct fp_record_text *record);

/*
 * After a record that is no JSON or was cut off: it may have swallowed the records on the lines
 * below it. If there are lines that begin with a brace, goes back to the first of them and takes
 * what lies between two of them for itself.
 * False when there are none. All calls together look at each byte once more.
 */
bool fp_record_scan_lines(struct fp_record_scan *scan, const struct fp_record_text *record);

/* A posted body that is not JSON as a whole, but may hold records that are. */
struct fp_broken_post {
    struct fp_str header; /* its value; "" when there is none before the records */
    size_t records;       /* where they begin: behind the bracket */
};

/* Whether a text that is no JSON is a posted body: an object of which `header` or `data` comes
 * first, and whose member `data` is an array. */
bool fp_broken_post_find(const struct fp_record_text *text,
                         struct fp_broken_post *post) FP_MUST_CHECK;

/* Where the list of records of such a body ends, as the body's own end tells (body.len when it does
 * not): a bracket before may be one of a record that is no JSON. */
size_t fp_broken_post_end(struct fp_str body, size_t records);

/* What the tag of a saved page says about the records in it. */
struct fp_dump_page {
    size_t begin;          /* of what is inside the element */
    struct fp_str version; /* "" when the attribute is missing */
    bool is_raw;
};

/* Finds the element with the id traceData. False when there is none. */
bool fp_dump_page_find(struct fp_str html, struct fp_dump_page *page) FP_MUST_CHECK;

#endif
