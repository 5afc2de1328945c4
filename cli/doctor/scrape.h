/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrape: one page of /metrics (Prometheus text format 0.0.4), parsed. One thread.
 */
#ifndef FP_CLI_DOCTOR_SCRAPE_H
#define FP_CLI_DOCTOR_SCRAPE_H

#include "collector/base/base.h"

struct fp_scrape_sample {
    const char *name;
    const char *labels; /* what the braces enclose, as written; "" for none */
    double value;
};

/* Samples in the page's order; their texts lie in `text`. */
struct fp_scrape {
    char *text;                       /* owned */
    struct fp_scrape_sample *samples; /* owned */
    size_t count;
    size_t capacity;
    uint32_t *sorted; /* owned; places of the samples, by name and labels */
    int64_t at_us;    /* when the page was fetched, by the monotonic clock */
};

/* Parses a page. Lines that are not samples are skipped. The caller calls fp_scrape_release. */
void fp_scrape_parse(struct fp_scrape *scrape, const char *page);
void fp_scrape_release(struct fp_scrape *scrape);

/* Returns the value of a sample; NaN: there is none. */
double fp_scrape_value(const struct fp_scrape *scrape, const char *name, const char *labels);

/* Returns the sum of all samples of this name; NaN: there is none. */
double fp_scrape_sum(const struct fp_scrape *scrape, const char *name);

/* Copies a label's value, unescaped and cut to the size. False: the sample has no such label. */
bool fp_scrape_label(const struct fp_scrape_sample *sample, const char *label, char *value,
                     size_t size) FP_MUST_CHECK;

/* Returns how much a counter has risen since the earlier page; NaN if the process was restarted
 * in between, or one of the pages is missing. `sample` is one of `latest`. */
double fp_scrape_rise(const struct fp_scrape *earlier, const struct fp_scrape *latest,
                      const struct fp_scrape_sample *sample);

#endif
