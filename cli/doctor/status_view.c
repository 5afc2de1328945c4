/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: prints collectors, sites, refusals, database and findings.
 */
#include "cli/doctor/status.h"

#include "cli/kit/grid.h"
#include "cli/kit/memory.h"
#include "cli/kit/terminal.h"
#include "collector/base/clock.h"
#include "collector/base/hash.h"
#include "collector/base/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- cells; NaN means no value ---- */

static void add_number(struct fp_grid *grid, double value)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%.17g", value);
    fp_grid_add(grid, isnan(value) ? NULL : text);
}

static void add_whole(struct fp_grid *grid, double value)
{
    fp_grid_add_optional(grid, !isnan(value), isnan(value) ? 0 : (int64_t)value);
}

/* Writes a duration as people say it. */
static void write_duration(char text[32], double seconds)
{
    static const struct {
        double from_s;
        double unit_s;
        const char *unit;
    } units[] = {{2 * 86400.0, 86400, "d"}, {2 * 3600.0, 3600, "h"}, {2 * 60.0, 60, "min"}};
    for (size_t i = 0; i < FP_COUNT(units); i++) {
        if (seconds >= units[i].from_s) {
            (void)snprintf(text, 32, "%.0f %s", floor(seconds / units[i].unit_s), units[i].unit);
            return;
        }
    }
    (void)snprintf(text, 32, "%.1f s", seconds > 0 ? seconds : 0);
}

static void write_bytes(char text[32], double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    for (bytes /= 1024; bytes >= 10240 && i + 1 < FP_COUNT(units); i++)
        bytes /= 1024;
    (void)snprintf(text, 32, "%.0f %s", bytes, units[i]);
}

static void add_duration(struct fp_grid *grid, double seconds)
{
    char text[32];
    add_number(grid, seconds);
    write_duration(text, seconds);
    fp_grid_add(grid, isnan(seconds) ? NULL : text);
}

static void add_bytes(struct fp_grid *grid, double bytes)
{
    char text[32];
    add_whole(grid, bytes);
    write_bytes(text, bytes);
    fp_grid_add(grid, isnan(bytes) ? NULL : text);
}

/* Returns the seconds since a time; NaN for 0, which stands for never. */
static double seconds_since(double time_s)
{
    return time_s > 0 ? (double)fp_clock_real_us() / FP_US_PER_S - time_s : (double)NAN;
}

/* ---- collectors ---- */

static const struct fp_grid_column collector_columns[] = {
    {"collector", "COLLECTOR", FP_CELL_WORD},
    {"error", NULL, FP_CELL_TEXT},
    {"version", "VERSION", FP_CELL_WORD},
    {"up_s", NULL, FP_CELL_MS},
    {NULL, "UP", FP_CELL_WORD},
    {"uploads_per_second", "UPLOADS/S", FP_CELL_MS},
    {"refused_per_second", "REFUSED/S", FP_CELL_MS},
    {"backlog_records", "WAITING", FP_CELL_INTEGER},
    {"backlog_age_s", NULL, FP_CELL_MS},
    {NULL, "OLDEST", FP_CELL_WORD},
    {"spool_bytes", NULL, FP_CELL_INTEGER},
    {NULL, "SPOOL", FP_CELL_WORD},
    {"spool_max_bytes", NULL, FP_CELL_INTEGER},
    {NULL, "OF", FP_CELL_WORD},
    {"disk_free_bytes", NULL, FP_CELL_INTEGER},
    {NULL, "DISK FREE", FP_CELL_WORD},
    {"database_state", "DATABASE", FP_CELL_WORD},
    {"last_flush_s", NULL, FP_CELL_MS},
    {NULL, "LAST FLUSH", FP_CELL_WORD},
};

