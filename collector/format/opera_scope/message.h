/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, message: the service's messages, and the values in them.
 *
 * The service knows the fields of a message by number. JSON has a message either as a list in that
 * order (null for a missing field) or as an object by field name.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_MESSAGE_H
#define FP_FORMAT_OPERA_SCOPE_MESSAGE_H

#include "collector/format/decoder.h"

enum { FP_SCOPE_FIELDS_MAX = 16 };

/* A message's type. */
struct fp_scope_type {
    const char *fields[FP_SCOPE_FIELDS_MAX + 1];         /* names by number; NULL ends */
    const struct fp_scope_type *of[FP_SCOPE_FIELDS_MAX]; /* NULL: not a message */
    unsigned repeated; /* bits of the fields that are lists of messages */
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
    FP_SCOPE_EVENT_SELECTOR, /* the first detail; an event has at most one */
    FP_SCOPE_EVENT_THREAD,
    FP_SCOPE_EVENT_DOCUMENT,
    FP_SCOPE_EVENT_CSS,
    FP_SCOPE_EVENT_SCRIPT,
    FP_SCOPE_EVENT_PAINT, /* the last detail */
};

extern const struct fp_scope_type fp_scope_session_type;
extern const struct fp_scope_type fp_scope_timeline_type;
extern const struct fp_scope_type fp_scope_request_type; /* GetEventsArg */
extern const struct fp_scope_type fp_scope_interval_type;
extern const struct fp_scope_type fp_scope_events_type;
extern const struct fp_scope_type fp_scope_event_type;
extern const struct fp_scope_type fp_scope_start_type;      /* StartProfilerArg */
extern const struct fp_scope_type fp_scope_session_id_type; /* messages with no other field */
extern const struct fp_scope_type fp_scope_area_type;

struct fp_scope_message {
    const struct fp_scope_type *type;
    yyjson_val *fields[FP_SCOPE_FIELDS_MAX]; /* NULL: absent or null */
    bool is_list;
    size_t list_len; /* elements of a list, known or not */
};

/* Reads a message in either form. Ignores elements and members that the type does not have. False,
 * without an error, if the value is neither a list nor an object. */
bool fp_scope_read_message(yyjson_val *value, const struct fp_scope_type *type,
                           struct fp_scope_message *message) FP_MUST_CHECK;

/* Returns the place of a field of a message. */
struct fp_place fp_scope_field_place(const struct fp_scope_message *message,
                                     const struct fp_place *place, size_t field);

/* Appends a message to the decoder's content without the fields that its type does not have.
 * Replaces a value of a wrong type by another of a wrong type. type NULL: not a message. */
void fp_scope_add_content(struct fp_decoder *decoder, yyjson_val *value,
                          const struct fp_scope_type *type);

/* Reads an unsigned 32-bit integer; 1.0 and 1e0 are integers. False, without an error and with
 * *number unchanged, if the value is not one. */
bool fp_scope_get_uint(yyjson_val *value, uint32_t *number) FP_MUST_CHECK;

/* Reads an optional field that is an unsigned 32-bit integer; absent: *number is unchanged. place
 * is the message's. False after the error is filled. */
bool fp_scope_read_uint(struct fp_decoder *decoder, const struct fp_place *place,
                        const struct fp_scope_message *message, size_t field,
                        uint32_t *number) FP_MUST_CHECK;

#endif
