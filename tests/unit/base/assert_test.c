/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions that hold, that do not, and that are off.
 */
#undef NDEBUG
#include "collector/base/assert.h"
#include "tests/unit/base/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs check(value) in a process of its own. Returns how it ended and what it wrote to standard
 * error. */
static int run(void (*check)(int value), int value, char *said, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        check(value);
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t got; len + 1 < size && (got = read(ends[0], said + len, size - len - 1)) > 0;)
        len += (size_t)got;
    said[len] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void check_on(int value)
{
    FP_ASSERT(value > 1);
}

static void check_costly(int value)
{
    FP_ASSERT_COSTLY(value > 1);
}

#undef FP_ASSERT
#undef FP_ASSERT_COSTLY
#undef FP_ASSERT_IS_THOROUGH
#undef FP_BASE_ASSERT_H
#define NDEBUG
#include "collector/base/assert.h"

static void check_off(int value)
{
    FP_ASSERT(value++ > 1);
    FP_ASSERT_COSTLY(value++ > 1);
    _exit(value);
}

static void a_condition_that_holds_does_nothing(void **state)
{
    (void)state;
    char said[256];
    assert_int_equal(run(check_on, 2, said, sizeof(said)), 0);
    assert_string_equal(said, "");
}

static void a_condition_that_does_not_hold_aborts_and_names_itself(void **state)
{
    (void)state;
    char said[256];
    int status = run(check_on, 1, said, sizeof(said));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "assert_test.c:"));
    assert_non_null(strstr(said, ": assertion failed: value > 1\n"));
}

static void a_costly_condition_is_checked_in_unit_tests(void **state)
{
    (void)state;
    char said[256];
    assert_int_equal(run(check_costly, 2, said, sizeof(said)), 0);
    int status = run(check_costly, 1, said, sizeof(said));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, ": assertion failed: value > 1\n"));
}

static void a_condition_that_is_off_is_not_evaluated(void **state)
{
    (void)state;
    char said[256];
    int status = run(check_off, 1, said, sizeof(said));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_that_holds_does_nothing),
        cmocka_unit_test(a_condition_that_does_not_hold_aborts_and_names_itself),
        cmocka_unit_test(a_costly_condition_is_checked_in_unit_tests),
        cmocka_unit_test(a_condition_that_is_off_is_not_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
