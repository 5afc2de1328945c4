/*
 * Opera Scope, parts: what the files of this decoder share: the service's messages, the session
 * that is being put together, what is noted about it.
 *
 * Functions that return bool give false after they have filled decoder->error, if not said
 * otherwise. One upload, one thread.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_PARTS_H
#define FP_FORMAT_OPERA_SCOPE_PARTS_H

#include "collector/base/map.h"
#include "collector/format/decoder.h"

/*
 * Messages. The service knows their fields by number; JSON has them as a list in that order (null
 * for what is missing in between) or as an object by field name.
 */

enum { FP_SCOPE_FIELDS_MAX = 16 };

struct fp_scope_type {
    const char *fields[FP_SCOPE_FIELDS_MAX + 1]; /* in the order of their numbers; NULL ends */
    const struct fp_scope_type *of[FP_SCOPE_FIELDS_MAX]; /* of those that are messages */
    unsigned repeated; /* a bit for each field that is a list of such */
};

enum fp_scope_session_field { FP_SCOPE_SESSION_ID, FP_SCOPE_WINDOW_ID, FP_SCOPE_TIMELINES };
enum fp_scope_timeline_field { FP_SCOPE_TIMELINE_ID, FP_SCOPE_FRAME_ID };
enum fp_scope_request_field {
    FP_SCOPE_REQUEST_SESSION,
    FP_SCOPE_REQUEST_TIMELINE,
    FP_SCOPE_REQUEST_MODE,
    FP_SCOPE_REQUEST_EVENT,
    FP_SCOPE_REQUEST_DEPTH,
    FP_SCOPE_REQUEST_TYPES,
    FP_SCOPE_REQUEST_INTERVAL,
};
enum fp_scope_interval_field { FP_SCOPE_INTERVAL_START, FP_SCOPE_INTERVAL_END };
enum fp_scope_events_field { FP_SCOPE_EVENTS_INTERVAL, FP_SCOPE_EVENTS_LIST };
enum fp_scope_event_field {
    FP_SCOPE_EVENT_TYPE,
    FP_SCOPE_EVENT_TIME,
    FP_SCOPE_EVENT_OVERHEAD,
    FP_SCOPE_EVENT_HITS,
    FP_SCOPE_EVENT_INTERVAL,
    FP_SCOPE_EVENT_ID,
    FP_SCOPE_EVENT_PARENT,
    FP_SCOPE_EVENT_CHILD_COUNT,
    FP_SCOPE_EVENT_AGGREGATED_TIME,
    FP_SCOPE_EVENT_AGGREGATED_OVERHEAD,
    FP_SCOPE_EVENT_SELECTOR, /* from here on the details, of which an event has one at most */
    FP_SCOPE_EVENT_THREAD,
    FP_SCOPE_EVENT_DOCUMENT,
    FP_SCOPE_EVENT_CSS,
    FP_SCOPE_EVENT_SCRIPT,
    FP_SCOPE_EVENT_PAINT,
};

extern const struct fp_scope_type fp_scope_session;
extern const struct fp_scope_type fp_scope_timeline;
extern const struct fp_scope_type fp_scope_request;
extern const struct fp_scope_type fp_scope_interval;
extern const struct fp_scope_type fp_scope_events;
extern const struct fp_scope_type fp_scope_event;
extern const struct fp_scope_type fp_scope_start;      /* StartProfilerArg */
extern const struct fp_scope_type fp_scope_session_id; /* and what else has but that */
extern const struct fp_scope_type fp_scope_area;

struct fp_scope_message {
    const struct fp_scope_type *type;
    yyjson_val *fields[FP_SCOPE_FIELDS_MAX]; /* NULL: absent or null */
    bool is_list;
    size_t list_len; /* of a list: its elements, known ones or not */
};

/* Reads a message in either form; elements and members that the type does not have are passed over.
 * False, without an error, when the value is neither a list nor an object. */
bool fp_scope_read(yyjson_val *value, const struct fp_scope_type *type,
                   struct fp_scope_message *message) FP_MUST_CHECK;

/* The place of a field of a message. */
struct fp_place fp_scope_field_place(const struct fp_scope_message *message,
                                     const struct fp_place *place, size_t field);

/* Adds a message to the content, without what the type does not have; what is of a wrong type stays
 * so. type NULL: a value that is no message. */
