/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetch: which request may go where, with what; and redirects.
 */
#include "cli/doctor/fetch.h"

#include "cli/doctor/network.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"
#include "collector/base/clock.h"

#include <stdlib.h>

enum {
    REQUEST_TIMEOUT_MS = 30 * 1000,
};

struct fp_fetcher {
    struct fp_client *client;
    struct fp_fetch_settings settings;
    struct fp_web_address first; /* has the credentials */
    char *first_origin;
    char *direct;
    bool is_outside;                        /* the first request went to a public address */
    bool has_answer;                        /* so it is known whether it did */
    const struct fp_fetch_request *request; /* being sent */
};

/* ---- where to ---- */

static bool is_refused(const struct fp_fetcher *fetcher, enum fp_network network)
{
    return fetcher->is_outside && fp_network_is_inside(network) && fetcher->direct == NULL &&
           !fetcher->request->is_named;
}

/* Judges the address of a connection. */
static bool admits(void *context, const struct sockaddr *address, char *why, size_t size)
{
    const struct fp_fetcher *fetcher = context;
    const enum fp_network network = fp_network_of(address);
    if (!is_refused(fetcher, network))
        return true;
    (void)snprintf(why, size, "not asked: the address is %s, and that of the page is public",
                   fp_network_name(network));
    return false;
}

/* Notes where the first request went. */
static void learn_place(struct fp_fetcher *fetcher, const struct fp_client_reply *reply)
{
    if (fetcher->has_answer || !fetcher->settings.is_guarded || reply->address[0] == '\0')
        return;
    fetcher->has_answer = true;
    fetcher->is_outside = !fp_network_is_inside(fp_network_of_text(reply->address));
}

struct fp_fetcher *fp_fetcher_create(const struct fp_fetch_settings *settings)
{
    struct fp_fetcher *fetcher = fp_memory_need(calloc(1, sizeof(*fetcher)));
    const struct fp_client_settings client = {
        .is_decoded = true, .ca_file = settings->ca_file, .admits = admits, .context = fetcher};
    fetcher->settings = *settings;
    fetcher->client = fp_client_create(&client);
    fetcher->first_origin = fp_web_origin(settings->url);
    if (!fp_web_address_parse(settings->url, &fetcher->first))
        fetcher->first = (struct fp_web_address){0};
    return fetcher;
}

void fp_fetcher_free(struct fp_fetcher *fetcher)
{
    fp_client_free(fetcher->client);
    fp_web_address_release(&fetcher->first);
    free(fetcher->first_origin);
    free(fetcher->direct);
    free(fetcher);
}

void fp_fetcher_direct(struct fp_fetcher *fetcher, const char *direct)
{
    free(fetcher->direct);
    fetcher->direct = direct != NULL ? fp_memory_copy(direct) : NULL;
}

bool fp_fetcher_is_late(const struct fp_fetcher *fetcher)
{
    return fp_clock_monotonic_us() >= fetcher->settings.deadline_us;
}

/* ---- one request ---- */

/* True if a URL has the origin of the first URL: only that origin may get its credentials. */
static bool is_first_origin(const struct fp_fetcher *fetcher, const char *url)
{
    char *origin = fp_web_origin(url);
    const bool is_own = origin != NULL && fetcher->first_origin != NULL &&
                        strcmp(origin, fetcher->first_origin) == 0;
    free(origin);
    return is_own;
}

static int64_t timeout_ms(const struct fp_fetcher *fetcher)
{
    int64_t left_ms = (fetcher->settings.deadline_us - fp_clock_monotonic_us()) / 1000;
    if (left_ms < 1)
        left_ms = 1;
    return left_ms < REQUEST_TIMEOUT_MS ? left_ms : REQUEST_TIMEOUT_MS;
}

void fp_fetch(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
              struct fp_client_reply *reply)
{
    const bool is_first = is_first_origin(fetcher, request->url);
    const struct fp_client_request sent = {
        .method = request->method,
        .url = request->url,
        .user = is_first ? fetcher->first.user : NULL,
        .password = is_first ? fetcher->first.password : NULL,
        .fields = request->fields,
        .body = request->body,
        .body_max = request->body_max,
        .unix_socket = request->unix_socket,
        .connect_to = fetcher->direct,
        .timeout_ms = timeout_ms(fetcher),
    };
    fetcher->request = request;
    fp_client_send(fetcher->client, &sent, reply);
    learn_place(fetcher, reply);
}

/* ---- fields ---- */

char *fp_fetch_joined(const struct fp_client_reply *reply, const char *name)
{
    const char *value = fp_client_nth(reply, name, 0);
    char *joined = value != NULL ? fp_memory_copy(value) : NULL;
    for (size_t nth = 1; (value = fp_client_nth(reply, name, nth)) != NULL; nth++) {
        char *longer = fp_memory_print("%s, %s", joined, value);
        free(joined);
        joined = longer;
    }
    return joined;
}

/* ---- redirects ---- */

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

char *fp_fetch_following(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
                         struct fp_client_reply *reply, fp_fetch_hop_fn *hop, void *context)
{
    char *url = fp_memory_copy(request->url);
    for (int hops = 0;; hops++) {
        struct fp_fetch_request next = *request;
        next.url = url;
        fp_fetch(fetcher, &next, reply);
        const char *location = fp_client_field(reply, "Location");
        char *target = is_redirect(reply->status) && location[0] != '\0' && hops < FP_FETCH_HOPS_MAX
                           ? fp_web_resolve(url, location)
                           : NULL;
        if (target == NULL)
            return url;
        if (!hop(context, url, target, reply)) {
            free(target);
            return url;
        }
        fp_client_release(reply);
        free(url);
        url = target;
    }
}
