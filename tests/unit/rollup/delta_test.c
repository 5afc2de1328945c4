/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta bytes: they decode to what was encoded, the layout never changes by accident, and
 * truncated, flipped or invented bytes are refused without harm.
 */
#include "bytes_test.h"
#include "same_delta.h"

#include "collector/rollup/delta_decode.c"
#include "collector/rollup/delta_encode.c"
#include "collector/rollup/session_bytes.c"

static void draw(struct room *room, uint64_t seed, struct fp_delta *delta)
{
    const struct random_delta_settings settings = {
        .seed = seed,
        .received_us = INT64_C(1760000000000000) + (int64_t)seed,
        .max_samples = 60,
        .functions = 12,
        .routes = 3,
        .vitals = true,
        .left_out = true,
        .observed = true,
    };
    random_delta(&settings, &room->arena, delta);
}

static void encode(struct room *room, const struct fp_delta *delta)
{
    fp_buf_clear(&room->bytes);
    fp_delta_encode(delta, &room->bytes);
    assert_false(room->bytes.failed);
}

/* Decodes from a block of exactly len bytes, so that a sanitizer sees reads past the end. */
static enum fp_delta_error decode_exactly(struct room *room, const uint8_t *bytes, size_t len)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    memcpy(exact, bytes, len);
    struct fp_delta delta;
    enum fp_delta_error error = fp_delta_decode(exact, len, &room->arena, &delta);
    free(exact);
    return error;
}

static void reads_back_what_was_written(void **state)
{
    struct room *room = *state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct fp_delta written;
        struct fp_delta read;
        fp_arena_clear(&room->arena);
        draw(room, seed, &written);
        encode(room, &written);
        assert_int_equal(fp_delta_decode(room->bytes.data, room->bytes.len, &room->arena, &read),
                         FP_DELTA_OK);
        assert_same_upload(&written, &read);
        assert_int_equal(written.resource_count, read.resource_count);
        assert_int_equal(written.resources[0].id, read.resources[0].id);
        assert_same_text(written.resources[0].url, read.resources[0].url);
        assert_same_frames(&written, &read);
        assert_same_stacks(&written, &read);
        assert_same_splits(&written, &read);
        assert_same_timings(&written, &read);
        assert_same_measured(&written, &read);
        assert_same_session(written.session, read.session);
    }
}

/* One of each kind, small enough to follow the bytes by hand in docs/internals/delta.md. */
static void fill_example(struct fp_delta *delta)
{
    static struct fp_delta_resource resources[] = {
        {.id = 0x1111111111111111, .url = {"https://a/b.js", 14}}};
    static struct fp_delta_frame frames[] = {{.id = 0x2222222222222222,
                                              .function = {"go", 2},
                                              .resource = 0,
                                              .line = 3,
                                              .column = 300,
                                              .kind = FP_FRAME_FUNCTION,
                                              .samples = 2,
                                              .marked_samples = 1,
                                              .self_us = 10000,
                                              .total_us = 20000},
                                             {.id = 0x3333333333333333,
                                              .function = {"", 0},
                                              .resource = FP_INDEX_NONE,
                                              .line = FP_POSITION_NONE,
                                              .column = FP_POSITION_NONE,
                                              .kind = FP_FRAME_BUILTIN,
                                              .samples = 1,
                                              .marked_samples = 0,
                                              .self_us = 10000,
                                              .total_us = 10000}};
    static struct fp_delta_split splits[] = {{0, FP_MARKER_GC, 1, 10000, 10000}};
    static struct fp_delta_stack stacks[] = {{.parent = FP_INDEX_NONE, .frame = 0, .level = 1},
                                             {.parent = 0, .frame = 1, .level = 2}};
    static struct fp_delta_stack_sample stack_samples[] = {{0, FP_MARKER_GC, 1, 10000},
                                                           {1, FP_MARKER_NONE, 1, 10000}};
    static struct fp_delta_bin bins[] = {{64, 1}};
    static struct fp_delta_timing timings[] = {{.id = 0x4444444444444444,
                                                .name = {"m", 1},
                                                .kind = FP_TIMING_MEASURE,
                                                .count = 2,
                                                .negative = 1,
                                                .sum_us = 60,
                                                .min_us = -4,
                                                .max_us = 64,
                                                .first_bin = 0,
                                                .bin_count = 1}};
    *delta = (struct fp_delta){.id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
                               .has_load = true,
                               .load = {{0xaa}},
                               .part = 1,
                               .received_us = 1000000,
                               .segment = {.site = {"s", 1},
                                           .route = {"/", 1},
                                           .release = {"r", 1},
                                           .environment = {"", 0},
                                           .variant = {"", 0},
                                           .browser = {"Chrome", 6},
                                           .os = {"Linux", 5},
                                           .device = {"desktop", 7},
                                           .thread = {"window", 6},
                                           .rate_ppm = 10000},
                               .format = FP_UPLOAD_SELF_PROFILE,
                               .coverage = FP_COVERAGE_QUOTA,
                               .truncated = true,
                               .browser_version = 156,
                               .agent = {"a/1", 3},
                               .body_bytes = 200,
                               .skipped_entries = 1,
                               .samples = 3,
                               .profiled_us = 30000,
                               .unattributed_samples = 1,
                               .unattributed_us = 10000,
                               .resources = resources,
                               .frames = frames,
                               .splits = splits,
                               .stacks = stacks,
                               .stack_samples = stack_samples,
                               .timings = timings,
                               .bins = bins,
                               .resource_count = 1,
                               .frame_count = 2,
                               .split_count = 1,
                               .stack_count = 2,
                               .stack_sample_count = 2,
                               .timing_count = 1,
                               .bin_count = 1};
}

