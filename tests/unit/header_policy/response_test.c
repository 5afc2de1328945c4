/* SPDX-License-Identifier: Apache-2.0 */
/* Which responses carry a policy, and which ones shared caches may store. */
#include "header_policy/response.c"

#include "test.h"

#define LINES_MAX 3

static void documents_and_worker_scripts_carry_a_policy(void **state)
{
    static const struct {
        const char *content_type;
        const char *sec_fetch_dest;
        const char *accept;
        bool not_modified;
        bool has_policy;
        const char *sec_fetch_mode;
    } cases[] = {
        {"text/html", "", "", false, true, ""},
        {"text/html; charset=utf-8", "", "", false, true, ""},
        {"Text/HTML ;charset=utf-8", "", "", false, true, ""},
        {"application/xhtml+xml", "", "", false, true, ""},
        {"text/html5", "", "", false, false, ""},
        {"text/htm", "", "", false, false, ""},
        {"text/plain", "document", "text/html", false, false, ""},
        {"", "document", "text/html", false, false, ""},
        {"text/html", "empty", "", false, true, ""},
        {"text/javascript", "worker", "", false, true, ""},
        {"text/javascript", "SharedWorker", "", false, true, ""},
        {"text/javascript", "serviceworker", "", false, false, ""},
        {"text/javascript", "script", "", false, false, ""},
        {"", "worker", "", true, true, ""},
        {"", "document", "", true, true, ""},
        {"", "iframe", "", true, true, ""},
        {"", "frame", "", true, true, ""},
        {"", "embed", "", true, true, ""},
        {"", "object", "", true, true, ""},
        {"", "image", "text/html", true, false, ""},
        {"", "", "text/html,application/xml;q=0.9", true, true, ""},
        {"", "", "image/png, Text/HTML;q=0.5", true, true, ""},
        {"", "", "*/*", true, false, ""},
        {"", "", "", true, false, ""},
        {"image/png", "document", "text/html", true, false, ""},
        {"text/html", "", "", true, true, ""},
        {"", "document", "", true, true, "navigate"},
        {"", "empty", "", true, true, "navigate"},
        {"", "empty", "*/*", true, true, "Navigate"},
        {"", "", "", true, true, "navigate"},
        {"", "empty", "text/html,*/*;q=0.8", true, true, "same-origin"},
        {"", "Empty", "text/html", true, true, "cors"},
        {"", "empty", "*/*", true, false, "cors"},
        {"", "empty", "", true, false, "same-origin"},
        {"", "image", "text/html", true, false, "no-cors"},
        {"image/png", "empty", "text/html", true, false, "navigate"},
        {"application/json", "empty", "text/html", false, false, "navigate"},
        {"", "empty", "text/html", false, false, "navigate"},
        {"text/html", "empty", "", false, true, "navigate"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_exchange exchange = {
            text(cases[i].content_type), text(cases[i].sec_fetch_dest),
            text(cases[i].sec_fetch_mode), text(cases[i].accept), cases[i].not_modified};

        if (fleetprof_has_policy(&fleetprof_default_types, &exchange) != cases[i].has_policy) {
            fail_msg("case %zu: %s", i, cases[i].content_type);
        }
    }
}

static void an_absent_content_type_is_no_document(void **state)
{
    struct fleetprof_exchange exchange = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, false};

    (void)state;
    assert_false(fleetprof_has_policy(&fleetprof_default_types, &exchange));
    exchange.not_modified = true;
    assert_false(fleetprof_has_policy(&fleetprof_default_types, &exchange));
}

static void other_types_can_be_documents(void **state)
{
    static const struct fleetprof_slice list[] = {{"image/svg+xml", 13}, {"text/html", 9}};
    const struct fleetprof_types types = {list, COUNT(list), false};
    const struct fleetprof_types any = {NULL, 0, true};
    struct fleetprof_exchange exchange = {text("Image/SVG+xml; charset=utf-8"), text(""), text(""),
                                          text(""), false};

    (void)state;
    assert_true(fleetprof_has_policy(&types, &exchange));
    assert_false(fleetprof_has_policy(&fleetprof_default_types, &exchange));
    exchange.content_type = text("application/xhtml+xml");
    assert_false(fleetprof_has_policy(&types, &exchange));
    assert_true(fleetprof_has_policy(&any, &exchange));
    exchange = (struct fleetprof_exchange){text(""), text(""), text(""), text("*/*"), true};
    assert_true(fleetprof_has_policy(&any, &exchange));
    assert_false(fleetprof_has_policy(&types, &exchange));
    exchange.accept = text("image/svg+xml;q=0.9, */*");
    assert_true(fleetprof_has_policy(&types, &exchange));
    assert_false(fleetprof_has_policy(&fleetprof_default_types, &exchange));
}

