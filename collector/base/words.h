/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words: the enums that all rooms share, and their names in the database and in envelopes.
 */
#ifndef FP_BASE_WORDS_H
#define FP_BASE_WORDS_H

#include "collector/base/base.h"

/* The main thread's work at a sample, besides or instead of the stack. In the database's
 * order. */
enum fp_marker {
    FP_MARKER_NONE,
    FP_MARKER_SCRIPT,
    FP_MARKER_GC,
    FP_MARKER_STYLE,
    FP_MARKER_LAYOUT,
    FP_MARKER_PAINT,
    FP_MARKER_OTHER,
    FP_MARKER_COUNT
};

/* The name in SQL: "(none)", "script", … */
const char *fp_marker_name(enum fp_marker marker);

enum fp_frame_kind {
    FP_FRAME_FUNCTION,
    FP_FRAME_BUILTIN, /* only a name: a DOM or web-API function */
    FP_FRAME_MARKER,  /* "(layout)": a sample with a marker and no stack */
    FP_FRAME_EVENT,
    FP_FRAME_OVERFLOW,
    FP_FRAME_KIND_COUNT
};

const char *fp_frame_kind_name(enum fp_frame_kind kind);

/* The kinds of timings; docs/numbers.md describes them. In the database's order. */
enum fp_timing_kind {
    FP_TIMING_MARK,
    FP_TIMING_MEASURE,
    FP_TIMING_VITAL,
    FP_TIMING_VITAL_GOOD, /* page loads whose vital is good: a count only, also the next */
    FP_TIMING_VITAL_POOR,
    FP_TIMING_WINDOW, /* spans that samples are joined with, like measures */
    FP_TIMING_INTERACTION,
    FP_TIMING_INPUT_DELAY,
    FP_TIMING_PROCESSING,
    FP_TIMING_FRAME_SCRIPT, /* scripts in long animation frames */
    FP_TIMING_BLOCKING,
    FP_TIMING_FORCED_LAYOUT,
    FP_TIMING_RESOURCE,
    FP_TIMING_RESOURCE_BYTES,
    FP_TIMING_RESOURCE_OPAQUE, /* responses without Timing-Allow-Origin */
    FP_TIMING_COVERAGE,        /* page loads without a trace, by reason */
    FP_TIMING_PAGE_HOST,       /* hosts of pages that send samples or resources */
    FP_TIMING_HIDDEN,          /* scripts in whose spans time has no stack; no values */
    FP_TIMING_LEFT_OUT,        /* what agents left out: page loads, and how much in the sum */
    FP_TIMING_VITAL_ELEMENT,   /* what a vital's values are of */
    FP_TIMING_VITAL_PART,      /* what they consist of; sums without a histogram */
    FP_TIMING_TTFB,            /* times to first byte whose server's share is known */
    FP_TIMING_TTFB_SERVER,
    FP_TIMING_HANG,      /* documents that hung or crashed, as browsers report them */
    FP_TIMING_VIOLATION, /* document policies that were broken, as browsers report them */
    FP_TIMING_STYLE,     /* of long frames, this and the next; 0 is counted */
    FP_TIMING_LAYOUT,
    FP_TIMING_FORCED_STYLE, /* parts of FP_TIMING_FORCED_LAYOUT, which has both together */
    FP_TIMING_FORCED_REFLOW,
    FP_TIMING_VITAL_FLAGGED, /* values too long to be a wait: a count only, also the next */
    FP_TIMING_INTERACTION_FLAGGED,
    FP_TIMING_RESPONSE,         /* until the paint that shows an interaction's result */
    FP_TIMING_RESPONSE_FLAGGED, /* too long to be a wait; no values */
    FP_TIMING_WAIT,             /* where the time of responses goes that no stack has */
    FP_TIMING_VITAL_PROFILED,   /* vitals of profiled page loads; bins only */
    FP_TIMING_VITAL_WITHOUT,    /* those that something made longer; bins only */
    FP_TIMING_SCRIPT_LOADED,    /* page loads by the script files that they loaded, and all */
    FP_TIMING_SCRIPT_RAN,       /* profiled ones of these by those that ran, and all */
    FP_TIMING_KIND_COUNT
};

