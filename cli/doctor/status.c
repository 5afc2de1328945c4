/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof status: how collectors and their database are, and what is wrong.
 */
#include "cli/doctor/status.h"

#include "cli/doctor/fetch.h"
#include "cli/doctor/trial.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/options.h"
#include "collector/base/clock.h"

#include <curl/curl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    OPTION_COLLECTOR = FP_OPTION_FIRST,
    OPTION_WATCH,
    OPTION_OVER,
    OPTION_JSON,
};

enum {
    ANSWER_S = 10,               /* what a collector, and the database, may take */
    PAGE_MAX = 16 * 1024 * 1024, /* 6 KB per site */
    WATCH_DEFAULT_S = 2,
    OVER_DEFAULT_S = 1,
    SECONDS_MAX = 3600,
    LATE_WINDOWS = 10, /* each at most flush.max_window: then the database does not keep up */
    LATE_DEFAULT_S = 100,
    TRIAL_PERIOD_S = 60, /* of --watch */
};

struct options {
    struct fp_database_options database;
    const char *collectors[FP_STATUS_COLLECTORS_MAX];
    size_t collector_count;
    unsigned watch_s; /* 0: print once */
    unsigned over_s;
    bool json;
};

static const struct argp_option options[] = {
    {"collector", OPTION_COLLECTOR, "ADDRESS", 0,
     "the admin listener of a collector: HOST:PORT, unix:/PATH, or a URL of which /metrics is the "
     "end; up to 100 times (default: admin of the configuration)",
     0},
    {"over", OPTION_OVER, "SECONDS", 0,
     "measure rates over SECONDS, 0 to 3600 (default: 1); 0: no rates, and no finding "
     "uploads-refused",
     0},
    {"watch", OPTION_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
     "print again after SECONDS, 1 to 3600 (default: 2), until interrupted; rates are of the time "
     "since the last print",
     0},
    {"json", OPTION_JSON, NULL, 0, "print JSON, with all numbers", 0},
    {0},
};

/* Returns the URL of the metrics at an address; NULL: it is not one. *unix_socket gets the path of
 * a socket, else NULL. Both are the caller's. */
static char *url_of(const char *address, char **unix_socket)
{
    *unix_socket = NULL;
    if (strncmp(address, "unix:/", 6) == 0) {
        *unix_socket = fp_memory_copy(address + 5);
        return fp_memory_copy("http://localhost/metrics");
    }
    const bool is_url = strstr(address, "://") != NULL;
    char *base = fp_memory_print("%s%s", is_url ? "" : "http://", address);
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        base[--len] = '\0';
    static const char path[] = "/metrics";
    const size_t path_len = sizeof(path) - 1;
    const bool is_whole = len > path_len && strcmp(base + len - path_len, path) == 0;
    char *url = fp_memory_print("%s%s", base, is_whole ? "" : path);
    free(base);
    char *origin = fp_web_origin(url);
    const bool is_valid = origin != NULL && strpbrk(url, "?#") == NULL &&
                          (is_url || strpbrk(address, "/@") == NULL) &&
                          strpbrk(url, " \t\r\n") == NULL;
    free(origin);
    if (is_valid)
        return url;
    free(url);
    return NULL;
}

static void read_collector(const char *arg, struct argp_state *state, struct options *given)
{
    char *unix_socket;
    char *url = url_of(arg, &unix_socket);
    if (url == NULL)
        argp_error(state,
                   "--collector takes the address of an admin listener, such as 127.0.0.1:8601, "
                   "not \"%s\"",
                   arg);
    free(url);
    free(unix_socket);
    if (given->collector_count == FP_STATUS_COLLECTORS_MAX)
        argp_error(state, "at most %d collectors", FP_STATUS_COLLECTORS_MAX);
    given->collectors[given->collector_count++] = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->database;
        return 0;
    case OPTION_COLLECTOR:
        read_collector(arg, state, given);
        return 0;
    case OPTION_OVER:
        given->over_s = fp_option_number("over", arg, "seconds", 0, SECONDS_MAX, state);
        return 0;
    case OPTION_JSON:
        given->json = true;
        return 0;
    case OPTION_WATCH:
        given->watch_s = arg != NULL
                             ? fp_option_number("watch", arg, "seconds", 1, SECONDS_MAX, state)
                             : WATCH_DEFAULT_S;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {0},
};

static const struct argp status_argp = {
    .options = options,
    .parser = parse,
    .doc = "How collectors and their database are: uploads, refusals, what waits, versions, disk, "
           "partitions; and what is wrong, with what to do.\v"
           "Nothing is changed. The database is read as fleetprof_reader if the configuration "
           "names it. Exit code: 0 nothing is wrong, 1 something is, 2 wrong use.",
    .children = children,
};

/* ---- asking ---- */

/* Returns a URL beside that of the metrics. */
static char *beside_metrics(const struct fp_status_collector *collector, const char *name)
{
    const char *slash = strrchr(collector->url, '/');
    return fp_memory_print("%.*s/%s", (int)(slash - collector->url), collector->url, name);
}

