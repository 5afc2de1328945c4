/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of docs/numbers.md, one row each: an upload, and its expected rows.
 *
 * Times are microseconds. Expected text, line by line:
 *   profiled TIME unattributed TIME in SAMPLES
 *   unseen TIME, if any
 *   frame KIND FUNCTION@RESOURCE:LINE:COLUMN self TIME total TIME in SAMPLES
 *   split FUNCTION MARKER self TIME total TIME in SAMPLES
 *   stack FUNCTION;FUNCTION MARKER self TIME in SAMPLES
 *   timing KIND NAME count N negative N sum TIME TIME…TIME bins BIN×COUNT …
 */
#include "tests/unit/profile/test.h"

#include "collector/base/buf.h"
#include "collector/rollup/ids.h"

#define TRACE(frames, stacks, samples)                                                             \
    "{'resources':['https://shop.example/a.js'],'frames':[" frames "],'stacks':[" stacks           \
    "],'samples':[" samples "]}"
#define AT_10_MS(trace) "{'sampleInterval':10,'trace':" trace "}"

/* Frames 0, 1, 2 are a, b, c; stacks 0, 1, 2 are a, a;b, a;b;c. */
#define ABC                                                                                        \
    "{'name':'a','resourceId':0,'line':1},{'name':'b','resourceId':0,'line':2},"                   \
    "{'name':'c','resourceId':0,'line':3}"
#define ABC_STACKS "{'frameId':0},{'frameId':1,'parentId':0},{'frameId':2,'parentId':1}"
#define A "@https://shop.example/a.js"

struct rule {
    const char *title;
    const char *upload; /* ' instead of " */
    const char *rows;
};

