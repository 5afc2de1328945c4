/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference tables: prints the collector's tables of facts as one JSON object, for
 * tools/reference.mjs, which writes them into the manual.
 */
#include "cli/doctor/finding.h"
#include "cli/doctor/thresholds.h"
#include "collector/base/problem.h"
#include "collector/base/process_metrics.h"
#include "collector/config/settings.h"
#include "collector/http/metrics.h"
#include "collector/ingest/metrics.h"
#include "collector/letters/metrics.h"
#include "collector/profile/fold/metrics.h"
#include "collector/sealer/metrics.h"
#include "collector/spool/metrics.h"
#include "collector/writer/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

enum { TEXT_MAX = 1024 };

static yyjson_mut_doc *document;

/* Adds a row to a list of the document, which is made for its first row. */
static yyjson_mut_val *add_row(const char *list)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(document);
    yyjson_mut_val *rows = yyjson_mut_obj_get(root, list);
    if (rows == NULL)
        rows = yyjson_mut_obj_add_arr(document, root, list);
    return yyjson_mut_arr_add_obj(document, rows);
}

/* NULL is an empty text. */
static void add_text(yyjson_mut_val *row, const char *name, const char *text)
{
    if (!yyjson_mut_obj_add_strcpy(document, row, name, text != NULL ? text : ""))
        abort();
}

/* Adds the range of a setting: its bounds for numbers, else the type. */
static void add_range(yyjson_mut_val *row, const struct fp_setting *setting)
{
    struct fp_buf text;
    fp_buf_init(&text, TEXT_MAX);
    fp_setting_print_bounds(setting, &text);
    fp_buf_add(&text, "", 1);
    if (text.failed)
        abort();
    const char *bounds = (const char *)text.data;
    add_text(row, "range", bounds[0] != '\0' ? bounds : fp_setting_type_name(setting->type));
    fp_buf_release(&text);
}

/* Without a setting of these types there is none; the table has an example. */
static const char *default_of(const struct fp_setting *setting)
{
    const bool is_example = setting->type == FP_SETTING_ADDRESS ||
                            (fp_setting_is_list(setting) && setting->type != FP_SETTING_FORMATS);
    if (setting->required)
        return "required";
    return is_example || setting->value[0] == '\0' ? "none" : setting->value;
}

static void add_settings(void)
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        yyjson_mut_val *row = add_row("settings");
        add_text(row, "name", setting->name);
        add_text(row, "value", default_of(setting));
        add_range(row, setting);
        add_text(row, "change", setting->reloadable ? "reload" : "restart");
        add_text(row, "help", setting->help);
    }
}

/* ---- metrics ---- */

struct documented_metric {
    const char *name, *type, *labels, *help, *more;
};

#define TYPE_COUNTER "counter"
#define TYPE_TIME_COUNTER "counter"
#define TYPE_GAUGE "gauge"
#define TYPE_TIME_GAUGE "gauge"
#define TYPE_AGE "gauge"
#define TYPE_HISTOGRAM "histogram"
#define DOCUMENTED(id, type, name, labels, help, more) {name, TYPE_##type, labels, help, more},

static const struct documented_metric of_sites[] = {FP_SITE_METRICS(DOCUMENTED)};
static const struct documented_metric of_ingest[] = {FP_INGEST_METRICS(DOCUMENTED)};
static const struct documented_metric of_profile[] = {FP_PROFILE_METRICS(DOCUMENTED)};
static const struct documented_metric of_letters[] = {FP_DEAD_LETTERS_METRICS(DOCUMENTED)};
static const struct documented_metric of_http[] = {FP_HTTP_METRICS(DOCUMENTED)};
static const struct documented_metric of_spool[] = {FP_SPOOL_METRICS(DOCUMENTED)};
static const struct documented_metric of_writer[] = {FP_WRITER_METRICS(DOCUMENTED)
                                                         FP_REFUSED_BY_METRICS(DOCUMENTED)};
static const struct documented_metric of_sealer[] = {FP_SEALER_METRICS(DOCUMENTED)};
static const struct documented_metric of_process[] = {FP_PROCESS_METRICS(DOCUMENTED)};

