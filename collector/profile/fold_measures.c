/*
 * Fold, measures: what ran inside the windows of each measure.
 *
 * A measure's window is [start, start + duration), and so are those of interactions, long animation
 * frames and vitals, whose names are of kind window. The overlapping windows of one name are
 * joined, so a sample counts once per name; it counts for every name whose window holds it.
 * Measures may overlap in any way, so the result can be far larger than the upload: names with the
 * most samples come first, and whole names past a limit are left out.
 */
#include "collector/profile/fold.h"
#include "collector/profile/fold_parts.h"

/* The samples of one name, as ranges of fold->samples. */
struct measure_window {
    uint32_t timing; /* index into the delta's */
    uint32_t first;
    uint32_t end;
};

/* A run of samples of one origin. */
struct measure_range {
    uint32_t begin;
    uint32_t count;
};

struct name {
    uint32_t first_window;
    uint32_t window_count;
    uint32_t samples;
    uint32_t timing;
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
};

struct measuring {
    struct fp_fold *fold;
    struct measure_window *windows;
    struct name *names;
    uint32_t name_count;
    uint32_t taken;   /* of the names, as many as may be joined */
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

static int compare_windows(const void *a, const void *b)
{
    const struct measure_window *left = a;
    const struct measure_window *right = b;
    if (left->timing != right->timing)
        return left->timing < right->timing ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

/* Lists the windows that hold samples of a run of them, by name and time. begin: of the run. */
static uint32_t list_ranges(const struct fp_fold *fold, const struct fp_fold_window *windows,
                            uint32_t window_count, struct measure_range run,
                            struct measure_window *ranges)
{
    uint32_t count = 0;
    const struct fp_fold_sample *samples = fold->samples + run.begin;
    for (uint32_t i = 0; i < window_count; i++) {
        const struct measure_window range = {
            .timing = windows[i].timing,
            .first = run.begin + fp_fold_first_sample(samples, run.count, windows[i].start_us),
            .end = run.begin + fp_fold_first_sample(samples, run.count, windows[i].end_us),
        };
        if (range.first < range.end)
            ranges[count++] = range;
    }
    qsort(ranges, count, sizeof(*ranges), compare_windows);
    return count;
}

/* Joins the overlapping ranges of each name. Returns how many are left. */
static uint32_t join_ranges(struct measure_window *ranges, uint32_t count)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct measure_window next = ranges[i];
        bool is_same = joined > 0 && ranges[joined - 1].timing == next.timing;
        if (is_same && next.first < ranges[joined - 1].end)
            next.first = ranges[joined - 1].end;
        if (next.first < next.end)
            ranges[joined++] = next;
    }
    return joined;
}

/* Lists what is left of a range without those of `less`, which do not overlap. *at: the first of
 * them that this range or later ones may touch. Returns the number of pieces. */
static uint32_t subtract(struct measure_window range, const struct measure_window *less,
                         uint32_t less_count, uint32_t *at, struct measure_window *pieces)
{
    uint32_t count = 0;
    while (*at < less_count && (less[*at].timing < range.timing ||
                                (less[*at].timing == range.timing && less[*at].end <= range.first)))
        ++*at;
    for (uint32_t i = *at;
         i < less_count && less[i].timing == range.timing && less[i].first < range.end; i++) {
        if (less[i].first > range.first)
            pieces[count++] = (struct measure_window){range.timing, range.first, less[i].first};
        range.first = less[i].end;
    }
    if (range.first < range.end)
        pieces[count++] = range;
    return count;
}

/* Lists the samples of earlier parts in this upload's windows, except those that the earlier parts'
 * own windows of the name hold. False: no memory. */
static bool list_joined(struct measuring *measuring, uint32_t *count)
{
    struct fp_fold *fold = measuring->fold;
    const struct measure_range joined = {fold->sample_count, fold->joined_count};
    uint32_t own = fold->own_window_count;
    uint32_t earlier = fold->window_count - own;
    struct measure_window *ranges = fp_fold_array(fold, own, sizeof(*ranges));
    struct measure_window *less = fp_fold_array(fold, earlier, sizeof(*less));
    if (ranges == NULL || less == NULL)
        return false;
    own = join_ranges(ranges, list_ranges(fold, fold->windows, own, joined, ranges));
    earlier = join_ranges(
        less, list_ranges(fold, fold->windows + fold->own_window_count, earlier, joined, less));
    uint32_t at = 0;
    for (uint32_t i = 0; i < own; i++)
        *count += subtract(ranges[i], less, earlier, &at, measuring->windows + *count);
    return true;
}

/* Lists the windows that hold samples, by name and time. False: no memory. */
static bool list_windows(struct measuring *measuring, uint32_t *count)
{
    const struct fp_fold *fold = measuring->fold;
    const struct measure_range own = {0, fold->profile->sample_count};
    *count = list_ranges(fold, fold->windows, fold->window_count, own, measuring->windows);
    if (fold->joined_count == 0)
        return true;
    if (!list_joined(measuring, count))
        return false;
    qsort(measuring->windows, *count, sizeof(*measuring->windows), compare_windows);
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *left = a;
    const struct name *right = b;
    if (left->samples != right->samples)
        return left->samples > right->samples ? -1 : 1;
    return left->timing < right->timing ? -1 : left->timing > right->timing;
}