static void get(struct fp_fetcher *fetcher, const struct fp_status_collector *collector,
                const char *name, struct fp_client_reply *reply)
{
    char *beside = beside_metrics(collector, name);
    char *url = fp_web_resolve(beside, beside); /* without credentials */
    const struct fp_fetch_request request = {.method = "GET",
                                             .url = url != NULL ? url : beside,
                                             .body_max = PAGE_MAX,
                                             .unix_socket = collector->unix_socket};
    fp_fetch(fetcher, &request, reply);
    free(url);
    free(beside);
}

/* Keeps the metrics of a reply, or why there are none. */
static void take_metrics(struct fp_status_collector *collector, struct fp_client_reply *reply)
{
    collector->answers = reply->status != 0;
    if (reply->status == 200 && !reply->is_cut)
        fp_scrape_parse(&collector->latest, fp_memory_text(&reply->body));
    collector->latest.at_us = fp_clock_monotonic_us();
    const bool is_collector = !isnan(fp_scrape_sum(&collector->latest, "fleetprof_build_info"));
    if (is_collector)
        return;
    fp_scrape_release(&collector->latest);
    if (reply->status == 0 && collector->unix_socket != NULL)
        /* libcurl's text would name localhost. */
        collector->error =
            fp_memory_print("nothing answers on the socket %s", collector->unix_socket);
    else if (reply->status == 0)
        collector->error = fp_memory_copy(reply->error);
    else if (reply->status != 200)
        collector->error = fp_memory_print("it answers with status %ld", reply->status);
    else
        collector->error = fp_memory_copy("its page has no metrics of fleetprof");
}

static void take_readiness(struct fp_status_collector *collector, struct fp_client_reply *reply)
{
    static const char database[] = "\ndatabase: ";
    if (reply->status != 503 && reply->status != 200)
        return;
    char *text = fp_memory_copy(fp_memory_text(&reply->body));
    const char *second = strstr(text, database);
    if (second != NULL) {
        collector->database = fp_memory_copy(second + sizeof(database) - 1);
        collector->database[strcspn(collector->database, "\n")] = '\0';
    }
    text[strcspn(text, "\n")] = '\0';
    if (reply->status == 503)
        collector->not_ready = text;
    else
        free(text);
}

/* Forgets the earlier page; the latest one becomes the earlier one. */
static void age(struct fp_status_collector *collector)
{
    fp_scrape_release(&collector->earlier);
    free(collector->error);
    free(collector->not_ready);
    free(collector->database);
    collector->earlier = collector->latest;
    collector->latest = (struct fp_scrape){0};
    collector->error = NULL;
    collector->not_ready = NULL;
    collector->database = NULL;
}

static void ask_collector(struct fp_status_collector *collector)
{
    const struct fp_fetch_settings settings = {
        .url = collector->url,
        .deadline_us = fp_clock_monotonic_us() + ANSWER_S * FP_US_PER_S,
    };
    struct fp_fetcher *fetcher = fp_fetcher_create(&settings);
    struct fp_client_reply reply;
    age(collector);
    get(fetcher, collector, "metrics", &reply);
    take_metrics(collector, &reply);
    fp_client_release(&reply);
    if (collector->error == NULL) {
        get(fetcher, collector, "readyz", &reply);
        take_readiness(collector, &reply);
        fp_client_release(&reply);
    }
    fp_fetcher_free(fetcher);
}

static void ask_collectors(struct fp_status *status)
{
    for (size_t i = 0; i < status->collector_count; i++)
        ask_collector(&status->collectors[i]);
}

/* ---- whom to ask ---- */

/* Returns a URL as it may be shown. */
static char *without_credentials(const char *url)
{
    char *shown = fp_memory_need(fp_web_resolve(url, url));
    const size_t len = strlen(shown);
    if (len > 0 && shown[len - 1] == '/')
        shown[len - 1] = '\0';
    return shown;
}

static void add_collector(struct fp_status *status, const char *address, int64_t late_us)
{
    status->collectors = fp_memory_grow(status->collectors, status->collector_count,
                                        &status->collector_capacity, sizeof(*status->collectors));
    struct fp_status_collector *collector = &status->collectors[status->collector_count++];
    *collector = (struct fp_status_collector){.late_us = late_us};
    collector->url = fp_memory_need(url_of(address, &collector->unix_socket));
    collector->address =
        strstr(address, "://") != NULL ? without_credentials(address) : fp_memory_copy(address);
}

/* Adds the collector of the configuration. */
static void add_configured(struct fp_status *status, const struct fp_config *config)
{
    struct fp_buf address;
    if (config->admin.len == 0) {
        fp_message_notice("the configuration has no admin listener, so nothing is known about the "
                          "collector");
        return;
    }
    fp_buf_init(&address, 256);
    fp_address_write(&config->admin, &address);
    add_collector(status, fp_memory_text(&address), LATE_WINDOWS * config->flush_max_window_us);
    fp_buf_release(&address);
}

