/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 profiles: the commands of the engine's log.
 *
 * A line is a command and its fields. Addresses are hexadecimal, absolute or as a difference to the
 * last one of their kind. An unreadable line is noted and skipped.
 */
#include "collector/format/speed_tracer/v8.h"

#include "collector/base/bytes.h"
#include "collector/base/quoted.h"
#include "collector/format/speed_tracer/v8_code.h"
#include "collector/format/speed_tracer/v8_lines.h"
#include "collector/format/speed_tracer/v8_ticks.h"
#include "collector/format/utf8.h"

enum {
    ALIASES_MAX = 64,
    STACK_MAX = 128, /* the engine walks 64 frames at most */
    FIRST_FRAME = 4, /* the first field of a tick's stack */
    FIELDS_MAX = FIRST_FRAME + STACK_MAX,
    INTERVAL_MAX_MS = 10000,
    LINES_MAX = 1 << 20, /* of all profiles, repetitions included */
};

enum v8_command {
    TICK,
    CODE_CREATION,
    CODE_DELETE,
    CODE_MOVE,
    ALIAS,
    PROFILER,
    REPEAT,
    COMMAND_COUNT
};

static const struct fp_str command_names[COMMAND_COUNT] = {
    [TICK] = {"tick", 4},
    [CODE_CREATION] = {"code-creation", 13},
    [CODE_DELETE] = {"code-delete", 11},
    [CODE_MOVE] = {"code-move", 9},
    [ALIAS] = {"alias", 5},
    [PROFILER] = {"profiler", 8},
    [REPEAT] = {"repeat", 6},
};

/* The kinds of code that the engine logged. */
static const char *const kind_names[] = {
    "Builtin",     "CallDebugBreak", "CallDebugPrepareStepIn",
    "CallIC",      "CallInitialize", "CallMegamorphic",
    "CallMiss",    "CallNormal",     "CallPreMonomorphic",
    "Callback",    "Eval",           "Function",
    "KeyedCallIC", "KeyedLoadIC",    "KeyedStoreIC",
    "LazyCompile", "LoadIC",         "RegExp",
    "Script",      "StoreIC",        "Stub",
};

/* Stands for a command or a kind of code: the engine uses `cm` for one of each. */
struct v8_alias {
    uint64_t key; /* of the name: most names differ in it */
    struct fp_str name;
    struct fp_str meaning;
    enum v8_command command; /* COMMAND_COUNT: the alias is a kind of code */
};

struct fp_st_v8 {
    struct fp_st_v8_window window;
    struct fp_st_code_map code;
    struct fp_st_v8_ticks ticks;
    struct v8_alias aliases[ALIASES_MAX];
    uint32_t alias_count;
    uint8_t alias_slots[256]; /* by slot_of: its last alias's index + 1, 0: none */
    uint64_t code_address;    /* the last one of each kind */
    uint64_t moved_address;
    int64_t interval_us;
    uint32_t line_count;
    bool is_partial; /* a part that is not known may have created code */
};

/* A line, split into fields. */
struct v8_line {
    struct fp_st_v8_line text; /* the fields point into it */
    struct fp_str fields[FIELDS_MAX];
    size_t count;
    int64_t time_us; /* of its record */
};

/* The result of reading a line. */
enum outcome { DONE, UNREADABLE, REFUSED /* the whole upload; the error is filled */ };

static void begin_ticks(struct fp_st_dump *dump, struct fp_st_v8 *log)
{
    const struct fp_format_limits *limits = dump->decoder->limits;
    fp_map_init(&log->ticks.frame_ids, (size_t)limits->frames + 1);
    fp_map_init(&log->ticks.stack_ids, (size_t)limits->stacks + 1);
    dump->v8 = log;
}

bool fp_st_v8_create(struct fp_st_dump *dump)
{
    struct fp_decoder *decoder = dump->decoder;
    struct fp_st_v8 *log = fp_arena_array(decoder->arena, 1, sizeof(*log));
    if (log == NULL)
        return fp_fail_memory(decoder);
    log->interval_us = FP_US_PER_MS;
    log->is_partial = dump->lacks_profile;
    fp_st_code_map_init(&log->code, decoder->arena);
    begin_ticks(dump, log);
    return true;
}

bool fp_st_v8_resume(struct fp_st_dump *dump, const struct fp_st_v8 *before)
{
    struct fp_st_v8 *log = fp_st_v8_copy(before, dump->decoder->arena);
    if (log == NULL)
        return fp_fail_memory(dump->decoder);
    begin_ticks(dump, log);
    return true;
}

