/* SPDX-License-Identifier: Apache-2.0 */
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

    /* Somebody removed the file, and another process created one. */
    assert_int_equal(unlink(path), 0);
    assert_true(fp_listener_open(&address, &second, &detail));
    fp_listener_close(&first);
    assert_int_equal(stat(path, &st), 0);
    fp_listener_close(&second);
    assert_int_not_equal(stat(path, &st), 0);
    assert_int_equal(rmdir(directory), 0);
    fp_buf_release(&detail);
}

/* Returns 0 or the error of connecting to `fd`'s address. */
static int connect_to(int fd)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error = connect(client, (const struct sockaddr *)&address, len) == 0 ? 0 : errno;
    close(client);
    return error;
}

static void shutting_refuses_connections_and_keeps_the_descriptor(void **state)
{
    (void)state;
    struct fp_address address;
    assert_null(fp_address_parse(fp_str_of("127.0.0.1:1"), &address));
    ((struct sockaddr_in *)(void *)&address.sa)->sin_port = 0; /* any */
    struct fp_buf detail;
    fp_buf_init(&detail, 1024);
    struct fp_listener listener;
    assert_true(fp_listener_open(&address, &listener, &detail));

    /* Another process goes on listening on a socket that is shared. */
    struct fp_listener shared;
    fp_listener_take(dup(listener.fd), &shared);
    fp_listener_shut(&shared);
    assert_int_equal(connect_to(listener.fd), 0);

    fp_listener_shut(&listener);
    assert_int_equal(connect_to(listener.fd), ECONNREFUSED);
    assert_true(fcntl(listener.fd, F_GETFD) >= 0);
    fp_listener_close(&listener);
    fp_listener_close(&shared);
    fp_buf_release(&detail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_removes_no_socket_but_its_own),
        cmocka_unit_test(shutting_refuses_connections_and_keeps_the_descriptor),
    };
    return cmocka_run_group_tests_name("http_listen", tests, NULL, NULL);
}
