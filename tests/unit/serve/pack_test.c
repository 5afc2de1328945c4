/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack: the bytes of a small file, and trees that stay as they are. serve_saved.test.mjs reads
 * large files back.
 */
#include "tests/unit/unit.h"

#include "cli/kit/memory.c"
#include "cli/kit/message.c"
#include "cli/kit/terminal_words.c"
#include "cli/serve/pack.c"

#define FRAMES(keys)                                                                               \
    "\"frames\":{\"function\":[\"a\",\"b\",\"c\"],\"resource\":[null,\"x.js\",\"x.js\"],"          \
    "\"line\":[null,1,2],\"column_number\":[null,3,4],\"kind\":[\"gc\",\"function\",\"function\"]" \
    ","                                                                                            \
    "\"function_key\":[" keys "],\"generated_resource\":[null,null,null],"                         \
    "\"generated_line\":[null,null,null],\"generated_column\":[null,null,null]}"
#define KEYS "\"-2\",\"5\",\"-2\""

/* Packs one answer and compares what there is up to the shared frames. */
static void expect_answer(const char *answer, const char *expected)
{
    struct fp_packing packing;
    fp_packing_init(&packing, 1024 * 1024);
    fp_packing_add(&packing, fp_str_of("/x"), fp_str_of(answer));
    assert_true(fp_packing_end(&packing));
    char *text = strdup((const char *)packing.text.data);
    *strstr(text, "},\"frames\":") = '\0';
    assert_string_equal(text + strlen("{\"answers\":{\"/x\":"), expected);
    free(text);
    fp_packing_release(&packing);
}

static void writes_columns_after_the_json(void **state)
{
    (void)state;
    struct fp_packing packing;
    fp_packing_init(&packing, 1024 * 1024);
    /* (all) 900 µs, of it left out 100: b 500 (itself 300, left out 0, calls c 200); c 300. */
    const char *answer =
        "{\"tree\":{\"level\":[0,1,2,1],\"frame\":[-1,1,2,2],\"self\":[0,300,200,300],"
        "\"total\":[900,500,200,300],\"samples\":[9,5,2,4]," FRAMES(KEYS) ",\"omitted_us\":100}}";
    fp_packing_add(&packing, fp_str_of("/x"), fp_str_of(answer));
    fp_packing_add(&packing, fp_str_of("/y"), fp_str_of("{\"rows\":[[1.5,null]],\"sql\":\"s\"}"));
    assert_true(fp_packing_end(&packing));
    const char *json =
        "{\"answers\":{\"/x\":{\"tree\":{\"packed\":{\"nodes\":4,\"unit_us\":100,\"sample_us\":100,"
        "\"least_self_us\":200,\"least_rest_us\":100},\"omitted_us\":100}},\n"
        "\"/y\":{\"rows\":[[1.5,null]],\"sql\":\"s\"}},\"frames\":{\"function\":[\"b\",\"c\"],"
        "\"resource\":[\"x.js\",\"x.js\"],\"line\":[1,2],\"column_number\":[3,4],"
        "\"kind\":[\"function\",\"function\"],\"generated_resource\":[null,null],"
        "\"generated_line\":[null,null],\"generated_column\":[null,null]}}";
    assert_string_equal((const char *)packing.text.data, json);
    static const uint8_t columns[] = {
        0,    0,                                        /* both keys are new */
        5,    0,    0,    0,    0,    0,    0,    0,    /* of b */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* of c */
        2,    1,    9,    1,                            /* 9: itself, and two levels up */
        0,    0,    0,                                  /* each is called for the first time */
        0,    0,    2,                                  /* b and c are new, then c again */
        1,    0,    1,                                  /* self: 300, 200, 300 */
        0,                                              /* left out: 100 */
        1,    0,    0,    2, /* own samples: 0 in place of 1, 3, 2, 4 in place of 3 */
    };
    size_t at = strlen(json) + 1;
    assert_int_equal(packing.text.len - at, sizeof(columns));
    assert_memory_equal(packing.text.data + at, columns, sizeof(columns));
    fp_packing_release(&packing);
}

static void trees_that_are_not_as_expected_stay_as_they_are(void **state)
{
    (void)state;
    static const char *const trees[] = {
        "null",
        "{\"level\":[],\"frame\":[],\"self\":[],\"total\":[],\"samples\":[]," FRAMES(KEYS) "}",
        "{\"level\":[0,2],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES(KEYS) "}",
        "{\"level\":[0,0],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,3],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,-1],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]," FRAMES(
            KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1.5],\"total\":[1.5,1.5],\"samples\":[1,1]"
        "," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1125899906842625,1],"
        "\"samples\":[1,1]," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[18446744073709551615,1],"
        "\"samples\":[1,1]," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[-1125899906842624,1],\"total\":["
        "1125899906842624,1],\"samples\":[1,1]," FRAMES(KEYS) "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES("\"1\",\"2\",\"x\"") "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES("\"1\",\"2\",\"02\"") "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES("\"1\",\"2\",null") "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES("\"1\",\"2\",\"9223372036854775808\"") "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]"
        "," FRAMES("\"1\",\"2\"") "}",
        "{\"level\":[0,1],\"frame\":[-1,0],\"self\":[0,1],\"total\":[1,1],\"samples\":[1,1]}",
    };
    for (size_t i = 0; i < FP_COUNT(trees); i++) {
        char *answer = fp_memory_print("{\"tree\":%s}", trees[i]);
        expect_answer(answer, answer);
        free(answer);
    }
}

static void a_file_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct fp_packing packing;
    fp_packing_init(&packing, 64);
    for (size_t i = 0; i < 3; i++)
        fp_packing_add(&packing, fp_str_of("/x"),
                       fp_str_of("{\"sql\":\"a statement of some length\"}"));
    assert_false(fp_packing_end(&packing));
    fp_packing_release(&packing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_columns_after_the_json),
        cmocka_unit_test(trees_that_are_not_as_expected_stay_as_they_are),
        cmocka_unit_test(a_file_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
