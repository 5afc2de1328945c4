/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof mcp: answers a program, such as one with a language model, over standard input and
 * output.
 */
#include "cli/kit/command.h"
#include "cli/kit/query.h"
#include "cli/serve/mcp_message.h"
#include "cli/serve/reader_options.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CHUNK_SIZE = 64 * 1024,
};

struct mcp_options {
    struct fp_database_options database;
    struct fp_reader_settings readers;
};

static error_t parse_mcp(int key, char *arg, struct argp_state *state)
{
    struct mcp_options *given = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &given->readers;
    state->child_inputs[1] = &given->database;
    return 0;
}

static const struct argp_child children[] = {
    {&fp_reader_argp, 0, NULL, 0},
    {&fp_database_argp, 0, "The database:", 1},
    {0},
};

static const struct argp mcp_argp = {
    .parser = parse_mcp,
    .doc = "A server of the Model Context Protocol, for programs with a language model: they start "
           "it, and talk to it over standard input and output. It only reads, and ends with its "
           "input.",
    .children = children,
};

/* A client that sends a message a line. */
struct client {
    struct fp_readers *readers;
    struct fp_mcp_session session;
    struct fp_buf line; /* of the message that is not whole */
    bool is_too_long;
};

static bool send_reply(const struct fp_buf *reply)
{
    if (reply->len == 0)
        return true;
    (void)fwrite(reply->data, 1, reply->len, stdout);
    (void)fputc('\n', stdout);
    return fflush(stdout) == 0;
}

/* Answers the line. False: the client is gone. */
static bool end_line(struct client *client)
{
    struct fp_buf reply;
    fp_buf_init(&reply, FP_MCP_REPLY_MAX);
    bool fine = true;
    if (client->is_too_long)
        fp_mcp_refuse_size(&reply);
    else if (client->line.len > 0)
        fine = fp_mcp_answer(&client->session,
                             (struct fp_str){(const char *)client->line.data, client->line.len},
                             client->readers, STDOUT_FILENO, &reply);
    fine = fine && send_reply(&reply);
    fp_buf_release(&reply);
    fp_buf_clear(&client->line);
    client->is_too_long = false;
    return fine;
}

/* Takes bytes of the input. False: the client is gone. */
static bool take_bytes(struct client *client, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        const size_t taken = end != NULL ? (size_t)(end - bytes) : len;
        fp_buf_add(&client->line, bytes, taken);
        client->is_too_long = client->is_too_long || client->line.failed;
        if (end == NULL)
            return true;
        if (!end_line(client))
            return false;
        bytes += taken + 1;
        len -= taken + 1;
    }
    return true;
}

/* Answers until the input ends. */
static bool answer_all(struct client *client)
{
    char chunk[CHUNK_SIZE];
    for (;;) {
        const ssize_t got = read(STDIN_FILENO, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fp_message_error("could not read standard input: %s", strerror(errno));
        if (got <= 0)
            return got == 0 && end_line(client);
        if (!take_bytes(client, chunk, (size_t)got))
            return true;
    }
}

enum fp_exit fp_mcp_command(int argc, char **argv)
{
    struct mcp_options given = {.readers = {.connections = 1, .waiting = 1}};
    fp_command_parse(&mcp_argp, argc, argv, &given);
    char *conninfo = fp_database_choose(&given.database);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    given.readers.conninfo = conninfo;
    given.readers.stop_fd = eventfd(0, EFD_CLOEXEC);
    struct client client = {.readers = fp_readers_start(&given.readers)};
    fp_buf_init(&client.line, FP_MCP_MESSAGE_MAX);
    bool fine = false;
    if (given.readers.stop_fd < 0 || client.readers == NULL)
        fp_message_error("cannot start: out of memory or descriptors");
    else
        fine = answer_all(&client);
    fp_buf_release(&client.line);
    fp_readers_stop(client.readers);
    if (given.readers.stop_fd >= 0)
        close(given.readers.stop_fd);
    free(conninfo);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
