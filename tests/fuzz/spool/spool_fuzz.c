/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: the life of a spool on a disk in memory, as the input describes it: records, restarts,
 * and between them damage to any file, deleted files, and foreign files.
 *
 * The spool always starts. Unless a file was forged with correct checksums, records come in order,
 * the same in two reads, and only those that were appended; a record whose own bytes and file
 * header are undamaged is there, whatever is around it, and so is what is appended afterwards.
 */
#include "collector/base/crc32c.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "tests/fuzz/check.h"

/* Code that is shared with the unit tests asserts as a fuzzer does, without cmocka. */
#define FP_TESTS_UNIT_H
#define assert_int_equal(a, b) check((a) == (b))
#define assert_true(holds) check(holds)
#define assert_non_null(pointer) check((pointer) != NULL)
#define assert_memory_equal(a, b, len) check(memcmp(a, b, len) == 0)
#include "tests/unit/spool/disk.h"

enum {
    STEPS_MAX = 40,
    RECORDS_MAX = 512,
    FILES_MAX = DISK_FILES - 64, /* no more steps past so many files */
    PAYLOAD_MIN = 8,             /* the record's number */
    FORGED_LEN = 3 * FP_SPOOL_SEGMENT_HEADER_LEN,
};

void fp_log(enum fp_log_level level, const char *message, const char *fields, ...)
{
    (void)level;
    (void)message;
    (void)fields;
}

/* ---- the input ---- */

struct input {
    const uint8_t *bytes;
    size_t len;
};

static uint8_t take(struct input *input)
{
    if (input->len == 0)
        return 0;
    input->len--;
    return *input->bytes++;
}

static uint64_t take_u16(struct input *input)
{
    uint64_t high = take(input);
    return high << 8 | take(input);
}

/* ---- the records ---- */

struct record {
    uint64_t sequence;
    size_t len;
    uint32_t crc; /* of its payload */
    int file;     /* of the disk; -1: in none */
    uint64_t offset;
    bool is_whole; /* neither it nor its file's header was damaged */
};

struct records {
    struct record at[RECORDS_MAX];
    size_t count;
};

static struct life {
    struct disk disk;
    struct fixture fixture;
    struct records written;  /* by us */
    struct records expected; /* those that the last read returned */
    uint64_t position;       /* of the last trim */
    uint64_t uuids;          /* drawn so far */
    bool is_forged;          /* some file is well-formed but was not written by a spool */
} life;

bool fp_uuid_random(struct fp_uuid *uuid)
{
    memset(uuid, 0, sizeof(*uuid));
    life.uuids++;
    memcpy(uuid->bytes, &life.uuids, sizeof(life.uuids));
    return true;
}

static bool is_same(const struct record *a, const struct record *b)
{
    return a->sequence == b->sequence && a->len == b->len && a->crc == b->crc;
}

static bool holds(const struct records *records, const struct record *record)
{
    for (size_t i = 0; i < records->count; i++)
        if (is_same(&records->at[i], record))
            return true;
    return false;
}

/* ---- where records are, while no process has the files open ---- */

static bool read_header(const struct disk_entry *entry, struct fp_spool_segment_header *header)
{
    uint64_t number;
    if (!fp_spool_segment_parse_name(entry->name, &number))
        return false;
    struct disk *disk = &life.disk;
    int handle = disk->ops.open(disk, DISK_DIR, entry->name, O_RDONLY);
    check(handle >= 0);
    enum fp_spool_segment_verdict verdict =
        fp_spool_segment_read_header(&disk->ops, handle, header);
    disk->ops.close(disk, handle);
    return verdict == FP_SPOOL_SEGMENT_VALID && header->number == number;
}

/* True if the whole record is at a place of a file. */
static bool stands_at(const struct record *record, const struct disk_bytes *bytes, uint64_t offset,
                      const struct fp_uuid *segment_id)
{
    struct fp_spool_frame frame;
    return offset + fp_spool_frame_len(record->len) <= bytes->len &&
           fp_spool_frame_parse(bytes->at + offset, segment_id, &frame) &&
           frame.sequence == record->sequence && frame.payload_len == record->len &&
           fp_crc32c(0, bytes->at + offset + FP_SPOOL_FRAME_HEADER_LEN, record->len) == record->crc;
}

/* Searches all segments for a record, frame by frame. */
static void locate(struct record *record)
{
    record->file = -1;
    struct fp_spool_segment_header header;
    struct fp_spool_frame frame;
    for (size_t i = life.disk.now.count; i > 0; i--) {
        const struct disk_entry *entry = &life.disk.now.entries[i - 1];
        if (!read_header(entry, &header))
            continue;
        const struct disk_bytes *bytes = &life.disk.files[entry->file].now;
        uint64_t at = FP_SPOOL_SEGMENT_HEADER_LEN;
        while (at + FP_SPOOL_FRAME_HEADER_LEN <= bytes->len) {
            if (stands_at(record, bytes, at, &header.segment_id)) {
                record->file = entry->file;
                record->offset = at;
                return;
            }
            bool is_frame = fp_spool_frame_parse(bytes->at + at, &header.segment_id, &frame);
            at += is_frame ? fp_spool_frame_len(frame.payload_len) : FP_SPOOL_FRAME_ALIGNMENT;
        }
    }
}