static const struct {
    const char *room;
    const struct documented_metric *metrics;
    size_t count;
} rooms[] = {
    {"sites", of_sites, FP_COUNT(of_sites)},       {"ingest", of_ingest, FP_COUNT(of_ingest)},
    {"profile", of_profile, FP_COUNT(of_profile)}, {"letters", of_letters, FP_COUNT(of_letters)},
    {"http", of_http, FP_COUNT(of_http)},          {"spool", of_spool, FP_COUNT(of_spool)},
    {"writer", of_writer, FP_COUNT(of_writer)},    {"sealer", of_sealer, FP_COUNT(of_sealer)},
    {"process", of_process, FP_COUNT(of_process)},
};

static void add_metric(const char *room, const struct documented_metric *metric)
{
    yyjson_mut_val *row = add_row("metrics");
    add_text(row, "room", room);
    add_text(row, "name", metric->name);
    add_text(row, "type", metric->type);
    add_text(row, "labels", metric->labels);
    add_text(row, "help", metric->help);
    add_text(row, "more", metric->more);
}

static void add_metrics(void)
{
    for (size_t i = 0; i < FP_COUNT(rooms); i++)
        for (size_t j = 0; j < rooms[i].count; j++)
            add_metric(rooms[i].room, &rooms[i].metrics[j]);
}

static void add_refusal(const char *name, const char *status, const char *text)
{
    yyjson_mut_val *row = add_row("refusals");
    add_text(row, "name", name);
    add_text(row, "status", status);
    add_text(row, "text", text);
}

static void add_refusals(void)
{
#define ADD(id, status, name, text) add_refusal(name, #status, text);
    FP_REFUSALS(ADD)
#undef ADD
}

/* ---- findings ---- */

static void add_finding(const char *group, const char *name, enum fp_severity severity,
                        const struct fp_finding_text *text)
{
    yyjson_mut_val *row = add_row("findings");
    add_text(row, "group", group);
    add_text(row, "name", name);
    add_text(row, "severity", severity == FP_SEVERITY_NOTE ? "note" : "wrong");
    add_text(row, "what", text->what);
    add_text(row, "why", text->why);
    add_text(row, "fix", text->fix);
    add_text(row, "nginx", text->nginx);
    add_text(row, "httpd", text->httpd);
    add_text(row, "express", text->express);
}

static void add_findings(void)
{
    const char *group;
#define ADD(id, name, severity)                                                                    \
    add_finding(group, name, FP_SEVERITY_##severity, fp_finding_text(FP_FINDING_##id));
    group = "policies";
    FP_FINDINGS_OF_POLICIES(ADD)
    group = "caches";
    FP_FINDINGS_OF_CACHES(ADD)
    group = "agent";
    FP_FINDINGS_OF_THE_AGENT(ADD)
    group = "scripts";
    FP_FINDINGS_OF_SCRIPTS(ADD)
    group = "uploads";
    FP_FINDINGS_OF_UPLOADS(ADD)
    group = "machine";
    FP_FINDINGS_OF_THE_MACHINE(ADD)
    group = "collectors";
    FP_FINDINGS_OF_COLLECTORS(ADD)
#undef ADD
}

static void add_threshold(const char *name, const char *value)
{
    yyjson_mut_val *row = add_row("thresholds");
    add_text(row, "name", name);
    add_text(row, "value", value);
}

static void add_thresholds(void)
{
#define ADD(name, value) add_threshold(#name, #value);
    FP_THRESHOLDS(ADD)
#undef ADD
}

int main(void)
{
    document = yyjson_mut_doc_new(NULL);
    if (document == NULL)
        abort();
    yyjson_mut_doc_set_root(document, yyjson_mut_obj(document));
    add_settings();
    add_metrics();
    add_refusals();
    add_findings();
    add_thresholds();
    char *text = yyjson_mut_write(document, YYJSON_WRITE_PRETTY, NULL);
    if (text == NULL || puts(text) < 0)
        abort();
    free(text);
    yyjson_mut_doc_free(document);
    return 0;
}
