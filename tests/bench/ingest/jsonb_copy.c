/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer that was tuned by hand: the collector's own HTTP layer, and behind it nothing but COPY
 * of the whole JSON into a jsonb column, many uploads a transaction, each answered once its
 * transaction has committed.
 *
 *   jsonb_copy PORT CONNINFO
 *
 * It defines the functions of collector/ingest/ingest.h that the HTTP room calls. A thread of the
 * HTTP room inflates; two committers, each with a connection of its own so that two backends parse
 * and compress at once, take what is queued, as a group commit does, and copy it in binary form.
 */
#include "collector/base/clock.h"
#include "collector/http/http.h"
#include "collector/inflate/inflate.h"
#include "collector/ingest/ingest.h"

#include <endian.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    COMMITTERS = 2,
    HTTP_THREADS = 2,
    GROUP_MAX = 128,
    ROW_HEAD_LEN = 7, /* number of fields, length of the only one, version of jsonb's binary form */
    MAX_BODY = 8 * 1024 * 1024,
    MAX_INFLATED = 64 * 1024 * 1024,
};

/* A row on its way to the database. What the HTTP room calls a workbench. */
struct fp_workbench {
    struct fp_workbench *next;
    struct fp_ticket *ticket;
    struct fp_arena arena;
    struct fp_str json;
};

struct fp_ingest {
    struct fp_rules *rules;
    pthread_mutex_t lock;
    pthread_cond_t queued;
    struct fp_workbench *first; /* of the queue */
    struct fp_workbench *last;
};

struct committer {
    struct fp_ingest *ingest;
    PGconn *database;
};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "jsonb_copy: %s: %s\n", what, why);
    exit(1);
}

/* ---- the way in ---- */

struct fp_rules *fp_ingest_rules(struct fp_ingest *ingest)
{
    return fp_rules_ref(ingest->rules);
}

bool fp_ingest_admit(const struct fp_rules *rules, const struct fp_admission *admission,
                     const struct fp_site **site, const struct fp_str **admitted_origin,
                     struct fp_problem *problem)
{
    (void)admission;
    (void)problem;
    *site = rules->sites;
    *admitted_origin = NULL;
    return true;
}

bool fp_ingest_hold(struct fp_ingest *ingest, const struct fp_rules *rules,
                    const struct fp_site *site, size_t bytes)
{
    (void)ingest;
    (void)site;
    (void)rules;
    (void)bytes;
    return true;
}

void fp_ingest_let_go(struct fp_ingest *ingest, const struct fp_site *site, size_t bytes)
{
    (void)site;
    (void)ingest;
    (void)bytes;
}

bool fp_ingest_prepare(struct fp_ingest *ingest, const struct fp_upload *upload,
                       struct fp_ticket *ticket, struct fp_problem *problem)
{
    struct fp_workbench *row = calloc(1, sizeof(*row));
    const struct fp_inflate_input input = {upload->body, upload->encoding, MAX_INFLATED};
    struct fp_upload_error error;
    if (row == NULL)
        die("prepare", "out of memory");
    fp_arena_init(&row->arena, 2 * (size_t)MAX_INFLATED);
    /* Without compression the text would stay in the request's memory: this peer inflates. */
    if (fp_inflate(&input, &row->arena, &row->json, &error) != FP_VERDICT_OK ||
        row->json.ptr == upload->body.ptr) {
        fp_problem_set(problem, 400, "a gzip body is wanted");
        fp_arena_release(&row->arena);
        free(row);
        return false;
    }
    ticket->ingest = ingest;
    ticket->workbench = row;
    ticket->upload_count = 1;
    row->ticket = ticket;
    return true;
}

void fp_ingest_commit(struct fp_ticket *ticket)
{
    struct fp_ingest *ingest = ticket->ingest;
    struct fp_workbench *row = ticket->workbench;
    pthread_mutex_lock(&ingest->lock);
    if (ingest->first == NULL)
        ingest->first = row;
    else
        ingest->last->next = row;
    ingest->last = row;
    pthread_cond_signal(&ingest->queued);
    pthread_mutex_unlock(&ingest->lock);
}

bool fp_ingest_outcome(const struct fp_ticket *ticket, struct fp_problem *problem)
{
    (void)ticket;
    (void)problem;
    return true;
}

bool fp_ingest_keeps_refused(const struct fp_ingest *ingest)
{
    (void)ingest;
    return false;
}

void fp_ingest_keep_refused(struct fp_ingest *ingest, const struct fp_upload *upload,
                            const struct fp_problem *problem, struct fp_buf *body)
{
    (void)ingest;
    (void)upload;
    (void)problem;
    (void)body;
}

void fp_ingest_count_decoding(const struct fp_site *site, int64_t processor_us)
{
    (void)site;
    (void)processor_us;
}

void fp_ingest_count_accepted(const struct fp_site *site, const struct fp_ticket *ticket)
{
    (void)site;
    (void)ticket;
}

void fp_ingest_count_refused(struct fp_ingest *ingest, const struct fp_site *site,
                             const struct fp_problem *problem)
{
    (void)ingest;
    (void)site;
    (void)problem;
}

