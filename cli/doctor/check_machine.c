/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks on the collector's machine. What the collector reads and connects to is tried as its user,
 * the owner of the spool, if this process may become that user.
 */
#include "cli/doctor/doctor.h"
#include "cli/doctor/status.h"
#include "cli/doctor/trial.h"
#include "cli/kit/config_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/query.h"
#include "collector/base/clock.h"
#include "collector/config/config.h"
#include "collector/store/store.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <libgen.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    SKEW_MAX_S = 5,
    BACKLOG_WINDOWS = 10, /* each at most flush.max_window: then the database does not keep up */
    METRICS_MAX = 16 * 1024 * 1024,
    DATABASE_TIMEOUT_S = 10,
    UPLOAD_TIMEOUT_S = 10,
    PARTITIONS_LOOKS = 25,
    PARTITIONS_PAUSE_NS = 200000000,
};

struct machine {
    struct fp_doctor *doctor;
    struct fp_findings *findings;
    const char *file;
    struct fp_config *config;
    bool has_user; /* uid and gid are the collector's */
    uid_t uid;
    gid_t gid;
    char *home; /* of root, while we are the collector's user; NULL: HOME was not set */
    enum fp_trial_collector state; /* of the running collector */
};

/* ---- the collector's user ---- */

static void find_user(struct machine *machine)
{
    struct stat status;
    const struct passwd *user = getpwnam("fleetprof");
    machine->has_user = true;
    if (stat(machine->config->spool_path.ptr, &status) == 0) {
        machine->uid = status.st_uid;
        machine->gid = status.st_gid;
    } else if (user != NULL) {
        machine->uid = user->pw_uid;
        machine->gid = user->pw_gid;
    } else {
        machine->has_user = false;
    }
}

/* Sets HOME, where libpq looks for passwords and certificates. */
static void set_home(const char *home)
{
    if (home != NULL)
        (void)setenv("HOME", home, 1);
    else
        (void)unsetenv("HOME");
}

/* Becomes the collector's user for a while, if root runs us. */
static bool become_user(struct machine *machine)
{
    if (geteuid() != 0 || !machine->has_user || machine->uid == 0)
        return false;
    const struct passwd *user = getpwuid(machine->uid);
    if (user != NULL && initgroups(user->pw_name, machine->gid) != 0)
        return false;
    if (setegid(machine->gid) != 0)
        return false;
    if (seteuid(machine->uid) != 0) {
        (void)!setegid(0);
        return false;
    }
    const char *home = getenv("HOME");
    machine->home = home != NULL ? fp_memory_copy(home) : NULL;
    set_home(user != NULL ? user->pw_dir : NULL);
    return true;
}

/* Becomes root again; that cannot fail for a process that was root. */
static void become_root(struct machine *machine, bool was_other)
{
    if (!was_other)
        return;
    if (seteuid(0) != 0 || setegid(0) != 0 || setgroups(0, NULL) != 0)
        exit(FP_EXIT_TROUBLE);
    set_home(machine->home);
    free(machine->home);
    machine->home = NULL;
}

/* ---- configuration ---- */

/* Loads the configuration. False: there is none that could be checked further. *usable is false
 * after errors in it, which are findings. */
static bool load(struct machine *machine, bool *usable)
{
    if (access(machine->file, F_OK) != 0) {
        fp_message_error("could not read %s: %s", machine->file, strerror(errno));
        fp_message_hint("Give --config FILE, or the URL of a page: fleetprof doctor "
                        "https://shop.example/");
        return false;
    }
    struct fp_buf errors;
    fp_buf_init(&errors, (size_t)64 * 1024);
    machine->config = fp_config_load(machine->file, &errors);
    *usable = machine->config != NULL;
    if (!*usable) {
        char *text = fp_memory_copy(errors.len > 0 ? fp_memory_text(&errors) : "out of memory");
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) != NULL;)
            if (line[0] != '\0')
                fp_finding_add(machine->findings, FP_FINDING_CONFIG_INVALID, machine->file, "%s",
                               line);
        free(text);
    }
    fp_buf_release(&errors);
    return true;
}

static void check_readable(struct machine *machine, const char *file)
{
    if (faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) != 0)
        fp_finding_add(machine->findings, FP_FINDING_CONFIG_UNREADABLE, file, "%s, for user %u",
                       strerror(errno), (unsigned)geteuid());
}

static void check_files(struct machine *machine)
{
    const struct fp_rules *rules = machine->config->rules;
    const bool was_other = become_user(machine);
    check_readable(machine, machine->file);
    for (size_t i = 0; i < rules->site_count; i++)
        for (size_t k = 0; k < rules->sites[i].token_key_files.count; k++)
            check_readable(machine, rules->sites[i].token_key_files.items[k].ptr);
    become_root(machine, was_other);
}