/* True if the record is still in its place, in a file that still counts as a segment. */
static bool is_whole(const struct record *record)
{
    struct fp_spool_segment_header header;
    for (size_t i = 0; i < life.disk.now.count; i++) {
        const struct disk_entry *entry = &life.disk.now.entries[i];
        if (entry->file == record->file)
            return read_header(entry, &header) &&
                   stands_at(record, &life.disk.files[entry->file].now, record->offset,
                             &header.segment_id);
    }
    return false;
}

/* ---- reading ---- */

static void read_all(struct records *records)
{
    uint64_t after = life.position;
    struct fp_spool_batch batch;
    records->count = 0;
    do {
        check(fp_spool_read(life.fixture.spool, after, 3000, 5, &batch) == FP_SPOOL_OK);
        for (size_t i = 0; i < batch.count; i++) {
            const struct fp_spool_record *read = &batch.records[i];
            if (life.is_forged && read->sequence <= after)
                return; /* two files claim the same numbers: no order is right */
            check(read->sequence > after && records->count < RECORDS_MAX);
            records->at[records->count++] = (struct record){
                .sequence = read->sequence,
                .len = read->len,
                .crc = fp_crc32c(0, read->bytes, read->len),
                .is_whole = true,
            };
            after = read->sequence;
        }
    } while (batch.count > 0);
}

/* Compares the records read with those that must and those that may be there. */
static void compare(const struct records *read, const struct records *again)
{
    check(read->count == again->count);
    for (size_t i = 0; i < read->count; i++)
        check(is_same(&read->at[i], &again->at[i]));
    for (size_t i = 0; i < life.expected.count; i++) {
        const struct record *record = &life.expected.at[i];
        check(!record->is_whole || record->sequence <= life.position || holds(read, record));
    }
    for (size_t i = 0; i < read->count; i++)
        check(holds(&life.written, &read->at[i]));
}

static void check_content(void)
{
    static struct records first;
    static struct records second;
    read_all(&first);
    read_all(&second);
    if (!life.is_forged)
        compare(&first, &second);
    life.expected = first;
}

/* ---- steps ---- */

static void stop(void)
{
    check_content();
    close_spool(&life.fixture);
    disk_restart(&life.disk);
    for (size_t i = 0; i < life.expected.count; i++)
        locate(&life.expected.at[i]);
}

static void start(void)
{
    for (size_t i = 0; i < life.expected.count; i++)
        life.expected.at[i].is_whole = is_whole(&life.expected.at[i]);
    check(try_open(&life.fixture) == FP_SPOOL_OK);
    check(life.is_forged || fp_spool_position(life.fixture.spool) <= life.position);
    check_content();
}

static void append(struct input *input)
{
    static uint8_t bytes[FP_SPOOL_SEGMENT_HEADER_LEN + 256];
    struct waiter waiter = WAITER_INIT;
    size_t len = PAYLOAD_MIN + (size_t)take(input) * 33;
    uint64_t number = life.written.count + 1;
    memset(bytes, (int)number, len);
    memcpy(bytes, &number, sizeof(number));
    enum fp_spool_error error =
        fp_spool_append(life.fixture.spool, bytes, len, tell_waiter, &waiter);
    bool is_too_long = fp_spool_frame_len(len) > FP_SPOOL_SEGMENT_HEADER_LEN;
    check(is_too_long == (error == FP_SPOOL_TOO_LONG));
    if (error != FP_SPOOL_OK)
        return;
    wait_until_told(&waiter, 1);
    check(waiter.last == FP_SPOOL_OK);
    struct record record = {.len = len, .crc = fp_crc32c(0, bytes, len), .is_whole = true};
    record.sequence = fp_spool_tail(life.fixture.spool);
    life.written.at[life.written.count++] = record;
    life.expected.at[life.expected.count++] = record;
}

static void trim(struct input *input)
{
    size_t which = take(input);
    if (life.expected.count == 0)
        return;
    uint64_t position = life.expected.at[which % life.expected.count].sequence;
    if (position > life.position)
        life.position = position;
    check(fp_spool_trim(life.fixture.spool, life.position) == FP_SPOOL_OK);
    life.fixture.spool->reader.state_written_us = 0; /* the next trim writes it again */
}

/* Picks a file of the directory, NULL if it is empty. */
static struct disk_entry *choose_file(struct input *input)
{
    size_t which = take(input);
    return life.disk.now.count > 0 ? &life.disk.now.entries[which % life.disk.now.count] : NULL;
}

static void damage(struct input *input)
{
    const struct disk_entry *entry = choose_file(input);
    uint64_t offset = take_u16(input);
    size_t len = take(input);
    uint8_t change = take(input);
    struct disk_bytes *bytes = &life.disk.files[entry->file].now;
    for (uint64_t at = offset; at < offset + len && at < bytes->len; at++)
        bytes->at[at] ^= change;
}

