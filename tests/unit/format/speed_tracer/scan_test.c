/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of a dump's records, compared with a byte-by-byte scan.
 */
#include "tests/unit/format/test.h"

#include "collector/format/speed_tracer/scan.c"

#include "tests/unit/profile/chance.h"

enum { TEXTS = 20000, LEN_MAX = 300 };

/* The result of a byte-by-byte scan. */
struct found {
    size_t end;
    bool closed;
    bool is_odd; /* not JSON: depth and is_plain are not exact */
    uint32_t depth;
    bool is_plain;
};

static struct found walk(struct fp_str text)
{
    struct found found = {.end = text.len, .is_plain = true};
    uint32_t braces = 0;
    uint32_t brackets = 0;
    char quote = '\0';
    for (size_t at = 0; at < text.len && !found.closed; at++) {
        const char c = text.ptr[at];
        if (quote != '\0' && c == '\\') {
            at++;
            if (at < text.len && (text.ptr[at] == 'u' || text.ptr[at] == '/'))
                found.is_plain = false;
        } else if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
            found.is_odd = found.is_odd || c == '\'';
        } else {
            found.is_odd = found.is_odd || c == '\\';
            found.is_plain = found.is_plain && c != ' ';
            braces += c == '{';
            brackets += c == '[';
            brackets -= c == ']' && brackets > 0;
            found.depth = braces + brackets > found.depth ? braces + brackets : found.depth;
            found.closed = c == '}' && --braces == 0;
            found.end = found.closed ? at + 1 : text.len;
        }
    }
    return found;
}

/* Draws the begin of an object, with more strings than closing braces. */
static void make_text(char *bytes, size_t len)
{
    static const char *const alphabets[] = {"aaaaaaaaaaaaaaa\"\"\\{}[]", "aaaaaaa\"\\{{}} ",
                                            "aaaaaaaaaaaaaaaaaaa\"\"\\nu/}",
                                            "aaaaaaaaaaaaa\"\"'{}\\"};
    const char *alphabet = alphabets[below(4)];
    for (size_t i = 0; i < len; i++)
        bytes[i] = alphabet[below((uint32_t)strlen(alphabet))];
    bytes[0] = '{';
}

static void a_record_ends_where_a_walk_over_its_bytes_says(void **state)
{
    (void)state;
    random_state = 1;
    uint32_t closed_far = 0;
    for (int i = 0; i < TEXTS; i++) {
        const size_t len = 1 + below(LEN_MAX);
        char *bytes = malloc(len); /* exactly, so that a sanitizer sees a read past the end */
        make_text(bytes, len);
        const struct found expected = walk((struct fp_str){bytes, len});
        struct fp_st_scan scan = {.body = {bytes, len}};
        struct fp_st_record record;
        assert_int_equal(fp_st_scan_next(&scan, &record),
                         expected.closed ? FP_ST_SCAN_FOUND : FP_ST_SCAN_TRUNCATED);
        assert_int_equal(scan.at, expected.end);
        assert_int_equal(record.text.len, expected.end);
        if (expected.closed && !expected.is_odd) {
            assert_int_equal(record.depth, expected.depth);
            assert_int_equal(record.is_plain, expected.is_plain);
        }
        closed_far += expected.closed && expected.end > 2 * BLOCK_LEN;
        free(bytes);
    }
    assert_true(closed_far > TEXTS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_ends_where_a_walk_over_its_bytes_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
