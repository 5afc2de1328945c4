/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 ticks: samples with stacks of function frames.
 */
#include "collector/format/speed_tracer/v8_ticks.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/format/speed_tracer/v8.h"
#include "collector/format/speed_tracer/v8_code.h"
#include "collector/format/utf8.h"

static bool fail_limit(struct fp_st_dump *dump, const char *what, uint32_t limit)
{
    fp_upload_fail(dump->decoder->error, FP_VERDICT_TOO_LARGE,
                   "the V8 profiles have more than %u %s (limits.%s)", (unsigned)limit, what, what);
    return fp_st_fail_at_record(dump);
}

/* Names. */

static bool is_kind(const struct fp_st_code *code, const char *kind)
{
    return fp_str_equal(code->kind, fp_str_of(kind));
}

/* Removes `:line` from the end of a name. Returns the line, FP_POSITION_NONE if there is none. */
static int32_t cut_line(struct fp_str *name)
{
    size_t at = name->len;
    int64_t line = 0;
    int64_t unit = 1;
    for (; at > 0 && fp_is_digit(name->ptr[at - 1]) && unit < 1000000000; unit *= 10)
        line += (name->ptr[--at] - '0') * unit;
    if (unit == 1 || at == 0 || name->ptr[at - 1] != ':')
        return FP_POSITION_NONE;
    name->len = at - 1;
    return (int32_t)line;
}

/* Returns where the script begins in `function script`, the name's length if there is none. The
 * engine's own scripts are called `native x.js`. */
static size_t find_script(struct fp_str name)
{
    const struct fp_str native = FP_STR(" native ");
    if (name.ptr == NULL)
        return 0;
    const char *space = memmem(name.ptr, name.len, native.ptr, native.len);
    if (space == NULL)
        space = memrchr(name.ptr, ' ', name.len);
    return space != NULL ? (size_t)(space - name.ptr) + 1 : name.len;
}

/* Names the frame of code that was compiled from a script. */
static bool name_script_code(struct fp_st_dump *dump, const struct fp_st_code *code,
                             struct fp_profile_frame *frame)
{
    struct fp_str name = code->name;
    size_t script = 0;
    if (!is_kind(code, "Script")) {
        frame->line = cut_line(&name);
        script = find_script(name);
        bool has_space = script > 0 && name.ptr[script - 1] == ' ';
        frame->function = (struct fp_str){name.ptr, script - has_space};
    }
    return fp_st_add_resource(dump, (struct fp_str){name.ptr + script, name.len - script},
                              &frame->resource);
}

/* Names the frame of a stub or inline cache, such as `LoadIC: length`. */
static bool name_other_code(struct fp_st_dump *dump, const struct fp_st_code *code,
                            struct fp_profile_frame *frame)
{
    if (code->name.len == 0) {
        frame->function = code->kind;
        return true;
    }
    const struct fp_str separator = FP_STR(": ");
    const size_t len = code->kind.len + separator.len + code->name.len;
    char *bytes = fp_arena_alloc(dump->decoder->arena, len);
    if (bytes == NULL)
        return fp_fail_memory(dump->decoder);
    memcpy(bytes, code->kind.ptr, code->kind.len);
    memcpy(bytes + code->kind.len, separator.ptr, separator.len);
    memcpy(bytes + code->kind.len + separator.len, code->name.ptr, code->name.len);
    frame->function = (struct fp_str){bytes, len};
    return true;
}

/* Frames. */

static uint64_t hash_frame(const struct fp_profile_frame *frame)
{
    const uint64_t numbers[] = {frame->resource, (uint64_t)(int64_t)frame->line};
    return fp_hash_fields(&(struct fp_hash_input){.tag = 'f',
                                                  .numbers = numbers,
                                                  .number_count = 2,
                                                  .texts = &frame->function,
                                                  .text_count = 1});
}

/* Finds or adds the frame of a code object. Recompiled code keeps its frame. */
static bool find_frame(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks,
                       struct fp_st_code *code)
{
    struct fp_decoder *decoder = dump->decoder;
    struct fp_profile *profile = decoder->profile;
    struct fp_profile_frame frame = {
        .resource = FP_INDEX_NONE, .line = FP_POSITION_NONE, .column = FP_POSITION_NONE};
    bool is_script = is_kind(code, "LazyCompile") || is_kind(code, "Function") ||
                     is_kind(code, "Script") || is_kind(code, "Eval");
    if (!(is_script ? name_script_code : name_other_code)(dump, code, &frame))
        return false;
    code->frame = fp_map_put(&ticks->frame_ids, hash_frame(&frame), profile->frame_count);
    if (code->frame < profile->frame_count)
        return true;
    if (profile->frame_count >= decoder->limits->frames)
        return fail_limit(dump, "frames", decoder->limits->frames);
    profile->frames = fp_st_grow(decoder->arena, profile->frames, profile->frame_count,
                                 &ticks->frame_cap, sizeof(frame));
    if (code->frame == FP_MAP_NONE || profile->frames == NULL)
        return fp_fail_memory(decoder);
    FP_ASSERT(code->frame == profile->frame_count);
    profile->frames[profile->frame_count++] = frame;
    return true;
}

