/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export: the wire format of Protocol Buffers, folded lines, gaps between samples, and times that
 * are scaled without losing any.
 */

#include "tests/unit/unit.h"

#include "cli/export/source_aggregate.c"
#include "cli/export/write_folded.c"

#include "cli/export/protobuf.h"

static void assert_bytes(const struct fp_buf *buf, const char *bytes, size_t len)
{
    assert_int_equal(buf->len, len);
    assert_memory_equal(buf->data, bytes, len);
}

static void a_varint_has_seven_bits_per_byte(void **state)
{
    (void)state;
    static const struct {
        int64_t number;
        struct fp_str bytes;
    } cases[] = {
        {0, {"\0", 1}},
        {127, {"\x7F", 1}},
        {128, {"\x80\x01", 2}},
        {300, {"\xAC\x02", 2}},
        {INT64_MAX, {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 9}},
        {-1, {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10}},
        {INT64_MIN, {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10}},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_buf buf;
        fp_buf_init(&buf, 64);
        fp_protobuf_add_varint(&buf, cases[i].number);
        assert_bytes(&buf, cases[i].bytes.ptr, cases[i].bytes.len);
        fp_buf_release(&buf);
    }
}

static void a_message_is_a_field_with_a_length(void **state)
{
    (void)state;
    struct fp_buf message, part;
    fp_buf_init(&message, 64);
    fp_buf_init(&part, 64);
    fp_protobuf_add_number(&part, 1, 150);
    fp_protobuf_add_number(&part, 2, 0);
    fp_protobuf_add_message(&message, 3, &part);
    fp_protobuf_add_bytes(&message, 2, FP_STR("ab"));
    fp_protobuf_add_message(&message, 16, &part);
    assert_bytes(&message,
                 "\x1A\x03\x08\x96\x01\x12\x02"
                 "ab\x82\x01\x00",
                 12);
    fp_buf_release(&message);
    fp_buf_release(&part);
}

static void a_message_with_a_part_that_did_not_fit_has_failed(void **state)
{
    (void)state;
    struct fp_buf message, part;
    fp_buf_init(&message, 64);
    fp_buf_init(&part, 2);
    fp_protobuf_add_bytes(&part, 1, FP_STR("too long"));
    fp_protobuf_add_message(&message, 1, &part);
    assert_true(message.failed);
    fp_buf_release(&message);
    fp_buf_release(&part);
}

static void assert_label(const char *name, const char *expected)
{
    const struct fp_export_frame frame = {.function = fp_str_of(name),
                                          .resource = FP_STR("a;b.js"),
                                          .line = 3,
                                          .column = FP_POSITION_NONE};
    struct fp_buf path;
    fp_buf_init(&path, 256);
    add_label(&path, &frame);
    assert_string_equal(fp_memory_text(&path), expected);
    fp_buf_release(&path);
}

static void a_folded_name_has_neither_separators_nor_control_characters(void **state)
{
    (void)state;
    assert_label("plain", "plain");
    assert_label("a;b\n\x1B[0m\x7F", "a:b  [0m ");
    assert_label("\xC2\x80|\xC2\x9F|\xC2\xA0|\xC3\xA4", " | |\xC2\xA0|\xC3\xA4");
    assert_label("(anonymous)", "(anonymous) a:b.js:3");
}

static void scaled_times_add_up_to_the_scaled_whole(void **state)
{
    (void)state;
    struct scaling scaling = {.scale = 1.0 / 3};
    int64_t sum = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t share = scaled(&scaling, 1);
        assert_true(share == 0 || share == 1);
        sum += share;
    }
    assert_int_equal(sum, 333);
    scaling = (struct scaling){.scale = 1};
    assert_int_equal(scaled(&scaling, INT64_C(1) << 50), INT64_C(1) << 50);
}

