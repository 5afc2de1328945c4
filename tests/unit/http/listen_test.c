/*
 * Listening sockets.
 */
#include "tests/unit/unit.h"

#include "collector/http/listen.c"

static struct fp_address in_directory(const char *directory)
{
    char text[128];
    struct fp_address address;
    snprintf(text, sizeof(text), "unix:%s/s", directory);
    assert_null(fp_address_parse(fp_str_of(text), &address));
    return address;
}

static void closing_removes_no_socket_but_its_own(void **state)
{
    (void)state;
    char directory[] = "/tmp/fleetprof-listen-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct fp_address address = in_directory(directory);
    const char *path = ((const struct sockaddr_un *)(const void *)&address.sa)->sun_path;
    struct fp_buf detail;
    fp_buf_init(&detail, 1024);
    struct fp_listener first;
    struct fp_listener second;
    struct stat st;

    mode_t old = umask(0077);
    assert_true(fp_listener_open(&address, &first, &detail));
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
    assert_false(fp_listener_open(&address, &second, &detail));
    assert_int_equal(second.fd, -1);

    /* Somebody removed the file, another process took the place. */
    assert_int_equal(unlink(path), 0);
    assert_true(fp_listener_open(&address, &second, &detail));
    fp_listener_close(&first);
    assert_int_equal(stat(path, &st), 0);
    fp_listener_close(&second);
    assert_int_not_equal(stat(path, &st), 0);
    assert_int_equal(rmdir(directory), 0);
    fp_buf_release(&detail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_removes_no_socket_but_its_own),
    };
    return cmocka_run_group_tests_name("http_listen", tests, NULL, NULL);
}
