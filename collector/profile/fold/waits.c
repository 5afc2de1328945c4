/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, waits: where the time of responses goes that no stack has.
 *
 * Each moment of a response's window is counted once, for the first of these that holds it: a stack
 * (these times are the window's self times, and not listed here), style and layout of a long frame,
 * a long frame that samples do not show, no sample in a long frame, a request in flight, no sample,
 * and else idle. A window without any sample is left out.
 *
 * The parts of a page load arrive in any order. An upload adds what the division of all parts so
 * far has more, or less, than that of the earlier parts: sums over the parts are those of the
 * whole.
 */
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/selector.h"
#include "collector/profile/text.h"

#include <stdlib.h>

/* ---- spans of the upload ---- */

static void add_span(struct fp_fold *fold, enum fp_fold_span_kind kind, int64_t start_us,
                     int64_t end_us)
{
    if (start_us < end_us)
        fold->spans[fold->span_count++] =
            (struct fp_fold_span){.kind = kind, .start_us = start_us, .end_us = end_us};
}

static void add_long_frame(struct fp_fold *fold, const struct fp_profile_long_frame *frame)
{
    const int64_t end_us = frame->start_us + frame->duration_us;
    add_span(fold, FP_FOLD_SPAN_RUNNING, frame->start_us, end_us);
    if (frame->render_us > 0)
        add_span(fold, FP_FOLD_SPAN_LAYOUT, frame->render_us, end_us);
}

bool fp_fold_list_spans(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const size_t most = 2 * (size_t)profile->long_frame_count + profile->interaction_count +
                        profile->result_count + profile->request_count;
    fold->spans = fp_fold_array(fold, most, sizeof(*fold->spans));
    if (fold->spans == NULL)
        return false;
    for (uint32_t i = 0; i < profile->long_frame_count; i++)
        add_long_frame(fold, &profile->long_frames[i]);
    for (uint32_t i = 0; i < profile->interaction_count; i++) {
        const struct fp_profile_interaction *from = &profile->interactions[i];
        const int64_t start_us = from->start_us + from->delay_us;
        add_span(fold, FP_FOLD_SPAN_RUNNING, start_us, start_us + from->processing_us);
    }
    return true;
}

bool fp_fold_add_response(struct fp_fold *fold, const struct fp_profile_result *result,
                          struct fp_str window)
{
    uint32_t at = fold->span_count;
    add_span(fold, FP_FOLD_SPAN_RESPONSE, result->start_us, result->start_us + result->duration_us);
    for (uint32_t i = 0; i < result->request_count; i++) {
        const struct fp_profile_request *from = &fold->profile->requests[result->first_request + i];
        const uint32_t request = fold->span_count;
        add_span(fold,
                 from->start_us < result->start_us ? FP_FOLD_SPAN_EARLIER : FP_FOLD_SPAN_REQUEST,
                 from->start_us, from->start_us + from->duration_us);
        if (request < fold->span_count &&
            !fp_scrub_host(from->host, fold->arena, &fold->spans[request].host))
            return false;
    }
    for (; at < fold->span_count; at++)
        fold->spans[at].window = window;
    return true;
}

/* ---- tracks ---- */

/* A span of a track: those of one track are in the order of time and do not overlap. */
struct track_span {
    int64_t start_us;
    int64_t end_us;
    uint32_t what; /* of a sample: whether it has a stack; of a request: its host */
};

struct track {
    struct track_span *pieces;
    uint32_t count;
    uint32_t at; /* while it is walked over */
};

static int compare_pieces(const void *a, const void *b)
{
    const struct track_span *left = a;
    const struct track_span *right = b;
    if (left->start_us != right->start_us)
        return left->start_us < right->start_us ? -1 : 1;
    if (left->end_us != right->end_us)
        return left->end_us < right->end_us ? -1 : 1;
    return left->what < right->what ? -1 : left->what > right->what;
}

/* Sorts pieces. A moment that several hold becomes that of the one which begins first. */
static void lay_out(struct track *track)
{
    uint32_t kept = 0;
    qsort(track->pieces, track->count, sizeof(*track->pieces), compare_pieces);
    for (uint32_t i = 0; i < track->count; i++) {
        struct track_span piece = track->pieces[i];
        if (kept > 0 && piece.start_us < track->pieces[kept - 1].end_us)
            piece.start_us = track->pieces[kept - 1].end_us;
        if (piece.start_us < piece.end_us)
            track->pieces[kept++] = piece;
    }
    track->count = kept;
}

/* Moves to the first piece that ends after a time. */
static void move_to(struct track *track, int64_t time_us)
{
    uint32_t low = 0;
    uint32_t high = track->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (track->pieces[middle].end_us <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    track->at = low;
}

/* Returns the piece at a moment, NULL if there is none, and lowers *next_us to where that changes.
 */
static const struct track_span *look(struct track *track, int64_t time_us, int64_t *next_us)
{
    while (track->at < track->count && track->pieces[track->at].end_us <= time_us)
        track->at++;
    if (track->at == track->count)
        return NULL;
    const struct track_span *piece = &track->pieces[track->at];
    const bool holds = piece->start_us <= time_us;
    const int64_t change_us = holds ? piece->end_us : piece->start_us;
    if (change_us < *next_us)
        *next_us = change_us;
    return holds ? piece : NULL;
}

/* ---- dividing ---- */

enum share {
    SHARE_CODE, /* stacks have it */
    SHARE_LAYOUT,
    SHARE_HIDDEN,
    SHARE_UNSEEN,
    SHARE_IDLE,
    SHARE_WAITING, /* by host */
    SHARE_COUNT
};

/* The parts of a page load up to some upload. */
struct load_state {
    struct track samples;
    struct track running;
    struct track layout;
    bool is_watched;
};

/* A response or a request. */
struct wait {
    struct fp_str window;
    struct track_span piece;
    enum fp_fold_span_kind kind;
    bool is_own; /* of this upload */
};

struct dividing {
    struct fp_fold *fold;
    struct load_state before; /* without this upload */
    struct load_state after;
    struct wait *waits; /* by window */
    uint32_t wait_count;
    struct fp_map hosts; /* from a hash of the host to an index */
    struct fp_str *host_names;
    uint32_t host_count;
    size_t steps;

    /* The sums of the name whose windows are being divided. */
    int64_t shares_us[SHARE_COUNT];
    int64_t *waiting_us; /* by host; all zero between two names */
    int64_t windows;     /* that have samples */
    struct track windows_of;
    struct track requests;
    struct track earlier; /* requests that began before the response */
};

static enum share share_of(const struct track_span *sample, const struct track_span *layout,
                           const struct track_span *running, const struct track_span *request)
{
    if (sample != NULL && sample->what != 0)
        return SHARE_CODE;
    if (layout != NULL)
        return SHARE_LAYOUT;
    if (running != NULL)
        return sample != NULL ? SHARE_HIDDEN : SHARE_UNSEEN;
    if (request != NULL)
        return SHARE_WAITING;
    return sample != NULL ? SHARE_IDLE : SHARE_UNSEEN;
}

/* Divides a window, and adds the shares with this sign. */
static void divide_window(struct dividing *dividing, struct load_state *state,
                          const struct track_span *window, int sign)
{
    struct track *const tracks[] = {&state->samples, &state->layout, &state->running,
                                    &dividing->requests, &dividing->earlier};
    for (size_t i = 0; i < FP_COUNT(tracks); i++)
        move_to(tracks[i], window->start_us);
    if (state->samples.at == state->samples.count ||
        state->samples.pieces[state->samples.at].start_us >= window->end_us)
        return;
    dividing->windows += sign;
    int64_t next_us;
    for (int64_t at_us = window->start_us; at_us < window->end_us; at_us = next_us) {
        const struct track_span *at[FP_COUNT(tracks)];
        next_us = window->end_us;
        for (size_t i = 0; i < FP_COUNT(tracks); i++)
            at[i] = look(tracks[i], at_us, &next_us);
        const struct track_span *request = at[3] != NULL ? at[3] : at[4];
        const enum share share = share_of(at[0], at[1], at[2], request);
        const int64_t length_us = sign * (next_us - at_us);
        dividing->shares_us[share] += length_us;
        if (share == SHARE_WAITING)
            dividing->waiting_us[request->what] += length_us;
        dividing->steps++;
    }
}

/* Takes windows and requests of a range of waits: all, or those of earlier parts. */
static void take_waits(struct dividing *dividing, const struct wait *waits, uint32_t count,
                       bool with_own)
{
    dividing->windows_of.count = dividing->requests.count = dividing->earlier.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct track *track = waits[i].kind == FP_FOLD_SPAN_RESPONSE  ? &dividing->windows_of
                              : waits[i].kind == FP_FOLD_SPAN_REQUEST ? &dividing->requests
                                                                      : &dividing->earlier;
        if (with_own || !waits[i].is_own)
            track->pieces[track->count++] = waits[i].piece;
    }
    lay_out(&dividing->requests);
    lay_out(&dividing->earlier);
    lay_out(&dividing->windows_of);
}

/* Joins windows that abut. */
static void join_windows(struct track *windows)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < windows->count; i++)
        if (joined > 0 && windows->pieces[joined - 1].end_us == windows->pieces[i].start_us)
            windows->pieces[joined - 1].end_us = windows->pieces[i].end_us;
        else
            windows->pieces[joined++] = windows->pieces[i];
    windows->count = joined;
}