static const struct rule rules[] = {
    {"nothing sampled", TRACE("", "", ""), "profiled 0 unattributed 0 in 0\n"},

    /* Rule 1 */
    {"samples are sorted by time before they are weighed",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':30,'stackId':0},{'timestamp':5,'stackId':1},{'timestamp':20}")),
     "profiled 35000 unattributed 12500 in 1\n"
     "frame function a" A ":1:- self 10000 total 22500 in 2\n"
     "frame function b" A ":2:- self 12500 total 12500 in 1\n"
     "stack a (none) self 10000 in 1\n"
     "stack a;b (none) self 12500 in 1\n"},
    {"samples of one time keep their order: each has the gap on its side",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':14},{'timestamp':0,'stackId':0},{'timestamp':0,'stackId':1}")),
     "profiled 24000 unattributed 12000 in 1\n"
     "frame function a" A ":1:- self 5000 total 12000 in 2\n"
     "frame function b" A ":2:- self 7000 total 7000 in 1\n"
     "stack a (none) self 5000 in 1\n"
     "stack a;b (none) self 7000 in 1\n"},
    {"a sample between two of the same time owns nothing and leaves nothing behind",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':0,'stackId':0},{'timestamp':0,'stackId':2},"
                    "{'timestamp':0,'stackId':0}")),
     "profiled 10000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 10000 total 10000 in 2\n"
     "stack a (none) self 10000 in 2\n"},

    /* Rule 2 */
    {"the odd microsecond of a gap belongs to the later sample",
     AT_10_MS(
         TRACE(ABC, ABC_STACKS, "{'timestamp':0,'stackId':0},{'timestamp':10.001,'stackId':1}")),
     "profiled 20001 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 10000 total 20001 in 2\n"
     "frame function b" A ":2:- self 10001 total 10001 in 1\n"
     "stack a (none) self 10000 in 1\n"
     "stack a;b (none) self 10001 in 1\n"},
    {"a gap of 250 ms belongs to its two samples",
     AT_10_MS(TRACE("", "", "{'timestamp':0},{'timestamp':250}")),
     "profiled 260000 unattributed 260000 in 2\n"},
    {"what a gap has beyond 250 ms is unseen",
     AT_10_MS(TRACE(ABC, ABC_STACKS, "{'timestamp':0,'stackId':0},{'timestamp':600,'stackId':1}")),
     "profiled 260000 unattributed 0 in 0\n"
     "unseen 350000\n"
     "frame function a" A ":1:- self 130000 total 260000 in 2\n"
     "frame function b" A ":2:- self 130000 total 130000 in 1\n"
     "stack a (none) self 130000 in 1\n"
     "stack a;b (none) self 130000 in 1\n"},
    {"at long intervals, a gap of three of them counts",
     "{'sampleInterval':100.001,'trace':" TRACE(
         ABC, ABC_STACKS, "{'timestamp':0,'stackId':0},{'timestamp':301,'stackId':1}") "}",
     /* a: 50,001 + 150,001; b: 150,002 + 50,000; of the gap 300,003 count */
     "profiled 400004 unattributed 0 in 0\n"
     "unseen 997\n"
     "frame function a" A ":1:- self 200002 total 400004 in 2\n"
     "frame function b" A ":2:- self 200002 total 200002 in 1\n"
     "stack a (none) self 200002 in 1\n"
     "stack a;b (none) self 200002 in 1\n"},
    {"a window bounds the first and the last sample",
     "{'start':2,'duration':20,'sampleInterval':10,'trace':" TRACE(
         ABC, ABC_STACKS, "{'timestamp':10,'stackId':0},{'timestamp':16,'stackId':1}") "}",
     "profiled 20000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 11000 total 20000 in 2\n"
     "frame function b" A ":2:- self 9000 total 9000 in 1\n"
     "stack a (none) self 11000 in 1\n"
     "stack a;b (none) self 9000 in 1\n"},
    {"the first and the last sample reach half of 250 ms into a window",
     "{'start':0,'duration':1000,'sampleInterval':10,'trace':" TRACE(
         "", "", "{'timestamp':500},{'timestamp':600}") "}",
     "profiled 350000 unattributed 350000 in 2\n"
     "unseen 650000\n"},
    {"samples outside the window own what of their spans lies in it",
     "{'start':100,'duration':30,'sampleInterval':10,'trace':" TRACE(
         ABC, ABC_STACKS,
         "{'timestamp':80,'stackId':2},{'timestamp':96,'stackId':0},{'timestamp':110,'stackId':1},"
         "{'timestamp':140,'stackId':0},{'timestamp':190,'stackId':2}") "}",
     "profiled 30000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 8000 total 30000 in 2\n"
     "frame function b" A ":2:- self 22000 total 22000 in 1\n"
     "stack a (none) self 8000 in 1\n"
     "stack a;b (none) self 22000 in 1\n"},
    {"a window without samples is unseen",
     "{'start':5,'duration':70.0004,'trace':" TRACE("", "", "") "}",
     "profiled 0 unattributed 0 in 0\n"
     "unseen 70000\n"},
    {"a window with all samples outside is unseen",
     "{'start':5000,'duration':1000,'trace':" TRACE("", "", "{'timestamp':0},{'timestamp':9}") "}",
     "profiled 0 unattributed 0 in 0\n"
     "unseen 1000000\n"},
    {"without a start there is no window",
     "{'duration':1000,'sampleInterval':10,'trace':" TRACE("", "", "{'timestamp':7}") "}",
     "profiled 10000 unattributed 10000 in 1\n"},
    {"without a trace nothing was watched, so nothing is unseen",
     "{'start':0,'duration':1000,'marks':{'a':[1]}}",
     "profiled 0 unattributed 0 in 0\n"
     "timing mark a count 1 negative 0 sum 1000 1000…1000 bins 190×1\n"},
    {"without an interval the lower median of the positive gaps stands for it",
     TRACE("", "",
           "{'timestamp':0},{'timestamp':0},{'timestamp':40},{'timestamp':42},{'timestamp':45},"
           "{'timestamp':145}"), /* gaps 40, 2, 3, 100: median 3; 1.5 ms at each end */
     "profiled 148000 unattributed 148000 in 6\n"},
    {"without any positive gap the interval is 10 ms",
     TRACE("", "", "{'timestamp':7},{'timestamp':7}"), "profiled 10000 unattributed 10000 in 2\n"},
    {"a sample that weighs less than half an interval is not evidence, but has its time",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':0,'stackId':0},{'timestamp':0.1,'stackId':1},"
                    "{'timestamp':0.2},{'timestamp':10.2,'stackId':0}")),
     "profiled 20200 unattributed 5050 in 1\n"
     "frame function a" A ":1:- self 15050 total 15150 in 2\n"
     "frame function b" A ":2:- self 100 total 100 in 0\n"
     "stack a (none) self 15050 in 2\n"
     "stack a;b (none) self 100 in 0\n"},
    {"times are rounded to whole microseconds before gaps are taken",
     TRACE("", "", "{'timestamp':0.0004},{'timestamp':0.0015},{'timestamp':0.0024}"),
     "profiled 4 unattributed 4 in 3\n"},
    {"times below zero are rounded the same way",
     TRACE("", "", "{'timestamp':-0.0015},{'timestamp':0}"), "profiled 2 unattributed 2 in 2\n"},

    /* Rule 3 */
    {"no stack and no marker is unattributed, never stack 0",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':0},{'timestamp':10,'stackId':null},"
                    "{'timestamp':20,'stackId':0}")),
     "profiled 30000 unattributed 20000 in 2\n"
     "frame function a" A ":1:- self 10000 total 10000 in 1\n"
     "stack a (none) self 10000 in 1\n"},
    {"a marker without a stack is a frame in parentheses",
     AT_10_MS(TRACE("", "",
                    "{'timestamp':0,'marker':'layout'},{'timestamp':10,'marker':'gc'},"
                    "{'timestamp':20,'marker':'layout'}")),
     "profiled 30000 unattributed 0 in 0\n"
     "frame marker (layout)@:-:- self 20000 total 20000 in 2\n"
     "frame marker (gc)@:-:- self 10000 total 10000 in 1\n"
     "split (layout) layout self 20000 total 20000 in 2\n"
     "split (gc) gc self 10000 total 10000 in 1\n"
     "stack (gc) gc self 10000 in 1\n"
     "stack (layout) layout self 20000 in 2\n"},
    {"a page's own function named (layout) is another frame than the marker's",
     AT_10_MS(TRACE("{'name':'(layout)'}", "{'frameId':0}",
                    "{'timestamp':0,'marker':'layout'},{'timestamp':10,'stackId':0}")),
     "profiled 20000 unattributed 0 in 0\n"
     "frame marker (layout)@:-:- self 10000 total 10000 in 1\n"
     "frame builtin (layout)@:-:- self 10000 total 10000 in 1\n"
     "split (layout) layout self 10000 total 10000 in 1\n"
     "stack (layout) (none) self 10000 in 1\n"
     "stack (layout) layout self 10000 in 1\n"},
    {"splits say what of a frame fell to which marker",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':0,'stackId':1,'marker':'style'},{'timestamp':10,'stackId':1},"
                    "{'timestamp':20,'stackId':1,'marker':'gc'},"
                    "{'timestamp':30,'stackId':0,'marker':'style'}")),
     "profiled 40000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 10000 total 40000 in 4\n"
     "frame function b" A ":2:- self 30000 total 30000 in 3\n"
     "split a gc self 0 total 10000 in 1\n"
     "split a style self 10000 total 20000 in 2\n"
     "split b gc self 10000 total 10000 in 1\n"
     "split b style self 10000 total 10000 in 1\n"
     "stack a;b (none) self 10000 in 1\n"
     "stack a;b gc self 10000 in 1\n"
     "stack a style self 10000 in 1\n"
     "stack a;b style self 10000 in 1\n"},

    /* Rule 4 */
    {"frames and stacks that are the same by content are one",
     AT_10_MS(TRACE("{'name':'a','line':1},{'name':'a','line':1}",
                    "{'frameId':0},{'frameId':1},{'frameId':0,'parentId':1},"
                    "{'frameId':1,'parentId':0}",
                    "{'timestamp':0,'stackId':2},{'timestamp':10,'stackId':3},"
                    "{'timestamp':20,'stackId':1}")),
     "profiled 30000 unattributed 0 in 0\n"
     "frame function a@:1:- self 30000 total 30000 in 3\n"
     "stack a (none) self 10000 in 1\n"
     "stack a;a (none) self 20000 in 2\n"},
    {"resources that are the same without their queries are one, and so are their frames",
     AT_10_MS("{'resources':['https://x.example/a.js?v=1','https://x.example/a.js?v=2#y'],"
              "'frames':[{'name':'a','resourceId':0},{'name':'a','resourceId':1}],"
              "'stacks':[{'frameId':0},{'frameId':1}],"
              "'samples':[{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1}]}"),
     "profiled 20000 unattributed 0 in 0\n"
     "frame function a@https://x.example/a.js:-:- self 20000 total 20000 in 2\n"
     "stack a (none) self 20000 in 2\n"},
    {"what no sample needs is left out",
     AT_10_MS(TRACE(ABC, ABC_STACKS, "{'timestamp':0,'stackId':1}")),
     "profiled 10000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 0 total 10000 in 1\n"
     "frame function b" A ":2:- self 10000 total 10000 in 1\n"
     "stack a;b (none) self 10000 in 1\n"},
    {"a parent may stand behind its child",
     AT_10_MS(
         TRACE(ABC, "{'frameId':1,'parentId':1},{'frameId':0}", "{'timestamp':0,'stackId':0}")),
     "profiled 10000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 0 total 10000 in 1\n"
     "frame function b" A ":2:- self 10000 total 10000 in 1\n"
     "stack a;b (none) self 10000 in 1\n"},

    /* Rule 5 */
    {"anonymous functions keep their place in the source",
     AT_10_MS(TRACE("{'name':'','resourceId':0,'line':4,'column':7},"
                    "{'name':'','resourceId':0,'line':4,'column':8}",
                    "{'frameId':0},{'frameId':1}",
                    "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1}")),
     "profiled 20000 unattributed 0 in 0\n"
     "frame function " A ":4:7 self 10000 total 10000 in 1\n"
     "frame function " A ":4:8 self 10000 total 10000 in 1\n"
     "stack  (none) self 10000 in 1\n"
     "stack  (none) self 10000 in 1\n"},
    {"line and column 0 are not absent",
     AT_10_MS(
         TRACE("{'name':'a','line':0,'column':0}", "{'frameId':0}", "{'timestamp':0,'stackId':0}")),
     "profiled 10000 unattributed 0 in 0\n"
     "frame function a@:0:0 self 10000 total 10000 in 1\n"
     "stack a (none) self 10000 in 1\n"},

    /* Rule 6 */
    {"the profiler's own noise at both ends is unattributed, whatever its marker",
     AT_10_MS(TRACE("{'name':'a','line':1},{'name':'Profiler'},{'name':'stop'}",
                    "{'frameId':0},{'frameId':1,'parentId':0},{'frameId':2,'parentId':0}",
                    "{'timestamp':20,'stackId':2,'marker':'script'},{'timestamp':10,'stackId':0},"
                    "{'timestamp':0,'stackId':1}")),
     "profiled 30000 unattributed 20000 in 2\n"
     "frame function a@:1:- self 10000 total 10000 in 1\n"
     "stack a (none) self 10000 in 1\n"},
    {"a page's own Profiler, and one in the middle, are not noise",
     AT_10_MS(TRACE("{'name':'Profiler','resourceId':0},{'name':'stop'}",
                    "{'frameId':0},{'frameId':1}",
                    "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                    "{'timestamp':20,'stackId':0}")),
     "profiled 30000 unattributed 0 in 0\n"
     "frame function Profiler" A ":-:- self 20000 total 20000 in 2\n"
     "frame builtin stop@:-:- self 10000 total 10000 in 1\n"
     "stack Profiler (none) self 20000 in 2\n"
     "stack stop (none) self 10000 in 1\n"},

    /* Rule 8 */
    {"timings are grouped by kind and name, with a histogram",
     "{'marks':{'a':[1,0.063,1]},'measures':{'a':[2,-3],'b':[0]}}",
     "profiled 0 unattributed 0 in 0\n"
     "timing mark a count 3 negative 0 sum 2063 63…1000 bins 63×1 190×2\n"
     "timing measure a count 2 negative 1 sum -1000 -3000…2000 bins 222×1\n"
     "timing measure b count 1 negative 0 sum 0 0…0 bins 0×1\n"},
    {"a sum beyond the range stops there", "{'measures':{'a':[9007199254740,9007199254740]}}",
     "profiled 0 unattributed 0 in 0\n"
     "timing measure a count 2 negative 0 sum 18014398509480000 "
     "9007199254740000…9007199254740000 bins 1567×2\n"},

    /* Rule 10 */
    {"an unknown marker is other",
     AT_10_MS(TRACE(ABC, ABC_STACKS,
                    "{'timestamp':0,'marker':'sweep'},{'timestamp':10,'marker':'other'},"
                    "{'timestamp':20,'marker':'sweep','stackId':0}")),
     "profiled 30000 unattributed 0 in 0\n"
     "frame marker (other)@:-:- self 20000 total 20000 in 2\n"
     "frame function a" A ":1:- self 10000 total 10000 in 1\n"
     "split (other) other self 20000 total 20000 in 2\n"
     "split a other self 10000 total 10000 in 1\n"
     "stack (other) other self 20000 in 2\n"
     "stack a other self 10000 in 1\n"},

    /* Total time */
    {"a frame that recurs counts once a sample",
     AT_10_MS(TRACE(ABC,
                    "{'frameId':0},{'frameId':1,'parentId':0},{'frameId':0,'parentId':1},"
                    "{'frameId':0,'parentId':2},{'frameId':1}",
                    "{'timestamp':0,'stackId':3},{'timestamp':10,'stackId':1},"
                    "{'timestamp':20,'stackId':4},{'timestamp':30,'stackId':2}")),
     "profiled 40000 unattributed 0 in 0\n"
     "frame function a" A ":1:- self 20000 total 30000 in 3\n"
     "frame function b" A ":2:- self 20000 total 40000 in 4\n"
     "stack a;b (none) self 10000 in 1\n"
     "stack a;b;a (none) self 10000 in 1\n"
     "stack a;b;a;a (none) self 10000 in 1\n"
     "stack b (none) self 10000 in 1\n"},
};

/* Rendering a delta. */

static void add_position(struct fp_buf *out, int32_t position)
{
    if (position == FP_POSITION_NONE)
        fp_buf_addf(out, ":-");
    else
        fp_buf_addf(out, ":%d", position);
}

static void add_frames(struct fp_buf *out, const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        const struct fp_delta_frame *frame = &delta->frames[i];
        struct fp_str url =
            frame->resource != FP_INDEX_NONE ? delta->resources[frame->resource].url : FP_STR("");
        fp_buf_addf(out, "frame %s %.*s@%.*s", fp_frame_kind_name(frame->kind),
                    FP_STR_ARG(frame->function), FP_STR_ARG(url));
        add_position(out, frame->line);
        add_position(out, frame->column);
        fp_buf_addf(out, " self %lld total %lld in %u\n", (long long)frame->self_us,
                    (long long)frame->total_us, frame->samples);
    }
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        fp_buf_addf(out, "split %.*s %s self %lld total %lld in %u\n",
                    FP_STR_ARG(delta->frames[split->frame].function), fp_marker_name(split->marker),
                    (long long)split->self_us, (long long)split->total_us, split->samples);
    }
}