/* Loads the configuration if something is to be taken from it. The usual file may be missing or
 * unreadable if the options name a collector or a database. */
static bool load(const struct options *given, struct fp_config **config)
{
    const bool has_database = fp_database_given(&given->database, NULL) != NULL;
    const bool has_both = has_database && given->collector_count > 0;
    const bool has_one = has_database || given->collector_count > 0;
    *config = NULL;
    if (given->database.config_file == NULL &&
        (has_both || (has_one && access(FP_CONFIG_FILE, R_OK) != 0)))
        return true;
    return fp_config_file_load(given->database.config_file, config);
}

static bool choose(const struct options *given, struct fp_status *status)
{
    struct fp_config *config;
    if (!load(given, &config))
        return false;
    for (size_t i = 0; i < given->collector_count; i++)
        add_collector(status, given->collectors[i], LATE_DEFAULT_S * FP_US_PER_S);
    if (given->collector_count == 0 && config != NULL)
        add_configured(status, config);
    status->config = given->collector_count == 0 ? config : NULL;
    const char *named = fp_database_given(&given->database, NULL);
    const char *conninfo = fp_database_given(&given->database, config);
    if (conninfo != NULL && conninfo[0] != '\0') {
        status->database.conninfo = fp_memory_copy(conninfo);
        status->database.may_change_role = named == NULL;
    }
    if (status->config == NULL)
        fp_config_free(config);
    if (status->collector_count > 0 || status->database.conninfo != NULL)
        return true;
    fp_message_error("neither a collector nor a database was named");
    fp_message_hint("Give --collector ADDRESS and --database CONNINFO, or --config FILE.");
    return false;
}

static void release(struct fp_status *status)
{
    for (size_t i = 0; i < status->collector_count; i++) {
        struct fp_status_collector *collector = &status->collectors[i];
        age(collector);
        age(collector);
        free(collector->address);
        free(collector->url);
        free(collector->unix_socket);
    }
    free(status->collectors);
    fp_status_forget_database(&status->database);
    free(status->database.conninfo);
    fp_config_free(status->config);
    fp_findings_release(&status->trial);
    fp_findings_release(&status->findings);
}

/* ---- rounds ---- */

static void sleep_s(unsigned seconds)
{
    struct timespec rest = {.tv_sec = seconds};
    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/* Returns the collector's known state: an upload's answer that follows from it is not a finding. */
static enum fp_trial_collector state_of(const struct fp_status *status)
{
    const struct fp_status_collector *collector =
        status->collector_count > 0 ? &status->collectors[0] : NULL;
    if (collector == NULL)
        return FP_TRIAL_UNKNOWN;
    if (collector->not_ready != NULL)
        return FP_TRIAL_NOT_READY;
    return collector->answers ? FP_TRIAL_UNKNOWN : FP_TRIAL_STOPPED;
}

/* True if questions and uploads are to be tried in this round. */
static bool is_trial_due(struct fp_status *status)
{
    const int64_t now_us = fp_clock_monotonic_us();
    if (status->tried_us > 0 && now_us - status->tried_us < TRIAL_PERIOD_S * FP_US_PER_S)
        return false;
    status->tried_us = now_us;
    fp_findings_release(&status->trial);
    return true;
}

static void ask_all(struct fp_status *status)
{
    const bool is_due = is_trial_due(status);
    ask_collectors(status);
    status->database.trial = is_due ? &status->trial : NULL;
    status->database.config = status->config;
    fp_status_ask_database(&status->database, ANSWER_S);
    if (is_due && status->config != NULL)
        fp_trial_upload(status->config, state_of(status),
                        fp_clock_monotonic_us() + ANSWER_S * FP_US_PER_S, &status->trial);
}

static void show(struct fp_status *status, const struct options *given)
{
    ask_all(status);
    fp_status_judge(status);
    /* On a terminal, each round takes the place of the one before it. */
    if (given->watch_s > 0 && !given->json && isatty(STDOUT_FILENO) == 1)
        (void)printf("\033[H\033[2J");
    fp_status_print(status, given->json);
}

static enum fp_exit watch(struct fp_status *status, const struct options *given)
{
    if (status->collector_count > 0 && given->over_s > 0) {
        ask_collectors(status);
        sleep_s(given->over_s);
    }
    show(status, given);
    while (given->watch_s > 0 && fflush(stdout) == 0) {
        sleep_s(given->watch_s);
        if (!given->json)
            (void)printf("\n");
        show(status, given);
    }
    return fp_findings_are_wrong(&status->findings) ? FP_EXIT_NO : FP_EXIT_FINE;
}

enum fp_exit fp_status_command(int argc, char **argv)
{
    struct options given = {.over_s = OVER_DEFAULT_S};
    struct fp_status status = {0};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        fp_memory_end();
    fp_command_parse(&status_argp, argc, argv, &given);
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (choose(&given, &status))
        code = watch(&status, &given);
    release(&status);
    return code;
}