static void a_gap_is_where_no_sample_begins(void **state)
{
    (void)state;
    struct fp_export_stacks stacks;
    fp_export_stacks_init(&stacks);
    struct fp_export_track *track = fp_export_add_track(&stacks, FP_STR("window"));
    uint32_t node = fp_export_unattributed(&stacks);
    static const int64_t times[][2] = {{-5, 5}, {0, 10}, {20, 10}};
    for (size_t i = 0; i < FP_COUNT(times); i++)
        fp_export_add_sample(&stacks, track,
                             &(struct fp_export_sample){node, times[i][0], times[i][1], 1});
    fp_export_add_sample(&stacks, track, &(struct fp_export_sample){node, 30, -2, 1});
    fp_export_add_sample(&stacks, track, &(struct fp_export_sample){node, 30, 0, 0});
    assert_int_equal(track->sample_count, 3);
    assert_int_equal(stacks.negative_us, -2);
    assert_int_equal(fp_export_begin(&stacks), -5);
    assert_false(fp_export_has_gap(track, 0));
    assert_true(fp_export_has_gap(track, 1));
    assert_true(fp_export_has_gap(track, 2));
    fp_export_stacks_release(&stacks);
}

static void a_track_uses_the_nodes_of_its_samples_and_those_below(void **state)
{
    (void)state;
    struct fp_export_stacks stacks;
    struct fp_export_use use;
    const struct fp_export_frame frame = {.function = FP_STR("f")};
    fp_export_stacks_init(&stacks);
    for (size_t i = 0; i < 4; i++)
        (void)fp_export_add_frame(&stacks, &frame);
    static const uint32_t nodes[][2] = {
        {0, FP_INDEX_NONE}, {1, FP_INDEX_NONE}, {3, 1}, {2, 0}, {1, 2}};
    for (size_t i = 0; i < FP_COUNT(nodes); i++)
        (void)fp_export_add_node(&stacks, nodes[i][0], nodes[i][1]);
    struct fp_export_track *first = fp_export_add_track(&stacks, FP_STR("1"));
    struct fp_export_track *second = fp_export_add_track(&stacks, FP_STR("2"));
    fp_export_add_sample(&stacks, first, &(struct fp_export_sample){3, 0, 1, 1});
    fp_export_add_sample(&stacks, second, &(struct fp_export_sample){4, 0, 1, 1});

    fp_export_use_init(&use, &stacks, first);
    static const uint32_t none = FP_INDEX_NONE;
    const uint32_t first_nodes[] = {0, none, none, 1, none};
    const uint32_t first_frames[] = {0, none, 1, none};
    assert_memory_equal(use.nodes, first_nodes, sizeof(first_nodes));
    assert_memory_equal(use.frames, first_frames, sizeof(first_frames));
    assert_int_equal(use.node_count, 2);
    assert_int_equal(use.frame_count, 2);
    fp_export_use_release(&use);

    fp_export_use_init(&use, &stacks, second);
    const uint32_t second_nodes[] = {none, 0, 1, none, 2};
    const uint32_t second_frames[] = {none, 0, none, 1};
    assert_memory_equal(use.nodes, second_nodes, sizeof(second_nodes));
    assert_memory_equal(use.frames, second_frames, sizeof(second_frames));
    assert_int_equal(use.node_count, 3);
    assert_int_equal(use.frame_count, 2);
    fp_export_use_release(&use);
    fp_export_stacks_release(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_varint_has_seven_bits_per_byte),
        cmocka_unit_test(a_message_is_a_field_with_a_length),
        cmocka_unit_test(a_message_with_a_part_that_did_not_fit_has_failed),
        cmocka_unit_test(a_folded_name_has_neither_separators_nor_control_characters),
        cmocka_unit_test(scaled_times_add_up_to_the_scaled_whole),
        cmocka_unit_test(a_gap_is_where_no_sample_begins),
        cmocka_unit_test(a_track_uses_the_nodes_of_its_samples_and_those_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
