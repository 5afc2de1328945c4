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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_varint_has_seven_bits_per_byte),
        cmocka_unit_test(a_message_is_a_field_with_a_length),
        cmocka_unit_test(a_message_with_a_part_that_did_not_fit_has_failed),
        cmocka_unit_test(a_folded_name_has_neither_separators_nor_control_characters),
        cmocka_unit_test(scaled_times_add_up_to_the_scaled_whole),
        cmocka_unit_test(a_gap_is_where_no_sample_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
