/* SPDX-License-Identifier: Apache-2.0 */
/* Origin-Trial: which tokens the configuration may name, and the list that they become. */
#include "header_policy/origin_trial.c"

#include "test.h"

/* Version 3, with the text `{"origin":"https://shop.example:443"}`. */
#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define TOKEN "Aw" ZEROS ZEROS "AAAleyJvcmlnaW4iOiJodHRwczovL3Nob3AuZXhhbXBsZTo0NDMifQ=="
#define EMPTY_TOKEN "Ag" ZEROS ZEROS "AAAA"

static void a_token_is_checked_before_it_is_sent(void **state)
{
    static const struct {
        const char *token;
        enum fleetprof_trial_error error;
    } cases[] = {
        {TOKEN, FLEETPROF_TRIAL_OK},
        {EMPTY_TOKEN, FLEETPROF_TRIAL_OK},
        {"", FLEETPROF_TRIAL_LENGTH},
        {"Aw==", FLEETPROF_TRIAL_LENGTH},
        {"====", FLEETPROF_TRIAL_CHARACTER},
        {"TOKEN", FLEETPROF_TRIAL_LENGTH},
        {TOKEN " ", FLEETPROF_TRIAL_CHARACTER},
        {TOKEN "\r\nX: y", FLEETPROF_TRIAL_CHARACTER},
        {TOKEN "\x7f\x01", FLEETPROF_TRIAL_CHARACTER},
        {TOKEN ", " TOKEN, FLEETPROF_TRIAL_CHARACTER},
        {"$trial", FLEETPROF_TRIAL_CHARACTER},
        {"Aw" ZEROS ZEROS "AAAA-_==", FLEETPROF_TRIAL_CHARACTER},
        {TOKEN "=", FLEETPROF_TRIAL_CHARACTER},
        {"Aw" ZEROS ZEROS "AAAleyJvcmln", FLEETPROF_TRIAL_LENGTH},
        {EMPTY_TOKEN "AAAA", FLEETPROF_TRIAL_LENGTH},
        {"AQ" ZEROS ZEROS "AAAA", FLEETPROF_TRIAL_VERSION},
        {"BA" ZEROS ZEROS "AAAA", FLEETPROF_TRIAL_VERSION},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char data[FLEETPROF_FIELD_MAX];
        struct fleetprof_buffer list = {data, 0, sizeof(data)};
        enum fleetprof_trial_error error = fleetprof_trial_add(&list, text(cases[i].token));

        if (error != cases[i].error) {
            fail_msg("case %zu: %s: %s", i, cases[i].token, fleetprof_trial_error_text(error));
        }
        assert_text(fleetprof_buffer_text(&list),
                    error == FLEETPROF_TRIAL_OK ? cases[i].token : "");
    }
}

static void tokens_become_a_comma_list(void **state)
{
    char data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer list = {data, 0, sizeof(data)};

    (void)state;
    assert_int_equal(fleetprof_trial_add(&list, text(TOKEN)), FLEETPROF_TRIAL_OK);
    assert_int_equal(fleetprof_trial_add(&list, text(EMPTY_TOKEN)), FLEETPROF_TRIAL_OK);
    assert_int_equal(fleetprof_trial_add(&list, text(TOKEN)), FLEETPROF_TRIAL_TWICE);
    assert_text(fleetprof_buffer_text(&list), TOKEN ", " EMPTY_TOKEN);

    list.size = list.len + 10;
    assert_int_equal(fleetprof_trial_add(&list, text("Aw" ZEROS ZEROS "AAAA")),
                     FLEETPROF_TRIAL_LIST_LENGTH);
    assert_text(fleetprof_buffer_text(&list), TOKEN ", " EMPTY_TOKEN);
}

static void each_error_says_what_is_right(void **state)
{
    (void)state;
    for (int error = FLEETPROF_TRIAL_OK + 1; error <= FLEETPROF_TRIAL_LIST_LENGTH; error++) {
        assert_non_null(strchr(fleetprof_trial_error_text((enum fleetprof_trial_error)error), ';'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_checked_before_it_is_sent),
        cmocka_unit_test(tokens_become_a_comma_list),
        cmocka_unit_test(each_error_says_what_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