static void cut(struct input *input)
{
    const struct disk_entry *entry = choose_file(input);
    disk_resize(&life.disk.files[entry->file].now, (size_t)take_u16(input));
}

static void remove_file(struct input *input)
{
    const struct disk_entry *entry = choose_file(input);
    char name[sizeof(entry->name)];
    memcpy(name, entry->name, sizeof(name));
    disk_drop_name(&life.disk.now, name);
}

static void put_file(const char *name, const uint8_t *bytes, size_t len)
{
    struct disk *disk = &life.disk;
    int handle = disk->ops.open(disk, DISK_DIR, name, O_RDWR | O_CREAT | O_TRUNC);
    check(handle >= 0);
    disk_put(&disk->files[disk->handles[handle]].now, 0, bytes, len);
    disk->ops.close(disk, handle);
}

/* Writes a file of any bytes under a name that the spool reads. */
static void put_bytes(struct input *input)
{
    static const char *const names[] = {"state", "state.tmp", "damaged-state", "x",
                                        "damaged-0000000000000001-0000000000002000"};
    size_t which = take(input);
    size_t len = take(input);
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(which, name);
    len = len < input->len ? len : input->len;
    put_file(which < 5 ? names[which] : name, input->bytes, len);
    input->bytes += len;
    input->len -= len;
}

/* Copies a segment to the name of another one. */
static void copy_file(struct input *input)
{
    const struct disk_entry *entry = choose_file(input);
    const struct disk_bytes *from = &life.disk.files[entry->file].now;
    struct disk_bytes bytes = {NULL, 0};
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name((uint64_t)take(input) + 1, name);
    disk_copy(&bytes, from);
    put_file(name, bytes.at, bytes.len);
    free(bytes.at);
}

/* Writes frames with correct checksums, in any order and at any distance. */
static size_t forge_frames(struct input *input, const struct fp_uuid *id, uint8_t *file)
{
    size_t at = 0;
    size_t room = FORGED_LEN - FP_SPOOL_SEGMENT_HEADER_LEN;
    for (unsigned count = take(input) % 8; count > 0; count--) {
        size_t len = take(input);
        at += take(input);
        if (at + fp_spool_frame_len(len) > room)
            break;
        memset(file + at + FP_SPOOL_FRAME_HEADER_LEN, (int)len, len);
        fp_spool_frame_finish(file + at, len, take_u16(input), id);
        at += (size_t)fp_spool_frame_len(len);
    }
    return at;
}

static void forge_segment(struct input *input)
{
    static uint8_t frames[FORGED_LEN];
    struct disk *disk = &life.disk;
    struct fp_spool_segment_header header = {.spool_id = {{take(input)}}, .segment_id = {{0xf0}}};
    header.number = (uint64_t)take(input) + 1;
    header.first_sequence = take_u16(input);
    header.tail = take_u16(input);
    header.previous_number = take(input);
    header.previous_end = take_u16(input);
    memset(frames, 0, sizeof(frames));
    size_t len = forge_frames(input, &header.segment_id, frames);
    int handle = fp_spool_segment_create(&disk->ops, DISK_DIR, &header, FORGED_LEN);
    check(handle >= 0);
    disk_put(&disk->files[disk->handles[handle]].now, FP_SPOOL_SEGMENT_HEADER_LEN, frames, len);
    disk->ops.close(disk, handle);
    life.is_forged = true;
}

/* Changes the files while no process has them open. */
static void happen(struct input *input, unsigned what)
{
    stop();
    if (what == 9)
        put_bytes(input);
    else if (what == 10)
        forge_segment(input);
    else if (life.disk.now.count > 0)
        (what == 5 || what == 6 ? damage
         : what == 7            ? cut
         : what == 8            ? remove_file
                                : copy_file)(input);
    start();
}

static void step(struct input *input)
{
    unsigned what = take(input) % 12;
    if (what < 3) {
        append(input);
    } else if (what == 3) {
        trim(input);
    } else if (what == 4) {
        stop();
        start();
    } else {
        happen(input, what);
    }
}

/* ---- a life ---- */

static void begin(void)
{
    static struct fp_metrics *metrics;
    if (metrics == NULL)
        metrics = fp_metrics_create();
    check(metrics != NULL);
    memset(&life, 0, sizeof(life));
    disk_init(&life.disk, 1);
    life.fixture = (struct fixture){
        .metrics = metrics,
        .ops = &life.disk.ops,
        .settings = {.path = "/spool",
                     .max_bytes = 4 << 20,
                     .segment_bytes = UINT64_C(2) * FP_SPOOL_SEGMENT_HEADER_LEN,
                     .keep_us = FP_US_PER_HOUR},
    };
    start();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct input input = {bytes, len};
    begin();
    for (unsigned steps = 0; steps < STEPS_MAX && input.len > 0; steps++)
        if (life.disk.file_count < FILES_MAX)
            step(&input);
    stop();
    start();
    append(&input);
    stop();
    start();
    close_spool(&life.fixture);
    disk_release(&life.disk);
    return 0;
}
