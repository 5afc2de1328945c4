/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrubbed JSON: each row has a text and its result. ' instead of ".
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/json.h"
#include "collector/profile/scrub/secret.h"
#undef skip /* cmocka's */
#include "collector/profile/scrub/text.c"

#include <time.h>

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
    {"even a path alone may have a query", "{'path':'/search?q=secret'}", "{'path':'/search'}"},
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
    {"a secret's name as a value is not a secret", "['cookie','x']", "['cookie','x']"},
    {"an escaped quote does not end a name", "{'a\\'cookie':'x'}", "{'a\\'cookie':'x'}"},
    {"U+0000 is replaced, an escaped backslash before u0000 is not",
     "['a\\u0000b','c\\\\u0000d','\\\\\\u0000']", "['a\\ufffdb','c\\\\u0000d','\\\\\\ufffd']"},
    {"records on lines", "{'u':'http://a.example/?1'}\n{'Cookie':1}\n{'v':2}",
     "{'u':'http://a.example/'}\n{'Cookie':'(removed)'}\n{'v':2}"},
    {"the name of a member is scrubbed as a text",
     "{'https://a.example/?q=1':1,'a b':2,'x@y.org':3}",
     "{'https://a.example/':1,'a b':2,'(removed)':3}"},
    {"whatever the name is", "{'data:x,secret':1,'a\\nCookie: secret':{'sessionID':7}}", NULL},
    {"a list of headers, the value before the name",
     "[{'value':'a=b','name':'Cookie'},{'value':'c','comment':'x','name':'TOKEN'},"
     "{'value':'d','name':'Accept'}]",
     "[{'value':'(removed)','name':'Cookie'},{'value':'(removed)','comment':'x','name':'TOKEN'},"
     "{'value':'d','name':'Accept'}]"},
    {"a header's name is of its own object",
     "[{'name':'Cookie','a':{'name':'b'},'value':'c'},{'value':1},{'name':'user'},"
     "{'value':2,'name':'x'}]",
     "[{'name':'Cookie','a':{'name':'b'},'value':'(removed)'},{'value':1},{'name':'user'}"
     ","
     "{'value':2,'name':'x'}]"},
    {"a list of headers", "[{'name':'Cookie','value':'a=b'},{'name':'Accept','value':'*'}]",
     "[{'name':'Cookie','value':'(removed)'},{'name':'Accept','value':'*'}]"},
    {"passwords and who it is",
     "{'password':'p','users':1,'username':'u','email':{'a':'b'},'sid':'1','JSESSIONID':'x'}",
     "{'password':'(removed)','users':1,'username':'(removed)','email':'(removed)',"
     "'sid':'(removed)','JSESSIONID':'(removed)'}"},
    {"marks may have such names, their times stay", "{'login':[1,2],'token':[-1],'user':['x']}",
     "{'login':[1,2],'token':[-1],'user':'(removed)'}"},
    {"e-mail addresses", "['mail to jane.d+x@mail.example.org, or a@b.co.','to:x@y.org']",
     "['mail to (removed), or (removed).','to:(removed)']"},
    {"who it is, in a URL without a scheme", "['at //jane:secret@a.example/x']",
     "['at //(removed)/x']"},
    {"quotes as a saved page has them",
     "['{&quot;password&quot;:&quot;secret&quot;}','pwd=&quot;secret secret&quot; on',"
     "'{&quot;token&quot; : &quot;secret']",
     "['{&quot;password&quot;:(removed)','pwd=(removed) on','{&quot;token&quot; :(removed)']"},
    {"credentials need no domain", "['see //jane:secret@localhost/x','see //a@1/x']",
     "['see //(removed)/x','see //a@1/x']"},
    {"also in URLs", "['https://a.example/u/jane@b.example/x','mailto:jane@b.example?subject=hi']",
     "['https://a.example/u/(removed)/x','mailto:(removed)']"},
    {"also escaped", "['/u/jane%40b.example/x']", "['/u/(removed)/x']"},
    {"behind an escape", "['a\\njane@b.example','\\u0001jane@b.example','\\\\jane@b.example']",
     "['a\\n(removed)','\\u0001(removed)','\\\\(removed)']"},
    {"what only looks like one", "['logo@2x.png','vue@3.2.1/dist','lib@1.2.min.js','@media','a@b']",
     "['logo@2x.png','vue@3.2.1/dist','lib@1.2.min.js','@media','a@b']"},
    {"the query of a URL that has neither scheme nor a slash first",
     "['GET account?id=7&x=y HTTP/1.1','a[href=\\'reset?k=secret\\']','why? because = so']",
     "['GET account HTTP/1.1','a[href=\\'reset\\']','why? because = so']"},
    {"values of secrets in a text",
     "['token=abc&b=1 sessionID=1 password=\\'x y\\'; sid=1,2','a=b']",
     "['token=(removed)&b=1 sessionID=(removed) password=(removed); sid=(removed),2','a=b']"},
    {"values behind spaces and in quotes, whole",
     "['password = abc on','pwd=\\'a \\\\\\'b\\' on, user=`x y` on','token=\\'a b','token= ']",
     "['password =(removed) on','pwd=(removed) on, user=(removed) y` on','token=(removed)',"
     "'token= ']"},
    {"a session in a path", "['https://a.example/x;jsessionid=1A2B?y']", "['https://a.example/x']"},
    {"headers in a text, to the end of their line",
     "['GET / HTTP/1.1\\r\\nCookie: a=b; c=d\\r\\nAccept: x\\r\\nAuthorization: Basic abc']",
     "['GET / HTTP/1.1\\r\\nCookie:(removed)\\r\\nAccept: x\\r\\nAuthorization:(removed)']"},
    {"headers without a space, where a line begins",
     "['Cookie:a=b; c=d','x\\r\\nAUTHORIZATION:Basic abc\\nAccept:x','#cookie:hover','a Cookie:b']",
     "['Cookie:(removed)','x\\r\\nAUTHORIZATION:(removed)\\nAccept:x','#cookie:hover',"
     "'a Cookie:b']"},
    {"JSON in a text", "['got {\\'password\\':\\'x\\',\\'user\\':{}} back']",
     "['got {\\'password\\':(removed)']"},
    {"selectors keep their words", "['.login:hover, #password:focus > a:not(.user:first-child)']",
     "['.login:hover, #password:focus > a:not(.user:first-child)']"},
    {"bearer and web tokens",
     "['Bearer abc.def','sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc now','eyJ.','the key']",
     "['Bearer (removed)','sent (removed) now','eyJ.','the key']"},
    {"bearer tokens in any case and behind any space",
     "['bearer abc','BEARER  abc on','forbearer x','bearers','Bearer ']",
     "['bearer (removed)','BEARER  (removed) on','forbearer x','bearers','Bearer ']"},
    {"scripts and documents inside a text",
     "['click javascript:go(\\'secret b\\') on','\\njavascript:secret','\\ndata:,secret',"
     "'url(\\'data:text/css;charset=utf-8,secret <b>secret</b>\\')',' DATA:a/b;base64,secret']",
     NULL},
    {"what only looks like them",
     "['see data: a/b, c','a data:12,3','metadata:a/b,c','a javascript: "
     "yes','Xjavascript:a','a:b']",
     "['see data: a/b, c','a data:12,3','metadata:a/b,c','a javascript: "
     "yes','Xjavascript:a','a:b']"},
    {"a URL behind an escape", "['\\nhttp://a.example/?secret','\\\\http://a.example/?secret']",
     "['\\nhttp://a.example/','\\\\http://a.example/']"},
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
    const char *kept = out.len > 0 ? (const char *)out.data : input;
    snprintf(scrubbed, size, "%.*s", (int)(out.len > 0 ? out.len : strlen(input)), kept);
    fp_arena_release(&arena);
    fp_buf_release(&out);
}

