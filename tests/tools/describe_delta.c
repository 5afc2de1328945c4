/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a delta: prints members and arrays as they are; sums are the test's task.
 */
#include "tests/tools/describe_delta.h"

#include "collector/base/uuid.h"
#include "collector/rollup/ids.h"

#include <inttypes.h>
#include <stdio.h>

static void print_segment(const struct fp_segment *segment)
{
    printf("\"segment\": {\"site\": \"%.*s\", \"route\": \"%.*s\", \"release\": \"%.*s\", ",
           FP_STR_ARG(segment->site), FP_STR_ARG(segment->route), FP_STR_ARG(segment->release));
    printf("\"environment\": \"%.*s\", \"variant\": \"%.*s\", \"browser\": \"%.*s\", ",
           FP_STR_ARG(segment->environment), FP_STR_ARG(segment->variant),
           FP_STR_ARG(segment->browser));
    printf("\"os\": \"%.*s\", \"device\": \"%.*s\", \"thread\": \"%.*s\", ",
           FP_STR_ARG(segment->os), FP_STR_ARG(segment->device), FP_STR_ARG(segment->thread));
    printf("\"frame\": \"%.*s\", \"traffic\": \"%.*s\", \"machine\": \"%.*s\", ",
           FP_STR_ARG(segment->frame.len > 0 ? segment->frame : FP_STR("top")),
           FP_STR_ARG(segment->traffic), FP_STR_ARG(segment->machine));
    printf("\"browser_version\": \"%.*s\", \"network\": \"%.*s\", \"custom\": \"%.*s\", "
           "\"drawn\": \"%.*s\", \"rate_ppm\": %u}",
           FP_STR_ARG(segment->browser_version), FP_STR_ARG(segment->network),
           FP_STR_ARG(segment->custom), FP_STR_ARG(segment->drawn), segment->rate_ppm);
}

static void print_upload(const struct fp_delta *delta)
{
    char id[FP_UUID_TEXT_LEN + 1];
    char load[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(&delta->id, id);
    fp_uuid_format(&delta->load, load);
    printf("\"id\": \"%s\", \"load\": \"%s\", \"part\": %u, \"site\": \"%.*s\", "
           "\"received_us\": %" PRId64 ", ",
           id, delta->has_load ? load : "", delta->part, FP_STR_ARG(delta->segment.site),
           delta->received_us);
    print_segment(&delta->segment);
    printf(", \"format\": \"%s\", \"coverage\": \"%s\", \"truncated\": %s, \"major_version\": %u, "
           "\"agent\": \"%.*s\", \"body_bytes\": %u, \"skipped_entries\": %u, "
           "\"records_read\": %u, \"records_refused\": %u, ",
           fp_upload_format_name(delta->format), fp_coverage_name(delta->coverage),
           delta->truncated ? "true" : "false", delta->browser_version, FP_STR_ARG(delta->agent),
           delta->body_bytes, delta->skipped_entries, delta->records_read, delta->records_refused);
    printf("\"samples\": %u, \"unattributed_samples\": %u, \"profiled_us\": %" PRId64
           ", \"unattributed_us\": %" PRId64 ", \"unseen_us\": %" PRId64,
           delta->samples, delta->unattributed_samples, delta->profiled_us, delta->unattributed_us,
           delta->unseen_us);
}

static void print_frames(const struct fp_delta *delta)
{
    printf(", \"frames\": [");
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        bool has_resource = frame->resource != FP_INDEX_NONE;
        struct fp_str url = has_resource ? delta->resources[frame->resource].url : FP_STR("");
        printf("%s[\"%" PRId64 "\", %u, %" PRId64 ", %" PRId64
               ", \"%.*s\", \"%.*s\", %d, %d, \"%s\"]",
               i > 0 ? ", " : "", (int64_t)frame->id, frame->samples, frame->self_us,
               frame->total_us, FP_STR_ARG(frame->function), FP_STR_ARG(url), frame->line,
               frame->column, fp_frame_kind_name(frame->kind));
    }
    printf("]");
}

static void print_stacks(const struct fp_delta *delta)
{
    printf(", \"stacks\": [");
    for (uint32_t i = 0; i < delta->stack_count; i++) {
        const struct fp_delta_stack *stack = &delta->stacks[i];
        printf("%s[\"%" PRId64 "\", %" PRId64 ", %u]", i > 0 ? ", " : "", (int64_t)stack->id,
               stack->parent == FP_INDEX_NONE ? -1 : (int64_t)stack->parent, stack->frame);
    }
    printf("], \"stack_samples\": [");
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        printf("%s[%u, \"%s\", %u, %" PRId64 "]", i > 0 ? ", " : "", sample->stack,
               fp_marker_name(sample->marker), sample->samples, sample->self_us);
    }
    printf("]");
}

