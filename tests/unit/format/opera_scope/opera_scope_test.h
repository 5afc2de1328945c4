/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of Opera Scope sessions: limits, envelopes around a list of events, fixtures.
 */
#ifndef FP_TEST_FORMAT_OPERA_SCOPE_OPERA_SCOPE_TEST_H
#define FP_TEST_FORMAT_OPERA_SCOPE_OPERA_SCOPE_TEST_H

#include "tests/unit/format/test.h"

#include <stdio.h>

static const struct fp_format_limits scope_limits = {
    .max_inflated = 1024 * 1024,
    .samples = 4,
    .stacks = 6,
    .frames = 5,
    .resources = 4,
    .entries = 40,
    .stack_depth = 6,
    .json_depth = 16,
    .max_span_us = 60 * INT64_C(1000000),
};

/* An envelope of session 1 whose timeline 1 has this list of events, in mode 1. */
#define ENVELOPE_OF(session, request, reply)                                                       \
    "{'opera-scope':{'version':'1.0','session':" session ",'timelines':[{'request':" request       \
    ",'reply':" reply "}]}}"
#define EVENTS(list) ENVELOPE_OF("[1,2,[[1,3]]]", "[1,1]", "[null,[" list "]]")

static inline void decode_scope_bytes(struct decoded *decoded, struct fp_str body)
{
    decoded->error = (struct fp_upload_error){.offset = -1};
    decoded->verdict = fp_format_decode(body, FP_STR(""), &scope_limits, &decoded->arena,
                                        &decoded->profile, &decoded->error);
}

/* Decodes a test's JSON; the caller releases. */
static inline void decode_scope(struct decoded *decoded, const char *text)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_scope_bytes(decoded, json_of(&decoded->arena, text));
}

static inline void decode_good_scope(struct decoded *decoded, const char *text)
{
    decode_scope(decoded, text);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s at %s: %s", text, decoded->error.pointer, decoded->error.detail);
    assert_int_equal(decoded->profile.format, FP_UPLOAD_OPERA_SCOPE);
    assert_true(decoded->profile.has_session);
}

/* Returns the bytes of a fixture, in the arena. */
static inline struct fp_str read_fixture(struct fp_arena *arena, const char *name)
{
    enum { FIXTURE_MAX = 64 * 1024 };
    char path[4096];
    snprintf(path, sizeof(path), "%s/opera-scope/%s", FP_TEST_DATA, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = fp_arena_alloc(arena, FIXTURE_MAX);
    assert_non_null(bytes);
    size_t len = fread(bytes, 1, FIXTURE_MAX, file);
    assert_true(len < FIXTURE_MAX);
    (void)fclose(file);
    return (struct fp_str){bytes, len};
}

static inline void decode_fixture(struct decoded *decoded, const char *name)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_scope_bytes(decoded, read_fixture(&decoded->arena, name));
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s: %s: %s", name, decoded->error.pointer, decoded->error.detail);
}

/* Returns the note whose text has these words; its count is 0 if there is none. */
static inline struct fp_profile_note note_of(const struct fp_profile *profile, const char *words)
{
    for (uint32_t i = 0; i < profile->session.note_count; i++)
        if (strstr(profile->session.notes[i].text, words) != NULL)
            return profile->session.notes[i];
    return (struct fp_profile_note){.text = NULL};
}

static inline void assert_note(const struct fp_profile *profile, const char *words, uint32_t count)
{
    uint32_t noted = note_of(profile, words).count;
    if (noted != count)
        fail_msg("\"%s\" was noted %u times, not %u", words, noted, count);
}

#endif