static void add_path(struct fp_buf *out, const struct fp_delta *delta, uint32_t stack)
{
    uint32_t path[8] = {stack};
    size_t length = 0;
    for (; stack != FP_INDEX_NONE; stack = delta->stacks[stack].parent)
        path[length++] = stack;
    assert_int_equal(length, delta->stacks[path[0]].level);
    while (length > 0) {
        const struct fp_delta_stack *at = &delta->stacks[path[--length]];
        fp_buf_addf(out, "%.*s%s", FP_STR_ARG(delta->frames[at->frame].function),
                    length > 0 ? ";" : "");
    }
}

static void add_stacks(struct fp_buf *out, const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        fp_buf_addf(out, "stack ");
        add_path(out, delta, sample->stack);
        fp_buf_addf(out, " %s self %lld in %u\n", fp_marker_name(sample->marker),
                    (long long)sample->self_us, sample->samples);
    }
}

static void add_timings(struct fp_buf *out, const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        fp_buf_addf(out, "timing %s %.*s count %u negative %u sum %lld %lld…%lld bins",
                    fp_timing_kind_name(timing->kind), FP_STR_ARG(timing->name), timing->count,
                    timing->negative, (long long)timing->sum_us, (long long)timing->min_us,
                    (long long)timing->max_us);
        for (uint32_t k = 0; k < timing->bin_count; k++)
            fp_buf_addf(out, " %u×%u", delta->bins[timing->first_bin + k].bin,
                        delta->bins[timing->first_bin + k].count);
        fp_buf_addf(out, "\n");
    }
}