static void configured_types_are_checked(void **state)
{
    static const struct {
        const char *type;
        enum fleetprof_type_error expected;
    } cases[] = {
        {"text/html", FLEETPROF_TYPE_OK},
        {"Application/Vnd.x-1+XML", FLEETPROF_TYPE_OK},
        {"", FLEETPROF_TYPE_SYNTAX},
        {"html", FLEETPROF_TYPE_SYNTAX},
        {"text/", FLEETPROF_TYPE_SYNTAX},
        {"/html", FLEETPROF_TYPE_SYNTAX},
        {"text/html/x", FLEETPROF_TYPE_SYNTAX},
        {"text/ht ml", FLEETPROF_TYPE_SYNTAX},
        {"text/html,", FLEETPROF_TYPE_SYNTAX},
        {"text/html;charset=utf-8", FLEETPROF_TYPE_PARAMETER},
        {"text/*", FLEETPROF_TYPE_WILDCARD},
        {"*/*", FLEETPROF_TYPE_WILDCARD},
        {"*", FLEETPROF_TYPE_WILDCARD},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (fleetprof_type_check(text(cases[i].type)) != cases[i].expected) {
            fail_msg("case %zu: %s", i, cases[i].type);
        }
    }
    for (int i = FLEETPROF_TYPE_OK; i < FLEETPROF_TYPE_WILDCARD; i++) {
        assert_string_not_equal(fleetprof_type_error_text((enum fleetprof_type_error)i),
                                fleetprof_type_error_text((enum fleetprof_type_error)(i + 1)));
    }
}

static void reads_from_cache_control_if_shared_caches_may_store(void **state)
{
    static const struct {
        const char *lines[LINES_MAX];
        bool shared;
    } cases[] = {
        {{NULL}, false},
        {{""}, false},
        {{"public"}, true},
        {{"Public"}, true},
        {{"x, public"}, true},
        {{"public-x"}, false},
        {{"s-maxage=10"}, true},
        {{"private, s-maxage=10"}, true},
        {{"max-age=60"}, true},
        {{"max-age=\"60\""}, true},
        {{"max-age=060"}, true},
        {{"max-age=0"}, false},
        {{"max-age=00"}, false},
        {{"max-age=\"0\""}, false},
        {{"max-age="}, false},
        {{"max-age=x"}, false},
        {{"max-age"}, false},
        {{"max-age=0, max-age=1"}, true},
        {{"max-age=1, max-age=0"}, true},
        {{"max-age=60, private"}, false},
        {{"private", "max-age=60"}, false},
        {{"no-cache", "max-age=60"}, true},
        {{"max-age=60, private=\"set-cookie, x\""}, true},
        {{"private=\"public\""}, false},
        {{"x=\"a, public, \\\", public\", private"}, false},
        {{"x=\"public"}, false},
        {{"x=\"\\"}, false},
        {{"public, no-store"}, false},
        {{"no-store, max-age=60"}, false},
        {{"no-cache"}, false},
        {{" , ,"}, false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_cache_control control = {0};

        for (size_t line = 0; line < LINES_MAX && cases[i].lines[line] != NULL; line++) {
            fleetprof_cache_control_add(&control, FLEETPROF_SLICE("Cache-Control"),
                                        text(cases[i].lines[line]));
        }
        if (fleetprof_cache_control_is_shared(&control) != cases[i].shared) {
            fail_msg("case %zu: %s", i, cases[i].lines[0]);
        }
    }
}

static void fields_for_cdns_override_the_one_for_all(void **state)
{
    static const struct {
        const char *name;
        const char *line;
        bool shared;
    } cases[] = {
        {"CDN-Cache-Control", "max-age=60", true},
        {"cdn-cache-control", "public", true},
        {"Vercel-CDN-Cache-Control", "s-maxage=60", true},
        {"Surrogate-Control", "max-age=60+30, content=\"ESI/1.0\"", true},
        {"CDN-Cache-Control", "max-age=0", false},
        {"CDN-Cache-Control", "no-store, max-age=60", false},
        {"-Cache-Control", "public", false},
        {"CDNCache-Control", "public", false},
        {"CDN-Cache-Controls", "public", false},
        {"X-Surrogate-Control", "public", false},
        {"", "public", false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_cache_control control = {0};

        fleetprof_cache_control_add(&control, FLEETPROF_SLICE("Cache-Control"), text("no-store"));
        fleetprof_cache_control_add(&control, text(cases[i].name), text(cases[i].line));
        if (fleetprof_cache_control_is_shared(&control) != cases[i].shared) {
            fail_msg("%s: %s", cases[i].name, cases[i].line);
        }
    }
}

static void a_date_counts_where_no_age_is_given(void **state)
{
    static const struct {
        const char *line;
        bool shared;
    } cases[] = {
        {"", true},           {"no-transform", true}, {"private", false},
        {"max-age=0", false}, {"no-store", false},    {"max-age=60, private", false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_cache_control control = {0};

        control.expires = true;
        fleetprof_cache_control_add(&control, FLEETPROF_SLICE("Cache-Control"),
                                    text(cases[i].line));
        if (fleetprof_cache_control_is_shared(&control) != cases[i].shared) {
            fail_msg("%s", cases[i].line);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_and_worker_scripts_carry_a_policy),
        cmocka_unit_test(an_absent_content_type_is_no_document),
        cmocka_unit_test(other_types_can_be_documents),
        cmocka_unit_test(configured_types_are_checked),
        cmocka_unit_test(reads_from_cache_control_if_shared_caches_may_store),
        cmocka_unit_test(fields_for_cdns_override_the_one_for_all),
        cmocka_unit_test(a_date_counts_where_no_age_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
