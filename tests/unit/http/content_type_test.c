/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content types: media types in any case, parameters in any order, boundaries quoted or not.
 */
#include "tests/unit/unit.h"

#include "collector/http/content_type.c"

static void knows_the_types_of_the_contract(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        enum fp_content_type type;
    } cases[] = {
        {"", FP_CONTENT_PLAIN},
        {"application/json", FP_CONTENT_PLAIN},
        {"APPLICATION/JSON", FP_CONTENT_PLAIN},
        {" application/json ;charset=utf-8", FP_CONTENT_PLAIN},
        {"text/plain;charset=UTF-8", FP_CONTENT_PLAIN},
        {"application/octet-stream", FP_CONTENT_PLAIN},
        {"application/x-ndjson", FP_CONTENT_PLAIN},
        {"application/reports+json", FP_CONTENT_PLAIN},
        {";charset=utf-8", FP_CONTENT_PLAIN},
        {"application/x-www-form-urlencoded", FP_CONTENT_UNSUPPORTED},
        {"application/jsonp", FP_CONTENT_UNSUPPORTED},
        {"application/jso", FP_CONTENT_UNSUPPORTED},
        {"text/html", FP_CONTENT_UNSUPPORTED},
        {"multipart/mixed; boundary=x", FP_CONTENT_UNSUPPORTED},
        {"json", FP_CONTENT_UNSUPPORTED},
        {"\"application/json\"", FP_CONTENT_UNSUPPORTED},
        {"multipart/form-data; boundary=x", FP_CONTENT_MULTIPART},
        {"multipart/form-data", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; boundary=", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; boundary=\"\"", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; boundary=\"x", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; boundary=\"x \"", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; xboundary=x", FP_CONTENT_MULTIPART_BROKEN},
        {"multipart/form-data; boundary=a\xc3\xa9", FP_CONTENT_MULTIPART_BROKEN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fp_str boundary;
        assert_int_equal(fp_content_type_read(fp_str_of(cases[i].header), &boundary),
                         cases[i].type);
    }
}

static void finds_the_boundary(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        const char *boundary;
    } cases[] = {
        {"multipart/form-data; boundary=----WebKitFormBoundaryrcAsDClWFIRROQwh",
         "----WebKitFormBoundaryrcAsDClWFIRROQwh"},
        {"Multipart/Form-Data;BOUNDARY=x;charset=utf-8", "x"},
        {"multipart/form-data; charset=utf-8 ; boundary = \"a b\" ", "a b"},
        {"multipart/form-data; a=\";boundary=no\"; boundary=\"y;=z\"", NULL},
        {"multipart/form-data; a=\";boundary=no\"; boundary=\"y:=z\"", "y:=z"},
        {"multipart/form-data; boundary=first; boundary=second", "first"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fp_str boundary = FP_STR("");
        enum fp_content_type type = fp_content_type_read(fp_str_of(cases[i].header), &boundary);
        if (cases[i].boundary == NULL) {
            assert_int_equal(type, FP_CONTENT_MULTIPART_BROKEN);
            continue;
        }
        assert_int_equal(type, FP_CONTENT_MULTIPART);
        assert_true(fp_str_equal(boundary, fp_str_of(cases[i].boundary)));
    }
}

static void a_boundary_has_seventy_characters_at_most(void **state)
{
    (void)state;
    char text[72];
    memset(text, 'b', sizeof(text));
    assert_true(fp_multipart_boundary_ok((struct fp_str){text, 70}));
    assert_false(fp_multipart_boundary_ok((struct fp_str){text, 71}));
    assert_false(fp_multipart_boundary_ok((struct fp_str){"a\0b", 3}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_types_of_the_contract),
        cmocka_unit_test(finds_the_boundary),
        cmocka_unit_test(a_boundary_has_seventy_characters_at_most),
    };
    return cmocka_run_group_tests_name("http_content_type", tests, NULL, NULL);
}