static void render(struct fp_buf *out, const struct fp_delta *delta)
{
    fp_buf_addf(out, "profiled %lld unattributed %lld in %u\n", (long long)delta->profiled_us,
                (long long)delta->unattributed_us, delta->unattributed_samples);
    if (delta->unseen_us > 0)
        fp_buf_addf(out, "unseen %lld\n", (long long)delta->unseen_us);
    add_frames(out, delta);
    add_stacks(out, delta);
    add_timings(out, delta);
    fp_buf_add(out, "", 1);
    assert_false(out->failed);
}

static void each_rule_gives_its_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(rules); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, TEST_ARENA_MAX);
        struct fp_delta delta;
        fold_body(&arena, json_of(&arena, rules[i].upload), &no_context, &delta);
        struct fp_buf out;
        fp_buf_init(&out, 64 * 1024);
        render(&out, &delta);
        if (strcmp((const char *)out.data, rules[i].rows) != 0)
            fail_msg("%s:\n%s", rules[i].title, (const char *)out.data);
        fp_buf_release(&out);
        fp_arena_release(&arena);
    }
}

/* Size. */

enum { DEEP = 2000, MANY = 200000 };

static void the_deepest_stack_under_the_most_samples_folds_without_recursion(void **state)
{
    (void)state;
    struct fp_profile_stack *stacks = calloc(DEEP, sizeof(*stacks));
    struct fp_profile_sample *samples = calloc(MANY, sizeof(*samples));
    struct fp_profile_frame frames[2] = {{FP_STR("a"), FP_INDEX_NONE, 1, 1},
                                         {FP_STR("b"), FP_INDEX_NONE, 1, 1}};
    assert_true(stacks != NULL && samples != NULL);
    for (uint32_t i = 0; i < DEEP; i++)
        stacks[i] = (struct fp_profile_stack){i % 2, i > 0 ? i - 1 : FP_INDEX_NONE};
    for (uint32_t i = 0; i < MANY; i++)
        samples[i] = (struct fp_profile_sample){(int64_t)i * 10, DEEP - 1 - i % 7,
                                                (enum fp_marker)(i % FP_MARKER_COUNT)};
    const struct fp_profile profile = {.has_trace = true,
                                       .frames = frames,
                                       .frame_count = 2,
                                       .stacks = stacks,
                                       .stack_count = DEEP,
                                       .samples = samples,
                                       .sample_count = MANY,
                                       .interval_us = 10};
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta delta;
    assert_true(fp_fold(&profile, &no_context, &arena, &delta));
    assert_int_equal(delta.profiled_us, (int64_t)MANY * 10);
    assert_int_equal(delta.frames[0].total_us, (int64_t)MANY * 10);
    assert_int_equal(delta.frames[1].total_us, (int64_t)MANY * 10);
    assert_int_equal(delta.frames[0].samples, MANY);
    assert_int_equal(delta.stack_count, DEEP);
    fp_arena_release(&arena);
    free(stacks);
    free(samples);
}

