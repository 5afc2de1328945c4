/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aside: quarantine files. A file's name says where its bytes came from, so that damage found twice
 * (by recovery and by the reader, or at every start) is kept and counted once.
 */
#include "collector/spool/aside.h"

#include "collector/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_LEN = 64 * 1024, NAME_LEN = 64, SEQUENCE_DIGITS = 16 };

static const char damaged_prefix[] = "damaged-";
static const char refused_prefix[] = "refused-";

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool fp_spool_aside_is_name(const char *name)
{
    return starts_with(name, damaged_prefix) || starts_with(name, refused_prefix);
}

static bool fits(const struct fp_spool_aside *aside, uint64_t len)
{
    return aside->bytes <= aside->max_bytes && len <= aside->max_bytes - aside->bytes;
}

static bool exists(const struct fp_spool_aside *aside, const char *name)
{
    int file = aside->ops->open(aside->ops->context, aside->dir, name, O_RDONLY);
    if (file < 0)
        return false;
    aside->ops->close(aside->ops->context, file);
    return true;
}

/* Copies the readable bytes; an unreadable chunk stays zero. */
static bool copy_range(const struct fp_spool_aside *aside, const struct fp_spool_aside_range *range,
                       int to)
{
    uint8_t *chunk = malloc(CHUNK_LEN);
    if (chunk == NULL)
        return false;
    bool copied = true;
    for (uint64_t done = 0; copied && done < range->len; done += CHUNK_LEN) {
        size_t len = range->len - done < CHUNK_LEN ? (size_t)(range->len - done) : CHUNK_LEN;
        memset(chunk, 0, len);
        ssize_t got = fp_file_read(aside->ops, range->file, chunk, len, range->offset + done);
        (void)got;
        struct iovec part = {chunk, len};
        copied = fp_file_write(aside->ops, to, &part, 1, done);
    }
    free(chunk);
    return copied;
}

static bool keep_range(struct fp_spool_aside *aside, const struct fp_spool_aside_range *range,
                       const char *name)
{
    if (!fits(aside, range->len)) {
        errno = ENOSPC;
        return false;
    }
    const struct fp_file_ops *ops = aside->ops;
    int file = ops->open(ops->context, aside->dir, name, O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    bool kept = copy_range(aside, range, file) && ops->sync_data(ops->context, file) == 0;
    int error = errno;
    ops->close(ops->context, file);
    if (kept)
        aside->bytes += range->len;
    else
        ops->remove(ops->context, aside->dir, name);
    errno = error;
    return kept;
}

void fp_spool_aside_damaged(struct fp_spool_aside *aside, const struct fp_spool_aside_range *range)
{
    char name[NAME_LEN];
    snprintf(name, sizeof(name), "%s%016" PRIx64 "-%016" PRIx64, damaged_prefix, range->number,
             range->offset);
    if (exists(aside, name))
        return;
    fp_metrics_add(aside->metrics, FP_METRIC_SPOOL_DAMAGED_BYTES, range->len);
    if (keep_range(aside, range, name))
        fp_log(FP_LOG_WARN, "damaged bytes of the spool set aside", "file=%s bytes=%" PRIu64, name,
               range->len);
    else
        fp_log(FP_LOG_WARN, "damaged bytes of the spool could not be set aside",
               "file=%s bytes=%" PRIu64 " error=%s", name, range->len, strerror(errno));
}

bool fp_spool_aside_parse_refused(const char *name, uint64_t *sequence)
{
    const size_t prefix_len = sizeof(refused_prefix) - 1;
    if (!starts_with(name, refused_prefix) || strlen(name + prefix_len) != SEQUENCE_DIGITS ||
        strspn(name + prefix_len, "0123456789abcdef") != SEQUENCE_DIGITS)
        return false;
    *sequence = strtoull(name + prefix_len, NULL, 16);
    return true;
}

static bool keep_bytes(struct fp_spool_aside *aside, const char *name, struct fp_str bytes)
{
    if (!fits(aside, bytes.len)) {
        errno = ENOSPC;
        return false;
    }
    if (!fp_file_replace(aside->ops, aside->dir, name, bytes.ptr, bytes.len))
        return false;
    aside->bytes += bytes.len;
    return true;
}

bool fp_spool_aside_refused(struct fp_spool_aside *aside, uint64_t sequence, struct fp_str record,
                            struct fp_str reason)
{
    char name[NAME_LEN];
    char reason_name[NAME_LEN];
    snprintf(name, sizeof(name), "%s%0*" PRIx64, refused_prefix, SEQUENCE_DIGITS, sequence);
    snprintf(reason_name, sizeof(reason_name), "%s%0*" PRIx64 FP_ASIDE_REASON, refused_prefix,
             SEQUENCE_DIGITS, sequence);
    if (exists(aside, name))
        return true;
    if (!keep_bytes(aside, name, record))
        return false;
    if (!keep_bytes(aside, reason_name, reason)) /* the log has it too */
        fp_log(FP_LOG_WARN, "the reason why a record was refused was not written",
               "file=%s error=%s", name, strerror(errno));
    return true;
}
