/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target: parses the paths of the public listener. Pure; any thread.
 */
#ifndef FP_HTTP_TARGET_H
#define FP_HTTP_TARGET_H

#include "collector/base/base.h"
#include "collector/base/uuid.h"

enum fp_http_target_kind {
    FP_HTTP_NOTHING,
    FP_HTTP_UPLOAD,  /* /v1/ingest/KEY */
    FP_HTTP_START,   /* /v1/ingest/KEY/sessions */
    FP_HTTP_PART,    /* /v1/ingest/KEY/sessions/ID: also an upload */
    FP_HTTP_STOP,    /* /v1/ingest/KEY/sessions/ID/stop */
    FP_HTTP_REPORTS, /* /v1/reports/KEY: an upload of browsers' reports */
};

struct fp_http_target {
    enum fp_http_target_kind kind;
    struct fp_str key;      /* a slice of the path */
    struct fp_uuid session; /* of FP_HTTP_PART and FP_HTTP_STOP */
};

/* Parses a path; an unknown one is FP_HTTP_NOTHING. */
struct fp_http_target fp_http_target_of(const char *text);

#endif