static void divide_state(struct dividing *dividing, struct load_state *state,
                         const struct wait *waits, uint32_t count, int sign)
{
    if (!state->is_watched)
        return;
    take_waits(dividing, waits, count, sign > 0);
    join_windows(&dividing->windows_of);
    for (uint32_t i = 0; i < dividing->windows_of.count; i++)
        divide_window(dividing, state, &dividing->windows_of.pieces[i], sign);
    dividing->steps += count + dividing->host_count;
}

/* ---- adding to the delta ---- */

/* Finds what the delta has of a window's stacks. False: the window is over a limit. */
static bool find_self(const struct fp_fold *fold, struct fp_str window, int64_t *self_us)
{
    const struct fp_delta *delta = fold->delta;
    const struct fp_timing_key key = {.kind = FP_TIMING_WINDOW, .name = window};
    const uint32_t timing = fp_map_get(&fold->timings, fp_timing_id(fold->site_id, &key));
    *self_us = 0;
    for (uint32_t i = 0; timing != FP_MAP_NONE && i < delta->measured_count; i++) {
        if (delta->measured[i].timing != timing)
            continue;
        *self_us = delta->measured[i].profiled_us - delta->measured[i].unattributed_us;
        return true;
    }
    return false;
}

static bool add_share(struct fp_fold *fold, struct fp_timing_key key, uint32_t count, int64_t us)
{
    uint32_t timing;
    if (count == 0 || (us == 0 && key.source.len > 0))
        return true;
    if (key.function.len == 0)
        timing = fp_fold_timing(fold, &key);
    else if (!fp_fold_bounded(fold, key, &timing))
        return false;
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_sum_up(fold, timing, count, us);
    return true;
}