/* Stacks and samples. */

/* Finds or adds the stack that has a frame on top of *stack. Sets *stack to it. */
static bool push_frame(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks, uint32_t frame,
                       uint32_t *stack)
{
    struct fp_decoder *decoder = dump->decoder;
    struct fp_profile *profile = decoder->profile;
    const uint32_t parent = *stack;
    const uint64_t key = ((uint64_t)parent << 32) | frame;
    *stack = fp_map_put(&ticks->stack_ids, key, profile->stack_count);
    if (*stack < profile->stack_count)
        return true;
    if (profile->stack_count >= decoder->limits->stacks)
        return fail_limit(dump, "stacks", decoder->limits->stacks);
    profile->stacks = fp_st_grow(decoder->arena, profile->stacks, profile->stack_count,
                                 &ticks->stack_cap, sizeof(*profile->stacks));
    if (*stack == FP_MAP_NONE || profile->stacks == NULL)
        return fp_fail_memory(decoder);
    FP_ASSERT(*stack == profile->stack_count);
    profile->stacks[profile->stack_count++] =
        (struct fp_profile_stack){.frame = frame, .parent = parent};
    return true;
}

static bool add_sample(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks,
                       const struct fp_profile_sample *sample, int64_t weight_us)
{
    struct fp_decoder *decoder = dump->decoder;
    struct fp_profile *profile = decoder->profile;
    const uint32_t count = profile->sample_count;
    if (count >= decoder->limits->samples)
        return fail_limit(dump, "samples", decoder->limits->samples);
    profile->samples =
        fp_st_grow(decoder->arena, profile->samples, count, &ticks->sample_cap, sizeof(*sample));
    profile->weights_us = fp_st_grow(decoder->arena, profile->weights_us, count, &ticks->weight_cap,
                                     sizeof(weight_us));
    if (profile->samples == NULL || profile->weights_us == NULL)
        return fp_fail_memory(decoder);
    FP_ASSERT(sample->stack == FP_INDEX_NONE || sample->stack < profile->stack_count);
    profile->samples[count] = *sample;
    profile->weights_us[count] = weight_us;
    profile->sample_count++;
    profile->has_trace = true;
    return true;
}

void fp_st_v8_ticks_begin(const struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks)
{
    ticks->run_count = 0;
    ticks->first_frame = dump->decoder->profile->frame_count;
    ticks->first_stack = dump->decoder->profile->stack_count;
}

/* Adds a tick to the last run, or begins another. */
static bool count_tick(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks, uint32_t stack,
                       uint32_t state)
{
    struct fp_st_v8_run *last = ticks->run_count > 0 ? &ticks->runs[ticks->run_count - 1] : NULL;
    if (last != NULL && last->stack == stack && last->state == state) {
        last->ticks++;
        return true;
    }
    ticks->runs = fp_st_grow(dump->decoder->arena, ticks->runs, ticks->run_count, &ticks->run_cap,
                             sizeof(*ticks->runs));
    if (ticks->runs == NULL)
        return fp_fail_memory(dump->decoder);
    ticks->runs[ticks->run_count++] = (struct fp_st_v8_run){stack, state, 1};
    return true;
}

bool fp_st_v8_ticks_add(struct fp_st_dump *dump, struct fp_st_v8_ticks *ticks,
                        const struct fp_st_v8_tick *tick)
{
    struct fp_profile_sample sample = {
        .time_us = tick->time_us,
        .stack = FP_INDEX_NONE,
        .marker = tick->state == FP_ST_VM_GC ? FP_MARKER_GC : FP_MARKER_NONE,
    };
    for (size_t i = tick->code_count; i > 0; i--) {
        struct fp_st_code *code = tick->codes[i - 1];
        if (code->frame == FP_INDEX_NONE && !find_frame(dump, ticks, code))
            return false;
        if (!push_frame(dump, ticks, code->frame, &sample.stack))
            return false;
    }
    return add_sample(dump, ticks, &sample, tick->weight_us) &&
           count_tick(dump, ticks, sample.stack, tick->state);
}
