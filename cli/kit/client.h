/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: sends HTTP requests, one at a time, and keeps the connection from one to the next.
 *
 * Follows no redirects. Ends the process when memory runs out. One thread.
 */
#ifndef FP_CLI_KIT_CLIENT_H
#define FP_CLI_KIT_CLIENT_H

#include "collector/base/buf.h"

#include <sys/socket.h>

struct fp_client_settings {
    bool is_direct;      /* proxies of the environment are not used */
    bool is_decoded;     /* accepts every content encoding that it can undo */
    const char *ca_file; /* trusted certificates; NULL: the system's */
    /* Judges each address before a connection to it. False: *why, of `size` bytes, says why it is
     * refused. NULL: all are fine. */
    bool (*admits)(void *context, const struct sockaddr *address, char *why, size_t size);
    void *context;
};

struct fp_client;

/* Returns a client; the texts of the settings must outlive it. The caller calls fp_client_free. */
struct fp_client *fp_client_create(const struct fp_client_settings *settings);
void fp_client_free(struct fp_client *client);

struct fp_client_request {
    const char *method;        /* GET, POST or OPTIONS */
    const char *url;           /* absolute, http or https */
    const char *user;          /* NULL: none */
    const char *password;      /* NULL: none */
    const char *const *fields; /* "Name: value", up to a NULL; NULL: none */
    struct fp_str body;        /* of a POST */
    size_t body_max;           /* bytes of the reply's body that are read */
    const char *unix_socket;   /* connect to this path instead of the host; NULL: to the host */
    const char *connect_to;    /* connect to HOST:PORT instead; NULL: to the URL's host */
    int64_t timeout_ms;
};

struct fp_client_field {
    char *name;
    char *value;
};

struct fp_client_reply {
    long status;           /* 0: no reply */
    char error[300];       /* why there is none, "" otherwise */
    bool is_not_tls;       /* there is none, because the server does not speak TLS */
    bool is_not_reached;   /* there is none, because nobody listens */
    long version;          /* CURL_HTTP_VERSION_… */
    char address[64];      /* that was connected to, "" if unknown */
    int64_t retry_after_s; /* 0: the reply does not say */
    struct fp_client_field *fields;
    size_t field_count;
    struct fp_buf body;
    bool is_cut; /* the body is longer than body_max */
};

/* Sends one request and waits for its reply. The caller calls fp_client_release. */
void fp_client_send(struct fp_client *client, const struct fp_client_request *request,
                    struct fp_client_reply *reply);
void fp_client_release(struct fp_client_reply *reply);

/* Returns the value of the nth field of this name (from 0), NULL if there are fewer. */
const char *fp_client_nth(const struct fp_client_reply *reply, const char *name, size_t nth);

/* Returns the value of the first field of this name, "" if there is none. */
const char *fp_client_field(const struct fp_client_reply *reply, const char *name);

#endif