static void each_row_becomes_what_it_says(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    int failed = 0;
    for (size_t i = 0; i < FP_COUNT(rows); i++) {
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
            print_error("%s: %s, not %s\n", rows[i].title, scrubbed, expected);
        failed += strcmp(scrubbed, expected) != 0;
    }
    assert_int_equal(failed, 0);
}

static void queries_stay_where_they_are_allowed(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {.keep_query = true};
    char scrubbed[512];
    scrub(&rules, "['https://a.example/?q=1#f']", scrubbed, sizeof(scrubbed));
    assert_string_equal(scrubbed, "[\"https://a.example/?q=1\"]");
}

static void an_escape_in_its_name_hides_no_secret(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{'Coo\\u006bie':'secret'}",
        "{'\\u0061uthorization': {'a':['secret']}}",
        "[{'n\\u0061me':'Set\\u002DCookie','valu\\u0065':'secret'}]",
    };
    for (size_t i = 0; i < FP_COUNT(documents); i++) {
        char scrubbed[512];
        scrub(NULL, documents[i], scrubbed, sizeof(scrubbed));
        assert_null(strstr(scrubbed, "secret"));
        assert_non_null(strstr(scrubbed, "(removed)"));
    }
    static const char *const others[] = {"['\\u0043', {'C\\u00':1}]", "{'\\u':'a','\\\\':1}"};
    for (size_t i = 0; i < FP_COUNT(others); i++) {
        char scrubbed[512];
        char expected[512];
        snprintf(expected, sizeof(expected), "%s", others[i]);
        quote(expected);
        scrub(NULL, others[i], scrubbed, sizeof(scrubbed));
        assert_string_equal(scrubbed, expected);
    }
}