struct fp_st_v8 *fp_st_v8_copy(const struct fp_st_v8 *log, struct fp_arena *arena)
{
    struct fp_st_v8 *copied = fp_arena_alloc(arena, sizeof(*copied));
    if (copied == NULL)
        return NULL;
    *copied = *log;
    copied->line_count = 0;
    copied->ticks = (struct fp_st_v8_ticks){0};
    for (uint32_t i = 0; i < log->alias_count; i++)
        if (!fp_arena_copy(arena, log->aliases[i].name, &copied->aliases[i].name) ||
            !fp_arena_copy(arena, log->aliases[i].meaning, &copied->aliases[i].meaning))
            return NULL;
    return fp_st_code_map_copy(&log->code, arena, &copied->code) ? copied : NULL;
}

void fp_st_v8_release(struct fp_st_v8 *log)
{
    if (log == NULL)
        return;
    fp_map_release(&log->ticks.stack_ids);
    fp_map_release(&log->ticks.frame_ids);
}

/* Fields. */

/* Returns the first comma or quote from `at` on, or the end. */
static size_t find_mark(struct fp_str text, size_t at)
{
    for (; text.len - at >= sizeof(fp_bytes16); at += sizeof(fp_bytes16)) {
        const fp_bytes16 part = fp_bytes16_load(text.ptr + at);
        const uint64_t found = fp_bytes16_bits((fp_bytes16)((part == ',') | (part == '"')));
        if (found != 0)
            return at + (size_t)__builtin_ctzll(found);
    }
    while (at < text.len && text.ptr[at] != ',' && text.ptr[at] != '"')
        at++;
    return at;
}

/* Returns the comma that ends the field at `at`, or the end. */
static size_t field_end(struct fp_str text, size_t at)
{
    while ((at = find_mark(text, at)) < text.len && text.ptr[at] != ',')
        at = fp_quoted_end(text.ptr, at, text.len);
    return at;
}

/* Splits a line into its first FIELDS_MAX fields; the rest is the outer end of a long stack. */
static void split(struct fp_str text, struct v8_line *line)
{
    line->count = 0;
    for (size_t at = 0; at <= text.len && line->count < FIELDS_MAX; at++) {
        const size_t end = field_end(text, at);
        line->fields[line->count++] = (struct fp_str){text.ptr + at, end - at};
        at = end;
    }
}

static struct fp_str unquote(struct fp_str field)
{
    bool is_quoted = field.len >= 2 && field.ptr[0] == '"' && field.ptr[field.len - 1] == '"';
    return is_quoted ? (struct fp_str){field.ptr + 1, field.len - 2} : field;
}

/* The value of a digit plus 1; 0: not a digit. */
static const uint8_t digits_by_char[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool read_digits(struct fp_str digits, unsigned base, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < digits.len; i++) {
        const unsigned digit = digits_by_char[(unsigned char)digits.ptr[i]] - 1U;
        if (digit >= base)
            return false;
        *number = *number * base + digit;
    }
    return digits.len > 0 && digits.len <= 16;
}

/* Reads an address into *last. With a sign it is a difference to *last, and wraps around as in the
 * engine. */
static bool read_address(struct fp_str field, uint64_t *last)
{
    if (field.len == 0)
        return false;
    const char first = field.ptr[0];
    bool is_prefixed = field.len > 2 && first == '0' && field.ptr[1] == 'x';
    const size_t skipped = is_prefixed ? 2 : first == '+' || first == '-';
    uint64_t number;
    if (!read_digits((struct fp_str){field.ptr + skipped, field.len - skipped}, 16, &number))
        return false;
    if (first == '+')
        number = *last + number;
    else if (first == '-')
        number = *last - number;
    *last = number;
    return true;
}

/* Commands. */

/* Returns the first bytes of a name, mixed with its length. */
static uint64_t key_of(struct fp_str name)
{
    uint64_t key = 0;
    memcpy(&key, name.ptr, name.len < sizeof(key) ? name.len : sizeof(key));
    return key ^ name.len << 56;
}

