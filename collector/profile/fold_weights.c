/*
 * Fold, weights: sorts samples by time and weighs each by the time until the next.
 */
#include "collector/profile/fold_parts.h"

enum { INTERVAL_WITHOUT_GAPS_US = 10000, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

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

/* Weighs each sample by the time until the next, at most two intervals; the last one by one
 * interval. */
static bool weigh_by_time(struct fp_fold *fold)
{
    uint32_t count = fold->sample_count;
    int64_t interval_us = fold->profile->interval_us;
    if (interval_us == 0 && !guess_interval(fold, &interval_us))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct fp_fold_sample *sample = &fold->samples[i];
        int64_t gap_us = i + 1 < count ? sample[1].time_us - sample->time_us : interval_us;
        sample->weight_us = gap_us < 2 * interval_us ? gap_us : 2 * interval_us;
    }
    return true;
}

/* Uses the weights that the format sent. */
static void weigh_as_given(struct fp_fold *fold)
{
    for (uint32_t i = 0; i < fold->sample_count; i++) {
        struct fp_fold_sample *sample = &fold->samples[i];
        sample->weight_us = fold->profile->weights_us[sample->order];
    }
}

bool fp_fold_weigh(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    if (profile->sample_count == 0 && profile->event_count == 0)
        return true;
    fold->samples = fp_fold_array(fold, profile->sample_count + fp_fold_event_samples(profile),
                                  sizeof(*fold->samples));
    if (fold->samples == NULL)
        return false;
    fold->sample_count = profile->sample_count;
    sort_samples(fold);
    if (profile->weights_us != NULL)
        weigh_as_given(fold);
    else if (!weigh_by_time(fold))
        return false;
    for (uint32_t i = 0; i < fold->sample_count; i++)
        fold->delta->profiled_us += fold->samples[i].weight_us;
    fold->delta->samples = fold->sample_count;
    return true;
}
