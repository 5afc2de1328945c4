/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprofd: starts the collector's parts in order, reloads, and stops them in reverse order.
 *
 * The main thread only waits for signals; all other threads block them.
 */
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/metrics.h"
#include "collector/base/process_metrics.h"
#include "collector/base/streams.h"
#include "collector/config/config.h"
#include "collector/http/admin.h"
#include "collector/http/http.h"
#include "collector/ingest/ingest.h"
#include "collector/letters/letters.h"
#include "collector/sealer/sealer.h"
#include "collector/service.h"
#include "collector/shared.h"
#include "collector/spool/spool.h"
#include "collector/writer/writer.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    EXIT_FINE = 0,
    EXIT_NO = 1,         /* the check failed */
    EXIT_CANNOT_RUN = 2, /* also for wrong usage */
    ERRORS_MAX = 64 * 1024,
    DEFAULT_MAX = 64 * 1024,
    THREAD_FILES = 2, /* descriptors that each of http.threads needs for waiting */
    SPARE_FILES = 64, /* descriptors for everything else: the spool, the database, dead letters */
};

/* Limits of the stages of a stop. STOP_S bounds the whole, below what service managers allow. */
enum { HEAR_S = 1, DRAIN_S = 10, REPLY_S = 3, LAST_FLUSH_S = 10, STOP_S = 30 };

/* Looks at a count while the process stops. Stages are limited by the number of looks: time in
 * which a starved machine does not run the process does not count. */
enum { LOOK_NS = 5000000, LOOKS_PER_S = 1000000000 / LOOK_NS };

/* Interval of the check for refusals to log. */
#define LOG_EVERY_US (2 * FP_US_PER_S)

/* Number of looks in a row that must find 0: a request that was just accepted is not counted yet.
 */
enum { QUIET_LOOKS = 10 };

struct collector {
    struct fp_config *config;
    struct fp_metrics *metrics;
    struct fp_spool *spool;
    struct fp_dead_letters *letters; /* NULL: dead letters are off */
    struct fp_ingest *ingest;
    struct fp_captures *captures;
    struct fp_sealer *sealer;
    struct fp_writer *writer;
    struct fp_shared shared;
    struct fp_database_status database;
    struct fp_admin *admin;
    struct fp_http *http;
    atomic_bool stopping;
};

/* ---- starting ---- */

static bool fail(const char *what, const struct fp_buf *detail)
{
    fp_log(FP_LOG_ERROR, what, "detail=%.*s", (int)detail->len, (const char *)detail->data);
    return false;
}

static bool tell_readiness(void *context, struct fp_buf *text)
{
    struct collector *collector = context;
    const char *trouble =
        atomic_load(&collector->stopping) ? "stopping" : fp_ingest_trouble(collector->ingest);
    if (trouble == NULL)
        fp_buf_addf(text, "ready\n");
    else
        fp_buf_addf(text, "not ready: %s\n", trouble);
    fp_database_status_tell(&collector->database, text);
    return trouble == NULL;
}

static void render_metrics(void *context, struct fp_buf *page)
{
    struct collector *collector = context;
    fp_spool_measure_disk(collector->spool);
    fp_metrics_render(collector->metrics, page);
    fp_database_status_render(&collector->database, page);
    fp_ingest_render_metrics(collector->ingest, page);
}

static bool open_spool(struct collector *collector, struct fp_buf *detail)
{
    const struct fp_config *config = collector->config;
    const struct fp_spool_settings settings = {
        .path = config->spool_path.ptr,
        .max_bytes = config->spool_max_bytes,
        .segment_bytes = config->spool_segment_bytes,
        .keep_us = config->spool_keep_us,
    };
    return fp_spool_open(&settings, collector->metrics, &collector->spool, detail) == FP_SPOOL_OK ||
           fail("spool cannot be opened", detail);
}

