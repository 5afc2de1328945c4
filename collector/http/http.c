/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP: starts and stops the public listener's daemon.
 */
#include "collector/http/http.h"

#include "collector/base/clock.h"
#include "collector/http/reply.h"
#include "collector/http/request.h"
#include "collector/http/strict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

enum {
    ENDING_MAX = 256, /* shut down, but not yet closed by their thread */
};

static void count_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                             enum MHD_ConnectionNotificationCode what)
{
    struct fp_http *http = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *socket_context = fp_connections_add(http->connections, fd);
        fp_metrics_shift(http->metrics, FP_METRIC_CONNECTIONS, 1);
        return;
    }
    if (*socket_context != NULL)
        fp_connections_remove(http->connections, *socket_context);
    fp_metrics_shift(http->metrics, FP_METRIC_CONNECTIONS, -1);
}

static const struct fp_metric metrics_table[] = {FP_HTTP_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_http_metrics = {metrics_table, FP_HTTP_METRIC_COUNT, NULL};

size_t fp_http_descriptors(unsigned connections)
{
    return (size_t)connections + ENDING_MAX;
}

/*
 * Counts requests that libmicrohttpd refuses by itself because they are malformed below HTTP. Only
 * its log shows them; any other log text counts nothing.
 */
static void hear_library(void *cls, const char *format, va_list arguments)
{
    static const char refusal[] = "Error processing request (HTTP response code is %u";
    struct fp_http *http = cls;
    if (strncmp(format, refusal, sizeof(refusal) - 1) != 0)
        return;
    struct fp_problem problem;
    fp_problem_refuse(&problem, FP_REFUSAL_MALFORMED,
                      "a request that is not HTTP, or whose headers are too large");
    problem.status = va_arg(arguments, unsigned);
    fp_ingest_count_refused(http->ingest, NULL, &problem);
    fp_reply_count(http->metrics, problem.status);
}

static struct MHD_Daemon *start_daemon(struct fp_http *http,
                                       const struct fp_http_settings *settings)
{
    unsigned most = (unsigned)fp_http_descriptors(settings->connections);
    unsigned timeout_s = (unsigned)((settings->timeout_us + FP_US_PER_S - 1) / FP_US_PER_S);
    /* MHD ignores a pool size of one. It divides the connection limit evenly among its threads. */
    struct MHD_OptionItem pool[] = {
        {settings->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END,
         (intptr_t)settings->threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, fp_request_handle, http, MHD_OPTION_EXTERNAL_LOGGER, hear_library, http,
        MHD_OPTION_LISTEN_SOCKET, http->listener.fd, MHD_OPTION_CONNECTION_LIMIT, most,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, settings->connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_NOTIFY_COMPLETED, fp_request_completed,
        http, MHD_OPTION_NOTIFY_CONNECTION, count_connection, http, MHD_OPTION_URI_LOG_CALLBACK,
        fp_strict_read_target, NULL, MHD_OPTION_STRICT_FOR_CLIENT, fp_strict_library_level(),
        MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
}

/* Frees a listener without a daemon. */
static void release(struct fp_http *http)
{
    fp_turns_stop(http->turns);
    fp_turns_free(http->turns);
    fp_listener_close(&http->listener);
    fp_connections_stop(http->connections);
    free(http);
}

struct fp_http *fp_http_start(const struct fp_http_settings *settings, struct fp_ingest *ingest,
                              struct fp_metrics *metrics, struct fp_buf *detail)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &fp_http_metrics);
    struct fp_http *http = set != NULL ? calloc(1, sizeof(*http)) : NULL;
    if (http == NULL) {
        fp_buf_addf(detail, "out of memory");
        return NULL;
    }
    http->ingest = ingest;
    http->metrics = set;
    http->captures = settings->captures;
    http->proxies = settings->proxies;
    if (settings->given_socket >= 0) {
        fp_listener_take(settings->given_socket, &http->listener);
    } else if (!fp_listener_open(&settings->listen, &http->listener, detail)) {
        free(http);
        return NULL;
    }
    http->waiting_max = settings->connections;
    http->turns = fp_turns_create(fp_turns_threads(settings->threads));
    http->connections =
        fp_connections_start(settings->connections, settings->request_timeout_us, set);
    if (http->connections != NULL && http->turns != NULL && fp_turns_start(http->turns))
        http->daemon = start_daemon(http, settings);
    if (http->daemon == NULL) {
        fp_buf_addf(detail, "cannot start threads: %s", strerror(errno));
        release(http);
        return NULL;
    }
    return http;
}

void fp_http_stop_accepting(struct fp_http *http)
{
    if (atomic_exchange(&http->stopping, true))
        return;
    /* Makes MHD release the socket; otherwise it would close it. Its threads use it until they end.
     */
    (void)MHD_quiesce_daemon(http->daemon);
    fp_listener_shut(&http->listener);
}

size_t fp_http_unheard(const struct fp_http *http)
{
    return fp_connections_unheard(http->connections);
}

size_t fp_http_in_flight(const struct fp_http *http)
{
    return atomic_load(&http->in_flight);
}

void fp_http_stop_decoding(struct fp_http *http)
{
    fp_turns_stop(http->turns);
}

void fp_http_stop(struct fp_http *http)
{
    if (http == NULL)
        return;
    fp_http_stop_accepting(http);
    fp_turns_stop(http->turns); /* a daemon must not stop while it has suspended connections */
    MHD_stop_daemon(http->daemon);
    release(http);
}
