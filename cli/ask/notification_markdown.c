/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications of forges: Markdown, GitHub's workflow commands and GitLab's code quality report.
 */
#include "cli/ask/notification_text.h"

#include "cli/kit/memory.h"
#include "collector/base/ascii.h"
#include "collector/base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SENTENCE_MAX = 4096 };

/* ---- Markdown ---- */

/*
 * Appends a stranger's text as code: there, nothing is a link, a mention or HTML. What could end
 * the code or the cell of a table becomes entities, which are never structure.
 */
static void put_code(struct fp_buf *out, const char *text)
{
    const struct fp_notification_text cut = fp_notification_cut(text);
    if (cut.text[0] == '\0')
        return;
    if (strpbrk(cut.text, "`|\\") == NULL) {
        fp_buf_addf(out, "`%s`", cut.text);
        return;
    }
    fp_buf_addf(out, "<code>");
    for (const char *c = cut.text; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80 || fp_is_alnum(*c) || *c == ' ')
            fp_buf_add(out, c, 1);
        else
            fp_buf_addf(out, "&#%d;", *c);
    fp_buf_addf(out, "</code>");
}

/* Appends a link, unless there is no address. What could end it is percent-encoded. */
static void put_link(struct fp_buf *out, const char *label, const char *address)
{
    if (address == NULL || address[0] == '\0')
        return;
    fp_buf_addf(out, " [%s](", label);
    for (const char *c = address; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("()<>|\\`\"'*_~", *c) != NULL)
            fp_buf_addf(out, "%%%02X", (unsigned char)*c);
        else
            fp_buf_add(out, c, 1);
    fp_buf_addf(out, ")");
}

static void write_row(const struct fp_notification_finding *finding, struct fp_buf *out)
{
    fp_buf_addf(out, "| %s | ", finding->verdict);
    put_code(out, finding->name);
    put_link(out, "report", finding->link);
    fp_buf_addf(out, " | ");
    put_code(out, finding->place);
    put_link(out, "source", finding->source_link);
    if (fp_notification_has(finding->owner)) {
        fp_buf_addf(out, " owner: ");
        put_code(out, finding->owner);
    }
    if (fp_notification_has(finding->suspects)) {
        fp_buf_addf(out, " suspects: ");
        put_code(out, fp_notification_suspects(finding->suspects).text);
    }
    for (size_t i = 0; i < FP_FINDING_CELLS; i++)
        fp_buf_addf(out, " | %s", finding->cells[i]);
    fp_buf_addf(out, " |\n");
}

void fp_notification_markdown(const struct fp_notification *notification, struct fp_buf *out)
{
    fp_notification_title(notification, out, put_code);
    put_link(out, "Report", notification->link);
    fp_buf_addf(out, "\n");
    if (notification->count == 0)
        return;
    fp_buf_addf(out, "\n| verdict | what | where");
    for (size_t i = 0; i < FP_FINDING_CELLS; i++)
        fp_buf_addf(out, " | %s", notification->headings[i]);
    fp_buf_addf(out, " |\n|---|---|---");
    for (size_t i = 0; i < FP_FINDING_CELLS; i++)
        fp_buf_addf(out, "|--:");
    fp_buf_addf(out, "|\n");
    for (size_t i = 0; i < notification->count; i++)
        write_row(&notification->findings[i], out);
}

/* ---- GitHub ---- */

/* Appends a value of a workflow command; the message has fewer special characters than the
 * properties (actions/toolkit, packages/core/src/command.ts). */
static void put_value(struct fp_buf *out, const char *text, bool is_property)
{
    for (const char *c = text; *c != '\0'; c++)
        if (strchr("%\r\n", *c) != NULL || (is_property && strchr(":,", *c) != NULL))
            fp_buf_addf(out, "%%%02X", (unsigned char)*c);
        else
            fp_buf_add(out, c, 1);
}

static void put_property(struct fp_buf *out, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    fp_buf_addf(out, "%s=", name);
    put_value(out, text, true);
    fp_buf_addf(out, ",");
}

void fp_notification_github(const struct fp_notification *notification, struct fp_buf *out)
{
    struct fp_buf sentence;
    fp_buf_init(&sentence, SENTENCE_MAX);
    for (size_t i = 0; i < notification->count; i++) {
        const struct fp_notification_finding *finding = &notification->findings[i];
        fp_buf_addf(out, "::warning ");
        put_property(out, "file", finding->source);
        put_property(out, "line", finding->source[0] != '\0' ? finding->line : "");
        fp_buf_addf(out, "title=fleetprof%%3A %s::", finding->verdict);
        fp_buf_clear(&sentence);
        fp_notification_sentence(finding, &sentence);
        put_value(out, fp_memory_text(&sentence), false);
        fp_buf_addf(out, "%s%s\n", finding->link != NULL ? ". " : "",
                    finding->link != NULL ? finding->link : "");
    }
    fp_buf_release(&sentence);
}

/* ---- GitLab ---- */

/* Returns an issue of a code quality report. */
static yyjson_mut_val *issue_of(yyjson_mut_doc *doc, const struct fp_notification_finding *finding)
{
    yyjson_mut_val *issue = yyjson_mut_obj(doc);
    struct fp_buf sentence;
    fp_buf_init(&sentence, SENTENCE_MAX);
    fp_notification_sentence(finding, &sentence);
    char *name = fp_memory_print("fleetprof/%s", finding->verdict);
    const char *key = finding->lasting_key != NULL ? finding->lasting_key : finding->key;
    char *fingerprint = fp_memory_print("%016" PRIx64, fp_hash64(key, strlen(key)));
    fp_notification_add(doc, issue, "description", fp_memory_text(&sentence));
    fp_notification_add(doc, issue, "check_name", name);
    fp_notification_add(doc, issue, "fingerprint", fingerprint);
    fp_notification_add(doc, issue, "severity", "major");
    fp_buf_release(&sentence);
    free(name);
    free(fingerprint);
    yyjson_mut_val *location = yyjson_mut_obj_add_obj(doc, issue, "location");
    const bool has_source = finding->source[0] != '\0';
    /* A path is needed, and none of the repository is known without a function table. */
    fp_notification_add(doc, location, "path", has_source ? finding->source : "(unknown)");
    yyjson_mut_val *lines = yyjson_mut_obj_add_obj(doc, location, "lines");
    const long line = has_source ? strtol(finding->line, NULL, 10) : 0;
    (void)yyjson_mut_obj_add_int(doc, lines, "begin", line > 0 ? line : 1);
    return issue;
}

void fp_notification_gitlab(const struct fp_notification *notification, struct fp_buf *out)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *issues = yyjson_mut_arr(doc);
    for (size_t i = 0; i < notification->count; i++)
        (void)yyjson_mut_arr_append(issues, issue_of(doc, &notification->findings[i]));
    fp_notification_end(doc, issues, out);
}
