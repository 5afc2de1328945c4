/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications of chats: Slack's Block Kit and an Adaptive Card of Teams.
 */
#include "cli/ask/notification_text.h"

#include "cli/kit/memory.h"

#include <stdlib.h>

enum {
    SHOWN_MAX = 20,    /* rows: Slack takes 50 blocks */
    TEAMS_MAX = 28000, /* bytes: Teams drops a longer message, and answers as to others */
    ADDRESS_MAX = 600, /* longer ones are left out: a block of Slack has 3,000 characters */
    PART_MAX = 4 * 1024,
};

static size_t shown_of(const struct fp_notification *notification)
{
    return notification->count < SHOWN_MAX ? notification->count : SHOWN_MAX;
}

static bool has_room(const char *address)
{
    return address != NULL && address[0] != '\0' && strlen(address) <= ADDRESS_MAX;
}

/* Returns how many findings are not shown as a sentence, NULL if all are. The caller frees it. */
static char *rest_of(const struct fp_notification *notification, size_t shown)
{
    const size_t rest = notification->count - shown;
    return rest > 0 ? fp_memory_print("And %zu more.", rest) : NULL;
}

/* ---- Slack ---- */

/* Appends with the characters that control Slack's text as entities: so <!channel> calls nobody. */
static void put_escaped(struct fp_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '&' || *c == '<' || *c == '>')
            fp_buf_addf(out, "%s", *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : "&gt;");
        else
            fp_buf_add(out, *c == '`' ? "'" : c, 1);
}

/* Appends a stranger's text as code, where * and : mean nothing. */
static void put_slack_code(struct fp_buf *out, const char *text)
{
    const struct fp_notification_text cut = fp_notification_cut(text);
    if (cut.text[0] == '\0')
        return;
    fp_buf_addf(out, "`");
    put_escaped(out, cut.text);
    fp_buf_addf(out, "`");
}

static void put_slack_link(struct fp_buf *out, const char *label, const char *address)
{
    if (!has_room(address))
        return;
    fp_buf_addf(out, " <");
    for (const char *c = address; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("<>|`", *c) != NULL)
            fp_buf_addf(out, "%%%02X", (unsigned char)*c);
        else
            fp_buf_addf(out, *c == '&' ? "&amp;" : "%c", *c);
    fp_buf_addf(out, "|%s>", label);
}

static void add_section(yyjson_mut_doc *doc, yyjson_mut_val *blocks, const char *markdown)
{
    yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, blocks);
    fp_notification_add(doc, block, "type", "section");
    yyjson_mut_val *text = yyjson_mut_obj_add_obj(doc, block, "text");
    fp_notification_add(doc, text, "type", "mrkdwn");
    fp_notification_add(doc, text, "text", markdown);
}

static void write_section(const struct fp_notification_finding *finding, struct fp_buf *out)
{
    put_slack_code(out, finding->name);
    fp_buf_addf(out, " ");
    put_escaped(out, finding->fact);
    fp_buf_addf(out, "\n");
    put_slack_code(out, finding->place);
    put_slack_link(out, "source", finding->source_link);
    put_slack_link(out, "report", finding->link);
    if (fp_notification_has(finding->owner)) {
        fp_buf_addf(out, "\nOwner: ");
        put_slack_code(out, finding->owner);
    }
    if (!fp_notification_has(finding->suspects))
        return;
    fp_buf_addf(out, "\nSuspects: ");
    put_slack_code(out, fp_notification_suspects(finding->suspects).text);
}

void fp_notification_slack(const struct fp_notification *notification, struct fp_buf *out)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *message = yyjson_mut_obj(doc);
    struct fp_buf part;
    fp_buf_init(&part, PART_MAX);
    fp_notification_title(notification, &part, put_slack_code);
    fp_notification_add(doc, message, "text", fp_memory_text(&part)); /* of notifications */
    yyjson_mut_val *blocks = yyjson_mut_obj_add_arr(doc, message, "blocks");
    fp_buf_clear(&part);
    fp_notification_title(notification, &part, put_slack_code);
    put_slack_link(&part, "Report", notification->link);
    add_section(doc, blocks, fp_memory_text(&part));
    for (size_t i = 0; i < shown_of(notification); i++) {
        fp_buf_clear(&part);
        write_section(&notification->findings[i], &part);
        add_section(doc, blocks, fp_memory_text(&part));
    }
    char *rest = rest_of(notification, shown_of(notification));
    if (rest != NULL)
        add_section(doc, blocks, rest);
    free(rest);
    fp_buf_release(&part);
    fp_notification_end(doc, message, out);
}

/* ---- Teams ---- */

/* Adds a block of text that is not Markdown, other than that of a TextBlock. */
static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *items, const char *text, bool is_bold)
{
    yyjson_mut_val *block = yyjson_mut_arr_add_obj(doc, items);
    fp_notification_add(doc, block, "type", "RichTextBlock");
    yyjson_mut_val *run =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, block, "inlines"));
    fp_notification_add(doc, run, "type", "TextRun");
    (void)yyjson_mut_obj_add_strcpy(doc, run, "text", text);
    if (is_bold)
        fp_notification_add(doc, run, "weight", "bolder");
}

