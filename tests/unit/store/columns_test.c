/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: what flushes and packs write, and what housekeeping prunes, are columns of the schema.
 */
#include "tests/unit/unit.h"

#include "collector/pack/pack.h"
#include "collector/store/housekeeping.c"
#include "collector/store/schema_files.h"
#include "collector/store/tables.h"

enum { LINE_MAX_LEN = 200 };

/* Returns the line of a column in schema/objects, without "column TABLE.COLUMN "; fails if the
 * schema does not have it. */
static const char *column_type(const char *table, const char *column)
{
    static char type[LINE_MAX_LEN];
    char begin[LINE_MAX_LEN];
    snprintf(begin, sizeof(begin), "column %s.%s ", table, column);
    const char *at = strstr(fp_schema_objects, begin);
    if (at == NULL || (at != fp_schema_objects && at[-1] != '\n')) {
        fail_msg("schema/objects has no %s", begin);
        return "";
    }
    at += strlen(begin);
    snprintf(type, sizeof(type), "%.*s", (int)strcspn(at, "\n"), at);
    return type;
}

static void assert_type(const char *table, const char *column, const char *type)
{
    const char *found = column_type(table, column);
    if (strcmp(found, type) != 0)
        fail_msg("%s.%s is %s, not %s", table, column, found, type);
}

/* Finds the next line "column TABLE.NAME …". Returns what follows it; NULL: there is none. */
static const char *next_column(const char *at, const char *table, char name[LINE_MAX_LEN])
{
    char begin[LINE_MAX_LEN + sizeof("column .")];
    snprintf(begin, sizeof(begin), "column %s.", table);
    at = strstr(at, begin);
    if (at == NULL)
        return NULL;
    at += strlen(begin);
    snprintf(name, LINE_MAX_LEN, "%.*s", (int)strcspn(at, " "), at);
    return at;
}

/* Returns the type that a kind's column has in the schema. */
static const char *schema_type(enum fp_column_kind kind)
{
    const struct fp_column_type *type = fp_store_column_type(kind);
    if (type->cast != NULL)
        return type->cast;
    return kind == FP_COLUMN_TIME ? "timestamp with time zone" : type->name;
}

/* Columns that are narrower than what a flush sends. */
static bool is_narrow(const char *table, const char *column)
{
    return strcmp(table, "vital") == 0 &&
           (strcmp(column, "rating") == 0 || strcmp(column, "uploads") == 0 ||
            strcmp(column, "navigation") == 0);
}

static void each_column_of_a_flush_has_its_type(void **state)
{
    (void)state;
    for (enum fp_store_table_id id = 0; id < FP_STORE_TABLE_COUNT; id++) {
        const struct fp_store_table *table = fp_store_table(id);
        for (size_t i = 0; i < table->column_count; i++) {
            const struct fp_store_column *column = &table->columns[i];
            const bool may_lack = column->kind == FP_COLUMN_BIGINT_OR_NULL ||
                                  column->kind == FP_COLUMN_INTEGER_OR_NULL ||
                                  column->given_offset != 0;
            char type[LINE_MAX_LEN];
            snprintf(type, sizeof(type), "%s%s",
                     is_narrow(table->name, column->name) ? "smallint" : schema_type(column->kind),
                     may_lack ? "" : " not null");
            assert_type(table->name, column->name, type);
        }
    }
}

/* True for columns that the statements fill by themselves: days, and what a vital replaced; and for
 * the key of a frame's name, which the server makes. */
static bool is_filled_by_statement(const struct fp_store_table *table, const char *column)
{
    if (table->style == FP_STORE_TABLE_DICTIONARY)
        return strcmp(column, "last_seen") == 0 || strcmp(column, "name_key") == 0;
    if (table->style == FP_STORE_TABLE_LAST_VALUES &&
        (strncmp(column, "replaced_", strlen("replaced_")) == 0 || strcmp(column, "sent") == 0))
        return true;
    return fp_store_table_is_dated(table) && strcmp(column, "counted") == 0;
}

static void each_column_of_a_written_table_is_in_a_flush(void **state)
{
    (void)state;
    for (enum fp_store_table_id id = 0; id < FP_STORE_TABLE_COUNT; id++) {
        const struct fp_store_table *table = fp_store_table(id);
        char name[LINE_MAX_LEN];
        for (const char *at = fp_schema_objects;
             (at = next_column(at, table->name, name)) != NULL;) {
            const bool is_written = is_named(name, &table->columns[0].name,
                                             sizeof(table->columns[0]), table->column_count);
            if (is_written == is_filled_by_statement(table, name))
                fail_msg("%s.%s is written %s", table->name, name, is_written ? "twice" : "never");
        }
    }
}

