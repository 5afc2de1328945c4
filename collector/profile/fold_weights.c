/*
 * Fold, weights: samples in the order of time, each weighing the time until the next.
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

static bool sort_samples(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    fold->samples = fp_fold_array(fold, profile->sample_count, sizeof(*fold->samples));
    if (fold->samples == NULL)
        return false;
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
    return true;
}

/* How many digits of DIGIT_BITS the largest of the numbers has, less one. */
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
 * The lower median of one number or more: digit by digit from the top, keeping only the numbers
 * that have the digit the median has. Linear, whatever the numbers are. Changes their order.
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

/* The effective interval when the envelope does not say it: the median of the positive gaps. */
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

bool fp_fold_weigh(struct fp_fold *fold)
{
    uint32_t count = fold->profile->sample_count;
    if (count == 0)
        return true;
    int64_t interval_us = fold->profile->interval_us;
    if (!sort_samples(fold) || (interval_us == 0 && !guess_interval(fold, &interval_us)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct fp_fold_sample *sample = &fold->samples[i];
        int64_t gap_us = i + 1 < count ? sample[1].time_us - sample->time_us : interval_us;
        sample->weight_us = gap_us < 2 * interval_us ? gap_us : 2 * interval_us;
        fold->delta->profiled_us += sample->weight_us;
    }
    fold->delta->samples = count;
    return true;
}
