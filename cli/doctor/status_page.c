/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status, page: what the page of a collector's metrics says.
 */
#include "cli/doctor/status.h"

#include "collector/base/clock.h"

#include <math.h>
#include <string.h>

void fp_status_database_state(const struct fp_scrape *scrape, char *state, size_t size)
{
    state[0] = '\0';
    for (size_t i = 0; i < scrape->count; i++) {
        const struct fp_scrape_sample *sample = &scrape->samples[i];
        if (strcmp(sample->name, "fleetprof_database_state") == 0 && sample->value == 1 &&
            fp_scrape_label(sample, "state", state, size))
            return;
    }
}

/* Returns how much all samples of a name have risen since the earlier page; NaN: unknown. */
static double rise_of(const struct fp_status_collector *collector, const char *name)
{
    double rise = (double)NAN;
    for (size_t i = 0; i < collector->latest.count; i++) {
        const struct fp_scrape_sample *sample = &collector->latest.samples[i];
        if (strcmp(sample->name, name) == 0)
            rise = (isnan(rise) ? 0 : rise) +
                   fp_scrape_rise(&collector->earlier, &collector->latest, sample);
    }
    return rise;
}

double fp_status_rate(const struct fp_status_collector *collector, const char *name)
{
    const int64_t span_us = collector->latest.at_us - collector->earlier.at_us;
    return rise_of(collector, name) * FP_US_PER_S / (double)span_us;
}