static void each_secret_is_known_by_its_name(void **state)
{
    (void)state;
    static const char *const raw[] = {"Cookie",      "cookie2",       "Set-Cookie",
                                      "SET-COOKIE2", "Authorization", "proxy-authorization"};
    static const char *const scrubbed[] = {"jwt",
                                           "pwd",
                                           "sid",
                                           "auth",
                                           "csrf",
                                           "user",
                                           "token",
                                           "email",
                                           "login",
                                           "secret",
                                           "passwd",
                                           "apikey",
                                           "e-mail",
                                           "userid",
                                           "cookies",
                                           "api-key",
                                           "api_key",
                                           "user-id",
                                           "user_id",
                                           "idtoken",
                                           "postdata",
                                           "password",
                                           "username",
                                           "id-token",
                                           "id_token",
                                           "x-api-key",
                                           "authtoken",
                                           "csrftoken",
                                           "xsrftoken",
                                           "phpsessid",
                                           "user-name",
                                           "user_name",
                                           "jsessionid",
                                           "auth-token",
                                           "auth_token",
                                           "session-id",
                                           "session_id",
                                           "csrf-token",
                                           "csrf_token",
                                           "xsrf-token",
                                           "xsrf_token",
                                           "accesstoken",
                                           "headerstext",
                                           "x-auth-token",
                                           "x-csrf-token",
                                           "x-xsrf-token",
                                           "access-token",
                                           "access_token",
                                           "refreshtoken",
                                           "refresh-token",
                                           "refresh_token",
                                           "requestformdata",
                                           "requestheaderstext"};
    static const char *const none[] = {"",      "i",    "id",    "kie", "tokens",
                                       "cooki", "name", "value", "url"};
    for (size_t i = 0; i < FP_COUNT(raw); i++)
        assert_true(fp_scrub_is_secret(fp_str_of(raw[i]), false));
    for (size_t i = 0; i < FP_COUNT(scrubbed); i++) {
        if (!fp_scrub_is_secret(fp_str_of(scrubbed[i]), true) ||
            fp_scrub_is_secret(fp_str_of(scrubbed[i]), false))
            fail_msg("%s", scrubbed[i]);
    }
    for (size_t i = 0; i < FP_COUNT(none); i++)
        assert_false(fp_scrub_is_secret(fp_str_of(none[i]), true));
    /* Each row of the table is above. */
    char line[128];
    size_t row_count = 0;
    FILE *table = fopen(FP_TEST_DATA "/../../collector/profile/scrub/secret_names.gperf", "r");
    assert_non_null(table);
    while (fgets(line, sizeof(line), table) != NULL)
        row_count += strstr(line, ", true\n") != NULL || strstr(line, ", false\n") != NULL;
    assert_int_equal(fclose(table), 0);
    assert_int_equal(row_count, FP_COUNT(raw) + FP_COUNT(scrubbed));
}

