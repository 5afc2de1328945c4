/*
 * Webhook: libcurl posts; a file has one line per finding, the hash of URL and key.
 */
#include "cli/webhook.h"

#include "cli/memory.h"
#include "cli/message.h"
#include "collector/base/hash.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONNECT_TIMEOUT_S = 10,
    TIMEOUT_S = 30,
    MAX_FINDINGS = 10000, /* older ones are forgotten, and may be posted again */
};

struct fp_webhook {
    char *url;
    char *file;
    char *next; /* what takes the file's place after the post */
    int lock;   /* the file's directory, locked so that two runs do not post the same; or -1 */
    uint64_t *hashes; /* the known ones, oldest first; then the noted ones */
    size_t count;
    size_t known;
    size_t capacity;
};

/* ---- the file ---- */

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

static void add(struct fp_webhook *webhook, uint64_t hash)
{
    webhook->hashes = fp_memory_grow(webhook->hashes, webhook->count, &webhook->capacity,
                                     sizeof(*webhook->hashes));
    webhook->hashes[webhook->count++] = hash;
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
    char line[64];
    bool fine = true;
    while (fine && fgets(line, sizeof(line), file) != NULL) {
        char *end;
        uint64_t hash = strtoull(line, &end, 16);
        fine = end == line + 16 && *end == '\n' && webhook->count < MAX_FINDINGS;
        if (fine)
            add(webhook, hash);
    }
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
    for (size_t i = first; file != NULL && i < webhook->count; i++)
        (void)fprintf(file, "%016" PRIx64 "\n", webhook->hashes[i]);
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

struct fp_webhook *fp_webhook_open(const char *url, const char *state_file)
{
    char *file = state_file != NULL ? fp_memory_copy(state_file) : usual_file();
    if (file == NULL)
        return NULL;
    struct fp_webhook *webhook = fp_memory_need(calloc(1, sizeof(*webhook)));
    webhook->url = fp_memory_copy(url);
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
    free(webhook->file);
    free(webhook->next);
    if (webhook->lock >= 0)
        (void)close(webhook->lock);
    free(webhook->hashes);
    free(webhook);
}

static uint64_t hash_of(const struct fp_webhook *webhook, const char *key)
{
    char *text = fp_memory_print("%s\n%s", webhook->url, key);
    uint64_t hash = fp_hash64(text, strlen(text));
    free(text);
    return hash;
}

bool fp_webhook_knows(const struct fp_webhook *webhook, const char *key)
{
    uint64_t hash = hash_of(webhook, key);
    for (size_t i = 0; i < webhook->known; i++) {
        if (webhook->hashes[i] == hash)
            return true;
    }
    return false;
}

void fp_webhook_note(struct fp_webhook *webhook, const char *key)
{
    add(webhook, hash_of(webhook, key));
}

/* ---- the post ---- */

static size_t drop_reply(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* libcurl refuses our options only when it has no memory for them. */
static void need(CURLcode code)
{
    if (code != CURLE_OK)
        fp_memory_end();
}

/* Posts and returns the status; 0 without an answer, *why says why. */
static long post(const char *url, const char *json, char why[CURL_ERROR_SIZE])
{
    CURL *curl = fp_memory_need(curl_easy_init());
    struct curl_slist *headers =
        fp_memory_need(curl_slist_append(NULL, "Content-Type: application/json"));
    long status = 0;
    why[0] = '\0';
    need(curl_easy_setopt(curl, CURLOPT_URL, url));
    need(curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"));
    need(curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers));
    need(curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json));
    need(curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S));
    need(curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S));
    need(curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why));
    need(curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop_reply));
    CURLcode result = curl_easy_perform(curl);
    if (result == CURLE_OK)
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    else if (why[0] == '\0')
        (void)snprintf(why, CURL_ERROR_SIZE, "%s", curl_easy_strerror(result));
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return status;
}

bool fp_webhook_post(struct fp_webhook *webhook, const char *json)
{
    char why[CURL_ERROR_SIZE];
    if (!write_next(webhook))
        return false;
    long status = post(webhook->url, json, why);
    if (status >= 200 && status < 300)
        return keep_next(webhook);
    (void)remove(webhook->next);
    fp_message_error("could not post the findings");
    if (status == 0)
        fp_message_detail("%s", why);
    else
        fp_message_detail("The server answered with HTTP status %ld.", status);
    fp_message_hint("They are posted by the next run that finds them.");
    return false;
}