static void add_collector(struct fp_grid *grid, const struct fp_status_collector *collector)
{
    const struct fp_scrape *page = &collector->latest;
    char version[64] = "", state[64];
    for (size_t i = 0; i < page->count && version[0] == '\0'; i++)
        if (strcmp(page->samples[i].name, "fleetprof_build_info") == 0 &&
            !fp_scrape_label(&page->samples[i], "version", version, sizeof(version)))
            version[0] = '\0';
    fp_status_database_state(page, state, sizeof(state));
    fp_grid_add(grid, collector->address);
    fp_grid_add(grid, collector->error);
    fp_grid_add_text(grid, version);
    add_duration(grid, seconds_since(fp_scrape_value(page, "process_start_time_seconds", "")));
    add_number(grid, fp_status_rate(collector, "fleetprof_uploads_accepted_total"));
    add_number(grid, fp_status_rate(collector, "fleetprof_uploads_refused_total"));
    add_whole(grid, fp_scrape_value(page, "fleetprof_spool_backlog_records", ""));
    add_duration(grid, fp_scrape_value(page, "fleetprof_spool_backlog_age_seconds", ""));
    add_bytes(grid, fp_scrape_value(page, "fleetprof_spool_bytes", ""));
    add_bytes(grid, fp_scrape_value(page, "fleetprof_spool_max_bytes", ""));
    add_bytes(grid, fp_scrape_value(page, "fleetprof_spool_disk_free_bytes", ""));
    fp_grid_add_text(grid, state);
    add_duration(
        grid, seconds_since(fp_scrape_value(page, "fleetprof_last_flush_timestamp_seconds", "")));
}

/* ---- sites and refusals, of all collectors together ---- */

struct tally {
    char *site;
    char *reason; /* NULL: of all uploads of the site */
    double accepted;
    double refused;
    double accepted_per_second; /* NaN: unknown */
    double refused_per_second;
    double latest_s;
};

struct tallies {
    struct tally *items; /* owned */
    size_t count;
    size_t capacity;
    struct fp_map places; /* by the hash of site and reason */
};

static struct tally *tally_of(struct tallies *tallies, const char *site, const char *reason)
{
    const struct fp_str texts[] = {fp_str_of(site), fp_str_of(reason != NULL ? reason : "")};
    const uint64_t key = fp_hash_fields(
        &(struct fp_hash_input){.tag = 't', .texts = texts, .text_count = FP_COUNT(texts)});
    const uint32_t place = fp_map_put(&tallies->places, key, (uint32_t)tallies->count);
    if (place == FP_MAP_NONE)
        fp_memory_end();
    if (place < tallies->count)
        return &tallies->items[place];
    tallies->items =
        fp_memory_grow(tallies->items, tallies->count, &tallies->capacity, sizeof(*tallies->items));
    struct tally *tally = &tallies->items[tallies->count++];
    *tally = (struct tally){.site = fp_memory_copy(site),
                            .reason = reason != NULL ? fp_memory_copy(reason) : NULL};
    return tally;
}

static double per_second(const struct fp_status_collector *collector,
                         const struct fp_scrape_sample *sample)
{
    return fp_scrape_rise(&collector->earlier, &collector->latest, sample) * FP_US_PER_S /
           (double)(collector->latest.at_us - collector->earlier.at_us);
}

static void add_sample(struct tallies *tallies, const struct fp_status_collector *collector,
                       const struct fp_scrape_sample *sample)
{
    char site[256], reason[64];
    if (strcmp(sample->name, "fleetprof_uploads_refused_total") == 0) {
        if (sample->value <= 0 || !fp_scrape_label(sample, "site", site, sizeof(site)) ||
            !fp_scrape_label(sample, "reason", reason, sizeof(reason)))
            return;
        for (int of_site = 0; of_site < 2; of_site++) {
            struct tally *tally = tally_of(tallies, site, of_site ? NULL : reason);
            tally->refused += sample->value;
            tally->refused_per_second += per_second(collector, sample);
        }
    } else if (strcmp(sample->name, "fleetprof_uploads_accepted_total") == 0 &&
               fp_scrape_label(sample, "site", site, sizeof(site))) {
        struct tally *tally = tally_of(tallies, site, NULL);
        tally->accepted += sample->value;
        tally->accepted_per_second += per_second(collector, sample);
    } else if (strcmp(sample->name, "fleetprof_last_upload_timestamp_seconds") == 0 &&
               fp_scrape_label(sample, "site", site, sizeof(site))) {
        struct tally *tally = tally_of(tallies, site, NULL);
        if (sample->value > tally->latest_s)
            tally->latest_s = sample->value;
    }
}

static void count_sites(const struct fp_status *status, struct tallies *tallies)
{
    for (size_t i = 0; i < status->collector_count; i++)
        for (size_t k = 0; k < status->collectors[i].latest.count; k++)
            add_sample(tallies, &status->collectors[i], &status->collectors[i].latest.samples[k]);
}

static void release_tallies(struct tallies *tallies)
{
    for (size_t i = 0; i < tallies->count; i++) {
        free(tallies->items[i].site);
        free(tallies->items[i].reason);
    }
    free(tallies->items);
    fp_map_release(&tallies->places);
}