/* Starts the dead letters. Without a path they stay off, which is not an error. */
static bool start_dead_letters(struct collector *collector)
{
    const struct fp_dead_letters_settings settings = {
        .path = collector->config->dead_letters_path.ptr,
        .max_bytes = collector->config->dead_letters_max_bytes,
    };
    if (collector->config->dead_letters_path.len == 0)
        return true;
    collector->letters = fp_dead_letters_start(&settings, collector->metrics);
    fp_ingest_set_dead_letters(collector->ingest, collector->letters);
    return collector->letters != NULL;
}

static struct fp_writer_pace pace_of(const struct fp_config *config)
{
    return (struct fp_writer_pace){
        .min_window_us = config->flush_min_window_us,
        .max_window_us = config->flush_max_window_us,
        .retention = {.facts_us = config->retention_facts_us,
                      .hours_us = config->retention_hours_us,
                      .upload_log_us = config->retention_upload_log_us,
                      .sessions_us = config->retention_sessions_us,
                      .upload_ids_us = config->retention_upload_ids_us},
    };
}

/* Prints what the database knows of sites, with a NUL. False when out of memory; the caller
 * releases the text either way. */
static bool print_sites(const struct fp_config *config, struct fp_buf *text)
{
    fp_buf_init(text, FP_CONFIG_SITES_MAX);
    fp_config_print_sites(config, text);
    fp_buf_add(text, "", 1);
    return !text->failed;
}

_Static_assert(FP_CAPTURES_MAX <= FP_WRITER_SESSIONS_MAX, "the writer knows of all that run");

static size_t list_captures(void *captures, struct fp_uuid ids[FP_WRITER_SESSIONS_MAX])
{
    return fp_captures_list(captures, fp_clock_monotonic_us(), ids);
}

/* Tells the sealer what the writer flushed. */
static void note_flush(void *sealer, size_t entries, int64_t oldest_us)
{
    fp_sealer_wake(sealer, entries, oldest_us);
}

static bool start_sealer(struct collector *collector)
{
    struct fp_buf sites;
    if (print_sites(collector->config, &sites)) {
        const struct fp_sealer_settings settings = {
            .database = collector->config->database.ptr,
            .retention = pace_of(collector->config).retention,
            .sites = (const char *)sites.data,
        };
        collector->sealer = fp_sealer_start(&settings, collector->metrics);
    }
    fp_buf_release(&sites);
    return collector->sealer != NULL;
}

static bool start_writer(struct collector *collector)
{
    const struct fp_writer_settings settings = {
        .database = collector->config->database.ptr,
        .pace = pace_of(collector->config),
        .stop_timeout_us = LAST_FLUSH_S * FP_US_PER_S,
        .list_sessions = list_captures,
        .sessions = collector->captures,
        .share = fp_shared_exchange,
        .shared = &collector->shared,
        .note_flush = note_flush,
        .sealer = collector->sealer,
        .status = &collector->database,
    };
    collector->shared.ingest = collector->ingest;
    collector->writer = fp_writer_start(&settings, collector->spool, collector->metrics);
    return collector->writer != NULL;
}

static bool start_listeners(struct collector *collector, struct fp_buf *detail)
{
    const struct fp_config *config = collector->config;
    int ingest_socket;
    int admin_socket;
    if (!fp_service_check_names(detail) ||
        !fp_service_socket(FP_SERVICE_INGEST, &ingest_socket, detail) ||
        !fp_service_socket(FP_SERVICE_ADMIN, &admin_socket, detail))
        return fail("socket cannot be taken over", detail);
    const struct fp_admin_settings admin = {
        .listen = config->admin,
        .given_socket = admin_socket,
        .tell_readiness = tell_readiness,
        .render_metrics = render_metrics,
        .context = collector,
    };
    const struct fp_http_settings http = {
        .listen = config->listen,
        .given_socket = ingest_socket,
        .threads = config->http_threads,
        .proxies = config->http_proxies,
        .connections = config->connections,
        .connections_per_address = config->connections_per_address,
        .timeout_us = config->timeout_us,
        .request_timeout_us = config->request_timeout_us,
        .captures = collector->captures,
    };
    /* The admin listener starts last: whoever reads "ready" there may upload. */
    collector->http = fp_http_start(&http, collector->ingest, collector->metrics, detail);
    if (collector->http == NULL)
        return fail("listener cannot be opened", detail);
    if (config->admin.len == 0 && admin_socket < 0)
        return true;
    collector->admin = fp_admin_start(&admin, detail);
    return collector->admin != NULL || fail("admin listener cannot be opened", detail);
}