/* Existing spools hold these bytes: a change of layout needs a new version number. */
static const char version_1_hex[] =
    "010102030405060708090a0b0c0d0e0f1003aa00000000000000000000000000"
    "000001c0843d" /* version, id,
                      flags, load,
                      part, received
                    */
    "0173012f01720000064368726f6d65054c696e7578076465736b746f70067769"
    "6e646f77904e"                                     /* segment */
    "00039c0103612f31c8010103b0ea0101904e"             /* format to unattributed
                                                          time */
    "0111111111111111110e68747470733a2f2f612f622e6a73" /* resources */
    "02222222222222222202676f0104ad02000201904ea09c013333333333333333"
    "00000000010100904e904e"                       /* frames
                                                    */
    "01000201904e904e"                             /* splits */
    "0200000101"                                   /* stacks */
    "02000201904e010001904e"                       /* stack samples */
    "01014444444444444444016d01020178078001014001" /* bins in all,
                                                      timings */
    ;

/* As version 1, with signed times, a measure's samples, and a session. */
static const char version_2_hex[] =
    "020102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e00039c01"
    "03612f31c8010103e0d40301a09c010111111111111111110e68747470733a2f2f612f622e6a7302"
    "222222222222222202676f0104ad02000201a09c01c0b802333333333333333300000000010100a0"
    "9c01a09c0101000201a09c01a09c01020000010102000201a09c01010001a09c0101014444444444"
    "444444016d0102017807800101400101010002c0b80201a09c0101000201a09c01a09c0105060331"
    "2e310a68747470733a2f2f612f4001ac02047a737464010306437573746f6d010e68747470733a2f"
    "2f612f622e6a7302010104010201000009a01fc701030101010a027b7d0201001801000002000000"
    "00";

/* As version 2, with a timing that has a source and a function, more of the session, and refused
 * records. */
static const char version_3_hex[] =
    "030102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e00039c01"
    "03612f31c8010103e0d40301a09c010111111111111111110e68747470733a2f2f612f622e6a7302"
    "222222222222222202676f0104ad02000201a09c01c0b802333333333333333300000000010100a0"
    "9c01a09c0101000201a09c01a09c01020000010102000201a09c01010001a09c0101024444444444"
    "444444016d01020178078001014001555555555555555509622e6f6e636c69636b0a017501660100"
    "0a0a0a0001010002c0b80201a09c0101000201a09c01a09c01050603312e310a68747470733a2f2f"
    "612f4001ac02047a737464010306437573746f6d010e68747470733a2f2f612f622e6a7302010104"
    "010201000009a01fc701030101010a027b7d0201001801000002000000000101010907020102066279746520371e01"
    "00";

/* As version 3, with unseen time, and of a name of measures the length of its windows and whether
 * the page load counts for it. */
static const char version_4_hex[] =
    "040102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e00039c01"
    "03612f31c8010103e0d40301a09c01904e0111111111111111110e68747470733a2f2f612f622e6a"
    "7302222222222222222202676f0104ad02000201a09c01c0b8023333333333333333000000000101"
    "00a09c01a09c0101000201a09c01a09c01020000010102000201a09c01010001a09c010102444444"
    "4444444444016d01020178078001014001555555555555555509622e6f6e636c69636b0a01750166"
    "01000a0a0a0001010002c0b80201a09c01d086030001000201a09c01a09c01050603312e310a6874"
    "7470733a2f2f612f4001ac02047a737464010306437573746f6d010e68747470733a2f2f612f622e"
    "6a7302010104010201000009a01fc701030101010a027b7d02010018010000020000000001010109"
    "07020102066279746520371e0100";