static void runs_out_of_memory_at_every_point_without_harm(void **state)
{
    (void)state;
    struct fp_arena texts;
    fp_arena_init(&texts, TEST_ARENA_MAX);
    struct fp_profile profile;
    struct fp_upload_error error;
    static const char body[] =
        "{'marks':{'m':[1,2]},'agent':{'version':'1'},"
        "'measures':[{'name':'n','endMark':'m','detail':{'a':1}},"
        "{'name':'o','entryType':'measure','startTime':0,'duration':9}],"
        "'trace':" TRACE(ABC, ABC_STACKS,
                         "{'timestamp':0,'stackId':2},{'timestamp':1,'marker':'gc'}") "}";
    struct fp_str key = FP_STR("a");
    struct fp_format_limits limits = default_limits;
    limits.detail_keys = (struct fp_str_list){&key, 1};
    assert_int_equal(
        fp_format_decode(json_of(&texts, body), FP_STR(""), &limits, &texts, &profile, &error),
        FP_VERDICT_OK);
    const struct fp_fold_context with_measures = {.site = {"shop", 4}, .measures = 1};
    bool folded = false;
    for (size_t max_bytes = 0; max_bytes < 64 * 1024; max_bytes += 53) {
        struct fp_arena arena;
        fp_arena_init(&arena, max_bytes);
        struct fp_delta delta;
        folded = fp_fold(&profile, &with_measures, &arena, &delta);
        assert_true(arena.used_bytes <= max_bytes);
        fp_arena_release(&arena);
    }
    assert_true(folded);
    fp_arena_release(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_gives_its_rows),
        cmocka_unit_test(the_deepest_stack_under_the_most_samples_folds_without_recursion),
        cmocka_unit_test(runs_out_of_memory_at_every_point_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
