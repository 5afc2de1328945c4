/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup: many deltas merged into the rows that the database gets: dictionaries, facts by (segment,
 * bucket, …), one row per upload and one per page load.
 *
 * Bounded twice: it says when it is full, and no delta makes it grow past its maximum. Sums cannot
 * overflow: fp_delta_decode bounds the contents of a delta, FP_ROLLUP_MAX_UPLOADS the number of
 * deltas. Not thread-safe.
 */
#ifndef FP_ROLLUP_ROLLUP_H
#define FP_ROLLUP_ROLLUP_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/clock.h"
#include "collector/base/map.h"
#include "collector/rollup/delta.h"
#include "collector/rollup/rows.h"

#define FP_ROLLUP_MAX_UPLOADS 20000

/* Dictionaries first, then facts, then the logs: the order in which they are written. */
enum fp_rollup_table {
    FP_ROLLUP_TABLE_SEGMENT,
    FP_ROLLUP_TABLE_RESOURCE,
    FP_ROLLUP_TABLE_FRAME,
    FP_ROLLUP_TABLE_STACK,
    FP_ROLLUP_TABLE_TIMING,
    FP_ROLLUP_TABLE_HOUR,
    FP_ROLLUP_TABLE_TOTAL_FACT,
    FP_ROLLUP_TABLE_FRAME_FACT,
    FP_ROLLUP_TABLE_FRAME_MARKER_FACT,
    FP_ROLLUP_TABLE_STACK_FACT,
    FP_ROLLUP_TABLE_TIMING_FACT,
    FP_ROLLUP_TABLE_TIMING_BIN_FACT,
    FP_ROLLUP_TABLE_MEASURE_FACT,
    FP_ROLLUP_TABLE_MEASURE_FRAME_FACT,
    FP_ROLLUP_TABLE_SESSION,
    FP_ROLLUP_TABLE_TIMELINE,
    FP_ROLLUP_TABLE_EVENT,
    FP_ROLLUP_TABLE_REFUSAL,
    FP_ROLLUP_TABLE_VITAL,
    FP_ROLLUP_TABLE_UPLOAD,
    FP_ROLLUP_TABLE_LOAD,
    FP_ROLLUP_TABLE_COUNT
};

/* Rows begin with their key. Ids are the database's signed bigints. Times are microseconds; squares
 * and products of times are microseconds squared, in floating point. */

struct fp_segment_row {
    int64_t segment_id;
    int64_t first_us; /* when the first of its uploads counts */
    struct fp_segment names;
};

struct fp_resource_row {
    int64_t resource_id;
    struct fp_str site;
    struct fp_str url;
};

struct fp_frame_row {
    int64_t frame_id;
    int64_t resource_id; /* 0 when absent */
    struct fp_str function;
    int32_t line; /* FP_POSITION_NONE when absent */
    int32_t column;
    enum fp_frame_kind kind;
};

struct fp_stack_row {
    int64_t stack_id;
    int64_t parent_id; /* 0 for a root */
    int64_t frame_id;
    int32_t level;
};

struct fp_timing_row {
    int64_t timing_id;
    struct fp_str name;
    struct fp_str source;
    struct fp_str function;
    struct fp_str navigation; /* a static text; "": unknown, or it has none */
    enum fp_timing_kind kind;
};

/* The key of a fact; members that do not apply are 0. */
struct fp_fact_key {
    int64_t segment_id;
    int64_t bucket_us; /* the hour's begin, epoch */
    int64_t id;        /* of the frame, stack or timing */
    int64_t part;      /* marker or bin */
};

/* An hour in which a site has facts. */
struct fp_hour_key {
    int64_t site_id;
    int64_t bucket_us;
};

struct fp_hour_row {
    struct fp_hour_key key;
    struct fp_str site;
    int64_t entries; /* of packed facts: 0, until the store has counted them */
};