static const struct fp_grid_column site_columns[] = {
    {"site", NULL, FP_CELL_WORD},
    {NULL, "SITE", FP_CELL_WORD},
    {"uploads_per_second", "UPLOADS/S", FP_CELL_MS},
    {"refused_per_second", "REFUSED/S", FP_CELL_MS},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
    {"refused", "REFUSED", FP_CELL_INTEGER},
    {"last_upload_s", NULL, FP_CELL_MS},
    {NULL, "LAST UPLOAD", FP_CELL_WORD},
};

static const struct fp_grid_column refusal_columns[] = {
    {"site", NULL, FP_CELL_WORD},
    {NULL, "SITE", FP_CELL_WORD},
    {"reason", "REASON", FP_CELL_WORD},
    {"refused", "REFUSED", FP_CELL_INTEGER},
    {"refused_per_second", "REFUSED/S", FP_CELL_MS},
};

static void add_site_name(struct fp_grid *grid, const char *site)
{
    fp_grid_add(grid, site);
    fp_grid_add(grid, site[0] != '\0' ? site : "(unknown)");
}

static void add_tally(struct fp_grid *sites, struct fp_grid *refusals, const struct tally *tally)
{
    if (tally->reason != NULL) {
        add_site_name(refusals, tally->site);
        fp_grid_add(refusals, tally->reason);
        add_whole(refusals, tally->refused);
        add_number(refusals, tally->refused_per_second);
    } else if (tally->site[0] != '\0') {
        add_site_name(sites, tally->site);
        add_number(sites, tally->accepted_per_second);
        add_number(sites, tally->refused_per_second);
        add_whole(sites, tally->accepted);
        add_whole(sites, tally->refused);
        if (tally->latest_s > 0) {
            add_duration(sites, seconds_since(tally->latest_s));
        } else {
            fp_grid_add(sites, NULL);
            fp_grid_add(sites, "not yet");
        }
    }
}

/* ---- the database ---- */

/* For JSON; people read lines. */
static const struct fp_grid_column database_columns[] = {
    {"server_version", NULL, FP_CELL_TEXT},     {"schema_version", NULL, FP_CELL_TEXT},
    {"bytes", NULL, FP_CELL_INTEGER},           {"partitions", NULL, FP_CELL_INTEGER},
    {"first_day", NULL, FP_CELL_TEXT},          {"last_day", NULL, FP_CELL_TEXT},
    {"recent_uploads", NULL, FP_CELL_INTEGER},  {"last_counted_s", NULL, FP_CELL_MS},
    {"replica_behind_s", NULL, FP_CELL_MS},     {"entries_to_seal", NULL, FP_CELL_INTEGER},
    {"missing_partitions", NULL, FP_CELL_TEXT}, {"native_version", NULL, FP_CELL_TEXT},
};

static const char *cell(const PGresult *answer, enum fp_status_column column)
{
    return PQgetisnull(answer, 0, (int)column) ? "" : PQgetvalue(answer, 0, (int)column);
}

/* Writes a duration of the answer, followed by other words; `none` if it is null. */
static void print_age(const PGresult *answer, enum fp_status_column column, const char *none,
                      const char *words)
{
    char text[32];
    write_duration(text, strtod(cell(answer, column), NULL));
    if (PQgetisnull(answer, 0, (int)column))
        (void)printf("%s", none);
    else
        (void)printf("%s%s", text, words);
}

static void print_database(const struct fp_status_database *database)
{
    const PGresult *answer = database->answer;
    char bytes[32];
    if (answer == NULL)
        return;
    write_bytes(bytes, strtod(cell(answer, FP_STATUS_BYTES), NULL));
    char *about = fp_memory_print("%s; PostgreSQL %s, schema of %s, %s", database->place,
                                  cell(answer, FP_STATUS_SERVER_VERSION),
                                  cell(answer, FP_STATUS_SCHEMA_VERSION), bytes);
    (void)printf("database:   ");
    fp_terminal_write_words(stdout, about, strlen("database:   "));
    free(about);
    (void)printf("\ncounted:    %s uploads in five minutes, the latest ",
                 cell(answer, FP_STATUS_RECENT_UPLOADS));
    print_age(answer, FP_STATUS_COUNTED_S, "more than a day ago", " ago");
    (void)printf("\npartitions: %s, for %s to %s\n", cell(answer, FP_STATUS_PARTITIONS),
                 cell(answer, FP_STATUS_FIRST_DAY), cell(answer, FP_STATUS_LAST_DAY));
    (void)printf("to seal:    %s entries\n", cell(answer, FP_STATUS_TO_SEAL));
    if (!PQgetisnull(answer, 0, FP_STATUS_NATIVE))
        (void)printf("extension:  fleetprof_native %s%s\n", cell(answer, FP_STATUS_NATIVE),
                     PQgetisnull(answer, 0, FP_STATUS_NATIVE_UNUSED) ? "" : ", not used");
    if (!PQgetisnull(answer, 0, FP_STATUS_REPLICA_S)) {
        (void)printf("replica:    ");
        print_age(answer, FP_STATUS_REPLICA_S, "", " behind the primary\n");
    }
    (void)printf("\n");
}

