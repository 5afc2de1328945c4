/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait: asks for the ids of uploads every so often.
 */
#include "cli/feed/wait.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/query.h"
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/rollup/ids.h"

enum {
    POLL_FIRST_MS = 50,
    POLL_MAX_MS = 500,
    NOTICE_AFTER_MS = 1500, /* a shorter wait needs no explanation */
    LAST_LOOK_S = 2,
    US_PER_MS = 1000,
};

#define IDS_MAX ((size_t)64 * 1024 * 1024)

void fp_wait_init(struct fp_wait *wait)
{
    *wait = (struct fp_wait){0};
    fp_buf_init(&wait->ids, IDS_MAX);
}

void fp_wait_release(struct fp_wait *wait)
{
    fp_buf_release(&wait->ids);
}

void fp_wait_add(struct fp_wait *wait, const struct fp_uuid *id)
{
    char text[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(id, text);
    fp_buf_addf(&wait->ids, "%s%s", wait->count++ == 0 ? "{" : ",", text);
}

struct watch {
    PGconn *connection;
    const char *ids;
    const char *site_id; /* "" for any */
    int64_t end_us;
};

/* Counts the uploads that the database does not have yet. False if it cannot be asked. */
static bool count_missing(const struct watch *watch, long long *missing)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select count(*) from (select distinct unnest(");
    fp_sql_value(&query, "uuid[]", watch->ids);
    fp_sql_add(&query, ") as id) as sent where not exists (select from fleetprof_data.upload_id "
                       "where upload_id = sent.id and (");
    fp_sql_value(&query, "text", watch->site_id);
    fp_sql_add(&query, " = '' or site_id::text = ");
    fp_sql_value(&query, "text", watch->site_id);
    fp_sql_add(&query, "))");
    /* At the end of the wait there is one more look, which also needs time. */
    PGresult *answer =
        fp_sql_ask_until(watch->connection, &query, watch->end_us + LAST_LOOK_S * FP_US_PER_S);
    fp_sql_release(&query);
    bool asked = PQresultStatus(answer) == PGRES_TUPLES_OK;
    if (asked)
        *missing = strtoll(PQgetvalue(answer, 0, 0), NULL, 10);
    PQclear(answer);
    return asked;
}

static void sleep_ms(int64_t ms)
{
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/* Polls until nothing is missing or the time limit is reached. False if the database cannot be
 * queried. */
static bool poll_until_counted(const struct watch *watch, long long *missing)
{
    int64_t notice_us = fp_clock_monotonic_us() + (int64_t)NOTICE_AFTER_MS * US_PER_MS;
    int64_t pause_ms = POLL_FIRST_MS;
    while (count_missing(watch, missing)) {
        int64_t now_us = fp_clock_monotonic_us();
        if (*missing == 0 || now_us >= watch->end_us)
            return true;
        if (notice_us != 0 && now_us >= notice_us) {
            fp_message_notice("waiting until the uploads are counted (--no-wait does not)");
            notice_us = 0;
        }
        int64_t left_ms = (watch->end_us - now_us) / US_PER_MS + 1;
        sleep_ms(pause_ms < left_ms ? pause_ms : left_ms);
        pause_ms = 2 * pause_ms < POLL_MAX_MS ? 2 * pause_ms : POLL_MAX_MS;
    }
    return false;
}

/* why: there is no connection. */
static void watch_database(const struct watch *watch, const struct fp_wait_place *place,
                           const char *why)
{
    long long missing = 0;
    if (watch->connection == NULL || !poll_until_counted(watch, &missing)) {
        fp_message_notice("could not check whether the uploads are counted; they are safe in the "
                          "collector's spool");
        if (watch->connection != NULL)
            why = PQerrorMessage(watch->connection);
        fp_message_detail("%s", why[0] != '\0' ? why : "the database does not answer");
    } else if (missing > 0) {
        fp_message_notice("%lld %s not counted after %d s, but safe in the collector's spool",
                          missing, missing == 1 ? "upload is" : "uploads are", place->seconds);
        fp_message_hint("They are counted at the next flush. If they never are, the collector's "
                        "log says why.");
    }
}

void fp_wait_until_counted(struct fp_wait *wait, const struct fp_wait_place *place)
{
    char site_id[24] = "";
    if (wait->count == 0)
        return;
    fp_buf_addf(&wait->ids, "}");
    if (place->site != NULL)
        (void)snprintf(site_id, sizeof(site_id), "%lld",
                       (long long)fp_site_id(fp_str_of(place->site)));
    char why[FP_DATABASE_WHY_MAX];
    struct watch watch = {
        .ids = fp_memory_text(&wait->ids),
        .site_id = site_id,
        .end_us = fp_clock_monotonic_us() + (int64_t)place->seconds * FP_US_PER_S,
    };
    watch.connection = fp_database_begin(place->conninfo, watch.end_us + LAST_LOOK_S * FP_US_PER_S,
                                         why, sizeof(why));
    watch_database(&watch, place, why);
    PQfinish(watch.connection);
}