/* key.part of the total of unattributed samples, which have no marker. */
#define FP_TOTAL_UNATTRIBUTED (-1)

/* Totals by marker, which is key.part. Each segment with an upload has one of
 * FP_TOTAL_UNATTRIBUTED. */
struct fp_total_fact {
    struct fp_fact_key key;
    /* Counts profiled uploads (fp_delta_is_profiled). This, loads, profiled_us2 and unseen_us are 0
     * except for FP_TOTAL_UNATTRIBUTED. */
    int64_t uploads;
    int64_t loads; /* uploads without a load id here, the others when their load is claimed */
    int64_t samples;
    int64_t self_us;
    double profiled_us2;
    int64_t unseen_us; /* not part of profiled time */
    int64_t site_id;
};

struct fp_frame_fact {
    struct fp_fact_key key;
    int64_t uploads;
    int64_t unmarked_uploads; /* with a sample of this frame that has no marker */
    int64_t samples;
    int64_t self_us;
    int64_t total_us;
    double self_us2;
    double total_us2;
    double self_profiled;  /* sum of self time times the upload's profiled time */
    double total_profiled; /* the same with total time */
};

struct fp_frame_marker_fact {
    struct fp_fact_key key;
    int64_t uploads;
    int64_t samples;
    int64_t self_us;
    int64_t total_us;
};

struct fp_stack_fact {
    struct fp_fact_key key;
    int64_t uploads;
    int64_t samples;
    int64_t self_us;
};

struct fp_timing_fact {
    struct fp_fact_key key;
    int64_t uploads;
    int64_t count;
    int64_t negative;
    int64_t min_us;
    int64_t max_us;
    double sum_us;
};

struct fp_timing_bin_fact {
    struct fp_fact_key key;
    int64_t count;
};

struct fp_measure_fact {
    struct fp_fact_key key;
    int64_t uploads; /* with profiled time in the windows, like the next field */
    int64_t loads;
    int64_t samples;
    int64_t unattributed_samples;
    int64_t profiled_us;
    int64_t unattributed_us;
    int64_t window_us;
};

struct fp_measure_frame_key {
    struct fp_fact_key fact; /* id: of the timing; part: the marker */
    int64_t frame_id;
};

struct fp_measure_frame_fact {
    struct fp_measure_frame_key key;
    int64_t uploads;
    int64_t first_uploads; /* of these, without a sample of the frame under a marker before this */
    int64_t samples;
    int64_t self_us;
    int64_t total_us;
};

/* Kept sessions: key.id is the session, key.part counts its timelines, and its events, from 1. */

/* A frame vector as arrays: `{1,-2}`. The first three are parallel. */
struct fp_vector_texts {
    struct fp_str timing_ids; /* 0: the whole upload */
    struct fp_str frame_ids;
    struct fp_str self_us;
    struct fp_str seen_frame_ids; /* anywhere on stacks */
};

struct fp_session_row {
    struct fp_fact_key key;
    struct fp_uuid upload;
    struct fp_uuid load;
    int64_t received_us;
    int64_t started_us; /* epoch */
    int64_t source_id;  /* 0: none */
    int64_t window_id;  /* 0: none */
    struct fp_str version;
    struct fp_str page_url;
    struct fp_str content; /* zstd */
    struct fp_vector_texts vector;
    int32_t content_len; /* unpacked */
    int32_t part;
    int32_t records_read;
    int32_t records_refused;
    enum fp_upload_format format;
    bool has_load;
    bool has_started;
    bool is_raw;
    bool is_detached;
};

struct fp_timeline_row {
    struct fp_fact_key key;
    int64_t timeline_id;
    int64_t frame_id; /* 0: none */
    enum fp_reduce_mode mode;
    int32_t events;
};

