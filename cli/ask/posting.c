/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posting: options, links into the report, and each finding once.
 */
#include "cli/ask/posting.h"

#include "cli/ask/webhook.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "collector/base/ascii.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define MAX_BODY_LEN ((size_t)16 * 1024 * 1024)

enum {
    OPTION_FORMAT = FP_OPTION_POSTING,
    OPTION_WEBHOOK,
    OPTION_WEBHOOK_FILE,
    OPTION_WEBHOOK_FORMAT,
    OPTION_STATE,
    OPTION_REPORT,
};

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0, "print findings as " FP_NOTIFICATION_FORMATS, 0},
    {"report", OPTION_REPORT, "URL", 0, "where `fleetprof serve' is, for links to findings", 0},
    {"webhook", OPTION_WEBHOOK, "URL", 0, "post findings to this address, each one once", 0},
    {"webhook-file", OPTION_WEBHOOK_FILE, "FILE", 0,
     "as --webhook, with the URL in the first line of FILE: the URL of a chat is a secret, and "
     "`ps' shows arguments to all users",
     0},
    {"webhook-format", OPTION_WEBHOOK_FORMAT, "FORMAT", 0,
     "what the webhook takes: a FORMAT of --format (default: json)", 0},
    {"state", OPTION_STATE, "FILE", 0,
     "where the webhook remembers what it has posted (default: fleetprof/posted in $XDG_STATE_HOME "
     "or ~/.local/state)",
     0},
    {0},
};

/* The report has no base path, so an address with a path would lead nowhere. */
static void read_report(struct fp_posting *posting, char *arg, struct argp_state *state)
{
    const bool has_scheme =
        strncasecmp(arg, "http://", 7) == 0 || strncasecmp(arg, "https://", 8) == 0;
    char *host = has_scheme ? strstr(arg, "://") + 3 : arg;
    char *end = host + strcspn(host, "/ \t\r\n#?<>\"\\");
    if (!has_scheme || end == host || (strcmp(end, "/") != 0 && end[0] != '\0'))
        argp_error(state, "--report takes an http or https URL without a path, not \"%s\"", arg);
    *end = '\0';
    posting->report = arg;
}

