/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: 64 bytes with a checksum, replaced as a whole.
 */
#include "collector/spool/state.h"

#include "collector/base/crc32c.h"
#include "collector/base/log.h"
#include "collector/spool/bytes.h"
#include "collector/spool/segment.h"

#include <errno.h>
#include <fcntl.h>

enum { STATE_VERSION = 1 };

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_SPOOL_ID = 16,
    AT_POSITION = 32,
    AT_TAIL = 40,
    AT_NEXT_SEQUENCE = 48,
    AT_CRC = 60,
    STATE_LEN = 64,
};

static const char magic[8] = {'F', 'P', 'S', 'T', 'A', 'T', 'E', '\n'};
static const char state_name[] = "state";
static const char unusable_name[] = "damaged-state";

static bool decode(const uint8_t *bytes, struct fp_spool_state *state)
{
    if (memcmp(bytes + AT_MAGIC, magic, sizeof(magic)) != 0 ||
        get_u32(bytes + AT_VERSION) != STATE_VERSION ||
        get_u32(bytes + AT_CRC) != fp_crc32c(0, bytes, AT_CRC))
        return false;
    struct fp_spool_state read = {
        .position = get_u64(bytes + AT_POSITION),
        .tail = get_u64(bytes + AT_TAIL),
        .next_sequence = get_u64(bytes + AT_NEXT_SEQUENCE),
    };
    memcpy(read.spool_id.bytes, bytes + AT_SPOOL_ID, sizeof(read.spool_id.bytes));
    if (read.position > read.tail || read.tail >= read.next_sequence ||
        read.next_sequence > FP_SPOOL_SEQUENCE_MAX)
        return false;
    *state = read;
    return true;
}

enum fp_spool_state_found fp_spool_state_look(const struct fp_file_ops *ops, int dir,
                                              struct fp_spool_state *state)
{
    int file = ops->open(ops->context, dir, state_name, O_RDONLY);
    if (file < 0 && errno == ENOENT)
        return FP_STATE_ABSENT;
    uint8_t bytes[STATE_LEN];
    ssize_t len = -1;
    if (file >= 0) {
        len = fp_file_read(ops, file, bytes, sizeof(bytes), 0);
        ops->close(ops->context, file);
    }
    bool is_good = len == (ssize_t)sizeof(bytes) && decode(bytes, state);
    return is_good ? FP_STATE_GOOD : FP_STATE_UNUSABLE;
}

bool fp_spool_state_read(const struct fp_file_ops *ops, int dir, struct fp_spool_state *state)
{
    enum fp_spool_state_found found = fp_spool_state_look(ops, dir, state);
    if (found != FP_STATE_UNUSABLE)
        return found == FP_STATE_GOOD;
    fp_log(FP_LOG_WARN, "spool state cannot be used, set aside", "file=%s", unusable_name);
    if (ops->rename(ops->context, dir, state_name, unusable_name) != 0)
        fp_log(FP_LOG_WARN, "spool state was not set aside", "error=%s", strerror(errno));
    return false;
}

bool fp_spool_state_write(const struct fp_file_ops *ops, int dir,
                          const struct fp_spool_state *state)
{
    uint8_t bytes[STATE_LEN] = {0};
    memcpy(bytes + AT_MAGIC, magic, sizeof(magic));
    put_u32(bytes + AT_VERSION, STATE_VERSION);
    memcpy(bytes + AT_SPOOL_ID, state->spool_id.bytes, sizeof(state->spool_id.bytes));
    put_u64(bytes + AT_POSITION, state->position);
    put_u64(bytes + AT_TAIL, state->tail);
    put_u64(bytes + AT_NEXT_SEQUENCE, state->next_sequence);
    put_u32(bytes + AT_CRC, fp_crc32c(0, bytes, AT_CRC));
    return fp_file_replace(ops, dir, state_name, bytes, sizeof(bytes));
}