bool fp_ingest_end_dry_run(struct fp_ticket *ticket, struct fp_problem *problem)
{
    (void)ticket;
    (void)problem;
    return true;
}

void fp_ingest_count_dry_run(struct fp_ingest *ingest, bool is_accepted)
{
    (void)ingest;
    (void)is_accepted;
}

/* ---- the way out ---- */

static void put(PGconn *database, const void *bytes, size_t len)
{
    if (PQputCopyData(database, bytes, (int)len) != 1)
        die("copy", PQerrorMessage(database));
}

static void put_row(PGconn *database, struct fp_str json)
{
    const uint16_t fields = htobe16(1);
    const uint32_t len = htobe32((uint32_t)json.len + 1);
    uint8_t head[ROW_HEAD_LEN];
    memcpy(head, &fields, sizeof(fields));
    memcpy(head + sizeof(fields), &len, sizeof(len));
    head[ROW_HEAD_LEN - 1] = 1;
    put(database, head, sizeof(head));
    put(database, json.ptr, json.len);
}

static void check(PGconn *database, PGresult *result, ExecStatusType expected)
{
    if (PQresultStatus(result) != expected)
        die("database", PQerrorMessage(database));
    PQclear(result);
}

/* One statement, hence one transaction. */
static void copy_group(PGconn *database, const struct fp_workbench *row)
{
    static const char begin[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    static const char end[] = "\377\377";
    check(database, PQexec(database, "copy trace (body) from stdin (format binary)"),
          PGRES_COPY_IN);
    put(database, begin, sizeof(begin));
    for (; row != NULL; row = row->next)
        put_row(database, row->json);
    put(database, end, sizeof(end) - 1);
    if (PQputCopyEnd(database, NULL) != 1)
        die("copy", PQerrorMessage(database));
    check(database, PQgetResult(database), PGRES_COMMAND_OK);
    while (PQgetResult(database) != NULL) {
    }
}

static struct fp_workbench *take_group(struct fp_ingest *ingest)
{
    pthread_mutex_lock(&ingest->lock);
    while (ingest->first == NULL)
        pthread_cond_wait(&ingest->queued, &ingest->lock);
    struct fp_workbench *group = ingest->first;
    struct fp_workbench *last = group;
    for (size_t count = 1; count < GROUP_MAX && last->next != NULL; count++)
        last = last->next;
    ingest->first = last->next;
    last->next = NULL;
    pthread_mutex_unlock(&ingest->lock);
    return group;
}

static void answer_group(struct fp_workbench *row)
{
    while (row != NULL) {
        struct fp_workbench *next = row->next;
        row->ticket->done(row->ticket->context);
        fp_arena_release(&row->arena);
        free(row);
        row = next;
    }
}

static void *commit_groups(void *context)
{
    struct committer *committer = context;
    for (;;) {
        struct fp_workbench *group = take_group(committer->ingest);
        copy_group(committer->database, group);
        answer_group(group);
    }
    return NULL;
}

static void start_committer(struct committer *committer, const char *conninfo)
{
    pthread_t thread;
    committer->database = PQconnectdb(conninfo);
    if (PQstatus(committer->database) != CONNECTION_OK)
        die("connect", PQerrorMessage(committer->database));
    if (pthread_create(&thread, NULL, commit_groups, committer) != 0)
        die("start", "no thread");
    pthread_detach(thread);
}

int main(int argc, char **argv)
{
    static struct fp_site site;
    static struct fp_ingest ingest = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                      .queued = PTHREAD_COND_INITIALIZER};
    static struct committer committers[COMMITTERS];
    if (argc != 3)
        die("usage", "jsonb_copy PORT CONNINFO");

    ingest.rules = fp_rules_create(4096);
    if (ingest.rules == NULL)
        die("start", "out of memory");
    site.lane = fp_lane_create();
    if (site.lane == NULL)
        die("start", "out of memory");
    ingest.rules->sites = &site;
    ingest.rules->site_count = 1;
    ingest.rules->max_body = MAX_BODY;
    for (size_t i = 0; i < COMMITTERS; i++) {
        committers[i].ingest = &ingest;
        start_committer(&committers[i], argv[2]);
    }
    struct fp_http_settings settings = {
        .given_socket = -1,
        .threads = HTTP_THREADS,
        .connections = 1024,
        .timeout_us = 60 * FP_US_PER_S,
        .request_timeout_us = 60 * FP_US_PER_S,
        .captures = fp_captures_create(),
    };
    char listen_text[32];
    snprintf(listen_text, sizeof(listen_text), "127.0.0.1:%s", argv[1]);
    struct fp_metrics *metrics = fp_metrics_create();
    struct fp_buf detail;
    fp_buf_init(&detail, 1024);
    if (metrics == NULL || settings.captures == NULL ||
        fp_address_parse(fp_str_of(listen_text), &settings.listen) != NULL ||
        fp_http_start(&settings, &ingest, metrics, &detail) == NULL)
        die(listen_text, detail.data != NULL ? (const char *)detail.data : "cannot listen");
    pause(); /* until a signal ends it */
    return 0;
}