/* As version 4, with a frame and two vitals. */
static const char version_5_hex[] =
    "050102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e00039c0103612f31c8010103e0d40301a09c01904e0111111111111111110e68"
    "747470733a2f2f612f622e6a7302222222222222222202676f0104ad02000201a09c01c0b8023333"
    "33333333333300000000010100a09c01a09c0101000201a09c01a09c01020000010102000201a09c"
    "01010001a09c0101024444444444444444016d01020178078001014001555555555555555509622e"
    "6f6e636c69636b0a0175016601000a0a0a0001010002c0b80201a09c01d086030001000201a09c01"
    "a09c01050603312e310a68747470733a2f2f612f4001ac02047a737464010306437573746f6d010e"
    "68747470733a2f2f612f622e6a7302010104010201000009a01fc701030101010a027b7d02010018"
    "01000002000000000101010907020102066279746520371e01000266666666666666660180c11477"
    "777777777777770400";

/* As version 5, with a kind of traffic and a machine class. */
static const char version_6_hex[] =
    "060102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e087265706561746564036d696400039c0103612f31c8010103e0d40301a09c01"
    "904e0111111111111111110e68747470733a2f2f612f622e6a7302222222222222222202676f0104"
    "ad02000201a09c01c0b802333333333333333300000000010100a09c01a09c0101000201a09c01a0"
    "9c01020000010102000201a09c01010001a09c0101024444444444444444016d0102017807800101"
    "4001555555555555555509622e6f6e636c69636b0a0175016601000a0a0a0001010002c0b80201a0"
    "9c01d086030001000201a09c01a09c01050603312e310a68747470733a2f2f612f4001ac02047a73"
    "7464010306437573746f6d010e68747470733a2f2f612f622e6a7302010104010201000009a01fc7"
    "01030101010a027b7d0201001801000002000000000101010907020102066279746520371e010002"
    "66666666666666660180c11477777777777777770400";

/* As version 6, with the element and the parts of a vital. */
static const char version_7_hex[] =
    "070102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e087265706561746564036d696400039c0103612f31c8010103e0d40301a09c01"
    "904e0111111111111111110e68747470733a2f2f612f622e6a7302222222222222222202676f0104"
    "ad02000201a09c01c0b802333333333333333300000000010100a09c01a09c0101000201a09c01a0"
    "9c01020000010102000201a09c01010001a09c0101024444444444444444016d0102017807800101"
    "4001555555555555555509622e6f6e636c69636b130175016601000a0a0a0001010002c0b80201a0"
    "9c01d086030001000201a09c01a09c01050603312e310a68747470733a2f2f612f4001ac02047a73"
    "7464010306437573746f6d010e68747470733a2f2f612f622e6a7302010104010201000009a01fc7"
    "01030101010a027b7d0201001801000002000000000101010907020102066279746520371e010002"
    "66666666666666660180c1140202e807e0a712777777777777777704000000";

/* As version 7, with kinds of navigation of a timing and of vitals, a browser version and a network
 * class. */
static const char version_8_hex[] =
    "080102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e087265706561746564036d69640331353602336700039c0103612f31c8010103"
    "e0d40301a09c01904e0111111111111111110e68747470733a2f2f612f622e6a7302222222222222"
    "222202676f0104ad02000201a09c01c0b802333333333333333300000000010100a09c01a09c0101"
    "000201a09c01a09c01020000010102000201a09c01010001a09c0101024444444444444444016d01"
    "020178078001014001555555555555555509622e6f6e636c69636b13017501660201000a0a0a0001"
    "010002c0b80201a09c01d086030001000201a09c01a09c01050603312e310a68747470733a2f2f61"
    "2f4001ac02047a737464010306437573746f6d010e68747470733a2f2f612f622e6a730201010401"
    "0201000009a01fc701030101010a027b7d0201001801000002000000000101010907020102066279"
    "746520371e01000266666666666666660180c1140202e807e0a71202777777777777777704000000"
    "07";

