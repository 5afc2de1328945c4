/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Webhook: posts; a file has one line per finding: the hash of URL and key, and, of one that may be
 * gone some day, the hash of URL and scope, and what resolves it.
 */
#include "cli/ask/webhook.h"

#include "cli/kit/client.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TIMEOUT_MS = 30 * 1000,
    REPLY_MAX = 1024 * 1024, /* a small one leaves the connection whole */
    MAX_FINDINGS = 10000,    /* older ones are forgotten, and may be posted again */
    URL_MAX = 4096,
    HASH_DIGITS = 16,
};

struct posted {
    uint64_t hash;
    uint64_t refused_hash; /* of a noted one that is posted: its hash if it is refused */
    uint64_t scope;        /* 0: never gone */
    char *resolution;      /* owned; NULL: none */
};

struct fp_webhook {
    char *url;
    char *format;
    char *access; /* NULL: none */
    char *file;
    char *next; /* what takes the file's place after the post */
    int lock;   /* the file's directory, locked so that two runs do not post the same; or -1 */
    struct posted *findings; /* the known ones, oldest first; then the noted ones */
    size_t count;
    size_t known;
    size_t capacity;
};

/* ---- the URL ---- */

static bool is_web(const char *url)
{
    const bool has_scheme =
        strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    return has_scheme && strstr(url, "://")[3] != '\0' && strpbrk(url, " \t") == NULL;
}

/* Says who else can read the URL, for which the file is there. */
static void warn_of_readers(const char *file, const struct stat *status)
{
    if (!S_ISREG(status->st_mode) || (status->st_mode & S_IROTH) == 0)
        return;
    fp_message_notice("%s is readable by all users of this machine", file);
    fp_message_hint("Take the right away: chmod o-r %s", file);
}

/* Reads a line without its end and the blanks around it. */
static void read_line(FILE *stream, char line[URL_MAX])
{
    if (fgets(line, URL_MAX, stream) == NULL)
        line[0] = '\0';
    const size_t skip = strspn(line, " \t");
    size_t len = strcspn(line + skip, "\r\n");
    while (len > 0 && strchr(" \t", line[skip + len - 1]) != NULL)
        len--;
    memmove(line, line + skip, len);
    line[len] = '\0';
}

char *fp_webhook_read_url(const char *file)
{
    char line[URL_MAX];
    struct stat status;
    FILE *stream = fopen(file, "re");
    bool fine = stream != NULL && fstat(fileno(stream), &status) == 0;
    if (fine) {
        read_line(stream, line);
        fine = ferror(stream) == 0;
    }
    const int error = errno;
    if (stream != NULL)
        (void)fclose(stream);
    if (!fine) {
        fp_message_error("could not read %s: %s", file, strerror(error));
        return NULL;
    }
    warn_of_readers(file, &status);
    if (is_web(line) && strlen(line) + 1 < URL_MAX)
        return fp_memory_copy(line);
    fp_message_error("the first line of %s is not an http or https URL", file);
    return NULL;
}

/* ---- the list ---- */

/* Makes the directories of a path that are missing; a failure shows when the file is opened. */
static void make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static char *usual_file(void)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state != NULL && state[0] == '/')
        return fp_memory_print("%s/fleetprof/posted", state);
    if (home != NULL && home[0] == '/')
        return fp_memory_print("%s/.local/state/fleetprof/posted", home);
    fp_message_error("there is no place for the list of posted findings");
    fp_message_hint("Give --state FILE, or set HOME.");
    return NULL;
}

/* Adds a finding; the resolution is copied. */
static void add(struct fp_webhook *webhook, uint64_t hash, uint64_t scope, const char *resolution)
{
    webhook->findings = fp_memory_grow(webhook->findings, webhook->count, &webhook->capacity,
                                       sizeof(*webhook->findings));
    webhook->findings[webhook->count++] = (struct posted){
        .hash = hash,
        .scope = scope,
        .resolution = resolution != NULL ? fp_memory_copy(resolution) : NULL,
    };
}

/* Reads a hash and moves the text behind it. */
static bool read_hash(const char **text, uint64_t *hash)
{
    char *end;
    *hash = strtoull(*text, &end, 16);
    const bool fine = end == *text + HASH_DIGITS;
    *text = end;
    return fine;
}

