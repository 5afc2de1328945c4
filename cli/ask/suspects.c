/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspects: runs git, without a shell.
 *
 * Paths and releases come from strangers: they are arguments that cannot be options.
 */
#include "cli/ask/suspects.h"

#include "cli/ask/function_end.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/format/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct fp_suspects {
    char *directory;
    char *after;
    char *range; /* before..after, as hashes */
};

enum { OUTPUT_MAX = 4096, SOURCE_MAX = 4 * 1024 * 1024, HASH_MAX = 80, HASH_LEN = 40 };

extern char **environ;

/* ---- git ---- */

/* Reads to the end, and keeps what there is room for. */
static void read_output(int fd, char *output, size_t size)
{
    char rest[512];
    size_t len = 0;
    for (;;) {
        const bool has_room = len < size - 1;
        const ssize_t got =
            has_room ? read(fd, output + len, size - 1 - len) : read(fd, rest, sizeof(rest));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += has_room ? (size_t)got : 0;
    }
    output[len] = '\0';
}

/* Starts git with its output in a pipe; -1: it cannot be started. */
static pid_t start_git(char *const argv[], const int pipe_fds[2])
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        fp_memory_end();
    const bool fine =
        posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnp(&pid, "git", &actions, NULL, argv, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    return fine ? pid : -1;
}

