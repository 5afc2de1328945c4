/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: for each a value that loads and one that does not, at the bounds if it has some.
 */
#include "tests/unit/unit.h"

#include "collector/config/settings.c"

/* good: the least if it has bounds; bad: what is wrong, or above its bounds. NULL: lists, whose
 * values are in config_test.c and bad_cases.h. */
static const struct {
    const char *name;
    const char *good;
    const char *most; /* NULL: no bounds */
    const char *bad;
} cases[] = {
    {"listen", "[::1]:8600", NULL, "127.0.0.1"},
    {"admin", "unix:/run/a", NULL, "a.example:x"},
    {"database", "dbname=x", NULL, "dbname"},
    {"spool.path", "/s", NULL, "s"},
    {"spool.max_bytes", "4MiB", "1024TiB", NULL},
    {"spool.segment_bytes", "1MiB", "1GiB", NULL},
    {"spool.keep", "0s", "30d", NULL},
    {"dead_letters.path", "", NULL, "letters"},
    {"dead_letters.max_bytes", "1MiB", "1GiB", NULL},
    {"limits.max_body", "1KiB", "1GiB", NULL},
    {"limits.max_inflated", "1KiB", "1GiB", NULL},
    {"limits.samples", "1", "100000000", NULL},
    {"limits.stacks", "1", "100000000", NULL},
    {"limits.frames", "1", "100000000", NULL},
    {"limits.resources", "1", "100000000", NULL},
    {"limits.entries", "1", "100000000", NULL},
    {"limits.measures", "0", "10000", NULL},
    {"limits.stack_depth", "1", "1000000", NULL},
    {"limits.json_depth", "8", "1024", NULL},
    {"limits.max_span", "1s", "1d", NULL},
    {"limits.upload_memory", "1MiB", "64GiB", NULL},
    {"limits.body_memory", "64KiB", "64GiB", NULL},
    {"limits.kept", "0B", "1TiB", NULL},
    {"limits.token_memory", "1MiB", "64GiB", NULL},
    {"limits.connections", "1", "1000000", NULL},
    {"limits.connections_per_address", "0", "1000000", NULL},
    {"limits.timeout", "1s", "1h", NULL},
    {"limits.request_timeout", "1s", "1h", NULL},
    {"ceilings.frames", "1", "10000000", NULL},
    {"ceilings.stacks", "1", "10000000", NULL},
    {"ceilings.timing_names", "1", "10000000", NULL},
    {"ceilings.routes", "1", "10000000", NULL},
    {"ceilings.releases", "1", "10000000", NULL},
    {"ceilings.segments", "1", "10000000", NULL},
    {"ceilings.browser_versions", "1", "10000000", NULL},
    {"ceilings.custom", "1", "10000000", NULL},
    {"ceilings.custom_values", "1", "10000000", NULL},
    {"ceilings.elements", "1", "10000000", NULL},
    {"ceilings.vitals", "1", "10000000", NULL},
    {"ceilings.memory", "1MiB", "64GiB", NULL},
    {"http.threads", "1", "256", NULL},
    {"http.proxies", "0", "16", NULL},
    {"flush.min_window", "1ms", "1h", NULL},
    {"flush.max_window", "1ms", "1h", NULL},
    {"retention.facts", "1d", "36500d", NULL},
    {"retention.hours", "1d", "36500d", NULL},
    {"retention.upload_log", "1d", "36500d", NULL},
    {"retention.sessions", "1d", "36500d", NULL},
    {"retention.upload_ids", "1h", "36500d", NULL},
    {"privacy.keep_query", "true", NULL, "yes"},
    {"privacy.detail_keys", NULL, NULL, NULL},
    {"privacy.keep_raw", "true", NULL, "1"},
    {"privacy.keep_names", "true", NULL, "no"},
    {"privacy.keep_path_addresses", "true", NULL, "no"},
    {"privacy.keep_path_hashes", "true", NULL, "no"},
    {"privacy.keep_path_numbers", "true", NULL, "no"},
    {"privacy.keep_path_parameters", "true", NULL, "no"},
    {"privacy.keep_path_tokens", "true", NULL, "no"},
    {"privacy.honour_gpc", "false", NULL, "False"},
    {"sites[].name", "shop", NULL, ""},
    {"sites[].key", "pk_shop", NULL, "a/b"},
    {"sites[].origins", NULL, NULL, NULL},
    {"sites[].formats", NULL, NULL, NULL},
    {"sites[].routes", NULL, NULL, NULL},
    {"sites[].timing_names", NULL, NULL, NULL},
    {"sites[].custom", NULL, NULL, NULL},
    {"sites[].scripts", NULL, NULL, NULL},
    {"sites[].ignore", NULL, NULL, NULL},
    {"sites[].source_link", "https://git.example/{file}", NULL, "https://git.example/"},
    {"sites[].first_party", NULL, NULL, NULL},
    {"sites[].performance_budgets", NULL, NULL, NULL},
    {"sites[].timezone", "Australia/Sydney", NULL, "Australia/../Sydney"},
    {"sites[].require_token", "true", NULL, "on"},
    {"sites[].token_keys", NULL, NULL, NULL},
    {"sites[].token_max_age", "1s", "30d", NULL},
    {"sites[].token_uploads", "1", "1000000", NULL},
    {"sites[].sample_keep", "0%", "100%", NULL},
    {"sites[].kept", "0B", "1TiB", NULL},
    {"sites[].budgets.requests_per_second", "0", "1073741824", NULL},
    {"sites[].budgets.bytes_per_second", "0B", "1GiB", NULL},
    {"sites[].budgets.burst", "1s", "1h", NULL},
};

