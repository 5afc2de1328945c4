/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segment: encodes and decodes what docs/internals/spool.md describes.
 */
#include "collector/spool/segment.h"

#include "collector/base/assert.h"
#include "collector/base/crc32c.h"
#include "collector/spool/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_COPIES = 2, HEADER_COPY_LEN = FP_SPOOL_SEGMENT_HEADER_LEN / HEADER_COPIES };

/* Offsets in a copy of the header. Those of magic and version never change; another version may
 * move the others. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_CRC = 12,
    AT_SPOOL_ID = 16,
    AT_SEGMENT_ID = 32,
    AT_NUMBER = 48,
    AT_FIRST_SEQUENCE = 56,
    AT_TAIL = 64,
    AT_PREVIOUS_NUMBER = 72,
    AT_PREVIOUS_END = 80,
    HEADER_USED = 88,
};

static const char magic[8] = {'F', 'P', 'S', 'P', 'O', 'O', 'L', '\n'};

/* Offsets in a frame. */
enum { AT_PAYLOAD_LEN = 0, AT_PAYLOAD_CRC = 4, AT_SEQUENCE = 8, AT_FRAME_CRC = 16 };

static const char name_suffix[] = ".seg";

/* Far below overflow; a higher number was not written by us. */
#define NUMBER_MAX (UINT64_C(1) << 62)

void fp_spool_segment_name(uint64_t number, char name[FP_SPOOL_SEGMENT_NAME_SIZE])
{
    snprintf(name, FP_SPOOL_SEGMENT_NAME_SIZE, "%016" PRIx64 "%s", number, name_suffix);
}

