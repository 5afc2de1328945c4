/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration is read correctly or not at all, whichever allocation fails.
 */
#include "failing.h"

#include "collector/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

static char key_file[] = "/tmp/fleetprof-allocation-key-XXXXXX";
static char good_file[] = "/tmp/fleetprof-allocation-good-XXXXXX";
static char bad_file[] = "/tmp/fleetprof-allocation-bad-XXXXXX";

static void write_file(char *name, const char *text)
{
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static int make_files(void **state)
{
    (void)state;
    char text[4096];
    write_file(key_file, key);
    snprintf(text, sizeof(text),
             "listen: 127.0.0.1:8600\n"
             "admin: 127.0.0.1:8601\n"
             "database: host=/run/postgresql dbname=fleetprof\n"
             "spool: {path: /s, max_bytes: 1GiB}\n"
             "limits: {samples: 77}\n"
             "sites:\n"
             "  - {name: a, key: k, origins: [\"https://a.example\", \"null\"], routes: [/p/:id]}\n"
             "  - {name: b, key: l, require_token: true, token_keys: [%s]}\n",
             key_file);
    write_file(good_file, text);
    write_file(bad_file, "listen: nowhere\nlimits: {samples: [1], x: 2}\nsites: [{name: 5}, 3]\n");
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(key_file) | unlink(good_file) | unlink(bad_file);
}

static bool says(const struct fp_buf *errors, const char *word)
{
    return errors->data != NULL && memmem(errors->data, errors->len, word, strlen(word)) != NULL;
}

static enum outcome load_good(void *context)
{
    (void)context;
    struct fp_buf errors;
    fp_buf_init(&errors, 16 * 1024);
    struct fp_config *config = fp_config_load(good_file, &errors);
    enum outcome outcome = config != NULL ? DONE : REFUSED;
    if (config != NULL) {
        assert_int_equal(config->spool_max_bytes, UINT64_C(1) << 30);
        assert_int_equal(config->rules->format.samples, 77);
        assert_int_equal(config->rules->site_count, 2);
        assert_int_equal(config->rules->sites[0].origins.count, 2);
        assert_string_equal(config->rules->sites[0].routes.items[0].ptr, "/p/:id");
        assert_non_null(config->rules->sites[1].token_keys[0]);
        fp_config_free(config);
    } else if (errors.len > 0) {
        if (!says(&errors, "memory") && !says(&errors, "libcrypto"))
            fail_msg("the file is blamed: %.*s", (int)errors.len, (const char *)errors.data);
    }
    fp_buf_release(&errors);
    return outcome;
}

/* An error is reported if there is memory for it, and an invalid file is never accepted. */
static enum outcome load_bad(void *context)
{
    (void)context;
    struct fp_buf errors;
    fp_buf_init(&errors, 16 * 1024);
    assert_null(fp_config_load(bad_file, &errors));
    bool said = says(&errors, "limits.samples");
    fp_buf_release(&errors);
    return said ? DONE : REFUSED;
}

static void a_configuration_loads_or_memory_is_blamed(void **state)
{
    (void)state;
    failing_each(
        &(struct scenario){.name = "good configuration", .run = load_good, .allocations_min = 40});
}

static void a_wrong_configuration_never_loads(void **state)
{
    (void)state;
    failing_each(
        &(struct scenario){.name = "wrong configuration", .run = load_bad, .allocations_min = 20});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_loads_or_memory_is_blamed),
        cmocka_unit_test(a_wrong_configuration_never_loads),
    };
    return cmocka_run_group_tests_name("allocation_config", tests, make_files, remove_files);
}