void fp_scope_keep(struct fp_decoder *decoder, yyjson_val *value, const struct fp_scope_type *type);

/* An unsigned 32-bit integer, 1.0 and 1e0 included. False, without an error, when it is none. */
bool fp_scope_get_uint(yyjson_val *value, uint32_t *number) FP_MUST_CHECK;

/* A signed 32-bit integer. False, without an error, when it is none. */
bool fp_scope_get_int(yyjson_val *value, int32_t *number) FP_MUST_CHECK;

/* A time in ms as whole µs. False, without an error, when it is none or beyond 2^53 µs. */
bool fp_scope_get_time(yyjson_val *value, int64_t *time_us) FP_MUST_CHECK;

/* What an optional field holds; absent: unchanged. place is the message's. */
bool fp_scope_read_uint(struct fp_decoder *decoder, const struct fp_place *place,
                        const struct fp_scope_message *message, size_t field,
                        uint32_t *number) FP_MUST_CHECK;

/* Notes. */

enum fp_scope_note {
    FP_SCOPE_FINE, /* nothing to note */
    FP_SCOPE_NO_MESSAGE,
    FP_SCOPE_NO_TYPE,
    FP_SCOPE_NO_TIME,
    FP_SCOPE_NO_OVERHEAD,
    FP_SCOPE_NO_HITS,
    FP_SCOPE_LONG_TIME,
    FP_SCOPE_BAD_INTERVAL,
    FP_SCOPE_BACKWARD_INTERVAL,
    FP_SCOPE_BAD_OPTION,
    FP_SCOPE_DUPLICATE_ID,
    FP_SCOPE_KNOWN_EVENT,
    FP_SCOPE_CYCLE,
    FP_SCOPE_KNOWN_LIST, /* the last by which an event is left out */
    FP_SCOPE_OTHER_DETAIL,
    FP_SCOPE_BAD_DETAIL,
    FP_SCOPE_OTHER_SERVICE,
    FP_SCOPE_STATUS,
    FP_SCOPE_SERVICE_EVENT,
    FP_SCOPE_UNASKED,
    FP_SCOPE_CUT_OFF,
    FP_SCOPE_FLAGS, /* what comes from here on is kept as it is */
    FP_SCOPE_UNANSWERED = FP_SCOPE_FLAGS,
    FP_SCOPE_REPEATED_ID,
    FP_SCOPE_UNKNOWN_TIMELINE,
    FP_SCOPE_AGGREGATE_BELOW_TIME,
    FP_SCOPE_AGGREGATE_SUM,
    FP_SCOPE_UNORDERED,
    FP_SCOPE_SPAN,
    FP_SCOPE_NOTE_COUNT
};

/* The session. */

/* What is known while a session is put together. */
struct fp_scope {
    struct fp_decoder *decoder;
    yyjson_alc *details;         /* owned: memory of the detail being read, used again and again */
    int64_t line_offset;         /* of the frame being read, -1: an envelope */
    const struct fp_place *list; /* of the events being read, in their reply */
    uint32_t *frame_ids;         /* of the session's timelines */
    uint32_t frame_count;
    struct fp_map timelines;          /* timelineID: index into frame_ids */
    struct fp_map lists;              /* hash of timeline, mode and filter */
    struct fp_map seen;               /* timelineID and eventID of an unreduced event: its index */
    struct fp_map resources;          /* hash of the URL: index */
    enum fp_scope_note first_refusal; /* of an event; FP_SCOPE_FINE: none */
    uint32_t *depths;                 /* of the profile's events; 1: top level */
    uint32_t resource_room;
    uint32_t depth_room;
    uint32_t event_room;
    uint32_t timeline_room;
};

/* Begins a session in decoder->profile, which the caller has cleared. */
bool fp_scope_begin(struct fp_scope *scope, struct fp_decoder *decoder) FP_MUST_CHECK;

/* An upload must have a session, and events if it had any to begin with. */
bool fp_scope_finish(struct fp_scope *scope) FP_MUST_CHECK;

/* Forgets what was needed on the way; for every scope that was begun. */
void fp_scope_release(struct fp_scope *scope);

#define FP_SCOPE_WHOLE_LIST SIZE_MAX

/* Notes something; index: of the element of the list that it was met in, FP_SCOPE_WHOLE_LIST. */
void fp_scope_add_note(struct fp_scope *scope, enum fp_scope_note note, uint32_t count,
                       size_t index);