/* ---- everything ---- */

struct view {
    struct fp_grid collectors;
    struct fp_grid sites;
    struct fp_grid refusals;
    struct fp_grid database;
};

static void fill(struct view *view, const struct fp_status *status)
{
    struct tallies tallies = {0};
    fp_grid_init(&view->collectors, collector_columns, FP_COUNT(collector_columns));
    fp_grid_init(&view->sites, site_columns, FP_COUNT(site_columns));
    fp_grid_init(&view->refusals, refusal_columns, FP_COUNT(refusal_columns));
    fp_grid_init(&view->database, database_columns, FP_COUNT(database_columns));
    for (size_t i = 0; i < status->collector_count; i++)
        add_collector(&view->collectors, &status->collectors[i]);
    fp_map_init(&tallies.places, UINT32_MAX - 1);
    count_sites(status, &tallies);
    for (size_t i = 0; i < tallies.count; i++)
        add_tally(&view->sites, &view->refusals, &tallies.items[i]);
    release_tallies(&tallies);
    if (status->database.answer != NULL)
        fp_sql_fill(status->database.answer, 0, &view->database);
}

static void print_json(const struct view *view, const struct fp_findings *findings)
{
    const struct {
        const char *name;
        const struct fp_grid *grid;
    } parts[] = {{"collectors", &view->collectors},
                 {"sites", &view->sites},
                 {"refusals", &view->refusals},
                 {"database", &view->database}};
    (void)printf("{");
    for (size_t i = 0; i < FP_COUNT(parts); i++) {
        (void)printf("\"%s\": ", parts[i].name);
        fp_grid_print(parts[i].grid, FP_FORM_JSON);
        (void)printf(",");
    }
    (void)printf("\"findings\": ");
    fp_findings_print(findings, true);
    (void)printf("}\n");
}

/* Says since when uploads are counted, before a table that has counts. */
static void print_since(const struct fp_status *status)
{
    char text[32];
    double up_s = (double)NAN;
    size_t answers = 0;
    for (size_t i = 0; i < status->collector_count; i++) {
        const double started_s =
            fp_scrape_value(&status->collectors[i].latest, "process_start_time_seconds", "");
        answers += isnan(started_s) ? 0 : 1;
        up_s = isnan(started_s) ? up_s : seconds_since(started_s);
    }
    write_duration(text, up_s);
    if (answers == 1)
        (void)printf("Uploads since the collector started, %s ago:\n", text);
    else
        (void)printf("Uploads since the collectors started, together:\n");
}

static void print_for_people(const struct view *view, const struct fp_status *status)
{
    const struct fp_grid *const grids[] = {&view->collectors, &view->sites, &view->refusals};
    for (size_t i = 0; i < FP_COUNT(grids); i++) {
        if (grids[i] == &view->sites && fp_grid_rows(grids[i]) > 0)
            print_since(status);
        fp_grid_print(grids[i], FP_FORM_PEOPLE);
        if (fp_grid_rows(grids[i]) > 0)
            (void)printf("\n");
    }
    print_database(&status->database);
    fp_findings_print(&status->findings, false);
    if (status->findings.count == 0)
        (void)printf("%sNothing is wrong.%s\n", fp_terminal_style(stdout, FP_STYLE_GOOD),
                     fp_terminal_style(stdout, FP_STYLE_PLAIN));
}

void fp_status_print(struct fp_status *status, bool json)
{
    struct view view;
    fill(&view, status);
    if (json)
        print_json(&view, &status->findings);
    else
        print_for_people(&view, status);
    fp_grid_release(&view.collectors);
    fp_grid_release(&view.sites);
    fp_grid_release(&view.refusals);
    fp_grid_release(&view.database);
}
