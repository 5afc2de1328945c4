/*
 * Scrub: what of a URL, a name or a User-Agent may be kept. Pure functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_H
#define FP_PROFILE_SCRUB_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

/* What the configuration says about one site and privacy; the scrubber only reads it. */
struct fp_scrub_rules {
    bool
        keep_query; /* privacy.keep_query: query strings stay; fragments and credentials never do */
    const struct fp_str *routes; /* templates such as "/product/:id", the first that fits wins */
    size_t route_count;
    const struct fp_str *timing_names; /* templates such as "fetch-:id", the first that fits wins */
    size_t timing_name_count;
};

/* Checks a route template from the configuration: NULL when it is good, else what is wrong with it.
 */
const char *fp_route_check(struct fp_str route_template);

/*
 * The route of a page URL: the first template that its path fits, else the path itself; "" when the
 * URL is empty, has no path (a bare origin as a cross-origin Referer gives), or is not http(s). The
 * result lives in the rules or the arena.
 */
bool fp_scrub_route(const struct fp_scrub_rules *rules, struct fp_str page_url,
                    struct fp_arena *arena, struct fp_str *route) FP_MUST_CHECK;

/*
 * What is stored of a script's URL (design 5.11): query and fragment dropped, credentials removed,
 * `data:` cut to its media type and a hash, `blob:ORIGIN`, extension ids dropped; on the page's own
 * origin a path that fits a route takes its template. The result lives in the URL's text, the arena
 * or statics.
 */
bool fp_scrub_resource(const struct fp_scrub_rules *rules, struct fp_str url_text,
                       struct fp_str page_url, struct fp_arena *arena,
                       struct fp_str *scrubbed) FP_MUST_CHECK;

struct fp_user_agent {
    struct fp_str browser; /* family: "Chrome", "Edge", "Firefox", … "" unknown; static */
    uint32_t version;      /* major, 0 unknown */
    struct fp_str os; /* "Windows", "macOS", "Linux", "Android", "iOS", "ChromeOS", ""; static */
    struct fp_str device; /* "desktop", "mobile", "tablet", "bot", ""; static */
};

/* Reduces a User-Agent header to what is kept of it. Never fails: what is not known stays empty. */
struct fp_user_agent fp_user_agent_parse(struct fp_str header);

#endif
