/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target: parses a path.
 */
#include "collector/http/target.h"

/* Removes a prefix. False if it is absent. */
static bool skip(struct fp_str *path, struct fp_str prefix)
{
    if (path->len < prefix.len || memcmp(path->ptr, prefix.ptr, prefix.len) != 0)
        return false;
    *path = (struct fp_str){path->ptr + prefix.len, path->len - prefix.len};
    return true;
}

/* Removes and returns the text before the next slash. */
static struct fp_str take_step(struct fp_str *path)
{
    const char *slash = memchr(path->ptr, '/', path->len);
    struct fp_str step = {path->ptr, slash != NULL ? (size_t)(slash - path->ptr) : path->len};
    *path = (struct fp_str){path->ptr + step.len, path->len - step.len};
    return step;
}

static enum fp_http_target_kind read_session(struct fp_str path, struct fp_uuid *session)
{
    if (!skip(&path, FP_STR("/sessions")))
        return FP_HTTP_NOTHING;
    if (path.len == 0)
        return FP_HTTP_START;
    if (!skip(&path, FP_STR("/")) || !fp_uuid_parse(take_step(&path), session))
        return FP_HTTP_NOTHING;
    if (path.len == 0)
        return FP_HTTP_PART;
    return fp_str_equal(path, FP_STR("/stop")) ? FP_HTTP_STOP : FP_HTTP_NOTHING;
}

struct fp_http_target fp_http_target_of(const char *text)
{
    struct fp_http_target target = {.kind = FP_HTTP_NOTHING};
    struct fp_str path = fp_str_of(text);
    const bool is_reports = skip(&path, FP_STR("/v1/reports/"));
    if (!is_reports && !skip(&path, FP_STR("/v1/ingest/")))
        return target;
    target.key = take_step(&path);
    if (is_reports) {
        target.kind = target.key.len > 0 && path.len == 0 ? FP_HTTP_REPORTS : FP_HTTP_NOTHING;
        return target;
    }
    if (target.key.len > 0)
        target.kind = path.len == 0 ? FP_HTTP_UPLOAD : read_session(path, &target.session);
    return target;
}
