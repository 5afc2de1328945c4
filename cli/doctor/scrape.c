/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrape: splits a page into samples and looks them up.
 */
#include "cli/doctor/scrape.h"

#include "cli/kit/memory.h"

#include <math.h>
#include <stdlib.h>

/* Returns the end of the labels, which is their closing brace; NULL if it is missing. A brace in a
 * quoted value does not count. */
static char *end_of_labels(char *at)
{
    bool is_quoted = false;
    for (; *at != '\0'; at++) {
        if (*at == '\\' && is_quoted && at[1] != '\0')
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
        else if (*at == '}' && !is_quoted)
            return at;
    }
    return NULL;
}

/* Splits a line in place. False: it is not a sample. */
static bool read_sample(char *line, struct fp_scrape_sample *sample)
{
    char *rest = line + strcspn(line, "{ ");
    if (line[0] == '#' || rest == line || *rest == '\0')
        return false;
    const bool has_labels = *rest == '{';
    *rest++ = '\0';
    *sample = (struct fp_scrape_sample){.name = line, .labels = ""};
    if (has_labels) {
        sample->labels = rest;
        rest = end_of_labels(rest);
        if (rest == NULL)
            return false;
        *rest++ = '\0';
    }
    char *end;
    sample->value = strtod(rest, &end);
    return end != rest;
}

static int compare(const struct fp_scrape_sample *sample, const char *name, const char *labels)
{
    const int order = strcmp(sample->name, name);
    return order != 0 ? order : strcmp(sample->labels, labels);
}

static int by_name(const void *one, const void *other, void *context)
{
    const struct fp_scrape_sample *samples = context;
    const struct fp_scrape_sample *sample = &samples[*(const uint32_t *)other];
    return compare(&samples[*(const uint32_t *)one], sample->name, sample->labels);
}

static void sort(struct fp_scrape *scrape)
{
    scrape->sorted = fp_memory_need(calloc(scrape->count + 1, sizeof(*scrape->sorted)));
    for (size_t i = 0; i < scrape->count; i++)
        scrape->sorted[i] = (uint32_t)i;
    if (scrape->count > 1)
        qsort_r(scrape->sorted, scrape->count, sizeof(*scrape->sorted), by_name, scrape->samples);
}

void fp_scrape_parse(struct fp_scrape *scrape, const char *page)
{
    *scrape = (struct fp_scrape){.text = fp_memory_copy(page)};
    char *rest = scrape->text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        struct fp_scrape_sample sample;
        if (!read_sample(line, &sample))
            continue;
        scrape->samples = fp_memory_grow(scrape->samples, scrape->count, &scrape->capacity,
                                         sizeof(*scrape->samples));
        scrape->samples[scrape->count++] = sample;
    }
    sort(scrape);
}

void fp_scrape_release(struct fp_scrape *scrape)
{
    free(scrape->text);
    free(scrape->samples);
    free(scrape->sorted);
    *scrape = (struct fp_scrape){0};
}

double fp_scrape_value(const struct fp_scrape *scrape, const char *name, const char *labels)
{
    for (size_t low = 0, high = scrape->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const struct fp_scrape_sample *sample = &scrape->samples[scrape->sorted[middle]];
        const int order = compare(sample, name, labels);
        if (order == 0)
            return sample->value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)NAN;
}

double fp_scrape_sum(const struct fp_scrape *scrape, const char *name)
{
    double sum = (double)NAN;
    for (size_t i = 0; i < scrape->count; i++)
        if (strcmp(scrape->samples[i].name, name) == 0)
            sum = (isnan(sum) ? 0 : sum) + scrape->samples[i].value;
    return sum;
}

/* Copies a quoted value up to its closing quote, and returns what follows it. */
static const char *copy_value(const char *at, char *value, size_t size)
{
    size_t len = 0;
    for (; *at != '\0' && *at != '"'; at++) {
        char c = *at;
        if (c == '\\' && at[1] != '\0') {
            c = *++at;
            if (c == 'n')
                c = '\n';
        }
        if (len + 1 < size)
            value[len++] = c;
    }
    value[len] = '\0';
    return *at == '"' ? at + 1 : at;
}

bool fp_scrape_label(const struct fp_scrape_sample *sample, const char *label, char *value,
                     size_t size)
{
    for (const char *at = sample->labels; *at != '\0';) {
        const size_t len = strcspn(at, "=");
        const bool is_wanted = strlen(label) == len && strncmp(at, label, len) == 0;
        if (strncmp(at + len, "=\"", 2) != 0)
            return false;
        at = copy_value(at + len + 2, value, size);
        if (is_wanted)
            return true;
        at += strspn(at, ", ");
    }
    return false;
}

double fp_scrape_rise(const struct fp_scrape *earlier, const struct fp_scrape *latest,
                      const struct fp_scrape_sample *sample)
{
    static const char start[] = "process_start_time_seconds";
    if (earlier->count == 0 ||
        fp_scrape_value(earlier, start, "") != fp_scrape_value(latest, start, ""))
        return (double)NAN;
    const double before = fp_scrape_value(earlier, sample->name, sample->labels);
    return sample->value - (isnan(before) ? 0 : before);
}
