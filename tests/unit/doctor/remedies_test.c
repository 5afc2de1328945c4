/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doctor's findings for each reason of the collector, and for errors of the database.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/remedies.c"
#include "collector/base/problem.h"

#define OTHER "reasons-of-refusals"
#define RELOAD "another configuration"
#define KEYS "other token keys"
#define FULL "disk is full"

/* By reason: the finding when a page's upload is refused, and words of the remedy when this
 * machine's collector refuses one. */
static const struct {
    enum fp_finding_id id;
    const char *remedy;
} cases[FP_REFUSAL_COUNT] = {
    [FP_REFUSAL_MALFORMED] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_PATH] = {FP_FINDING_ENDPOINT_PATH, OTHER},
    [FP_REFUSAL_METHOD] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_LENGTH] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_HEADER] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_UNKNOWN_KEY] = {FP_FINDING_KEY_UNKNOWN, RELOAD},
    [FP_REFUSAL_ORIGIN] = {FP_FINDING_ORIGIN_REFUSED, RELOAD},
    [FP_REFUSAL_GPC] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_TOKEN_MISSING] = {FP_FINDING_TOKEN_MISSING, KEYS},
    [FP_REFUSAL_TOKEN_FORGED] = {FP_FINDING_TOKEN_REFUSED, KEYS},
    [FP_REFUSAL_TOKEN_EXPIRED] = {FP_FINDING_TOKEN_REFUSED, KEYS},
    [FP_REFUSAL_TOKEN_EARLY] = {FP_FINDING_TOKEN_REFUSED, KEYS},
    [FP_REFUSAL_TOKEN_USED_UP] = {FP_FINDING_TOKEN_REFUSED, KEYS},
    [FP_REFUSAL_TOKEN_FORGOTTEN] = {FP_FINDING_TOKEN_REFUSED, KEYS},
    [FP_REFUSAL_TOKEN_UNCHECKED] = {FP_FINDING_COLLECTOR_BUSY, KEYS},
    [FP_REFUSAL_BUDGET_REQUESTS] = {FP_FINDING_BUDGET_SPENT, OTHER},
    [FP_REFUSAL_BUDGET_BYTES] = {FP_FINDING_BUDGET_SPENT, OTHER},
    [FP_REFUSAL_BUDGET_DECODING] = {FP_FINDING_BUDGET_SPENT, OTHER},
    [FP_REFUSAL_TYPE] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_ENCODING] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_FORMAT] = {FP_FINDING_UPLOAD_REFUSED, RELOAD},
    [FP_REFUSAL_SIZE] = {FP_FINDING_BODY_LIMIT, OTHER},
    [FP_REFUSAL_INFLATED_SIZE] = {FP_FINDING_BODY_LIMIT, OTHER},
    [FP_REFUSAL_LIMIT] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_NOT_JSON] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_COMPRESSION] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_COMPRESSED_TWICE] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_FORM] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_INVALID] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_VERSION] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_SESSION] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_SESSIONS] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_SESSIONS_FULL] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
    [FP_REFUSAL_SPOOL_FULL] = {FP_FINDING_COLLECTOR_BUSY, FULL},
    [FP_REFUSAL_SPOOL_FAILED] = {FP_FINDING_COLLECTOR_BUSY, FULL},
    [FP_REFUSAL_STOPPING] = {FP_FINDING_COLLECTOR_BUSY, OTHER},
    [FP_REFUSAL_MEMORY] = {FP_FINDING_COLLECTOR_BUSY, OTHER},
    [FP_REFUSAL_UNREADABLE] = {FP_FINDING_UPLOAD_REFUSED, OTHER},
};

static void each_reason_of_the_collector_has_a_finding_and_a_remedy(void **state)
{
    (void)state;
    for (enum fp_refusal i = 0; i < FP_REFUSAL_COUNT; i++) {
        const char *name = fp_refusal_name(i);
        if (cases[i].remedy == NULL)
            fail_msg("no example of %s", name);
        if (fp_doctor_finding_of(name) != cases[i].id)
            fail_msg("%s is another finding", name);
        if (strstr(fp_doctor_remedy_of_reason(name), cases[i].remedy) == NULL)
            fail_msg("%s: %s", name, fp_doctor_remedy_of_reason(name));
    }
}

/* True if a reason of the collector begins like this. */
static bool is_start_of_a_reason(const char *start)
{
    for (enum fp_refusal i = 0; i < FP_REFUSAL_COUNT; i++)
        if (begins(fp_refusal_name(i), start))
            return true;
    return false;
}

static void no_row_is_of_a_reason_that_there_is_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(reasons); i++)
        assert_true(is_start_of_a_reason(reasons[i].reason));
    for (size_t i = 0; i < FP_COUNT(remedies_of_reasons); i++)
        assert_true(is_start_of_a_reason(remedies_of_reasons[i].reason));
}

static void each_class_of_errors_has_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        const char *sqlstate;
        const char *words;
    } errors[] = {
        {"42501", "42501", "a right was taken away"},
        {"42", "42883", "not there as migrate made it"},
        {"3F", "3F000", "not there as migrate made it"},
        {"53", "53200", "run out of memory, disk or connections"},
        {"57P", "57P01", "stopping or starting"},
        {"55P03", "55P03", "holds a lock"},
        {"", "XX000", "log says more"},
    };
    assert_walks(remedies_of_sqlstates, .sqlstate, errors, .row);
    for (size_t i = 0; i < FP_COUNT(errors); i++)
        assert_non_null(strstr(fp_doctor_remedy_of_sqlstate(errors[i].sqlstate), errors[i].words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_of_the_collector_has_a_finding_and_a_remedy),
        cmocka_unit_test(no_row_is_of_a_reason_that_there_is_not),
        cmocka_unit_test(each_class_of_errors_has_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
