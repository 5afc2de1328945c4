/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content type: decides which `Content-Type` headers an upload may have, and extracts the boundary
 * of a multipart one. Pure functions; any thread.
 */
#ifndef FP_HTTP_CONTENT_TYPE_H
#define FP_HTTP_CONTENT_TYPE_H

#include "collector/base/base.h"

enum fp_content_type {
    FP_CONTENT_PLAIN, /* one upload: JSON, text, bytes, or no type at all */
    FP_CONTENT_MULTIPART,
    FP_CONTENT_MULTIPART_BROKEN, /* multipart/form-data without a valid boundary */
    FP_CONTENT_UNSUPPORTED,
};

/*
 * Classifies a header's value, "" if absent. For multipart/form-data, *boundary becomes the
 * boundary, a slice of the header.
 */
enum fp_content_type fp_content_type_read(struct fp_str header, struct fp_str *boundary);

#endif
