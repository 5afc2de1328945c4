/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared: what the collectors of one database exchange through it: the secret of the draw for
 * sample_keep, and how much each site has kept whole in this hour.
 */
#ifndef FP_SHARED_H
#define FP_SHARED_H

#include "collector/ingest/ingest.h"
#include "collector/store/store.h"

/* The state of the exchange, in the caller's memory. All zero but ingest: nothing was exchanged. */
struct fp_shared {
    struct fp_ingest *ingest;
    int64_t next_us; /* monotonic: when the next exchange is due */
};

/* Exchanges, if it is due. An fp_writer_share_fn: context is a struct fp_shared. */
enum fp_store_result fp_shared_exchange(void *context, struct fp_store *store,
                                        const struct fp_uuid *spool_id) FP_MUST_CHECK;

#endif
