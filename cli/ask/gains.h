/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gains: what commands say below what vitals would be without something that ran.
 */
#ifndef FP_CLI_ASK_GAINS_H
#define FP_CLI_ASK_GAINS_H

#define FP_GAINS_ASSUMPTIONS                                                                       \
    "GAIN MS is at most what the 75th percentile of page loads would lose, if the rest ran as "    \
    "before, no work moved elsewhere and profiled page loads are as others; it lies from AT "      \
    "LEAST to AT MOST with a probability of 95 %. Gains do not add up."

/* The same for messages, which have no such columns. */
#define FP_GAINS_ASSUMPTIONS_SHORT                                                                 \
    "Each gain supposes that the rest runs as before, no work moves elsewhere and profiled page "  \
    "loads are as others; gains do not add up."

#endif
