/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub: reduces URLs, names and User-Agents to what may be kept. Pure functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_SCRUB_H
#define FP_PROFILE_SCRUB_SCRUB_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

/* The data that the settings privacy.keep_… let through; docs/privacy.md lists it. */
struct fp_scrub_kept {
    bool path_parameters;
    bool path_addresses;
    bool path_hashes; /* also UUIDs */
    bool path_numbers;
    bool path_tokens;
    bool names; /* of marks and measures, as the page has them */
};

/* One site's settings for privacy and routes. The scrubber only reads them. */
struct fp_scrub_rules {
    bool
        keep_query; /* privacy.keep_query: query strings stay; fragments and credentials never do */
    struct fp_scrub_kept kept;
    const struct fp_str *routes; /* templates such as "/product/:id"; the first match wins */
    size_t route_count;
    const struct fp_str *timing_names; /* templates such as "fetch-:id"; the first match wins */
    size_t timing_name_count;
    struct fp_str page_url; /* of a kept trace, for fp_scrub_json; "": of no page */
};

/* Checks a route template from the configuration. Returns NULL if it is valid, else what is wrong
 * with it. */
const char *fp_route_check(struct fp_str route_template);

/*
 * Finds the route of a page URL: the first template that its path matches, else the path as
 * fp_scrub_path leaves it; "" for a URL that is empty, has no path (a cross-origin Referer is a
 * bare origin), or is not http(s). The result lives in the rules or the arena.
 */
bool fp_scrub_route(const struct fp_scrub_rules *rules, struct fp_str page_url,
                    struct fp_arena *arena, struct fp_str *route) FP_MUST_CHECK;

/*
 * Reduces a script's URL to what is stored (docs/numbers.md, rule 11): drops query, fragment,
 * credentials, path parameters and extension ids; cuts `data:` to its media type and a hash; keeps
 * `blob:ORIGIN`. On the page's own origin, the path of what is not a script file is a page's: it
 * becomes a route. The result lives in the
 * URL's text, the arena or static memory.
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

/* Reduces a User-Agent header to families. Never fails: unknown parts stay empty. */
struct fp_user_agent fp_user_agent_parse(struct fp_str header);

#endif
