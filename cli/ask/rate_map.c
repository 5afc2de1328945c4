/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate map: turns routes into regular expressions of the addresses that they stand for.
 *
 * nginx takes the first expression that matches, httpd the last one. The collector takes the first
 * template of its configuration, which is not known here: the one that says more is the better
 * guess, and the token has the rate that was drawn with in any case.
 */
#include "cli/ask/rate_map.h"

#include "collector/base/ascii.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Longer routes are cut: what follows is not known. */
enum { ROUTE_MAX = 200 };

struct map_file {
    enum fp_rate_server server;
    char variable[FP_RATE_HEAD_MAX]; /* which has the rate */
    FILE *stream;
};

/* ---- routes ---- */

enum segment_kind { END, TEXT, REST };

struct segment {
    enum segment_kind kind;
    struct fp_str text;
};

/* Removes the first segment, with the slash before it. A slash at the end says nothing. */
static struct segment next_segment(const char **route)
{
    if (**route == '\0' || strcmp(*route, "/") == 0)
        return (struct segment){.kind = END};
    const char *begin = *route + 1;
    const struct fp_str text = {begin, strcspn(begin, "/")};
    *route = begin + text.len;
    return (struct segment){fp_str_equal(text, FP_STR("*")) ? REST : TEXT, text};
}

/* A piece of a segment's text: a byte, or a parameter, which stands for one byte or more. */
enum { PARAMETER = 256, TEXT_END };

/* Returns the length of the parameter that a text begins with; 0 if it does not. A template has
 * parameters of any name, each a whole segment; collectors also write `shoes-:id.html`. */
static size_t parameter_len(struct fp_str text, bool begins_segment)
{
    size_t len = 1;
    if (text.ptr[0] != ':')
        return 0;
    if (begins_segment)
        while (len < text.len && (fp_is_alnum(text.ptr[len]) || text.ptr[len] == '_'))
            len++;
    if (len > 1)
        return len;
    static const char *const names[] = {":id", ":token", ":mail"};
    for (size_t i = 0; i < FP_COUNT(names); i++)
        if (fp_str_has_prefix(text, fp_str_of(names[i])))
            return strlen(names[i]);
    return 0;
}

static int next_piece(struct fp_str text, size_t *at)
{
    if (*at == text.len)
        return TEXT_END;
    const size_t len = parameter_len(fp_str_skip(text, *at), *at == 0);
    const char byte = text.ptr[*at];
    *at += len > 0 ? len : 1;
    return len > 0 ? PARAMETER : (unsigned char)byte;
}

static bool is_whole_path(const char *route)
{
    if (route[0] != '/' || strlen(route) >= ROUTE_MAX || strstr(route, "//") != NULL)
        return false;
    for (const char *at = route; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || *at == '\x7f' || strchr("?#", *at) != NULL)
            return false;
    const char *star = strchr(route, '*');
    return star == NULL || (star[-1] == '/' && star[1] == '\0');
}

static int compare_texts(struct fp_str a, struct fp_str b)
{
    size_t at_a = 0;
    size_t at_b = 0;
    for (;;) {
        const int piece_a = next_piece(a, &at_a);
        const int piece_b = next_piece(b, &at_b);
        if (piece_a != piece_b)
            return piece_a < piece_b ? -1 : 1;
        if (piece_a == TEXT_END)
            return 0;
    }
}

/* Returns 0 for routes of the same addresses; below 0 if the first one comes first: where both
 * match, it says more. */
static int compare_routes(const char *a, const char *b)
{
    for (;;) {
        const struct segment of_a = next_segment(&a);
        const struct segment of_b = next_segment(&b);
        if (of_a.kind != of_b.kind)
            return of_a.kind < of_b.kind ? -1 : 1;
        if (of_a.kind == END || of_a.kind == REST)
            return 0;
        const int order = compare_texts(of_a.text, of_b.text);
        if (order != 0)
            return order;
    }
}

static bool is_mapped(const struct fp_route_rate *rate)
{
    return rate->route != NULL && is_whole_path(rate->route);
}

/* Routes that cannot be mapped come last. */
static int compare_rates(const void *a, const void *b)
{
    const struct fp_route_rate *of_a = a;
    const struct fp_route_rate *of_b = b;
    int order = (int)is_mapped(of_b) - (int)is_mapped(of_a);
    if (order == 0 && is_mapped(of_a))
        order = compare_routes(of_a->route, of_b->route);
    return order != 0 ? order : (of_a->place > of_b->place) - (of_a->place < of_b->place);
}

/* ---- text ---- */

static void write_byte(char byte, FILE *stream)
{
    if (fp_is_alnum(byte) || strchr("_-/", byte) != NULL)
        (void)fputc(byte, stream);
    else
        (void)fprintf(stream, "\\x%02X", (unsigned)(unsigned char)byte);
}

static void write_literal(struct fp_str text, FILE *stream)
{
    for (size_t i = 0; i < text.len; i++)
        write_byte(text.ptr[i], stream);
}

static void write_text(struct fp_str text, FILE *stream)
{
    int last = TEXT_END;
    for (size_t at = 0; at < text.len;) {
        last = next_piece(text, &at);
        if (last == PARAMETER)
            (void)fputs("[^/? ]+", stream);
        else
            write_byte((char)last, stream);
    }
    if (last != PARAMETER)
        (void)fputs("(?:;[^/? ]*)?", stream);
}

/* Writes what a path of the route looks like, from its first byte to its query. A path parameter
 * (`;jsessionid=0F0F`) is not a part of the route. */
