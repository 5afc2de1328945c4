/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: a gzipped profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto).
 *
 * A comparison is what `pprof -diff_base` makes of two profiles: samples of the earlier side have
 * negative values and the label pprof::base, so that pprof takes shares of that side.
 */
#include "cli/export/format.h"
#include "cli/export/protobuf.h"
#include "cli/kit/input_file.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

#define PROFILE_MAX ((size_t)1 << 30)

/* Numbers of fields, by message. */
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START_LINE };
enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_TEXT = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
};

/* The first texts of the file, by index. */
enum {
    TEXT_NONE,
    TEXT_TIME,
    TEXT_MICROSECONDS,
    TEXT_SAMPLES,
    TEXT_COUNT,
    TEXT_BASE,
    TEXT_TRUE,
    TEXT_GENERATED,
    TEXT_TITLE,
    FIRST_OTHER_TEXT
};
static const char *const first_texts[TEXT_TITLE] = {
    "", "time", "microseconds", "samples", "count", "pprof::base", "true", "generated",
};

struct profile {
    const struct fp_export_stacks *stacks;
    struct fp_buf bytes;
    struct fp_buf part;   /* a message in the profile */
    struct fp_buf nested; /* a message or a list in that part */
    int64_t texts;        /* so far */
    uint32_t *path;
    int64_t *sums[2]; /* by node: samples, time */
};

static int64_t add_text(struct profile *profile, struct fp_str text)
{
    fp_protobuf_add_bytes(&profile->bytes, PROFILE_TEXT, text);
    return profile->texts++;
}

static void add_type(struct profile *profile, int64_t type, int64_t unit)
{
    fp_protobuf_add_number(&profile->part, TYPE_TYPE, type);
    fp_protobuf_add_number(&profile->part, TYPE_UNIT, unit);
    fp_protobuf_add_message(&profile->bytes, PROFILE_TYPE, &profile->part);
}

static void begin(struct profile *profile)
{
    for (size_t i = 0; i < FP_COUNT(first_texts); i++)
        (void)add_text(profile, fp_str_of(first_texts[i]));
    (void)add_text(profile, profile->stacks->title);
    /* Some readers take the last one by default, whatever the profile says. */
    add_type(profile, TEXT_SAMPLES, TEXT_COUNT);
    add_type(profile, TEXT_TIME, TEXT_MICROSECONDS);
    fp_protobuf_add_number(&profile->bytes, PROFILE_DEFAULT_TYPE, TEXT_TIME);
    fp_protobuf_add_number(&profile->bytes, PROFILE_COMMENT, TEXT_TITLE);
    fp_protobuf_add_number(&profile->bytes, PROFILE_TIME_NS, profile->stacks->started_us * 1000);
}

/* Adds a frame as a function and the one location in it. Ids are the frame's index and 1. */
static void add_frame(struct profile *profile, size_t index)
{
    const struct fp_export_frame *frame = &profile->stacks->frames[index];
    int64_t id = (int64_t)index + 1;
    int64_t line = frame->line != FP_POSITION_NONE ? frame->line : 0;
    fp_protobuf_add_number(&profile->part, FUNCTION_ID, id);
    fp_protobuf_add_number(&profile->part, FUNCTION_NAME, add_text(profile, frame->function));
    if (frame->resource.len > 0)
        fp_protobuf_add_number(&profile->part, FUNCTION_FILE, add_text(profile, frame->resource));
    fp_protobuf_add_number(&profile->part, FUNCTION_START_LINE, line);
    fp_protobuf_add_message(&profile->bytes, PROFILE_FUNCTION, &profile->part);

    fp_protobuf_add_number(&profile->nested, LINE_FUNCTION, id);
    fp_protobuf_add_number(&profile->nested, LINE_LINE, line);
    fp_protobuf_add_number(&profile->nested, LINE_COLUMN,
                           frame->column != FP_POSITION_NONE ? frame->column : 0);
    fp_protobuf_add_number(&profile->part, LOCATION_ID, id);
    fp_protobuf_add_message(&profile->part, LOCATION_LINE, &profile->nested);
    fp_protobuf_add_message(&profile->bytes, PROFILE_LOCATION, &profile->part);
}