/* Runs git in a directory. True if it ends with 0; its output is then whole, or cut to the size. */
static bool run_git(const char *directory, const char *const arguments[], char *output, size_t size)
{
    enum { ARGUMENTS_MAX = 16 };
    const char *argv[ARGUMENTS_MAX] = {"git", "-C", directory, "-c", "log.showSignature=false"};
    int pipe_fds[2];
    int status = 0;
    for (size_t i = 0; arguments[i] != NULL && i + 6 < ARGUMENTS_MAX; i++)
        argv[i + 5] = arguments[i];
    output[0] = '\0';
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return false;
    const pid_t pid = start_git((char *const *)(uintptr_t)argv, pipe_fds);
    (void)close(pipe_fds[1]);
    if (pid >= 0)
        read_output(pipe_fds[0], output, size);
    (void)close(pipe_fds[0]);
    while (pid >= 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- releases ---- */

/* True if a release may be the name of a tag, and nothing that git would search for. */
static bool is_plain(const char *release)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "._/+-";
    return release[0] != '\0' && release[0] != '-' && release[strspn(release, fine)] == '\0' &&
           strstr(release, "..") == NULL && strlen(release) < 200;
}

/* True if git may take a release for the beginning of a hash though it is a number: what counts
 * releases seldom names commits. */
static bool is_number(const char *release)
{
    const size_t len = strlen(release);
    return release[strspn(release, "0123456789")] == '\0' && len < HASH_LEN;
}

/* Writes the hash of the commit that a release is of. */
static bool resolve(const char *directory, const char *release, char hash[HASH_MAX])
{
    static const char *const prefixes[] = {"", "refs/tags/", "v", "refs/heads/"};
    char output[OUTPUT_MAX];
    for (size_t i = is_number(release); is_plain(release) && i < FP_COUNT(prefixes); i++) {
        char *name = fp_memory_print("%s%s^{commit}", prefixes[i], release);
        const char *const arguments[] = {"rev-parse",        "--verify", "--quiet",
                                         "--end-of-options", name,       NULL};
        const bool is_found = run_git(directory, arguments, output, sizeof(output));
        free(name);
        output[strcspn(output, "\n")] = '\0';
        if (is_found && strlen(output) < HASH_MAX) {
            (void)snprintf(hash, HASH_MAX, "%.79s", output);
            return true;
        }
    }
    fp_message_notice("the repository has no commit of release \"%s\", so no commit is suspected",
                      release);
    fp_message_hint("Tag commits with the names of releases, or name releases as commits.");
    return false;
}

bool fp_suspects_open(const char *directory, const char *before, const char *after,
                      struct fp_suspects **suspects)
{
    static const char *const arguments[] = {"rev-parse", "--git-dir", NULL};
    char output[OUTPUT_MAX];
    char hashes[2][HASH_MAX];
    *suspects = NULL;
    if (!run_git(directory, arguments, output, sizeof(output))) {
        fp_message_error("\"%s\" is not in a repository that git can read", directory);
        return false;
    }
    if (!resolve(directory, before, hashes[0]) || !resolve(directory, after, hashes[1]))
        return true;
    *suspects = fp_memory_need(calloc(1, sizeof(**suspects)));
    (*suspects)->directory = fp_memory_copy(directory);
    (*suspects)->after = fp_memory_copy(hashes[1]);
    (*suspects)->range = fp_memory_print("%s..%s", hashes[0], hashes[1]);
    return true;
}

void fp_suspects_close(struct fp_suspects *suspects)
{
    if (suspects == NULL)
        return;
    free(suspects->directory);
    free(suspects->after);
    free(suspects->range);
    free(suspects);
}

/* ---- lines ---- */

/* Returns the function's last line as the later release has it, 0 if that does not show. */
static unsigned end_of(const struct fp_suspects *suspects, const struct fp_suspects_lines *lines)
{
    char *text = fp_memory_need(malloc(SOURCE_MAX));
    char *name = fp_memory_print("%s:./%s", suspects->after, lines->source);
    const char *const arguments[] = {"cat-file", "blob", name, NULL};
    const unsigned long first = strtoul(lines->first, NULL, 10);
    unsigned end = 0;
    if (first > 0 && first < UINT_MAX && run_git(suspects->directory, arguments, text, SOURCE_MAX))
        end = fp_function_end(text, (unsigned)first);
    free(name);
    free(text);
    return end;
}

/* Appends a line of git's. Commits without a declared encoding have any bytes. */
static void add_line(struct fp_buf *out, struct fp_str line)
{
    if (out->len > 0)
        fp_buf_addf(out, "\n");
    if (fp_utf8_is_valid(line))
        fp_buf_add(out, line.ptr, line.len);
    else
        fp_utf8_add_windows_1252(line, out);
}

/* Cuts the character at whose end there was no more room. */
static void end_output(char output[OUTPUT_MAX])
{
    size_t len = strlen(output);
    if (len < OUTPUT_MAX - 1)
        return;
    while (len > 0 && (unsigned char)output[len - 1] >= 0x80)
        len--;
    output[len] = '\0';
}

char *fp_suspects_find(const struct fp_suspects *suspects, const struct fp_suspects_lines *lines)
{
    char output[OUTPUT_MAX] = "";
    if (suspects == NULL || lines->source[0] == '\0' || lines->first[0] == '\0')
        return fp_memory_copy("");
    const unsigned end = end_of(suspects, lines);
    char *range = end > 0 ? fp_memory_print("-L%s,%u:%s", lines->first, end, lines->source)
                          : fp_memory_print("-L%s,%s:%s", lines->first, lines->last, lines->source);
    char *most = fp_memory_print("--max-count=%d", FP_SUSPECTS_MAX);
    const char *const arguments[] = {
        "log", "--no-patch",    most, "--encoding=UTF-8", "--format=%h %an: %s",
        range, suspects->range, NULL};
    if (!run_git(suspects->directory, arguments, output, sizeof(output)))
        output[0] = '\0';
    free(most);
    free(range);
    end_output(output);
    struct fp_buf joined;
    fp_buf_init(&joined, (size_t)4 * OUTPUT_MAX);
    for (char *line = output; *line != '\0';) {
        const size_t len = strcspn(line, "\n");
        add_line(&joined, (struct fp_str){line, len});
        line += len + (line[len] == '\n');
    }
    char *copy = fp_memory_copy(fp_memory_text(&joined));
    fp_buf_release(&joined);
    return copy;
}
