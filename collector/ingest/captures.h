/*
 * Captures: long sessions that are being uploaded in parts, and which window each one is of.
 *
 * A session of Opera's profiler is of one window, and only one can run in a window: so it is here.
 * What runs is known to this process, which tells the database; the parts themselves are uploads
 * like all others, each durable when it is answered. Bounded. Any thread.
 */
#ifndef FP_INGEST_CAPTURES_H
#define FP_INGEST_CAPTURES_H

#include "collector/base/base.h"
#include "collector/base/uuid.h"

#define FP_CAPTURES_MAX 1024
#define FP_CAPTURES_SITE_MAX 128 /* of one site */
#define FP_CAPTURE_IDLE_S 3600   /* after so long without a part it is taken for stopped */

struct fp_captures;

enum fp_capture_result {
    FP_CAPTURE_OK = 0,
    FP_CAPTURE_RUNS,    /* one runs for this site and window */
    FP_CAPTURE_UNKNOWN, /* no such one runs for this site */
    FP_CAPTURE_MANY,    /* FP_CAPTURES_SITE_MAX run for this site */
    FP_CAPTURE_FULL,    /* FP_CAPTURES_MAX run, or there is no randomness for an id */
};

/* NULL when out of memory. */
struct fp_captures *fp_captures_create(void) FP_MUST_CHECK;
void fp_captures_free(struct fp_captures *captures);

/* Starts one: *id is its new id. site_id: content hash; now_us: monotonic. */
enum fp_capture_result fp_captures_start(struct fp_captures *captures, uint64_t site_id,
                                         uint32_t window, int64_t now_us,
                                         struct fp_uuid *id) FP_MUST_CHECK;

/* A part comes. */
enum fp_capture_result fp_captures_touch(struct fp_captures *captures, uint64_t site_id,
                                         const struct fp_uuid *id, int64_t now_us) FP_MUST_CHECK;

/* Stops one. */
enum fp_capture_result fp_captures_stop(struct fp_captures *captures, uint64_t site_id,
                                        const struct fp_uuid *id, int64_t now_us) FP_MUST_CHECK;

/* Stops all: for when there is nobody any more who could send a part. */
void fp_captures_stop_all(struct fp_captures *captures);

/* Copies the ids of those that run, in no order that means anything. Returns how many. */
size_t fp_captures_list(struct fp_captures *captures, int64_t now_us,
                        struct fp_uuid ids[FP_CAPTURES_MAX]) FP_MUST_CHECK;

#endif
