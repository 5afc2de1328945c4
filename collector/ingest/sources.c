/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: three tables of small sets. A key's hash selects its set, and each set evicts on its
 * own: of the slots with the least weight, the one that was used longest ago. So what comes often
 * outlives any number of what comes once.
 */
#include "collector/ingest/sources.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/siphash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SET_SLOTS = 8 };

struct slot {
    uint64_t key;     /* 0: free */
    uint64_t agents;  /* of an address: a bit for each User-Agent */
    uint32_t weight;  /* page loads of a source, agents of an address */
    bool is_repeated; /* a page load */
};

/* Its slots are ordered by use within a set, the last used one first. */
struct source_table {
    struct slot *slots;
    size_t set_count;
};

enum kind { SOURCES, ADDRESSES, LOADS, KIND_COUNT };

struct fp_sources {
    pthread_mutex_t lock; /* protects what follows */
    struct source_table tables[KIND_COUNT];
    int64_t day; /* epoch; of the key and of all that the tables hold */
    bool has_key;
    uint8_t key[FP_SIPHASH_KEY_LEN];
};

/* ---- life ---- */

static const size_t slots_of[KIND_COUNT] = {
    [SOURCES] = FP_SOURCES_MAX,
    [ADDRESSES] = FP_SOURCES_ADDRESSES_MAX,
    [LOADS] = FP_SOURCES_LOADS_MAX,
};

struct fp_sources *fp_sources_create(void)
{
    struct fp_sources *sources = calloc(1, sizeof(*sources));
    if (sources == NULL)
        return NULL;
    bool is_made = pthread_mutex_init(&sources->lock, NULL) == 0;
    for (size_t i = 0; is_made && i < KIND_COUNT; i++) {
        struct source_table *table = &sources->tables[i];
        /* The kernel zeroes the pages as sets are used: an unused table takes no memory. */
        table->slots = calloc(slots_of[i], sizeof(*table->slots));
        table->set_count = slots_of[i] / SET_SLOTS;
        is_made = table->slots != NULL;
    }
    if (is_made)
        return sources;
    fp_sources_free(sources);
    return NULL;
}

void fp_sources_free(struct fp_sources *sources)
{
    if (sources == NULL)
        return;
    for (size_t i = 0; i < KIND_COUNT; i++)
        free(sources->tables[i].slots);
    pthread_mutex_destroy(&sources->lock);
    free(sources);
}

/* Forgets all on another day. False: there is no key yet. */
static bool begin_day(struct fp_sources *sources, int64_t day)
{
    if (sources->has_key && sources->day == day)
        return true;
    for (size_t i = 0; sources->has_key && i < KIND_COUNT; i++)
        memset(sources->tables[i].slots, 0, slots_of[i] * sizeof(struct slot));
    sources->day = day;
    sources->has_key = getrandom(sources->key, sizeof(sources->key), GRND_NONBLOCK) ==
                       (ssize_t)sizeof(sources->key);
    return sources->has_key;
}

/* ---- tables ---- */

static struct slot *set_of(const struct source_table *table, uint64_t key)
{
    return &table->slots[key % table->set_count * SET_SLOTS];
}

/* Moves a slot to the front of its set. */
static struct slot *use(struct slot *set, size_t place)
{
    const struct slot used = set[place];
    memmove(set + 1, set, place * sizeof(*set));
    set[0] = used;
    return set;
}

/* Returns the slot of a key, NULL if there is none. Other slots of the set move. */
static struct slot *find(const struct source_table *table, uint64_t key)
{
    struct slot *set = set_of(table, key);
    for (size_t i = 0; i < SET_SLOTS; i++) {
        if (set[i].key == key)
            return use(set, i);
    }
    return NULL;
}

/* Returns the slot of a key, a new one if need be. */
static struct slot *find_or_add(const struct source_table *table, uint64_t key)
{
    struct slot *slot = find(table, key);
    if (slot != NULL)
        return slot;
    struct slot *set = set_of(table, key);
    size_t least = SET_SLOTS - 1;
    for (size_t i = SET_SLOTS - 1; i-- > 0;) {
        if (set[i].weight < set[least].weight)
            least = i;
    }
    set[least] = (struct slot){.key = key};
    return use(set, least);
}

/* ---- page loads ---- */

/* Returns the hash of something of one kind and owner, never 0. */
static uint64_t hash(const struct fp_sources *sources, enum kind kind, uint64_t owner,
                     struct fp_str bytes)
{
    const uint64_t parts[] = {(uint64_t)kind, owner,
                              fp_siphash(sources->key, bytes.ptr, bytes.len)};
    const uint64_t key = fp_siphash(sources->key, parts, sizeof(parts));
    return key != 0 ? key : 1;
}

/* True if many visitors share the address. Notes one more User-Agent of it. */
static bool is_shared(const struct fp_sources *sources, uint64_t address, uint64_t source)
{
    enum { AGENT_BITS = 6 };
    struct slot *slot = find_or_add(&sources->tables[ADDRESSES], address);
    slot->agents |= UINT64_C(1) << (source >> (64 - AGENT_BITS));
    slot->weight = (uint32_t)__builtin_popcountll(slot->agents);
    return slot->weight >= FP_SOURCES_SHARED_AGENTS;
}

/* Returns how many page loads the source has had, with this one. */
static uint32_t count(const struct fp_sources *sources, uint64_t source, bool is_page)
{
    const struct source_table *table = &sources->tables[SOURCES];
    struct slot *slot = is_page ? find_or_add(table, source) : find(table, source);
    if (slot == NULL)
        return 0;
    slot->weight += is_page && slot->weight < UINT32_MAX;
    return slot->weight;
}

static bool classify(const struct fp_sources *sources, const struct fp_source_load *load)
{
    const struct fp_str id = {(const char *)load->load.bytes, sizeof(load->load.bytes)};
    const uint64_t load_key = hash(sources, LOADS, load->site_id, id);
    const struct slot *known = find(&sources->tables[LOADS], load_key);
    if (known != NULL)
        return known->is_repeated;
    const uint64_t address = hash(sources, ADDRESSES, load->site_id, load->address);
    const uint64_t source = hash(sources, SOURCES, address, load->user_agent);
    const bool is_repeated = count(sources, source, load->is_page) > FP_SOURCES_USUAL_MAX;
    const bool is_one = !is_shared(sources, address, source);
    struct slot *slot = find_or_add(&sources->tables[LOADS], load_key);
    slot->is_repeated = is_repeated && is_one;
    return slot->is_repeated;
}

bool fp_sources_is_repeated(struct fp_sources *sources, const struct fp_source_load *load)
{
    if (load->address.len == 0)
        return false;
    pthread_mutex_lock(&sources->lock);
    const bool is_repeated =
        begin_day(sources, load->now_us / FP_US_PER_DAY) && classify(sources, load);
    pthread_mutex_unlock(&sources->lock);
    return is_repeated;
}
