/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segment: the bytes of one file of the spool: its name, its header, and the frame of a record.
 *
 * docs/internals/spool.md describes them. No state, no locks: any thread.
 */
#ifndef FP_SPOOL_SEGMENT_H
#define FP_SPOOL_SEGMENT_H

#include "collector/base/base.h"
#include "collector/spool/file_ops.h"

#define FP_SPOOL_SEGMENT_VERSION 1

/* The header is written twice, one page each, so that one bad sector does not lose a whole file. */
#define FP_SPOOL_SEGMENT_HEADER_LEN 8192

/* Records are aligned to this. */
#define FP_SPOOL_FRAME_ALIGNMENT 8

/* Length, CRC of the payload, sequence, CRC of these and the segment's id. The payload follows. */
#define FP_SPOOL_FRAME_HEADER_LEN 20

/* Far below overflow: spools never get this far, so a higher sequence number is invalid. */
#define FP_SPOOL_SEQUENCE_MAX (UINT64_C(1) << 62)

struct fp_spool_segment_header {
    struct fp_uuid spool_id;   /* the spool's when the file was made */
    struct fp_uuid segment_id; /* random, of this file alone: part of each record's checksum */
    uint64_t number;           /* grows from file to file; also in the name */
    uint64_t first_sequence;   /* no record of the file has a lower one */
    uint64_t tail;             /* the last committed record before this file, 0 when none */
    uint64_t previous_number;  /* the file written before this one, 0 when none */
    uint64_t previous_end;     /* where its committed records end; anything after it was refused */
};

enum fp_spool_segment_verdict {
    FP_SPOOL_SEGMENT_VALID,
    FP_SPOOL_SEGMENT_FOREIGN,         /* not a segment, or both copies of the header are damaged */
    FP_SPOOL_SEGMENT_UNKNOWN_VERSION, /* a segment of another version of fleetprof */
};

#define FP_SPOOL_SEGMENT_NAME_SIZE 32

/* Formats the file's name. */
void fp_spool_segment_name(uint64_t number, char name[FP_SPOOL_SEGMENT_NAME_SIZE]);

/* Parses a file's name. False if it is not a segment's. */
bool fp_spool_segment_parse_name(const char *name, uint64_t *number) FP_MUST_CHECK;

/*
 * Makes a file of `len` bytes with this header, durably: bytes, length and name. Returns the
 * handle, -1 with errno on failure; then it leaves no file, or one that recovery removes.
 */
int fp_spool_segment_create(const struct fp_file_ops *ops, int dir,
                            const struct fp_spool_segment_header *header,
                            uint64_t len) FP_MUST_CHECK;

/* Reads the header of an open file. */
enum fp_spool_segment_verdict
fp_spool_segment_read_header(const struct fp_file_ops *ops, int file,
                             struct fp_spool_segment_header *header) FP_MUST_CHECK;

/* Returns the bytes that a record of this length needs in the file, 0 if it is too long for any. */
uint64_t fp_spool_frame_len(size_t payload_len);

/* Writes the header and the padding of a frame whose payload is already at
 * FP_SPOOL_FRAME_HEADER_LEN. */
void fp_spool_frame_finish(uint8_t *frame, size_t payload_len, uint64_t sequence,
                           const struct fp_uuid *segment_id);

/* A frame's header. */
struct fp_spool_frame {
    uint32_t payload_len;
    uint32_t payload_crc;
    uint64_t sequence;
};

/* Decodes a frame's header. False if it is not a frame of this segment. */
bool fp_spool_frame_parse(const uint8_t *bytes, const struct fp_uuid *segment_id,
                          struct fp_spool_frame *frame) FP_MUST_CHECK;

#endif
