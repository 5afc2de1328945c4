/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan: a record is valid only if both its checksums are right and its sequence number grows.
 *
 * A frame's header has its own checksum, keyed by the segment's random id. So the search for the
 * next record after damage computes a payload's checksum only at a valid header: it takes linear
 * time, whatever the payloads hold.
 */
#include "collector/spool/scan.h"

#include "collector/base/assert.h"
#include "collector/base/crc32c.h"
#include "collector/spool/segment.h"

#include <stdlib.h>

enum { WINDOW_LEN = 256 * 1024, WINDOW_KEPT_LEN = 4 * WINDOW_LEN, SECTOR_LEN = 4096 };

void fp_spool_scan_begin(struct fp_spool_scan *scan, int file, const struct fp_uuid *segment_id,
                         uint64_t offset, uint64_t sequence)
{
    scan->file = file;
    scan->segment_id = *segment_id;
    scan->offset = offset;
    scan->sequence = sequence;
    scan->unreadable_bytes = 0;
    scan->window_len = 0;
}

void fp_spool_scan_release(struct fp_spool_scan *scan)
{
    free(scan->window);
    scan->window = NULL;
    scan->window_cap = 0;
    scan->window_len = 0;
}

/* Reads the readable sectors; one that cannot be read, or is past the file's end, counts as
 * zeros. */
static void read_by_sectors(struct fp_spool_scan *scan, uint64_t offset, size_t len)
{
    for (size_t done = 0; done < len;) {
        size_t now = SECTOR_LEN - (size_t)((offset + done) % SECTOR_LEN);
        if (now > len - done)
            now = len - done;
        ssize_t got = fp_file_read(scan->ops, scan->file, scan->window + done, now, offset + done);
        size_t have = got > 0 ? (size_t)got : 0;
        memset(scan->window + done + have, 0, now - have);
        scan->unreadable_bytes += now - have;
        done += now;
    }
}

static bool fit_window(struct fp_spool_scan *scan, size_t len)
{
    bool far_too_large = scan->window_cap > WINDOW_KEPT_LEN && len <= WINDOW_LEN;
    if (scan->window_cap >= len && !far_too_large)
        return true;
    size_t cap = len < WINDOW_LEN ? WINDOW_LEN : len;
    uint8_t *window = realloc(scan->window, cap);
    if (window == NULL)
        return false;
    scan->window = window;
    scan->window_cap = cap;
    return true;
}

/* Returns the len bytes at offset, which are before the end; NULL if memory is out. */
static const uint8_t *bytes_at(struct fp_spool_scan *scan, uint64_t offset, size_t len)
{
    FP_ASSERT(offset <= scan->end && len <= scan->end - offset);
    bool inside = scan->window_len > 0 && offset >= scan->window_offset &&
                  offset + len <= scan->window_offset + scan->window_len;
    if (!inside) {
        size_t wanted = len < WINDOW_LEN ? WINDOW_LEN : len;
        if (wanted > scan->end - offset)
            wanted = (size_t)(scan->end - offset);
        scan->window_len = 0;
        if (!fit_window(scan, wanted))
            return NULL;
        ssize_t got = fp_file_read(scan->ops, scan->file, scan->window, wanted, offset);
        if (got != (ssize_t)wanted)
            read_by_sectors(scan, offset, wanted);
        scan->window_offset = offset;
        scan->window_len = wanted;
    }
    return scan->window + (offset - scan->window_offset);
}

/* The kind of data at one offset. */
enum place { PLACE_RECORD, PLACE_BAD_PAYLOAD, PLACE_NOTHING, PLACE_MEMORY };

/* Checks one offset. item: the record, or the extent of a frame with a damaged payload. */
static enum place check_at(struct fp_spool_scan *scan, uint64_t offset,
                           struct fp_spool_scan_item *item)
{
    const uint8_t *bytes = bytes_at(scan, offset, FP_SPOOL_FRAME_HEADER_LEN);
    if (bytes == NULL)
        return PLACE_MEMORY;
    struct fp_spool_frame frame;
    if (!fp_spool_frame_parse(bytes, &scan->segment_id, &frame) || frame.sequence <= scan->sequence)
        return PLACE_NOTHING;
    uint64_t len = fp_spool_frame_len(frame.payload_len);
    if (len > scan->end - offset)
        return PLACE_NOTHING;
    bytes = bytes_at(scan, offset, (size_t)len);
    if (bytes == NULL)
        return PLACE_MEMORY;
    *item = (struct fp_spool_scan_item){
        .offset = offset,
        .len = len,
        .sequence = frame.sequence,
        .bytes = bytes + FP_SPOOL_FRAME_HEADER_LEN,
        .bytes_len = frame.payload_len,
    };
    if (fp_crc32c(0, item->bytes, item->bytes_len) != frame.payload_crc)
        return PLACE_BAD_PAYLOAD;
    return PLACE_RECORD;
}

/* Counts the bytes from the scan's offset until only zeros follow. False if memory is out. */
static bool measure_garbage(struct fp_spool_scan *scan, uint64_t *garbage_len)
{
    *garbage_len = 0;
    for (uint64_t at = scan->offset; at < scan->end;) {
        size_t len = scan->end - at < SECTOR_LEN ? (size_t)(scan->end - at) : SECTOR_LEN;
        const uint8_t *bytes = bytes_at(scan, at, len);
        if (bytes == NULL)
            return false;
        at += len;
        while (len > 0 && bytes[len - 1] == 0)
            len--;
        if (len > 0)
            *garbage_len =
                (uint64_t)(bytes - scan->window) + scan->window_offset + len - scan->offset;
    }
    return true;
}

static enum fp_spool_scan_found found_end(struct fp_spool_scan *scan,
                                          struct fp_spool_scan_item *item)
{
    *item = (struct fp_spool_scan_item){.offset = scan->offset};
    if (scan->end > scan->offset)
        item->len = scan->end - scan->offset;
    if (!measure_garbage(scan, &item->garbage_len))
        return FP_SPOOL_SCAN_MEMORY;
    return FP_SPOOL_SCAN_END;
}

enum fp_spool_scan_found fp_spool_scan_next(struct fp_spool_scan *scan,
                                            struct fp_spool_scan_item *item)
{
    uint64_t start = scan->offset;
    uint64_t at = start;
    while (at < scan->end && scan->end - at >= FP_SPOOL_FRAME_HEADER_LEN) {
        enum place place = check_at(scan, at, item);
        if (place == PLACE_MEMORY)
            return FP_SPOOL_SCAN_MEMORY;
        if (place == PLACE_RECORD && at == start) {
            scan->offset = at + item->len;
            scan->sequence = item->sequence;
            return FP_SPOOL_SCAN_RECORD;
        }
        if (place == PLACE_RECORD) {
            *item = (struct fp_spool_scan_item){.offset = start, .len = at - start};
            scan->offset = at;
            return FP_SPOOL_SCAN_DAMAGED;
        }
        at += place == PLACE_BAD_PAYLOAD ? item->len : FP_SPOOL_FRAME_ALIGNMENT;
    }
    return found_end(scan, item);
}
