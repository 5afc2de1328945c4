/*
 * Speed Tracer, inside: a dump while it is decoded, and what the parts of its decoder call of each
 * other. A dump belongs to one upload; not thread-safe.
 *
 * Functions that return bool give false when the whole upload is refused; decoder->error is filled.
 */
#ifndef FP_FORMAT_SPEED_TRACER_DUMP_H
#define FP_FORMAT_SPEED_TRACER_DUMP_H

#include "collector/base/buf.h"
#include "collector/base/map.h"
#include "collector/format/decoder.h"

/* Type numbers since version 0.9 that this decoder looks at. */
enum fp_speed_tracer_type {
    FP_ST_INVALID = -1,
    FP_ST_CUSTOM = -2, /* the first custom type; others lie below */
    FP_ST_TIMER_INSTALLED = 5,
    FP_ST_TIMER_FIRED = 7,
    FP_ST_LOG_MESSAGE = 11,
    FP_ST_RESOURCE_START = 12,
    FP_ST_RESOURCE_RESPONSE = 13,
    FP_ST_RESOURCE_FINISH = 14,
    FP_ST_JAVASCRIPT_CALLBACK = 15,
    FP_ST_GC_EVENT = 17,
    FP_ST_MARK_DOM_CONTENT = 18,
    FP_ST_MARK_LOAD_EVENT = 19,
    FP_ST_AGGREGATED = 0x7FFFFFFF,
    FP_ST_TAB_CHANGED = 0x7FFFFFFE,
    FP_ST_RESOURCE_UPDATE = 0x7FFFFFFD,
    FP_ST_PROFILE_DATA = 0x7FFFFFFC,
    FP_ST_REQUEST_WILL_BE_SENT = 0x7FFFFFFA,
};

/* What a decoder meets and tells of. The refusals come first: such a record, with its children, or
 * profile is left out; what the others speak of is taken. */
enum fp_speed_tracer_note {
    FP_ST_NOT_JSON,
    FP_ST_CUT_OFF,
    FP_ST_NO_RECORD,
    FP_ST_BAD_TYPE,
    FP_ST_BAD_TIME,
    FP_ST_BAD_DURATION,
    FP_ST_NEGATIVE_DURATION,
    FP_ST_BAD_CHILDREN,
    FP_ST_BAD_DATA,
    FP_ST_BAD_PROFILE_LINE,
    FP_ST_REFUSALS, /* how many there are */
    FP_ST_JUNK = FP_ST_REFUSALS,
    FP_ST_BROKEN_POST,
    FP_ST_NO_TYPE,
    FP_ST_UNKNOWN_TYPE,
    FP_ST_NO_TYPE_NAME,
    FP_ST_NO_TIME,
    FP_ST_NEGATIVE_TIME,
    FP_ST_TIME_BACKWARDS,
    FP_ST_NEGATIVE_SELF,
    FP_ST_UNPAIRED_CALLER,
    FP_ST_UNPAIRED_HEAP,
    FP_ST_ENTITIES,
    FP_ST_UNKNOWN_PROFILE,
    FP_ST_NOTES,
};

struct fp_v8_log;

/* A mark to be: a record that is a mark in the sense of User Timing, too. */
struct fp_speed_tracer_mark {
    uint32_t event; /* index */
    struct fp_str name;
};

/* What is said of a timer when it is started: copies of the values, which point to nothing; of no
 * type when they were not told. */
struct fp_speed_tracer_timer {
    yyjson_val timeout;
    yyjson_val single_shot;
};

struct fp_speed_tracer_dump {
    struct fp_decoder *decoder;
    struct fp_str text; /* of the record being read, if it is written as yyjson would; else "" */
    int64_t offset;     /* of the record being read: bytes into the body, or index in `data` */
    struct {
        uint32_t count;
        int64_t first_offset;
        bool is_index;
    } notes[FP_ST_NOTES];

    bool is_post;                /* container D, and what is kept of it */
    bool is_index;               /* offset is an index in `data` */
    struct fp_str before_record; /* in what is kept of the dump */
    int64_t last_start_us;       /* of the top-level record before this one */
    struct fp_str shown_page;    /* URL without its fragment */

    bool may_be_early; /* no version is given, or 0.8: types may have the early numbers */
    bool is_early;     /* a record was met that only versions up to 0.8 wrote */

