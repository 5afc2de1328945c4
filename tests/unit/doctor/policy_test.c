/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy: what browsers and the agent make of the two fields.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/policy.c"

#define NONCE "AAECAwQFBgcICQoL"
#define MAC "qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc"

static void judges_the_policies_that_browsers_were_seen_with(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        enum fp_policy_state state;
        size_t at;
    } cases[] = {
        {NULL, FP_POLICY_ABSENT, 0},
        {"", FP_POLICY_ABSENT, 0},
        {"document-write=?0", FP_POLICY_ABSENT, 0},
        {"js-profiling", FP_POLICY_YES, 0},
        {"js-profiling=?1, js-profiling-mode=lazy", FP_POLICY_YES, 0},
        {"js-profiling;report-to=default", FP_POLICY_YES, 0},
        {"js-profiling, js-profiling=?0", FP_POLICY_NO, 0},
        {"js-profiling=?0", FP_POLICY_NO, 0},
        {"js-profiling=1", FP_POLICY_TYPE, 0},
        {"js-profiling=true", FP_POLICY_TYPE, 0},
        {"js-profiling=\"x\"", FP_POLICY_TYPE, 0},
        {"js-profiling-mode=lazy", FP_POLICY_MODE_ONLY, 0},
        {"foo;js-profiling", FP_POLICY_PARAMETER, 0},
        {"js-profiling,", FP_POLICY_BROKEN, 13},
        {"JS-Profiling", FP_POLICY_BROKEN, 0},
        {"js-profiling, !", FP_POLICY_BROKEN, 14},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct fp_policy policy = fp_policy_judge(cases[i].value);
        if (policy.state != cases[i].state || policy.at != cases[i].at)
            fail_msg("%s: %d at %zu", cases[i].value, (int)policy.state, policy.at);
    }
}

static void judges_the_forms_of_a_decision(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        enum fp_decision_state state;
    } cases[] = {
        {NULL, FP_DECISION_ABSENT},
        {"app;dur=1", FP_DECISION_ABSENT},
        {"app;desc=\"fleetprof\"", FP_DECISION_ABSENT},
        {"fleetprofx;desc=\"0\"", FP_DECISION_ABSENT},
        {"fleetprof;desc=\"0\"", FP_DECISION_NO},
        {"app;desc=\"a, b\", fleetprof;desc=\"0\", db", FP_DECISION_NO},
        {"fleetprof;desc=\"1.1767225600." NONCE "\"", FP_DECISION_YES},
        {"fleetprof;desc=\"v1.9dfbd8d2.shop.500.1767225600." NONCE "." MAC "\"",
         FP_DECISION_SIGNED},
        {"fleetprof;desc=\"v1.9dfbd8d2.a.b-c.500.1767225600." NONCE "." MAC "\"",
         FP_DECISION_SIGNED},
        {"fleetprof;desc=\"v2.9dfbd8d2.a.b.x=1,y=2.500.1767225600." NONCE "." MAC "\"",
         FP_DECISION_SIGNED},
        {"fleetprof;desc=\"0.v2.9dfbd8d2.a.b.x=1.0.1767225600." NONCE "." MAC "\"", FP_DECISION_NO},
        {"fleetprof;desc=\"0.v1.9dfbd8d2\"", FP_DECISION_UNKNOWN},
        {"fleetprof", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"maybe\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"2.1767225600." NONCE "\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"1.x." NONCE "\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"1.123456789012." NONCE "\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"1.1." NONCE "x\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"v1.shop.500.1." NONCE "." MAC "\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"v1.9dfbd8d2.shop.0.1." NONCE "." MAC "\"", FP_DECISION_UNKNOWN},
        {"fleetprof;desc=\"v1....." MAC "\"", FP_DECISION_UNKNOWN},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        if (fp_decision_judge(cases[i].value).state != cases[i].state)
            fail_msg("%s: %d", cases[i].value, (int)fp_decision_judge(cases[i].value).state);
}

static void reads_the_fields_of_a_token(void **state)
{
    (void)state;
    const struct fp_decision decision =
        fp_decision_judge("fleetprof;desc=\"v1.9dfbd8d2.a.b-c.500.1767225600." NONCE "." MAC "\"");
    assert_true(fp_str_equal(decision.site, FP_STR("a.b-c")));
    assert_true(fp_str_equal(decision.nonce, FP_STR(NONCE)));
    assert_int_equal(decision.ppm, 500);
    assert_int_equal(decision.time_s, 1767225600);
    const struct fp_decision armed = fp_decision_judge(
        "fleetprof;desc=\"v2.9dfbd8d2.a.b-c.x=1.500.1767225600." NONCE "." MAC "\"");
    assert_true(fp_str_equal(armed.site, FP_STR("a.b-c")));
    assert_int_equal(armed.ppm, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_the_policies_that_browsers_were_seen_with),
        cmocka_unit_test(judges_the_forms_of_a_decision),
        cmocka_unit_test(reads_the_fields_of_a_token),
    };
    return cmocka_run_group_tests_name("doctor_policy", tests, NULL, NULL);
}
