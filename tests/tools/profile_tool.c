/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile tool: decodes one body as the collector does and prints the profile as JSON. Tests in
 * other languages compare it with computations of their own.
 *
 * usage: profile_tool FILE [FORMAT]. Exits with 1 if the body is refused.
 */
#include "collector/format/format.h"
#include "tests/tools/default_limits.h"

enum { ARENA_MAX = 256 * 1024 * 1024, BODY_MAX = 64 * 1024 * 1024 };

/* Prints a text as a JSON string. */
static void print_text(struct fp_str text)
{
    putchar('"');
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_index(const char *name, uint32_t index)
{
    printf(",\"%s\":%lld", name, index == FP_INDEX_NONE ? -1LL : (long long)index);
}

static void print_event(const struct fp_profile_event *event)
{
    printf("{\"id\":%u,\"type\":", event->id);
    print_text(event->type);
    printf(",\"number\":%d,\"start\":%lld,\"duration\":%lld,\"self\":%lld,\"line\":%d",
           event->type_number, (long long)event->start_us, (long long)event->duration_us,
           (long long)event->self_us, event->line);
    print_index("parent", event->parent);
    print_index("resource", event->resource);
    printf(",\"detail\":%.*s}", event->detail.len > 0 ? (int)event->detail.len : 2,
           event->detail.len > 0 ? event->detail.ptr : "{}");
}

static void print_session(const struct fp_profile_session *session)
{
    printf("{\"version\":");
    print_text(session->version);
    printf(",\"started\":%lld,\"read\":%u,\"kept\":%u,\"notes\":[", (long long)session->started_us,
           session->records_read, session->records_kept);
    for (uint32_t i = 0; i < session->note_count; i++) {
        const struct fp_profile_note *note = &session->notes[i];
        printf("%s{\"text\":\"%s\",\"refusal\":%s,\"count\":%u,\"offset\":%lld}", i > 0 ? "," : "",
               note->text, note->reason != FP_RECORD_REFUSAL_NONE ? "true" : "false", note->count,
               (long long)note->first_offset);
    }
    printf("]}");
}

static void print_stacks(const struct fp_profile *profile)
{
    printf(",\"frames\":[");
    for (uint32_t i = 0; i < profile->frame_count; i++) {
        const struct fp_profile_frame *frame = &profile->frames[i];
        printf("%s{\"function\":", i > 0 ? "," : "");
        print_text(frame->function);
        print_index("resource", frame->resource);
        printf(",\"line\":%d}", frame->line);
    }
    printf("],\"stacks\":[");
    for (uint32_t i = 0; i < profile->stack_count; i++) {
        printf("%s{\"frame\":%u", i > 0 ? "," : "", profile->stacks[i].frame);
        print_index("parent", profile->stacks[i].parent);
        printf("}");
    }
    printf("],\"samples\":[");
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct fp_profile_sample *sample = &profile->samples[i];
        printf("%s{\"time\":%lld,\"marker\":\"%s\",\"weight\":%lld", i > 0 ? "," : "",
               (long long)sample->time_us, fp_marker_name(sample->marker),
               profile->weights_us != NULL ? (long long)profile->weights_us[i] : -1LL);
        print_index("stack", sample->stack);
        printf("}");
    }
    printf("]");
}

static void print_profile(const struct fp_profile *profile)
{
    printf("{\"format\":\"%s\",\"truncated\":%s,\"page\":", fp_upload_format_name(profile->format),
           profile->truncated ? "true" : "false");
    print_text(profile->page_url);
    printf(",\"session\":");
    print_session(&profile->session);
    printf(",\"resources\":[");
    for (uint32_t i = 0; i < profile->resource_count; i++) {
        printf("%s", i > 0 ? "," : "");
        print_text(profile->resources[i]);
    }
    printf("],\"events\":[");
    for (uint32_t i = 0; i < profile->event_count; i++) {
        printf("%s", i > 0 ? "," : "");
        print_event(&profile->events[i]);
    }
    printf("],\"marks\":[");
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        printf("%s{\"name\":", i > 0 ? "," : "");
        print_text(profile->timings[i].name);
        printf(",\"value\":%lld}", (long long)profile->timings[i].value_us);
    }
    printf("]");
    print_stacks(profile);
    printf("}\n");
}

static int decode(struct fp_str body, struct fp_str format)
{
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_profile profile;
    struct fp_upload_error error;
    enum fp_verdict verdict =
        fp_format_decode(body, format, &default_limits, &arena, &profile, &error);
    if (verdict == FP_VERDICT_OK)
        print_profile(&profile);
    else
        fprintf(stderr, "verdict %d at %lld %s: %s\n", (int)verdict, (long long)error.offset,
                error.has_pointer ? error.pointer : "-", error.detail);
    fp_arena_release(&arena);
    return verdict == FP_VERDICT_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "rb") : NULL;
    char *body = malloc(BODY_MAX);
    if (file == NULL || body == NULL) {
        fprintf(stderr, "usage: profile_tool FILE [FORMAT]\n");
        return 2;
    }
    const size_t len = fread(body, 1, BODY_MAX, file);
    fclose(file);
    int status = decode((struct fp_str){body, len}, fp_str_of(argc == 3 ? argv[2] : ""));
    free(body);
    return status;
}