/* As version 8, with custom dimensions. */
static const char version_9_hex[] =
    "090102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e087265706561746564036d69640331353602336708706c616e3d70726f00039c"
    "0103612f31c8010103e0d40301a09c01904e0111111111111111110e68747470733a2f2f612f622e"
    "6a7302222222222222222202676f0104ad02000201a09c01c0b80233333333333333330000000001"
    "0100a09c01a09c0101000201a09c01a09c01020000010102000201a09c01010001a09c0101024444"
    "444444444444016d01020178078001014001555555555555555509622e6f6e636c69636b13017501"
    "660201000a0a0a0001010002c0b80201a09c01d086030001000201a09c01a09c01050603312e310a"
    "68747470733a2f2f612f4001ac02047a737464010306437573746f6d010e68747470733a2f2f612f"
    "622e6a7302010104010201000009a01fc701030101010a027b7d0201001801000002000000000101"
    "010907020102066279746520371e01000266666666666666660180c1140202e807e0a71202777777"
    "77777777770400000007";

/* As version 9, with what a vital and a measure would be without a function, and the server's draw.
 */
static const char version_10_hex[] =
    "0a0102030405060708090a0b0c0d0e0f1007aa00000000000000000000000000000001c0843d0173"
    "012f01720000064368726f6d65054c696e7578076465736b746f700677696e646f77904e0b73616d"
    "652d6f726967696e087265706561746564036d69640331353602336708706c616e3d70726f026e6f"
    "00039c0103612f31c8010103e0d40301a09c01904e0111111111111111110e68747470733a2f2f61"
    "2f622e6a7302222222222222222202676f0104ad02000201a09c01c0b80233333333333333330000"
    "0000010100a09c01a09c0101000201a09c01a09c01020000010102000201a09c01010001a09c0101"
    "044444444444444444016d01020178078001014001555555555555555509622e6f6e636c69636b13"
    "017501660201000a0a0a00888888888888888803494e50230866756e6374696f6e022d3700000000"
    "0000009999999999999999016d2200000000000000000001010002c0b80201a09c01d08603000100"
    "0201a09c01a09c01050603312e310a68747470733a2f2f612f4001ac02047a737464010306437573"
    "746f6d010e68747470733a2f2f612f622e6a7302010104010201000009a01fc701030101010a027b"
    "7d0201001801000002000000000101010907020102066279746520371e0100026666666666666666"
    "0180c1140202e807e0a7120277777777777777770400000007020201010264ac0200000001033c01"
    "021428";

/* Content that only version 2 can encode. */
static void add_measured(struct fp_delta *delta)
{
    static struct fp_delta_measured measured[] = {{.timing = 0,
                                                   .samples = 2,
                                                   .unattributed_samples = 1,
                                                   .profiled_us = 20000,
                                                   .unattributed_us = 10000,
                                                   .window_us = 20000,
                                                   .counts_load = true,
                                                   .first_frame = 0,
                                                   .frame_count = 1}};
    static struct fp_delta_measured_frame frames[] = {{0, FP_MARKER_GC, 1, 10000, 10000}};
    delta->measured = measured;
    delta->measured_frames = frames;
    delta->measured_count = 1;
    delta->measured_frame_count = 1;
}

static void add_session(struct fp_delta *delta)
{
    static struct fp_event_type types[] = {{-2, {"Custom", 6}}};
    static struct fp_str resources[] = {{"https://a/b.js", 14}};
    static struct fp_session_timeline timelines[] = {{1, 4, FP_REDUCE_ALL_EVENTS, 0, 2}};
    static struct fp_session_event events[] = {
        {.id = 1,
         .parent = FP_INDEX_NONE,
         .start_us = -5,
         .duration_us = 2000,
         .self_us = -100,
         .overhead_us = 3,
         .hits = 1,
         .child_count = 1,
         .resource = 0,
         .line = 9,
         .detail = {"{}", 2}},
        {.id = 2,
         .parent = 0,
         .start_us = 7,
         .duration_us = FP_DURATION_NONE,
         .hits = 2,
         .resource = FP_INDEX_NONE,
         .line = FP_POSITION_NONE},
    };
    static struct fp_session session = {.source_id = 5,
                                        .window_id = 6,
                                        .version = {"1.1", 3},
                                        .page_url = {"https://a/", 10},
                                        .started_us = 64,
                                        .is_raw = true,
                                        .content_len = 300,
                                        .content = {"zstd", 4},
                                        .types = types,
                                        .resources = resources,
                                        .resource_count = 1,
                                        .timelines = timelines,
                                        .events = events,
                                        .type_count = 1,
                                        .timeline_count = 1,
                                        .event_count = 2};
    delta->session = &session;
}