static void add_label(struct profile *profile, int64_t key, int64_t text)
{
    fp_protobuf_add_number(&profile->nested, LABEL_KEY, key);
    fp_protobuf_add_number(&profile->nested, LABEL_TEXT, text);
    fp_protobuf_add_message(&profile->part, SAMPLE_LABEL, &profile->nested);
}

/* Returns the index of a text that says where the browser saw a frame. */
static int64_t add_generated(struct profile *profile, const struct fp_export_frame *frame)
{
    char *place = fp_memory_print("%.*s:%d:%d", (int)frame->generated_resource.len,
                                  frame->generated_resource.ptr, frame->generated_line,
                                  frame->generated_column);
    int64_t text = add_text(profile, fp_str_of(place));
    free(place);
    return text;
}

/* Adds the sum of a track's samples of one stack: innermost frame first. */
static void add_sample(struct profile *profile, uint32_t node, bool is_base)
{
    const struct fp_export_stacks *stacks = profile->stacks;
    const struct fp_export_frame *leaf = &stacks->frames[stacks->nodes[node].frame];
    fp_export_path(stacks, node, profile->path);
    for (uint32_t i = stacks->nodes[node].level; i > 0; i--)
        fp_protobuf_add_varint(&profile->nested, (int64_t)profile->path[i - 1] + 1);
    fp_protobuf_add_message(&profile->part, SAMPLE_LOCATIONS, &profile->nested);
    for (size_t i = 0; i < FP_COUNT(profile->sums); i++)
        fp_protobuf_add_varint(&profile->nested,
                               is_base ? -profile->sums[i][node] : profile->sums[i][node]);
    fp_protobuf_add_message(&profile->part, SAMPLE_VALUES, &profile->nested);
    if (is_base)
        add_label(profile, TEXT_BASE, TEXT_TRUE);
    if (leaf->generated_resource.len > 0)
        add_label(profile, TEXT_GENERATED, add_generated(profile, leaf));
    fp_protobuf_add_message(&profile->bytes, PROFILE_SAMPLE, &profile->part);
}

static void add_track(struct profile *profile, const struct fp_export_track *track)
{
    size_t count = profile->stacks->node_count;
    for (size_t i = 0; i < FP_COUNT(profile->sums); i++)
        memset(profile->sums[i], 0, count * sizeof(*profile->sums[i]));
    for (size_t i = 0; i < track->sample_count; i++) {
        const struct fp_export_sample *sample = &track->samples[i];
        profile->sums[0][sample->node] += sample->count;
        profile->sums[1][sample->node] += sample->weight_us;
    }
    for (uint32_t node = 0; node < count; node++) {
        if (profile->sums[0][node] != 0 || profile->sums[1][node] != 0)
            add_sample(profile, node, track->is_base);
    }
}

static void put_gzipped(struct fp_buf *bytes, FILE *out)
{
    struct fp_arena arena;
    struct fp_str packed;
    if (bytes->failed)
        fp_memory_end();
    fp_arena_init(&arena, 2 * PROFILE_MAX);
    struct fp_str text = {(const char *)bytes->data, bytes->len};
    if (!fp_input_file_compress(text, &arena, &packed))
        fp_memory_end();
    (void)fwrite(packed.ptr, 1, packed.len, out);
    fp_arena_release(&arena);
}

void fp_export_write_pprof(const struct fp_export_stacks *stacks, FILE *out)
{
    struct profile profile = {.stacks = stacks, .path = fp_export_path_room(stacks)};
    fp_buf_init(&profile.bytes, PROFILE_MAX);
    fp_buf_init(&profile.part, PROFILE_MAX);
    fp_buf_init(&profile.nested, PROFILE_MAX);
    for (size_t i = 0; i < FP_COUNT(profile.sums); i++)
        profile.sums[i] = fp_memory_need(calloc(stacks->node_count + 1, sizeof(*profile.sums[i])));
    begin(&profile);
    for (size_t i = 0; i < stacks->frame_count; i++)
        add_frame(&profile, i);
    for (size_t i = 0; i < stacks->track_count; i++)
        add_track(&profile, &stacks->tracks[i]);
    put_gzipped(&profile.bytes, out);
    for (size_t i = 0; i < FP_COUNT(profile.sums); i++)
        free(profile.sums[i]);
    fp_buf_release(&profile.nested);
    fp_buf_release(&profile.part);
    fp_buf_release(&profile.bytes);
    free(profile.path);
}
