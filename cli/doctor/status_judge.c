/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: finds what is wrong in the numbers of collectors and database.
 */
#include "cli/doctor/status.h"

#include "cli/doctor/thresholds.h"
#include "cli/kit/memory.h"
#include "collector/base/clock.h"
#include "collector/base/hash.h"
#include "collector/base/map.h"
#include "collector/store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MIB (1024.0 * 1024)

static double value_of(const struct fp_status_collector *collector, const char *name)
{
    return fp_scrape_value(&collector->latest, name, "");
}

static void judge_database_of(struct fp_status *status, const struct fp_status_collector *collector)
{
    char state[64];
    fp_status_database_state(&collector->latest, state, sizeof(state));
    if (state[0] == '\0' || strcmp(state, "reachable") == 0 || strcmp(state, "connecting") == 0)
        return;
    /* The number may be older than the sentence. */
    const bool is_said =
        collector->database != NULL && strncmp(collector->database, state, strlen(state)) == 0;
    fp_finding_add(&status->findings, FP_FINDING_COLLECTOR_DATABASE, collector->address,
                   is_said ? "%s" : "fleetprof_database_state: %s",
                   is_said ? collector->database : state);
}

static void judge_spool(struct fp_status *status, const struct fp_status_collector *collector)
{
    const double age_s = value_of(collector, "fleetprof_spool_backlog_age_seconds");
    const double used = value_of(collector, "fleetprof_spool_bytes");
    const double max = value_of(collector, "fleetprof_spool_max_bytes");
    const double free_bytes = value_of(collector, "fleetprof_spool_disk_free_bytes");
    const double damaged = value_of(collector, "fleetprof_spool_damaged_bytes_total");
    const double errors = value_of(collector, "fleetprof_spool_errors_total");
    if (age_s * FP_US_PER_S > (double)collector->late_us)
        fp_finding_add(&status->findings, FP_FINDING_BACKLOG, collector->address,
                       "the oldest upload has waited for %.0f s; %.0f requests wait", age_s,
                       value_of(collector, "fleetprof_spool_backlog_records"));
    if (used > FP_SPOOL_FILLING_SHARE * max)
        fp_finding_add(&status->findings, FP_FINDING_SPOOL_FILLING, collector->address,
                       "%.0f of %.0f MiB", used / MIB, max / MIB);
    if (free_bytes < max - used)
        fp_finding_add(&status->findings, FP_FINDING_SPOOL_SPACE, collector->address,
                       "%.0f MiB free; spool.max_bytes is %.0f MiB, %.0f MiB are used",
                       free_bytes / MIB, max / MIB, used / MIB);
    if (damaged > 0 || errors > 0)
        fp_finding_add(&status->findings, FP_FINDING_SPOOL_DAMAGED, collector->address,
                       "%.0f bytes set aside and %.0f failed writes since the start", damaged,
                       errors);
}

static void judge_writing(struct fp_status *status, const struct fp_status_collector *collector)
{
    const double quarantined = value_of(collector, "fleetprof_uploads_quarantined_total");
    const double unsealed_s = value_of(collector, "fleetprof_unsealed_age_seconds");
    const double lost = value_of(collector, "fleetprof_spool_records_out_of_reach_total");
    if (lost > 0)
        fp_finding_add(&status->findings, FP_FINDING_UPLOADS_LOST, collector->address,
                       "at most %.0f requests since the start", lost);
    if (quarantined > 0)
        fp_finding_add(&status->findings, FP_FINDING_UPLOADS_QUARANTINED, collector->address,
                       "%.0f uploads since the start", quarantined);
    if (unsealed_s > FP_SEALING_LATE_S)
        fp_finding_add(&status->findings, FP_FINDING_SEALING_LATE, collector->address,
                       "the oldest hour that waits began %.1f h ago", unsealed_s / 3600);
}

/* Collectors may see different clocks, and the database notes the latest look alone. */
static void judge_clock_of(struct fp_status *status, const struct fp_status_collector *collector)
{
    static const char *const reasons[] = FP_RETENTION_REFUSAL_NAMES;
    const PGresult *answer = status->database.answer;
    if (answer != NULL && !PQgetisnull(answer, 0, FP_STATUS_REFUSED))
        return;
    for (size_t i = 1; i < FP_COUNT(reasons); i++) {
        char labels[64];
        (void)snprintf(labels, sizeof(labels), "reason=\"%s\"", reasons[i]);
        if (fp_scrape_value(&collector->latest, "fleetprof_retention_refused", labels) > 0)
            fp_finding_add(&status->findings, FP_FINDING_RETENTION_REFUSED, collector->address,
                           "fleetprof_retention_refused: %s", reasons[i]);
    }
}

/* ---- refusals ---- */

/* Uploads of a site that were refused, and how many were accepted beside them. */
struct refused_share {
    double refused;
    double accepted;
    char reason[64]; /* the most frequent one */
    double most;
};

struct site_shares {
    char site[256];
    struct refused_share now;  /* since the earlier page */
    struct refused_share ever; /* since the start */
};