static void write_pattern(const char *route, FILE *stream)
{
    for (;;) {
        const struct segment segment = next_segment(&route);
        switch (segment.kind) {
        case END:
            (void)fputs("/?(?:[? ]|$)", stream);
            return;
        case REST:
            (void)fputs("(?:[/? ]|$)", stream);
            return;
        case TEXT:
            (void)fputc('/', stream);
            write_text(segment.text, stream);
            break;
        }
    }
}

/* Writes millionths as the modules read them: 0.05%. */
static void write_rate(int64_t ppm, FILE *stream)
{
    char digits[8];
    (void)snprintf(digits, sizeof(digits), "%04" PRId64, ppm % 10000);
    size_t len = strlen(digits);
    while (len > 0 && digits[len - 1] == '0')
        len--;
    (void)fprintf(stream, "%" PRId64 "%s%.*s%%", ppm / 10000, len > 0 ? "." : "", (int)len, digits);
}

static void write_line(const struct map_file *file, const struct fp_route_rate *rate)
{
    const bool is_default = rate->route == NULL;
    if (file->server == FP_RATE_NGINX)
        (void)fputs(is_default ? "    default " : "    \"~^", file->stream);
    else
        (void)fputs(is_default ? "SetEnvIfExpr \"true\" "
                               : "SetEnvIfExpr \"%{THE_REQUEST} =~ m#^[^ ]+ ",
                    file->stream);
    if (!is_default) {
        write_pattern(rate->route, file->stream);
        (void)fputs(file->server == FP_RATE_NGINX ? "\" " : "#\" ", file->stream);
    }
    if (file->server == FP_RATE_HTTPD)
        (void)fprintf(file->stream, "%s=", file->variable);
    write_rate(rate->ppm, file->stream);
    (void)fputs(file->server == FP_RATE_NGINX ? ";\n" : "\n", file->stream);
}

/* ---- file ---- */

void fp_rate_map_head(enum fp_rate_server server, const char *site, int64_t now_us, char *head)
{
    const time_t now = (time_t)(now_us / 1000000);
    struct tm utc;
    char hour[32] = "";
    if (gmtime_r(&now, &utc) != NULL)
        (void)strftime(hour, sizeof(hour), "%Y-%m-%d %H:00 UTC", &utc);
    (void)snprintf(
        head, FP_RATE_HEAD_MAX,
        "# Sample rates of the site %s for %s, by fleetprof rates in the hour from %s. They "
        "apply from the next reload on.\n",
        site, server == FP_RATE_NGINX ? "nginx" : "httpd", hour);
}

/* Files of several sites may be included beside each other, so each has a variable of its own. */
static void name_variable(struct map_file *file, const char *site)
{
    const bool is_nginx = file->server == FP_RATE_NGINX;
    (void)snprintf(file->variable, sizeof(file->variable), "%s_%s",
                   is_nginx ? "fleetprof_route_rate" : "FLEETPROF_ROUTE_RATE", site);
    for (char *at = file->variable; *at != '\0'; at++)
        if (!fp_is_alnum(*at))
            *at = '_';
}

static void write_note(const struct map_file *file)
{
    if (file->server == FP_RATE_NGINX)
        (void)fprintf(file->stream,
                      "# Include it in http { ... }, and write: fleetprof_sample $%s;\n",
                      file->variable);
    else
        (void)fprintf(file->stream,
                      "# Include it in the server or the virtual host, and write:\n"
                      "# FleetProfSample \"expr=%%{reqenv:%s}\"\n",
                      file->variable);
}

static void write_unmapped(const struct fp_route_rate *rate, const char *why, FILE *stream)
{
    (void)fputs("#   \"", stream);
    write_literal(fp_str_of(rate->route), stream);
    (void)fprintf(stream, "\": %s\n", why);
}

static void write_comment(const struct map_file *file, const struct fp_route_rate *rates,
                          size_t count, size_t mapped)
{
    FILE *const stream = file->stream;
    write_note(file);
    (void)fputs("# A route that a page names itself, or that is behind the address's #, has a rate "
                "of its own\n# only if it reads as the path of the page. These take the default "
                "rate, or another's:\n",
                stream);
    bool any = false;
    for (size_t i = 1; i < mapped; i++) {
        if (compare_routes(rates[i - 1].route, rates[i].route) == 0) {
            write_unmapped(&rates[i], "the same addresses as another one", stream);
            any = true;
        }
    }
    for (size_t i = mapped; i < count; i++) {
        if (rates[i].route != NULL) {
            write_unmapped(&rates[i], "not a whole path", stream);
            any = true;
        }
    }
    if (!any)
        (void)fputs("#   (none)\n", stream);
}

static void write_default(const struct map_file *file, const struct fp_route_rate *rates,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rates[i].route == NULL)
            write_line(file, &rates[i]);
}

void fp_rate_map_write(enum fp_rate_server server, const char *site, struct fp_route_rate *rates,
                       size_t count, FILE *stream)
{
    struct map_file file = {.server = server, .stream = stream};
    name_variable(&file, site);
    qsort(rates, count, sizeof(rates[0]), compare_rates);
    size_t mapped = 0;
    while (mapped < count && is_mapped(&rates[mapped]))
        mapped++;
    write_comment(&file, rates, count, mapped);
    if (server == FP_RATE_NGINX)
        (void)fprintf(stream, "map $request_uri $%s {\n", file.variable);
    write_default(&file, rates, count);
    for (size_t i = 0; i < mapped; i++) {
        const struct fp_route_rate *rate = &rates[server == FP_RATE_NGINX ? i : mapped - 1 - i];
        if (rate == &rates[0] || compare_routes(rate[-1].route, rate->route) != 0)
            write_line(&file, rate);
    }
    if (server == FP_RATE_NGINX)
        (void)fputs("}\n", stream);
}
