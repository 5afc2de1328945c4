/*
 * Identify: gives an upload without an id one that is made from its content, so that the same file
 * counts once however often it is imported.
 */
#ifndef FP_CLI_IDENTIFY_H
#define FP_CLI_IDENTIFY_H

#include "cli/body.h"
#include "collector/ingest_rules.h"

struct fp_identified {
    struct fp_str body;     /* what to send; in the arena or the original body */
    struct fp_str encoding; /* of it */
    bool has_id;            /* false: it counts each time it is sent */
    struct fp_uuid id;
};

/*
 * An upload with an id of its own, and one that does not decode, is sent as it is. Any other is
 * inflated, put into an envelope with an id (or given one, if it is an envelope already) and
 * compressed; the decoder confirms that this means the same as before. rules: what the decoder
 * allows. Never fails: at worst the upload goes as it is, without an id.
 */
struct fp_identified fp_identify(const struct fp_body *body, const struct fp_rules *rules,
                                 struct fp_arena *arena);

#endif
