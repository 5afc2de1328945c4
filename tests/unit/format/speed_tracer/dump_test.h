/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of Speed Tracer's dumps: limits that are wide enough, and looking things up
 * in a decoded profile.
 */
#ifndef FP_TEST_FORMAT_SPEED_TRACER_DUMP_TEST_H
#define FP_TEST_FORMAT_SPEED_TRACER_DUMP_TEST_H

#include "tests/unit/format/test.h"

#include <stdio.h>

static const struct fp_format_limits dump_limits = {
    .max_inflated = 1024 * 1024,
    .samples = 100,
    .stacks = 100,
    .frames = 100,
    .resources = 20,
    .entries = 100,
    .stack_depth = 50,
    .json_depth = 64,
    .max_span_us = 60 * INT64_C(1000000),
};

static inline void decode_limited(struct decoded *decoded, struct fp_str body, const char *hint,
                                  const struct fp_format_limits *limits)
{
    decoded->error = (struct fp_upload_error){.offset = -1};
    decoded->verdict = fp_format_decode(body, fp_str_of(hint), limits, &decoded->arena,
                                        &decoded->profile, &decoded->error);
}

/* Decodes a dump written with ' for each "; the caller releases. */
static inline void decode_dump(struct decoded *decoded, const char *text)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_limited(decoded, json_of(&decoded->arena, text), "", &dump_limits);
}

/* Does the same for a dump that must be valid. */
static inline void take_dump(struct decoded *decoded, const char *text)
{
    decode_dump(decoded, text);
    if (decoded->verdict != FP_VERDICT_OK)
        print_error("%s: verdict %d at %lld: %s\n", text, (int)decoded->verdict,
                    (long long)decoded->error.offset, decoded->error.detail);
    assert_int_equal(decoded->verdict, FP_VERDICT_OK);
    assert_int_equal(decoded->profile.format, FP_UPLOAD_SPEED_TRACER);
}

/* Decodes a file of tests/data/speed-tracer. */
static inline void decode_file(struct decoded *decoded, const char *name)
{
    char path[512];
    static char bytes[64 * 1024];
    snprintf(path, sizeof(path), "%s/speed-tracer/%s", FP_TEST_DATA, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_limited(decoded, (struct fp_str){bytes, len}, "", &dump_limits);
}

/* Returns how often a note was made; its first words are enough. */
static inline uint32_t note_count(const struct decoded *decoded, const char *beginning)
{
    const struct fp_profile_session *session = &decoded->profile.session;
    for (uint32_t i = 0; i < session->note_count; i++)
        if (strncmp(session->notes[i].text, beginning, strlen(beginning)) == 0)
            return session->notes[i].count;
    return 0;
}

static inline const struct fp_profile_event *event_at(const struct decoded *decoded, uint32_t index)
{
    assert_true(index < decoded->profile.event_count);
    return &decoded->profile.events[index];
}

static inline void assert_type(const struct decoded *decoded, uint32_t index, const char *type,
                               int32_t number)
{
    assert_text(event_at(decoded, index)->type, type);
    assert_int_equal(event_at(decoded, index)->type_number, number);
}

static inline void assert_resource(const struct decoded *decoded, uint32_t index, const char *url)
{
    assert_true(index < decoded->profile.resource_count);
    assert_text(decoded->profile.resources[index], url);
}

/* detail is written with ' for each ". */
static inline void assert_detail(struct decoded *decoded, uint32_t index, const char *detail)
{
    const struct fp_str expected = json_of(&decoded->arena, detail);
    const struct fp_str actual = event_at(decoded, index)->detail;
    if (!fp_str_equal(actual, expected))
        print_error("expected %.*s\ngot      %.*s\n", FP_STR_ARG(expected), FP_STR_ARG(actual));
    assert_true(fp_str_equal(actual, expected));
}

#endif