/* Adds what was noted of one session to what was of another. */
void fp_scope_take_notes(struct fp_profile_session *session, const struct fp_profile_session *from);

/*
 * The array, or a longer copy in the arena when it has no room for `needed` elements; NULL when the
 * arena is full.
 */
void *fp_scope_grow(struct fp_scope *scope, void *array, size_t size, uint32_t needed,
                    uint32_t *room) FP_MUST_CHECK;

/* Takes a Session message. */
bool fp_scope_take_session(struct fp_scope *scope, const struct fp_place *place,
                           yyjson_val *value) FP_MUST_CHECK;

/* Which events were asked for. */
struct fp_scope_query {
    uint32_t session_id; /* 0: not said */
    uint32_t timeline_id;
    uint32_t event_id; /* that all of them are inside, 0: not said */
    enum fp_reduce_mode mode;
    uint64_t key; /* hash of timeline, mode and filter, whichever way they are written */
};

/* Whether a message of GetEvents can be its request, a GetEventsArg; else it is a reply. */
bool fp_scope_is_query(yyjson_val *value);

/* A message is none of a draft of the service, or the upload is refused. */
bool fp_scope_check_draft(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *value) FP_MUST_CHECK;

/* Reads a GetEventsArg message. */
bool fp_scope_read_query(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         struct fp_scope_query *query) FP_MUST_CHECK;

/* A query is of the session, or the upload is refused. */
bool fp_scope_take_query_session(struct fp_scope *scope, const struct fp_place *place,
                                 const struct fp_scope_query *query) FP_MUST_CHECK;

/* Takes the Events message that answers a query, whose session is taken. */
bool fp_scope_take_events(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                          const struct fp_scope_query *query) FP_MUST_CHECK;

/* Events. */

/* An event of a reply on its way into the profile. */
struct fp_scope_item {
    struct fp_profile_event event; /* its parent is set when it gets its place */
    size_t index;                  /* in the reply's list */
    uint32_t parent_id;            /* 0: none */
    bool has_start;
    bool has_child_count;
    bool has_aggregated;
    double time_ms;
    double aggregated_ms;

    /* Of the tree. */
    uint32_t known_parent; /* index among the profile's events of earlier lists, FP_INDEX_NONE */
    enum fp_scope_state { FP_SCOPE_WAITING, FP_SCOPE_CLIMBED, FP_SCOPE_PLACED, FP_SCOPE_OUT } state;
    uint32_t parent;   /* index among the items, FP_INDEX_NONE */
    uint32_t position; /* index among the profile's events */
    uint32_t child_count;
    double children_ms; /* aggregated time of the children that have one */
    bool has_all_aggregated;
};

/*
 * Reads one event's scalars, without its detail. FP_SCOPE_FINE, or why it is refused; *item is then
 * undefined.
 */
enum fp_scope_note fp_scope_read_event(const struct fp_scope *scope,
                                       const struct fp_scope_message *message,
                                       struct fp_scope_item *item) FP_MUST_CHECK;

/* Reads the detail that an event has, and its aggregates, into event->detail and event->resource;
 * what is wrong with it is noted. */
bool fp_scope_read_detail(struct fp_scope *scope, const struct fp_scope_message *message,
                          struct fp_scope_item *item) FP_MUST_CHECK;

/* The key of a timeline's event in fp_scope.seen. */
static inline uint64_t fp_scope_event_key(const struct fp_scope_query *query, uint32_t event_id)
{
    return (uint64_t)query->timeline_id << 32 | event_id;
}

/* The items of a list, and where it stands. */
struct fp_scope_items {
    struct fp_place place;
    struct fp_scope_item *items;
    uint32_t count;
    struct fp_map ids; /* owned: eventID to index */
};

/*
 * Appends the items that answer a query to the profile's events, for which there is room: as they
 * come, but parents first. Those that are their own ancestors are left out. An event whose parent
 * is neither here nor in an earlier list of the timeline's unreduced events stands in the one that
 * the query asks for, if that is there, else at the top.
 */
bool fp_scope_place_events(struct fp_scope *scope, const struct fp_scope_query *query,
                           const struct fp_scope_items *items) FP_MUST_CHECK;

/* Notes what does not add up in a list of placed items. */
void fp_scope_check_sums(struct fp_scope *scope, const struct fp_scope_items *items);

#endif
