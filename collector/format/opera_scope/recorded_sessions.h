/*
 * Opera Scope, sessions: those of one recording, and which of its lines are whose.
 *
 * A recording is read once, and each frame handed to the session that it is of. Lines are shared
 * out as runs: a run goes from its line to where the next begins, in the body and in the content
 * that is kept of it.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_RECORDED_SESSIONS_H
#define FP_FORMAT_OPERA_SCOPE_RECORDED_SESSIONS_H

#include "collector/format/opera_scope/parts.h"

/* The session of lines that are of none, or not known yet to be of one. */
#define FP_SCOPE_NOBODY UINT32_MAX

/* A session, from when a reply names it. */
struct fp_scope_part {
    uint32_t id;        /* 0: the first, before one is named */
    uint32_t window_id; /* that StartProfiler named, 0: none */
    struct fp_profile profile;
    struct fp_decoder decoder; /* fills the profile */
    struct fp_scope scope;
};

struct fp_scope_run {
    size_t at;        /* of its first line, in the body */
    size_t kept_at;   /* in the content */
    uint32_t session; /* index, FP_SCOPE_NOBODY */
};

struct fp_scope_sessions {
    struct fp_decoder *decoder; /* of the whole recording; its content is */
    struct fp_scope_part *parts[FP_PROFILE_SESSIONS_MAX]; /* in the order in which they are named */
    uint32_t count;                                       /* from 1 */
    uint32_t named; /* index of the last, the first before any is */
    struct fp_scope_run *runs;
    uint32_t run_count;
    uint32_t run_room;
};

/* Begins with one session that has no id yet. To be released, whatever comes of it. */
bool fp_scope_sessions_begin(struct fp_scope_sessions *sessions,
                             struct fp_decoder *decoder) FP_MUST_CHECK;
void fp_scope_sessions_release(struct fp_scope_sessions *sessions);

/* The index of the last session with this id; `otherwise` when there is none, or the id is 0. */
uint32_t fp_scope_sessions_find(const struct fp_scope_sessions *sessions, uint32_t id,
                                uint32_t otherwise);

/* A reply names a session: finds it or makes it, and sets `named`. An id of 0 names none. */
bool fp_scope_sessions_name(struct fp_scope_sessions *sessions, uint32_t id) FP_MUST_CHECK;

/* The same for a reply to StartProfiler: where one with this id was stopped or asked for events
 * before, this is another. The service began anew, or the id was free again. */
bool fp_scope_sessions_start(struct fp_scope_sessions *sessions, uint32_t id) FP_MUST_CHECK;

/* Begins a run at a line of the body, which is nobody's until it is given. */
bool fp_scope_sessions_add_run(struct fp_scope_sessions *sessions, size_t at,
                               uint32_t *run) FP_MUST_CHECK;
void fp_scope_sessions_give(struct fp_scope_sessions *sessions, uint32_t run, uint32_t session);

/* Ends all: decoder->profile becomes the first session, the others follow it. A session that was
 * started and no more is none; what was noted of it goes to the first. */
bool fp_scope_sessions_finish(struct fp_scope_sessions *sessions, struct fp_str body) FP_MUST_CHECK;

#endif
