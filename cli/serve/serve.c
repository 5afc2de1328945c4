/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof serve: the web report.
 */
#include "cli/kit/command.h"
#include "cli/kit/query.h"
#include "cli/serve/manual.h"
#include "cli/serve/reader_options.h"
#include "cli/serve/server.h"
#include "collector/http/listen.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum {
    OPTION_LISTEN = FP_OPTION_FIRST,
    OPTION_ALLOW_HOST,
    OPTION_MCP,
    OPTION_MANUAL,
};

enum {
    READERS = 4,
    WAITING = 32,
    PORT_DEFAULT = 8602,
    PORTS_TRIED = 100,
};

struct serve_options {
    struct fp_database_options database;
    struct fp_server_settings server;
    struct fp_reader_settings readers;
};

static const struct argp_option options[] = {
    {"listen", OPTION_LISTEN, "ADDRESS", 0,
     "listen here: HOST:PORT or unix:PATH (default: 127.0.0.1:8602)", 0},
    {"allow-host", OPTION_ALLOW_HOST, "NAME", 0,
     "also answer for this host name; may be given 16 times; an address that other machines reach "
     "needs one",
     0},
    {"mcp", OPTION_MCP, NULL, 0,
     "also answer programs with a language model, at /mcp; on loopback only", 0},
    {"manual", OPTION_MANUAL, "FOLDER", 0,
     "the built manual, to show at /help/ (default: the one of the package)", 0},
    {0},
};

static void read_listen(struct serve_options *given, const char *arg, struct argp_state *state)
{
    const char *wrong = fp_address_parse(fp_str_of(arg), &given->server.listen);
    if (wrong != NULL)
        argp_error(state, "--listen %s: it %s", arg, wrong);
}

static void read_host(struct serve_options *given, const char *arg, struct argp_state *state)
{
    struct fp_guard *guard = &given->server.guard;
    if (!fp_guard_is_host_name(arg))
        argp_error(state, "--allow-host takes a host name without a port, not \"%s\"", arg);
    if (guard->name_count == FP_GUARD_MAX_NAMES)
        argp_error(state, "--allow-host may be given %d times", FP_GUARD_MAX_NAMES);
    guard->names[guard->name_count++] = arg;
}

/* An address that other machines reach is guarded by names alone. */
static void settle_guard(struct serve_options *given, struct argp_state *state)
{
    struct fp_guard *guard = &given->server.guard;
    bool is_unix = fp_address_path(&given->server.listen) != NULL;
    bool is_local = fp_guard_is_local(&given->server.listen);
    if (!is_local && guard->name_count == 0)
        argp_error(state, "--listen is an address that other machines reach: name the hosts that "
                          "browsers may ask for by --allow-host, and put a server with a login "
                          "before it (docs/report.md)");
    if (!is_local && given->server.has_mcp)
        argp_error(state, "--mcp needs a --listen address that other machines do not reach");
    guard->is_loopback = is_local;
    guard->any_host = is_unix && guard->name_count == 0;
}

static error_t parse_serve(int key, char *arg, struct argp_state *state)
{
    struct serve_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->readers;
        state->child_inputs[1] = &given->database;
        return 0;
    case OPTION_LISTEN:
        read_listen(given, arg, state);
        return 0;
    case OPTION_ALLOW_HOST:
        read_host(given, arg, state);
        return 0;
    case OPTION_MCP:
        given->server.has_mcp = true;
        return 0;
    case OPTION_MANUAL:
        if (!fp_manual_is_there(arg))
            argp_error(state, "--manual %s: there is no index.html", arg);
        given->server.manual = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        settle_guard(given, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_reader_argp, 0, NULL, 0},
    {&fp_database_argp, 0, "The database:", 1},
    {0},
};

static const struct argp serve_argp = {
    .options = options,
    .parser = parse_serve,
    .doc = "The web report: flame graphs, functions and comparisons in a browser. It runs until "
           "SIGTERM or Ctrl-C and only reads. It has no login: for other people, put nginx or "
           "httpd with one before it.",
    .children = children,
};

