/* SPDX-License-Identifier: Apache-2.0 */
/* Merging Reporting-Endpoints: whose crash reports go where, and which URLs may be named. */
#include "header_policy/reporting_endpoints.c"

#include "test.h"

#define LINES_MAX 3
#define UPSTREAM FLEETPROF_CONFLICT_UPSTREAM
#define LOCAL FLEETPROF_CONFLICT_LOCAL
#define CHANGED FLEETPROF_CHANGED
#define UNCHANGED FLEETPROF_UNCHANGED
#define URL "https://collect.example/v1/reports/pk"
#define OURS "crash-reporting=\"" URL "\""

static char memory[FLEETPROF_FIELD_MAX];

struct merge_case {
    const char *upstream[LINES_MAX];
    enum fleetprof_conflict conflict;
    enum fleetprof_outcome outcome;
    const char *merged; /* when changed */
    bool upstream_decides;
};

static struct fleetprof_merge_result merge(struct fleetprof_lines upstream, const char *url,
                                           enum fleetprof_conflict conflict,
                                           struct fleetprof_buffer *out)
{
    const struct fleetprof_endpoint_request request = {upstream, text(url), conflict};

    return fleetprof_reporting_endpoints_merge(&request, out);
}

static void check_case(const struct merge_case *c)
{
    struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
    struct fleetprof_slice lines[LINES_MAX];
    struct fleetprof_lines upstream = {lines, 0};
    struct fleetprof_merge_result result;

    while (upstream.count < LINES_MAX && c->upstream[upstream.count] != NULL) {
        lines[upstream.count] = text(c->upstream[upstream.count]);
        upstream.count++;
    }
    result = merge(upstream, URL, c->conflict, &out);
    assert_int_equal(result.outcome, c->outcome);
    assert_int_equal(result.upstream_decides, c->upstream_decides);
    if (c->merged != NULL) {
        assert_text(fleetprof_buffer_text(&out), c->merged);
    }
}

static void merges_as_the_table_says(void **state)
{
    static const struct merge_case cases[] = {
        {{NULL}, UPSTREAM, CHANGED, OURS, false},
        {{"csp=\"/csp\""}, UPSTREAM, CHANGED, "csp=\"/csp\", " OURS, false},
        {{"a=\"/a\" ", "b=\"/b\";x"}, UPSTREAM, CHANGED, "a=\"/a\", b=\"/b\";x, " OURS, false},
        {{"crash-reporting=\"/own\""}, UPSTREAM, UNCHANGED, NULL, true},
        {{"default=\"/own\", a=\"/a\""}, UPSTREAM, UNCHANGED, NULL, true},
        {{"js-profiling=\"/p\""}, LOCAL, CHANGED, "js-profiling=\"/p\", " OURS, false},
        {{"a=\"/a\", crash-reporting=\"/own\", default=\"/d\""},
         LOCAL,
         CHANGED,
         "a=\"/a\", default=\"/d\", " OURS,
         false},
        {{OURS}, LOCAL, UNCHANGED, NULL, false},
        {{"a=\"/a"}, LOCAL, FLEETPROF_UNPARSABLE, NULL, false},
        {{"https://collect.example"}, UPSTREAM, FLEETPROF_UNPARSABLE, NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(&cases[i]);
    }
}

static void a_url_that_is_too_long_changes_nothing(void **state)
{
    static char url[FLEETPROF_ENDPOINT_MAX + 2];
    struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
    const struct fleetprof_lines none = {NULL, 0};

    (void)state;
    memset(url, 'x', sizeof(url) - 1);
    url[0] = '/';
    assert_int_equal(fleetprof_endpoint_check(text(url)), FLEETPROF_ENDPOINT_LONG);
    assert_int_equal(merge(none, url, UPSTREAM, &out).outcome, FLEETPROF_TOO_LONG);
    url[FLEETPROF_ENDPOINT_MAX] = '\0';
    assert_int_equal(fleetprof_endpoint_check(text(url)), FLEETPROF_ENDPOINT_OK);
    assert_int_equal(merge(none, url, UPSTREAM, &out).outcome, CHANGED);
}

static void endpoints_are_checked_and_each_refusal_says_what_would_be_right(void **state)
{
    static const struct {
        const char *url;
        enum fleetprof_endpoint_error error;
        const char *says;
    } cases[] = {
        {URL, FLEETPROF_ENDPOINT_OK, "fine"},
        {"/v1/reports/pk", FLEETPROF_ENDPOINT_OK, "fine"},
        {"http://localhost:8600/v1/reports/pk", FLEETPROF_ENDPOINT_OK, "fine"},
        {"http://127.0.0.1/r", FLEETPROF_ENDPOINT_OK, "fine"},
        {"http://[::1]:1/r", FLEETPROF_ENDPOINT_OK, "fine"},
        {"", FLEETPROF_ENDPOINT_SCHEME, "/v1/reports/KEY"},
        {"/", FLEETPROF_ENDPOINT_SCHEME, "/v1/reports/KEY"},
        {"//collect.example/r", FLEETPROF_ENDPOINT_SCHEME, "/v1/reports/KEY"},
        {"collect.example/r", FLEETPROF_ENDPOINT_SCHEME, "/v1/reports/KEY"},
        {"http://collect.example/r", FLEETPROF_ENDPOINT_INSECURE, "https"},
        {"http://localhost.example/r", FLEETPROF_ENDPOINT_INSECURE, "https"},
        {"https://collect.example/a b", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
        {"https://collect.example/\"", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
        {"https://collect.example/\\", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
        {"https://collect.example/#x", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
        {"https://collect.example/\r\n", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
        {"https://caf\xc3\xa9.example/", FLEETPROF_ENDPOINT_CHARACTER, "percent-encode"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(fleetprof_endpoint_check(text(cases[i].url)), cases[i].error);
        assert_non_null(strstr(fleetprof_endpoint_error_text(cases[i].error), cases[i].says));
    }
    assert_non_null(strstr(fleetprof_endpoint_error_text(FLEETPROF_ENDPOINT_LONG), "1024"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_as_the_table_says),
        cmocka_unit_test(a_url_that_is_too_long_changes_nothing),
        cmocka_unit_test(endpoints_are_checked_and_each_refusal_says_what_would_be_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