/* Adds the shares of a name. Without a source: how many windows they are of. */
static bool add_shares(struct dividing *dividing, struct fp_str window)
{
    static const struct {
        enum share share;
        struct fp_str name;
    } named[] = {{SHARE_LAYOUT, {"rendering", 9}},
                 {SHARE_HIDDEN, {"hidden", 6}},
                 {SHARE_UNSEEN, {"unseen", 6}},
                 {SHARE_IDLE, {"idle", 4}}};
    struct fp_fold *fold = dividing->fold;
    struct fp_timing_key key = {.kind = FP_TIMING_WAIT, .name = window};
    const uint32_t windows = dividing->windows > 0 ? (uint32_t)dividing->windows : 0;
    if (!add_share(fold, key, windows, 0))
        return false;
    for (size_t i = 0; i < FP_COUNT(named); i++) {
        key.source = named[i].name;
        if (!add_share(fold, key, 1, dividing->shares_us[named[i].share]))
            return false;
    }
    key.source = FP_STR("waiting");
    for (uint32_t i = 0; i < dividing->host_count; i++) {
        key.function = dividing->host_names[i];
        if (!add_share(fold, key, 1, dividing->waiting_us[i]))
            return false;
    }
    return true;
}

static bool divide_name(struct dividing *dividing, struct fp_str window, const struct wait *waits,
                        uint32_t count)
{
    int64_t self_us;
    memset(dividing->shares_us, 0, sizeof(dividing->shares_us));
    dividing->windows = 0;
    divide_state(dividing, &dividing->before, waits, count, -1);
    divide_state(dividing, &dividing->after, waits, count, 1);
    const bool is_measured = find_self(dividing->fold, window, &self_us);
    FP_ASSERT(!is_measured || self_us == dividing->shares_us[SHARE_CODE]);
    const bool added =
        (!is_measured && dividing->shares_us[SHARE_CODE] != 0) || add_shares(dividing, window);
    memset(dividing->waiting_us, 0, dividing->host_count * sizeof(*dividing->waiting_us));
    return added;
}

