/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multipart bodies: every part and nothing but the parts.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/multipart.c"

/* Bodies in memory of just their size, so that a sanitizer sees each byte read past the end. */
struct owned {
    char *bytes;
    struct fp_multipart multipart;
};

static struct owned own(struct fp_str body, const char *boundary)
{
    struct owned owned = {.bytes = malloc(body.len + 1)};
    assert_non_null(owned.bytes);
    char *end_aligned = owned.bytes + 1;
    memcpy(end_aligned, body.ptr, body.len);
    owned.multipart =
        (struct fp_multipart){.body = {end_aligned, body.len}, .boundary = fp_str_of(boundary)};
    return owned;
}

/* parts: what is expected, "|" behind each; then the last step. */
static void assert_parts(struct fp_str body, const char *parts, enum fp_multipart_step last)
{
    struct owned owned = own(body, "b");
    char got[256] = "";
    size_t len = 0;
    struct fp_str part;
    enum fp_multipart_step step;
    while ((step = fp_multipart_next(&owned.multipart, &part)) == FP_MULTIPART_PART)
        len += (size_t)snprintf(got + len, sizeof(got) - len, "%.*s|", FP_STR_ARG(part));
    assert_string_equal(got, parts);
    assert_int_equal(step, last);
    free(owned.bytes);
}

static void gives_each_part_without_its_headers(void **state)
{
    (void)state;
    assert_parts(FP_STR("--b\r\n\r\none\r\n--b--"), "one|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n"
                        "Content-Type: application/json\r\n\r\n{\"a\":1}\r\n"
                        "--b\r\nX: y\r\n\r\ntwo\r\nlines\r\n--b--\r\n"),
                 "{\"a\":1}|two\r\nlines|", FP_MULTIPART_END);
    assert_parts(FP_STR("preamble --b\r\n--b \t\r\n\r\none\r\n--b--epilogue --b\r\n"), "one|",
                 FP_MULTIPART_END);
    assert_parts(FP_STR("\r\n--b\r\n\r\none\r\n--b--"), "one|", FP_MULTIPART_END);
}

static void parts_may_be_empty_and_hold_what_looks_like_a_delimiter(void **state)
{
    (void)state;
    assert_parts(FP_STR("--b\r\n\r\n\r\n--b--"), "|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\nX: y\r\n\r\n\r\n--b--"), "|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\nX: y\r\n\r\n--b--"), "|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\n\r\n--b--\r\n--b--"), "|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\n\r\nx--b\n--b\r\n--bc\r\n--b x\r\n\r\n--b--"),
                 "x--b\n--b\r\n--bc\r\n--b x\r\n|", FP_MULTIPART_END);
    assert_parts(FP_STR("--b\r\n\r\n\r\n\r\n--b\r\n\r\n\r\n--b--"), "\r\n||", FP_MULTIPART_END);
}

static void no_part_at_all_is_an_end(void **state)
{
    (void)state;
    assert_parts(FP_STR("--b--"), "", FP_MULTIPART_END);
    assert_parts(FP_STR("--b--\r\n"), "", FP_MULTIPART_END);
}

static void a_truncated_body_is_broken(void **state)
{
    (void)state;
    struct fp_str whole = FP_STR("--b\r\nX: y\r\n\r\none\r\n--b\r\nX: y\r\n\r\ntwo\r\n--b--");
    for (size_t len = 0; len < whole.len; len++) {
        struct owned owned = own((struct fp_str){whole.ptr, len}, "b");
        struct fp_str part;
        enum fp_multipart_step step;
        while ((step = fp_multipart_next(&owned.multipart, &part)) == FP_MULTIPART_PART)
            ;
        assert_int_equal(step, FP_MULTIPART_BROKEN);
        assert_true(owned.multipart.at <= len);
        free(owned.bytes);
    }
    assert_parts(whole, "one|two|", FP_MULTIPART_END);
}

static void headers_without_end_are_broken(void **state)
{
    (void)state;
    assert_parts(FP_STR("--b\r\nX: y\r\nno end\r\n--b--"), "", FP_MULTIPART_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_each_part_without_its_headers),
        cmocka_unit_test(parts_may_be_empty_and_hold_what_looks_like_a_delimiter),
        cmocka_unit_test(no_part_at_all_is_an_end),
        cmocka_unit_test(a_truncated_body_is_broken),
        cmocka_unit_test(headers_without_end_are_broken),
    };
    return cmocka_run_group_tests_name("ingest_multipart", tests, NULL, NULL);
}