/* Content that only version 3 can encode. */
static void add_script(struct fp_delta *delta)
{
    static struct fp_delta_timing timings[2];
    timings[0] = delta->timings[0];
    timings[1] = (struct fp_delta_timing){.id = 0x5555555555555555,
                                          .name = {"b.onclick", 9},
                                          .source = {"u", 1},
                                          .function = {"f", 1},
                                          .kind = FP_TIMING_BLOCKING,
                                          .count = 1,
                                          .sum_us = 5,
                                          .min_us = 5,
                                          .max_us = 5,
                                          .first_bin = 1};
    delta->timings = timings;
    delta->timing_count = 2;
}

/* Content that only version 3 can encode. */
static void add_refusals(struct fp_delta *delta)
{
    static struct fp_delta_refusal refusals[] = {
        {FP_RECORD_REFUSAL_NOT_JSON, 2, {"byte 7", 6}},
        {FP_RECORD_REFUSAL_OTHER_ENTRY, 1, {"", 0}},
    };
    delta->records_read = 7;
    delta->records_refused = 3;
    delta->refusals = refusals;
    delta->refusal_count = 2;
}

static size_t read_hex(const char *hex, uint8_t *bytes)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return len;
}

static void bytes_of_version_2_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_2_hex)];
    size_t len = read_hex(version_2_hex, bytes);
    fill_example(&example);
    add_measured(&example);
    add_session(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_same_session(example.session, read.session);
}

static void refusals_out_of_order_or_empty_are_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    fill_example(&example);
    add_refusals(&example);
    struct fp_delta_refusal *refusals = example.refusals;
    const struct fp_delta_refusal kept[] = {refusals[0], refusals[1]};
    refusals[0].reason = FP_RECORD_REFUSAL_OTHER_ENTRY;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    refusals[0] = kept[0];
    refusals[0].records = 0;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    refusals[0].records = UINT32_MAX;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    refusals[0] = kept[0];
}

/* Fills in what version 3 can encode. */
static void fill_version_3(struct fp_delta *delta)
{
    fill_example(delta);
    add_measured(delta);
    add_session(delta);
    add_refusals(delta);
    delta->session->is_detached = true;
    delta->session->events[1].parent_id = 9;
    add_script(delta);
}

static void empty_version_3(struct fp_delta *delta)
{
    delta->session->is_detached = false;
    delta->session->events[1].parent_id = 0;
}

static void bytes_of_version_3_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_3_hex)];
    size_t len = read_hex(version_3_hex, bytes);
    fill_version_3(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_same_session(example.session, read.session);
    assert_same_timings(&example, &read);
    empty_version_3(&example);
}

static void fill_version_4(struct fp_delta *example)
{
    fill_version_3(example);
    example->unseen_us = 5000;
    example->measured[0].window_us = 25000;
    example->measured[0].counts_load = false;
}

static void empty_version_4(struct fp_delta *example)
{
    example->measured[0].window_us = example->measured[0].profiled_us;
    example->measured[0].counts_load = true;
    empty_version_3(example);
}

static void bytes_of_version_4_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_4_hex)];
    size_t len = read_hex(version_4_hex, bytes);
    fill_version_4(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_int_equal(read.vital_count, 0);
    empty_version_4(&example);
}

/* Fills in what version 5 can encode. */
static void fill_version_5(struct fp_delta *example)
{
    static struct fp_delta_vital vitals[] = {
        {.metric = 0x6666666666666666, .vital = FP_VITAL_INP, .value_us = 336000},
        {.metric = 0x7777777777777777, .vital = FP_VITAL_TTFB}};
    fill_version_4(example);
    example->has_load = true;
    example->segment.frame = FP_STR("same-origin");
    for (size_t i = 0; i < FP_COUNT(vitals); i++)
        vitals[i].element = FP_INDEX_NONE;
    example->vitals = vitals;
    example->vital_count = FP_COUNT(vitals);
}

static void bytes_of_version_5_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_5_hex)];
    size_t len = read_hex(version_5_hex, bytes);
    fill_version_5(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_int_equal(read.vital_count, 2);
    assert_int_equal(read.segment.traffic.len, 0);
    assert_int_equal(read.segment.machine.len, 0);
    empty_version_4(&example);
}

/* Fills in what version 6 can encode. */
static void fill_version_6(struct fp_delta *example)
{
    fill_version_5(example);
    example->segment.traffic = FP_STR("repeated");
    example->segment.machine = FP_STR("mid");
}