static struct fp_arena arena;

/* Stores a text where nothing else lies. The number that is there then, if it is one. */
static const char *store(const struct fp_setting *setting, const char *text, int64_t *number)
{
    static union {
        int64_t number;
        struct fp_address address;
        uint8_t bytes[1024];
    } field;
    memset(&field, 0, sizeof(field));
    assert_true(setting->size <= sizeof(field));
    const char *wrong = fp_setting_store(setting, fp_str_of(text), &field, &arena);
    *number = field.number;
    return wrong;
}

/* Writes a number in the smallest unit of its type. */
static void write_number(const struct fp_setting *setting, int64_t number, char text[64])
{
    bool is_duration = setting->type == FP_SETTING_DURATION;
    snprintf(text, 64, "%" PRId64 "%s", is_duration ? number / FP_US_PER_MS : number,
             is_duration                         ? "ms"
             : setting->type == FP_SETTING_BYTES ? "B"
             : setting->type == FP_SETTING_SHARE ? "%"
                                                 : "");
}

static void check_bounds(const struct fp_setting *setting, const char *least, const char *most)
{
    const int64_t step = setting->type == FP_SETTING_DURATION ? FP_US_PER_MS : 1;
    int64_t number;
    char text[64];
    assert_null(store(setting, least, &number));
    if (number > 0) {
        write_number(setting, number - step, text);
        assert_ptr_equal(store(setting, text, &number), fp_setting_out_of_bounds);
    }
    assert_null(store(setting, most, &number));
    if (setting->type != FP_SETTING_SHARE) /* of no more than all */
        write_number(setting, number + step, text);
    else
        snprintf(text, sizeof(text), "101%%");
    assert_non_null(store(setting, text, &number));
}

static void each_takes_good_values_and_refuses_bad_ones(void **state)
{
    (void)state;
    int64_t number;
    assert_walks(fp_settings, .name, cases, .name);
    fp_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct fp_setting *setting = fp_setting_find(cases[i].name);
        assert_int_equal(fp_setting_is_list(setting), cases[i].good == NULL);
        assert_int_equal(is_number(setting->type), cases[i].most != NULL);
        if (cases[i].most != NULL) {
            check_bounds(setting, cases[i].good, cases[i].most);
        } else if (cases[i].good != NULL) {
            assert_null(store(setting, cases[i].good, &number));
            assert_non_null(store(setting, cases[i].bad, &number));
        }
    }
    fp_arena_release(&arena);
}

static void each_type_has_its_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        [FP_SETTING_CONNECTION] = "a text",
        [FP_SETTING_PATH] = "an absolute path",
        [FP_SETTING_PATH_OR_NONE] = "an absolute path, or \"\" for none",
        [FP_SETTING_ADDRESS] = "an address",
        [FP_SETTING_DURATION] = "a duration such as 250ms or 7d",
        [FP_SETTING_BYTES] = "a size such as 8MiB",
        [FP_SETTING_COUNT] = "a whole number",
        [FP_SETTING_SHARE] = "a share such as 1%",
        [FP_SETTING_FLAG] = "true or false",
        [FP_SETTING_NAME] = "a name",
        [FP_SETTING_LINK] = "an address, or \"\" for none",
        [FP_SETTING_TIME_ZONE] = "a time zone such as Australia/Sydney",
        [FP_SETTING_ORIGINS] = "a list of origins",
        [FP_SETTING_ROUTES] = "a list of paths",
        [FP_SETTING_KEY_FILES] = "a list of files",
        [FP_SETTING_TIMING_NAMES] = "a list of templates",
        [FP_SETTING_DIMENSIONS] = "a list of names",
        [FP_SETTING_SCRIPTS] = "a list of templates",
        [FP_SETTING_IGNORED] = "a list of patterns",
        [FP_SETTING_PERFORMANCE_BUDGETS] = "a list of budgets",
        [FP_SETTING_HOSTS] = "a list of hosts",
        [FP_SETTING_NAMES] = "a list of names",
        [FP_SETTING_FORMATS] = "a list of formats",
    };
    bool is_seen[FP_COUNT(words)] = {false};
    for (size_t i = 0; i < fp_setting_count; i++) {
        assert_true(fp_settings[i].type < FP_COUNT(words));
        is_seen[fp_settings[i].type] = true;
    }
    for (size_t i = 0; i < FP_COUNT(words); i++) {
        assert_true(is_seen[i]);
        assert_string_equal(fp_setting_type_name((enum fp_setting_type)i), words[i]);
    }
}

static void each_default_is_a_good_value(void **state)
{
    (void)state;
    int64_t number;
    fp_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < fp_setting_count; i++)
        if (!fp_setting_is_list(&fp_settings[i]))
            assert_null(store(&fp_settings[i], fp_settings[i].value, &number));
    fp_arena_release(&arena);
}

static void no_two_share_a_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < fp_setting_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct fp_setting *a = &fp_settings[i];
            const struct fp_setting *b = &fp_settings[j];
            assert_true(a->home != b->home || a->offset + a->size <= b->offset ||
                        b->offset + b->size <= a->offset);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_takes_good_values_and_refuses_bad_ones),
        cmocka_unit_test(each_type_has_its_words),
        cmocka_unit_test(each_default_is_a_good_value),
        cmocka_unit_test(no_two_share_a_place),
    };
    return cmocka_run_group_tests_name("config_settings", tests, NULL, NULL);
}
