/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded: one line per stack, "root;child;leaf WEIGHT"; of a comparison "… BEFORE AFTER".
 */
#include "cli/export/format.h"
#include "cli/kit/memory.h"
#include "cli/kit/terminal.h"

#include <stdlib.h>

#define PATHS_MAX ((size_t)1 << 30)

/* A stack's text and its times, microseconds: of each track. */
struct line {
    struct fp_str path;
    int64_t sums[2];
};

/* Replaces what separates stacks, as fleetprof.folded does: `;` by `:`, a control character by a
 * space. */
static void replace_separators(struct fp_buf *path, size_t begin)
{
    size_t to = begin;
    for (size_t from = begin; from < path->len; from++) {
        uint8_t c = path->data[from];
        /* U+0080 to U+009F have two bytes. */
        bool is_c1 = c == 0xC2 && from + 1 < path->len && path->data[from + 1] < 0xA0;
        if (c < ' ' || c == 0x7F || is_c1)
            c = ' ';
        path->data[to++] = c == ';' ? ':' : c;
        from += is_c1;
    }
    path->len = to;
}

static size_t skip_digits_back(const struct fp_buf *path, size_t end, size_t begin)
{
    while (end > begin && path->data[end - 1] >= '0' && path->data[end - 1] <= '9')
        end--;
    return end;
}

/* Returns where the number begins that a label ends in, or the label's end. */
static size_t number_at_end(const struct fp_buf *path, size_t begin)
{
    size_t fraction = skip_digits_back(path, path->len, begin);
    if (fraction == begin || path->data[fraction - 1] != '.')
        return fraction;
    size_t whole = skip_digits_back(path, fraction - 1, begin);
    return whole < fraction - 1 ? whole : fraction;
}

/* Replaces the space before a number at the end by a no-break one, as fleetprof.folded does:
 * flamegraph.pl takes such a number for a weight. */
static void bind_number(struct fp_buf *path, size_t begin)
{
    size_t number = number_at_end(path, begin);
    if (number == path->len || number == begin || path->data[number - 1] != ' ')
        return;
    fp_buf_add(path, " ", 1);
    if (path->failed)
        fp_memory_end();
    memmove(&path->data[number + 1], &path->data[number], path->len - number - 1);
    memcpy(&path->data[number - 1], "\u00a0", 2);
}

/* Appends a frame as fleetprof.folded does: an anonymous function is followed by its place. */
static void add_label(struct fp_buf *path, const struct fp_export_frame *frame)
{
    size_t begin = path->len;
    bool has_place = frame->resource.len > 0 || frame->line != FP_POSITION_NONE;
    fp_buf_add(path, frame->function.ptr, frame->function.len);
    if (has_place && fp_str_equal(frame->function, FP_STR("(anonymous)"))) {
        fp_buf_add(path, " ", 1);
        fp_buf_add(path, frame->resource.ptr, frame->resource.len);
        if (frame->line != FP_POSITION_NONE)
            fp_buf_addf(path, ":%d", frame->line);
        if (frame->column != FP_POSITION_NONE)
            fp_buf_addf(path, ":%d", frame->column);
    }
    if (path->failed)
        fp_memory_end();
    replace_separators(path, begin);
    bind_number(path, begin);
}

static struct fp_str path_of(const struct fp_export_stacks *stacks, uint32_t node, uint32_t *frames,
                             struct fp_arena *arena, struct fp_buf *path)
{
    struct fp_str copy;
    fp_buf_clear(path);
    fp_export_path(stacks, node, frames);
    for (uint32_t i = 0; i < stacks->nodes[node].level; i++) {
        if (i > 0)
            fp_buf_add(path, ";", 1);
        add_label(path, &stacks->frames[frames[i]]);
    }
    if (!fp_arena_copy(arena, (struct fp_str){(const char *)path->data, path->len}, &copy))
        fp_memory_end();
    return copy;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    size_t len = left->path.len < right->path.len ? left->path.len : right->path.len;
    int order = memcmp(left->path.ptr, right->path.ptr, len);
    return order != 0 ? order
                      : (left->path.len > right->path.len) - (left->path.len < right->path.len);
}

/* Makes a line per node that has time. Returns how many. */
static size_t list_lines(const struct fp_export_stacks *stacks, struct line *lines,
                         struct fp_arena *arena)
{
    uint32_t *frames = fp_export_path_room(stacks);
    struct fp_buf path;
    size_t count = 0;
    fp_buf_init(&path, PATHS_MAX);
    for (size_t track = 0; track < stacks->track_count; track++) {
        bool is_after = stacks->tracks[0].is_base && track > 0;
        for (size_t i = 0; i < stacks->tracks[track].sample_count; i++) {
            const struct fp_export_sample *sample = &stacks->tracks[track].samples[i];
            lines[sample->node].sums[is_after] += sample->weight_us;
        }
    }
    for (uint32_t node = 0; node < stacks->node_count; node++) {
        if (lines[node].sums[0] == 0 && lines[node].sums[1] == 0)
            continue;
        lines[count] = lines[node];
        lines[count++].path = path_of(stacks, node, frames, arena, &path);
    }
    fp_buf_release(&path);
    free(frames);
    return count;
}

static void put_line(const struct line *line, bool is_comparison, FILE *out)
{
    fp_terminal_write_line(out, line->path);
    (void)fprintf(out, " %lld", (long long)line->sums[0]);
    if (is_comparison)
        (void)fprintf(out, " %lld", (long long)line->sums[1]);
    (void)fputc('\n', out);
}

void fp_export_write_folded(const struct fp_export_stacks *stacks, FILE *out)
{
    struct line *lines = fp_memory_need(calloc(stacks->node_count + 1, sizeof(*lines)));
    struct fp_arena arena;
    fp_arena_init(&arena, PATHS_MAX);
    size_t count = list_lines(stacks, lines, &arena);
    bool is_comparison = stacks->track_count > 0 && stacks->tracks[0].is_base;
    qsort(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && compare_lines(&lines[i], &lines[i + 1]) == 0) {
            lines[i + 1].sums[0] += lines[i].sums[0];
            lines[i + 1].sums[1] += lines[i].sums[1];
        } else {
            put_line(&lines[i], is_comparison, out);
        }
    }
    fp_arena_release(&arena);
    free(lines);
}
