/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope: the app's own file format, https://www.speedscope.app/file-format-schema.json. Sums
 * are divided by their page loads: the app shows no other figure.
 */
#include "cli/export/format.h"
#include "cli/export/json.h"
#include "cli/kit/memory.h"

#include <stdlib.h>

/* Returns a name that says so if times are per page load. */
static yyjson_mut_val *name_of(const struct fp_export_stacks *stacks, yyjson_mut_doc *doc,
                               struct fp_str name)
{
    if (stacks->loads == 0)
        return fp_export_json_text(doc, name);
    char *text = fp_memory_print("µs per page load, of %lld: %.*s", (long long)stacks->loads,
                                 (int)name.len, name.ptr);
    yyjson_mut_val *copy = yyjson_mut_strcpy(doc, text);
    free(text);
    return fp_memory_need(copy);
}

/* Returns a time, per page load where it is a sum. */
static yyjson_mut_val *time_of(const struct fp_export_stacks *stacks, yyjson_mut_doc *doc,
                               int64_t time_us)
{
    return stacks->loads == 0 ? yyjson_mut_sint(doc, time_us)
                              : yyjson_mut_real(doc, (double)time_us / (double)stacks->loads);
}

static void add_frames(const struct fp_export_stacks *stacks, yyjson_mut_doc *doc,
                       yyjson_mut_val *list)
{
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct fp_export_frame *frame = &stacks->frames[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_val(doc, item, "name", fp_export_json_text(doc, frame->function));
        if (frame->resource.len > 0)
            yyjson_mut_obj_add_val(doc, item, "file", fp_export_json_text(doc, frame->resource));
        if (frame->line != FP_POSITION_NONE)
            yyjson_mut_obj_add_int(doc, item, "line", frame->line);
        if (frame->column != FP_POSITION_NONE)
            yyjson_mut_obj_add_int(doc, item, "col", frame->column);
    }
}

struct profile_lists {
    yyjson_mut_doc *doc;
    yyjson_mut_val *samples;
    yyjson_mut_val *weights;
    uint32_t *path;
};

static void add_sample(const struct fp_export_stacks *stacks, struct profile_lists *lists,
                       const struct fp_export_sample *sample)
{
    yyjson_mut_val *stack = yyjson_mut_arr_add_arr(lists->doc, lists->samples);
    fp_export_path(stacks, sample->node, lists->path);
    for (uint32_t i = 0; i < stacks->nodes[sample->node].level; i++)
        yyjson_mut_arr_add_uint(lists->doc, stack, lists->path[i]);
    yyjson_mut_arr_append(lists->weights, time_of(stacks, lists->doc, sample->weight_us));
}

/* Adds time that no sample covers, as a stack without frames. */
static void add_gap(const struct fp_export_stacks *stacks, struct profile_lists *lists,
                    int64_t gap_us)
{
    (void)yyjson_mut_arr_add_arr(lists->doc, lists->samples);
    yyjson_mut_arr_append(lists->weights, time_of(stacks, lists->doc, gap_us));
}

static void add_profile(const struct fp_export_stacks *stacks, const struct fp_export_track *track,
                        struct profile_lists *lists, yyjson_mut_val *profile)
{
    yyjson_mut_doc *doc = lists->doc;
    int64_t start_us = track->sample_count > 0 ? track->samples[0].time_us : 0;
    int64_t end_us = start_us;
    lists->samples = yyjson_mut_arr(doc);
    lists->weights = yyjson_mut_arr(doc);
    for (size_t i = 0; i < track->sample_count; i++) {
        const struct fp_export_sample *sample = &track->samples[i];
        if (sample->time_us > end_us)
            add_gap(stacks, lists, sample->time_us - end_us);
        if (sample->weight_us > 0)
            add_sample(stacks, lists, sample);
        end_us = sample->time_us + sample->weight_us;
    }
    yyjson_mut_obj_add_str(doc, profile, "type", "sampled");
    yyjson_mut_obj_add_val(doc, profile, "name", name_of(stacks, doc, track->name));
    yyjson_mut_obj_add_str(doc, profile, "unit", "microseconds");
    yyjson_mut_obj_add_val(doc, profile, "startValue", time_of(stacks, doc, start_us));
    yyjson_mut_obj_add_val(doc, profile, "endValue", time_of(stacks, doc, end_us));
    yyjson_mut_obj_add_val(doc, profile, "samples", lists->samples);
    yyjson_mut_obj_add_val(doc, profile, "weights", lists->weights);
}

/* Returns the profile to open with: the later side of a comparison, else the first with samples. */
static size_t first_shown(const struct fp_export_stacks *stacks)
{
    size_t shown = stacks->tracks[0].is_base ? 1 : 0;
    while (shown + 1 < stacks->track_count && stacks->tracks[shown].sample_count == 0)
        shown++;
    return shown;
}

void fp_export_write_speedscope(const struct fp_export_stacks *stacks, FILE *out)
{
    yyjson_mut_doc *doc = fp_export_json_begin();
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "$schema",
                           "https://www.speedscope.app/file-format-schema.json");
    yyjson_mut_obj_add_str(doc, root, "exporter", "fleetprof " FP_VERSION);
    yyjson_mut_obj_add_val(doc, root, "name", name_of(stacks, doc, stacks->title));
    yyjson_mut_obj_add_uint(doc, root, "activeProfileIndex", first_shown(stacks));
    yyjson_mut_val *shared = yyjson_mut_obj_add_obj(doc, root, "shared");
    add_frames(stacks, doc, yyjson_mut_obj_add_arr(doc, shared, "frames"));
    yyjson_mut_val *profiles = yyjson_mut_obj_add_arr(doc, root, "profiles");
    struct profile_lists lists = {.doc = doc, .path = fp_export_path_room(stacks)};
    for (size_t i = 0; i < stacks->track_count; i++)
        add_profile(stacks, &stacks->tracks[i], &lists, yyjson_mut_arr_add_obj(doc, profiles));
    free(lists.path);
    fp_export_json_end(doc, root, out);
}