struct fp_event_row {
    struct fp_fact_key key;
    int64_t timeline;  /* key.part of its timeline */
    int64_t parent;    /* key.part of its parent, 0: none */
    int64_t event_id;  /* 0: none */
    int64_t parent_id; /* event_id of a parent that the upload does not list, 0: none */
    int64_t start_us;
    int64_t duration_us;
    int64_t self_us;
    int64_t overhead_us;
    int64_t total_us;
    int64_t total_overhead_us;
    int64_t hits;
    int64_t child_count;
    struct fp_str type;
    struct fp_str resource;
    struct fp_str detail; /* JSON */
    int32_t type_number;
    int32_t line; /* FP_POSITION_NONE */
    bool has_duration;
    bool has_resource;
    bool has_detail;
};

/* Records that were refused of accepted uploads. key.id is the format, key.part the reason. */
struct fp_refusal_row {
    struct fp_fact_key key;
    int64_t records;
    int64_t uploads;
    int64_t latest_us;   /* when the latest of these uploads was received */
    struct fp_str place; /* of its first such record */
    enum fp_upload_format format;
    enum fp_record_refusal reason;
};

/* The key of an upload or load id. The words sort as PostgreSQL sorts uuids. */
struct fp_claim_key {
    int64_t high;
    int64_t low;
    int64_t site_id;
};

struct fp_claim_key fp_claim_key(const struct fp_uuid *id, int64_t site_id);

struct fp_upload_row {
    struct fp_claim_key key;
    struct fp_uuid id;
    struct fp_uuid load;
    int64_t segment_id;
    int64_t bucket_us;
    int64_t received_us;
    int64_t profiled_us;
    int64_t unattributed_us;
    int64_t unseen_us;
    struct fp_str agent;
    int32_t part;
    int32_t browser_version;
    int32_t body_bytes;
    int32_t samples;
    int32_t unattributed_samples;
    int32_t timings; /* marks and measures */
    int32_t skipped_entries;
    int32_t records_read;
    int32_t records_refused;
    enum fp_upload_format format;
    enum fp_coverage coverage;
    bool has_load;
    bool truncated;
    bool counted; /* its facts are in the rollup */
    bool known;   /* the database has counted it before */
};

/* A page load that has an id, where it is first seen: profiled, or in a timing of what was left out
 * of it, under an id of its own (fp_left_out_id). */
struct fp_load_row {
    struct fp_claim_key key;
    struct fp_uuid id;
    int64_t timing_id; /* 0: of a profiled page load */
    int64_t segment_id;
    int64_t bucket_us;
    int64_t received_us;
};

/* The key of a vital: its id (fp_vital_id). The words sort as PostgreSQL sorts uuids. */
struct fp_vital_key {
    int64_t high;
    int64_t low;
};

/* A value of a vital, and where it counts. */
struct fp_vital_count {
    int64_t segment_id;
    int64_t bucket_us;
    int64_t value_us;
    int64_t element_id; /* of the timing of its element, 0: unknown */
    struct fp_vital_parts parts;
    struct fp_str without; /* bytes of without.h: what it would be without something */
    int32_t rating;        /* enum fp_vital_rating */
    int32_t navigation;    /* enum fp_navigation */
    int32_t uploads; /* 1: it stands for its upload in the timing's number of uploads, else 0 */
};

/* The value that counts of a vital that may be sent again: as far as this window knows, the last.
 */
struct fp_vital_row {
    struct fp_vital_key key;
    struct fp_uuid id;
    int64_t site_id;
    struct fp_vital_count count;
    int32_t part; /* of its upload */
    enum fp_vital vital;
    bool is_last; /* the database has none that is later, or equal */
};

/* Clocks that differ by more than this do not agree: fleetprof_data.judge_clock has the same. */
#define FP_CLOCK_AGREEMENT_US (2 * FP_US_PER_DAY)

/* The times that decide an upload's bucket: epoch, by the clock that is believed. */
struct fp_rollup_clock {
    int64_t now_us;
    int64_t collector_us;      /* the collector's own clock at that moment; 0: it agrees */
    int64_t oldest_us;         /* buckets before this are past the retention */
    int64_t oldest_log_us;     /* uploads in buckets before this get no row in the upload log */
    int64_t oldest_session_us; /* nor are sessions in buckets before this kept */
};

