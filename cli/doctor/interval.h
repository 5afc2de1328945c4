/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval: how far a share that was seen in a few trials tells the true share.
 *
 * Pure; any thread.
 */
#ifndef FP_CLI_DOCTOR_INTERVAL_H
#define FP_CLI_DOCTOR_INTERVAL_H

/* Shares from 0 to 1. */
struct fp_interval {
    double low;
    double high;
};

/* Returns the 95 % score interval (Wilson, 1927) of `hits` in `trials`; 0 to 1 for no trial. */
struct fp_interval fp_interval_of(unsigned hits, unsigned trials);

#endif
