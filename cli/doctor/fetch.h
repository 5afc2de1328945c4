/*
 * Fetch: one HTTP request after another by libcurl, bounded in time, size and number.
 *
 * Credentials of the first URL go to its origin only. Nothing is followed: fp_fetch_page does that
 * step by step. One thread.
 */
#ifndef FP_CLI_DOCTOR_FETCH_H
#define FP_CLI_DOCTOR_FETCH_H

#include "collector/base/buf.h"

enum { FP_FETCH_HOPS_MAX = 10 };

struct fp_fetch_settings {
    const char *url;     /* absolute; may contain user and password */
    const char *ca_file; /* trusted certificates; NULL: the system's */
    int64_t deadline_us; /* monotonic: when all requests must have ended */
};

struct fp_fetcher;

/* Returns a fetcher; settings' texts must outlive it. */
struct fp_fetcher *fp_fetcher_create(const struct fp_fetch_settings *settings);
void fp_fetcher_free(struct fp_fetcher *fetcher);

/* True once the deadline has passed. */
bool fp_fetcher_is_late(const struct fp_fetcher *fetcher);

/* From now on, connects to HOST:PORT instead of the URLs' hosts; NULL: to the URLs' hosts. */
void fp_fetcher_direct(struct fp_fetcher *fetcher, const char *direct);

struct fp_fetch_request {
    const char *method;        /* GET, POST or OPTIONS */
    const char *url;           /* absolute, without credentials */
    const char *const *fields; /* "Name: value", up to a NULL; NULL: none */
    struct fp_str body;        /* of a POST */
    size_t body_max;           /* bytes of the reply's body that are read */
    const char *unix_socket;   /* connect to this path instead of the host; NULL: to the host */
};

struct fp_fetch_field {
    char *name;
    char *value;
};

struct fp_fetch_reply {
    long status;     /* 0: no reply */
    char error[300]; /* why there is none, "" otherwise */
    long version;    /* CURL_HTTP_VERSION_… */
    struct fp_fetch_field *fields;
    size_t field_count;
    struct fp_buf body;
    bool is_cut; /* the body is longer than body_max */
};

/* Sends one request and waits for its reply. The caller calls fp_fetch_release. */
void fp_fetch(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
              struct fp_fetch_reply *reply);
void fp_fetch_release(struct fp_fetch_reply *reply);

/* Returns the value of the nth field of this name (from 0), NULL if there are fewer. */
const char *fp_fetch_nth(const struct fp_fetch_reply *reply, const char *name, size_t nth);

/* Returns the value of the first field of this name, "" if there is none. */
const char *fp_fetch_field(const struct fp_fetch_reply *reply, const char *name);

/* Returns all values of this name joined by ", "; NULL if there is none. The caller frees it. */
char *fp_fetch_joined(const struct fp_fetch_reply *reply, const char *name) FP_MUST_CHECK;

/* Sends a GET and follows redirects. `hop` is called with each redirect and its URL. Returns the
 * URL of the last reply, which the caller frees. If there are too many hops, the last reply is a
 * redirect. */
char *fp_fetch_following(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
                         struct fp_fetch_reply *reply,
                         void (*hop)(void *context, const char *url,
                                     const struct fp_fetch_reply *reply),
                         void *context);

#endif