/* Joins the overlapping windows of each name. Lists the names, most samples first. */
static void list_names(struct measuring *measuring, uint32_t window_count)
{
    struct measure_window *windows = measuring->windows;
    struct name *name = NULL;
    uint32_t joined = 0;
    for (uint32_t i = 0; i < window_count; i++) {
        struct measure_window next = windows[i];
        if (name == NULL || name->timing != next.timing) {
            name = &measuring->names[measuring->name_count++];
            *name = (struct name){.first_window = joined, .timing = next.timing};
        } else if (next.first < windows[joined - 1].end) {
            next.first = windows[joined - 1].end;
        }
        if (next.first >= next.end)
            continue;
        windows[joined++] = next;
        name->window_count++;
        name->samples += next.end - next.first;
    }
    qsort(measuring->names, measuring->name_count, sizeof(*measuring->names), compare_names);
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
    const struct fp_fold *fold = measuring->fold;
    measuring->met_count = 0;
    for (uint32_t w = 0; w < name->window_count; w++) {
        const struct measure_window *window = &measuring->windows[name->first_window + w];
        for (uint32_t i = window->first; i < window->end; i++) {
            const struct fp_fold_sample *sample = &fold->samples[i];
            if (sample->stack == FP_INDEX_NONE || sample->marker != marker)
                continue;
            meet(measuring, sample->stack);
            measuring->stacks[sample->stack].us += sample->weight_us;
            measuring->stacks[sample->stack].samples++;
        }
    }
    measuring->steps += name->samples + measuring->met_count;
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
            if (frame->samples == 0)
                measuring->met_frames[frame_count++] = delta->stacks[stack].frame;
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

/* Sums all samples of a name, and finds which markers those with a stack have. */
static struct fp_delta_measured sum_up(const struct measuring *measuring, const struct name *name,
                                       bool present[FP_MARKER_COUNT])
{
    const struct fp_fold *fold = measuring->fold;
    struct fp_delta_measured measured = {.timing = name->timing, .samples = name->samples};
    for (uint32_t w = 0; w < name->window_count; w++) {
        const struct measure_window *window = &measuring->windows[name->first_window + w];
        for (uint32_t i = window->first; i < window->end; i++) {
            const struct fp_fold_sample *sample = &fold->samples[i];
            measured.profiled_us += sample->weight_us;
            if (sample->stack != FP_INDEX_NONE) {
                present[sample->marker] = true;
                continue;
            }
            measured.unattributed_samples++;
            measured.unattributed_us += sample->weight_us;
        }
    }
    return measured;
}

/* Adds a name with its frames to the delta. False if it does not fit. */
static bool measure(struct measuring *measuring, const struct name *name)
{
    struct fp_delta *delta = measuring->fold->delta;
    bool present[FP_MARKER_COUNT] = {false};
    struct fp_delta_measured measured = sum_up(measuring, name, present);
    measuring->steps += name->samples;
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

/* All names */

static bool prepare_names(struct measuring *measuring)
{
    struct fp_fold *fold = measuring->fold;
    size_t count = fold->window_count;
    /* A window may hold samples of both origins, and be cut by each earlier window. */
    measuring->windows = fp_fold_array(fold, 3 * count, sizeof(*measuring->windows));
    measuring->names = fp_fold_array(fold, count, sizeof(*measuring->names));
    return measuring->windows != NULL && measuring->names != NULL;
}

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
    delta->measured = fp_fold_array(fold, measuring->taken, sizeof(*delta->measured));
    delta->measured_frames =
        fp_fold_array(fold, measuring->row_max, sizeof(*delta->measured_frames));
    return measuring->stacks != NULL && measuring->frames != NULL && measuring->met != NULL &&
           measuring->met_frames != NULL && delta->measured != NULL &&
           delta->measured_frames != NULL;
}

bool fp_fold_measures(struct fp_fold *fold)
{
    if (fold->window_count == 0 || fold->profile->sample_count + fold->joined_count == 0)
        return true;
    struct measuring measuring = {.fold = fold};
    const uint32_t stack_count = fold->own_stack_count;
    uint32_t window_count;
    if (!prepare_names(&measuring) || !list_windows(&measuring, &window_count))
        return false;
    list_names(&measuring, window_count);
    measuring.taken = measuring.name_count < fold->context->measures ? measuring.name_count
                                                                     : fold->context->measures;
    if (measuring.taken > 0 && !prepare_sums(&measuring))
        return false;
    uint32_t name = 0;
    while (name < measuring.taken && measure(&measuring, &measuring.names[name]))
        name++;
    fold->delta->unmeasured = measuring.name_count - name;
    /* Stacks of earlier parts were needed for sums only. */
    fold->delta->stack_count = stack_count;
    return true;
}
