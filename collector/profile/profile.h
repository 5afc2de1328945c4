/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile: the common model that every decoder fills, before scrubbing and folding.
 *
 * Texts are valid UTF-8 (decoders replace invalid bytes), not scrubbed, and live in the upload's
 * arena or body. A decoder has checked every index, the range of every number, and that parent
 * chains end; nothing is checked again after it. Times are whole microseconds since the page's time
 * origin.
 */
#ifndef FP_PROFILE_PROFILE_H
#define FP_PROFILE_PROFILE_H

#include "collector/base/base.h"
#include "collector/rollup/delta.h"
#include "collector/rollup/vital.h"

struct fp_profile_frame {
    struct fp_str function;
    uint32_t resource; /* index, FP_INDEX_NONE */
    int32_t line;      /* FP_POSITION_NONE */
    int32_t column;
};

struct fp_profile_stack {
    uint32_t frame;  /* index */
    uint32_t parent; /* index, anywhere in the array; FP_INDEX_NONE */
};

struct fp_profile_sample {
    int64_t time_us;
    uint32_t stack; /* index, FP_INDEX_NONE */
    enum fp_marker marker;
};

/* A custom dimension, as the page says it. */
struct fp_profile_custom {
    struct fp_str name; /* unchecked, as is the value */
    struct fp_str value;
};

enum { FP_PROFILE_CUSTOM_MAX = 16 }; /* read from an envelope; a site has fewer */

/* Members of an envelope that hold for the whole page load: its views copy them. */
struct fp_profile_said {
    struct fp_str environment;
    struct fp_str variant;
    struct fp_str thread;  /* "window", "worker", "" */
    struct fp_str frame;   /* "same-origin", "cross-origin"; "" is a page at the top */
    struct fp_str machine; /* "low", "mid", "high", "" */
    struct fp_str drawn;   /* "yes", "no", "" */
    struct fp_str network; /* "4g", "3g", "2g", "save-data", "" */
    struct fp_profile_custom *custom;
    uint32_t custom_count;
};

/* A mark (value = start time) or a measure (value = duration). */
struct fp_profile_timing {
    struct fp_str name;
    struct fp_str detail; /* the kept part of it, as "{key=value}"; "" for none */
    enum fp_timing_kind kind;
    bool has_start; /* a measure with a start time */
    int64_t value_us;
    int64_t start_us; /* of such a measure */
};

/* A web vital of the page load. */
struct fp_profile_vital {
    enum fp_vital vital;
    int64_t value_us; /* the score of CLS times 1,000,000 */
    bool has_window;  /* the sender says when it was */
    enum fp_navigation navigation;
    int64_t start_us; /* of the window, like the next field */
    int64_t duration_us;
    bool has_id;          /* it may be sent again */
    uint64_t metric;      /* hash of its id */
    struct fp_str target; /* a selector of its element, unscrubbed; "" for none, as the next */
    struct fp_str url;    /* of what the element shows, unscrubbed */
    struct fp_vital_parts parts;
    bool has_server; /* a TTFB whose sender says how long the server took */
    int64_t server_us;
    struct fp_str cache; /* the word of the server's cache, unscrubbed; "" for none */
};

struct fp_profile_interaction {
    struct fp_str type;   /* "pointer", "keyboard", "click", … */
    struct fp_str target; /* a selector, unscrubbed; "" for none */
    enum fp_navigation navigation;
    int64_t start_us;
    int64_t duration_us;   /* to the next paint */
    int64_t longest_us;    /* of its events, the longest: what an INP is */
    int64_t delay_us;      /* before processing */
    int64_t processing_us; /* of the event's handlers */
};

/* A request that was in flight while a visitor waited. */
struct fp_profile_request {
    struct fp_str host; /* or a URL with that host; unscrubbed */
    int64_t start_us;
    int64_t duration_us;
};

/* The result of an interaction, and how long the visitor waited for it. */
struct fp_profile_result {
    struct fp_str type;   /* of the interaction, as the next */
    struct fp_str target; /* a selector, unscrubbed; "" for none */
    int64_t start_us;
    int64_t duration_us; /* to the largest paint of what the interaction caused */
    enum fp_navigation navigation;
    uint32_t first_request; /* index */
    uint32_t request_count;
};

/* A script in a long animation frame. */
struct fp_profile_script {
    struct fp_str invoker; /* unscrubbed, like the next two fields */
    struct fp_str url;
    struct fp_str function;
    int64_t start_us;
    int64_t duration_us;
    int64_t forced_us;       /* of that, forced style and layout */
    int64_t forced_style_us; /* of that, this and the next; FP_DURATION_NONE: not said */
    int64_t forced_layout_us;
};

