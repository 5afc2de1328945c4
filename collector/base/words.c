/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words: the names of the enums in the database and in envelopes.
 */
#include "collector/base/words.h"

const char *fp_marker_name(enum fp_marker marker)
{
    static const char *const names[FP_MARKER_COUNT] = {
        [FP_MARKER_NONE] = "(none)", [FP_MARKER_SCRIPT] = "script", [FP_MARKER_GC] = "gc",
        [FP_MARKER_STYLE] = "style", [FP_MARKER_LAYOUT] = "layout", [FP_MARKER_PAINT] = "paint",
        [FP_MARKER_OTHER] = "other",
    };
    return names[marker];
}

const char *fp_frame_kind_name(enum fp_frame_kind kind)
{
    static const char *const names[FP_FRAME_KIND_COUNT] = {
        [FP_FRAME_FUNCTION] = "function", [FP_FRAME_BUILTIN] = "builtin",
        [FP_FRAME_MARKER] = "marker",     [FP_FRAME_EVENT] = "event",
        [FP_FRAME_OVERFLOW] = "overflow",
    };
    return names[kind];
}

const char *fp_timing_kind_name(enum fp_timing_kind kind)
{
    static const char *const names[FP_TIMING_KIND_COUNT] = {
        [FP_TIMING_MARK] = "mark",
        [FP_TIMING_MEASURE] = "measure",
        [FP_TIMING_VITAL] = "vital",
        [FP_TIMING_VITAL_GOOD] = "vital_good",
        [FP_TIMING_VITAL_POOR] = "vital_poor",
        [FP_TIMING_WINDOW] = "window",
        [FP_TIMING_INTERACTION] = "interaction",
        [FP_TIMING_INPUT_DELAY] = "input_delay",
        [FP_TIMING_PROCESSING] = "processing",
        [FP_TIMING_FRAME_SCRIPT] = "frame_script",
        [FP_TIMING_BLOCKING] = "blocking",
        [FP_TIMING_FORCED_LAYOUT] = "forced_layout",
        [FP_TIMING_RESOURCE] = "resource",
        [FP_TIMING_RESOURCE_BYTES] = "resource_bytes",
        [FP_TIMING_RESOURCE_OPAQUE] = "resource_opaque",
        [FP_TIMING_COVERAGE] = "coverage",
        [FP_TIMING_PAGE_HOST] = "page_host",
        [FP_TIMING_HIDDEN] = "hidden",
        [FP_TIMING_LEFT_OUT] = "left_out",
        [FP_TIMING_VITAL_ELEMENT] = "vital_element",
        [FP_TIMING_VITAL_PART] = "vital_part",
        [FP_TIMING_TTFB] = "ttfb",
        [FP_TIMING_TTFB_SERVER] = "ttfb_server",
        [FP_TIMING_HANG] = "hang",
        [FP_TIMING_VIOLATION] = "violation",
        [FP_TIMING_STYLE] = "style",
        [FP_TIMING_LAYOUT] = "layout",
        [FP_TIMING_FORCED_STYLE] = "forced_style",
        [FP_TIMING_FORCED_REFLOW] = "forced_reflow",
        [FP_TIMING_VITAL_FLAGGED] = "vital_flagged",
        [FP_TIMING_INTERACTION_FLAGGED] = "interaction_flagged",
        [FP_TIMING_RESPONSE] = "response",
        [FP_TIMING_RESPONSE_FLAGGED] = "response_flagged",
        [FP_TIMING_WAIT] = "wait",
        [FP_TIMING_VITAL_PROFILED] = "vital_profiled",
        [FP_TIMING_VITAL_WITHOUT] = "vital_without",
        [FP_TIMING_SCRIPT_LOADED] = "script_loaded",
        [FP_TIMING_SCRIPT_RAN] = "script_ran",
    };
    return names[kind];
}

const char *fp_upload_format_name(enum fp_upload_format format)
{
    static const char *const names[FP_UPLOAD_FORMAT_COUNT] = {
        [FP_UPLOAD_SELF_PROFILE] = "self-profile", [FP_UPLOAD_USER_TIMING] = "user-timing",
        [FP_UPLOAD_SPEED_TRACER] = "speed-tracer", [FP_UPLOAD_OPERA_SCOPE] = "opera-scope",
        [FP_UPLOAD_REPORTS] = "reports",
    };
    return names[format];
}