const char *fp_timing_kind_name(enum fp_timing_kind kind);

enum fp_upload_format {
    FP_UPLOAD_SELF_PROFILE, /* a trace, bare or in an envelope; an envelope with coverage alone */
    FP_UPLOAD_USER_TIMING,  /* bare entries or maps, or an envelope without a trace */
    FP_UPLOAD_SPEED_TRACER, /* a dump: events, network, perhaps V8 profiles */
    FP_UPLOAD_OPERA_SCOPE,  /* a session of Opera's profiler service: events */
    FP_UPLOAD_REPORTS,      /* reports that browsers send: of no page load */
    FP_UPLOAD_FORMAT_COUNT
};

const char *fp_upload_format_name(enum fp_upload_format format);

/*
 * Why a record was refused although its upload was accepted: id and name. The name is in the
 * database, a metric's label and the log. The numbers are in spools: append only. docs/formats.md
 * says what each one means.
 */
#define FP_RECORD_REFUSALS(X)                                                                      \
    X(NOT_JSON, "not_json")   /* of Speed Tracer, as those up to BAD_PROFILE_LINE */               \
    X(TRUNCATED, "truncated") /* also of Opera Scope */                                            \
    X(NOT_OBJECT, "not_object")                                                                    \
    X(BAD_TYPE, "bad_type")                                                                        \
    X(BAD_TIME, "bad_time")                                                                        \
    X(BAD_DURATION, "bad_duration")                                                                \
    X(NEGATIVE_DURATION, "negative_duration")                                                      \
    X(BAD_CHILDREN, "bad_children")                                                                \
    X(BAD_DATA, "bad_data")                                                                        \
    X(BAD_PROFILE_LINE, "bad_profile_line")                                                        \
    X(NO_MESSAGE, "no_message") /* of Opera Scope, as those up to ORPHAN */                        \
    X(NO_TYPE, "no_type")                                                                          \
    X(NO_TIME, "no_time")                                                                          \
    X(NO_OVERHEAD, "no_overhead")                                                                  \
    X(NO_HITS, "no_hits")                                                                          \
    X(LONG_TIME, "long_time")                                                                      \
    X(BAD_INTERVAL, "bad_interval")                                                                \
    X(BACKWARD_INTERVAL, "backward_interval")                                                      \
    X(BAD_OPTION, "bad_option")                                                                    \
    X(DUPLICATE_ID, "duplicate_id")                                                                \
    X(KNOWN_EVENT, "known_event")                                                                  \
    X(CYCLE, "cycle")                                                                              \
    X(KNOWN_LIST, "known_list")                                                                    \
    X(OTHER_DETAIL, "other_detail")                                                                \
    X(BAD_DETAIL, "bad_detail")                                                                    \
    X(OTHER_SERVICE, "other_service")                                                              \
    X(BAD_STATUS, "bad_status")                                                                    \
    X(SERVICE_EVENT, "service_event")                                                              \
    X(ORPHAN, "orphan")                                                                            \
    X(OTHER_ENTRY, "other_entry")   /* of User Timing and envelopes */                             \
    X(OTHER_REPORT, "other_report") /* of browsers' reports, like the next field */                \
    X(BAD_REPORT, "bad_report")

enum fp_record_refusal {
    FP_RECORD_REFUSAL_NONE, /* the record is kept */
#define FP_RECORD_REFUSAL_ID(id, name) FP_RECORD_REFUSAL_##id,
    FP_RECORD_REFUSALS(FP_RECORD_REFUSAL_ID)
#undef FP_RECORD_REFUSAL_ID
        FP_RECORD_REFUSAL_COUNT
};

/* The name, "" for FP_RECORD_REFUSAL_NONE. */
const char *fp_record_refusal_name(enum fp_record_refusal refusal);

