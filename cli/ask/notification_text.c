/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notification text: cuts strangers' texts, and writes what several formats have.
 */
#include "cli/ask/notification_text.h"

#include "cli/ask/suspects.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns the length of the text's first bytes, whole characters of UTF-8, that fit. */
static size_t fitting_len(const char *text, size_t max)
{
    size_t len = strnlen(text, max + 1);
    if (len <= max)
        return len;
    for (len = max; len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80;)
        len--;
    return len;
}

enum { TEXT_MAX = 200 };
static const char ellipsis[] = "…";

struct fp_notification_text fp_notification_cut(const char *text)
{
    struct fp_notification_text cut = {""};
    const size_t len = fitting_len(text, TEXT_MAX);
    (void)snprintf(cut.text, sizeof(cut.text), "%.*s%s", (int)len, text,
                   text[len] != '\0' ? ellipsis : "");
    (void)fp_message_make_plain(cut.text);
    return cut;
}

struct fp_notification_text fp_notification_suspects(const char *suspects)
{
    static const char separator[] = "; ";
    enum { EXTRA = sizeof(ellipsis) - 1 + sizeof(separator) - 1 };
    struct fp_notification_text joined = {""};
    size_t count = 1;
    size_t written = 0;
    for (const char *end = strchr(suspects, '\n'); end != NULL; end = strchr(end + 1, '\n'))
        count++;
    FP_ASSERT(count <= FP_SUSPECTS_MAX);
    const size_t share = TEXT_MAX / count - EXTRA;
    for (const char *commit = suspects; *commit != '\0';) {
        const size_t len = strcspn(commit, "\n");
        const size_t fitting = fitting_len(commit, share);
        const size_t kept = len < fitting ? len : fitting;
        written += (size_t)snprintf(joined.text + written, sizeof(joined.text) - written,
                                    "%s%.*s%s", written > 0 ? separator : "", (int)kept, commit,
                                    kept < len ? ellipsis : "");
        commit += len + (commit[len] == '\n');
    }
    (void)fp_message_make_plain(joined.text);
    return joined;
}

void fp_notification_title(const struct fp_notification *notification, struct fp_buf *out,
                           void (*put)(struct fp_buf *out, const char *text))
{
    if (notification->is_judged)
        fp_buf_addf(out, "%zu finding%s", notification->count, notification->count == 1 ? "" : "s");
    else
        fp_buf_addf(out, "Nothing could be judged");
    for (size_t i = 0; notification->title[i] != NULL; i++)
        if (i % 2 == 0)
            fp_buf_addf(out, "%s", notification->title[i]);
        else
            put(out, notification->title[i]);
}

void fp_notification_put(struct fp_buf *out, const char *text)
{
    fp_buf_addf(out, "%s", fp_notification_cut(text).text);
}

bool fp_notification_has(const char *text)
{
    return text != NULL && text[0] != '\0';
}

void fp_notification_sentence(const struct fp_notification_finding *finding, struct fp_buf *out)
{
    fp_notification_put(out, finding->name);
    fp_buf_addf(out, " %s", finding->fact);
    if (fp_notification_has(finding->owner)) {
        fp_buf_addf(out, ". Owner: ");
        fp_notification_put(out, finding->owner);
    }
    if (!fp_notification_has(finding->suspects))
        return;
    fp_buf_addf(out, ". Suspects: ");
    fp_buf_addf(out, "%s", fp_notification_suspects(finding->suspects).text);
}

void fp_notification_quote(struct fp_buf *out, const char *text)
{
    yyjson_mut_doc *doc = fp_notification_begin();
    yyjson_mut_doc_set_root(doc, yyjson_mut_str(doc, text));
    char *quoted = fp_memory_need(yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL));
    fp_buf_addf(out, "%s", quoted);
    free(quoted);
    yyjson_mut_doc_free(doc);
}

void fp_notification_add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                         const char *text)
{
    if (text != NULL && text[0] != '\0')
        (void)yyjson_mut_obj_add_strcpy(doc, object, name, text);
}

void fp_notification_add_cut(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                             const char *text)
{
    fp_notification_add(doc, object, name, fp_notification_cut(text).text);
}

yyjson_mut_doc *fp_notification_begin(void)
{
    return fp_memory_need(yyjson_mut_doc_new(NULL));
}

void fp_notification_end(yyjson_mut_doc *doc, yyjson_mut_val *root, struct fp_buf *out)
{
    yyjson_mut_doc_set_root(doc, root);
    char *text = fp_memory_need(yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL));
    fp_buf_addf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}