/*
 * Raises the limit of descriptors: each connection needs one, and the usual soft limit is 1,024.
 * Refuses to start if the hard limit is too low as well: the collector could not accept all
 * connections.
 */
static bool raise_file_limit(const struct fp_config *config, struct fp_buf *detail)
{
    rlim_t wanted = (rlim_t)fp_http_descriptors(config->connections) +
                    (rlim_t)config->http_threads * THREAD_FILES + FP_ADMIN_DESCRIPTORS +
                    SPARE_FILES;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return true;
    struct rlimit raised = {wanted, limit.rlim_max < wanted ? wanted : limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
        return true;
    fp_buf_addf(detail,
                "limits.connections (%u) and http.threads (%u) need %llu open files, but %llu are "
                "allowed; lower them, or raise the limit (LimitNOFILE=, ulimit -Hn)",
                config->connections, config->http_threads, (unsigned long long)wanted,
                (unsigned long long)limit.rlim_max);
    return fail("too few open files are allowed", detail);
}

static bool start(struct collector *collector, struct fp_buf *detail)
{
    const struct fp_config *config = collector->config;
    if (!raise_file_limit(config, detail))
        return false;
    collector->metrics = fp_metrics_create();
    if (collector->metrics == NULL || !fp_process_metrics_join(collector->metrics))
        return fail("out of memory", detail);
    if (!open_spool(collector, detail))
        return false;
    collector->ingest = fp_ingest_create(collector->spool, collector->metrics, config->rules,
                                         fp_turns_threads(config->http_threads));
    collector->captures = fp_captures_create();
    if (collector->ingest == NULL || collector->captures == NULL ||
        !start_dead_letters(collector) || !start_sealer(collector) || !start_writer(collector))
        return fail("out of memory or threads", detail);
    return start_listeners(collector, detail);
}

/* ---- stopping ---- */

/* Waits until count(…) stays 0, for at most this number of looks. */
static void wait_until_none(size_t (*count)(const struct collector *collector),
                            const struct collector *collector, int looks_max)
{
    const struct timespec step = {.tv_nsec = LOOK_NS};
    int quiet = count(collector) == 0;
    for (int looks = 0; quiet < QUIET_LOOKS && looks < looks_max; looks++) {
        nanosleep(&step, NULL);
        quiet = count(collector) == 0 ? quiet + 1 : 0;
    }
}

static size_t unheard(const struct collector *collector)
{
    return fp_http_unheard(collector->http);
}

static size_t in_flight(const struct collector *collector)
{
    return fp_http_in_flight(collector->http);
}

static size_t committing(const struct collector *collector)
{
    return fp_ingest_committing(collector->ingest);
}

static void give_up(int signal_number)
{
    static const char line[] = "level=warn msg=\"stopping took too long, what is left stays in the "
                               "spool\"\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, line, sizeof(line) - 1);
    _exit(EXIT_FINE);
}

/* From here on a second SIGTERM or SIGINT ends the process at once, and so does the time limit.
 * Nothing is lost: every acknowledged upload is in the spool. */
static void arm_stop(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGALRM);
    const struct sigaction action = {.sa_handler = give_up};
    (void)sigaction(SIGALRM, &action, NULL);
    alarm(STOP_S);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Stops whatever was started, in reverse order. */
static void stop(struct collector *collector)
{
    atomic_store(&collector->stopping, true);
    fp_service_stopping();
    if (collector->http != NULL) {
        fp_http_stop_accepting(collector->http);
        wait_until_none(unheard, collector, HEAR_S * LOOKS_PER_S);
        wait_until_none(in_flight, collector, DRAIN_S * LOOKS_PER_S);
        fp_spool_stop_appends(collector->spool);
        wait_until_none(committing, collector, INT_MAX);
        /* Refuses bodies that still wait to be decoded; their clients may get the answer. */
        fp_http_stop_decoding(collector->http);
        wait_until_none(in_flight, collector, REPLY_S * LOOKS_PER_S);
        fp_http_stop(collector->http);
        fp_captures_stop_all(collector->captures);
        fp_ingest_log_refusals(collector->ingest, FP_PENDING_ALL);
    }
    fp_writer_stop(collector->writer);
    fp_sealer_stop(collector->sealer);
    fp_captures_free(collector->captures);
    fp_admin_stop(collector->admin);
    fp_ingest_free(collector->ingest);
    fp_dead_letters_stop(collector->letters);
    if (collector->spool != NULL)
        fp_spool_close(collector->spool);
    fp_metrics_free(collector->metrics);
    fp_config_free(collector->config);
}

/* ---- running ---- */

static void tell_fixed(const char *name)
{
    fp_log(FP_LOG_WARN, "setting cannot change while running and keeps its value until a restart",
           "setting=%s", name);
}

static void log_lines(const struct fp_buf *errors)
{
    const char *at = (const char *)errors->data;
    const char *end = at + errors->len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline != NULL ? newline : end) - at);
        fp_log(FP_LOG_ERROR, "configuration not reloaded", "error=%.*s", (int)len, at);
        at += len + 1;
    }
}