bool fp_spool_segment_parse_name(const char *name, uint64_t *number)
{
    char *rest;
    errno = 0;
    uint64_t parsed = strtoull(name, &rest, 16);
    char canonical[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(parsed, canonical);
    if (errno != 0 || parsed == 0 || parsed > NUMBER_MAX || strcmp(name, canonical) != 0)
        return false;
    *number = parsed;
    return true;
}

/* Returns the checksum of a header copy, computed over everything but the checksum itself. */
static uint32_t header_crc(const uint8_t *copy)
{
    uint32_t crc = fp_crc32c(0, copy, AT_CRC);
    return fp_crc32c(crc, copy + AT_SPOOL_ID, HEADER_USED - AT_SPOOL_ID);
}

static void encode_header(const struct fp_spool_segment_header *header, uint8_t *copy)
{
    memcpy(copy + AT_MAGIC, magic, sizeof(magic));
    put_u32(copy + AT_VERSION, FP_SPOOL_SEGMENT_VERSION);
    memcpy(copy + AT_SPOOL_ID, header->spool_id.bytes, sizeof(header->spool_id.bytes));
    memcpy(copy + AT_SEGMENT_ID, header->segment_id.bytes, sizeof(header->segment_id.bytes));
    put_u64(copy + AT_NUMBER, header->number);
    put_u64(copy + AT_FIRST_SEQUENCE, header->first_sequence);
    put_u64(copy + AT_TAIL, header->tail);
    put_u64(copy + AT_PREVIOUS_NUMBER, header->previous_number);
    put_u64(copy + AT_PREVIOUS_END, header->previous_end);
    put_u32(copy + AT_CRC, header_crc(copy));
}

static enum fp_spool_segment_verdict decode_header(const uint8_t *copy,
                                                   struct fp_spool_segment_header *header)
{
    if (memcmp(copy + AT_MAGIC, magic, sizeof(magic)) != 0)
        return FP_SPOOL_SEGMENT_FOREIGN;
    if (get_u32(copy + AT_VERSION) != FP_SPOOL_SEGMENT_VERSION)
        return FP_SPOOL_SEGMENT_UNKNOWN_VERSION;
    if (get_u32(copy + AT_CRC) != header_crc(copy))
        return FP_SPOOL_SEGMENT_FOREIGN;
    memcpy(header->spool_id.bytes, copy + AT_SPOOL_ID, sizeof(header->spool_id.bytes));
    memcpy(header->segment_id.bytes, copy + AT_SEGMENT_ID, sizeof(header->segment_id.bytes));
    header->number = get_u64(copy + AT_NUMBER);
    header->first_sequence = get_u64(copy + AT_FIRST_SEQUENCE);
    header->tail = get_u64(copy + AT_TAIL);
    header->previous_number = get_u64(copy + AT_PREVIOUS_NUMBER);
    header->previous_end = get_u64(copy + AT_PREVIOUS_END);
    if (header->tail >= header->first_sequence || header->first_sequence > FP_SPOOL_SEQUENCE_MAX)
        return FP_SPOOL_SEGMENT_FOREIGN;
    return FP_SPOOL_SEGMENT_VALID;
}

static bool write_header(const struct fp_file_ops *ops, int file,
                         const struct fp_spool_segment_header *header)
{
    uint8_t copy[HEADER_COPY_LEN] = {0};
    encode_header(header, copy);
    struct iovec parts[HEADER_COPIES];
    for (size_t i = 0; i < HEADER_COPIES; i++)
        parts[i] = (struct iovec){copy, sizeof(copy)};
    return fp_file_write(ops, file, parts, HEADER_COPIES, 0);
}

int fp_spool_segment_create(const struct fp_file_ops *ops, int dir,
                            const struct fp_spool_segment_header *header, uint64_t len)
{
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    char unfinished[FP_SPOOL_SEGMENT_NAME_SIZE + sizeof(FP_FILE_UNFINISHED)];
    fp_spool_segment_name(header->number, name);
    snprintf(unfinished, sizeof(unfinished), "%s" FP_FILE_UNFINISHED, name);

    int file = ops->open(ops->context, dir, unfinished, O_RDWR | O_CREAT | O_TRUNC);
    if (file < 0)
        return -1;
    const char *present = unfinished;
    if (ops->allocate(ops->context, file, len) == 0 && write_header(ops, file, header) &&
        ops->sync_data(ops->context, file) == 0 &&
        ops->rename(ops->context, dir, unfinished, name) == 0) {
        present = name;
        if (ops->sync_dir(ops->context, dir) == 0)
            return file;
    }
    int error = errno;
    ops->remove(ops->context, dir, present);
    ops->close(ops->context, file);
    errno = error;
    return -1;
}

enum fp_spool_segment_verdict fp_spool_segment_read_header(const struct fp_file_ops *ops, int file,
                                                           struct fp_spool_segment_header *header)
{
    enum fp_spool_segment_verdict verdict = FP_SPOOL_SEGMENT_FOREIGN;
    for (uint64_t i = 0; i < HEADER_COPIES && verdict != FP_SPOOL_SEGMENT_VALID; i++) {
        uint8_t copy[HEADER_USED];
        ssize_t got = fp_file_read(ops, file, copy, sizeof(copy), i * HEADER_COPY_LEN);
        if (got != (ssize_t)sizeof(copy))
            continue;
        enum fp_spool_segment_verdict found = decode_header(copy, header);
        if (found != FP_SPOOL_SEGMENT_FOREIGN)
            verdict = found;
    }
    return verdict;
}

uint64_t fp_spool_frame_len(size_t payload_len)
{
    if (payload_len > UINT32_MAX)
        return 0;
    uint64_t len = FP_SPOOL_FRAME_HEADER_LEN + (uint64_t)payload_len;
    return (len + FP_SPOOL_FRAME_ALIGNMENT - 1) / FP_SPOOL_FRAME_ALIGNMENT *
           FP_SPOOL_FRAME_ALIGNMENT;
}

static uint32_t frame_crc(const uint8_t *frame, const struct fp_uuid *segment_id)
{
    uint32_t crc = fp_crc32c(0, segment_id->bytes, sizeof(segment_id->bytes));
    return fp_crc32c(crc, frame, AT_FRAME_CRC);
}

void fp_spool_frame_finish(uint8_t *frame, size_t payload_len, uint64_t sequence,
                           const struct fp_uuid *segment_id)
{
    FP_ASSERT(fp_spool_frame_len(payload_len) > 0);
    uint8_t *payload = frame + FP_SPOOL_FRAME_HEADER_LEN;
    put_u32(frame + AT_PAYLOAD_LEN, (uint32_t)payload_len);
    put_u32(frame + AT_PAYLOAD_CRC, fp_crc32c(0, payload, payload_len));
    put_u64(frame + AT_SEQUENCE, sequence);
    put_u32(frame + AT_FRAME_CRC, frame_crc(frame, segment_id));
    size_t used = FP_SPOOL_FRAME_HEADER_LEN + payload_len;
    memset(frame + used, 0, (size_t)fp_spool_frame_len(payload_len) - used);
}

bool fp_spool_frame_parse(const uint8_t *bytes, const struct fp_uuid *segment_id,
                          struct fp_spool_frame *frame)
{
    uint64_t sequence = get_u64(bytes + AT_SEQUENCE);
    if (sequence == 0 || sequence > FP_SPOOL_SEQUENCE_MAX ||
        get_u32(bytes + AT_FRAME_CRC) != frame_crc(bytes, segment_id))
        return false;
    frame->payload_len = get_u32(bytes + AT_PAYLOAD_LEN);
    frame->payload_crc = get_u32(bytes + AT_PAYLOAD_CRC);
    frame->sequence = sequence;
    return true;
}