/* Blocks the signals that end the process, for all threads. */
static void take_signals(sigset_t *signals)
{
    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGTERM);
    (void)sigaddset(signals, SIGINT);
    (void)sigaddset(signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void announce(const struct fp_address *address)
{
    struct fp_buf text;
    fp_buf_init(&text, (size_t)4096);
    fp_address_write(address, &text);
    const char *scheme = fp_address_path(address) != NULL ? "" : "http://";
    (void)printf("The report is at %s%.*s%s\n", scheme, (int)text.len, (const char *)text.data,
                 scheme[0] != '\0' ? "/" : "");
    (void)fflush(stdout);
    fp_buf_release(&text);
    (void)sd_notify(0, "READY=1");
}

/* Looks at the database. A role that can write ends the command; anything else may pass, and each
 * answer says it. */
static bool look_at_database(struct fp_readers *readers)
{
    struct fp_trouble trouble = {0};
    if (fp_readers_try(readers, -1, &trouble) == FP_READER_FINE)
        return true;
    if (trouble.is_final) {
        fp_message_error("%s", trouble.detail);
        fp_message_hint("%s", trouble.hint);
        return false;
    }
    fp_message_notice("the report has no numbers to show yet: %s", trouble.detail);
    if (trouble.hint[0] != '\0')
        fp_message_hint("%s", trouble.hint);
    return true;
}

static void set_port(struct fp_address *address, uint16_t port)
{
    if (address->sa.ss_family == AF_INET6) {
        struct sockaddr_in6 sa;
        memcpy(&sa, &address->sa, sizeof(sa));
        sa.sin6_port = htons(port);
        memcpy(&address->sa, &sa, sizeof(sa));
    } else {
        struct sockaddr_in sa;
        memcpy(&sa, &address->sa, sizeof(sa));
        sa.sin_port = htons(port);
        memcpy(&address->sa, &sa, sizeof(sa));
    }
}

static bool is_free(const struct fp_address *address)
{
    struct fp_listener listener;
    struct fp_buf detail;
    fp_buf_init(&detail, (size_t)4096);
    const bool opened = fp_listener_open(address, &listener, &detail);
    if (opened)
        fp_listener_close(&listener);
    fp_buf_release(&detail);
    return opened;
}

/* Looks for a free port on the host of an address, from the report's usual one on. */
static bool find_port(struct fp_address *address)
{
    for (unsigned port = PORT_DEFAULT; port < PORT_DEFAULT + PORTS_TRIED; port++) {
        set_port(address, (uint16_t)port);
        if (is_free(address))
            return true;
    }
    return false;
}

/* Names an address that is free: on the host that was wanted, else on loopback. */
static void hint_at_address(const struct fp_address *wanted)
{
    struct fp_address free_one = *wanted;
    bool found = fp_address_path(wanted) == NULL && find_port(&free_one);
    if (!found)
        found = fp_address_parse(FP_STR("127.0.0.1:1"), &free_one) == NULL && find_port(&free_one);
    struct fp_buf text;
    fp_buf_init(&text, (size_t)4096);
    if (found)
        fp_buf_addf(&text, ", such as ");
    if (found)
        fp_address_write(&free_one, &text);
    fp_message_hint("Give another --listen%.*s.", (int)text.len, (const char *)text.data);
    fp_buf_release(&text);
}

static bool serve(struct serve_options *given, const sigset_t *signals)
{
    struct fp_buf detail;
    fp_buf_init(&detail, (size_t)4096);
    struct fp_server *server = fp_server_start(&given->server, &detail);
    if (server == NULL) {
        fp_message_error("%.*s", (int)detail.len, (const char *)detail.data);
        hint_at_address(&given->server.listen);
    } else {
        int signal_number;
        announce(&given->server.listen);
        (void)sigwait(signals, &signal_number);
        (void)sd_notify(0, "STOPPING=1");
        (void)eventfd_write(given->readers.stop_fd, 1);
        fp_server_stop(server);
    }
    fp_buf_release(&detail);
    return server != NULL;
}

enum fp_exit fp_serve_command(int argc, char **argv)
{
    sigset_t signals;
    struct serve_options given = {.readers = {.connections = READERS, .waiting = WAITING}};
    if (fp_address_parse(FP_STR("127.0.0.1:8602"), &given.server.listen) != NULL)
        return FP_EXIT_TROUBLE;
    given.server.manual = fp_manual_installed();
    fp_command_parse(&serve_argp, argc, argv, &given);
    char *conninfo = fp_database_choose(&given.database);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    take_signals(&signals);
    given.readers.conninfo = conninfo;
    given.readers.stop_fd = eventfd(0, EFD_CLOEXEC);
    given.server.readers = fp_readers_start(&given.readers);
    bool fine = false;
    if (given.readers.stop_fd < 0 || given.server.readers == NULL)
        fp_message_error("cannot start: out of memory or descriptors");
    else
        fine = look_at_database(given.server.readers) && serve(&given, &signals);
    fp_readers_stop(given.server.readers);
    if (given.readers.stop_fd >= 0)
        close(given.readers.stop_fd);
    free(conninfo);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
