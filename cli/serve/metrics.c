/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: two queries, and a buffer per metric, since a metric's lines stand together.
 */
#include "cli/serve/metrics.h"

/* At most 100 sites with 50 routes each. The order is that of the columns below. */
static const char statement[] =
    "select site, value, name, unit = 'ms', p75 / 1000, count from "
    "(select site from fleetprof.sites() order by uploads desc limit 100) as site "
    "cross join lateral (select *, dense_rank() over (order by most desc, value) as rank from "
    "(select *, max(count) over (partition by value) as most from "
    "fleetprof.vitals_by('route', fleetprof_data.literal_filter(site), "
    "since => now() - interval '1 day')) as counted) as ranked "
    "where rank <= 50 and p75 is not null order by site, rank, name";
enum { SITE, ROUTE, VITAL, IS_TIME, P75, COUNT };

/* Each budget has all lines, so that an alert knows its labels before the first value. */
static const char budgets_statement[] =
    "select of_site, budget.name, case when verdict = 'over' then 1 else 0 end, window_name, "
    "coalesce(rate::text, 'NaN') from "
    "(select distinct site from fleetprof_data.performance_budget order by site limit 100) as "
    "listed cross join lateral fleetprof.budgets(fleetprof_data.literal_filter(listed.site), "
    "since => now() - interval '1 day') as budget "
    "cross join lateral (values ('1h', burn_1h), ('6h', burn_6h), ('24h', burn_24h), "
    "('3d', burn_3d)) as burned (window_name, rate)";
enum { BUDGET = ROUTE, IS_OVER, WINDOW, RATE };

enum { SECONDS, SCORE, VALUES, OVER, BURN, METRICS };

static const struct metric {
    const char *name;
    const char *help;
} metrics[METRICS] = {
    [SECONDS] = {"fleetprof_vital_p75_seconds",
                 "75th percentile of a web vital of the last 24 hours."},
    [SCORE] = {"fleetprof_vital_p75_score", "The same of one without a unit, such as CLS."},
    [VALUES] = {"fleetprof_vital_values", "Values that the percentile is of."},
    [OVER] = {"fleetprof_budget_over",
              "1 if a performance budget is exceeded for sure in the last 24 hours, else 0."},
    [BURN] = {"fleetprof_budget_burn_rate",
              "How fast a performance budget is used up: 1 is exactly the budget."},
};

struct vitals_writing {
    struct fp_buf parts[METRICS];
};

/* Appends a label's value, escaped as the format says. */
static void add_label(struct fp_buf *out, const char *name, const char *value)
{
    fp_buf_addf(out, "%s=\"", name);
    for (const char *c = value; *c != '\0'; c++)
        if (*c == '\n')
            fp_buf_addf(out, "\\n");
        else
            fp_buf_addf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fp_buf_addf(out, "\"");
}

static void add_value(struct vitals_writing *writing, int metric, const PGresult *row, int value)
{
    struct fp_buf *out = &writing->parts[metric];
    fp_buf_addf(out, "%s{", metrics[metric].name);
    add_label(out, "site", PQgetvalue(row, 0, SITE));
    add_label(out, ",route", PQgetvalue(row, 0, ROUTE));
    add_label(out, ",vital", PQgetvalue(row, 0, VITAL));
    fp_buf_addf(out, "} %s\n", PQgetvalue(row, 0, value));
}

static bool take(void *context, const PGresult *row)
{
    struct vitals_writing *writing = context;
    if (PQntuples(row) == 0)
        return true;
    add_value(writing, PQgetvalue(row, 0, IS_TIME)[0] == 't' ? SECONDS : SCORE, row, P75);
    add_value(writing, VALUES, row, COUNT);
    return !writing->parts[VALUES].failed;
}

static bool take_budget(void *context, const PGresult *row)
{
    struct vitals_writing *writing = context;
    if (PQntuples(row) == 0)
        return true;
    const bool is_first = strcmp(PQgetvalue(row, 0, WINDOW), "1h") == 0;
    for (int metric = is_first ? OVER : BURN; metric <= BURN; metric++) {
        struct fp_buf *out = &writing->parts[metric];
        fp_buf_addf(out, "%s{", metrics[metric].name);
        add_label(out, "site", PQgetvalue(row, 0, SITE));
        add_label(out, ",budget", PQgetvalue(row, 0, BUDGET));
        if (metric == BURN)
            add_label(out, ",window", PQgetvalue(row, 0, WINDOW));
        fp_buf_addf(out, "} %s\n", PQgetvalue(row, 0, metric == BURN ? RATE : IS_OVER));
    }
    return !writing->parts[BURN].failed;
}

/* Appends the metrics, and frees each as soon as it is there. */
static void join(struct vitals_writing *writing, struct fp_buf *out)
{
    for (int i = 0; i < METRICS; i++) {
        fp_buf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help,
                    metrics[i].name);
        fp_buf_add(out, writing->parts[i].data, writing->parts[i].len);
        out->failed = out->failed || writing->parts[i].failed;
        out->starved = out->starved || writing->parts[i].starved;
        fp_buf_release(&writing->parts[i]);
    }
}

/* Says why not all metrics are there: a part of them would look like all. */
static void explain_failure(const struct fp_buf *out, struct fp_trouble *trouble)
{
    if (out->starved) {
        fp_trouble_memory(trouble);
        return;
    }
    fp_trouble_set(trouble, 500, "The metrics are longer than %d bytes.", FP_METRICS_MAX);
    fp_trouble_hint(trouble, "The names of routes are too long: `sites[].routes' of the "
                             "configuration shortens them.");
}

enum fp_reader_result fp_metrics_write(struct fp_readers *readers, int client_fd,
                                       struct fp_buf *out, struct fp_trouble *trouble)
{
    struct vitals_writing writing;
    for (int i = 0; i < METRICS; i++)
        fp_buf_init(&writing.parts[i], FP_METRICS_MAX);
    const struct fp_reader_query queries[] = {
        {.statement = statement, .take = take, .context = &writing, .client_fd = client_fd},
        {.statement = budgets_statement,
         .take = take_budget,
         .context = &writing,
         .client_fd = client_fd},
    };
    enum fp_reader_result result = FP_READER_FINE;
    for (size_t i = 0; i < FP_COUNT(queries) && result == FP_READER_FINE; i++)
        result = fp_readers_ask(readers, &queries[i], trouble);
    if (result == FP_READER_FINE)
        join(&writing, out);
    for (int i = 0; i < METRICS; i++)
        fp_buf_release(&writing.parts[i]);
    if (result == FP_READER_FINE && out->failed) {
        explain_failure(out, trouble);
        result = FP_READER_TROUBLE;
    }
    return result;
}
