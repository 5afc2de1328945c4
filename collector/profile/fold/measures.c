/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, measures: what ran inside the windows of each measure.
 *
 * A measure's window is [start, start + duration), and so are those of interactions, long animation
 * frames and vitals, whose names are of kind window. A window owns what of the samples' spans lies
 * in it. The overlapping windows of one name are joined, so a moment counts once per name; it
 * counts for every name whose window holds it. Measures may overlap in any way, so the result can
 * be far larger than the upload: names with the most samples come first, and whole names past a
 * limit are left out.
 */
#include "collector/profile/fold/fold.h"
#include "collector/profile/fold/internal.h"

/* Those of one name, as a part of a list. */
struct window_range {
    uint32_t first;
    uint32_t end;
};

struct name {
    struct window_range all;
    struct window_range added;
    uint32_t touched; /* samples, each as often as windows touch it */
    uint32_t timing;
    enum {
        RANK_RUNNING, /* before all others: hidden time comes from it */
        RANK_NAMED,
        RANK_HIDDEN /* sums of samples without a stack only */
    } rank;
};

/* Samples and time of one stack: first its own, later with its descendants'. */
struct measured_stack_sum {
    int64_t us;
    uint32_t samples;
    bool is_met;
};

struct measured_frame_sum {
    int64_t self_us;
    int64_t total_us;
    uint32_t samples;
    bool is_met;
};

struct measuring {
    struct fp_fold *fold;
    struct fp_fold_windows all; /* of all parts so far: the upload's own spans count in them */
    struct fp_fold_windows
        added; /* what the upload adds to earlier parts': their spans count there */
    struct name *names;
    uint32_t name_count;
    uint32_t hidden_count; /* of these, the last ones */
    uint32_t taken;        /* of the other names, as many as may be joined */
    uint32_t taken_hidden;
    uint32_t row_max; /* of measured_frames */
    size_t steps;     /* stacks and samples looked at so far */

    /* All zero between two names or markers. */
    struct measured_stack_sum *stacks;
    struct measured_frame_sum *frames;

    /* Stacks of the current name and marker, and their ancestors; each follows its parent. */
    uint32_t *met;
    uint32_t met_count;
    uint32_t *met_frames;
};

/* Windows. */

/* Copies windows and joins them. False: no memory. */
static bool list_windows(struct fp_fold *fold, const struct fp_fold_window *windows, uint32_t count,
                         struct fp_fold_windows *list)
{
    list->items = fp_fold_array(fold, count, sizeof(*list->items));
    list->count = count;
    if (list->items == NULL)
        return false;
    if (count > 0)
        memcpy(list->items, windows, count * sizeof(*windows));
    fp_fold_join_windows(list);
    return true;
}

/* Lists all windows, and what the upload's own add to those of earlier parts. Before the first part
 * with a trace, nothing was counted: then all are added. False: no memory. */
static bool list_all(struct measuring *measuring)
{
    struct fp_fold *fold = measuring->fold;
    const uint32_t own_count = fold->own_window_count;
    const uint32_t earlier_count = fold->window_count - own_count;
    struct fp_fold_windows own;
    struct fp_fold_windows earlier;
    if (!list_windows(fold, fold->windows, fold->window_count, &measuring->all) ||
        !list_windows(fold, fold->windows, own_count, &own) ||
        !list_windows(fold, fold->windows + own_count, earlier_count, &earlier))
        return false;
    if (!fold->was_watched) {
        measuring->added = measuring->all;
        return true;
    }
    return fp_fold_subtract_windows(fold, &own, &earlier, &measuring->added);
}

/* Names. */

static int compare_names(const void *a, const void *b)
{
    const struct name *left = a;
    const struct name *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->touched != right->touched)
        return left->touched > right->touched ? -1 : 1;
    return left->timing < right->timing ? -1 : left->timing > right->timing;
}

/* Samples, by time, with spans that do not overlap. */
struct span_list {
    const struct fp_fold_sample *items;
    uint32_t count;
};

