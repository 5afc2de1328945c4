/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, weights: sorts samples by time and gives each a span: half of the gap to either neighbour.
 */
#include "collector/profile/fold/internal.h"

enum { INTERVAL_WITHOUT_GAPS_US = 10000, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* The longest gap between two samples that is theirs, if three intervals are not more. */
enum { GAP_MIN_US = 250000 };

static int compare_samples(const void *a, const void *b)
{
    const struct fp_fold_sample *left = a;
    const struct fp_fold_sample *right = b;
    if (left->time_us != right->time_us)
        return left->time_us < right->time_us ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static void sort_samples(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    bool sorted = true;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct fp_profile_sample *sample = &profile->samples[i];
        fold->samples[i] = (struct fp_fold_sample){.time_us = sample->time_us,
                                                   .stack = sample->stack,
                                                   .order = i,
                                                   .marker = sample->marker};
        sorted = sorted && (i == 0 || sample[-1].time_us <= sample->time_us);
    }
    if (!sorted)
        qsort(fold->samples, profile->sample_count, sizeof(*fold->samples), compare_samples);
}

/* Returns the number of the highest digit (of DIGIT_BITS) that the largest number has. */
static unsigned highest_digit(const uint64_t *numbers, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= numbers[i];
    unsigned digit = 0;
    while (digit < 7 && all >> (DIGIT_BITS * (digit + 1)) != 0)
        digit++;
    return digit;
}

/*
 * Returns the lower median of at least one number: digit by digit from the top, it keeps the
 * numbers whose digit equals the median's. Linear for any input. Reorders the numbers.
 */
static uint64_t lower_median(uint64_t *numbers, size_t count)
{
    size_t rank = (count - 1) / 2;
    unsigned digit = highest_digit(numbers, count);
    for (unsigned place = digit + 1; place-- > 0 && count > 1;) {
        unsigned shift = DIGIT_BITS * place;
        size_t having[DIGITS] = {0};
        for (size_t i = 0; i < count; i++)
            having[numbers[i] >> shift & (DIGITS - 1)]++;
        uint64_t wanted = 0;
        while (rank >= having[wanted])
            rank -= having[wanted++];
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if ((numbers[i] >> shift & (DIGITS - 1)) == wanted)
                numbers[kept++] = numbers[i];
        count = kept;
    }
    return numbers[0];
}

/* Finds the effective interval if the envelope does not say it: the median of the positive gaps. */
static bool guess_interval(struct fp_fold *fold, int64_t *interval_us)
{
    *interval_us = INTERVAL_WITHOUT_GAPS_US;
    uint64_t *gaps = fp_fold_array(fold, fold->profile->sample_count, sizeof(*gaps));
    if (gaps == NULL)
        return false;
    size_t count = 0;
    for (uint32_t i = 1; i < fold->profile->sample_count; i++) {
        int64_t gap_us = fold->samples[i].time_us - fold->samples[i - 1].time_us;
        if (gap_us > 0)
            gaps[count++] = (uint64_t)gap_us;
    }
    if (count > 0)
        *interval_us = (int64_t)lower_median(gaps, count);
    return true;
}

/* The effective interval: the envelope's, else the median gap. */
static bool find_interval(struct fp_fold *fold, int64_t *interval_us)
{
    *interval_us = fold->profile->interval_us;
    return *interval_us != 0 || guess_interval(fold, interval_us);
}

/* How a gap between two samples is shared, and what bounds the first and the last span. */
struct sharing {
    int64_t gap_max_us; /* what is beyond it is unseen */
    int64_t interval_us;
    bool has_window;
    int64_t start_us; /* of the window */
    int64_t end_us;
};

static struct sharing share(const struct fp_profile *profile, int64_t interval_us)
{
    return (struct sharing){
        .gap_max_us = 3 * interval_us > GAP_MIN_US ? 3 * interval_us : GAP_MIN_US,
        .interval_us = interval_us,
        .has_window = profile->has_start && profile->duration_us > 0,
        .start_us = profile->start_us,
        .end_us = profile->start_us + profile->duration_us,
    };
}

/* Returns how much of a gap the sample before it owns; the odd microsecond goes to the later one.
 */
static int64_t earlier_half(int64_t gap_us)
{
    return gap_us / 2;
}

static int64_t later_half(int64_t gap_us)
{
    return gap_us - gap_us / 2;
}

/* Sets a sample's span to what of [start, end) lies in the window. */
static void set_span(const struct sharing *sharing, struct fp_fold_sample *sample, int64_t start_us,
                     int64_t end_us)
{
    if (sharing->has_window) {
        start_us = start_us > sharing->start_us ? start_us : sharing->start_us;
        end_us = end_us < sharing->end_us ? end_us : sharing->end_us;
    }
    sample->start_us = start_us;
    sample->weight_us = end_us > start_us ? end_us - start_us : 0;
    sample->is_evidence = 2 * sample->weight_us >= sharing->interval_us;
}

/* Gives each sample half of the gap to either neighbour. Returns what of the gaps is unseen. */
static int64_t share_gaps(struct fp_fold *fold, const struct sharing *sharing)
{
    const uint32_t count = fold->sample_count;
    const int64_t end_gap_us = sharing->has_window ? sharing->gap_max_us : sharing->interval_us;
    int64_t before_us = later_half(end_gap_us);
    int64_t unseen_us = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct fp_fold_sample *sample = &fold->samples[i];
        int64_t gap_us = i + 1 < count ? sample[1].time_us - sample->time_us : end_gap_us;
        int64_t owned_us = gap_us < sharing->gap_max_us ? gap_us : sharing->gap_max_us;
        set_span(sharing, sample, sample->time_us - before_us,
                 sample->time_us + earlier_half(owned_us));
        before_us = later_half(owned_us);
        unseen_us += gap_us - owned_us;
    }
    return unseen_us;
}

