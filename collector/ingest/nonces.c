/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nonces: a table of small sets. A nonce's hash selects its set, and each set evicts on its own.
 * Nonces are random, so the sets fill evenly.
 *
 * A nonce is evicted only for one that expires later. So all nonces evicted from a full set expire
 * no later than the earliest that is still in it. A resize moves nonces between sets, so it keeps
 * the latest expiry that a full set may have evicted, for the whole table.
 */
#include "collector/ingest/nonces.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SET_PLACES = 16 };

struct place {
    char nonce[FP_NONCE_LEN];
    int64_t expires_s; /* 0: free */
    uint32_t uses;
};

struct set {
    struct place places[SET_PLACES];
};

struct fp_nonce_table {
    atomic_uint references;
    pthread_mutex_t lock; /* protects what follows */
    struct set *sets;
    size_t set_count;
    int64_t forgotten_s; /* unknown tokens that expire no later may have been evicted */
};

static size_t sets_of(size_t bytes)
{
    const size_t count = bytes / sizeof(struct set);
    return count > 0 ? count : 1;
}

struct fp_nonce_table *fp_nonce_table_create(size_t bytes)
{
    struct fp_nonce_table *table = calloc(1, sizeof(*table));
    if (table == NULL)
        return NULL;
    /* The kernel zeroes the pages as sets are used: an unused table takes no memory. */
    table->set_count = sets_of(bytes);
    table->sets = calloc(table->set_count, sizeof(*table->sets));
    if (table->sets == NULL || pthread_mutex_init(&table->lock, NULL) != 0) {
        free(table->sets);
        free(table);
        return NULL;
    }
    atomic_init(&table->references, 1);
    return table;
}

struct fp_nonce_table *fp_nonce_table_ref(struct fp_nonce_table *table)
{
    if (table == NULL)
        return NULL;
    const unsigned before = atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    FP_ASSERT(before > 0);
    return table;
}

void fp_nonce_table_unref(struct fp_nonce_table *table)
{
    if (table == NULL)
        return;
    const unsigned before = atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel);
    FP_ASSERT(before > 0);
    if (before > 1)
        return;
    pthread_mutex_destroy(&table->lock);
    free(table->sets);
    free(table);
}

static struct place *find(struct set *set, const char nonce[FP_NONCE_LEN])
{
    for (size_t i = 0; i < SET_PLACES; i++) {
        if (memcmp(set->places[i].nonce, nonce, FP_NONCE_LEN) == 0)
            return &set->places[i];
    }
    return NULL;
}

/* Returns a place for a new nonce: a free one, or the one that expires first. NULL if the new nonce
 * expires no later than that: it may have been evicted before. */
static struct place *make_room(struct set *set, int64_t expires_s)
{
    struct place *first = &set->places[0];
    for (size_t i = 1; i < SET_PLACES; i++) {
        if (set->places[i].expires_s < first->expires_s)
            first = &set->places[i];
    }
    return expires_s > first->expires_s ? first : NULL;
}

static struct set *set_of(struct fp_nonce_table *table, const char nonce[FP_NONCE_LEN])
{
    return &table->sets[fp_hash64(nonce, FP_NONCE_LEN) % table->set_count];
}

/* Returns a place for an unknown nonce, NULL if it may have been evicted before. */
static struct place *admit(const struct fp_nonce_table *table, struct set *set, int64_t expires_s)
{
    return expires_s > table->forgotten_s ? make_room(set, expires_s) : NULL;
}

static enum fp_nonce_verdict use(struct fp_nonce_table *table, const char nonce[FP_NONCE_LEN],
                                 int64_t expires_s, uint32_t uses_max)
{
    struct set *set = set_of(table, nonce);
    struct place *place = find(set, nonce);
    if (place == NULL) {
        place = admit(table, set, expires_s);
        if (place == NULL)
            return FP_NONCE_FORGOTTEN;
        *place = (struct place){.expires_s = expires_s};
        memcpy(place->nonce, nonce, FP_NONCE_LEN);
    }
    if (place->uses >= uses_max)
        return FP_NONCE_USED_UP;
    place->uses++;
    return FP_NONCE_FINE;
}

enum fp_nonce_verdict fp_nonce_table_use(struct fp_nonce_table *table,
                                         const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                         uint32_t uses_max)
{
    pthread_mutex_lock(&table->lock);
    enum fp_nonce_verdict verdict = use(table, nonce, expires_s, uses_max);
    pthread_mutex_unlock(&table->lock);
    return verdict;
}

enum fp_nonce_verdict fp_nonce_table_peek(struct fp_nonce_table *table,
                                          const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                          uint32_t uses_max, uint32_t uses_before)
{
    pthread_mutex_lock(&table->lock);
    struct set *set = set_of(table, nonce);
    const struct place *place = find(set, nonce);
    const bool is_known = place != NULL || admit(table, set, expires_s) != NULL;
    const uint32_t uses = place != NULL ? place->uses : 0;
    pthread_mutex_unlock(&table->lock);
    if (!is_known)
        return FP_NONCE_FORGOTTEN;
    return uses + uses_before >= uses_max ? FP_NONCE_USED_UP : FP_NONCE_FINE;
}

/* ---- resizing ---- */

/* Returns the latest expiry that the set may have evicted, 0 if it was never full. */
static int64_t forgotten_of(const struct set *set)
{
    int64_t first_s = set->places[0].expires_s;
    for (size_t i = 1; i < SET_PLACES; i++)
        if (set->places[i].expires_s < first_s)
            first_s = set->places[i].expires_s;
    return first_s;
}

/* Moves the nonces into other sets. */
static void move(struct fp_nonce_table *table, struct set *sets, size_t set_count)
{
    const struct set *old = table->sets;
    const size_t old_count = table->set_count;
    table->sets = sets;
    table->set_count = set_count;
    for (size_t i = 0; i < old_count; i++) {
        const int64_t forgotten_s = forgotten_of(&old[i]);
        if (forgotten_s > table->forgotten_s)
            table->forgotten_s = forgotten_s;
        for (size_t k = 0; k < SET_PLACES; k++) {
            const struct place *place = &old[i].places[k];
            if (place->expires_s == 0)
                continue;
            struct place *room = make_room(set_of(table, place->nonce), place->expires_s);
            if (room != NULL)
                *room = *place;
        }
    }
}

bool fp_nonce_table_resize(struct fp_nonce_table *table, size_t bytes)
{
    const size_t set_count = sets_of(bytes);
    pthread_mutex_lock(&table->lock);
    struct set *old = table->sets;
    const bool is_same = set_count == table->set_count;
    struct set *sets = is_same ? NULL : calloc(set_count, sizeof(*sets));
    if (sets != NULL) {
        move(table, sets, set_count);
        free(old);
    }
    pthread_mutex_unlock(&table->lock);
    return is_same || sets != NULL;
}
