/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, selectors: reduces the targets of interactions, what invokes scripts, and hosts to what
 * may be stored. Pure functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_SELECTOR_H
#define FP_PROFILE_SCRUB_SELECTOR_H

#include "collector/base/arena.h"
#include "collector/profile/scrub/scrub.h"

/* Most code points of a stored selector or host. */
#define FP_SELECTOR_MAX 128

/*
 * Templates a selector: keeps tags, ids, classes and the names of attributes and pseudo-classes.
 * `*` replaces numbers, hashes, words that are not tags (so texts), whatever stands in parentheses,
 * and steps with characters of addresses, URLs and `name=value`; values of attributes go. Keeps the
 * last steps that fit in FP_SELECTOR_MAX. The result fits into a JSON string. Scrubbing twice is
 * like scrubbing once. any_tag: any word may stand for a tag, as in what invokes a script:
 * `BUTTON#buy.onclick`, `Window.setTimeout`.
 */
bool fp_scrub_selector(struct fp_str selector, bool any_tag, struct fp_arena *arena,
                       struct fp_str *scrubbed) FP_MUST_CHECK;

/* True if what invokes a script is its URL, for fp_scrub_resource; else it is a selector. */
bool fp_invoker_is_url(struct fp_str invoker);

/* Reduces a host, or a URL to its host (of an extension: to its scheme): lower case, with its port,
 * without credentials. */
bool fp_scrub_host(struct fp_str host, struct fp_arena *arena,
                   struct fp_str *scrubbed) FP_MUST_CHECK;

#endif