/* Why a page load has no trace, or not its end; the envelope's `coverage`. */
enum fp_coverage {
    FP_COVERAGE_NONE, /* not said */
    FP_COVERAGE_NO_POLICY,
    FP_COVERAGE_UNSUPPORTED,
    FP_COVERAGE_QUOTA,
    FP_COVERAGE_DISABLED,
    FP_COVERAGE_NOT_SAMPLED,
    FP_COVERAGE_OVERLOAD, /* a trace, cut off when the agent took too much of the device */
    FP_COVERAGE_COUNT
};

/* The envelope's word, "" for FP_COVERAGE_NONE. */
const char *fp_coverage_name(enum fp_coverage coverage);

/* How a document ended; `body.reason` of a crash report. */
enum fp_crash {
    FP_CRASH_UNKNOWN, /* its process ended, and the browser does not say why */
    FP_CRASH_OOM,
    FP_CRASH_UNRESPONSIVE,
    FP_CRASH_OTHER, /* for a reason that this version does not know */
    FP_CRASH_COUNT
};

/* The word in the database: "crash", "oom", "unresponsive", "other". */
const char *fp_crash_name(enum fp_crash crash);

/* Data of a page load that an agent left out at a limit; the envelope's `leftOut`. */
enum fp_left_out {
    FP_LEFT_OUT_ANY,     /* one of the others; no envelope says it */
    FP_LEFT_OUT_UNKNOWN, /* not said, or by a word that this version does not know */
    FP_LEFT_OUT_MARK,
    FP_LEFT_OUT_MEASURE,
    FP_LEFT_OUT_PROFILE,  /* what came after its buffer was full, or after its last part */
    FP_LEFT_OUT_OVERLOAD, /* what came after the agent had taken too much of the device */
    FP_LEFT_OUT_VITAL,
    FP_LEFT_OUT_INTERACTION,
    FP_LEFT_OUT_FRAME, /* a long one */
    FP_LEFT_OUT_RESOURCE,
    FP_LEFT_OUT_UPLOAD, /* a whole part */
    FP_LEFT_OUT_COUNT
};

/* The word in envelopes and in the database; "(any)" and "(unknown)" for the first two. */
const char *fp_left_out_name(enum fp_left_out what);

/* Finds a word of an envelope; FP_LEFT_OUT_UNKNOWN for others. */
enum fp_left_out fp_left_out_find(struct fp_str word);

/*
 * The kinds of navigation that vitals and interactions belong to: X(ID, name, web-vitals' word).
 * fleetprof_data.navigations() has the names in the same order. Spools and the database have the
 * numbers: a new one is the last.
 */
#define FP_NAVIGATIONS(X)                                                                          \
    X(HARD, "hard", "navigate")                                                                    \
    X(SOFT, "soft", "soft-navigation") /* within a page, as the browser says */                    \
    X(BACK_FORWARD, "back-forward", "back-forward")                                                \
    X(BACK_FORWARD_CACHE, "back-forward-cache", "back-forward-cache")                              \
    X(PRERENDER, "prerender", "prerender")                                                         \
    X(RELOAD, "reload", "reload")                                                                  \
    X(RESTORE, "restore", "restore") /* of a tab that the browser had discarded */

enum fp_navigation {
    FP_NAVIGATION_UNKNOWN, /* not said, or by a word that this version does not know */
#define FP_NAVIGATION_ID(id, name, word) FP_NAVIGATION_##id,
    FP_NAVIGATIONS(FP_NAVIGATION_ID)
#undef FP_NAVIGATION_ID
        FP_NAVIGATION_COUNT
};

/* The name in the database; "" for FP_NAVIGATION_UNKNOWN. */
const char *fp_navigation_name(enum fp_navigation navigation);

/* Finds a word of web-vitals; FP_NAVIGATION_UNKNOWN for others. */
enum fp_navigation fp_navigation_find(struct fp_str word);

/* True if the clock of its vitals is the page's. That of a page that came back, that was rendered
 * in advance, or that went on to another view starts later. */
bool fp_navigation_is_since_start(enum fp_navigation navigation);

#endif
