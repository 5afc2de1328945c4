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

/* ---- routes ---- */

enum step_kind { END, WORD, PARAMETER, REST };

struct segment {
    enum step_kind kind;
    struct fp_str text;
};

static enum step_kind kind_of(struct fp_str text)
{
    if (text.len > 1 && text.ptr[0] == ':')
        return PARAMETER;
    return fp_str_equal(text, FP_STR("*")) ? REST : WORD;
}

/* Removes the first segment, with the slash before it. A slash at the end says nothing. */
static struct segment next_segment(const char **route)
{
    if (**route == '\0' || strcmp(*route, "/") == 0)
        return (struct segment){.kind = END};
    const char *begin = *route + 1;
    const struct fp_str text = {begin, strcspn(begin, "/")};
    *route = begin + text.len;
    return (struct segment){kind_of(text), text};
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
    const int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
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
        const int order = of_a.kind == WORD ? compare_texts(of_a.text, of_b.text) : 0;
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

static void write_literal(struct fp_str text, FILE *stream)
{
    for (size_t i = 0; i < text.len; i++) {
        const char byte = text.ptr[i];
        if (fp_is_alnum(byte) || strchr("_-/", byte) != NULL)
            (void)fputc(byte, stream);
        else
            (void)fprintf(stream, "\\x%02X", (unsigned)(unsigned char)byte);
    }
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
        case PARAMETER:
            (void)fputs("/[^/? ]+", stream);
            break;
        case WORD:
            (void)fputc('/', stream);
            write_literal(segment.text, stream);
            (void)fputs("(?:;[^/? ]*)?", stream);
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

static void write_line(enum fp_rate_server server, const struct fp_route_rate *rate, FILE *stream)
{
    if (server == FP_RATE_NGINX)
        (void)fputs(rate->route == NULL ? "    default " : "    \"~^", stream);
    else
        (void)fputs(rate->route == NULL ? "SetEnvIfExpr \"true\" FLEETPROF_ROUTE_RATE="
                                        : "SetEnvIfExpr \"%{THE_REQUEST} =~ m#^[^ ]+ ",
                    stream);
    if (rate->route != NULL) {
        write_pattern(rate->route, stream);
        (void)fputs(server == FP_RATE_NGINX ? "\" " : "#\" FLEETPROF_ROUTE_RATE=", stream);
    }
    write_rate(rate->ppm, stream);
    (void)fputs(server == FP_RATE_NGINX ? ";\n" : "\n", stream);
}

/* ---- file ---- */

void fp_rate_map_head(enum fp_rate_server server, const char *site, int64_t now_us, char *head)
{
    const time_t now = (time_t)(now_us / 1000000);
    struct tm utc;
    char hour[32] = "";
    if (gmtime_r(&now, &utc) != NULL)
        (void)strftime(hour, sizeof(hour), "%Y-%m-%d %H:00 UTC", &utc);
    (void)snprintf(head, FP_RATE_HEAD_MAX,
                   "# Sample rates of the site %s for %s, from %s on, by fleetprof rates.\n", site,
                   server == FP_RATE_NGINX ? "nginx" : "httpd", hour);
}

static const char *const notes[] = {
    [FP_RATE_NGINX] =
        "# Include it in http { ... }, and write: fleetprof_sample $fleetprof_route_rate;\n",
    [FP_RATE_HTTPD] = "# Include it in the server or the virtual host, and write:\n"
                      "# FleetProfSample \"expr=%{reqenv:FLEETPROF_ROUTE_RATE}\"\n",
};

static void write_unmapped(const struct fp_route_rate *rate, const char *why, FILE *stream)
{
    (void)fputs("#   \"", stream);
    write_literal(fp_str_of(rate->route), stream);
    (void)fprintf(stream, "\": %s\n", why);
}

static void write_comment(enum fp_rate_server server, const struct fp_route_rate *rates,
                          size_t count, size_t mapped, FILE *stream)
{
    (void)fputs(notes[server], stream);
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

static void write_default(enum fp_rate_server server, const struct fp_route_rate *rates,
                          size_t count, FILE *stream)
{
    for (size_t i = 0; i < count; i++)
        if (rates[i].route == NULL)
            write_line(server, &rates[i], stream);
}

void fp_rate_map_write(enum fp_rate_server server, struct fp_route_rate *rates, size_t count,
                       FILE *stream)
{
    qsort(rates, count, sizeof(rates[0]), compare_rates);
    size_t mapped = 0;
    while (mapped < count && is_mapped(&rates[mapped]))
        mapped++;
    write_comment(server, rates, count, mapped, stream);
    if (server == FP_RATE_NGINX)
        (void)fputs("map $request_uri $fleetprof_route_rate {\n", stream);
    write_default(server, rates, count, stream);
    for (size_t i = 0; i < mapped; i++) {
        const struct fp_route_rate *rate = &rates[server == FP_RATE_NGINX ? i : mapped - 1 - i];
        if (rate == &rates[0] || compare_routes(rate[-1].route, rate->route) != 0)
            write_line(server, rate, stream);
    }
    if (server == FP_RATE_NGINX)
        (void)fputs("}\n", stream);
}