static struct span_list own_spans(const struct fp_fold *fold)
{
    return (struct span_list){fold->own, fold->own_count};
}

static struct span_list joined_spans(const struct fp_fold *fold)
{
    return (struct span_list){fold->joined, fold->joined_count};
}

static uint32_t count_touched(struct span_list spans, const struct fp_fold_windows *windows,
                              struct window_range range)
{
    uint32_t count = 0;
    for (uint32_t w = range.first; w < range.end; w++) {
        const struct fp_fold_window *window = &windows->items[w];
        uint32_t first = fp_fold_first_sample(spans.items, spans.count, window->start_us);
        uint32_t last = fp_fold_first_sample(spans.items, spans.count, window->end_us);
        count += last - first + (last < spans.count && spans.items[last].start_us < window->end_us);
    }
    return count;
}

/* Returns the windows of a timing in a list, from the first that is not of an earlier timing. */
static struct window_range find_range(const struct fp_fold_windows *list, uint32_t first,
                                      uint32_t timing)
{
    while (first < list->count && list->items[first].timing < timing)
        first++;
    struct window_range range = {first, first};
    while (range.end < list->count && list->items[range.end].timing == timing)
        range.end++;
    return range;
}

/* True if the upload adds something to the name. */
static bool has_any(const struct name *name)
{
    return name->touched > 0 || name->added.first < name->added.end;
}

static void rank_name(const struct fp_fold *fold, struct name *name)
{
    const struct fp_delta_timing *timing = &fold->delta->timings[name->timing];
    name->rank = RANK_NAMED;
    if (timing->kind == FP_TIMING_HIDDEN)
        name->rank = RANK_HIDDEN;
    else if (timing->kind == FP_TIMING_WINDOW && fp_str_equal(timing->name, FP_FOLD_RUNNING))
        name->rank = RANK_RUNNING;
}

/* Lists the names by rank, those that touch most samples first. */
static void list_names(struct measuring *measuring)
{
    const struct fp_fold *fold = measuring->fold;
    struct name name = {.timing = 0};
    for (uint32_t at = 0; at < measuring->all.count; at = name.all.end) {
        name.timing = measuring->all.items[at].timing;
        name.all = find_range(&measuring->all, at, name.timing);
        name.added = find_range(&measuring->added, name.added.end, name.timing);
        name.touched = count_touched(own_spans(fold), &measuring->all, name.all) +
                       count_touched(joined_spans(fold), &measuring->added, name.added);
        rank_name(fold, &name);
        if (!has_any(&name))
            continue;
        measuring->names[measuring->name_count++] = name;
        measuring->hidden_count += name.rank == RANK_HIDDEN;
    }
    qsort(measuring->names, measuring->name_count, sizeof(*measuring->names), compare_names);
}

/* The share of a sample that lies in windows of the current name. */
struct share {
    const struct fp_fold_sample *sample;
    int64_t us;
    bool is_sample; /* it counts as one: it is evidence, and was taken in the window */
};

/* Walks over the spans that a range of windows touches. */
struct span_walk {
    struct span_list spans;
    const struct fp_fold_window *window;
    const struct fp_fold_window *end;
    uint32_t at; /* the next span, UINT32_MAX: to be found */
};

static struct span_walk walk_over(struct span_list spans, const struct fp_fold_windows *windows,
                                  struct window_range range)
{
    return (struct span_walk){spans, windows->items + range.first, windows->items + range.end,
                              UINT32_MAX};
}

