/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations: whole writes, whole reads, files replaced whole or not at all.
 */
#include "faults.h"

/* A write that takes `at_most` bytes of its first part, or none. */
static size_t at_most;

static ssize_t take_some(void *context, int file, const struct iovec *parts, int count,
                         uint64_t offset)
{
    (void)context;
    (void)count;
    const struct iovec part = {parts->iov_base,
                               parts->iov_len < at_most ? parts->iov_len : at_most};
    return real()->write_at(NULL, file, &part, 1, offset);
}

static void expect_content(const struct fixture *fixture, const char *name, const char *content)
{
    char path[512];
    char bytes[100] = {0};
    snprintf(path, sizeof(path), "%s/%s", fixture->path, name);
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(fp_file_read(real(), file, bytes, sizeof(bytes), 0), strlen(content));
    assert_string_equal(bytes, content);
    close(file);
}

static void writes_all_parts_whatever_the_system_takes(void **state)
{
    struct fixture *fixture = *state;
    struct fp_file_ops ops = *real();
    ops.write_at = take_some;
    int dir = open(fixture->path, O_RDONLY);
    for (at_most = 1; at_most < 12; at_most++) {
        int file = ops.open(NULL, dir, "file", O_RDWR | O_CREAT | O_TRUNC);
        char bytes[] = "onetwenty3";
        struct iovec parts[] = {{bytes, 3}, {bytes + 3, 0}, {bytes + 3, 6}, {bytes + 9, 1}};
        assert_true(fp_file_write(&ops, file, parts, 4, 0));
        close(file);
        expect_content(fixture, "file", "onetwenty3");
    }
    close(dir);
}

static void a_write_that_takes_nothing_fails_instead_of_turning_for_ever(void **state)
{
    struct fixture *fixture = *state;
    struct fp_file_ops ops = *real();
    ops.write_at = take_some;
    at_most = 0;
    int dir = open(fixture->path, O_RDONLY);
    int file = ops.open(NULL, dir, "file", O_RDWR | O_CREAT);
    char bytes[] = "one";
    struct iovec part = {bytes, 3};
    assert_false(fp_file_write(&ops, file, &part, 1, 0));
    assert_int_equal(errno, EIO);
    close(file);
    close(dir);
}

static void replaces_a_file_whole_or_not_at_all(void **state)
{
    struct fixture *fixture = *state;
    static struct faults faults;
    init_faults(&faults);
    int dir = open(fixture->path, O_RDONLY);
    assert_true(fp_file_replace(&faults.ops, dir, "file", "old", 3));
    static const enum op ops[] = {OP_OPEN, OP_WRITE_AT, OP_SYNC_DATA, OP_RENAME};
    for (size_t i = 0; i < 4; i++) {
        atomic_store(&faults.error[ops[i]], EIO);
        errno = 0;
        assert_false(fp_file_replace(&faults.ops, dir, "file", "newer", 5));
        assert_int_equal(errno, EIO);
        expect_content(fixture, "file", "old");
        assert_int_equal(count_files(fixture, "", FP_FILE_UNFINISHED), 0);
        atomic_store(&faults.error[ops[i]], 0);
    }
    atomic_store(&faults.error[OP_SYNC_DIR], EIO);
    assert_false(fp_file_replace(&faults.ops, dir, "file", "newer", 5));
    atomic_store(&faults.error[OP_SYNC_DIR], 0);
    assert_true(fp_file_replace(&faults.ops, dir, "file", "newest", 6));
    expect_content(fixture, "file", "newest");
    close(dir);
}

static bool count_names(void *context, const char *name)
{
    (void)name;
    return ++*(unsigned *)context < 4;
}

static void lists_a_directory_as_often_as_asked(void **state)
{
    struct fixture *fixture = *state;
    int dir = open(fixture->path, O_RDONLY);
    for (int i = 0; i < 4; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        assert_true(fp_file_replace(real(), dir, name, "", 0));
    }
    for (int time = 0; time < 2; time++) {
        unsigned count = 0;
        assert_int_equal(real()->list(NULL, dir, count_names, &count), 0);
        assert_int_equal(count, 4); /* of six, with . and ..: the callback ended the listing */
    }
    close(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_all_parts_whatever_the_system_takes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_write_that_takes_nothing_fails_instead_of_turning_for_ever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replaces_a_file_whole_or_not_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_a_directory_as_often_as_asked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