/* Drops the samples that own no time: outside the window, or between two of the same time. */
static void drop_weightless(struct fp_fold *fold)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fold->sample_count; i++)
        if (fold->samples[i].weight_us > 0)
            fold->samples[kept++] = fold->samples[i];
    fold->sample_count = kept;
}

/* Gives each sample a span of time (docs/numbers.md). */
static bool weigh_by_time(struct fp_fold *fold)
{
    int64_t interval_us;
    if (!find_interval(fold, &interval_us))
        return false;
    const struct sharing sharing = share(fold->profile, interval_us);
    fold->delta->unseen_us = share_gaps(fold, &sharing);
    drop_weightless(fold);
    if (!sharing.has_window)
        return true;
    fold->delta->unseen_us = fold->profile->duration_us;
    for (uint32_t i = 0; i < fold->sample_count; i++)
        fold->delta->unseen_us -= fold->samples[i].weight_us;
    return true;
}

/* Uses the weights that the format sent. */
static void weigh_as_given(struct fp_fold *fold)
{
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        struct fp_fold_sample *sample = &fold->samples[i];
        sample->start_us = sample->time_us;
        sample->weight_us = fold->profile->weights_us[sample->order];
        sample->is_evidence = true;
    }
}

/* True for the profiler's own frames, which begin and end a trace. */
static bool is_noise(const struct fp_profile *profile, const struct fp_fold_sample *sample)
{
    if (sample->stack == FP_INDEX_NONE)
        return false;
    const struct fp_profile_frame *leaf = &profile->frames[profile->stacks[sample->stack].frame];
    return leaf->resource == FP_INDEX_NONE && (fp_str_equal(leaf->function, FP_STR("Profiler")) ||
                                               fp_str_equal(leaf->function, FP_STR("stop")));
}

/* Takes the profiler's own stack off the first and the last sample (rule 6). */
static void silence_noise(struct fp_fold *fold)
{
    const uint32_t count = fold->sample_count;
    for (uint32_t i = 0; i < count; i += i == 0 && count > 1 ? count - 1 : 1) {
        struct fp_fold_sample *sample = &fold->samples[i];
        if (!is_noise(fold->profile, sample))
            continue;
        sample->stack = FP_INDEX_NONE;
        sample->marker = FP_MARKER_NONE;
    }
}

bool fp_fold_weigh(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    struct fp_delta *delta = fold->delta;
    if (!profile->has_trace && profile->sample_count == 0 && profile->event_count == 0)
        return true;
    fold->samples = fp_fold_array(fold, profile->sample_count + fp_fold_event_samples(profile),
                                  sizeof(*fold->samples));
    if (fold->samples == NULL)
        return false;
    fold->sample_count = profile->sample_count;
    sort_samples(fold);
    silence_noise(fold);
    if (profile->weights_us != NULL)
        weigh_as_given(fold);
    else if (!weigh_by_time(fold))
        return false;
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        delta->profiled_us += fold->samples[i].weight_us;
        delta->samples += fold->samples[i].is_evidence;
    }
    return true;
}
