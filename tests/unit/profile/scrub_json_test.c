/*
 * What is kept of a JSON document: each row a text and what it becomes. ' stands for ".
 */
#include "test.h"

#include "collector/profile/scrub_json.h"

struct row {
    const char *title;
    const char *json;
    const char *scrubbed;
};

static const struct row rows[] = {
    {"what holds neither URLs nor secrets stays", "{'type':3,'data':{'x':-1.5e3,'s':'a b'},'e':[]}",
     "{'type':3,'data':{'x':-1.5e3,'s':'a b'},'e':[]}"},
    {"the query and the fragment of a URL go", "{'url':'https://a.example/b?c=secret#d','n':1}",
     "{'url':'https://a.example/b','n':1}"},
    {"credentials go", "['https://user:pass@a.example/b']", "['https://a.example/b']"},
    {"a URL inside a text",
     "{'message':'GET http://a.example/x?y=1 took 3 ms, http://b.example/?z'}",
     "{'message':'GET http://a.example/x took 3 ms, http://b.example/'}"},
    {"a quoted quote ends a URL", "['see \\'http://a.example/?q=1\\' now']",
     "['see \\'http://a.example/\\' now']"},
    {"a path alone may have a query, too", "{'path':'/search?q=secret'}", "{'path':'/search'}"},
    {"so may a query alone", "{'search':'?q=secret'}", "{'search':''}"},
    {"what a data: URL holds goes", "['data:text/plain,secret']", NULL},
    {"a blob: URL is its origin", "['blob:https://a.example/1234-5678']",
     "['blob:https://a.example']"},
    {"the script in a javascript: URL goes", "['javascript:alert(1)']", "['javascript:']"},
    {"cookies go, whatever their case and kind",
     "{'headers':{'Cookie':'a=b','SET-COOKIE':['c','d'],'Accept':'*/*'}}",
     "{'headers':{'Cookie':'(removed)','SET-COOKIE':'(removed)','Accept':'*/*'}}"},
    {"so do authorization, form data and tokens",
     "{'Authorization':'Bearer x','requestFormData':{'a':{'b':']}'}},'token':7,'last':1}",
     "{'Authorization':'(removed)','requestFormData':'(removed)','token':'(removed)','last':1}"},
    {"a secret's name as a value is no secret", "['cookie','x']", "['cookie','x']"},
    {"an escaped quote does not end a name", "{'a\\'cookie':'x'}", "{'a\\'cookie':'x'}"},
    {"U+0000 is replaced, an escaped backslash before u0000 is not",
     "['a\\u0000b','c\\\\u0000d','\\\\\\u0000']", "['a\\ufffdb','c\\\\u0000d','\\\\\\ufffd']"},
    {"records on lines", "{'u':'http://a.example/?1'}\n{'Cookie':1}\n{'v':2}",
     "{'u':'http://a.example/'}\n{'Cookie':'(removed)'}\n{'v':2}"},
    {"nothing", "", ""},
};

static void quote(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            *text = '"';
}

static void scrub(const struct fp_scrub_rules *rules, const char *json, char *scrubbed, size_t size)
{
    char input[512];
    snprintf(input, sizeof(input), "%s", json);
    quote(input);
    struct fp_arena arena;
    struct fp_buf out;
    fp_arena_init(&arena, 1 << 16);
    fp_buf_init(&out, 1 << 16);
    if (rules != NULL)
        assert_true(fp_scrub_json(rules, fp_str_of(input), &arena, &out));
    else
        fp_scrub_json_secrets(fp_str_of(input), &out);
    assert_false(out.failed);
    snprintf(scrubbed, size, "%.*s", (int)out.len, (const char *)out.data);
    fp_arena_release(&arena);
    fp_buf_release(&out);
}

static void each_row_becomes_what_it_says(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char scrubbed[512];
        char expected[512];
        scrub(&rules, rows[i].json, scrubbed, sizeof(scrubbed));
        if (rows[i].scrubbed == NULL) {
            assert_null(strstr(scrubbed, "secret"));
            continue;
        }
        snprintf(expected, sizeof(expected), "%s", rows[i].scrubbed);
        quote(expected);
        if (strcmp(scrubbed, expected) != 0)
            print_error("%s\n", rows[i].title);
        assert_string_equal(scrubbed, expected);
    }
}

static void queries_stay_where_they_are_allowed(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {.keep_query = true};
    char scrubbed[512];
    scrub(&rules, "['https://a.example/?q=1#f']", scrubbed, sizeof(scrubbed));
    assert_string_equal(scrubbed, "[\"https://a.example/?q=1\"]");
}

static void raw_content_loses_cookies_and_nothing_else(void **state)
{
    (void)state;
    char scrubbed[512];
    scrub(NULL, "{'u':'http://a.example/?q\\u0000', 'Cookie' : 'a' ,'token':'t'} junk", scrubbed,
          sizeof(scrubbed));
    assert_string_equal(
        scrubbed,
        "{\"u\":\"http://a.example/?q\\u0000\", \"Cookie\" :\"(removed)\",\"token\":\"t\"} junk");
}

/* Whatever is cut off, nothing is read beyond the end. */
static void any_part_of_a_text_is_survived(void **state)
{
    (void)state;
    const char *json = "{\"Cookie\":{\"a\":[\"\\\\\"]},\"u\":\"x http://u:p@h/?q\\u0000\\\"\"}";
    const struct fp_scrub_rules rules = {0};
    for (size_t len = 0; len <= strlen(json); len++) {
        char *exact = malloc(len > 0 ? len : 1);
        memcpy(exact, json, len);
        struct fp_arena arena;
        struct fp_buf out;
        fp_arena_init(&arena, 1 << 16);
        fp_buf_init(&out, 1 << 16);
        assert_true(fp_scrub_json(&rules, (struct fp_str){exact, len}, &arena, &out));
        fp_arena_release(&arena);
        fp_buf_release(&out);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_becomes_what_it_says),
        cmocka_unit_test(queries_stay_where_they_are_allowed),
        cmocka_unit_test(raw_content_loses_cookies_and_nothing_else),
        cmocka_unit_test(any_part_of_a_text_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
