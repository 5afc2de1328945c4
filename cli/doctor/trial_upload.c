/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial: uploads to the configured listener.
 */
#include "cli/doctor/trial.h"

#include "cli/doctor/dry_run.h"
#include "cli/doctor/remedies.h"
#include "cli/feed/token.h"
#include "cli/feed/upload_address.h"
#include "cli/kit/memory.h"
#include "collector/base/clock.h"

#include <stdlib.h>

/* The remedy for each reason, or for the start of several. The first match counts. */
/* Reports a reply that is not a collector's, or none. */
static void report_stranger(const struct fp_upload_address *address,
                            const struct fp_client_reply *reply, struct fp_findings *findings)
{
    const char *place = address->unix_socket[0] != '\0' ? address->unix_socket : "`listen`";
    if (reply->status == 0)
        fp_finding_add(findings, FP_FINDING_UPLOAD_FAILED, address->url,
                       "nothing answers at %s: %s", place, reply->error);
    else
        fp_finding_add(findings, FP_FINDING_UPLOAD_FAILED, address->url,
                       "something other than this collector answers at %s, with status %ld", place,
                       reply->status);
}

/* True if the reply says nothing that is not known already. A spent budget is that of dry runs, or
 * the metrics count what it refuses. */
static bool is_no_news(const struct fp_client_reply *reply, enum fp_trial_collector state)
{
    return (reply->status == 0 && state == FP_TRIAL_STOPPED) ||
           (reply->status == 503 && state == FP_TRIAL_NOT_READY) ||
           strncmp(fp_dry_run_result(reply), "budget_", 7) == 0;
}

static void judge(const struct fp_upload_address *address, const struct fp_client_reply *reply,
                  enum fp_trial_collector state, struct fp_findings *findings)
{
    const char *result = fp_dry_run_result(reply);
    const bool is_accepted = strncmp(result, "accepted", 8) == 0;
    const char *remark = is_accepted ? strstr(result, "token_") : result;
    if ((is_accepted && remark == NULL) || is_no_news(reply, state))
        return;
    if (result[0] == '\0') {
        report_stranger(address, reply, findings);
        return;
    }
    char seen[400];
    fp_dry_run_describe(reply, seen, sizeof(seen));
    fp_finding_add(findings, FP_FINDING_UPLOAD_FAILED, address->url, "site %s: %s (%s); %s",
                   address->site->name.ptr, seen, remark, fp_doctor_remedy_of_reason(remark));
}

/* The smallest uploads of the older formats. */
static const struct {
    const char *format;
    const char *text;
} old_uploads[] = {
    {"speed-tracer", "{\"type\":0,\"time\":1,\"data\":{}}"},
    {"opera-scope",
     "{\"opera-scope\":{\"version\":\"1.1\",\"session\":[1,2,[[1,3]]],\"timelines\":[]}}"},
};

/* Returns an upload of a format that the site takes. The caller frees it. */
static char *body_for(const struct fp_site *site, const char *page, const char *token, size_t *len)
{
    for (size_t i = 0; i < FP_COUNT(old_uploads) && !fp_upload_is_taken(site, "web"); i++) {
        if (!fp_upload_is_taken(site, old_uploads[i].format))
            continue;
        *len = strlen(old_uploads[i].text);
        return fp_memory_copy(old_uploads[i].text);
    }
    return fp_dry_run_envelope(page, fp_str_of(token), len);
}

/* Uploads as a page on the site's first origin does, with a token if the site has keys. */
static void try_site(const struct fp_upload_address *address, struct fp_fetcher *fetcher,
                     struct fp_client_reply *reply)
{
    const struct fp_site *site = address->site;
    const char *origin = site->origins.count > 0 ? site->origins.items[0].ptr : NULL;
    const bool has_page = origin != NULL && strcmp(origin, "null") != 0;
    char *page = fp_memory_print("%s/", has_page ? origin : "http://localhost");
    char token[FP_TOKEN_SIZE] = "";
    if (site->token_key_files.count > 0 && !fp_token_renew(site, FP_STR(""), token))
        token[0] = '\0'; /* said so; the collector refuses it */
    size_t len;
    char *body = body_for(site, page, token, &len);
    const struct fp_dry_run run = {
        .url = address->url,
        .unix_socket = address->unix_socket[0] != '\0' ? address->unix_socket : NULL,
        .origin = origin,
        .token = token[0] != '\0' && !fp_upload_is_taken(site, "web") ? token : NULL,
        .body = {body, len},
    };
    fp_dry_run_post(fetcher, &run, reply);
    free(body);
    free(page);
}

void fp_trial_upload(const struct fp_config *config, enum fp_trial_collector state, int64_t end_us,
                     struct fp_findings *findings)
{
    const struct fp_rules *rules = config->rules;
    const struct fp_fetch_settings settings = {.url = "", .deadline_us = end_us};
    struct fp_fetcher *fetcher = fp_fetcher_create(&settings);
    bool answers = true;
    for (size_t i = 0; answers && i < rules->site_count && !fp_fetcher_is_late(fetcher); i++) {
        struct fp_upload_address address;
        struct fp_client_reply reply;
        if (!fp_upload_address_find(config, rules->sites[i].name.ptr, &address))
            break;
        try_site(&address, fetcher, &reply);
        judge(&address, &reply, state, findings);
        answers = fp_dry_run_result(&reply)[0] != '\0';
        fp_client_release(&reply);
    }
    fp_fetcher_free(fetcher);
}
