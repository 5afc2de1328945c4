/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: what loads, the message for every mistake, and what a reload keeps.
 */
#include "tests/unit/unit.h"

#include "collector/base/clock.h"
#include "collector/config/config.c"
#include "collector/format/format.h"

#include "bad_cases.h"

#include <netinet/in.h>
#include <unistd.h>

#define THREE_LINES "listen: 127.0.0.1:8600\ndatabase: dbname=x\nspool: {path: /s}\n"
#define FOUR_LINES THREE_LINES "sites: [{name: a, key: k}]\n"

static struct fp_buf errors;
static char file[] = "/tmp/fleetprof-config-test-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    fp_buf_init(&errors, 64 * 1024);
    int fd = mkstemp(file);
    return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    fp_buf_release(&errors);
    return unlink(file);
}

/* Loads a configuration given as two texts, joined. */
static struct fp_config *load(const char *first, const char *second)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_true(fputs(first, stream) >= 0 && fputs(second, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    fp_buf_clear(&errors);
    return fp_config_load(file, &errors);
}

static struct fp_config *load_good(const char *first, const char *second)
{
    struct fp_config *config = load(first, second);
    if (config == NULL)
        fail_msg("%.*s", (int)errors.len, (const char *)errors.data);
    return config;
}

/* Returns the errors, without the file's name in front of each line. */
static void said(char *text, size_t size)
{
    size_t len = 0;
    const char *at = (const char *)errors.data;
    const char *end = at + errors.len;
    while (at < end) {
        size_t line_len = (size_t)((const char *)memchr(at, '\n', (size_t)(end - at)) + 1 - at);
        size_t skip = strlen(file) + 1;
        assert_true(line_len > skip && memcmp(at, file, skip - 1) == 0);
        assert_true(len + line_len - skip < size);
        memcpy(text + len, at + skip, line_len - skip);
        len += line_len - skip;
        at += line_len;
    }
    text[len] = '\0';
}

static void says_where_and_what_is_wrong(void **state)
{
    (void)state;
    static const char *const bases[] = {[ADDED] = FOUR_LINES, [SITES] = THREE_LINES, [WHOLE] = ""};
    size_t count = sizeof(bad_cases) / sizeof(bad_cases[0]);
    assert_true(count >= 50);
    for (size_t i = 0; i < count; i++) {
        char text[4096];
        assert_null(load(bases[bad_cases[i].base], bad_cases[i].text));
        said(text, sizeof(text));
        assert_string_equal(text, bad_cases[i].errors);
    }
}

static void the_least_that_runs_loads(void **state)
{
    (void)state;
    struct fp_config *config =
        load_good("listen: 127.0.0.1:8600            # or unix:/run/fleetprof/ingest.sock\n"
                  "admin: 127.0.0.1:8601\n"
                  "database: host=/run/postgresql dbname=fleetprof user=fleetprof_writer\n"
                  "spool:\n"
                  "  path: /var/lib/fleetprof/spool\n"
                  "  max_bytes: 4GiB\n",
                  "sites:\n"
                  "  - name: shop\n"
                  "    key: pk_shop\n"
                  "    origins: [https://shop.example, \"http://127.0.0.1:8080\"]\n"
                  "    routes: [/product/:id, /cart]\n");
    const struct fp_rules *rules = config->rules;
    assert_int_equal(config->listen.sa.ss_family, AF_INET);
    assert_string_equal(config->spool_path.ptr, "/var/lib/fleetprof/spool");
    assert_true(config->spool_max_bytes == UINT64_C(4) << 30);
    assert_int_equal(rules->site_count, 1);
    assert_string_equal(rules->sites[0].name.ptr, "shop");
    assert_string_equal(rules->sites[0].key.ptr, "pk_shop");
    assert_int_equal(rules->sites[0].origins.count, 2);
    assert_string_equal(rules->sites[0].origins.items[1].ptr, "http://127.0.0.1:8080");
    assert_int_equal(rules->sites[0].routes.count, 2);
    assert_string_equal(rules->sites[0].routes.items[0].ptr, "/product/:id");
    fp_config_free(config);
}

static void defaults_are_those_of_the_contract(void **state)
{
    (void)state;
    struct fp_config *config = load_good(FOUR_LINES, "");
    const struct fp_rules *rules = config->rules;
    assert_int_equal(config->admin.len, 0);
    assert_int_equal(rules->max_body, 8 << 20);
    assert_int_equal(rules->format.max_inflated, 64 << 20);
    assert_int_equal(rules->format.samples, 200000);
    assert_int_equal(rules->format.stacks, 500000);
    assert_int_equal(rules->format.frames, 100000);
    assert_int_equal(rules->format.resources, 10000);
    assert_int_equal(rules->format.entries, 50000);
    assert_int_equal(rules->measures, 64);
    assert_int_equal(rules->token_memory, 64 << 20);
    assert_int_equal(rules->kept_per_hour, 128 << 20);
    assert_int_equal(rules->sites[0].kept_per_hour, 32 << 20);
    assert_int_equal(rules->format.stack_depth, 2000);
    assert_int_equal(rules->format.json_depth, 64);
    assert_true(rules->format.max_span_us == FP_US_PER_HOUR);
    assert_true(config->retention_facts_us == 400 * FP_US_PER_DAY);
    assert_true(config->retention_hours_us == 14 * FP_US_PER_DAY);
    assert_true(config->retention_upload_ids_us == 7 * FP_US_PER_DAY);
    assert_true(config->spool_keep_us == FP_US_PER_HOUR);
    assert_int_equal(config->dead_letters_path.len, 0);
    assert_true(config->dead_letters_max_bytes == 64 << 20);
    assert_false(rules->keep_query);
    assert_int_equal(rules->format.detail_keys.count, 0);
    assert_int_equal(rules->sites[0].timing_names.count, 0);
    assert_false(rules->honour_gpc);
    assert_int_equal(rules->sites[0].closed_formats, ~fp_formats_named(FP_STR("web")));
    assert_false(rules->sites[0].require_token);
    assert_int_equal(rules->sites[0].token_key_files.count, 0);
    assert_true(rules->sites[0].token_max_age_us == FP_US_PER_HOUR);
    assert_int_equal(rules->sites[0].token_uploads, 32);
    fp_config_free(config);
}

static void every_setting_is_stored_where_it_belongs(void **state)
{
    (void)state;
    struct fp_config *config = load_good(
        THREE_LINES
        "admin: \"[::1]:8601\"\n"
        "limits: {samples: 7, max_body: 2048, timeout: 5s, connections: 3}\n"
        "flush: {min_window: 1ms, max_window: 2m}\n"
        "retention: {facts: 2d, hours: 6d, upload_log: 3d, sessions: 5d, upload_ids: 4h}\n"
        "privacy: {keep_query: true, honour_gpc: true, detail_keys: [status],\n"
        "  keep_path_tokens: true, keep_names: true}\n"
        "dead_letters: {path: /letters, max_bytes: 2MiB}\n"
        "http: {threads: 5}\n",
        "sites: [{key: k, name: a, origins: [\"null\", capacitor://localhost],\n"
        "  timing_names: [\"fetch-:id\"], scripts: [/b/:x.js],\n"
        "  ignore: [/vendor/*.js, \"https://c.example:8443/*\", src/gen é/*, "
        "\"node:internal/*\"],\n"
        "  source_link: \"http://[::1]:80/{release}/{file}?a#L{line}:{column}\",\n"
        "  timezone: Asia/Kolkata},\n"
        "  {key: l, name: b, source_link: \"idea://open?file=/src/{file}&line={line}\"}]\n");
    assert_int_equal(config->admin.sa.ss_family, AF_INET6);
    assert_int_equal(config->rules->format.samples, 7);
    assert_int_equal(config->rules->format.stacks, 500000);
    assert_int_equal(config->rules->max_body, 2048);
    assert_int_equal(config->timeout_us, 5000000);
    assert_int_equal(config->connections, 3);
    assert_int_equal(config->flush_min_window_us, 1000);
    assert_int_equal(config->flush_max_window_us, 120000000);
    assert_true(config->retention_facts_us == 2 * FP_US_PER_DAY);
    assert_true(config->retention_hours_us == 6 * FP_US_PER_DAY);
    assert_true(config->retention_upload_log_us == 3 * FP_US_PER_DAY);
    assert_true(config->retention_sessions_us == 5 * FP_US_PER_DAY);
    assert_true(config->retention_upload_ids_us == 4 * FP_US_PER_HOUR);
    assert_true(config->rules->keep_query && config->rules->honour_gpc);
    assert_true(config->rules->kept.path_tokens && config->rules->kept.names);
    assert_false(config->rules->kept.path_parameters || config->rules->kept.path_numbers);
    assert_int_equal(config->rules->format.detail_keys.count, 1);
    assert_string_equal(config->rules->format.detail_keys.items[0].ptr, "status");
    assert_int_equal(config->rules->sites[0].timing_names.count, 1);
    assert_string_equal(config->rules->sites[0].timing_names.items[0].ptr, "fetch-:id");
    assert_int_equal(config->rules->sites[0].ignore.count, 4);
    assert_string_equal(config->rules->sites[0].ignore.items[2].ptr, "src/gen é/*");
    assert_string_equal(config->rules->sites[0].source_link.ptr,
                        "http://[::1]:80/{release}/{file}?a#L{line}:{column}");
    assert_string_equal(config->rules->sites[1].source_link.ptr,
                        "idea://open?file=/src/{file}&line={line}");
    assert_string_equal(config->rules->sites[0].timezone.ptr, "Asia/Kolkata");
    assert_string_equal(config->rules->sites[1].timezone.ptr, "UTC");
    assert_string_equal(config->dead_letters_path.ptr, "/letters");
    assert_true(config->dead_letters_max_bytes == 2 << 20);
    assert_int_equal(config->http_threads, 5);
    assert_string_equal(config->rules->sites[0].origins.items[0].ptr, "null");
    fp_config_free(config);
}

/* A file with this content; its name is template's. */
static void write_key_file(char *template, const char *text)
{
    int fd = mkstemp(template);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void no_site_takes_what_all_share_but_the_only_one(void **state)
{
    (void)state;
    struct fp_config *one = load_good(THREE_LINES, "limits: {body_memory: 64MiB}\n"
                                                   "sites: [{name: a, key: k}]\n");
    assert_int_equal(fp_rules_body_share(one->rules), 64 << 20);
    assert_int_equal(fp_rules_waiting_share(one->rules, 1024), 1024);
    fp_config_free(one);
    struct fp_config *two =
        load_good(THREE_LINES, "limits: {body_memory: 64MiB}\n"
                               "sites: [{name: a, key: k}, {name: b, key: l}]\n");
    assert_int_equal(fp_rules_body_share(two->rules), 32 << 20);
    assert_int_equal(fp_rules_waiting_share(two->rules, 1024), 512);
    assert_int_equal(fp_rules_waiting_share(two->rules, 1), 1);
    fp_config_free(two);
    struct fp_config *large =
        load_good(THREE_LINES, "limits: {body_memory: 64MiB, max_body: 48MiB}\n"
                               "sites: [{name: a, key: k}, {name: b, key: l}]\n");
    assert_int_equal(fp_rules_body_share(large->rules), 48 << 20);
    fp_config_free(large);
}

static void a_site_keeps_what_it_has_spent_when_its_budgets_change(void **state)
{
    (void)state;
    struct fp_config *running =
        load_good(THREE_LINES, "sites:\n- {name: a, key: k, budgets: {requests_per_second: 5}}\n"
                               "- {name: b, key: l, budgets: {bytes_per_second: 1MiB, burst: 2s}}\n"
                               "- {name: c, key: m}\n");
    const struct fp_site *sites = running->rules->sites;
    assert_int_equal(sites[0].budgets.per_s[FP_BUDGET_REQUESTS], 5);
    assert_int_equal(sites[0].budgets.per_s[FP_BUDGET_BYTES], 8 << 20);
    assert_int_equal(sites[0].budgets.burst_us, 10 * FP_US_PER_S);
    assert_int_equal(sites[1].budgets.per_s[FP_BUDGET_BYTES], 1 << 20);
    assert_int_equal(sites[1].budgets.burst_us, 2 * FP_US_PER_S);
    assert_int_equal(sites[2].budgets.per_s[FP_BUDGET_REQUESTS], 500);

    struct fp_config *fresh =
        load_good(THREE_LINES, "sites:\n- {name: new, key: n}\n"
                               "- {name: a, key: other, budgets: {requests_per_second: 6}}\n");
    fp_rules_carry_over(fresh->rules, running->rules);
    assert_ptr_equal(fresh->rules->sites[1].budget, sites[0].budget);
    assert_ptr_equal(fresh->rules->sites[1].lane, sites[0].lane);
    for (size_t i = 0; i < running->rules->site_count; i++) {
        assert_ptr_not_equal(fresh->rules->sites[0].budget, sites[i].budget);
        assert_ptr_not_equal(fresh->rules->sites[0].lane, sites[i].lane);
    }
    fp_config_free(running);
    struct fp_budget_shortage shortage;
    assert_true(fp_budget_spend(fresh->rules->sites[1].budget, &fresh->rules->sites[1].budgets,
                                &(struct fp_budget_cost){.of = {1, 1}}, 1, &shortage));
    fp_config_free(fresh);
}

static void key_files_are_read_with_the_site(void **state)
{
    (void)state;
    char good[] = "/tmp/fleetprof-key-test-XXXXXX";
    char bad[] = "/tmp/fleetprof-key-test-XXXXXX";
    char text[512];
    char expected[512];
    char said_text[1024];
    write_key_file(good, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n");
    write_key_file(bad, "# too short\n0001020304\n");

    snprintf(text, sizeof(text),
             "sites:\n- {name: a, key: k, require_token: true, token_keys: [%s],\n"
             "   token_max_age: 90s, token_uploads: 5}\n- {name: b, key: l}\n",
             good);
    struct fp_config *config = load_good(THREE_LINES, text);
    const struct fp_site *sites = config->rules->sites;
    assert_true(sites[0].require_token);
    assert_int_equal(sites[0].token_key_files.count, 1);
    assert_non_null(sites[0].token_keys[0]);
    assert_int_equal(sites[0].token_max_age_us, 90 * FP_US_PER_S);
    assert_int_equal(sites[0].token_uploads, 5);
    assert_int_equal(sites[1].token_key_files.count, 0);
    assert_int_equal(sites[1].token_uploads, 32);
    fp_config_free(config);

    snprintf(text, sizeof(text), "sites: [{name: a, key: k, token_keys: [%s, %s]}]\n", good, bad);
    snprintf(expected, sizeof(expected),
             "4:72: sites[].token_keys: \"%s\": line 2: the key is shorter than 32 bytes; make one "
             "with \"openssl rand -hex 32\"\n",
             bad);
    assert_null(load(THREE_LINES, text));
    said(said_text, sizeof(said_text));
    assert_string_equal(said_text, expected);
    assert_int_equal(unlink(good), 0);
    assert_int_equal(unlink(bad), 0);
}

static void the_printed_default_loads(void **state)
{
    (void)state;
    struct fp_buf text;
    fp_buf_init(&text, 64 * 1024);
    fp_config_print_default(&text);
    fp_buf_add(&text, "", 1);
    assert_false(text.failed);
    struct fp_config *config = load_good((const char *)text.data, "");
    struct fp_config *least = load_good(FOUR_LINES, "");
    assert_int_equal(config->rules->max_body, least->rules->max_body);
    assert_true(config->flush_max_window_us == least->flush_max_window_us);
    for (size_t i = 0; i < fp_setting_count; i++)
        assert_non_null(strstr((const char *)text.data, fp_settings[i].name));
    fp_config_free(config);
    fp_config_free(least);
    fp_buf_release(&text);
}

/* Help texts are Markdown, for the manual. */
static void comments_of_the_printed_default_have_no_marks_of_markdown(void **state)
{
    (void)state;
    struct fp_buf text;
    fp_buf_init(&text, 64 * 1024);
    fp_config_print_default(&text);
    fp_buf_add(&text, "", 1);
    assert_false(text.failed);
    const char *printed = (const char *)text.data;
    assert_non_null(strstr(printed, "# Where uploads are accepted: host:port, [IPv6]:port or "));
    assert_non_null(strstr(printed, "# libpq connection string or URI of the database; it may name "
                                    "several servers\n"));
    for (const char *line = strstr(printed, "\n\n"); (line = strchr(line, '#')) != NULL;
         line = strchr(line, '\n')) {
        const size_t len = strcspn(line, "\n");
        assert_null(memchr(line, '`', len));
        assert_null(memmem(line, len, "](", 2));
    }
    fp_buf_release(&text);
}

static void a_missing_file_is_an_error(void **state)
{
    (void)state;
    fp_buf_clear(&errors);
    assert_null(fp_config_load("/nonexistent/fleetprof.yaml", &errors));
    fp_buf_add(&errors, "", 1);
    assert_string_equal((const char *)errors.data,
                        "/nonexistent/fleetprof.yaml: cannot be opened: No such file or "
                        "directory\n");
    fp_buf_clear(&errors);
    assert_null(fp_config_load("/", &errors));
    assert_true(errors.len > 0);
}

static void errors_past_a_maximum_are_counted_only(void **state)
{
    (void)state;
    struct fp_buf text;
    fp_buf_init(&text, 64 * 1024);
    for (int i = 0; i < 80; i++)
        fp_buf_addf(&text, "unknown%d: 1\n", i);
    fp_buf_add(&text, "", 1);
    assert_null(load(FOUR_LINES, (const char *)text.data));
    fp_buf_add(&errors, "", 1);
    assert_non_null(strstr((const char *)errors.data, ": and 30 errors more\n"));
    assert_null(strstr((const char *)errors.data, "unknown50"));
    fp_buf_release(&text);
}

/* More pairs stand before both lists than are compared with each other. */
static void a_second_list_of_sites_is_an_error_however_far_behind(void **state)
{
    (void)state;
    struct fp_buf text;
    fp_buf_init(&text, 64 * 1024);
    for (int i = 0; i < FP_CONFIG_SETTINGS_MAX; i++)
        fp_buf_addf(&text, "unknown%d: 1\n", i);
    fp_buf_addf(&text, "sites: [{name: a, key: k}, {name: b, key: l}]\n"
                       "sites: [{name: c, key: m}]\n");
    fp_buf_add(&text, "", 1);
    assert_null(load(THREE_LINES, (const char *)text.data));
    fp_buf_add(&errors, "", 1);
    assert_non_null(strstr((const char *)errors.data, ": and 79 errors more\n"));
    fp_buf_release(&text);
}

static char told[256];

static void tell(const char *name)
{
    size_t len = strlen(told);
    snprintf(told + len, sizeof(told) - len, "%s ", name);
}

static void a_reload_keeps_what_cannot_change(void **state)
{
    (void)state;
    struct fp_config *running = load_good(FOUR_LINES, "limits: {samples: 1, timeout: 1s}\n");
    struct fp_config *fresh =
        load_good("listen: 127.0.0.1:9\ndatabase: dbname=y\nspool: {path: /other}\n"
                  "sites: [{name: b, key: b}]\n",
                  "limits: {samples: 2, timeout: 1s}\nhttp: {threads: 9}\n");
    told[0] = '\0';
    assert_true(fp_config_keep_fixed(fresh, running, tell));
    assert_string_equal(told, "listen database spool.path http.threads ");
    assert_memory_equal(&fresh->listen, &running->listen, sizeof(fresh->listen));
    fp_config_free(running);
    assert_string_equal(fresh->database.ptr, "dbname=x");
    assert_string_equal(fresh->spool_path.ptr, "/s");
    assert_int_equal(fresh->http_threads, 2);
    assert_int_equal(fresh->rules->format.samples, 2);
    assert_string_equal(fresh->rules->sites[0].name.ptr, "b");
    fp_config_free(fresh);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    assert_true(fp_setting_count <= FP_CONFIG_SETTINGS_MAX);
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        assert_ptr_equal(fp_setting_find(setting->name), setting);
        assert_true(strlen(setting->name) < 48);
        assert_true(strlen(setting->help) > 0);
        assert_true(setting->min <= setting->max);
        assert_true(setting->home == FP_HOME_CONFIG || setting->reloadable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_where_and_what_is_wrong),
        cmocka_unit_test(the_least_that_runs_loads),
        cmocka_unit_test(defaults_are_those_of_the_contract),
        cmocka_unit_test(every_setting_is_stored_where_it_belongs),
        cmocka_unit_test(no_site_takes_what_all_share_but_the_only_one),
        cmocka_unit_test(a_site_keeps_what_it_has_spent_when_its_budgets_change),
        cmocka_unit_test(key_files_are_read_with_the_site),
        cmocka_unit_test(the_printed_default_loads),
        cmocka_unit_test(comments_of_the_printed_default_have_no_marks_of_markdown),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(errors_past_a_maximum_are_counted_only),
        cmocka_unit_test(a_second_list_of_sites_is_an_error_however_far_behind),
        cmocka_unit_test(a_reload_keeps_what_cannot_change),
        cmocka_unit_test(the_table_is_sound),
    };
    return cmocka_run_group_tests_name("config", tests, make_file, remove_file);
}