/* A long animation frame, or a long task where the browser knows no such frames. */
struct fp_profile_long_frame {
    int64_t start_us;
    int64_t duration_us;
    int64_t blocking_us;
    int64_t render_us; /* when style and layout begin, which last until its end; 0: not said */
    int64_t style_us;  /* FP_DURATION_NONE: not said, as the next */
    int64_t layout_us;
    uint32_t first_script; /* index */
    uint32_t script_count;
};

/* Responses of one host and kind. */
struct fp_profile_responses {
    struct fp_str host;      /* or a URL with that host; unscrubbed */
    struct fp_str kind;      /* "script", "img", "fetch", … */
    uint32_t opaque;         /* responses without Timing-Allow-Origin: they have no duration */
    uint32_t first_duration; /* index */
    uint32_t duration_count;
    int64_t bytes; /* of all together */
};

/* Data that the agent did not send. */
struct fp_profile_left_out {
    enum fp_left_out what;
    bool has_name;      /* the marks or measures of this name that are past a limit of their own */
    struct fp_str name; /* as that of a mark */
    uint32_t count;     /* 0: the agent does not know how many */
};

/* A call on the stack of a page that hung: where it was, not where its function begins. */
struct fp_profile_call {
    struct fp_str function; /* "" for none */
    struct fp_str url;      /* unscrubbed, "" for none */
    int32_t line;           /* FP_POSITION_NONE, like the next field */
    int32_t column;
};

/* A browser's report about a document that is gone, or of a policy that it broke. */
struct fp_profile_report {
    enum fp_crash crash;
    bool is_hidden;       /* nobody saw the document, like the next field only of crashes */
    bool is_in_frame;     /* the document was not the page at the top */
    struct fp_str policy; /* the name of a broken policy, unscrubbed; ptr NULL: a crash */
    struct fp_profile_call *calls; /* innermost first */
    uint32_t call_count;
};

/* An event of an older format: a span or a point, perhaps inside another one. */
struct fp_profile_event {
    uint32_t id;          /* from the source, unique in its timeline; 0: none */
    uint32_t parent;      /* index of an event before it in its timeline, FP_INDEX_NONE */
    uint32_t parent_id;   /* of a parent that the upload does not list, 0: none */
    int32_t type_number;  /* as the source says */
    struct fp_str type;   /* the type's name, such as LAYOUT, which becomes the frame's name */
    int64_t start_us;     /* since the session's begin; may be negative */
    int64_t duration_us;  /* from begin to end, FP_DURATION_NONE */
    int64_t self_us;      /* own time: without children; may be negative when clocks are coarse */
    int64_t overhead_us;  /* cost of profiling it, 0: not said */
    int64_t unlisted_us;  /* time inside it that no event of the profile has */
    int64_t sampled_us;   /* own time that samples also have: sums count it as theirs */
    uint32_t hits;        /* how often it was hit; 1 if the format has no such number */
    uint32_t child_count; /* immediate children according to the source, listed or not */
    uint32_t resource;    /* index, FP_INDEX_NONE: what it worked on */
    int32_t line;         /* in the resource, FP_POSITION_NONE */
    bool is_process;      /* time of the whole process: not part of any sum */
    struct fp_str detail; /* the rest as a JSON object's text, unscrubbed; "" for none */
};

/* The events of one frame of a page (Opera Scope), or of a whole dump (Speed Tracer). */
struct fp_profile_timeline {
    uint32_t id;              /* as the source says, from 1 */
    uint32_t frame_id;        /* 0: not said */
    enum fp_reduce_mode mode; /* only unreduced events go into sums */
    uint32_t first_event;     /* index */
    uint32_t event_count;
};

/* A problem that a lenient decoder found, and its first place. */
struct fp_profile_note {
    const char *text;              /* static: "no JSON", "a duration below zero", ... */
    enum fp_record_refusal reason; /* NONE: the record, event or detail is kept as it is */
    uint32_t count;
    int64_t first_offset;        /* bytes into the inflated body; of an array's element its index */
    bool is_index;               /* first_offset is one */
    struct fp_str first_pointer; /* of its place in one JSON value (RFC 6901), "" for none */
};

enum { FP_PROFILE_NOTES_MAX = 48 };    /* kinds of notes a decoder may have */
enum { FP_PROFILE_SESSIONS_MAX = 64 }; /* of one recording */

