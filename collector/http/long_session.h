/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long sessions: a capture that is uploaded in parts, from its start to its stop.
 *
 *   POST …/sessions?window=N         201, its address in Location
 *   POST …/sessions/ID?part=N        an upload like others, 204
 *   POST …/sessions/ID/stop          204
 */
#ifndef FP_HTTP_LONG_SESSION_H
#define FP_HTTP_LONG_SESSION_H

#include "collector/http/target.h"
#include "collector/ingest/captures.h"
#include "collector/ingest/ingest.h"

#include <microhttpd.h>

/* A request to such a path, from an admitted site. */
struct fp_long_session {
    struct fp_captures *captures;
    struct MHD_Connection *connection; /* to read its query */
    const struct fp_site *site;
    const struct fp_http_target *target;
};

/* Admits a part and sets *part to its number. False: *problem says why not. */
bool fp_long_session_admit_part(const struct fp_long_session *session, uint32_t *part,
                                struct fp_problem *problem) FP_MUST_CHECK;

/* Starts or stops a session, as the target asks; *id is a new session's id. False: *problem says
 * why not. */
bool fp_long_session_turn(const struct fp_long_session *session, struct fp_uuid *id,
                          struct fp_problem *problem) FP_MUST_CHECK;

/* Stops a session whose client never got the reply to its start. */
void fp_long_session_abandon(const struct fp_long_session *session, const struct fp_uuid *id);

#endif