/* As people name pictures for other resolutions, and versions of libraries. */
static void files_are_no_addresses(void **state)
{
    (void)state;
    static const char *const endings[] = {"png", "jpg",  "jpeg", "gif", "svg",  "webp", "ico",
                                          "js",  "mjs",  "ts",   "css", "json", "map",  "html",
                                          "htm", "woff", "ttf",  "mp3", "mp4",  "wasm"};
    const struct fp_scrub_rules rules = {0};
    assert_walks(file_endings, , endings, );
    for (size_t i = 0; i < FP_COUNT(endings); i++) {
        char text[64];
        char scrubbed[512];
        snprintf(text, sizeof(text), "[\"a@2x.%s\"]", endings[i]);
        scrub(&rules, text, scrubbed, sizeof(scrubbed));
        assert_string_equal(scrubbed, text);
        snprintf(text, sizeof(text), "[\"a@x2.%s\"]", endings[i]);
        scrub(&rules, text, scrubbed, sizeof(scrubbed));
        assert_null(strstr(scrubbed, "x2"));
    }
}

static void a_secret_ends_with_its_quotes(void **state)
{
    (void)state;
    static const char json[] = "[\"pwd='secret secret' a\",\"pwd=\\\"secret secret\\\" b\","
                               "\"pwd=&quot;secret secret&quot; c\"]";
    const struct fp_scrub_rules rules = {0};
    struct fp_arena arena;
    struct fp_buf out;
    fp_arena_init(&arena, 1 << 16);
    fp_buf_init(&out, 1 << 16);
    assert_true(fp_scrub_json(&rules, FP_STR(json), &arena, &out));
    fp_buf_add(&out, "", 1);
    assert_string_equal((const char *)out.data,
                        "[\"pwd=(removed) a\",\"pwd=(removed) b\",\"pwd=(removed) c\"]");
    fp_arena_release(&arena);
    fp_buf_release(&out);
}

static void raw_content_loses_cookies_and_nothing_else(void **state)
{
    (void)state;
    char scrubbed[512];
    scrub(NULL, "{'u':'http://a.example/?q\\u0000', 'Cookie' : 'a' ,'token':'t'} junk", scrubbed,
          sizeof(scrubbed));
    assert_string_equal(
        scrubbed,
        "{\"u\":\"http://a.example/?q\\u0000\", \"Cookie\" : \"(removed)\" ,\"token\":\"t\"} junk");
}

static void raw_content_loses_the_same_cookies_however_they_are_laid_out(void **state)
{
    (void)state;
    char scrubbed[512];
    scrub(NULL, "{'Cookie'\n:\n 'a',\n'b':[{'name':'Set-Cookie','value':'c'}],'password':'d'}",
          scrubbed, sizeof(scrubbed));
    assert_string_equal(scrubbed,
                        "{\"Cookie\"\n:\n \"(removed)\",\n\"b\":[{\"name\":\"Set-Cookie\","
                        "\"value\":\"(removed)\"}],\"password\":\"d\"}");
}

