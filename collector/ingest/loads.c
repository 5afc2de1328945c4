/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads: shelves by a hash of the page load, each with a lock and a list of its page loads, the one
 * that was visited last first.
 */
#include "collector/ingest/loads.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/hash.h"
#include "collector/ingest/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

enum { SHELF_BITS = 8, SHELVES = 1 << SHELF_BITS };

struct load_part {
    struct load_part *next; /* the one that came after it */
    struct fp_uuid upload;
    size_t bytes;
    struct fp_part *part; /* owned */
};

struct load {
    struct load *next;
    uint64_t site_id;
    struct fp_uuid id;
    int64_t visited_us;
    size_t bytes;
    size_t part_count;
    struct load_part *parts; /* in the order of arrival */
};

struct shelf {
    pthread_mutex_t lock; /* of the list */
    struct load *loads;
};

struct fp_loads {
    struct fp_metric_set *metrics;
    uint64_t multiplier; /* odd, random: nobody outside can fill one shelf */
    atomic_size_t bytes; /* of all parts */
    struct shelf shelves[SHELVES];
};

/* ---- life ---- */

struct fp_loads *fp_loads_create(struct fp_metric_set *metrics)
{
    struct fp_loads *loads = calloc(1, sizeof(*loads));
    if (loads == NULL)
        return NULL;
    loads->metrics = metrics;
    if (getrandom(&loads->multiplier, sizeof(loads->multiplier), GRND_NONBLOCK) < 0)
        loads->multiplier = UINT64_C(0x9e3779b97f4a7c15); /* early boot: still spreads */
    loads->multiplier |= 1;
    for (size_t i = 0; i < SHELVES; i++) {
        if (pthread_mutex_init(&loads->shelves[i].lock, NULL) == 0)
            continue;
        while (i-- > 0)
            pthread_mutex_destroy(&loads->shelves[i].lock);
        free(loads);
        return NULL;
    }
    return loads;
}

static void free_part(struct fp_loads *loads, struct load_part *part)
{
    const size_t before =
        atomic_fetch_sub_explicit(&loads->bytes, part->bytes, memory_order_relaxed);
    FP_ASSERT(before >= part->bytes);
    free(part->part);
    free(part);
}

/* Drops a page load. Returns the number of its parts. */
static size_t drop_load(struct fp_loads *loads, struct load **link)
{
    struct load *load = *link;
    size_t count = load->part_count;
    *link = load->next;
    while (load->parts != NULL) {
        struct load_part *next = load->parts->next;
        FP_ASSERT(load->part_count > 0 && load->bytes >= load->parts->bytes);
        load->part_count--;
        load->bytes -= load->parts->bytes;
        free_part(loads, load->parts);
        load->parts = next;
    }
    FP_ASSERT(load->part_count == 0 && load->bytes == 0);
    free(load);
    return count;
}

void fp_loads_free(struct fp_loads *loads)
{
    if (loads == NULL)
        return;
    for (size_t i = 0; i < SHELVES; i++) {
        while (loads->shelves[i].loads != NULL)
            (void)drop_load(loads, &loads->shelves[i].loads);
        pthread_mutex_destroy(&loads->shelves[i].lock);
    }
    FP_ASSERT(atomic_load_explicit(&loads->bytes, memory_order_relaxed) == 0);
    free(loads);
}

/* ---- shelves ---- */

static struct shelf *shelf_of(struct fp_loads *loads, const struct fp_loads_key *key)
{
    uint64_t hash = fp_hash64(key->load.bytes, sizeof(key->load.bytes)) ^ key->site_id;
    return &loads->shelves[hash * loads->multiplier >> (64 - SHELF_BITS)];
}

/* Drops page loads that had no part for too long: they are the last. */
static void drop_old(struct fp_loads *loads, struct shelf *shelf, int64_t now_us)
{
    const int64_t oldest_us = now_us - FP_LOADS_AGE_MAX_S * FP_US_PER_S;
    struct load **link = &shelf->loads;
    while (*link != NULL && (*link)->visited_us >= oldest_us)
        link = &(*link)->next;
    while (*link != NULL)
        (void)drop_load(loads, link);
}

/* Finds the page load and moves it to the front. NULL: it is not there. */
static struct load *find_load(struct shelf *shelf, const struct fp_loads_key *key)
{
    struct load **link = &shelf->loads;
    while (*link != NULL &&
           ((*link)->site_id != key->site_id || !fp_uuid_equal(&(*link)->id, &key->load)))
        link = &(*link)->next;
    struct load *load = *link;
    if (load == NULL)
        return NULL;
    *link = load->next;
    load->next = shelf->loads;
    load->visited_us = key->now_us;
    shelf->loads = load;
    return load;
}

/* Drops the first page load, which was visited just now, if it has no parts: empty ones take no
 * bytes, so nothing would bound them. */
static void drop_if_empty(struct fp_loads *loads, struct shelf *shelf)
{
    if (shelf->loads != NULL && shelf->loads->part_count == 0)
        (void)drop_load(loads, &shelf->loads);
}