static void bytes_of_version_6_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_6_hex)];
    size_t len = read_hex(version_6_hex, bytes);
    fill_version_6(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_int_equal(read.vitals[0].element, FP_INDEX_NONE);
    assert_int_equal(read.vitals[0].parts.known, 0);
    empty_version_4(&example);
}

/* Fills in what version 7 can encode. */
static void fill_version_7(struct fp_delta *example)
{
    fill_version_6(example);
    example->timings[1].kind = FP_TIMING_VITAL_ELEMENT;
    example->vitals[0].element = 1;
    example->vitals[0].parts = (struct fp_vital_parts){2, {1000, 300000}};
}

static void bytes_of_version_7_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_7_hex)];
    size_t len = read_hex(version_7_hex, bytes);
    fill_version_7(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_same_timings(&example, &read);
    assert_int_equal(read.vitals[0].element, 1);
    assert_int_equal(read.vitals[0].parts.us[1], 300000);
    assert_int_equal(read.timings[1].navigation, FP_NAVIGATION_UNKNOWN);
    assert_int_equal(read.vitals[0].navigation, FP_NAVIGATION_UNKNOWN);
    assert_int_equal(read.segment.browser_version.len, 0);
    assert_int_equal(read.segment.network.len, 0);
    empty_version_4(&example);
}

/* Fills in what version 8 can encode. */
static void fill_version_8(struct fp_delta *example)
{
    fill_version_7(example);
    example->timings[1].navigation = FP_NAVIGATION_SOFT;
    example->vitals[0].navigation = FP_NAVIGATION_SOFT;
    example->vitals[1].navigation = FP_NAVIGATION_RESTORE;
    example->segment.browser_version = FP_STR("156");
    example->segment.network = FP_STR("3g");
}

static void bytes_of_version_8_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_8_hex)];
    size_t len = read_hex(version_8_hex, bytes);
    fill_version_8(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_same_timings(&example, &read);
    assert_true(fp_str_equal(read.segment.network, FP_STR("3g")));
    assert_int_equal(read.segment.custom.len, 0);
    empty_version_4(&example);
}

/* Fills in what version 9 can encode. */
static void fill_version_9(struct fp_delta *example)
{
    fill_version_8(example);
    example->segment.custom = FP_STR("plan=pro");
}

static void bytes_of_version_9_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_9_hex)];
    const size_t len = read_hex(version_9_hex, bytes);
    fill_version_9(&example);
    assert_int_equal(fp_delta_decode(bytes, len, &room->arena, &read), FP_DELTA_OK);
    assert_int_equal(read.segment.drawn.len, 0);
    assert_int_equal(read.without_count, 0);
    assert_false(read.vitals[0].is_profiled);
    assert_true(fp_str_equal(read.segment.traffic, FP_STR("repeated")));
    assert_true(fp_str_equal(read.segment.browser_version, FP_STR("156")));
    assert_true(fp_str_equal(read.segment.network, FP_STR("3g")));
    assert_true(fp_str_equal(read.segment.custom, FP_STR("plan=pro")));
    assert_same_upload(&example, &read);
    assert_same_measured(&example, &read);
    assert_same_timings(&example, &read);
    assert_true(fp_str_equal(read.timings[1].source, FP_STR("u")) &&
                fp_str_equal(read.timings[1].function, FP_STR("f")));
    assert_int_equal(read.timings[1].navigation, FP_NAVIGATION_SOFT);
    assert_int_equal(read.vitals[0].navigation, FP_NAVIGATION_SOFT);
    assert_int_equal(read.vitals[1].navigation, FP_NAVIGATION_RESTORE);
    empty_version_4(&example);
}

