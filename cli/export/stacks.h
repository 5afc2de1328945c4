/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: what an export is about, the same for every source and every format.
 *
 * A frame is a function as it is shown. A node is a stack: a frame, and the node below it. A track
 * is a list of samples in the order in which a viewer shows them: all of a period, one side of a
 * comparison, or the thread of a kept session.
 *
 * Texts are valid UTF-8 in the arena. A command that runs out of memory ends. One thread.
 */
#ifndef FP_CLI_EXPORT_STACKS_H
#define FP_CLI_EXPORT_STACKS_H

#include "collector/base/arena.h"
#include "collector/rollup/delta.h"

struct fp_export_frame {
    struct fp_str function;           /* as shown: "(anonymous)" without a name */
    struct fp_str resource;           /* "" when absent */
    struct fp_str generated_resource; /* in the bundled script; "" where that is the same place */
    int32_t line;                     /* FP_POSITION_NONE when absent, like the next fields */
    int32_t column;
    int32_t generated_line;
    int32_t generated_column;
    enum fp_frame_kind kind;
};

struct fp_export_node {
    uint32_t frame;  /* index */
    uint32_t parent; /* index below its own, FP_INDEX_NONE for an outermost frame */
    uint32_t level;  /* frames on the stack, from 1 */
};

struct fp_export_sample {
    uint32_t node;     /* index */
    int64_t time_us;   /* since the track's begin */
    int64_t weight_us; /* 0 or more */
    int64_t count;     /* samples that it stands for */
};

/* A mark, or a measure with its begin. */
struct fp_export_mark {
    struct fp_str name;
    int64_t time_us;
    int64_t duration_us; /* FP_EXPORT_POINT for a mark */
};
#define FP_EXPORT_POINT (-1)

struct fp_export_track {
    struct fp_str name;
    bool is_base; /* the earlier side of a comparison */
    struct fp_export_sample *samples;
    struct fp_export_mark *marks;
    size_t sample_count;
    size_t sample_capacity;
    size_t mark_count;
    size_t mark_capacity;
};

enum { FP_EXPORT_TRACKS_MAX = 64 };

struct fp_export_stacks {
    struct fp_arena arena;
    struct fp_str title;
    int64_t started_us;    /* of a session, epoch; 0: not known */
    uint32_t unattributed; /* index of the frame `(unattributed)`, FP_INDEX_NONE */
    int64_t negative_us;   /* own times of events below zero, which are in no sample */
    int64_t loads;         /* page loads that weights are a sum of; 0: of a session */
    struct fp_export_frame *frames;
    struct fp_export_node *nodes;
    size_t frame_count;
    size_t frame_capacity;
    size_t node_count;
    size_t node_capacity;
    struct fp_export_track tracks[FP_EXPORT_TRACKS_MAX];
    size_t track_count;
};

void fp_export_stacks_init(struct fp_export_stacks *stacks);
void fp_export_stacks_release(struct fp_export_stacks *stacks);

/* Returns a copy of a text in the arena. */
struct fp_str fp_export_text(struct fp_export_stacks *stacks, struct fp_str text);

/* Starts a track; there is room for it. */
struct fp_export_track *fp_export_add_track(struct fp_export_stacks *stacks, struct fp_str name);

/* Adds a frame, whose texts are in the arena or static. Returns its index. */
uint32_t fp_export_add_frame(struct fp_export_stacks *stacks, const struct fp_export_frame *frame);

/* Adds a node. parent: FP_INDEX_NONE for none. Returns its index. */
uint32_t fp_export_add_node(struct fp_export_stacks *stacks, uint32_t frame, uint32_t parent);

/* Adds a node of the frame `(unattributed)`: time without a visible stack. Returns its index. */
uint32_t fp_export_unattributed(struct fp_export_stacks *stacks);

/* Adds a sample. One without time and count is left out; one below zero is noted, not added. */
void fp_export_add_sample(struct fp_export_stacks *stacks, struct fp_export_track *track,
                          const struct fp_export_sample *sample);

void fp_export_add_mark(struct fp_export_track *track, const struct fp_export_mark *mark);

/* Returns room for the deepest path; the caller frees it. */
uint32_t *fp_export_path_room(const struct fp_export_stacks *stacks);

/* Lists a node's frames, outermost first, in path, which has room for its level. */
void fp_export_path(const struct fp_export_stacks *stacks, uint32_t node, uint32_t *path);

/*
 * The parts of a tree that a track uses: nodes of its samples, nodes below them, frames. Each has a
 * number in the track, from 0 in the order of indices; FP_INDEX_NONE: not used.
 */
struct fp_export_use {
    uint32_t *nodes;  /* by index */
    uint32_t *frames; /* by index */
    size_t node_count;
    size_t frame_count;
};
void fp_export_use_init(struct fp_export_use *use, const struct fp_export_stacks *stacks,
                        const struct fp_export_track *track);
void fp_export_use_release(struct fp_export_use *use);

/* Returns the first time of all tracks, 0 if none is below. */
int64_t fp_export_begin(const struct fp_export_stacks *stacks);

/* True if no sample begins where this one ends, as after the last one. */
bool fp_export_has_gap(const struct fp_export_track *track, size_t sample);

#endif
