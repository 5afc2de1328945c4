/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chromium trace: reads the trace of an upload in one pass over the body, if it has exactly the
 * form in which Chromium writes it.
 *
 * It saves the document, which is several times as large as the body. It never reports an error:
 * whatever is in another form, over a limit or wrong is left to the general decoder.
 */
#ifndef FP_FORMAT_WEB_CHROMIUM_TRACE_H
#define FP_FORMAT_WEB_CHROMIUM_TRACE_H

#include "collector/format/decoder.h"

/* The arrays of a trace, in the arena; their texts are in the arena or in the body. Every index is
 * checked, but neither the chains of parents nor the span. */
struct fp_chromium_trace {
    struct fp_str *resources;
    struct fp_profile_frame *frames;
    struct fp_profile_stack *stacks;
    struct fp_profile_sample *samples;
    uint32_t resource_count;
    uint32_t frame_count;
    uint32_t stack_count;
    uint32_t sample_count;
};

/*
 * Reads a body that is a trace, or an envelope with one, into decoder->trace. *rest is the same
 * body with an empty trace in its place: if it is a valid document, so is the body, and its
 * member `trace` is the one that was read unless it has several. False, without an error and with
 * decoder->trace unchanged, if the trace has another form, or memory is out.
 */
bool fp_chromium_trace_read(struct fp_decoder *decoder, struct fp_str body,
                            struct fp_str *rest) FP_MUST_CHECK;

#endif