/* The sites of a collector; "" has the requests without a site. */
struct all_shares {
    struct site_shares *items; /* owned */
    size_t count;
    size_t capacity;
    struct fp_map places; /* by the hash of the site */
    double accepted_now;
    double accepted_ever;
};

static struct site_shares *shares_of(struct all_shares *all, const char *site)
{
    const uint64_t key = fp_hash64(site, strlen(site));
    const uint32_t place = fp_map_put(&all->places, key, (uint32_t)all->count);
    if (place == FP_MAP_NONE)
        fp_memory_end();
    if (place < all->count)
        return &all->items[place];
    all->items = fp_memory_grow(all->items, all->count, &all->capacity, sizeof(*all->items));
    struct site_shares *shares = &all->items[all->count++];
    *shares = (struct site_shares){.site = ""};
    (void)snprintf(shares->site, sizeof(shares->site), "%s", site);
    return shares;
}

static void add_refusals(struct refused_share *refusals, const struct fp_scrape_sample *sample,
                         double count)
{
    refusals->refused += count;
    if (count <= refusals->most)
        return;
    refusals->most = count;
    if (!fp_scrape_label(sample, "reason", refusals->reason, sizeof(refusals->reason)))
        refusals->reason[0] = '\0';
}

static void add_sample(struct all_shares *all, const struct fp_status_collector *collector,
                       const struct fp_scrape_sample *sample)
{
    const bool is_refused = strcmp(sample->name, "fleetprof_uploads_refused_total") == 0;
    const bool is_accepted = strcmp(sample->name, "fleetprof_uploads_accepted_total") == 0;
    char site[256];
    if ((!is_refused && !is_accepted) || sample->value <= 0 ||
        !fp_scrape_label(sample, "site", site, sizeof(site)))
        return;
    struct site_shares *shares = shares_of(all, site);
    double rise = fp_scrape_rise(&collector->earlier, &collector->latest, sample);
    if (isnan(rise))
        rise = 0;
    if (is_refused) {
        add_refusals(&shares->now, sample, rise);
        add_refusals(&shares->ever, sample, sample->value);
    } else {
        shares->now.accepted += rise;
        shares->ever.accepted += sample->value;
        all->accepted_now += rise;
        all->accepted_ever += sample->value;
    }
}

static bool is_much(const struct refused_share *refusals)
{
    return refusals->refused > 0 &&
           refusals->refused >= FP_REFUSED_SHARE * (refusals->refused + refusals->accepted);
}

static void judge_shares(struct fp_status *status, const struct fp_status_collector *collector,
                         const struct site_shares *shares)
{
    const struct refused_share *now = &shares->now, *ever = &shares->ever;
    const char *name = shares->site[0] != '\0' ? shares->site : "(unknown)";
    if (is_much(now))
        fp_finding_add(&status->findings, FP_FINDING_UPLOADS_REFUSED, collector->address,
                       "site %s: %.0f of %.0f just now, most for the reason %s", name, now->refused,
                       now->refused + now->accepted, now->reason);
    else if (is_much(ever) && ever->refused >= FP_REFUSED_COUNT)
        fp_finding_add(&status->findings, FP_FINDING_UPLOADS_REFUSED_EARLIER, collector->address,
                       "site %s: %.0f of %.0f, most for the reason %s", name, ever->refused,
                       ever->refused + ever->accepted, ever->reason);
}

/* Requests without a site are compared with what all sites accepted. */
static void judge_refusals(struct fp_status *status, const struct fp_status_collector *collector)
{
    struct all_shares all = {0};
    fp_map_init(&all.places, collector->latest.count + 1);
    for (size_t i = 0; i < collector->latest.count; i++)
        add_sample(&all, collector, &collector->latest.samples[i]);
    for (size_t i = 0; i < all.count; i++) {
        struct site_shares *shares = &all.items[i];
        if (shares->site[0] == '\0') {
            shares->now.accepted = all.accepted_now;
            shares->ever.accepted = all.accepted_ever;
        }
        judge_shares(status, collector, shares);
    }
    fp_map_release(&all.places);
    free(all.items);
}

/* ---- sites ---- */

/* Returns the latest upload of a site on any collector, 0 if none; and when the collector that
 * has run longest was started. */
static double latest_upload(const struct fp_status *status, const char *labels, double *start_s)
{
    double latest = 0;
    for (size_t i = 0; i < status->collector_count; i++) {
        const struct fp_status_collector *collector = &status->collectors[i];
        double upload =
            fp_scrape_value(&collector->latest, "fleetprof_last_upload_timestamp_seconds", labels);
        double started = value_of(collector, "process_start_time_seconds");
        if (upload > latest)
            latest = upload;
        if (started < *start_s)
            *start_s = started;
    }
    return latest;
}

static void judge_silence(struct fp_status *status, const struct fp_scrape_sample *sample,
                          const char *site)
{
    const double now_s = (double)fp_clock_real_us() / FP_US_PER_S;
    double start_s = now_s;
    const double upload_s = latest_upload(status, sample->labels, &start_s);
    if (now_s - start_s < FP_SITE_SILENT_S || now_s - upload_s < FP_SITE_SILENT_S)
        return;
    if (upload_s > 0)
        fp_finding_add(&status->findings, FP_FINDING_SITE_SILENT, site,
                       "the latest upload came %.1f h ago", (now_s - upload_s) / 3600);
    else
        fp_finding_add(&status->findings, FP_FINDING_SITE_SILENT, site,
                       "no upload since the start %.1f h ago", (now_s - start_s) / 3600);
}