/* Adds what the first vital and a measure would be without something. */
static void add_without(struct fp_delta *delta, struct fp_delta_timing timings[4])
{
    static struct fp_delta_without withouts[2];
    static struct fp_delta_profiled profiled[1];
    withouts[0] = (struct fp_delta_without){.timing = 2, .gone = 100, .half = 300};
    withouts[1] = (struct fp_delta_without){.timing = 2, .gone = 20, .half = 40};
    profiled[0] =
        (struct fp_delta_profiled){.timing = 3, .now = 60, .first_without = 1, .without_count = 1};
    memcpy(timings, delta->timings, 2 * sizeof(*timings));
    timings[2] = (struct fp_delta_timing){.id = 0x8888888888888888,
                                          .name = FP_STR("INP"),
                                          .source = FP_STR("function"),
                                          .function = FP_STR("-7"),
                                          .kind = FP_TIMING_VITAL_WITHOUT,
                                          .first_bin = delta->bin_count};
    timings[3] = (struct fp_delta_timing){.id = 0x9999999999999999,
                                          .name = FP_STR("m"),
                                          .kind = FP_TIMING_VITAL_PROFILED,
                                          .first_bin = delta->bin_count};
    delta->timings = timings;
    delta->timing_count = 4;
    delta->withouts = withouts;
    delta->without_count = 2;
    delta->profiled = profiled;
    delta->profiled_count = 1;
    delta->vitals[0].is_profiled = true;
    delta->vitals[0].without_count = 1;
    delta->vitals[0].later = 2;
}

static void bytes_of_version_10_never_change(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    struct fp_delta_timing timings[4];
    fill_version_9(&example);
    add_without(&example, timings);
    example.segment.drawn = FP_STR("no");
    encode(room, &example);
    char hex[2048] = "";
    for (size_t i = 0; i < room->bytes.len; i++)
        snprintf(hex + 2 * i, 3, "%02x", room->bytes.data[i]);
    assert_string_equal(hex, version_10_hex);
    assert_int_equal(fp_delta_decode(room->bytes.data, room->bytes.len, &room->arena, &read),
                     FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_timings(&example, &read);
    assert_int_equal(read.without_count, 2);
    assert_true(read.vitals[0].is_profiled && !read.vitals[1].is_profiled);
    assert_true(fp_str_equal(read.segment.drawn, FP_STR("no")));
    assert_int_equal(read.vitals[0].without_count, 1);
    assert_int_equal(read.vitals[0].later, 2);
    assert_int_equal(read.withouts[0].timing, 2);
    assert_int_equal(read.withouts[0].gone, 100);
    assert_int_equal(read.withouts[0].half, 300);
    assert_int_equal(read.profiled_count, 1);
    assert_int_equal(read.profiled[0].timing, 3);
    assert_int_equal(read.profiled[0].now, 60);
    assert_int_equal(read.profiled[0].first_without, 1);
    assert_int_equal(read.profiled[0].without_count, 1);
    assert_int_equal(read.withouts[1].gone, 20);
    assert_int_equal(read.withouts[1].half, 40);
    empty_version_4(&example);
    example.vitals[0].without_count = 0;
    example.vitals[0].is_profiled = false;
}

/* A vital would be at most its value, and only of a profiled page load is it known. */
static void impossible_gains_are_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta_timing timings[4];
    fill_version_9(&example);
    add_without(&example, timings);
    struct fp_delta_without *without = example.withouts;
    const struct fp_delta_without good = *without;
    const uint16_t bin = fp_bin_of(example.vitals[0].value_us);
    without->gone = without->half = bin;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_OK);
    without->half = bin + 1;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    *without = good;
    without->timing = 0;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    *without = good;
    example.profiled[0].now = 39;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    example.profiled[0].now = 60;
    example.profiled[0].timing = 2;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    example.profiled[0].timing = 3;
    example.vitals[0].is_profiled = false;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    empty_version_4(&example);
    example.vitals[0].without_count = 0;
}

static void vitals_out_of_range_or_without_a_load_are_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta_vital vital = {.metric = 1,
                                   .vital = FP_VITAL_INP,
                                   .element = FP_INDEX_NONE,
                                   .value_us = FP_DELTA_TIME_MAX_US};
    fill_example(&example);
    example.vitals = &vital;
    example.vital_count = 1;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_OK);
    vital.value_us++;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.value_us = 1;
    vital.vital = FP_VITAL_COUNT;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.vital = FP_VITAL_INP;
    vital.navigation = FP_NAVIGATION_COUNT;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.navigation = FP_NAVIGATION_HARD;
    vital.element = 0; /* a mark's timing */
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.element = FP_INDEX_NONE;
    vital.parts = (struct fp_vital_parts){1, {0}}; /* INP has one more */
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.parts = (struct fp_vital_parts){2, {1, 1}}; /* longer than the value */
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    vital.parts.us[1] = 0;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_OK);
    example.has_load = false;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
}

static void unseen_time_below_zero_is_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    fill_example(&example);
    example.unseen_us = -1;
    encode(room, &example);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
}