/* Finds the next share of a walk. False: there is none. */
static bool next_share(struct span_walk *walk, struct share *share)
{
    for (; walk->window < walk->end; walk->window++, walk->at = UINT32_MAX) {
        const struct fp_fold_window *window = walk->window;
        if (walk->at == UINT32_MAX)
            walk->at = fp_fold_first_sample(walk->spans.items, walk->spans.count, window->start_us);
        if (walk->at == walk->spans.count)
            continue;
        const struct fp_fold_sample *sample = &walk->spans.items[walk->at];
        if (sample->start_us >= window->end_us)
            continue;
        walk->at++;
        int64_t start_us =
            sample->start_us > window->start_us ? sample->start_us : window->start_us;
        int64_t end_us =
            fp_fold_end_us(sample) < window->end_us ? fp_fold_end_us(sample) : window->end_us;
        *share = (struct share){sample, end_us - start_us,
                                sample->is_evidence && sample->time_us >= window->start_us &&
                                    sample->time_us < window->end_us};
        return true;
    }
    return false;
}

/* A name's shares come from two walks: own spans, then those of earlier parts. */
struct walks {
    struct span_walk list[2];
    size_t at;
};

static struct walks begin_walks(const struct measuring *measuring, const struct name *name)
{
    return (struct walks){
        .list = {walk_over(own_spans(measuring->fold), &measuring->all, name->all),
                 walk_over(joined_spans(measuring->fold), &measuring->added, name->added)}};
}

static bool next_of_name(struct walks *walks, struct share *share)
{
    for (; walks->at < FP_COUNT(walks->list); walks->at++)
        if (next_share(&walks->list[walks->at], share))
            return true;
    return false;
}

/* Sums of one name */

/* Lists a stack and its ancestors that are not listed yet, outermost first. */
static void meet(struct measuring *measuring, uint32_t stack)
{
    const struct fp_delta *delta = measuring->fold->delta;
    uint32_t low = measuring->met_count;
    uint32_t *met = measuring->met;
    for (; stack != FP_INDEX_NONE && !measuring->stacks[stack].is_met;
         stack = delta->stacks[stack].parent) {
        measuring->stacks[stack].is_met = true;
        met[measuring->met_count++] = stack;
    }
    for (uint32_t high = measuring->met_count; low + 1 < high; low++) {
        uint32_t inner = met[low];
        met[low] = met[--high];
        met[high] = inner;
    }
}

/* Adds the samples and times of a name with one marker to their stacks. */
static void add_samples(struct measuring *measuring, const struct name *name, enum fp_marker marker)
{
    struct walks walks = begin_walks(measuring, name);
    struct share share;
    measuring->met_count = 0;
    while (next_of_name(&walks, &share)) {
        const uint32_t stack = share.sample->stack;
        if (stack == FP_INDEX_NONE || share.sample->marker != marker)
            continue;
        meet(measuring, stack);
        measuring->stacks[stack].us += share.us;
        measuring->stacks[stack].samples += share.is_sample;
    }
    measuring->steps += name->touched + measuring->met_count;
}

/* Adds the sums of the stacks to their frames, leaves first, and clears the stacks. Returns the
 * number of frames. */
static uint32_t add_frames(struct measuring *measuring)
{
    const struct fp_fold *fold = measuring->fold;
    const struct fp_delta *delta = fold->delta;
    uint32_t frame_count = 0;
    for (uint32_t i = 0; i < measuring->met_count; i++) {
        uint32_t stack = measuring->met[i];
        measuring->frames[delta->stacks[stack].frame].self_us += measuring->stacks[stack].us;
    }
    for (uint32_t i = measuring->met_count; i-- > 0;) {
        uint32_t stack = measuring->met[i];
        struct measured_stack_sum *sum = &measuring->stacks[stack];
        uint32_t parent = delta->stacks[stack].parent;
        if (fold->outermost[stack]) {
            struct measured_frame_sum *frame = &measuring->frames[delta->stacks[stack].frame];
            if (!frame->is_met)
                measuring->met_frames[frame_count++] = delta->stacks[stack].frame;
            frame->is_met = true;
            frame->total_us += sum->us;
            frame->samples += sum->samples;
        }
        if (parent != FP_INDEX_NONE) {
            measuring->stacks[parent].us += sum->us;
            measuring->stacks[parent].samples += sum->samples;
        }
        *sum = (struct measured_stack_sum){0};
    }
    return frame_count;
}