static void judge_sites(struct fp_status *status, const struct fp_status_collector *collector)
{
    judge_refusals(status, collector);
    for (size_t i = 0; i < collector->latest.count; i++) {
        const struct fp_scrape_sample *sample = &collector->latest.samples[i];
        char site[256];
        if (strcmp(sample->name, "fleetprof_last_upload_timestamp_seconds") != 0 ||
            !fp_scrape_label(sample, "site", site, sizeof(site)))
            continue;
        judge_silence(status, sample, site);
    }
}

/* ---- versions ---- */

static bool read_version(const struct fp_scrape *scrape, char *version, size_t size)
{
    for (size_t i = 0; i < scrape->count; i++)
        if (strcmp(scrape->samples[i].name, "fleetprof_build_info") == 0)
            return fp_scrape_label(&scrape->samples[i], "version", version, size);
    return false;
}

/* Compares everything with the first version that is known. */
static void judge_versions(struct fp_status *status)
{
    const PGresult *answer = status->database.answer;
    char first[64] = "";
    if (answer != NULL && !PQgetisnull(answer, 0, FP_STATUS_SCHEMA_VERSION))
        (void)snprintf(first, sizeof(first), "%s", PQgetvalue(answer, 0, FP_STATUS_SCHEMA_VERSION));
    const char *place = first[0] != '\0' ? "the schema" : NULL;
    for (size_t i = 0; i < status->collector_count; i++) {
        const struct fp_status_collector *collector = &status->collectors[i];
        char version[64];
        if (!read_version(&collector->latest, version, sizeof(version)))
            continue;
        if (place == NULL) {
            (void)snprintf(first, sizeof(first), "%s", version);
            place = collector->address;
        } else if (strcmp(first, version) != 0) {
            fp_finding_add(&status->findings, FP_FINDING_VERSIONS_DIFFER, collector->address,
                           "%s; %s has %s", version, place, first);
        }
    }
}

/* ---- everything ---- */

static void judge_trial(struct fp_status *status)
{
    for (size_t i = 0; i < status->trial.count; i++) {
        const struct fp_finding *found = &status->trial.items[i];
        fp_finding_add(&status->findings, found->id, found->where, "%s", found->seen);
    }
}

static void judge_collector(struct fp_status *status, const struct fp_status_collector *collector)
{
    if (collector->error != NULL && !collector->answers) {
        fp_finding_add(&status->findings, FP_FINDING_COLLECTOR_STOPPED, collector->address, "%s",
                       collector->error);
        return;
    }
    if (collector->error != NULL) {
        fp_finding_add(&status->findings, FP_FINDING_ADMIN_NOT_COLLECTOR, collector->address, "%s",
                       collector->error);
        return;
    }
    if (collector->not_ready != NULL)
        fp_finding_add(&status->findings, FP_FINDING_COLLECTOR_NOT_READY, collector->address, "%s",
                       collector->not_ready);
    judge_database_of(status, collector);
    judge_spool(status, collector);
    judge_writing(status, collector);
    judge_clock_of(status, collector);
    judge_sites(status, collector);
}

static void judge_database(struct fp_status *status)
{
    const struct fp_status_database *database = &status->database;
    if (database->error != NULL)
        fp_finding_add(&status->findings, database->trouble, database->place, "%s",
                       database->error);
    if (database->answer != NULL && !PQgetisnull(database->answer, 0, FP_STATUS_MISSING))
        fp_finding_add(&status->findings, FP_FINDING_DATABASE_PARTITIONS, database->place, "%.300s",
                       PQgetvalue(database->answer, 0, FP_STATUS_MISSING));
    if (database->answer != NULL && !PQgetisnull(database->answer, 0, FP_STATUS_NATIVE_UNUSED))
        fp_finding_add(&status->findings, FP_FINDING_EXTENSION_UNUSED, database->place, "%.300s",
                       PQgetvalue(database->answer, 0, FP_STATUS_NATIVE_UNUSED));
    if (database->answer != NULL && !PQgetisnull(database->answer, 0, FP_STATUS_REFUSED))
        fp_finding_add(&status->findings, FP_FINDING_RETENTION_REFUSED, database->place,
                       "%.300s. If it is %s UTC now: %s -c \"select "
                       "fleetprof_data.trust_clock('%s+00')\"",
                       PQgetvalue(database->answer, 0, FP_STATUS_REFUSED),
                       PQgetvalue(database->answer, 0, FP_STATUS_NOW), database->psql,
                       PQgetvalue(database->answer, 0, FP_STATUS_NOW));
}

void fp_status_judge(struct fp_status *status)
{
    fp_findings_release(&status->findings);
    for (size_t i = 0; i < status->collector_count; i++)
        judge_collector(status, &status->collectors[i]);
    judge_database(status);
    judge_versions(status);
    judge_trial(status);
}
