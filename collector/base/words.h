/*
 * Words: the enums that all rooms share, and their names in the database and in envelopes.
 */
#ifndef FP_BASE_WORDS_H
#define FP_BASE_WORDS_H

/* What the main thread did at a sample, besides or instead of the stack. In the database's
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

/* What a timing counts; docs/numbers.md has them all. In the database's order. */
enum fp_timing_kind {
    FP_TIMING_MARK,
    FP_TIMING_MEASURE,
    FP_TIMING_VITAL,
    FP_TIMING_VITAL_GOOD, /* page loads whose vital is good; no values, like the next */
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
    FP_TIMING_PAGE_HOST,       /* hosts of pages that send resources */
    FP_TIMING_KIND_COUNT
};

const char *fp_timing_kind_name(enum fp_timing_kind kind);

enum fp_upload_format {
    FP_UPLOAD_SELF_PROFILE, /* a trace, bare or in an envelope; an envelope with coverage alone */
    FP_UPLOAD_USER_TIMING,  /* bare entries or maps, or an envelope without a trace */
    FP_UPLOAD_SPEED_TRACER, /* a dump: events, network, perhaps V8 profiles */
    FP_UPLOAD_OPERA_SCOPE,  /* a session of Opera's profiler service: events */
    FP_UPLOAD_FORMAT_COUNT
};

const char *fp_upload_format_name(enum fp_upload_format format);

/* Why a page load has no trace; the envelope's `coverage`. */
enum fp_coverage {
    FP_COVERAGE_NONE, /* not said */
    FP_COVERAGE_NO_POLICY,
    FP_COVERAGE_UNSUPPORTED,
    FP_COVERAGE_QUOTA,
    FP_COVERAGE_DISABLED,
    FP_COVERAGE_NOT_SAMPLED,
    FP_COVERAGE_COUNT
};

/* The envelope's word, "" for FP_COVERAGE_NONE. */
const char *fp_coverage_name(enum fp_coverage coverage);

#endif
