/*
 * Envelope, kept: the JSON upload that is kept whole, written anew with what was taken of it.
 */
#ifndef FP_FORMAT_WEB_ENVELOPE_KEPT_H
#define FP_FORMAT_WEB_ENVELOPE_KEPT_H

#include "collector/format/decoder.h"

/*
 * Adds an envelope or a bare ProfilerTrace, which has been decoded, to the content: the members
 * that docs/formats.md names, wherever they stand, and no others; of `detail` what
 * limits->detail_keys allow. Neither its id nor its token: given back and sent again, it is another
 * upload. Does nothing for a decoder that keeps none.
 */
void fp_envelope_keep(struct fp_decoder *decoder, yyjson_val *root);

/*
 * As fp_envelope_keep, for an envelope that holds another format in the member `guest`: writes that
 * member first, by keep(), then those of the ordinary envelope.
 */
void fp_envelope_keep_around(struct fp_decoder *decoder, yyjson_val *root,
                             const struct fp_field *guest,
                             void (*keep)(struct fp_decoder *decoder, yyjson_val *value));

#endif