/* ---- collecting ---- */

static uint32_t count_spans(const struct fp_fold *fold)
{
    uint32_t count = fold->span_count;
    for (size_t i = 0; i < fold->context->earlier_count; i++)
        count += fold->context->earlier[i]->span_count;
    return count;
}

static void add_samples(struct track *track, const struct fp_fold_sample *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        track->pieces[track->count++] = (struct track_span){
            samples[i].start_us, fp_fold_end_us(&samples[i]), samples[i].stack != FP_INDEX_NONE};
}

static bool add_wait(struct dividing *dividing, const struct fp_fold_span *span, bool is_own)
{
    struct wait wait = {.window = span->window,
                        .piece = {span->start_us, span->end_us, 0},
                        .kind = span->kind,
                        .is_own = is_own};
    if (wait.kind != FP_FOLD_SPAN_RESPONSE) {
        uint32_t *host = &wait.piece.what;
        *host = fp_map_put(&dividing->hosts, fp_hash64(span->host.ptr, span->host.len),
                           dividing->host_count);
        if (*host == FP_MAP_NONE)
            return false;
        if (*host == dividing->host_count)
            dividing->host_names[dividing->host_count++] = span->host;
    }
    dividing->waits[dividing->wait_count++] = wait;
    return true;
}

static bool add_spans(struct dividing *dividing, struct load_state *state,
                      const struct fp_fold_span *spans, uint32_t count, bool is_own)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct track_span piece = {spans[i].start_us, spans[i].end_us, 0};
        if (spans[i].kind == FP_FOLD_SPAN_RUNNING)
            state->running.pieces[state->running.count++] = piece;
        else if (spans[i].kind == FP_FOLD_SPAN_LAYOUT)
            state->layout.pieces[state->layout.count++] = piece;
        else if (!add_wait(dividing, &spans[i], is_own))
            return false;
    }
    return true;
}

static bool make_track(struct fp_fold *fold, size_t count, struct track *track)
{
    track->pieces = fp_fold_array(fold, count, sizeof(*track->pieces));
    return track->pieces != NULL;
}

static bool make_state(struct fp_fold *fold, struct load_state *state, size_t samples, size_t spans)
{
    return make_track(fold, samples, &state->samples) && make_track(fold, spans, &state->running) &&
           make_track(fold, spans, &state->layout);
}

static void lay_out_state(struct load_state *state)
{
    lay_out(&state->samples);
    lay_out(&state->running);
    lay_out(&state->layout);
}

/* Copies a track to one with room for more. */
static void copy_track(struct track *to, const struct track *from)
{
    if (from->count > 0)
        memcpy(to->pieces, from->pieces, from->count * sizeof(*from->pieces));
    to->count = from->count;
}