const char *fp_coverage_name(enum fp_coverage coverage)
{
    static const char *const names[FP_COVERAGE_COUNT] = {
        [FP_COVERAGE_NONE] = "",
        [FP_COVERAGE_NO_POLICY] = "no-policy",
        [FP_COVERAGE_UNSUPPORTED] = "unsupported",
        [FP_COVERAGE_QUOTA] = "quota",
        [FP_COVERAGE_DISABLED] = "disabled",
        [FP_COVERAGE_NOT_SAMPLED] = "not-sampled",
        [FP_COVERAGE_OVERLOAD] = "overload",
    };
    return names[coverage];
}

const char *fp_crash_name(enum fp_crash crash)
{
    static const char *const names[FP_CRASH_COUNT] = {
        [FP_CRASH_UNKNOWN] = "crash",
        [FP_CRASH_OOM] = "oom",
        [FP_CRASH_UNRESPONSIVE] = "unresponsive",
        [FP_CRASH_OTHER] = "other",
    };
    return names[crash];
}

const char *fp_left_out_name(enum fp_left_out what)
{
    static const char *const names[FP_LEFT_OUT_COUNT] = {
        [FP_LEFT_OUT_ANY] = "(any)",       [FP_LEFT_OUT_UNKNOWN] = "(unknown)",
        [FP_LEFT_OUT_MARK] = "mark",       [FP_LEFT_OUT_MEASURE] = "measure",
        [FP_LEFT_OUT_PROFILE] = "profile", [FP_LEFT_OUT_OVERLOAD] = "overload",
        [FP_LEFT_OUT_VITAL] = "vital",     [FP_LEFT_OUT_INTERACTION] = "interaction",
        [FP_LEFT_OUT_FRAME] = "frame",     [FP_LEFT_OUT_RESOURCE] = "resource",
        [FP_LEFT_OUT_UPLOAD] = "upload",
    };
    return names[what];
}

enum fp_left_out fp_left_out_find(struct fp_str word)
{
    enum fp_left_out what = FP_LEFT_OUT_MARK; /* the first that an envelope may say */
    while (what < FP_LEFT_OUT_COUNT && !fp_str_equal(word, fp_str_of(fp_left_out_name(what))))
        what++;
    return what < FP_LEFT_OUT_COUNT ? what : FP_LEFT_OUT_UNKNOWN;
}

#define NAME(id, name, word) [FP_NAVIGATION_##id] = (name),
#define WORD(id, name, word) [FP_NAVIGATION_##id] = (word),

const char *fp_navigation_name(enum fp_navigation navigation)
{
    static const char *const names[FP_NAVIGATION_COUNT] = {[FP_NAVIGATION_UNKNOWN] = "",
                                                           FP_NAVIGATIONS(NAME)};
    return names[navigation];
}

enum fp_navigation fp_navigation_find(struct fp_str word)
{
    static const char *const words[FP_NAVIGATION_COUNT] = {[FP_NAVIGATION_UNKNOWN] = "",
                                                           FP_NAVIGATIONS(WORD)};
    enum fp_navigation navigation = FP_NAVIGATION_COUNT - 1;
    while (navigation > FP_NAVIGATION_UNKNOWN && !fp_str_equal(word, fp_str_of(words[navigation])))
        navigation--;
    return navigation;
}

#undef NAME
#undef WORD

bool fp_navigation_is_since_start(enum fp_navigation navigation)
{
    return navigation != FP_NAVIGATION_BACK_FORWARD_CACHE &&
           navigation != FP_NAVIGATION_PRERENDER && navigation != FP_NAVIGATION_SOFT;
}

const char *fp_record_refusal_name(enum fp_record_refusal refusal)
{
    static const char *const names[FP_RECORD_REFUSAL_COUNT] = {[FP_RECORD_REFUSAL_NONE] = "",
#define NAME(id, name) [FP_RECORD_REFUSAL_##id] = (name),
                                                               FP_RECORD_REFUSALS(NAME)
#undef NAME
    };
    return names[refusal];
}