/* Reads a line: HASH, HASH SCOPE or HASH SCOPE RESOLUTION. */
static bool read_finding(struct fp_webhook *webhook, char *line)
{
    const char *rest = line;
    uint64_t hash = 0;
    uint64_t scope = 0;
    char *end = strchr(line, '\n');
    if (end == NULL || webhook->count >= MAX_FINDINGS || !read_hash(&rest, &hash))
        return false;
    *end = '\0';
    if (*rest == ' ') {
        rest++;
        if (!read_hash(&rest, &scope))
            return false;
    }
    if (*rest != '\0' && (*rest != ' ' || scope == 0))
        return false;
    add(webhook, hash, scope, *rest != '\0' ? rest + 1 : NULL);
    return true;
}

static bool read_file(struct fp_webhook *webhook)
{
    FILE *file = fopen(webhook->file, "re");
    if (file == NULL && errno == ENOENT)
        return true;
    if (file == NULL) {
        fp_message_error("could not read %s: %s", webhook->file, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    bool fine = true;
    while (fine && getline(&line, &size, file) >= 0)
        fine = read_finding(webhook, line);
    free(line);
    if (!fine) {
        fp_message_error("%s is not a list of posted findings", webhook->file);
        fp_message_hint("Remove it; then all findings are posted once more.");
    } else if (ferror(file) != 0) {
        fp_message_error("could not read %s: %s", webhook->file, strerror(errno));
        fine = false;
    }
    (void)fclose(file);
    webhook->known = webhook->count;
    return fine;
}

/* Waits for other runs. Where a directory cannot be locked, as on NFS, they are not seen. */
static void lock_directory(struct fp_webhook *webhook)
{
    make_directories(webhook->file);
    char *directory = fp_memory_copy(webhook->file);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        slash[1] = '\0';
    webhook->lock = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (webhook->lock >= 0)
        (void)flock(webhook->lock, LOCK_EX);
    free(directory);
}

static bool could_not_write(const struct fp_webhook *webhook)
{
    fp_message_error("could not write %s: %s", webhook->file, strerror(errno));
    return false;
}

/* Writes the next file before the post: what could not be remembered would be posted again. */
static bool write_next(const struct fp_webhook *webhook)
{
    FILE *file = fopen(webhook->next, "we");
    size_t first = webhook->count > MAX_FINDINGS ? webhook->count - MAX_FINDINGS : 0;
    for (size_t i = first; file != NULL && i < webhook->count; i++) {
        const struct posted *finding = &webhook->findings[i];
        const char *resolution = finding->resolution;
        (void)fprintf(file, "%016" PRIx64, finding->hash);
        if (finding->scope != 0)
            (void)fprintf(file, " %016" PRIx64 "%s%s", finding->scope,
                          resolution != NULL ? " " : "", resolution != NULL ? resolution : "");
        (void)fputc('\n', file);
    }
    bool fine = file != NULL && ferror(file) == 0;
    if (file != NULL)
        fine = fclose(file) == 0 && fine;
    return fine || could_not_write(webhook);
}

/* Replaces the file whole, so that it is never half written. */
static bool keep_next(const struct fp_webhook *webhook)
{
    return rename(webhook->next, webhook->file) == 0 || could_not_write(webhook);
}

/* ---- findings ---- */

struct fp_webhook *fp_webhook_open(const char *url, const char *format, const char *access,
                                   const char *state_file)
{
    char *file = state_file != NULL ? fp_memory_copy(state_file) : usual_file();
    if (file == NULL)
        return NULL;
    struct fp_webhook *webhook = fp_memory_need(calloc(1, sizeof(*webhook)));
    webhook->url = fp_memory_copy(url);
    webhook->format = fp_memory_copy(format);
    webhook->access = access != NULL ? fp_memory_copy(access) : NULL;
    webhook->file = file;
    webhook->next = fp_memory_print("%s.new", file);
    lock_directory(webhook);
    if (read_file(webhook))
        return webhook;
    fp_webhook_close(webhook);
    return NULL;
}

void fp_webhook_close(struct fp_webhook *webhook)
{
    free(webhook->url);
    free(webhook->format);
    free(webhook->access);
    free(webhook->file);
    free(webhook->next);
    if (webhook->lock >= 0)
        (void)close(webhook->lock);
    for (size_t i = 0; i < webhook->count; i++)
        free(webhook->findings[i].resolution);
    free(webhook->findings);
    free(webhook);
}

static uint64_t hash_of(const struct fp_webhook *webhook, const char *key)
{
    const char *format = webhook->format;
    char *text =
        fp_memory_print("%s\n%s%s%s", webhook->url, format, format[0] != '\0' ? "\n" : "", key);
    uint64_t hash = fp_hash64(text, strlen(text));
    free(text);
    return hash;
}

/* Returns by what a refused finding is remembered: with another access it would be taken. */
static uint64_t refused_hash_of(const struct fp_webhook *webhook, const char *key)
{
    if (webhook->access == NULL)
        return hash_of(webhook, key);
    char *text = fp_memory_print("refused\n%s\n%s", webhook->access, key);
    const uint64_t hash = hash_of(webhook, text);
    free(text);
    return hash;
}

/* Returns the place of a known finding, or the number of known ones. */
static size_t find(const struct fp_webhook *webhook, uint64_t hash)
{
    size_t i = 0;
    while (i < webhook->known && webhook->findings[i].hash != hash)
        i++;
    return i;
}

bool fp_webhook_knows(const struct fp_webhook *webhook, const char *key)
{
    return find(webhook, hash_of(webhook, key)) < webhook->known ||
           find(webhook, refused_hash_of(webhook, key)) < webhook->known;
}

/* A scope has the same URL and format as its findings; 0 stands for none. */
static uint64_t scope_of(const struct fp_webhook *webhook, const char *scope)
{
    return scope != NULL ? hash_of(webhook, scope) | 1 : 0;
}

void fp_webhook_note(struct fp_webhook *webhook, const char *key, const char *scope,
                     const char *resolution)
{
    add(webhook, hash_of(webhook, key), scope_of(webhook, scope), resolution);
    webhook->findings[webhook->count - 1].refused_hash = refused_hash_of(webhook, key);
}

void fp_webhook_rename(struct fp_webhook *webhook, const char *old_key, const char *key)
{
    uint64_t hash = hash_of(webhook, key);
    size_t place = find(webhook, hash_of(webhook, old_key));
    if (place == webhook->known) {
        place = find(webhook, refused_hash_of(webhook, old_key));
        hash = refused_hash_of(webhook, key);
    }
    if (place == webhook->known)
        return;
    struct posted renamed = webhook->findings[place];
    renamed.hash = hash;
    const size_t newer = webhook->known - place - 1;
    memmove(&webhook->findings[place], &webhook->findings[place + 1], newer * sizeof(renamed));
    webhook->findings[webhook->known - 1] = renamed; /* as the newest one, it is forgotten last */
}

/* True if the finding is one of these keys. */
static bool is_listed(const struct fp_webhook *webhook, const struct posted *finding,
                      const char *const *keys, size_t key_count)
{
    bool found = false;
    for (size_t i = 0; i < key_count && !found; i++)
        found = hash_of(webhook, keys[i]) == finding->hash ||
                refused_hash_of(webhook, keys[i]) == finding->hash;
    return found;
}

char *fp_webhook_forget_gone(struct fp_webhook *webhook, const char *scope, const char *const *keys,
                             size_t key_count)
{
    const uint64_t wanted = scope_of(webhook, scope);
    for (size_t i = 0; i < webhook->count; i++) {
        struct posted *finding = &webhook->findings[i];
        if (finding->scope != wanted || is_listed(webhook, finding, keys, key_count))
            continue;
        char *resolution = finding->resolution != NULL ? finding->resolution : fp_memory_copy("");
        memmove(finding, finding + 1, (webhook->count - i - 1) * sizeof(*finding));
        webhook->count--;
        webhook->known -= i < webhook->known;
        return resolution;
    }
    return NULL;
}

/* ---- the post ---- */

static void post(const char *url, const char *json, struct fp_client_reply *reply)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    const struct fp_client_settings settings = {.is_direct = false};
    const struct fp_client_request request = {
        .method = "POST",
        .url = url,
        .fields = fields,
        .body = fp_str_of(json),
        .body_max = REPLY_MAX,
        .timeout_ms = TIMEOUT_MS,
    };
    struct fp_client *client = fp_client_create(&settings);
    fp_client_send(client, &request, reply);
    fp_client_free(client);
}

/* Returns how many findings the next post contains. */
static size_t posted_count(const struct fp_webhook *webhook)
{
    return webhook->count - webhook->known;
}

/* True if the server will never take this body. Other answers are about the address, or pass. With
 * another access it would take what resolves a finding, which is then tried again. */
static bool is_refused(const struct fp_webhook *webhook, const struct fp_client_reply *reply)
{
    const bool is_resolution = posted_count(webhook) == 0;
    if (webhook->access != NULL && is_resolution)
        return false;
    return reply->status == 400 || reply->status == 413 || reply->status == 422;
}

/* Quotes what the server says about a body that it refuses: the services name the wrong member. */
static void quote(struct fp_client_reply *reply)
{
    if (reply->body.len > 0 && !reply->body.failed)
        fp_message_detail("The server answered with HTTP status %ld: %.300s", reply->status,
                          fp_memory_text(&reply->body));
    else
        fp_message_detail("The server answered with HTTP status %ld.", reply->status);
}

static void complain_of_body(const struct fp_webhook *webhook, struct fp_client_reply *reply)
{
    fp_message_error("the server refused the finding");
    quote(reply);
    if (webhook->access != NULL)
        fp_message_hint("It is posted again with another key, or with another --webhook-format.");
    else
        fp_message_hint("It is not posted again in this format: --webhook-format has what Slack "
                        "and others take.");
}

/* Remembers the noted findings as refused: the service does not know of them, so nothing resolves
 * them. */
static bool keep_refused(struct fp_webhook *webhook)
{
    for (size_t i = webhook->known; i < webhook->count; i++) {
        struct posted *finding = &webhook->findings[i];
        finding->hash = finding->refused_hash;
        free(finding->resolution);
        finding->resolution = NULL;
    }
    return fp_webhook_keep(webhook);
}

static void complain(const struct fp_webhook *webhook, const struct fp_client_reply *reply)
{
    (void)remove(webhook->next);
    fp_message_error("could not post the findings");
    if (reply->status == 0)
        fp_message_detail("%s", reply->error);
    else
        fp_message_detail("The server answered with HTTP status %ld.", reply->status);
    fp_message_hint("They are posted by the next run that finds them.");
}

/* Takes back what was noted for the post. */
static void drop_posted(struct fp_webhook *webhook)
{
    while (webhook->count > webhook->known)
        free(webhook->findings[--webhook->count].resolution);
}

static enum fp_webhook_result take_refusal(struct fp_webhook *webhook,
                                           struct fp_client_reply *reply)
{
    if (posted_count(webhook) > 1) {
        (void)remove(webhook->next);
        drop_posted(webhook);
        return FP_WEBHOOK_REFUSED_TOGETHER;
    }
    complain_of_body(webhook, reply);
    if (!keep_refused(webhook))
        return FP_WEBHOOK_TROUBLE;
    webhook->known = webhook->count;
    return FP_WEBHOOK_REFUSED;
}

enum fp_webhook_result fp_webhook_post(struct fp_webhook *webhook, const char *json)
{
    struct fp_client_reply reply;
    enum fp_webhook_result result = FP_WEBHOOK_TROUBLE;
    if (!write_next(webhook))
        return result;
    post(webhook->url, json, &reply);
    if (reply.status >= 200 && reply.status < 300) {
        result = keep_next(webhook) ? FP_WEBHOOK_TAKEN : FP_WEBHOOK_TROUBLE;
        webhook->known = webhook->count;
    } else if (is_refused(webhook, &reply)) {
        result = take_refusal(webhook, &reply);
    } else {
        complain(webhook, &reply);
    }
    fp_client_release(&reply);
    return result;
}

bool fp_webhook_keep(const struct fp_webhook *webhook)
{
    return write_next(webhook) && keep_next(webhook);
}