/* ---- database ---- */

static enum fp_finding_id id_of_state(enum fp_database_state state)
{
    switch (state) {
    case FP_DATABASE_AUTHENTICATION:
        return FP_FINDING_DATABASE_LOGIN;
    case FP_DATABASE_NOT_MIGRATED:
        return FP_FINDING_DATABASE_NOT_MIGRATED;
    case FP_DATABASE_WRONG_RIGHTS:
    case FP_DATABASE_READ_ONLY:
        return FP_FINDING_DATABASE_RIGHTS;
    case FP_DATABASE_SCHEMA_OLDER:
    case FP_DATABASE_SCHEMA_NEWER:
        return FP_FINDING_DATABASE_OUTDATED;
    case FP_DATABASE_CONNECTING:
    case FP_DATABASE_REACHABLE:
    case FP_DATABASE_UNREACHABLE:
    case FP_DATABASE_REFUSING:
    case FP_DATABASE_FAILING:
        break;
    }
    return FP_FINDING_DATABASE_UNREACHABLE;
}

static void report_store(struct machine *machine, const struct fp_store *store)
{
    struct fp_buf hint;
    fp_buf_init(&hint, 4096);
    fp_store_hint(store, &hint);
    const char *text = fp_memory_text(&hint);
    fp_finding_add(machine->findings, id_of_state(fp_store_failure(store)), "database", "%s%s%s",
                   fp_store_message(store), text[0] != '\0' ? "; " : "", text);
    fp_buf_release(&hint);
}

static void check_clock(struct machine *machine, struct fp_store *store)
{
    int64_t database_us;
    if (fp_store_read_database_clock(store, &database_us) != FP_STORE_OK)
        return;
    int64_t ahead_s = (database_us - fp_clock_real_us()) / FP_US_PER_S;
    if (ahead_s > SKEW_MAX_S || ahead_s < -SKEW_MAX_S)
        fp_finding_add(machine->findings, FP_FINDING_CLOCK_DATABASE, "database",
                       "its clock is %" PRId64 " s %s", ahead_s < 0 ? -ahead_s : ahead_s,
                       ahead_s < 0 ? "behind" : "ahead");
}

/* Asks a question with a text for an answer; NULL: no row, null, or no answer in time. The caller
 * frees it. */
static char *ask(PGconn *connection, const char *question)
{
    struct fp_sql_query query;
    fp_sql_init(&query, question);
    PGresult *answer = fp_sql_ask_until(connection, &query,
                                        fp_clock_monotonic_us() + DATABASE_TIMEOUT_S * FP_US_PER_S);
    fp_sql_release(&query);
    const bool has_row = PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) > 0 &&
                         !PQgetisnull(answer, 0, 0);
    char *text = has_row ? fp_memory_copy(PQgetvalue(answer, 0, 0)) : NULL;
    PQclear(answer);
    return text;
}

/* Rights that fleetprof_writer has and the connected role lacks. */
static const char missing_rights[] =
    "select string_agg(format('%s on %s', privilege, c.oid::regclass), ', ' order by 1) "
    "from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "
    "cross join unnest('{select,insert,update,delete}'::text[]) as privilege "
    "where n.nspname in ('fleetprof', 'fleetprof_data') and c.relkind in ('r', 'p') "
    "and not c.relispartition "
    "and has_table_privilege('fleetprof_writer', c.oid, privilege) "
    "and not has_table_privilege(c.oid, privilege)";

/* Returns which partitions of today are missing, NULL if none. Looks again for a while: a collector
 * that has just started makes them in a moment. The caller frees it. */
static char *find_missing_partitions(PGconn *connection)
{
    char *missing = ask(connection, FP_MISSING_PARTITIONS);
    for (int look = 1; missing != NULL && look < PARTITIONS_LOOKS; look++) {
        const struct timespec pause = {.tv_nsec = PARTITIONS_PAUSE_NS};
        (void)nanosleep(&pause, NULL);
        free(missing);
        missing = ask(connection, FP_MISSING_PARTITIONS);
    }
    return missing;
}