/* Tells the sealer what it may keep, what scripts are called and whose they are. Changes nothing on
 * failure. */
static bool reload_sealer(struct collector *collector, const struct fp_config *fresh)
{
    const struct fp_retention retention = pace_of(fresh).retention;
    struct fp_buf sites;
    bool told = print_sites(fresh, &sites) &&
                fp_sealer_reload(collector->sealer, &retention, (const char *)sites.data);
    fp_buf_release(&sites);
    return told;
}

static void reload(struct collector *collector, const char *file)
{
    fp_service_reloading();
    struct fp_buf errors;
    fp_buf_init(&errors, ERRORS_MAX);
    struct fp_config *fresh = fp_config_load(file, &errors);
    if (fresh == NULL) {
        log_lines(&errors);
    } else if (!fp_config_keep_fixed(fresh, collector->config, tell_fixed) ||
               !reload_sealer(collector, fresh)) {
        fp_log(FP_LOG_ERROR, "configuration not reloaded", "error=%s", "out of memory");
        fp_config_free(fresh);
    } else {
        const struct fp_writer_pace pace = pace_of(fresh);
        fp_ingest_reload(collector->ingest, fresh->rules);
        fp_writer_reload(collector->writer, &pace);
        fp_config_free(collector->config);
        collector->config = fresh;
        fp_log(FP_LOG_INFO, "configuration reloaded", "sites=%zu", fresh->rules->site_count);
    }
    fp_service_ready(collector->config->rules->site_count);
    fp_buf_release(&errors);
}

/* The watchdog's last observation. */
struct progress {
    size_t committing;
    int64_t commits; /* including failed ones */
};

/*
 * True if uploads still get their replies: none waits for its commit, or some commit has ended
 * since the last look. It is false when the disk hangs.
 */
static bool makes_progress(const struct collector *collector, struct progress *last)
{
    struct progress now = {
        committing(collector),
        fp_spool_commits(collector->spool),
    };
    bool progress = now.committing == 0 || last->committing == 0 || now.commits != last->commits;
    *last = now;
    return progress;
}

/* Returns the next signal that the main thread waits for. Meanwhile feeds the watchdog and logs
 * refusals whose minute has passed. */
static int wait_for_signal(const struct collector *collector, const sigset_t *signals)
{
    int64_t watchdog_us = fp_service_watchdog_us();
    bool is_watched = watchdog_us > 0;
    int64_t every_us = is_watched && watchdog_us < LOG_EVERY_US ? watchdog_us : LOG_EVERY_US;
    const struct timespec every = {every_us / FP_US_PER_S, every_us % FP_US_PER_S * 1000};
    struct progress progress = {0};
    for (;;) {
        int number = sigtimedwait(signals, NULL, &every);
        if (number > 0)
            return number;
        if (errno != EAGAIN)
            continue;
        fp_ingest_log_refusals(collector->ingest, FP_PENDING_DUE);
        if (is_watched && makes_progress(collector, &progress))
            fp_service_alive();
    }
}