static void bytes_of_version_1_are_still_read(void **state)
{
    struct room *room = *state;
    struct fp_delta example;
    struct fp_delta read;
    uint8_t bytes[sizeof(version_1_hex) / 2];
    (void)read_hex(version_1_hex, bytes);
    fill_example(&example);
    assert_int_equal(fp_delta_decode(bytes, sizeof(bytes), &room->arena, &read), FP_DELTA_OK);
    assert_same_upload(&example, &read);
    assert_same_frames(&example, &read);
    assert_same_splits(&example, &read);
    assert_int_equal(example.stack_sample_count, read.stack_sample_count);
    assert_int_equal(example.stack_samples[1].self_us, read.stack_samples[1].self_us);
    assert_same_timings(&example, &read);
    assert_null(read.session);
    bytes[17] |= FP_DELTA_HAS_SESSION; /* version 1 knew no such flag */
    assert_int_equal(decode_exactly(room, bytes, sizeof(bytes)), FP_DELTA_DAMAGED);
}

static void refuses_every_shorter_or_longer_form(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        fp_arena_clear(&room->arena);
        draw(room, seed, &delta);
        encode(room, &delta);
        for (size_t len = 0; len < room->bytes.len; len++) {
            assert_int_equal(decode_exactly(room, room->bytes.data, len), FP_DELTA_DAMAGED);
            fp_arena_clear(&room->arena);
        }
        fp_buf_add(&room->bytes, "", 1);
        assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    }
}

/* Whatever the bytes are, decoding ends, stays within its input and gives only valid indices. */
static void survives_any_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    uint64_t random = 7;
    draw(room, 5, &delta);
    encode(room, &delta);
    size_t len = room->bytes.len;
    uint8_t *damaged = malloc(len);
    for (int round = 0; round < 20000; round++) {
        memcpy(damaged, room->bytes.data, len);
        for (uint64_t i = 0; i <= random_next(&random) % 3; i++)
            damaged[1 + random_next(&random) % (len - 1)] = (uint8_t)random_next(&random);
        fp_arena_clear(&room->arena);
        if (fp_delta_decode(damaged, len, &room->arena, &delta) != FP_DELTA_OK)
            continue;
        for (uint32_t i = 0; i < delta.stack_count; i++) {
            assert_in_range(delta.stacks[i].frame, 0, delta.frame_count - 1);
            if (delta.stacks[i].parent != FP_INDEX_NONE)
                assert_in_range(delta.stacks[i].parent, 0, i - 1);
        }
        for (uint32_t i = 0; i < delta.frame_count; i++) {
            if (delta.frames[i].resource != FP_INDEX_NONE)
                assert_in_range(delta.frames[i].resource, 0, delta.resource_count - 1);
            assert_in_range(delta.frames[i].kind, 0, FP_FRAME_KIND_COUNT - 1);
        }
    }
    free(damaged);
}

static void tells_an_unknown_version_from_damage(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    draw(room, 1, &delta);
    encode(room, &delta);
    room->bytes.data[0] = FP_DELTA_BYTES_VERSION + 1;
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_VERSION);
    assert_int_equal(decode_exactly(room, room->bytes.data, 0), FP_DELTA_DAMAGED);
}

static void a_count_without_its_bytes_costs_no_memory(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    fill_example(&delta);
    delta.resource_count = delta.frame_count = delta.split_count = delta.stack_count = 0;
    delta.stack_sample_count = delta.timing_count = delta.bin_count = 0;
    encode(room, &delta);
    /* The last fourteen bytes are zero counts; the first of them becomes four billion. */
    const uint8_t many[] = {0xff, 0xff, 0xff, 0xff, 0x0f};
    room->bytes.len -= 14;
    fp_buf_add(&room->bytes, many, sizeof(many));
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
    assert_in_range(room->arena.used_bytes, 0, 4096);
}

static void says_when_memory_is_out(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    draw(room, 9, &delta);
    encode(room, &delta);
    struct fp_arena small;
    fp_arena_init(&small, 64);
    assert_int_equal(fp_delta_decode(room->bytes.data, room->bytes.len, &small, &delta),
                     FP_DELTA_MEMORY);
    fp_arena_release(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_back_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_2_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_out_of_order_or_empty_are_damage, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_3_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_4_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_5_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_6_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_7_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_8_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_9_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_10_never_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible_gains_are_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vitals_out_of_range_or_without_a_load_are_damage, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(unseen_time_below_zero_is_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_of_version_1_are_still_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_every_shorter_or_longer_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_any_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_an_unknown_version_from_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_count_without_its_bytes_costs_no_memory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(says_when_memory_is_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