/* Facts about a whole session, in formats with events. */
struct fp_profile_session {
    uint32_t id;           /* as the source says, 0: it has none */
    uint32_t window_id;    /* 0: not said */
    struct fp_str version; /* of the format, "" when not said */
    int64_t started_us;    /* epoch, 0: not said */
    struct fp_str content; /* the upload in its format, as yyjson writes it; unscrubbed */
    struct fp_str raw; /* of one session among several: its lines as received; else ptr is NULL */
    bool is_detached;  /* a part that lacks what the part before it left */
    uint32_t records_read; /* kept and refused records, including refused children */
    uint32_t records_kept;
    struct fp_profile_note *notes; /* room for FP_PROFILE_NOTES_MAX */
    uint32_t note_count;
};

struct fp_profile {
    bool has_trace;
    bool has_first_paint;
    bool has_session;
    bool is_view; /* of the envelope before it, whose token admits it */
    /* From the envelope. */
    bool has_id;
    bool has_load;
    bool has_page_route;
    bool has_start; /* the upload says from when on it covers the page load */
    bool truncated;
    struct fp_uuid id;
    struct fp_uuid load;
    uint32_t part;
    enum fp_upload_format format;
    enum fp_coverage coverage;
    int64_t start_us; /* 0 if it does not say, like the next field */
    int64_t duration_us;
    struct fp_profile_said said;
    struct fp_str agent_name;
    struct fp_str agent_version;
    struct fp_str release;
    struct fp_str token;      /* as sent; "" when the envelope has none */
    struct fp_str user_agent; /* of reports; "" when it is the request's */
    struct fp_str page_url;   /* "" when the envelope has none */
    struct fp_str page_route;
    int64_t interval_us;       /* effective sample interval, 0 when not said */
    uint32_t observed_entries; /* of types that are read, but marks and measures */
    uint32_t skipped_entries;  /* of types that are not read */
    size_t first_skipped;      /* index of the first, in its array */

    struct fp_str *resources;
    struct fp_profile_frame *frames;
    struct fp_profile_stack *stacks;
    struct fp_profile_sample *samples; /* in the order of arrival */
    int64_t
        *weights_us; /* of the samples, if the format sends them; NULL: derived from their times */
    struct fp_profile_timing *timings;

    uint32_t epoch_times;      /* of User Timing, sent as ms since 1970 */
    size_t first_epoch;        /* index of the first, in its array */
    bool is_since_first_epoch; /* they are relative to the earliest: no navigationStart was
                                  sent */

    struct fp_profile_vital *vitals;
    struct fp_profile_interaction *interactions;
    struct fp_profile_result *results;
    struct fp_profile_request *requests; /* result by result */
    struct fp_profile_long_frame *long_frames;
    struct fp_profile_script *scripts; /* frame by frame */
    struct fp_profile_responses *responses;
    int64_t *response_durations_us;
    struct fp_profile_left_out *left_outs; /* since the upload before this one */
    int64_t first_paint_us;                /* from the page's start */
    int64_t shown_us; /* when a page rendered in advance was shown, 0 for others */

    struct fp_profile_report *reports;
    uint32_t other_reports; /* of types that are not read */
    uint32_t bad_reports;
    size_t first_other; /* index of the first, in the body, like the next field */
    size_t first_bad;

    struct fp_profile_session session;
    struct fp_profile_timeline *timelines;
    struct fp_profile_event *events; /* timeline by timeline, parents before their children */
    struct fp_profile_event *earlier_events; /* of the part before, parents first: their sampled_us
                                                was counted there; in no timeline */

    uint32_t resource_count;
    uint32_t frame_count;
    uint32_t stack_count;
    uint32_t sample_count;
    uint32_t timing_count;
    uint32_t vital_count;
    uint32_t interaction_count;
    uint32_t result_count;
    uint32_t request_count;
    uint32_t long_frame_count;
    uint32_t script_count;
    uint32_t responses_count;
    uint32_t response_duration_count;
    uint32_t left_out_count;
    uint32_t report_count;
    uint32_t opaque_responses;  /* of all responses */
    uint32_t unordered_entries; /* marks that are earlier than the one before them */
    size_t first_unordered;     /* index of the first, in its array */
    uint32_t timeline_count;
    uint32_t event_count;
    uint32_t earlier_event_count;

    struct fp_profile *next; /* the next session of a recording, or the next view; else NULL */
};

#endif