static void check_rights(struct machine *machine)
{
    char why[FP_DATABASE_WHY_MAX];
    PGconn *connection = fp_database_begin(
        machine->config->database.ptr, fp_clock_monotonic_us() + DATABASE_TIMEOUT_S * FP_US_PER_S,
        why, sizeof(why));
    if (connection == NULL) {
        fp_finding_add(machine->findings, FP_FINDING_DATABASE_UNREACHABLE, "database", "%s", why);
        return;
    }
    char *read_only = ask(connection, "select 'yes' where current_setting('transaction_read_only')"
                                      "::boolean");
    if (read_only != NULL)
        fp_finding_add(machine->findings, id_of_state(FP_DATABASE_READ_ONLY), "database", "%s",
                       fp_database_state_text(FP_DATABASE_READ_ONLY));
    free(read_only);
    char *rights = ask(connection, missing_rights);
    if (rights != NULL)
        fp_finding_add(machine->findings, FP_FINDING_DATABASE_RIGHTS, "database",
                       "the role %s lacks %.300s", PQuser(connection), rights);
    char *partitions = find_missing_partitions(connection);
    if (partitions != NULL)
        fp_finding_add(machine->findings, FP_FINDING_DATABASE_PARTITIONS, "database", "%.300s",
                       partitions);
    char *unused = ask(connection, FP_NATIVE_UNUSED);
    if (unused != NULL)
        fp_finding_add(machine->findings, FP_FINDING_EXTENSION_UNUSED, "database", "%.300s",
                       unused);
    free(rights);
    free(partitions);
    free(unused);
    PQfinish(connection);
}

/* Asks what the report asks. */
static void check_questions(struct machine *machine)
{
    struct fp_status_database reader = {.conninfo = fp_memory_copy(machine->config->database.ptr),
                                        .may_change_role = true};
    const int64_t end_us = fp_clock_monotonic_us() + DATABASE_TIMEOUT_S * FP_US_PER_S;
    PGconn *connection = fp_status_connect(&reader, end_us);
    if (connection != NULL) {
        fp_trial_ask(connection, "database", machine->config, end_us, machine->findings);
        fp_trial_ask_cost(connection, machine->config,
                          fp_clock_monotonic_us() + DATABASE_TIMEOUT_S * FP_US_PER_S,
                          machine->findings);
    }
    PQfinish(connection);
    fp_status_forget_database(&reader);
    free(reader.conninfo);
}

static void check_database(struct machine *machine)
{
    const bool was_other = become_user(machine);
    const struct fp_store_settings settings = {.database = machine->config->database.ptr,
                                               .interrupt_fd = -1,
                                               .end_us = fp_clock_monotonic_us() +
                                                         DATABASE_TIMEOUT_S * FP_US_PER_S};
    struct fp_store *store = fp_memory_need(fp_store_create(&settings));
    if (fp_store_connect(store) != FP_STORE_OK) {
        report_store(machine, store);
    } else {
        if (fp_store_state(store) != FP_DATABASE_REACHABLE)
            fp_finding_add(machine->findings, id_of_state(fp_store_state(store)), "database", "%s",
                           fp_database_state_text(fp_store_state(store)));
        check_clock(machine, store);
        check_rights(machine);
        if (fp_store_state(store) == FP_DATABASE_REACHABLE)
            check_questions(machine);
    }
    fp_store_close(store);
    become_root(machine, was_other);
}

/* ---- spool ---- */

/* Returns the bytes of the files in a directory. */
static uint64_t bytes_in(const char *path)
{
    DIR *directory = opendir(path);
    const int fd = directory != NULL ? dirfd(directory) : -1;
    uint64_t bytes = 0;
    const struct dirent *entry;
    struct stat status;
    while (fd >= 0 && (entry = readdir(directory)) != NULL)
        if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_blocks * 512;
    if (directory != NULL)
        closedir(directory);
    return bytes;
}

static void check_space(struct machine *machine, const char *path)
{
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return;
    const uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    const uint64_t max = machine->config->spool_max_bytes;
    const uint64_t used = bytes_in(machine->config->spool_path.ptr);
    if (used < max && free_bytes < max - used)
        fp_finding_add(machine->findings, FP_FINDING_SPOOL_SPACE, path,
                       "%" PRIu64 " MiB free; spool.max_bytes is %" PRIu64 " MiB, %" PRIu64
                       " MiB are used",
                       free_bytes >> 20, max >> 20, used >> 20);
}

