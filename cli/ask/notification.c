/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notification: the table of formats, and what the writers share.
 */
#include "cli/ask/notification.h"

#include "cli/ask/notification_text.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_LEN ((size_t)16 * 1024 * 1024)

/* Appends commits as one text, whole. */
static void write_suspects(const char *suspects, struct fp_buf *out)
{
    struct fp_buf joined;
    fp_buf_init(&joined, MAX_LEN);
    for (const char *commit = suspects; *commit != '\0';) {
        const size_t len = strcspn(commit, "\n");
        fp_buf_addf(&joined, "%s%.*s", commit > suspects ? "; " : "", (int)len, commit);
        commit += len + (commit[len] == '\n');
    }
    fp_notification_quote(out, fp_memory_text(&joined));
    fp_buf_release(&joined);
}

/* Appends the object of a finding; numbers stay as they are. */
static void write_object(const struct fp_notification_finding *finding, const char *before,
                         struct fp_buf *out)
{
    const size_t len = strlen(finding->json);
    const char *end = strrchr(finding->json, '}');
    if (finding->suspects == NULL || finding->suspects[0] == '\0' || end == NULL) {
        fp_buf_addf(out, "%s%.*s", before, (int)len, finding->json);
        return;
    }
    fp_buf_addf(out, "%s%.*s, \"suspects\": ", before, (int)(end - finding->json), finding->json);
    write_suspects(finding->suspects, out);
    fp_buf_addf(out, "}");
}

static void write_json(const struct fp_notification *notification, struct fp_buf *out)
{
    fp_buf_addf(out, "{\"findings\": [");
    for (size_t i = 0; i < notification->count; i++)
        write_object(&notification->findings[i], i > 0 ? ", " : "", out);
    fp_buf_addf(out, "]}\n");
}

static const struct format {
    const char *name;
    void (*write)(const struct fp_notification *notification, struct fp_buf *out);
} formats[] = {
    [FP_NOTIFICATION_JSON] = {"json", write_json},
    [FP_NOTIFICATION_MARKDOWN] = {"markdown", fp_notification_markdown},
    [FP_NOTIFICATION_GITHUB] = {"github", fp_notification_github},
    [FP_NOTIFICATION_GITLAB] = {"gitlab", fp_notification_gitlab},
    [FP_NOTIFICATION_SLACK] = {"slack", fp_notification_slack},
    [FP_NOTIFICATION_TEAMS] = {"teams", fp_notification_teams},
    [FP_NOTIFICATION_ALERTMANAGER] = {"alertmanager", fp_notification_alertmanager},
    [FP_NOTIFICATION_PAGERDUTY] = {"pagerduty", fp_notification_pagerduty},
};

enum fp_notification_format fp_notification_read(const char *name, const char *arg,
                                                 struct argp_state *state)
{
    for (size_t i = 1; i < FP_COUNT(formats); i++)
        if (strcmp(formats[i].name, arg) == 0)
            return (enum fp_notification_format)i;
    argp_error(state, "--%s takes " FP_NOTIFICATION_FORMATS ", not \"%s\"", name, arg);
    return FP_NOTIFICATION_NONE;
}

const char *fp_notification_name(enum fp_notification_format format)
{
    return formats[format].name;
}

bool fp_notification_is_single(enum fp_notification_format format)
{
    return format == FP_NOTIFICATION_PAGERDUTY;
}

const char *fp_notification_routing_key(void)
{
    const char *key = getenv("PAGERDUTY_ROUTING_KEY");
    if (key != NULL && key[0] != '\0')
        return key;
    fp_message_error("PagerDuty's events need the key of an integration");
    fp_message_hint("Set PAGERDUTY_ROUTING_KEY to the key of an Events API v2 integration.");
    return NULL;
}

void fp_notification_write(enum fp_notification_format format,
                           const struct fp_notification *notification, struct fp_buf *out)
{
    formats[format].write(notification, out);
}

char *fp_notification_resolution(enum fp_notification_format format,
                                 const struct fp_notification *notification,
                                 const struct fp_notification_finding *finding)
{
    if (format == FP_NOTIFICATION_ALERTMANAGER)
        return fp_notification_alert_resolution(notification, finding);
    return format == FP_NOTIFICATION_PAGERDUTY ? fp_notification_event_resolution(finding) : NULL;
}

bool fp_notification_resolve(enum fp_notification_format format, const char *resolution,
                             const struct fp_notification *notification, const char *now,
                             struct fp_buf *out)
{
    yyjson_doc *known = yyjson_read(resolution, strlen(resolution), YYJSON_READ_NOFLAG);
    const bool fine = yyjson_is_obj(yyjson_doc_get_root(known));
    if (fine) {
        yyjson_mut_doc *doc = fp_notification_begin();
        yyjson_mut_val *root = fp_memory_need(yyjson_val_mut_copy(doc, yyjson_doc_get_root(known)));
        if (format == FP_NOTIFICATION_ALERTMANAGER) {
            fp_notification_add(doc, root, "endsAt", now);
            yyjson_mut_val *alerts = yyjson_mut_arr(doc);
            (void)yyjson_mut_arr_append(alerts, root);
            root = alerts;
        } else {
            fp_notification_add(doc, root, "routing_key", notification->routing_key);
            fp_notification_add(doc, root, "event_action", "resolve");
        }
        fp_notification_end(doc, root, out);
    }
    yyjson_doc_free(known);
    return fine;
}

/* Appends the summary of a job of GitHub Actions, if this is one. */
static bool write_summary(const struct fp_notification *notification, struct fp_buf *out)
{
    const char *name = getenv("GITHUB_STEP_SUMMARY");
    if (name == NULL || name[0] == '\0')
        return true;
    fp_buf_clear(out);
    fp_notification_markdown(notification, out);
    FILE *file = fopen(name, "ae");
    bool fine = file != NULL && fputs(fp_memory_text(out), file) >= 0;
    if (file != NULL)
        fine = fclose(file) == 0 && fine;
    if (!fine)
        fp_message_error("could not write %s: %s", name, strerror(errno));
    return fine;
}

bool fp_notification_print(enum fp_notification_format format,
                           const struct fp_notification *notification)
{
    struct fp_buf out;
    fp_buf_init(&out, MAX_LEN);
    fp_notification_write(format, notification, &out);
    (void)fputs(fp_memory_text(&out), stdout);
    const bool fine = format != FP_NOTIFICATION_GITHUB || write_summary(notification, &out);
    fp_buf_release(&out);
    return fine;
}