/* ---- visits ---- */

void fp_loads_begin(struct fp_loads *loads, const struct fp_loads_key *key,
                    struct fp_loads_visit *visit)
{
    struct shelf *shelf = shelf_of(loads, key);
    visit->loads = loads;
    visit->key = key;
    visit->earlier_count = 0;
    visit->is_known = false;
    pthread_mutex_lock(&shelf->lock);
    drop_old(loads, shelf, key->now_us);
    const struct load *load = find_load(shelf, key);
    const struct load_part *part = load != NULL ? load->parts : NULL;
    for (; part != NULL && !visit->is_known; part = part->next) {
        visit->is_known = fp_uuid_equal(&part->upload, &key->upload);
        FP_ASSERT(visit->earlier_count < FP_LOADS_PARTS_MAX);
        if (!visit->is_known)
            visit->earlier[visit->earlier_count++] = part->part;
    }
}

/* Drops the last page loads of the shelf until the bytes fit. The first one is being visited. */
static bool make_room(struct fp_loads *loads, struct shelf *shelf, const struct load *keep,
                      size_t bytes)
{
    size_t evicted = 0;
    while (atomic_load_explicit(&loads->bytes, memory_order_relaxed) + bytes > FP_LOADS_BYTES_MAX) {
        struct load **link = &shelf->loads;
        while (*link != NULL && (*link)->next != NULL)
            link = &(*link)->next;
        if (*link == NULL || *link == keep)
            break;
        evicted += drop_load(loads, link);
    }
    fp_metrics_add(loads->metrics, FP_METRIC_LOAD_PARTS_EVICTED, evicted);
    return atomic_load_explicit(&loads->bytes, memory_order_relaxed) + bytes <= FP_LOADS_BYTES_MAX;
}

/* Returns the page load, which is new if it is not there. NULL: no memory. */
static struct load *get_load(struct shelf *shelf, const struct fp_loads_key *key)
{
    struct load *load = find_load(shelf, key);
    if (load != NULL)
        return load;
    load = calloc(1, sizeof(*load));
    if (load == NULL)
        return NULL;
    *load = (struct load){
        .next = shelf->loads, .site_id = key->site_id, .id = key->load, .visited_us = key->now_us};
    shelf->loads = load;
    return load;
}

static bool remember(struct fp_loads *loads, struct shelf *shelf, const struct fp_loads_key *key,
                     const struct fp_part *part)
{
    const size_t bytes = sizeof(struct load) + sizeof(struct load_part) + fp_part_bytes(part);
    struct load *load = get_load(shelf, key);
    if (load == NULL || load->part_count == FP_LOADS_PARTS_MAX ||
        load->bytes + bytes > FP_LOADS_BYTES_OF_ONE_MAX || !make_room(loads, shelf, load, bytes))
        return false;
    struct load_part *last = calloc(1, sizeof(*last));
    struct fp_part *copy = last != NULL ? fp_part_copy(part) : NULL;
    if (copy == NULL) {
        free(last);
        return false;
    }
    *last = (struct load_part){.upload = key->upload, .bytes = bytes, .part = copy};
    struct load_part **end = &load->parts;
    while (*end != NULL)
        end = &(*end)->next;
    *end = last;
    load->part_count++;
    load->bytes += bytes;
    atomic_fetch_add_explicit(&loads->bytes, bytes, memory_order_relaxed);
    return true;
}

void fp_loads_end(struct fp_loads_visit *visit, const struct fp_part *part)
{
    struct fp_loads *loads = visit->loads;
    struct shelf *shelf = shelf_of(loads, visit->key);
    bool has_any = part != NULL &&
                   (part->sample_count > 0 || part->window_count > 0 || part->counted_count > 0);
    if (has_any && !visit->is_known && !remember(loads, shelf, visit->key, part))
        fp_metrics_add(loads->metrics, FP_METRIC_LOAD_PARTS_EVICTED, 1);
    drop_if_empty(loads, shelf);
    pthread_mutex_unlock(&shelf->lock);
}

void fp_loads_forget(struct fp_loads *loads, const struct fp_loads_key *key)
{
    struct shelf *shelf = shelf_of(loads, key);
    pthread_mutex_lock(&shelf->lock);
    struct load *load = find_load(shelf, key);
    struct load_part **link = load != NULL ? &load->parts : NULL;
    while (link != NULL && *link != NULL && !fp_uuid_equal(&(*link)->upload, &key->upload))
        link = &(*link)->next;
    if (link != NULL && *link != NULL) {
        struct load_part *part = *link;
        *link = part->next;
        FP_ASSERT(load->part_count > 0 && load->bytes >= part->bytes);
        load->part_count--;
        load->bytes -= part->bytes;
        free_part(loads, part);
    }
    drop_if_empty(loads, shelf);
    pthread_mutex_unlock(&shelf->lock);
}
