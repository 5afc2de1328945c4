/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Database status: two atomics, and a lock around the texts.
 */
#include "collector/writer/status.h"

#include "collector/base/clock.h"
#include "collector/base/metrics.h"
#include "collector/writer/metrics.h"

#include <stdatomic.h>
#include <stdio.h>

void fp_database_status_set(struct fp_database_status *status, enum fp_database_state state,
                            bool is_up)
{
    atomic_store(&status->state, state);
    if (is_up || atomic_load(&status->failing_since_us) == 0)
        atomic_store(&status->failing_since_us, is_up ? 0 : fp_clock_real_us());
}

bool fp_database_status_accuse(struct fp_database_status *status, const struct fp_culprit *culprit,
                               const char *accusation)
{
    static const struct fp_culprit nobody = {.object = ""};
    if (culprit == NULL)
        culprit = &nobody;
    pthread_mutex_lock(&status->lock);
    const bool is_news = strcmp(culprit->object, status->culprit.object) != 0 ||
                         strcmp(culprit->place, status->culprit.place) != 0;
    status->culprit = *culprit;
    snprintf(status->accusation, sizeof(status->accusation), "%s",
             culprit->object[0] != '\0' ? accusation : "");
    pthread_mutex_unlock(&status->lock);
    return is_news;
}

void fp_database_status_tell(struct fp_database_status *status, struct fp_buf *text)
{
    const enum fp_database_state state = atomic_load(&status->state);
    const int64_t since_us = atomic_load(&status->failing_since_us);
    fp_buf_addf(text, "database: %s: %s", fp_database_state_name(state),
                fp_database_state_text(state));
    if (since_us > 0)
        fp_buf_addf(text, "; for %lld s now, the spool keeps uploads",
                    (long long)((fp_clock_real_us() - since_us) / FP_US_PER_S));
    pthread_mutex_lock(&status->lock);
    if (status->accusation[0] != '\0')
        fp_buf_addf(text, "; %s", status->accusation);
    pthread_mutex_unlock(&status->lock);
    fp_buf_addf(text, "\n");
}

/* Appends the value of a label. */
static void render_value(const char *value, struct fp_buf *page)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n')
            fp_buf_addf(page, "\\n");
        else
            fp_buf_addf(page, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
}

void fp_database_status_render(struct fp_database_status *status, struct fp_buf *page)
{
    static const struct fp_metric metric[] = {FP_REFUSED_BY_METRICS(FP_METRIC_ROW)};
    fp_metrics_render_heading(metric, page);
    pthread_mutex_lock(&status->lock);
    if (status->culprit.object[0] != '\0') {
        fp_buf_addf(page, "%s{object=\"", metric->name);
        render_value(status->culprit.object, page);
        fp_buf_addf(page, "\",table=\"");
        render_value(status->culprit.place, page);
        fp_buf_addf(page, "\"} 1\n");
    }
    pthread_mutex_unlock(&status->lock);
}
