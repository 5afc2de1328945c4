/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format decoder: what the dispatch needs to know about a format. Each format defines one, and
 * format.c lists them: a new format is a folder and a row there.
 */
#ifndef FP_FORMAT_FORMAT_DECODER_H
#define FP_FORMAT_FORMAT_DECODER_H

#include "collector/format/decoder.h"
#include "collector/format/json.h"

struct fp_format_decoder {
    enum fp_upload_format format;

    /* True if the body is of this format and not JSON. Looks at its first bytes only: it is called
     * for every upload, before JSON is parsed. NULL: never. */
    bool (*is_text)(struct fp_str body);

    /* True if a body that is not one JSON document begins like this format. NULL: never. */
    bool (*sniffs)(const struct fp_decoder *decoder, struct fp_str body);

    /* True if a JSON document is of this format. */
    bool (*has_shape)(yyjson_val *root);

    /* Reads the largest part of a body ahead of the document, and sets *rest to what is left to
     * parse. False, without an error, if the body has no form that can be read so. NULL: never. */
    bool (*read_ahead)(struct fp_decoder *decoder, struct fp_str body, struct fp_str *rest);

    /* Decodes into decoder->profile, which it clears first. json is NULL if the body is not one
     * JSON document, and without what was read ahead; a decoder that reads the body itself may
     * release it. Texts of the profile are static, in the arena or in the body. */
    bool (*decode)(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json);

    /* Completes "the body is …", for a body of another format: "not a dump of Speed Tracer". */
    const char *what_else;
};

extern const struct fp_format_decoder fp_format_self_profile;
extern const struct fp_format_decoder fp_format_user_timing;
extern const struct fp_format_decoder fp_format_speed_tracer;
extern const struct fp_format_decoder fp_format_opera_scope;
extern const struct fp_format_decoder fp_format_reports;

#endif