static bool collect(struct dividing *dividing)
{
    struct fp_fold *fold = dividing->fold;
    const struct fp_fold_context *context = fold->context;
    struct load_state *before = &dividing->before;
    struct load_state *after = &dividing->after;
    for (size_t i = 0; i < context->earlier_count; i++) {
        const struct fp_part *part = context->earlier[i];
        add_samples(&before->samples, part->samples, part->sample_count);
        if (!add_spans(dividing, before, part->spans, part->span_count, false))
            return false;
    }
    copy_track(&after->samples, &before->samples);
    copy_track(&after->running, &before->running);
    copy_track(&after->layout, &before->layout);
    add_samples(&after->samples, fold->own, fold->own_count);
    before->is_watched = fold->was_watched;
    after->is_watched = true;
    if (!add_spans(dividing, after, fold->spans, fold->span_count, true))
        return false;
    lay_out_state(before);
    lay_out_state(after);
    return true;
}

static bool prepare(struct dividing *dividing)
{
    struct fp_fold *fold = dividing->fold;
    const uint32_t spans = count_spans(fold);
    size_t samples = fold->own_count;
    for (size_t i = 0; i < fold->context->earlier_count; i++)
        samples += fold->context->earlier[i]->sample_count;
    dividing->waits = fp_fold_array(fold, spans, sizeof(*dividing->waits));
    dividing->host_names = fp_fold_array(fold, spans, sizeof(*dividing->host_names));
    dividing->waiting_us = fp_arena_array(fold->arena, spans, sizeof(*dividing->waiting_us));
    return dividing->waits != NULL && dividing->host_names != NULL &&
           dividing->waiting_us != NULL && make_state(fold, &dividing->before, samples, spans) &&
           make_state(fold, &dividing->after, samples, spans) &&
           make_track(fold, spans, &dividing->windows_of) &&
           make_track(fold, spans, &dividing->requests) &&
           make_track(fold, spans, &dividing->earlier) && collect(dividing);
}

static int compare_texts(struct fp_str left, struct fp_str right)
{
    const size_t len = left.len < right.len ? left.len : right.len;
    const int order = len > 0 ? memcmp(left.ptr, right.ptr, len) : 0;
    return order != 0 ? order : left.len < right.len ? -1 : left.len > right.len;
}

static int compare_waits(const void *a, const void *b)
{
    const struct wait *left = a;
    const struct wait *right = b;
    const int order = compare_texts(left->window, right->window);
    return order != 0 ? order : compare_pieces(&left->piece, &right->piece);
}

/* Makes room for the timings: per name one per share and one of its windows, and per name, or of
 * all names, one per request. */
static bool make_room(struct dividing *dividing)
{
    struct fp_delta *delta = dividing->fold->delta;
    const size_t most =
        delta->timing_count + (SHARE_COUNT + 1) * ((size_t)dividing->wait_count + 1);
    struct fp_delta_timing *timings = fp_fold_array(dividing->fold, most, sizeof(*timings));
    if (timings != NULL && delta->timing_count > 0)
        memcpy(timings, delta->timings, delta->timing_count * sizeof(*timings));
    delta->timings = timings;
    dividing->fold->timing_max = most;
    return timings != NULL;
}

static bool divide(struct dividing *dividing)
{
    const struct wait *waits = dividing->waits;
    const uint32_t count = dividing->wait_count;
    qsort(dividing->waits, count, sizeof(*dividing->waits), compare_waits);
    if (!make_room(dividing) || !divide_name(dividing, FP_FOLD_RESPONSE, waits, count))
        return false;
    for (uint32_t first = 0, end; first < count; first = end) {
        const struct fp_str window = waits[first].window;
        end = first + 1;
        while (end < count && compare_texts(waits[end].window, window) == 0)
            end++;
        if (fp_str_equal(window, FP_FOLD_RESPONSE))
            continue;
        if (dividing->steps > FP_FOLD_MEASURED_STEPS_MAX)
            return true;
        if (!divide_name(dividing, window, waits + first, end - first))
            return false;
    }
    return true;
}

bool fp_fold_waits(struct fp_fold *fold)
{
    struct dividing dividing = {.fold = fold};
    if (!(fold->is_watched || fold->was_watched) || count_spans(fold) == 0)
        return true;
    fp_map_init(&dividing.hosts, UINT32_MAX);
    const bool divided = prepare(&dividing) && (dividing.wait_count == 0 || divide(&dividing));
    fp_map_release(&dividing.hosts);
    return divided;
}