static void check_spool(struct machine *machine)
{
    const char *path = machine->config->spool_path.ptr;
    char *copy = fp_memory_copy(path);
    const char *parent = dirname(copy);
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    const bool was_other = become_user(machine);
    const char *place = exists ? path : parent;
    if (exists && !S_ISDIR(status.st_mode))
        fp_finding_add(machine->findings, FP_FINDING_SPOOL_PATH, path, "it is not a directory");
    else if (faccessat(AT_FDCWD, place, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
        fp_finding_add(machine->findings, FP_FINDING_SPOOL_PATH, path, "%s: %s, for user %u", place,
                       strerror(errno), (unsigned)geteuid());
    become_root(machine, was_other);
    check_space(machine, place);
    free(copy);
}

/* ---- the running collector ---- */

static bool is_loopback(const struct fp_address *address)
{
    if (address->sa.ss_family == AF_UNIX)
        return true;
    if (address->sa.ss_family == AF_INET) {
        struct sockaddr_in sa;
        memcpy(&sa, &address->sa, sizeof(sa));
        return (ntohl(sa.sin_addr.s_addr) >> 24) == 127;
    }
    struct sockaddr_in6 sa;
    memcpy(&sa, &address->sa, sizeof(sa));
    return IN6_IS_ADDR_LOOPBACK(&sa.sin6_addr);
}

static void get(struct machine *machine, const char *path, struct fp_client_reply *reply)
{
    const struct fp_address *admin = &machine->config->admin;
    struct fp_buf text;
    fp_buf_init(&text, 256);
    fp_address_write(admin, &text);
    const char *socket = fp_address_path(admin);
    char *url =
        fp_memory_print("http://%s%s", socket != NULL ? "localhost" : fp_memory_text(&text), path);
    const struct fp_fetch_request request = {
        .method = "GET", .url = url, .body_max = METRICS_MAX, .unix_socket = socket};
    fp_fetch(machine->doctor->fetcher, &request, reply);
    free(url);
    fp_buf_release(&text);
}

/* Returns the value of a metric without labels; -1: it is not there. */
static double metric_of(const char *text, const char *name)
{
    char *start = fp_memory_print("\n%s ", name);
    const char *found = strstr(text, start);
    double value = found != NULL ? strtod(found + strlen(start), NULL) : -1;
    free(start);
    return value;
}

static void check_metrics(struct machine *machine)
{
    struct fp_client_reply reply;
    get(machine, "/metrics", &reply);
    const char *text = fp_memory_text(&reply.body);
    const double age_s = metric_of(text, "fleetprof_spool_backlog_age_seconds");
    if (age_s * FP_US_PER_S > (double)(BACKLOG_WINDOWS * machine->config->flush_max_window_us))
        fp_finding_add(machine->findings, FP_FINDING_BACKLOG, "fleetprof_spool_backlog_age_seconds",
                       "the oldest upload has waited for %.0f s; %.0f requests wait", age_s,
                       metric_of(text, "fleetprof_spool_backlog_records"));
    fp_client_release(&reply);
}

/* Checks the two lines of /readyz. */
static void check_readiness(struct machine *machine, struct fp_client_reply *reply)
{
    char *rest = (char *)(uintptr_t)fp_memory_text(&reply->body);
    const char *first = strsep(&rest, "\n");
    if (reply->status != 200)
        fp_finding_add(machine->findings, FP_FINDING_COLLECTOR_NOT_READY, "/readyz", "%s", first);
    const char *state = rest != NULL ? strsep(&rest, "\n") : "";
    if (strncmp(state, "database: ", 10) == 0 && strstr(state, " reachable") == NULL &&
        strstr(state, " connecting") == NULL)
        fp_finding_add(machine->findings, FP_FINDING_COLLECTOR_DATABASE, "/readyz", "%s", state);
}

static void check_collector(struct machine *machine)
{
    const struct fp_address *admin = &machine->config->admin;
    if (admin->len == 0) {
        fp_finding_add(machine->findings, FP_FINDING_ADMIN_OFF, machine->file, "no `admin`");
        return;
    }
    if (!is_loopback(admin)) {
        struct fp_buf text;
        fp_buf_init(&text, 256);
        fp_address_write(admin, &text);
        fp_finding_add(machine->findings, FP_FINDING_ADMIN_PUBLIC, machine->file, "admin: %s",
                       fp_memory_text(&text));
        fp_buf_release(&text);
    }
    struct fp_client_reply reply;
    get(machine, "/readyz", &reply);
    machine->state = reply.status == 0     ? FP_TRIAL_STOPPED
                     : reply.status == 503 ? FP_TRIAL_NOT_READY
                                           : FP_TRIAL_UNKNOWN;
    if (reply.status == 0) {
        fp_finding_add(machine->findings, FP_FINDING_COLLECTOR_STOPPED, machine->file, "%s",
                       reply.error);
    } else {
        check_readiness(machine, &reply);
        check_metrics(machine);
    }
    fp_client_release(&reply);
}

bool fp_doctor_check_machine(struct fp_doctor *doctor)
{
    const char *file = doctor->options->config_file;
    struct machine machine = {.doctor = doctor,
                              .findings = &doctor->findings,
                              .file = file != NULL ? file : FP_CONFIG_FILE};
    bool usable;
    if (!load(&machine, &usable))
        return false;
    if (usable) {
        find_user(&machine);
        check_files(&machine);
        check_database(&machine);
        check_spool(&machine);
        check_collector(&machine);
        fp_trial_upload(machine.config, machine.state,
                        fp_clock_monotonic_us() + UPLOAD_TIMEOUT_S * FP_US_PER_S, machine.findings);
        fp_config_free(machine.config);
    }
    return true;
}