static void print_timings(const struct fp_delta *delta)
{
    const char *comma = "";
    printf(", \"timings\": [");
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        if (timing->kind == FP_TIMING_LEFT_OUT)
            continue;
        printf("%s[\"%" PRId64 "\", %u, %" PRId64 ", \"%.*s\", \"%s\", %u, %" PRId64 ", %" PRId64
               ", [",
               comma, (int64_t)timing->id, timing->count, timing->sum_us, FP_STR_ARG(timing->name),
               fp_timing_kind_name(timing->kind), timing->negative, timing->min_us, timing->max_us);
        for (uint32_t k = 0; k < timing->bin_count; k++)
            printf("%s[%u, %u]", k > 0 ? ", " : "", delta->bins[timing->first_bin + k].bin,
                   delta->bins[timing->first_bin + k].count);
        printf("], \"%s\"]", fp_navigation_name(timing->navigation));
        comma = ", ";
    }
    printf("]");
}

static void print_left_out(const struct fp_delta *delta)
{
    const char *comma = "";
    printf(", \"left_out\": [");
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        if (timing->kind != FP_TIMING_LEFT_OUT)
            continue;
        printf("%s[\"%" PRId64 "\", \"%.*s\", \"%.*s\", %" PRId64 "]", comma, (int64_t)timing->id,
               FP_STR_ARG(timing->name), FP_STR_ARG(timing->source), timing->sum_us);
        comma = ", ";
    }
    printf("]");
}

static void print_measured(const struct fp_delta *delta)
{
    printf(", \"measured\": [");
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        printf("%s[\"%" PRId64 "\", %u, %" PRId64 ", %" PRId64 ", %u, %u, [", i > 0 ? ", " : "",
               (int64_t)delta->timings[measured->timing].id, measured->samples,
               measured->profiled_us, measured->unattributed_us, measured->frame_count,
               measured->unattributed_samples);
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            printf("%s[%u, \"%s\", %u, %" PRId64 ", %" PRId64 "]", k > 0 ? ", " : "", frame->frame,
                   fp_marker_name(frame->marker), frame->samples, frame->self_us, frame->total_us);
        }
        printf("], %" PRId64 ", %d]", measured->window_us, measured->counts_load);
    }
    printf("]");
}

static void print_refusals(const struct fp_delta *delta)
{
    printf(", \"refusals\": [");
    for (uint32_t i = 0; i < delta->refusal_count; i++)
        printf("%s[\"%s\", %u]", i > 0 ? ", " : "",
               fp_record_refusal_name(delta->refusals[i].reason), delta->refusals[i].records);
    printf("]");
}

static int64_t timing_id(uint64_t site_id, enum fp_timing_kind kind,
                         const struct fp_delta_vital *vital)
{
    const struct fp_timing_key key = {.kind = kind,
                                      .name = fp_str_of(fp_vital_name(vital->vital)),
                                      .navigation = vital->navigation};
    return (int64_t)fp_timing_id(site_id, &key);
}

/* Prints the timings of a vital's element and parts: "ID" or "", [["ID", us], ...]. */
static void print_attribution(const struct fp_delta *delta, const struct fp_delta_vital *vital)
{
    const size_t count = vital->parts.known > 0 ? fp_vital_part_count(vital->vital) : 0;
    if (vital->element == FP_INDEX_NONE)
        printf("\"\", [");
    else
        printf("\"%" PRId64 "\", [", (int64_t)delta->timings[vital->element].id);
    for (size_t i = 0; i < count; i++) {
        const struct fp_timing_key key = {
            .kind = FP_TIMING_VITAL_PART,
            .name = fp_str_of(fp_vital_name(vital->vital)),
            .source = fp_str_of(fp_vital_part_of(vital->vital, i)->name),
            .navigation = vital->navigation,
        };
        printf("%s[\"%" PRId64 "\", %" PRId64 "]", i > 0 ? ", " : "",
               (int64_t)fp_timing_id(fp_site_id(delta->segment.site), &key),
               fp_vital_part_us(vital->vital, i, &vital->parts, vital->value_us));
    }
    printf("]");
}

static void print_vitals(const struct fp_delta *delta)
{
    const uint64_t site_id = fp_site_id(delta->segment.site);
    printf(", \"vitals\": [");
    for (uint32_t i = 0; i < delta->vital_count; i++) {
        const struct fp_delta_vital *vital = &delta->vitals[i];
        const struct fp_uuid id = fp_vital_id(site_id, &delta->load, vital);
        char text[FP_UUID_TEXT_LEN + 1];
        fp_uuid_format(&id, text);
        printf("%s[\"%s\", \"%s\", %" PRId64 ", \"%" PRId64 "\", \"%" PRId64 "\", \"%" PRId64
               "\", ",
               i > 0 ? ", " : "", text, fp_vital_name(vital->vital), vital->value_us,
               timing_id(site_id, FP_TIMING_VITAL, vital),
               timing_id(site_id, FP_TIMING_VITAL_GOOD, vital),
               timing_id(site_id, FP_TIMING_VITAL_POOR, vital));
        print_attribution(delta, vital);
        printf(", \"%s\"]", fp_navigation_name(vital->navigation));
    }
    printf("]");
}

void describe_delta(const struct fp_delta *delta)
{
    putchar('{');
    print_upload(delta);
    print_frames(delta);
    print_stacks(delta);
    print_timings(delta);
    print_left_out(delta);
    print_measured(delta);
    print_refusals(delta);
    print_vitals(delta);
    puts("}");
}
