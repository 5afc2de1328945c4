/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof spool dead-letters replay: uploads dead letters again, and counts refused records.
 */
#include "cli/feed/upload.h"
#include "cli/feed/upload_address.h"
#include "cli/feed/upload_options.h"
#include "cli/kit/grid.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "cli/spool/record_replay.h"
#include "cli/spool/refused.h"
#include "cli/spool/spool.h"
#include "collector/base/uuid.h"

#include <errno.h>

enum { OPTION_ALL = FP_OPTION_FIRST };

struct replay_options {
    struct fp_refused_options refused;
    struct fp_upload_target target;
    char **ids; /* of argv */
    int id_count;
    bool all;
    enum fp_form form;
};

static const struct argp_option options[] = {
    {"all", OPTION_ALL, NULL, 0, "replay all that `list' lists", 0},
    {0},
};

static error_t parse_replay(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct replay_options *replay = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &replay->refused;
        state->child_inputs[1] = &replay->target;
        state->child_inputs[2] = &replay->form;
        return 0;
    case OPTION_ALL:
        replay->all = true;
        return 0;
    case ARGP_KEY_ARGS:
        replay->ids = state->argv + state->next;
        replay->id_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (replay->all == (replay->id_count > 0))
            argp_error(state, "give IDs, or --all");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_refused_argp, 0, NULL, 0},
    {&fp_upload_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp replay_argp = {
    .options = options,
    .parser = parse_replay,
    .children = children,
    .args_doc = "[ID...]",
    .doc = "Uploads dead letters to the collector once more, and removes those that it accepts; "
           "the others stay, with the new reason. Records that the database refused are written to "
           "the configuration's database.\v"
           "An upload counts in the hour of its replay; a record in the hour in which it was "
           "received.",
};

static const struct fp_grid_column columns[] = {
    {"id", NULL, FP_CELL_TEXT},        {"accepted", NULL, FP_CELL_BOOLEAN},
    {"status", NULL, FP_CELL_INTEGER}, {"pointer", NULL, FP_CELL_TEXT},
    {"offset", NULL, FP_CELL_INTEGER}, {"detail", NULL, FP_CELL_TEXT},
};

struct replay {
    const struct replay_options *given;
    struct fp_refused_list list;
    struct fp_record_replay *record_replay; /* made for the first record */
    struct fp_grid grid;                    /* the answers, for JSON */
    int accepted;
    int tried;
};

/* ---- one letter ---- */

/* Writes the URL for a letter's format, whose name a stranger chose. */
static bool write_url(const char *url, struct fp_str format, char *to, size_t size)
{
    bool is_name =
        strspn(format.ptr, "abcdefghijklmnopqrstuvwxyz-") == format.len && format.len > 0;
    int len = snprintf(to, size, "%s%s%.*s", url, is_name ? "?format=" : "",
                       is_name ? (int)format.len : 0, format.ptr);
    return len >= 0 && len < (int)size;
}

/* Returns the key of a letter without one: it counts once even if its replay is interrupted and run
 * again. A letter with the same body, received at another time, is another upload. */
static struct fp_uuid letter_key(const struct fp_refused_entry *entry, struct fp_str body)
{
    const struct fp_uuid content = fp_uuid_of_bytes(body.ptr, body.len);
    return fp_uuid_of_part(&content, (uint32_t)entry->number);
}

static bool send_letter(const struct replay *replay, const struct fp_refused_entry *entry,
                        const struct fp_refused *refused, struct fp_upload_reply *reply)
{
    const struct fp_letter *letter = &refused->letter;
    struct fp_upload_address found;
    /* Without --url a letter goes to the address of its own site. */
    struct fp_upload_target target = replay->given->target;
    char url[640];
    if (!fp_upload_address_complete(replay->list.config, letter->site.ptr, &found, &target))
        return false;
    if (!write_url(target.url, letter->format, url, sizeof(url))) {
        fp_message_error("the URL is too long");
        return false;
    }
    target.url = url;
    struct fp_uploader *uploader = fp_uploader_create(&target);
    const struct fp_upload_content content = {
        .body = refused->body,
        .type = letter->content_type,
        .encoding = letter->encoding,
        .key = letter->has_key ? letter->key : letter_key(entry, refused->body),
        .is_replay = true,
    };
    fp_uploader_send(uploader, &content, reply);
    fp_uploader_free(uploader);
    return true;
}

/* Writes the new reason above the letter's body. */
static bool keep_reason(const struct replay *replay, const struct fp_refused_entry *entry,
                        const struct fp_refused *refused, const struct fp_upload_reply *reply)
{
    struct fp_letter letter = refused->letter;
    struct fp_problem *problem = &letter.problem;
    fp_problem_set(problem, (unsigned)reply->status, "%s", reply->detail);
    problem->offset = reply->offset;
    problem->has_pointer = reply->pointer[0] != '\0';
    (void)snprintf(problem->pointer, sizeof(problem->pointer), "%s", reply->pointer);
    struct fp_buf head;
    fp_buf_init(&head, FP_LETTER_HEAD_MAX);
    fp_letter_add_head(&letter, refused->body.len, &head);
    size_t head_len = head.len;
    bool put = fp_letter_put(fp_refused_dir(&replay->list, entry), entry->number,
                             (struct fp_str){fp_memory_text(&head), head_len}, refused->body);
    fp_buf_release(&head);
    if (!put)
        fp_message_error("could not write the new reason to %s: %s", entry->id, strerror(errno));
    return put;
}

/* Prints the error of an answer, if any, and returns its exit code. */
static enum fp_exit judge_letter(const struct replay *replay, const struct fp_refused_entry *entry,
                                 const struct fp_refused *refused,
                                 const struct fp_upload_reply *reply)
{
    const struct fp_fault fault = {reply->pointer, reply->offset, reply->detail};
    switch (reply->status) {
    case 204:
        return fp_refused_remove(&replay->list, entry) ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
    case 400:
    case 413:
    case 415:
    case 422:
        if (replay->given->form == FP_FORM_PEOPLE)
            fp_message_fault(entry->id, &fault);
        return keep_reason(replay, entry, refused, reply) ? FP_EXIT_NO : FP_EXIT_TROUBLE;
    case 403: /* refused for key, origin or token, not for its content */
        if (replay->given->form == FP_FORM_PEOPLE)
            fp_message_fault(entry->id, &fault);
        return FP_EXIT_NO;
    default:
        fp_upload_complain(entry->id, reply);
        return FP_EXIT_TROUBLE;
    }
}

static void add_answer(struct fp_grid *grid, const char *id, const struct fp_upload_reply *reply)
{
    fp_grid_add(grid, id);
    fp_grid_add(grid, reply->status == 204 ? "true" : "false");
    fp_grid_add_integer(grid, reply->status);
    fp_grid_add_text(grid, reply->pointer);
    fp_grid_add_optional(grid, reply->offset >= 0, reply->offset);
    fp_grid_add_text(grid, reply->detail);
}

static enum fp_exit replay_letter(struct replay *replay, const struct fp_refused_entry *entry,
                                  const struct fp_refused *refused)
{
    struct fp_upload_reply reply;
    if (!send_letter(replay, entry, refused, &reply))
        return FP_EXIT_TROUBLE;
    add_answer(&replay->grid, entry->id, &reply);
    return judge_letter(replay, entry, refused, &reply);
}

/* ---- one record ---- */

static void add_verdict(struct fp_grid *grid, const char *id, const char *trouble)
{
    fp_grid_add(grid, id);
    fp_grid_add(grid, trouble == NULL ? "true" : "false");
    fp_grid_add_nothing(grid, 3);
    fp_grid_add(grid, trouble);
}

static enum fp_exit replay_record(struct replay *replay, const struct fp_refused_entry *entry,
                                  const struct fp_refused *refused)
{
    if (replay->list.config == NULL) {
        fp_message_error("no database was named for %s", entry->id);
        fp_message_hint("Give --config FILE.");
        return FP_EXIT_TROUBLE;
    }
    if (replay->record_replay == NULL)
        replay->record_replay = fp_record_replay_create(replay->list.config);
    enum fp_store_result result = fp_record_replay_run(replay->record_replay, &refused->record);
    const char *trouble =
        result == FP_STORE_OK ? NULL : fp_record_replay_message(replay->record_replay);
    add_verdict(&replay->grid, entry->id, trouble);
    if (result == FP_STORE_OK)
        return fp_refused_remove(&replay->list, entry) ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
    if (result != FP_STORE_REFUSED) {
        fp_message_error("could not write %s to the database", entry->id);
        fp_message_detail("%s", trouble);
        return FP_EXIT_TROUBLE;
    }
    const struct fp_fault fault = {NULL, -1, trouble};
    if (replay->given->form == FP_FORM_PEOPLE)
        fp_message_fault(entry->id, &fault);
    return FP_EXIT_NO;
}

/* ---- all of them ---- */

static enum fp_exit replay_one(struct replay *replay, const struct fp_refused_entry *entry)
{
    struct fp_refused refused;
    if (!fp_refused_open(&replay->list, entry, &refused))
        return FP_EXIT_TROUBLE;
    enum fp_exit code = FP_EXIT_NO;
    replay->tried++;
    if (!refused.is_whole)
        fp_message_error("%s cannot be read by this version", entry->id);
    else if (entry->is_record)
        code = replay_record(replay, entry, &refused);
    else
        code = replay_letter(replay, entry, &refused);
    replay->accepted += code == FP_EXIT_FINE;
    fp_refused_close(&refused);
    return code;
}

static enum fp_exit replay_id(struct replay *replay, const char *id)
{
    const struct fp_refused_entry *entry = fp_refused_by_id(&replay->list, id);
    if (entry != NULL)
        return replay_one(replay, entry);
    fp_message_error("there is no dead letter \"%s\"", id);
    return FP_EXIT_TROUBLE;
}

/* Replays all that were asked for, until one fails for a reason that is not its own. */
static enum fp_exit replay_all(struct replay *replay)
{
    const struct replay_options *given = replay->given;
    size_t count = given->all ? replay->list.count : (size_t)given->id_count;
    enum fp_exit worst = FP_EXIT_FINE;
    for (size_t i = 0; i < count && worst != FP_EXIT_TROUBLE; i++) {
        enum fp_exit code = given->all ? replay_one(replay, &replay->list.entries[i])
                                       : replay_id(replay, given->ids[i]);
        if (code > worst)
            worst = code;
    }
    if (given->form != FP_FORM_PEOPLE)
        fp_grid_print(&replay->grid, given->form);
    else
        (void)printf("%d of %d accepted\n", replay->accepted, replay->tried);
    return worst;
}

enum fp_exit fp_spool_replay_command(int argc, char **argv)
{
    struct replay_options given = {0};
    struct replay replay = {.given = &given};
    fp_command_parse(&replay_argp, argc, argv, &given);
    fp_grid_init(&replay.grid, columns, sizeof(columns) / sizeof(columns[0]));
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (fp_refused_find(&given.refused, &replay.list))
        code = replay_all(&replay);
    if (replay.record_replay != NULL)
        fp_record_replay_free(replay.record_replay);
    fp_grid_release(&replay.grid);
    fp_refused_release(&replay.list);
    return code;
}