/* Lists the frames as rows of the marker, as far as there is room, and clears them. */
static bool list_frames(struct measuring *measuring, enum fp_marker marker, uint32_t frame_count)
{
    struct fp_delta *delta = measuring->fold->delta;
    bool has_room = frame_count <= measuring->row_max - delta->measured_frame_count;
    for (uint32_t i = 0; i < frame_count; i++) {
        struct measured_frame_sum *sum = &measuring->frames[measuring->met_frames[i]];
        if (has_room)
            delta->measured_frames[delta->measured_frame_count++] =
                (struct fp_delta_measured_frame){.frame = measuring->met_frames[i],
                                                 .marker = marker,
                                                 .samples = sum->samples,
                                                 .self_us = sum->self_us,
                                                 .total_us = sum->total_us};
        *sum = (struct measured_frame_sum){0};
    }
    return has_room;
}

static int compare_frames(const void *a, const void *b)
{
    const struct fp_delta_measured_frame *left = a;
    const struct fp_delta_measured_frame *right = b;
    if (left->frame != right->frame)
        return left->frame < right->frame ? -1 : 1;
    return left->marker < right->marker ? -1 : left->marker > right->marker;
}

/* Returns the length of the windows that the upload adds to a name. */
static int64_t added_us(const struct measuring *measuring, const struct name *name)
{
    int64_t sum_us = 0;
    for (uint32_t w = name->added.first; w < name->added.end; w++) {
        const struct fp_fold_window *window = &measuring->added.items[w];
        sum_us += window->end_us - window->start_us;
    }
    return sum_us < FP_DELTA_TIME_MAX_US ? sum_us : FP_DELTA_TIME_MAX_US;
}

/* True if the page load counts for the name here: no earlier part counted it. */
static bool counts_load(const struct fp_fold *fold, const struct fp_delta_measured *measured)
{
    const uint64_t id = fold->delta->timings[measured->timing].id;
    return measured->profiled_us > 0 && fp_map_get(&fold->counted, id) == FP_MAP_NONE;
}

/* Sums all samples of a name, and finds which markers those with a stack have. */
static struct fp_delta_measured sum_up(const struct measuring *measuring, const struct name *name,
                                       bool present[FP_MARKER_COUNT])
{
    const struct fp_fold *fold = measuring->fold;
    struct fp_delta_measured measured = {.timing = name->timing,
                                         .window_us = added_us(measuring, name)};
    struct walks walks = begin_walks(measuring, name);
    struct share share;
    while (next_of_name(&walks, &share)) {
        measured.profiled_us += share.us;
        measured.samples += share.is_sample;
        if (share.sample->stack != FP_INDEX_NONE) {
            present[share.sample->marker] = true;
            continue;
        }
        measured.unattributed_samples += share.is_sample;
        measured.unattributed_us += share.us;
    }
    measured.counts_load = counts_load(fold, &measured);
    return measured;
}

/* Adds a name with its frames to the delta. False if it does not fit. */
static bool measure(struct measuring *measuring, const struct name *name)
{
    struct fp_delta *delta = measuring->fold->delta;
    bool present[FP_MARKER_COUNT] = {false};
    struct fp_delta_measured measured = sum_up(measuring, name, present);
    measuring->steps += name->touched;
    measured.first_frame = delta->measured_frame_count;
    for (enum fp_marker marker = FP_MARKER_NONE; marker < FP_MARKER_COUNT; marker++) {
        if (!present[marker])
            continue;
        add_samples(measuring, name, marker);
        if (!list_frames(measuring, marker, add_frames(measuring)) ||
            measuring->steps > FP_FOLD_MEASURED_STEPS_MAX) {
            delta->measured_frame_count = measured.first_frame;
            return false;
        }
    }
    measured.frame_count = delta->measured_frame_count - measured.first_frame;
    qsort(delta->measured_frames + measured.first_frame, measured.frame_count,
          sizeof(*delta->measured_frames), compare_frames);
    delta->measured[delta->measured_count++] = measured;
    return true;
}

