/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack: answers for a file, where trees share their common parts: frames, and which
 * functions each one calls.
 *
 * The file is JSON, answers by address. Trees in it have only a head; their columns follow after a
 * NUL, as report/src/packed.js reads them. Ends the process when memory runs out. One thread.
 */
#ifndef FP_CLI_SERVE_PACK_H
#define FP_CLI_SERVE_PACK_H

#include "collector/base/buf.h"
#include "collector/base/map.h"

enum { FP_PACK_FRAME_COLUMNS = 8 };

struct fp_packing {
    struct fp_buf text;                          /* JSON; at the end also the numbers */
    struct fp_buf numbers;                       /* columns of trees, one after the other */
    struct fp_buf frames[FP_PACK_FRAME_COLUMNS]; /* JSON, a comma before each value */
    struct fp_buf frame_keys;                    /* by frame: where its function_key is */
    struct fp_buf keys;                          /* 8 bytes each */
    struct fp_map key_places;
    uint32_t frame_count;
    struct fp_map places;   /* of frames, by the hash of all that is known of them */
    struct fp_map callees;  /* rank of a callee in its caller's list */
    uint32_t *callee_count; /* by place of the caller from 1, 0 is the whole; owned */
    size_t callee_cap;
};

/* Initialises a file without answers that grows to at most max bytes. */
void fp_packing_init(struct fp_packing *packing, size_t max);

/* Appends an answer, which is JSON, under an address that comes once. A tree that cannot be packed
 * without a loss stays as it is. */
void fp_packing_add(struct fp_packing *packing, struct fp_str address, struct fp_str answer);

/* Completes packing->text. False if it is too long. */
bool fp_packing_end(struct fp_packing *packing) FP_MUST_CHECK;

void fp_packing_release(struct fp_packing *packing);

#endif