/* Returns the processor time for a text that repeats a piece, in seconds. */
static double seconds_for(const char *piece, size_t size)
{
    const struct fp_scrub_rules rules = {0};
    const size_t len = strlen(piece);
    struct fp_arena arena;
    struct fp_buf out;
    char *text = malloc(size);
    assert_non_null(text);
    text[0] = text[size - 1] = '"';
    for (size_t at = 1; at < size - 1; at++)
        text[at] = piece[(at - 1) % len];
    fp_arena_init(&arena, 64 << 20);
    fp_buf_init(&out, 64 << 20);
    const clock_t begin = clock();
    assert_true(fp_scrub_json(&rules, (struct fp_str){text, size}, &arena, &out));
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    fp_arena_release(&arena);
    fp_buf_release(&out);
    free(text);
    return seconds;
}

/* Texts that make each rule search far, again and again. */
static void takes_linear_time(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a%40",
                                         "a@b.",
                                         "a=",
                                         "token",
                                         ": ",
                                         "?",
                                         "/#",
                                         " /?",
                                         "/;a=",
                                         "eyJ",
                                         "bearer ",
                                         "://",
                                         "\\\\",
                                         "Cookie: ",
                                         "e",
                                         "sid=",
                                         "x.y@z.",
                                         "'",
                                         "user",
                                         "data:a/",
                                         "javascript:",
                                         "token='",
                                         "&quot;",
                                         "\"value\":\"x\",",
                                         "\"name\":\"token\",",
                                         "{\"name\":\"jwt\",",
                                         "{\"name\":\"jwt\"},"};
    enum { TIMES = 16, LEN = 1 << 20, TRIES = 4 };
    const double least = 0.001; /* a shorter time is noise */
    for (size_t i = 0; i < FP_COUNT(pieces); i++) {
        /* Linear time grows 16 times, quadratic 256 times. A busy machine may slow one try. */
        double growth = 2 * TIMES * TIMES;
        for (int try = 0; try < TRIES && growth > 4 * TIMES; try++)
            growth = seconds_for(pieces[i], LEN) / (seconds_for(pieces[i], LEN / TIMES) + least);
        if (growth > 4 * TIMES)
            fail_msg("%s: %d times the text takes %.0f times as long", pieces[i], TIMES, growth);
    }
}

/* However the text is truncated, nothing is read beyond its end. */
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

/* The text is searched in blocks. */
static void it_matters_not_where_in_a_text_something_stands(void **state)
{
    (void)state;
    static const char json[] = "{'a\\'b':'c\\\\','https://a.example/?q':1,'Cookie':['x','\\\\']}";
    static const char scrubbed[] = "{'a\\'b':'c\\\\','https://a.example/':1,'Cookie':'(removed)'}";
    const struct fp_scrub_rules rules = {0};
    for (int len = 0; len < 130; len++) {
        char before[512];
        char after[512];
        char out[512];
        snprintf(before, sizeof(before), "['%0*d']\n%s", len, 0, json);
        snprintf(after, sizeof(after), "['%0*d']\n%s", len, 0, scrubbed);
        quote(after);
        scrub(&rules, before, out, sizeof(out));
        assert_string_equal(out, after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_becomes_what_it_says),
        cmocka_unit_test(queries_stay_where_they_are_allowed),
        cmocka_unit_test(files_are_no_addresses),
        cmocka_unit_test(a_secret_ends_with_its_quotes),
        cmocka_unit_test(raw_content_loses_cookies_and_nothing_else),
        cmocka_unit_test(raw_content_loses_the_same_cookies_however_they_are_laid_out),
        cmocka_unit_test(each_secret_is_known_by_its_name),
        cmocka_unit_test(an_escape_in_its_name_hides_no_secret),
        cmocka_unit_test(it_matters_not_where_in_a_text_something_stands),
        cmocka_unit_test(takes_linear_time),
        cmocka_unit_test(any_part_of_a_text_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
