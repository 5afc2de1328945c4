/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications of alert managers: Alertmanager's API v2 and PagerDuty's Events API v2.
 */
#include "cli/ask/notification_text.h"

#include "cli/kit/memory.h"
#include "collector/base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

/* Adds the finding as one text. */
static void add_summary(yyjson_mut_doc *doc, yyjson_mut_val *object,
                        const struct fp_notification_finding *finding)
{
    struct fp_buf summary;
    fp_buf_init(&summary, 4096);
    fp_notification_sentence(finding, &summary);
    fp_notification_add(doc, object, "summary", fp_memory_text(&summary));
    fp_buf_release(&summary);
}

/* Adds what is known beside the summary. */
static void add_details(yyjson_mut_doc *doc, yyjson_mut_val *object,
                        const struct fp_notification *notification,
                        const struct fp_notification_finding *finding)
{
    fp_notification_add_cut(doc, object, "place", finding->place);
    fp_notification_add(doc, object, "source", finding->source_link);
    if (fp_notification_has(finding->owner))
        fp_notification_add_cut(doc, object, "owner", finding->owner);
    for (size_t i = 0; i < FP_FINDING_CELLS; i++)
        fp_notification_add(doc, object, notification->headings[i], finding->cells[i]);
}

/* Returns where the finding was found. */
static const char *site_of(const struct fp_notification *notification,
                           const struct fp_notification_finding *finding)
{
    return finding->site != NULL ? finding->site : notification->site;
}

/* ---- Alertmanager ---- */

/* Adds the labels, by which Alertmanager knows an alert. */
static void add_labels(yyjson_mut_doc *doc, yyjson_mut_val *alert,
                       const struct fp_notification *notification,
                       const struct fp_notification_finding *finding)
{
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, alert, "labels");
    fp_notification_add(doc, labels, "alertname", notification->alert);
    fp_notification_add(doc, labels, "severity", "warning");
    fp_notification_add_cut(doc, labels, "site", site_of(notification, finding));
    fp_notification_add(doc, labels, "verdict", finding->verdict);
    fp_notification_add_cut(doc, labels, "name", finding->name);
    char *key = fp_memory_print("%016" PRIx64, fp_hash64(finding->key, strlen(finding->key)));
    fp_notification_add(doc, labels, "finding", key); /* two functions may share a name */
    free(key);
}

/* Returns the document as one line without its end, and frees it. */
static char *write_resolution(yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_doc_set_root(doc, root);
    char *text = fp_memory_need(yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL));
    yyjson_mut_doc_free(doc);
    return text;
}

char *fp_notification_alert_resolution(const struct fp_notification *notification,
                                       const struct fp_notification_finding *finding)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *alert = yyjson_mut_obj(doc);
    add_labels(doc, alert, notification, finding);
    return write_resolution(doc, alert);
}

static void add_alert(yyjson_mut_doc *doc, yyjson_mut_val *alerts,
                      const struct fp_notification *notification,
                      const struct fp_notification_finding *finding)
{
    yyjson_mut_val *alert = yyjson_mut_arr_add_obj(doc, alerts);
    add_labels(doc, alert, notification, finding);
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, alert, "annotations");
    add_summary(doc, annotations, finding);
    fp_notification_add_cut(doc, annotations, "place", finding->place);
    fp_notification_add(doc, annotations, "source", finding->source_link);
    if (fp_notification_has(finding->owner))
        fp_notification_add_cut(doc, annotations, "owner", finding->owner);
    fp_notification_add(doc, alert, "endsAt", notification->ends_at);
    fp_notification_add(doc, alert, "generatorURL", finding->link);
}

void fp_notification_alertmanager(const struct fp_notification *notification, struct fp_buf *out)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *alerts = yyjson_mut_arr(doc);
    for (size_t i = 0; i < notification->count; i++)
        add_alert(doc, alerts, notification, &notification->findings[i]);
    fp_notification_end(doc, alerts, out);
}

/* ---- PagerDuty ---- */

static void add_dedup_key(yyjson_mut_doc *doc, yyjson_mut_val *event,
                          const struct fp_notification_finding *finding)
{
    char *key =
        fp_memory_print("fleetprof-%016" PRIx64, fp_hash64(finding->key, strlen(finding->key)));
    fp_notification_add(doc, event, "dedup_key", key);
    free(key);
}

char *fp_notification_event_resolution(const struct fp_notification_finding *finding)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *event = yyjson_mut_obj(doc);
    add_dedup_key(doc, event, finding);
    return write_resolution(doc, event);
}

static void add_link(yyjson_mut_doc *doc, yyjson_mut_val *links, const char *text,
                     const char *address)
{
    if (address == NULL || address[0] == '\0')
        return;
    yyjson_mut_val *link = yyjson_mut_arr_add_obj(doc, links);
    fp_notification_add(doc, link, "href", address);
    fp_notification_add(doc, link, "text", text);
}

static void write_event(const struct fp_notification *notification,
                        const struct fp_notification_finding *finding, struct fp_buf *out)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *event = yyjson_mut_obj(doc);
    fp_notification_add(doc, event, "routing_key", notification->routing_key);
    fp_notification_add(doc, event, "event_action", "trigger");
    add_dedup_key(doc, event, finding);
    yyjson_mut_val *payload = yyjson_mut_obj_add_obj(doc, event, "payload");
    add_summary(doc, payload, finding);
    const struct fp_notification_text site = fp_notification_cut(site_of(notification, finding));
    fp_notification_add(doc, payload, "source", site.text[0] != '\0' ? site.text : "fleetprof");
    fp_notification_add(doc, payload, "severity", "warning");
    fp_notification_add(doc, payload, "class", finding->verdict);
    add_details(doc, yyjson_mut_obj_add_obj(doc, payload, "custom_details"), notification, finding);
    yyjson_mut_val *links = yyjson_mut_obj_add_arr(doc, event, "links");
    add_link(doc, links, "report", finding->link);
    add_link(doc, links, "source", finding->source_link);
    fp_notification_add(doc, event, "client", "fleetprof");
    fp_notification_add(doc, event, "client_url", notification->link);
    fp_notification_end(doc, event, out);
}

void fp_notification_pagerduty(const struct fp_notification *notification, struct fp_buf *out)
{
    for (size_t i = 0; i < notification->count; i++)
        write_event(notification, &notification->findings[i], out);
}
