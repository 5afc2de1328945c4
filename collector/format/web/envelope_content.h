/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelope content: writes the members that were read of a JSON upload that is kept whole.
 */
#ifndef FP_FORMAT_WEB_ENVELOPE_CONTENT_H
#define FP_FORMAT_WEB_ENVELOPE_CONTENT_H

#include "collector/format/decoder.h"

/*
 * Appends a decoded envelope or bare ProfilerTrace to the content: only the members that
 * docs/formats.md lists, and of `detail` those in limits->detail_keys. Omits its id and its token:
 * exported and sent again, it is another upload. Does nothing for a decoder without content.
 */
void fp_envelope_add_content(struct fp_decoder *decoder, yyjson_val *root);

/*
 * Does the same for an envelope around another format in the member `guest`: appends that member
 * first, with add_content(), then those of the ordinary envelope.
 */
void fp_envelope_add_content_around(struct fp_decoder *decoder, yyjson_val *root,
                                    const struct fp_field *guest,
                                    void (*add_content)(struct fp_decoder *decoder,
                                                        yyjson_val *value));

#endif
