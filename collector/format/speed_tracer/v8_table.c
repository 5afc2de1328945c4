/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 table: the ticks of a profile by state and stack.
 *
 * Numbers of functions and stacks continue through the dump. Each is listed in the profile that had
 * it first. So the tables grow with new entries only, not with entries that profiles share.
 */
#include "collector/format/speed_tracer/v8_table.h"

#include "collector/format/speed_tracer/detail_bytes.h"
#include "collector/format/speed_tracer/v8.h"
#include "collector/format/speed_tracer/v8_ticks.h"
#include "collector/profile/text.h"

static void add_char(struct fp_buf *out, char c)
{
    fp_buf_add(out, &c, 1);
}

/* Appends an element of a list of numbers; FP_INDEX_NONE is −1. */
static void add_number(struct fp_buf *out, uint32_t number)
{
    if (out->len > 0 && out->data[out->len - 1] != '{')
        add_char(out, ',');
    if (number == FP_INDEX_NONE)
        fp_buf_add(out, "-1", 2);
    else
        fp_st_add_whole(out, number, false);
}

/* Returns the name of a state in details. */
static struct fp_str state_name(uint32_t state)
{
    static const struct fp_str names[FP_ST_VM_STATES] = {
        {"js", 2}, {"gc", 2}, {"compiler", 8}, {"other", 5}, {"external", 8}, {"unknown", 7}};
    return names[state];
}

/* Appends the ticks by state: {"js":3}. */
static void add_states(const struct fp_st_v8_ticks *ticks, struct fp_buf *out)
{
    uint32_t states[FP_ST_VM_STATES] = {0};
    for (uint32_t i = 0; i < ticks->run_count; i++)
        states[ticks->runs[i].state] += ticks->runs[i].ticks;
    fp_st_add_name(out, FP_STR("vmStates"));
    add_char(out, '{');
    for (uint32_t i = 0; i < FP_ST_VM_STATES; i++) {
        if (states[i] == 0)
            continue;
        fp_st_add_name(out, state_name(i));
        fp_st_add_whole(out, states[i], false);
    }
    add_char(out, '}');
}

/* A list of numbers is PostgreSQL's text of an array: as JSON it would be read a number at a time.
 */
static void begin_numbers(struct fp_buf *out, struct fp_str name)
{
    fp_st_add_name(out, name);
    fp_buf_add(out, "\"{", 2);
}

static void end_numbers(struct fp_buf *out)
{
    fp_buf_add(out, "}\"", 2);
}

static void begin_texts(struct fp_buf *out, struct fp_str name)
{
    fp_st_add_name(out, name);
    add_char(out, '[');
}

static void end_texts(struct fp_buf *out)
{
    add_char(out, ']');
}

static void add_text(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, ",", out->len > 0 && out->data[out->len - 1] != '[');
    fp_st_add_quoted(out, fp_text_cut(text, FP_TEXT_NAME_MAX), false, false);
}

/* Appends the new functions as lists of names, URLs and lines. Line −1 is unknown. */
static void add_functions(const struct fp_profile *profile, uint32_t first, struct fp_buf *out)
{
    const struct fp_profile_frame *frames = profile->frames;
    begin_texts(out, FP_STR("names"));
    for (uint32_t i = first; i < profile->frame_count; i++)
        add_text(out, frames[i].function);
    end_texts(out);
    begin_texts(out, FP_STR("urls"));
    for (uint32_t i = first; i < profile->frame_count; i++)
        add_text(out, frames[i].resource != FP_INDEX_NONE ? profile->resources[frames[i].resource]
                                                          : FP_STR(""));
    end_texts(out);
    begin_numbers(out, FP_STR("lines"));
    for (uint32_t i = first; i < profile->frame_count; i++)
        add_number(out, frames[i].line >= 0 ? (uint32_t)frames[i].line : FP_INDEX_NONE);
    end_numbers(out);
}

/* True if a stack's function is also further out on it. */
static bool is_recursive(const struct fp_profile *profile, uint32_t stack)
{
    const uint32_t frame = profile->stacks[stack].frame;
    do
        stack = profile->stacks[stack].parent;
    while (stack != FP_INDEX_NONE && profile->stacks[stack].frame != frame);
    return stack != FP_INDEX_NONE;
}

/* Appends the new stacks as lists of functions and parents, and which of them are recursive. Parent
 * −1 is none. */
static void add_stacks(const struct fp_profile *profile, uint32_t first, struct fp_buf *out)
{
    begin_numbers(out, FP_STR("functions"));
    for (uint32_t i = first; i < profile->stack_count; i++)
        add_number(out, profile->stacks[i].frame);
    end_numbers(out);
    begin_numbers(out, FP_STR("parents"));
    for (uint32_t i = first; i < profile->stack_count; i++)
        add_number(out, profile->stacks[i].parent);
    end_numbers(out);
    begin_numbers(out, FP_STR("recursive"));
    for (uint32_t i = first; i < profile->stack_count; i++)
        if (is_recursive(profile, i))
            add_number(out, i);
    end_numbers(out);
}

/* Appends the runs as lists of stacks, states and ticks. Stack −1 stands for unknown code. */
static void add_runs(const struct fp_st_v8_ticks *ticks, struct fp_buf *out)
{
    begin_numbers(out, FP_STR("stacks"));
    for (uint32_t i = 0; i < ticks->run_count; i++)
        add_number(out, ticks->runs[i].stack);
    end_numbers(out);
    begin_numbers(out, FP_STR("states"));
    for (uint32_t i = 0; i < ticks->run_count; i++)
        add_number(out, ticks->runs[i].state);
    end_numbers(out);
    begin_numbers(out, FP_STR("ticks"));
    for (uint32_t i = 0; i < ticks->run_count; i++)
        add_number(out, ticks->runs[i].ticks);
    end_numbers(out);
}

static void add_table(const struct fp_st_dump *dump, const struct fp_st_v8_ticks *ticks,
                      struct fp_buf *out)
{
    const struct fp_profile *profile = dump->decoder->profile;
    fp_st_add_name(out, FP_STR("profile"));
    add_char(out, '{');
    fp_st_add_name(out, FP_STR("firstFunction"));
    fp_st_add_whole(out, ticks->first_frame, false);
    add_functions(profile, ticks->first_frame, out);
    fp_st_add_name(out, FP_STR("firstStack"));
    fp_st_add_whole(out, ticks->first_stack, false);
    add_stacks(profile, ticks->first_stack, out);
    add_runs(ticks, out);
    add_char(out, '}');
}

void fp_st_v8_table_write(struct fp_st_dump *dump, struct fp_buf *out)
{
    const struct fp_st_v8_ticks *ticks = fp_st_v8_ticks_of(dump->v8);
    add_states(ticks, out);
    const size_t begin = out->len;
    if (ticks->run_count == 0 || out->failed)
        return;
    if (dump->table_bytes <= FP_ST_V8_TABLES_MAX)
        add_table(dump, ticks, out);
    dump->table_bytes += out->len - begin;
    if (dump->table_bytes <= FP_ST_V8_TABLES_MAX)
        return;
    out->len = begin;
    fp_st_add_note(dump, FP_ST_NOTE_LONG_PROFILE);
}