static void each_column_of_a_pack_is_an_array_of_its_type(void **state)
{
    (void)state;
    static const char *const types[FP_PACK_TYPE_COUNT] = {
        [FP_PACK_KEY_ID] = "bigint[]",
        [FP_PACK_KEY_NUMBER] = "smallint[]",
        [FP_PACK_COUNT] = "integer[]",
        [FP_PACK_SUM] = "bigint[]",
        [FP_PACK_SQUARES] = "real[]",
        [FP_PACK_LEAST] = "bigint[]",
        [FP_PACK_DOUBLE] = "double precision[]",
        [FP_PACK_GREATEST] = "bigint[]",
    };
    static const char *const stages[] = {"recent", "hours", "days"};
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        const struct fp_pack_shape *shape = fp_pack_shape(kind);
        for (size_t stage = 0; stage < FP_COUNT(stages); stage++) {
            char table[LINE_MAX_LEN], name[LINE_MAX_LEN];
            size_t arrays = 0;
            snprintf(table, sizeof(table), "%s_%s", shape->name, stages[stage]);
            for (size_t i = 0; i < shape->column_count; i++)
                assert_type(table, shape->columns[i].name, types[shape->columns[i].type]);
            for (const char *at = fp_schema_objects; (at = next_column(at, table, name)) != NULL;)
                arrays += strstr(column_type(table, name), "[]") != NULL ? 1 : 0;
            assert_int_equal(arrays, shape->column_count);
        }
    }
}

/* Returns how many tables of the schema have the column. */
static size_t count_tables_with(const char *column)
{
    char text[LINE_MAX_LEN];
    size_t count = 0;
    snprintf(text, sizeof(text), ".%s ", column);
    for (const char *at = fp_schema_objects; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

static void each_book_is_pruned_by_the_day_it_notes(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(books); i++) {
        const bool is_day = strcmp(books[i].type, "date") == 0;
        assert_true(is_day || strcmp(books[i].type, "timestamptz") == 0);
        assert_type(books[i].name, "counted",
                    is_day ? "date not null" : "timestamp with time zone not null");
    }
    assert_int_equal(FP_COUNT(books), count_tables_with("counted"));
}

static void each_dictionary_is_pruned_by_its_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(dictionaries); i++) {
        char constraint[LINE_MAX_LEN];
        assert_type(dictionaries[i].name, "last_seen", "date not null");
        assert_type(dictionaries[i].name, dictionaries[i].key, "bigint not null");
        snprintf(constraint, sizeof(constraint), "\nconstraint %s.%s_pkey\n", dictionaries[i].name,
                 dictionaries[i].name);
        assert_non_null(strstr(fp_schema_objects, constraint));
    }
    assert_int_equal(FP_COUNT(dictionaries), count_tables_with("last_seen"));
}

/* A flush knows each dictionary's key; groups of segments are made by SQL. */
static void a_flush_and_housekeeping_have_the_same_keys(void **state)
{
    (void)state;
    static const char *const made_by_sql[] = {"cohort"};
    for (size_t i = 0; i < FP_COUNT(dictionaries); i++) {
        bool is_found = is_named(dictionaries[i].name, made_by_sql, sizeof(made_by_sql[0]), 1);
        for (enum fp_store_table_id id = 0; id < FP_STORE_TABLE_COUNT; id++) {
            const struct fp_store_table *table = fp_store_table(id);
            if (strcmp(table->name, dictionaries[i].name) != 0)
                continue;
            assert_int_equal(table->style, FP_STORE_TABLE_DICTIONARY);
            assert_true(table->columns[0].is_key);
            assert_string_equal(table->columns[0].name, dictionaries[i].key);
            is_found = true;
        }
        if (!is_found)
            fail_msg("no flush writes %s", dictionaries[i].name);
    }
}

/* Stacks name frames, frames name scripts. Only what sessions and uploads name outlives facts. */
static void rows_that_name_others_are_pruned_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(dictionaries); i++) {
        char name[LINE_MAX_LEN], others[LINE_MAX_LEN];
        for (size_t other = 0; other < i; other++)
            for (const char *at = fp_schema_objects;
                 (at = next_column(at, dictionaries[i].name, name)) != NULL;)
                if (strcmp(name, dictionaries[other].key) == 0)
                    fail_msg("%s is pruned before %s", dictionaries[other].name,
                             dictionaries[i].name);
        snprintf(others, sizeof(others), "column upload.%s ", dictionaries[i].key);
        assert_int_equal(dictionaries[i].outlives_all, strstr(fp_schema_objects, others) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_of_a_flush_has_its_type),
        cmocka_unit_test(each_column_of_a_written_table_is_in_a_flush),
        cmocka_unit_test(each_column_of_a_pack_is_an_array_of_its_type),
        cmocka_unit_test(each_book_is_pruned_by_the_day_it_notes),
        cmocka_unit_test(each_dictionary_is_pruned_by_its_key),
        cmocka_unit_test(a_flush_and_housekeeping_have_the_same_keys),
        cmocka_unit_test(rows_that_name_others_are_pruned_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