    struct fp_map resources;  /* hash of URL -> index */
    struct fp_map type_names; /* hash of a custom type's name -> index into custom_types */
    struct fp_str *custom_types;
    struct fp_map timer_ids; /* hash of a timer's id -> index into timers */
    struct fp_speed_tracer_timer *timers;
    struct fp_speed_tracer_mark *marks;
    struct fp_buf detail; /* of the record being read */
    struct fp_v8_log *v8; /* NULL until the first profile */
    uint32_t main_resource;
    uint32_t mark_count;
    uint32_t event_cap;
    uint32_t resource_cap;
    uint32_t custom_type_cap;
    uint32_t timer_cap;
    uint32_t mark_cap;
};

/* As fp_str_equal, for the many names of which most differ in length or first byte. */
static inline bool fp_speed_tracer_is(struct fp_str name, struct fp_str known)
{
    return name.len == known.len && known.len > 0 && name.ptr[0] == known.ptr[0] &&
           memcmp(name.ptr, known.ptr, known.len) == 0;
}

/* speed_tracer_dump.c */

/* Counts a note at the present record. */
void fp_speed_tracer_note(struct fp_speed_tracer_dump *dump, enum fp_speed_tracer_note note);

/* Adds the place of the present record to an error that was filled: a pointer to it where it is an
 * element of `data`, else its offset. Returns false. */
bool fp_speed_tracer_fail_here(const struct fp_speed_tracer_dump *dump);

/* What a note says; static. */
const char *fp_speed_tracer_note_text(enum fp_speed_tracer_note note);

/* Lists the notes in the profile's session. */
bool fp_speed_tracer_list_notes(struct fp_speed_tracer_dump *dump) FP_MUST_CHECK;

/*
 * Makes room for one more element, of which no byte is set: returns the array, moved when it was
 * full (the old one stays in the arena), NULL when memory is out.
 */
void *fp_speed_tracer_grow(struct fp_arena *arena, void *array, uint32_t count, uint32_t *cap,
                           size_t size) FP_MUST_CHECK;

/* Finds or adds a URL. The entities of a saved page are decoded. "" gives FP_INDEX_NONE. */
bool fp_speed_tracer_resource(struct fp_speed_tracer_dump *dump, struct fp_str url,
                              uint32_t *index) FP_MUST_CHECK;

/* speed_tracer_types.c */

/* The name of a type that versions up to 0.8 numbered otherwise than later ones; type becomes
 * today's number if it has one. NULL: it is the same in both. */
const char *fp_speed_tracer_early_name(int32_t *type);

/* What decides about a record's type. */
struct fp_speed_tracer_typing {
    int32_t type;          /* as the record has it */
    yyjson_val *data;      /* NULL when absent */
    yyjson_val *type_name; /* of a custom type */
    bool has_duration;
};

/* Sets an event's type and its number of today. Sets dump->is_early. */
bool fp_speed_tracer_name_type(struct fp_speed_tracer_dump *dump,
                               const struct fp_speed_tracer_typing *typing,
                               struct fp_profile_event *event) FP_MUST_CHECK;

/* speed_tracer_record.c */

/* Takes a record with its children: events, or a note of why not. */
bool fp_speed_tracer_take(struct fp_speed_tracer_dump *dump, yyjson_val *record) FP_MUST_CHECK;

/* speed_tracer_detail.c */

/* What an event's detail is made of. */
struct fp_speed_tracer_source {
    yyjson_val *record;
    yyjson_val *data;    /* NULL when absent */
    int32_t type;        /* today's */
    int32_t source_type; /* as the record has it */
    /* What is kept of a URL does not tell: */
    bool is_refresh; /* a change to the page that was shown already */
    bool has_query;  /* of a request */
    /* Of the timer that fires; NULL: not known. */
    const struct fp_speed_tracer_timer *timer;
};

/* A JSON object of `data` and the record's other members, in dump->detail; false: no memory. */
bool fp_speed_tracer_detail(struct fp_speed_tracer_dump *dump,
                            const struct fp_speed_tracer_source *source) FP_MUST_CHECK;

/* speed_tracer_timers.c */

/* Remembers what a record says of a timer, if it tells of its start. `type` is today's. */
bool fp_speed_tracer_note_timer(struct fp_speed_tracer_dump *dump, int32_t type,
                                yyjson_val *data) FP_MUST_CHECK;

/* The timer whose firing a record tells of; NULL when it does not, or its start is not known. Valid
 * until the next one is noted. */
const struct fp_speed_tracer_timer *
fp_speed_tracer_find_timer(const struct fp_speed_tracer_dump *dump, int32_t type, yyjson_val *data);

/* speed_tracer_finish.c */

/* What can be said when all records are known: types of an early version, the page, the marks. */
bool fp_speed_tracer_finish(struct fp_speed_tracer_dump *dump) FP_MUST_CHECK;

#endif
