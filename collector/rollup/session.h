/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session: what is kept of one upload so that it can be read back as it was: its events, and its
 * content in its own format. All texts are scrubbed; memory as for the delta it belongs to.
 */
#ifndef FP_ROLLUP_SESSION_H
#define FP_ROLLUP_SESSION_H

#include "collector/base/base.h"

/* How a timeline's events were reduced before they were sent (the older formats' reduce modes). The
 * database knows them by name. */
enum fp_reduce_mode {
    FP_REDUCE_ALL_EVENTS = 1, /* nothing: every event is there */
    FP_REDUCE_UNIQUE_TYPES,
    FP_REDUCE_UNIQUE_EVENTS,
    FP_REDUCE_ALL,
    FP_REDUCE_MODE_COUNT
};

/* The name in SQL: "all", "reduce_unique_types", … */
const char *fp_reduce_mode_name(enum fp_reduce_mode mode);

#define FP_DURATION_NONE INT64_C(-1) /* of an event that is a point in time */

struct fp_event_type {
    int32_t number; /* as the source says */
    struct fp_str name;
};

struct fp_session_event {
    uint32_t id;        /* as the source says, unique in its timeline; 0: it has none */
    uint32_t parent;    /* index of an event before it, FP_INDEX_NONE */
    uint32_t parent_id; /* id of a parent that the upload does not list, 0: none */
    uint32_t type;      /* index */
    int64_t start_us;
    int64_t duration_us; /* FP_DURATION_NONE */
    int64_t self_us;
    int64_t overhead_us;
    int64_t total_us; /* with all events inside; worked out by fp_delta_decode, as is the next */
    int64_t total_overhead_us;
    uint32_t hits;
    uint32_t child_count;
    uint32_t resource;    /* index into the session's resources, FP_INDEX_NONE */
    int32_t line;         /* FP_POSITION_NONE */
    struct fp_str detail; /* a JSON object's text, "" for none */
};

struct fp_session_timeline {
    uint32_t id;       /* as the source says */
    uint32_t frame_id; /* 0: not said */
    enum fp_reduce_mode mode;
    uint32_t first_event; /* index */
    uint32_t event_count;
};

struct fp_session {
    uint32_t source_id;    /* as the source says, 0: it has none */
    uint32_t window_id;    /* 0: not said */
    struct fp_str version; /* of the format, "" when not said */
    struct fp_str page_url;
    int64_t started_us; /* epoch, 0: not said */
    bool is_raw;        /* the content is what was sent, not scrubbed */
    bool is_detached;   /* a part that was decoded without what the part before it left */
    uint32_t content_len;
    struct fp_str content; /* zstd; content_len bytes when unpacked */

    struct fp_event_type *types;
    struct fp_str *resources; /* URLs */
    struct fp_session_timeline *timelines;
    struct fp_session_event *events; /* timeline by timeline */
    uint32_t type_count;
    uint32_t resource_count;
    uint32_t timeline_count;
    uint32_t event_count;
};

#endif