static error_t parse_posting(int key, char *arg, struct argp_state *state)
{
    struct fp_posting *posting = state->input;
    switch (key) {
    case OPTION_FORMAT:
        posting->format = fp_notification_read("format", arg, state);
        return 0;
    case OPTION_REPORT:
        read_report(posting, arg, state);
        return 0;
    case OPTION_WEBHOOK:
        posting->webhook = arg;
        return 0;
    case OPTION_WEBHOOK_FILE:
        posting->webhook_file = arg;
        return 0;
    case OPTION_WEBHOOK_FORMAT:
        posting->webhook_format = fp_notification_read("webhook-format", arg, state);
        return 0;
    case OPTION_STATE:
        posting->state = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (posting->webhook != NULL && posting->webhook_file != NULL)
            argp_error(state, "--webhook and --webhook-file exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_posting_argp = {.options = options, .parser = parse_posting};

bool fp_posting_open(struct fp_posting *posting)
{
    if (posting->webhook_file != NULL) {
        posting->webhook = posting->url = fp_webhook_read_url(posting->webhook_file);
        if (posting->url == NULL)
            return false;
    }
    if (posting->webhook_format == FP_NOTIFICATION_NONE)
        posting->webhook_format = FP_NOTIFICATION_JSON;
    if (posting->format == FP_NOTIFICATION_PAGERDUTY ||
        (posting->webhook != NULL && posting->webhook_format == FP_NOTIFICATION_PAGERDUTY)) {
        posting->routing_key = fp_notification_routing_key();
        return posting->routing_key != NULL;
    }
    return true;
}

void fp_posting_close(struct fp_posting *posting)
{
    free(posting->url);
    posting->url = NULL;
}

/* ---- links ---- */

void fp_posting_encode(struct fp_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (fp_is_alnum(*c) || strchr("-._", *c) != NULL)
            fp_buf_add(out, c, 1);
        else
            fp_buf_addf(out, "%%%02X", (unsigned char)*c);
}

char *fp_posting_link(const struct fp_posting *posting, const char *site, const char *view,
                      const char *item, const char *parameters)
{
    if (posting->report == NULL)
        return NULL;
    struct fp_buf link;
    fp_buf_init(&link, MAX_BODY_LEN);
    fp_buf_addf(&link, "%s/", posting->report);
    fp_posting_encode(&link, strcmp(site, "%") == 0 ? "-" : site);
    fp_buf_addf(&link, "/%s%s", view, item[0] != '\0' ? "/" : "");
    fp_posting_encode(&link, item);
    fp_buf_addf(&link, "%s%s", parameters[0] != '\0' ? "?" : "", parameters);
    char *copy = fp_memory_copy(fp_memory_text(&link));
    fp_buf_release(&link);
    return copy;
}

/* ---- findings ---- */

static void write_time(time_t at, char text[32])
{
    struct tm parts;
    (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &parts));
}

/* When an alert ends that nobody repeats: a printed one after a day, a posted one when a later run
 * resolves it, and some day if there is none. */
enum { PRINTED_DAYS = 1, POSTED_DAYS = 90 };

static void write_end(int days, char end[32])
{
    write_time(time(NULL) + days * 24L * 3600, end);
}

bool fp_posting_print(const struct fp_posting *posting, struct fp_notification *notification)
{
    char end[32];
    if (posting->format == FP_NOTIFICATION_NONE)
        return true;
    write_end(PRINTED_DAYS, end);
    notification->ends_at = end;
    notification->routing_key = posting->routing_key;
    const bool fine = fp_notification_print(posting->format, notification);
    notification->ends_at = NULL;
    return fine;
}

/* Notes a finding, with what resolves it. */
static void note(const struct fp_posting *posting, struct fp_webhook *webhook,
                 const struct fp_notification *notification,
                 const struct fp_notification_finding *finding)
{
    char *resolution = NULL;
    if (notification->scope != NULL)
        resolution = fp_notification_resolution(posting->webhook_format, notification, finding);
    const bool may_go = resolution != NULL || notification->forgets;
    fp_webhook_note(webhook, finding->key, may_go ? notification->scope : NULL, resolution);
    free(resolution);
}

/* Posts these findings in one body. */
static enum fp_webhook_result post(const struct fp_posting *posting, struct fp_webhook *webhook,
                                   const struct fp_notification *notification)
{
    struct fp_buf body;
    fp_buf_init(&body, MAX_BODY_LEN);
    for (size_t i = 0; i < notification->count; i++)
        note(posting, webhook, notification, &notification->findings[i]);
    fp_notification_write(posting->webhook_format, notification, &body);
    const enum fp_webhook_result result = fp_webhook_post(webhook, fp_memory_text(&body));
    fp_buf_release(&body);
    return result;
}

/* Posts one finding after the other, until there is trouble. */
static bool post_each(const struct fp_posting *posting, struct fp_webhook *webhook,
                      const struct fp_notification *notification)
{
    struct fp_notification one = *notification;
    one.count = 1;
    enum fp_webhook_result result = FP_WEBHOOK_TAKEN;
    bool fine = true;
    for (size_t i = 0; i < notification->count && result != FP_WEBHOOK_TROUBLE; i++) {
        result = post(posting, webhook, &one);
        fine = fine && result == FP_WEBHOOK_TAKEN;
        one.findings++;
    }
    return fine;
}

/* Posts all findings, or one after the other where the service takes no more or has refused all. */
static bool post_all(const struct fp_posting *posting, struct fp_webhook *webhook,
                     const struct fp_notification *notification)
{
    if (notification->count == 0)
        return true;
    if (fp_notification_is_single(posting->webhook_format))
        return post_each(posting, webhook, notification);
    const enum fp_webhook_result result = post(posting, webhook, notification);
    return result == FP_WEBHOOK_REFUSED_TOGETHER ? post_each(posting, webhook, notification)
                                                 : result == FP_WEBHOOK_TAKEN;
}

/* Notes a finding that was posted by its old key, if any, by its key. */
static bool renew(struct fp_webhook *webhook, const char *old_key, const char *key)
{
    if (old_key == NULL || fp_webhook_knows(webhook, key) || !fp_webhook_knows(webhook, old_key))
        return false;
    fp_webhook_rename(webhook, old_key, key);
    return true;
}

/* Copies the findings that were not posted before, and returns how many there are. *is_renewed:
 * one was posted by its old key. */
static size_t choose(struct fp_webhook *webhook, const struct fp_notification *notification,
                     struct fp_notification_finding *chosen, bool *is_renewed)
{
    size_t count = 0;
    for (size_t i = 0; i < notification->count; i++) {
        const struct fp_notification_finding *finding = &notification->findings[i];
        if (renew(webhook, finding->old_key, finding->key))
            *is_renewed = true;
        else if (!fp_webhook_knows(webhook, finding->key))
            chosen[count++] = *finding;
    }
    return count;
}

/* As choose does, for what is neither there nor gone and was not chosen. */
static bool renew_undecided(struct fp_webhook *webhook, const struct fp_notification *notification)
{
    bool is_renewed = false;
    for (size_t i = 0; notification->undecided_old != NULL && i < notification->undecided_count;
         i++)
        is_renewed = renew(webhook, notification->undecided_old[i], notification->undecided[i]) ||
                     is_renewed;
    return is_renewed;
}

/* Posts what resolves a finding. A list that somebody changed may have anything there. */
static bool resolve(const struct fp_posting *posting, struct fp_webhook *webhook,
                    const struct fp_notification *notification, const char *resolution)
{
    struct fp_buf body;
    char now[32];
    fp_buf_init(&body, MAX_BODY_LEN);
    write_time(time(NULL), now);
    const bool fine =
        fp_notification_resolve(posting->webhook_format, resolution, notification, now, &body)
            ? fp_webhook_post(webhook, fp_memory_text(&body)) == FP_WEBHOOK_TAKEN
            : fp_webhook_keep(webhook);
    fp_buf_release(&body);
    return fine;
}

/* Resolves the findings that are gone, one after the other, and forgets them. */
static bool resolve_gone(const struct fp_posting *posting, struct fp_webhook *webhook,
                         const struct fp_notification *notification)
{
    const size_t count = notification->count + notification->undecided_count;
    const char **keys = fp_memory_need(calloc(count + 1, sizeof(*keys)));
    for (size_t i = 0; i < notification->count; i++)
        keys[i] = notification->findings[i].key;
    for (size_t i = 0; i < notification->undecided_count; i++)
        keys[notification->count + i] = notification->undecided[i];
    bool fine = true;
    for (char *gone;
         fine && (gone = fp_webhook_forget_gone(webhook, notification->scope, keys, count)) != NULL;
         free(gone))
        fine = resolve(posting, webhook, notification, gone);
    free(keys);
    return fine;
}

bool fp_posting_post(const struct fp_posting *posting, struct fp_notification *notification)
{
    if (posting->webhook == NULL)
        return true;
    const enum fp_notification_format format = posting->webhook_format;
    struct fp_webhook *webhook = fp_webhook_open(
        posting->webhook, format == FP_NOTIFICATION_JSON ? "" : fp_notification_name(format),
        format == FP_NOTIFICATION_PAGERDUTY ? posting->routing_key : NULL, posting->state);
    if (webhook == NULL)
        return false;
    char end[32];
    write_end(POSTED_DAYS, end);
    bool is_renewed = false;
    struct fp_notification_finding *chosen =
        fp_memory_need(calloc(notification->count + 1, sizeof(*notification->findings)));
    struct fp_notification posted = *notification;
    posted.findings = chosen;
    posted.count = choose(webhook, notification, chosen, &is_renewed);
    is_renewed = renew_undecided(webhook, notification) || is_renewed;
    posted.ends_at = end;
    posted.routing_key = posting->routing_key;
    bool fine = post_all(posting, webhook, &posted);
    if (posted.count == 0 && is_renewed)
        fine = fp_webhook_keep(webhook);
    posted.findings = notification->findings;
    posted.count = notification->count;
    const bool may_be_gone = notification->is_judged || notification->is_void;
    if (fine && may_be_gone && notification->scope != NULL)
        fine = resolve_gone(posting, webhook, &posted);
    free(chosen);
    fp_webhook_close(webhook);
    return fine;
}