/* Adds what of the time in a hidden name's windows has no stack. False if that is too much work. */
static bool measure_hidden(struct measuring *measuring, const struct name *name)
{
    struct fp_delta *delta = measuring->fold->delta;
    struct fp_delta_measured measured = {.timing = name->timing,
                                         .first_frame = delta->measured_frame_count};
    struct walks walks = begin_walks(measuring, name);
    struct share share;
    measuring->steps += name->touched;
    if (measuring->steps > FP_FOLD_MEASURED_STEPS_MAX)
        return false;
    while (next_of_name(&walks, &share)) {
        if (share.sample->stack != FP_INDEX_NONE)
            continue;
        measured.unattributed_samples += share.is_sample;
        measured.unattributed_us += share.us;
    }
    measured.samples = measured.unattributed_samples;
    measured.profiled_us = measured.unattributed_us;
    measured.window_us = measured.unattributed_us;
    measured.counts_load = counts_load(measuring->fold, &measured);
    if (measured.profiled_us > 0)
        delta->measured[delta->measured_count++] = measured;
    return true;
}

/* All names */

static bool prepare_sums(struct measuring *measuring)
{
    struct fp_fold *fold = measuring->fold;
    struct fp_delta *delta = fold->delta;
    uint64_t rows = (uint64_t)measuring->taken * delta->frame_count * FP_MARKER_COUNT;
    measuring->row_max =
        rows < FP_FOLD_MEASURED_FRAMES_MAX ? (uint32_t)rows : FP_FOLD_MEASURED_FRAMES_MAX;
    measuring->stacks = fp_arena_array(fold->arena, delta->stack_count, sizeof(*measuring->stacks));
    measuring->frames = fp_arena_array(fold->arena, delta->frame_count, sizeof(*measuring->frames));
    measuring->met = fp_fold_array(fold, delta->stack_count, sizeof(*measuring->met));
    measuring->met_frames = fp_fold_array(fold, delta->frame_count, sizeof(*measuring->met_frames));
    delta->measured = fp_fold_array(fold, (size_t)measuring->taken + measuring->taken_hidden,
                                    sizeof(*delta->measured));
    delta->measured_frames =
        fp_fold_array(fold, measuring->row_max, sizeof(*delta->measured_frames));
    return measuring->stacks != NULL && measuring->frames != NULL && measuring->met != NULL &&
           measuring->met_frames != NULL && delta->measured != NULL &&
           delta->measured_frames != NULL;
}

bool fp_fold_measures(struct fp_fold *fold)
{
    if (fold->window_count == 0 || !(fold->is_watched || fold->was_watched))
        return true;
    struct measuring measuring = {.fold = fold};
    const uint32_t stack_count = fold->own_stack_count;
    measuring.names = fp_fold_array(fold, fold->window_count, sizeof(*measuring.names));
    if (measuring.names == NULL || !list_all(&measuring))
        return false;
    list_names(&measuring);
    const uint32_t named = measuring.name_count - measuring.hidden_count;
    const uint32_t most = fold->context->measures;
    measuring.taken = named < most ? named : most;
    measuring.taken_hidden = measuring.hidden_count < most ? measuring.hidden_count : most;
    if (measuring.taken + measuring.taken_hidden > 0 && !prepare_sums(&measuring))
        return false;
    uint32_t done = 0;
    while (done < measuring.taken && measure(&measuring, &measuring.names[done]))
        done++;
    uint32_t hidden = 0;
    while (hidden < measuring.taken_hidden &&
           measure_hidden(&measuring, &measuring.names[named + hidden]))
        hidden++;
    fold->delta->unmeasured = measuring.name_count - done - hidden;
    /* Stacks of earlier parts were needed for sums only. */
    fold->delta->stack_count = stack_count;
    return true;
}
