/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real traces: each is accepted, folds, and keeps every promise that collector/rollup/delta.h
 * makes.
 */
#include "tests/unit/profile/test.h"

#include <dirent.h>

#include "collector/base/map.h"

enum { FILE_MAX = 8 * 1024 * 1024, PATH_LEN_MAX = 4096 };

static struct fp_str read_whole(struct fp_arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = fp_arena_alloc(arena, FILE_MAX);
    assert_non_null(bytes);
    size_t len = fread(bytes, 1, FILE_MAX, file);
    assert_true(len < FILE_MAX);
    (void)fclose(file);
    return (struct fp_str){bytes, len};
}

static void assert_times_add_up(const struct fp_delta *delta)
{
    int64_t stacks_us = 0;
    int64_t frames_us = 0;
    uint32_t samples = delta->unattributed_samples;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        stacks_us += delta->stack_samples[i].self_us;
        samples += delta->stack_samples[i].samples;
    }
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        frames_us += frame->self_us;
        assert_true(frame->total_us > 0 && frame->marked_samples <= frame->samples);
        assert_true(frame->self_us >= 0 && frame->self_us <= frame->total_us);
        assert_true(frame->total_us <= delta->profiled_us - delta->unattributed_us);
    }
    assert_true(stacks_us + delta->unattributed_us == delta->profiled_us);
    assert_true(frames_us == stacks_us);
    assert_int_equal(samples, delta->samples);
}

static void assert_splits_stay_within_their_frames(const struct fp_delta *delta)
{
    uint32_t marked = 0;
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        assert_true(i == 0 || split[-1].frame < split->frame ||
                    (split[-1].frame == split->frame && split[-1].marker < split->marker));
        assert_true(split->marker != FP_MARKER_NONE && split->total_us > 0);
        assert_true(split->total_us <= delta->frames[split->frame].total_us);
        marked += split->samples;
    }
    for (uint32_t i = 0; i < delta->frame_count; i++)
        marked -= delta->frames[i].marked_samples;
    assert_int_equal(marked, 0);
}

static void assert_once(struct fp_map *known, uint64_t id, uint32_t index)
{
    assert_int_equal(fp_map_put(known, id, index), index);
}

static void assert_each_thing_is_there_once(const struct fp_delta *delta)
{
    struct fp_map frames;
    struct fp_map stacks;
    struct fp_map timings;
    fp_map_init(&frames, delta->frame_count);
    fp_map_init(&stacks, delta->stack_count);
    fp_map_init(&timings, delta->timing_count);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        assert_once(&frames, delta->frames[i].id, i);
    for (uint32_t i = 0; i < delta->timing_count; i++)
        assert_once(&timings, delta->timings[i].id, i);
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        assert_once(&stacks, stack->id, i);
        assert_true(stack->frame < delta->frame_count);
        if (stack->parent == FP_INDEX_NONE) {
            assert_int_equal(stack->level, 1);
        } else {
            assert_true(stack->parent < i);
            assert_int_equal(stack->level, delta->stacks[stack->parent].level + 1);
        }
    }
    fp_map_release(&frames);
    fp_map_release(&stacks);
    fp_map_release(&timings);
}

static void assert_histograms_are_whole(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        uint32_t count = timing->negative;
        for (uint32_t k = 0; k < timing->bin_count; k++) {
            const struct fp_delta_bin *bin = &delta->bins[timing->first_bin + k];
            assert_true(k == 0 || bin[-1].bin < bin->bin);
            count += bin->count;
        }
        assert_int_equal(count, timing->count);
    }
}

/* Files that are not uploads: other kinds of entries, timing attributes, the list of the
 * recordings. */
static bool is_upload(const char *name)
{
    static const char *const others[] = {"manifest.", "-timing.", "-navigation.", "-paint.",
                                         "-resource."};
    for (size_t i = 0; i < FP_COUNT(others); i++)
        if (strstr(name, others[i]) != NULL)
            return false;
    return strstr(name, ".json") != NULL;
}

static void assert_folds(const char *path)
{
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    const struct fp_fold_context context = {.site = {"shop", 4}};
    struct fp_delta delta;
    print_message("# %s\n", path);
    fold_body(&arena, read_whole(&arena, path), &context, &delta);
    assert_times_add_up(&delta);
    assert_splits_stay_within_their_frames(&delta);
    assert_each_thing_is_there_once(&delta);
    assert_histograms_are_whole(&delta);
    fp_arena_release(&arena);
}

/* Folds every upload of a folder. Returns how many there were. */
static size_t fold_folder(const char *folder)
{
    size_t count = 0;
    DIR *files = opendir(folder);
    if (files == NULL)
        return 0;
    struct dirent *file;
    while ((file = readdir(files)) != NULL) {
        if (!is_upload(file->d_name))
            continue;
        char path[PATH_LEN_MAX];
        snprintf(path, sizeof(path), "%s/%s", folder, file->d_name);
        assert_folds(path);
        count++;
    }
    (void)closedir(files);
    return count;
}

static void every_recorded_trace_folds_and_adds_up(void **state)
{
    (void)state;
    assert_true(fold_folder(FP_TEST_DATA) >= 30);
}

/* More traces may be next to the checkout. */
static void every_trace_beside_the_checkout_folds_and_adds_up(void **state)
{
    (void)state;
    (void)fold_folder(FP_TEST_DATA "/../../../shared/traces");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_trace_folds_and_adds_up),
        cmocka_unit_test(every_trace_beside_the_checkout_folds_and_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
