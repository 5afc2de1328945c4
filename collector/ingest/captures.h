/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: the long sessions that are being uploaded in parts, and the window each one belongs to.
 *
 * A session of Opera's profiler belongs to one window, and only one can run per window; the same
 * holds here. This process knows which captures run and reports them to the database. The parts are
 * ordinary uploads, each durable once it is answered. Bounded. Any thread.
 *
 * A capture also keeps what its latest parts left for the next one (collector/format/carry.h). This
 * is lost with the capture: then the session takes no parts either. If it does not fit, or parts
 * come out of order, a part is decoded without it.
 */
#ifndef FP_INGEST_CAPTURES_H
#define FP_INGEST_CAPTURES_H

#include "collector/base/base.h"
#include "collector/base/uuid.h"
#include "collector/format/carry.h"

#define FP_CAPTURES_MAX 1024
#define FP_CAPTURES_SITE_MAX 128                                 /* per site */
#define FP_CAPTURES_CARRIED_BYTES_MAX ((size_t)64 * 1024 * 1024) /* of what all parts left */
#define FP_CAPTURE_IDLE_S 3600 /* without a part for so long, it counts as stopped */

struct fp_captures;

enum fp_capture_result {
    FP_CAPTURE_OK = 0,
    FP_CAPTURE_RUNS,    /* one already runs for this site and window */
    FP_CAPTURE_UNKNOWN, /* no such capture runs for this site */
    FP_CAPTURE_MANY,    /* FP_CAPTURES_SITE_MAX run for this site */
    FP_CAPTURE_FULL,    /* FP_CAPTURES_MAX run, or there is no randomness for an id */
};

/* Makes an empty table. Returns NULL when out of memory. */
struct fp_captures *fp_captures_create(void) FP_MUST_CHECK;
void fp_captures_free(struct fp_captures *captures);

/* Starts a capture; *id is its new id. site_id: content hash; now_us: monotonic. */
enum fp_capture_result fp_captures_start(struct fp_captures *captures, uint64_t site_id,
                                         uint32_t window, int64_t now_us,
                                         struct fp_uuid *id) FP_MUST_CHECK;

/* Records that a part has arrived. */
enum fp_capture_result fp_captures_touch(struct fp_captures *captures, uint64_t site_id,
                                         const struct fp_uuid *id, int64_t now_us) FP_MUST_CHECK;

/* Finds how a part continues its session. The caller drops continuation->before, and
 * continuation->after once a decoder has set it. */
void fp_captures_continue(struct fp_captures *captures, uint64_t site_id, const struct fp_uuid *id,
                          uint32_t part, struct fp_continuation *continuation);

/* Keeps what a part left, unless that of the same part is kept already. Takes over the reference to
 * the carry, which may be NULL. Over the maximum, drops what the captures left that were idle for
 * longest. */
void fp_captures_keep(struct fp_captures *captures, uint64_t site_id, const struct fp_uuid *id,
                      uint32_t part, struct fp_carry *carry);

/* Stops a capture. */
enum fp_capture_result fp_captures_stop(struct fp_captures *captures, uint64_t site_id,
                                        const struct fp_uuid *id, int64_t now_us) FP_MUST_CHECK;

/* Stops all captures. Call it when no client can send a part any more. */
void fp_captures_stop_all(struct fp_captures *captures);

/* Copies the ids of the running captures, in no particular order. Returns their number. */
size_t fp_captures_list(struct fp_captures *captures, int64_t now_us,
                        struct fp_uuid ids[FP_CAPTURES_MAX]) FP_MUST_CHECK;

#endif
