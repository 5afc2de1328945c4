/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, query: the messages that say which session this is (Session), and which of its
 * events were requested (GetEventsArg).
 *
 * Functions that return bool give false after they have filled decoder->error, unless they say
 * otherwise.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_QUERY_H
#define FP_FORMAT_OPERA_SCOPE_QUERY_H

#include "collector/format/opera_scope/message.h"
#include "collector/format/opera_scope/scope.h"

/* Which events were requested. */
struct fp_scope_query {
    uint32_t session_id; /* 0: not given */
    uint32_t timeline_id;
    uint32_t event_id; /* the ancestor of all of them, 0: not given */
    enum fp_reduce_mode mode;
    uint64_t key; /* hash of timeline, mode and filter in a normal form */
};

/* Reads a Session message into the profile's session. */
bool fp_scope_read_session(struct fp_scope *scope, const struct fp_place *place,
                           yyjson_val *value) FP_MUST_CHECK;

/* True if a message of GetEvents can be its request, a GetEventsArg; otherwise it is a reply. No
 * error is filled. */
bool fp_scope_is_request(yyjson_val *value);

/* Refuses a message of a draft of the service. */
bool fp_scope_check_draft(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *value) FP_MUST_CHECK;

/* Reads a GetEventsArg message. */
bool fp_scope_read_query(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                         struct fp_scope_query *query) FP_MUST_CHECK;

/* Makes the query's session that of the scope, or refuses a query of another session. */
bool fp_scope_set_query_session(struct fp_scope *scope, const struct fp_place *place,
                                const struct fp_scope_query *query) FP_MUST_CHECK;

#endif
