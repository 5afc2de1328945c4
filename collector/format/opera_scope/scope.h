/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, scope: one session while it is decoded. A scope belongs to one upload; not
 * thread-safe.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_SCOPE_H
#define FP_FORMAT_OPERA_SCOPE_SCOPE_H

#include "collector/base/map.h"
#include "collector/format/decoder.h"
#include "collector/format/opera_scope/notes.h"

/* Facts of an event that are needed only while its session is read. */
struct fp_scope_event_facts {
    uint32_t depth;        /* from 1 */
    uint32_t parent_id;    /* of an unreduced event whose parent is in no list so far, else 0 */
    int64_t aggregated_us; /* 0: not said */
};

struct fp_scope {
    struct fp_decoder *decoder;
    yyjson_alc *details;         /* owned: memory that the details share */
    int64_t line_offset;         /* of the frame being read; -1 in an envelope */
    const struct fp_place *list; /* the eventList being read */
    uint32_t *frame_ids;         /* of the session's timelines */
    uint32_t frame_count;
    struct fp_map timelines;            /* timelineID -> index into frame_ids */
    struct fp_map lists;                /* a query's key -> number of its list */
    struct fp_map seen;                 /* fp_scope_event_key of an unreduced event -> its index */
    struct fp_map resources;            /* hash of a URL -> index */
    enum fp_scope_note first_refusal;   /* of an event; FP_SCOPE_NOTE_NONE: none */
    struct fp_scope_event_facts *facts; /* of the profile's events */
    uint32_t resource_cap;
    uint32_t fact_cap;
    uint32_t event_cap;
    uint32_t timeline_cap;
};

/* Begins a session in decoder->profile, which the caller has cleared. The caller releases the scope
 * even if this fails. */
bool fp_scope_begin(struct fp_scope *scope, struct fp_decoder *decoder) FP_MUST_CHECK;

/* Fails unless the upload has a session, and a valid event if it has events. */
bool fp_scope_finish(struct fp_scope *scope) FP_MUST_CHECK;

/* Gives back the memory that is not the arena's. */
void fp_scope_release(struct fp_scope *scope);

/*
 * Returns the array with room for `needed` elements: itself, or a longer copy in the arena. NULL if
 * the arena is full.
 */
void *fp_scope_grow(struct fp_scope *scope, void *array, size_t size, uint32_t needed,
                    uint32_t *cap) FP_MUST_CHECK;

#endif
