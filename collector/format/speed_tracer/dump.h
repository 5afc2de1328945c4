/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, dump: a dump while it is decoded. It belongs to one upload; not thread-safe.
 *
 * Functions that return bool give false when the whole upload is refused, after they have filled
 * decoder->error.
 */
#ifndef FP_FORMAT_SPEED_TRACER_DUMP_H
#define FP_FORMAT_SPEED_TRACER_DUMP_H

#include "collector/base/buf.h"
#include "collector/base/map.h"
#include "collector/format/decoder.h"
#include "collector/format/speed_tracer/notes.h"

struct fp_st_timer;
struct fp_st_v8;

/* An event that is also a mark of User Timing. */
struct fp_st_mark {
    uint32_t event; /* index */
    struct fp_str name;
};

/* A fact about a record that the scrubbed content would lose, because it depends on the URL's
 * query. The content says it in the record's data. */
struct fp_st_fact {
    yyjson_val *record;
    struct fp_str name;
    bool value;
};

/* An event of the last record of a part. */
struct fp_st_last_event {
    struct fp_str type;
    struct fp_str url;
    int64_t own_us;
    uint32_t parent; /* index, FP_INDEX_NONE for the record itself */
    int32_t type_number;
    int32_t line;
};

/* The last record of a part: a profile at the begin of the next part may belong to it. */
struct fp_st_last {
    struct fp_st_last_event *events; /* it and those inside, parents first */
    uint32_t event_count;            /* 0: it has no sequence, or no duration; or it is lost */
    uint64_t sequence;
    int64_t id;   /* that of the next part's first event would be 1, so this is 0 or less */
    bool is_lost; /* it is not known, or did not fit */
};

/* When a request started. */
struct fp_st_start {
    struct fp_str url;
    int64_t start_us;
};

enum { FP_ST_STARTS_MAX = 64 };

struct fp_st_dump {
    struct fp_decoder *decoder;
    struct fp_str text; /* of the current record if yyjson would write it the same; else "" */
    int64_t offset;     /* of the current record: bytes into the body, or index in `data` */
    struct fp_st_note_count notes[FP_ST_NOTE_COUNT];

    bool is_latin1; /* the body's bytes are those of windows-1252, as browsers read ISO-8859-1 */

    bool is_post;                /* container D; the content is also one */
    bool is_index;               /* offset is an index in `data` */
    struct fp_str before_record; /* what separates the next record from the content so far */
    int64_t last_start_us;       /* of the previous top-level record */
    uint64_t last_sequence;      /* of it, */
    uint32_t last_event;         /* and its id; 0: it has no sequence, or no duration */
    struct fp_st_last before;    /* of the part before this one */
    struct fp_str shown_page;    /* URL without its fragment */
    struct fp_st_fact *facts;    /* of the current record and its children, in their order */
    uint32_t fact_count;
    uint32_t fact_cap;

    bool may_be_early; /* the version is unknown or 0.8: types may have early numbers */
    bool is_early;     /* a record was found that only versions up to 0.8 wrote */

    struct fp_str session_page; /* the first page of the session, from the parts before; "" */
    int64_t page_begin_us;      /* when the last page of the parts before began, ... */
    bool has_page_begin;        /* ... if there is one */
    struct fp_st_start *starts; /* the last requests of the parts before, the last one first; */
    uint32_t start_count;       /* only of an early version */
    bool lacks_profile;         /* a part before this one may have had code that is not known */

    struct fp_map resources;  /* hash of URL -> index */
    struct fp_map type_names; /* hash of a custom type's name -> index into custom_types */
    struct fp_str *custom_types;
    struct fp_map timer_ids; /* hash of a timer's id -> index into timers */
    struct fp_st_timer *timers;
    struct fp_st_mark *marks;
    struct fp_buf detail; /* of the current record */
    struct fp_st_v8 *v8;  /* NULL until the first profile */
    size_t table_bytes;   /* of all V8 tables */
    uint32_t main_resource;
    uint32_t mark_count;
    uint32_t event_cap;
    uint32_t resource_cap;
    uint32_t custom_type_cap;
    uint32_t timer_cap;
    uint32_t mark_cap;
};

/* Compares like fp_str_equal; fast where most names differ in length or first byte. */
static inline bool fp_st_name_is(struct fp_str name, struct fp_str known)
{
    return name.len == known.len && known.len > 0 && name.ptr[0] == known.ptr[0] &&
           memcmp(name.ptr, known.ptr, known.len) == 0;
}

/* Adds the place of the current record to an error that was filled: a pointer for an element of
 * `data`, else an offset. Returns false. */
bool fp_st_fail_at_record(const struct fp_st_dump *dump);

/*
 * Returns the array with room for one more element, which is uninitialized: itself, or a longer
 * copy if it was full (the old one stays in the arena). NULL when memory is out.
 */
void *fp_st_grow(struct fp_arena *arena, void *array, uint32_t count, uint32_t *cap,
                 size_t size) FP_MUST_CHECK;

/* Finds or adds a URL. Decodes the entities of a saved page. "" gives FP_INDEX_NONE. */
bool fp_st_add_resource(struct fp_st_dump *dump, struct fp_str url, uint32_t *index) FP_MUST_CHECK;

#endif
