/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: the maxima that decoders enforce.
 */
#ifndef FP_FORMAT_LIMITS_H
#define FP_FORMAT_LIMITS_H

#include "collector/base/base.h"
#include "collector/base/siphash.h"

struct fp_continuation;

/* The key of the draw for sample_keep: without it nobody can tell which uploads are kept. */
struct fp_draw_key {
    uint8_t bytes[FP_SIPHASH_KEY_LEN];
};

/* Maxima of one upload; the configuration's `limits`. */
struct fp_format_limits {
    size_t max_inflated; /* bytes */
    uint32_t samples;
    uint32_t stacks;
    uint32_t frames;
    uint32_t resources;
    uint32_t entries;     /* marks, measures and entries together */
    uint32_t stack_depth; /* frames on one stack */
    uint32_t json_depth;
    int64_t max_span_us;            /* last sample - first sample */
    struct fp_str_list detail_keys; /* members of a mark's or measure's detail that are kept */
    struct fp_continuation *continuation; /* of a part of a long session, else NULL */
    uint32_t closed_formats; /* that the site does not take: bits 1 << enum fp_upload_format */
    uint32_t keep_ppm; /* share of traces that are kept whole; formats with events always are */
    struct fp_draw_key keep_key;
    uint64_t keep_site_id; /* the same upload is drawn on its own at each site */
};

#endif