/* Hashes a name to its alias slot. Most names are not aliases and hit an empty slot. */
static uint8_t slot_of(uint64_t key)
{
    return (uint8_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

/* Returns COMMAND_COUNT for a command that is not read. */
static enum v8_command find_command(struct fp_str name)
{
    enum v8_command command = TICK;
    while (command < COMMAND_COUNT && !fp_str_equal(name, command_names[command]))
        command++;
    return command;
}

static bool is_alias(const struct v8_alias *alias, uint64_t key, struct fp_str name,
                     bool is_command)
{
    return alias->key == key && (alias->command < COMMAND_COUNT) == is_command &&
           fp_str_equal(name, alias->name);
}

/* Returns an alias's index, alias_count if there is none. */
static uint32_t find_alias(const struct fp_st_v8 *log, struct fp_str name, bool is_command)
{
    const uint64_t key = key_of(name);
    const uint32_t slot = log->alias_slots[slot_of(key)];
    if (slot == 0)
        return log->alias_count;
    if (is_alias(&log->aliases[slot - 1], key, name, is_command))
        return slot - 1;
    uint32_t at = 0;
    while (at < log->alias_count && !is_alias(&log->aliases[at], key, name, is_command))
        at++;
    return at;
}

static enum v8_command command_of(const struct fp_st_v8 *log, struct fp_str name)
{
    const uint32_t at = find_alias(log, name, true);
    return at < log->alias_count ? log->aliases[at].command : find_command(name);
}

static struct fp_str kind_of(const struct fp_st_v8 *log, struct fp_str name)
{
    const uint32_t at = find_alias(log, name, false);
    return at < log->alias_count ? log->aliases[at].meaning : name;
}

static bool is_known_kind(struct fp_str kind)
{
    for (size_t i = 0; i < FP_COUNT(kind_names); i++)
        if (fp_str_equal(kind, fp_str_of(kind_names[i])))
            return true;
    return false;
}

static bool copy(struct fp_st_dump *dump, struct fp_str text, struct fp_str *copied)
{
    return fp_utf8_copy(dump->decoder->arena, text, copied) || fp_fail_memory(dump->decoder);
}

static enum outcome read_alias(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    if (line->count < 3)
        return UNREADABLE;
    struct v8_alias alias = {.key = key_of(line->fields[1]),
                             .command = find_command(line->fields[2])};
    const uint32_t at = find_alias(log, line->fields[1], alias.command < COMMAND_COUNT);
    if (at == ALIASES_MAX)
        return UNREADABLE;
    if (!copy(dump, line->fields[1], &alias.name) || !copy(dump, line->fields[2], &alias.meaning))
        return REFUSED;
    log->aliases[at] = alias;
    log->alias_slots[slot_of(alias.key)] = (uint8_t)(at + 1);
    log->alias_count += at == log->alias_count;
    return DONE;
}

/* Resets the log: a profiler that begins, in any process, logs everything again. */
static void begin(struct fp_st_v8 *log, uint64_t interval_ms)
{
    fp_st_code_map_clear(&log->code);
    log->window.size = 0;
    log->is_partial = false;
    log->alias_count = 0;
    memset(log->alias_slots, 0, sizeof(log->alias_slots));
    log->code_address = 0;
    log->moved_address = 0;
    bool is_given = interval_ms > 0 && interval_ms <= INTERVAL_MAX_MS;
    log->interval_us = is_given ? (int64_t)interval_ms * FP_US_PER_MS : FP_US_PER_MS;
}

static enum outcome read_profiler(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    const struct fp_str what = line->count > 1 ? unquote(line->fields[1]) : (struct fp_str){0};
    uint64_t number = 0;
    if (line->count > 2 && !read_digits(line->fields[2], 10, &number))
        return UNREADABLE;
    if (fp_str_equal(what, FP_STR("begin"))) {
        begin(log, number);
    } else if (fp_str_equal(what, FP_STR("compression"))) {
        log->window.count = 0;
        log->window.size = number < FP_ST_V8_WINDOW_MAX ? (uint32_t)number : FP_ST_V8_WINDOW_MAX;
    }
    return DONE; /* pause and resume need nothing: a paused profiler logs nothing */
}

static enum outcome read_creation(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    struct fp_st_code code = {.frame = FP_INDEX_NONE};
    if (line->count < 5 || !read_address(line->fields[2], &log->code_address) ||
        !read_digits(line->fields[3], 10, &code.len))
        return UNREADABLE;
    code.begin = log->code_address;
    code.kind = kind_of(log, line->fields[1]);
    bool is_alias_kind = code.kind.ptr != line->fields[1].ptr; /* copied with the alias */
    if ((!is_alias_kind && !copy(dump, code.kind, &code.kind)) ||
        !copy(dump, unquote(line->fields[4]), &code.name))
        return REFUSED;
    if (!is_known_kind(code.kind))
        fp_st_add_note(dump, FP_ST_NOTE_UNKNOWN_CODE);
    if (fp_st_code_map_add(&log->code, &code))
        return DONE;
    (void)fp_fail_memory(dump->decoder);
    return REFUSED;
}

static enum outcome read_move(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    if (line->count < 3 || !read_address(line->fields[1], &log->code_address) ||
        !read_address(line->fields[2], &log->moved_address))
        return UNREADABLE;
    struct fp_st_code code;
    if (!fp_st_code_map_remove(&log->code, log->code_address, &code))
        return DONE;
    code.begin = log->moved_address;
    if (fp_st_code_map_add(&log->code, &code))
        return DONE;
    (void)fp_fail_memory(dump->decoder);
    return REFUSED;
}

static enum outcome read_delete(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    struct fp_st_code code;
    if (line->count < 2 || !read_address(line->fields[1], &log->code_address))
        return UNREADABLE;
    (void)fp_st_code_map_remove(&log->code, log->code_address, &code);
    return DONE;
}

/* Reads `tick,pc,sp,state[,return address…]`. The first return address is a difference to pc. */
static enum outcome read_tick(struct fp_st_dump *dump, const struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    uint64_t state;
    if (line->count < FIRST_FRAME || !read_address(line->fields[1], &log->code_address) ||
        !read_digits(line->fields[3], 10, &state))
        return UNREADABLE;
    struct fp_st_code *codes[1 + STACK_MAX];
    struct fp_st_v8_tick tick = {
        .codes = codes,
        .state = (uint32_t)(state < FP_ST_VM_UNKNOWN ? state : FP_ST_VM_UNKNOWN),
        .time_us = line->time_us,
        .weight_us = log->interval_us,
    };
    uint64_t address = log->code_address;
    for (size_t i = FIRST_FRAME - 1; i < line->count; i++) {
        /* The stack may hold the word overflow. */
        if (i >= FIRST_FRAME && !read_address(line->fields[i], &address))
            continue;
        struct fp_st_code *code = fp_st_code_map_find(&log->code, address);
        if (code != NULL && tick.code_count < dump->decoder->limits->stack_depth)
            codes[tick.code_count++] = code;
    }
    return fp_st_v8_ticks_add(dump, &log->ticks, &tick) ? DONE : REFUSED;
}

typedef enum outcome (*read_command)(struct fp_st_dump *, const struct v8_line *);

/* REPEAT is resolved before. */
static const read_command readers[COMMAND_COUNT + 1] = {
    [TICK] = read_tick,          [CODE_CREATION] = read_creation,
    [CODE_DELETE] = read_delete, [CODE_MOVE] = read_move,
    [ALIAS] = read_alias,        [PROFILER] = read_profiler,
};

/* Lines. */

static enum outcome fail_lines(struct fp_st_dump *dump)
{
    fp_upload_fail(dump->decoder->error, FP_VERDICT_TOO_LARGE,
                   "the V8 profiles have more than %d lines", LINES_MAX);
    (void)fp_st_fail_at_record(dump);
    return REFUSED;
}

/* Removes `repeat,n,` from a line that begins with it. */
static bool cut_repeat(struct v8_line *line, struct fp_str *text, uint64_t *times)
{
    if (line->count < 3 || !read_digits(line->fields[1], 10, times))
        return false;
    const size_t skipped = (size_t)(line->fields[2].ptr - text->ptr);
    *text = (struct fp_str){text->ptr + skipped, text->len - skipped};
    split(*text, line);
    return true;
}

static enum outcome read_line(struct fp_st_dump *dump, struct fp_str text, struct v8_line *line)
{
    struct fp_st_v8 *log = dump->v8;
    if (++log->line_count > LINES_MAX)
        return fail_lines(dump);
    if (!fp_st_v8_window_expand(&log->window, text, &line->text))
        return UNREADABLE;
    struct fp_str once = {line->text.text, line->text.len};
    split(once, line);
    enum v8_command command = command_of(log, line->fields[0]);
    uint64_t times = 1;
    if (command == REPEAT) {
        if (!cut_repeat(line, &once, &times))
            return UNREADABLE;
        command = command_of(log, line->fields[0]);
    }
    const read_command read = readers[command];
    if (read == NULL)
        fp_st_add_note(dump, FP_ST_NOTE_UNKNOWN_COMMAND);
    /* The engine does not compress these two. */
    if (read != read_alias && read != read_profiler)
        fp_st_v8_window_add(&log->window, once);
    enum outcome outcome = DONE;
    for (; read != NULL && times > 0 && outcome == DONE; times--)
        outcome = log->line_count++ < LINES_MAX ? read(dump, line) : fail_lines(dump);
    return outcome;
}

bool fp_st_v8_read(struct fp_st_dump *dump, struct fp_str text, int64_t time_us)
{
    struct v8_line line;
    line.time_us = time_us;
    fp_st_v8_ticks_begin(dump, &dump->v8->ticks);
    for (size_t at = 0; at < text.len;) {
        const char *newline = memchr(text.ptr + at, '\n', text.len - at);
        const size_t end = newline != NULL ? (size_t)(newline - text.ptr) : text.len;
        enum outcome outcome = DONE;
        if (end > at)
            outcome = read_line(dump, (struct fp_str){text.ptr + at, end - at}, &line);
        if (outcome == REFUSED)
            return false;
        if (dump->v8->is_partial)
            dump->decoder->profile->session.is_detached = true;
        if (outcome == UNREADABLE)
            fp_st_add_note(dump, FP_ST_NOTE_BAD_PROFILE_LINE);
        at = end + 1;
    }
    return true;
}

const struct fp_st_v8_ticks *fp_st_v8_ticks_of(const struct fp_st_v8 *log)
{
    return &log->ticks;
}
