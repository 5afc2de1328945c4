/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, sessions: the sessions of one recording, and which of its lines belong to which.
 *
 * A recording is read once; each frame goes to its session. Lines are assigned as runs: a run lasts
 * from its line to the begin of the next run, in the body and in the content that is kept of it.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_SESSIONS_H
#define FP_FORMAT_OPERA_SCOPE_SESSIONS_H

#include "collector/format/opera_scope/scope.h"

/* The session index of a line that belongs to no session, or not to one yet. */
#define FP_SCOPE_NO_SESSION UINT32_MAX

/* A session of a recording. It begins with the reply that names it. */
struct fp_scope_session {
    uint32_t id;        /* 0: the first one, while no reply has named it */
    uint32_t window_id; /* from StartProfiler, 0: none */
    struct fp_profile profile;
    struct fp_decoder decoder; /* fills the profile */
    struct fp_scope scope;
};

struct fp_scope_run {
    size_t at;         /* of its first line, in the body */
    size_t content_at; /* the same line, in the content */
    uint32_t session;  /* index, FP_SCOPE_NO_SESSION */
};

struct fp_scope_sessions {
    struct fp_decoder *decoder; /* of the whole recording; its content has all sessions */
    struct fp_scope_session *items[FP_PROFILE_SESSIONS_MAX]; /* in the order they were named */
    uint32_t count;                                          /* at least 1 */
    uint32_t current; /* index of the session that was named last; at first 0 */
    struct fp_scope_run *runs;
    uint32_t run_count;
    uint32_t run_cap;
};

/* Begins with one session without an id. The caller releases the sessions even if this fails. */
bool fp_scope_sessions_begin(struct fp_scope_sessions *sessions,
                             struct fp_decoder *decoder) FP_MUST_CHECK;
void fp_scope_sessions_release(struct fp_scope_sessions *sessions);

/* Returns the index of the last session with this id; `otherwise` if there is none or the id is
 * 0. */
uint32_t fp_scope_sessions_find(const struct fp_scope_sessions *sessions, uint32_t id,
                                uint32_t otherwise);

/* Makes the session that a reply names the current one, and adds it if it is new. Does nothing for
 * id 0, which names no session. */
bool fp_scope_sessions_select(struct fp_scope_sessions *sessions, uint32_t id) FP_MUST_CHECK;

/* Does the same for a reply to StartProfiler. If a session with this id was already stopped or
 * asked for events, adds another: the service was restarted, or it reused a released id. */
bool fp_scope_sessions_start(struct fp_scope_sessions *sessions, uint32_t id) FP_MUST_CHECK;

/* Begins a run at a line of the body. It has no session until one is assigned. */
bool fp_scope_sessions_add_run(struct fp_scope_sessions *sessions, size_t at,
                               uint32_t *run) FP_MUST_CHECK;
void fp_scope_sessions_assign_run(struct fp_scope_sessions *sessions, uint32_t run,
                                  uint32_t session);

/* Finishes all sessions: decoder->profile becomes the first one, and the others follow it. A
 * session that was started only is dropped, and its notes go to the first one. */
bool fp_scope_sessions_finish(struct fp_scope_sessions *sessions, struct fp_str body) FP_MUST_CHECK;

#endif