/* Blocks the signals that the main thread waits for. Threads started later inherit the mask. */
static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
}

static int run(struct fp_config *config, const char *file)
{
    struct collector collector = {.config = config, .database = FP_DATABASE_STATUS_NEW};
    struct fp_buf detail;
    fp_buf_init(&detail, ERRORS_MAX);
    sigset_t signals;
    block_signals(&signals);
    bool started = start(&collector, &detail);
    if (started) {
        fp_log(FP_LOG_INFO, "fleetprofd takes uploads", "version=%s sites=%zu", FP_VERSION,
               config->rules->site_count);
        fp_service_ready(config->rules->site_count);
        while (wait_for_signal(&collector, &signals) == SIGHUP)
            reload(&collector, file);
    }
    arm_stop();
    if (started)
        fp_log(FP_LOG_INFO, "stopping", "in_flight=%zu", in_flight(&collector));
    stop(&collector);
    fp_buf_release(&detail);
    return started ? EXIT_FINE : EXIT_CANNOT_RUN;
}

/* ---- command line ---- */

static const char usage[] =
    "usage: fleetprofd -c FILE                  run with this configuration\n"
    "       fleetprofd -c FILE --check-config   print what is wrong with it; exit code 1 if "
    "anything\n"
    "       fleetprofd --print-default-config   print every setting with its default and an "
    "explanation\n"
    "       fleetprofd --version\n"
    "       fleetprofd --help\n"
    "\n"
    "SIGHUP reloads the configuration; SIGTERM and SIGINT stop, a second one at once.\n";

static int print_default(void)
{
    struct fp_buf text;
    fp_buf_init(&text, DEFAULT_MAX);
    fp_config_print_default(&text);
    bool printed =
        !text.failed && fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    fp_buf_release(&text);
    return printed ? EXIT_FINE : EXIT_CANNOT_RUN;
}

static int with_config(const char *file, bool check_only)
{
    struct fp_buf errors;
    fp_buf_init(&errors, ERRORS_MAX);
    struct fp_config *config = fp_config_load(file, &errors);
    if (errors.len > 0)
        (void)fwrite(errors.data, 1, errors.len, stderr);
    fp_buf_release(&errors);
    if (config == NULL)
        return check_only ? EXIT_NO : EXIT_CANNOT_RUN;
    if (!check_only)
        return run(config, file);
    fp_config_free(config);
    printf("%s: the configuration is good\n", file);
    return EXIT_FINE;
}

int main(int argc, char **argv)
{
    enum { CHECK = 256, PRINT_DEFAULT, VERSION };
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"check-config", no_argument, NULL, CHECK},
        {"print-default-config", no_argument, NULL, PRINT_DEFAULT},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *file = NULL;
    bool check_only = false;
    if (!fp_streams_hold())
        return EXIT_CANNOT_RUN; /* and there is nowhere to print an error */
    /* Each arena of the allocator keeps what its threads have freed. */
    (void)mallopt(M_ARENA_MAX, 2);
    for (int option; (option = getopt_long(argc, argv, "c:h", options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            file = optarg;
            break;
        case CHECK:
            check_only = true;
            break;
        case PRINT_DEFAULT:
            return print_default();
        case VERSION:
            printf("fleetprofd %s\n", FP_VERSION);
            return EXIT_FINE;
        case 'h':
            printf("%s", usage);
            return EXIT_FINE;
        default:
            (void)fputs(usage, stderr);
            return EXIT_CANNOT_RUN;
        }
    }
    if (file == NULL || optind != argc) {
        (void)fputs(usage, stderr);
        return EXIT_CANNOT_RUN;
    }
    return with_config(file, check_only);
}
