/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: a value of each type of PostgreSQL as JSON.
 */
#include "tests/unit/unit.h"

#include "cli/serve/cell.c"

/* Returns what one value becomes; the caller frees it. */
static char *written(Oid type, const char *text)
{
    char name[] = "value";
    PGresAttDesc column = {.name = name, .typid = type, .atttypmod = -1, .typlen = -1};
    PGresult *row = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    char copy[256];
    (void)snprintf(copy, sizeof(copy), "%s", text != NULL ? text : "");
    assert_int_equal(PQsetResultAttrs(row, 1, &column), 1);
    assert_int_equal(
        PQsetvalue(row, 0, 0, text != NULL ? copy : NULL, text != NULL ? (int)strlen(copy) : -1),
        1);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    char *json = yyjson_mut_val_write(fp_cell_value(doc, row, 0), 0, NULL);
    yyjson_mut_doc_free(doc);
    PQclear(row);
    return json;
}

static void assert_written(Oid type, const char *text, const char *expected)
{
    char *json = written(type, text);
    if (json == NULL || strcmp(json, expected) != 0)
        fail_msg("%s of type %u is %s, not %s", text != NULL ? text : "NULL", (unsigned)type,
                 json != NULL ? json : "NULL", expected);
    free(json);
}

static void each_type_has_its_number_and_form(void **state)
{
    (void)state;
    static const struct {
        const char *name; /* as format_type has it */
        Oid oid;          /* as pg_type has it */
        const char *text;
        const char *json;
    } cases[] = {
        {"text", 25, "a \"b\"", "\"a \\\"b\\\"\""},
        {"boolean", 16, "t", "true"},
        {"bigint", 20, "9007199254740991", "9007199254740991"},
        {"smallint", 21, "-3", "-3"},
        {"integer", 23, "7", "7"},
        {"real", 700, "1.5", "1.5"},
        {"double precision", 701, "2.5e-3", "2.5e-3"},
        {"numeric", 1700, "12.30", "12.30"},
        {"json", 114, "{\"a\":[1]}", "{\"a\":[1]}"},
        {"jsonb", 3802, "[null]", "[null]"},
        {"timestamp with time zone", 1184, "2026-01-31 12:00:00.5+00",
         "\"2026-01-31T12:00:00.5Z\""},
        {"tstzrange", 3910, "[\"2026-01-31 12:00:00+00\",)", "[\"2026-01-31T12:00:00Z\",null]"},
        {"date", 1082, "2026-01-31", "\"2026-01-31\""},
        {"uuid", 2950, "11111111-2222-4333-8444-555555555555",
         "\"11111111-2222-4333-8444-555555555555\""},
        /* "kept", by zstd without compression */
        {"bytea", 17,
         "\\x28b52ffd2004210000"
         "6b657074",
         "\"kept\""},
    };
    assert_walks(types, .name, cases, .name);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        assert_string_equal(fp_cell_type(cases[i].oid), cases[i].name);
        assert_written(cases[i].oid, cases[i].text, cases[i].json);
        assert_written(cases[i].oid, NULL, "null");
    }
    assert_string_equal(fp_cell_type(600), "text");
}

static void writes_values_that_json_cannot_hold_as_text_or_null(void **state)
{
    (void)state;
    assert_written(20, "9007199254740992", "\"9007199254740992\"");
    assert_written(701, "NaN", "null");
    assert_written(701, "-Infinity", "null");
    assert_written(16, "f", "false");
    assert_written(1184, "infinity", "\"infinity\"");
    assert_written(3910, "empty", "null");
    assert_written(17, "\\x00", "null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_number_and_form),
        cmocka_unit_test(writes_values_that_json_cannot_hold_as_text_or_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