/* Adds a cell; one with an address opens it. */
static void add_cell(yyjson_mut_doc *doc, yyjson_mut_val *cells, const char *text,
                     const char *address, bool is_bold)
{
    yyjson_mut_val *cell = yyjson_mut_arr_add_obj(doc, cells);
    fp_notification_add(doc, cell, "type", "TableCell");
    add_text(doc, yyjson_mut_obj_add_arr(doc, cell, "items"), text, is_bold);
    if (!has_room(address))
        return;
    yyjson_mut_val *action = yyjson_mut_obj_add_obj(doc, cell, "selectAction");
    fp_notification_add(doc, action, "type", "Action.OpenUrl");
    fp_notification_add(doc, action, "url", address);
}

/* Adds the cell of the name, its owner, and who is suspected. */
static void add_what(yyjson_mut_doc *doc, yyjson_mut_val *cells,
                     const struct fp_notification_finding *finding)
{
    struct fp_buf text;
    fp_buf_init(&text, PART_MAX);
    fp_notification_put(&text, finding->name);
    if (fp_notification_has(finding->owner)) {
        fp_buf_addf(&text, " (owner: ");
        fp_notification_put(&text, finding->owner);
        fp_buf_addf(&text, ")");
    }
    if (fp_notification_has(finding->suspects)) {
        fp_buf_addf(&text, " (suspects: ");
        fp_notification_put(&text, fp_notification_suspects(finding->suspects).text);
        fp_buf_addf(&text, ")");
    }
    add_cell(doc, cells, fp_memory_text(&text), finding->link, false);
    fp_buf_release(&text);
}

static yyjson_mut_val *add_row(yyjson_mut_doc *doc, yyjson_mut_val *rows)
{
    yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
    fp_notification_add(doc, row, "type", "TableRow");
    return yyjson_mut_obj_add_arr(doc, row, "cells");
}

static void add_table(yyjson_mut_doc *doc, yyjson_mut_val *body,
                      const struct fp_notification *notification, size_t shown)
{
    yyjson_mut_val *table = yyjson_mut_arr_add_obj(doc, body);
    fp_notification_add(doc, table, "type", "Table");
    yyjson_mut_val *columns = yyjson_mut_obj_add_arr(doc, table, "columns");
    for (size_t i = 0; i < 3 + FP_FINDING_CELLS; i++)
        (void)yyjson_mut_obj_add_int(doc, yyjson_mut_arr_add_obj(doc, columns), "width",
                                     i == 1 || i == 2 ? 2 : 1);
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, table, "rows");
    yyjson_mut_val *head = add_row(doc, rows);
    add_cell(doc, head, "verdict", NULL, true);
    add_cell(doc, head, "what", NULL, true);
    add_cell(doc, head, "where", NULL, true);
    for (size_t i = 0; i < FP_FINDING_CELLS; i++)
        add_cell(doc, head, notification->headings[i], NULL, true);
    for (size_t i = 0; i < shown; i++) {
        const struct fp_notification_finding *finding = &notification->findings[i];
        yyjson_mut_val *row = add_row(doc, rows);
        add_cell(doc, row, finding->verdict, NULL, false);
        add_what(doc, row, finding);
        add_cell(doc, row, fp_notification_cut(finding->place).text, finding->source_link, false);
        for (size_t j = 0; j < FP_FINDING_CELLS; j++)
            add_cell(doc, row, finding->cells[j], NULL, false);
    }
}

static void add_action(yyjson_mut_doc *doc, yyjson_mut_val *card, const char *address)
{
    if (!has_room(address))
        return;
    yyjson_mut_val *action =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, card, "actions"));
    fp_notification_add(doc, action, "type", "Action.OpenUrl");
    fp_notification_add(doc, action, "title", "Report");
    fp_notification_add(doc, action, "url", address);
}

/* Appends a message with the first findings in its table. */
static void write_card(const struct fp_notification *notification, size_t shown, struct fp_buf *out)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_val *message = yyjson_mut_obj(doc);
    fp_notification_add(doc, message, "type", "message");
    yyjson_mut_val *attachment =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, message, "attachments"));
    fp_notification_add(doc, attachment, "contentType", "application/vnd.microsoft.card.adaptive");
    (void)yyjson_mut_obj_add_null(doc, attachment, "contentUrl");
    yyjson_mut_val *card = yyjson_mut_obj_add_obj(doc, attachment, "content");
    fp_notification_add(doc, card, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    fp_notification_add(doc, card, "type", "AdaptiveCard");
    fp_notification_add(doc, card, "version", "1.5");
    yyjson_mut_val *body = yyjson_mut_obj_add_arr(doc, card, "body");
    struct fp_buf title;
    fp_buf_init(&title, PART_MAX);
    fp_notification_title(notification, &title, fp_notification_put);
    add_text(doc, body, fp_memory_text(&title), true);
    fp_buf_release(&title);
    if (shown > 0)
        add_table(doc, body, notification, shown);
    char *rest = rest_of(notification, shown);
    if (rest != NULL)
        add_text(doc, body, rest, false);
    free(rest);
    add_action(doc, card, notification->link);
    fp_notification_end(doc, message, out);
}

void fp_notification_teams(const struct fp_notification *notification, struct fp_buf *out)
{
    const size_t start = out->len;
    size_t shown = shown_of(notification);
    write_card(notification, shown, out);
    while (out->len - start > TEAMS_MAX && shown > 0) {
        out->len = start;
        write_card(notification, --shown, out);
    }
}