struct fp_rollup {
    struct fp_rows tables[FP_ROLLUP_TABLE_COUNT];
    struct fp_arena texts;
    struct fp_rollup_clock clock;
    size_t full_bytes;
    size_t max_bytes;
    size_t budget; /* of max_bytes, what the tables may still take */
    /* Ids whose dictionary rows are written already: no rows are made for them. Of a segment the
     * value is fp_segment_second of what was written. Not owned; NULL: none. */
    const struct fp_map *known;
};

/* Returns the second in which a segment's first upload counts, as a value of a map. */
static inline uint32_t fp_segment_second(int64_t first_us)
{
    const int64_t second = first_us / FP_US_PER_S;
    return second < 0 ? 0 : second < FP_MAP_NONE ? (uint32_t)second : FP_MAP_NONE - 1;
}

/*
 * Initialises an empty rollup. It is full from full_bytes on, and never holds more than max_bytes
 * (the largest upload must fit). Release it with fp_rollup_release.
 */
void fp_rollup_init(struct fp_rollup *rollup, size_t full_bytes, size_t max_bytes);
void fp_rollup_release(struct fp_rollup *rollup);

/* Empties it for a new window. Keeps memory up to about full_bytes. */
void fp_rollup_clear(struct fp_rollup *rollup, const struct fp_rollup_clock *clock);

enum fp_rollup_result {
    FP_ROLLUP_COUNTED = 0,
    FP_ROLLUP_DUPLICATE, /* this id was counted before; nothing changed */
    FP_ROLLUP_MISDATED,  /* counted, in the hour of now: its own time is beyond belief */
    FP_ROLLUP_NO_ROOM,   /* memory or max_bytes: the rollup is half changed, clear it */
};

/* Adds a delta. Keeps nothing of its memory. */
enum fp_rollup_result fp_rollup_add(struct fp_rollup *rollup,
                                    const struct fp_delta *delta) FP_MUST_CHECK;

/* After FP_ROLLUP_NO_ROOM: true if max_bytes refused the delta, false if the machine had no memory.
 */
bool fp_rollup_is_over(const struct fp_rollup *rollup);

/* True when no further delta should be added. */
bool fp_rollup_is_full(const struct fp_rollup *rollup);

/*
 * Drops everything but the upload rows. Add the deltas of the window again: this time, known
 * uploads are refused as duplicates.
 */
void fp_rollup_recount(struct fp_rollup *rollup);

/*
 * Settles a vital of the window with what the database knows of it. fp_rollup_find_vital: NULL if
 * the window has none of this id. fp_rollup_keep_vital: this value counts; `replaced`, if not NULL,
 * no longer does, and is taken back where it was counted. fp_rollup_keep_without: this value counts
 * where an equal one did; what it would be without something replaces what that had.
 * fp_rollup_drop_vital: this value does not count, or was kept so. False: no room.
 */
struct fp_vital_row *fp_rollup_find_vital(const struct fp_rollup *rollup, const struct fp_uuid *id);
bool fp_rollup_keep_vital(struct fp_rollup *rollup, struct fp_vital_row *row,
                          const struct fp_vital_count *replaced) FP_MUST_CHECK;
bool fp_rollup_keep_without(struct fp_rollup *rollup, const struct fp_vital_row *row,
                            const struct fp_vital_count *replaced) FP_MUST_CHECK;
bool fp_rollup_drop_vital(struct fp_rollup *rollup, const struct fp_vital_row *row) FP_MUST_CHECK;

/* Counts the load with this key where it was first seen. False if it is not in the rollup. */
bool fp_rollup_count_load(struct fp_rollup *rollup, const struct fp_claim_key *key) FP_MUST_CHECK;

#endif
