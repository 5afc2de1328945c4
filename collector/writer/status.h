/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Database status: what the writer knows of the database, for those who ask: /readyz and /metrics.
 *
 * The writer updates it; any thread may read it. It outlives the writer.
 */
#ifndef FP_WRITER_STATUS_H
#define FP_WRITER_STATUS_H

#include "collector/base/buf.h"
#include "collector/store/store.h"

#include <pthread.h>

struct fp_database_status {
    _Atomic enum fp_database_state state;
    _Atomic int64_t failing_since_us; /* epoch; 0: flushes work */
    pthread_mutex_t lock;             /* protects what follows */
    struct fp_culprit culprit;        /* no object: nobody is accused */
    char accusation[1024];            /* a sentence */
};

/* The value to begin with. */
#define FP_DATABASE_STATUS_NEW {.state = FP_DATABASE_CONNECTING, .lock = PTHREAD_MUTEX_INITIALIZER}

/* Changes the state; is_up: uploads can be written. */
void fp_database_status_set(struct fp_database_status *status, enum fp_database_state state,
                            bool is_up);

/* Notes what of the schema refuses uploads, and the sentence that says what to do; NULL: nothing
 * does. True: it was another one before. */
bool fp_database_status_accuse(struct fp_database_status *status, const struct fp_culprit *culprit,
                               const char *accusation);

/* Appends the line of /readyz. */
void fp_database_status_tell(struct fp_database_status *status, struct fp_buf *text);

/* Appends the metric that names the culprit, as Prometheus text. */
void fp_database_status_render(struct fp_database_status *status, struct fp_buf *page);

#endif
