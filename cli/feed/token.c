/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token: takes the rate and the arms from an upload's own token and signs a new one.
 */
#include "cli/feed/token.h"

#include "cli/kit/message.h"
#include "collector/base/clock.h"

enum { PPM = 1000000 };

/* Sets what the upload's own token says of its page load, however old it is, if it is good. */
static void copy_claims(const struct fp_site *site, struct fp_str own, int64_t now_s,
                        struct fleetprof_token *renewed)
{
    const struct fleetprof_token_rules any_age = {
        .site = site->name.ptr,
        .site_len = site->name.len,
        .now_s = now_s,
        .max_age_s = now_s,
    };
    struct fleetprof_token token;
    for (size_t i = 0; i < site->token_key_files.count; i++)
        if (fleetprof_token_check(site->token_keys[i], own.ptr, own.len, &any_age, &token) ==
            FLEETPROF_TOKEN_OK) {
            renewed->ppm = token.ppm;
            renewed->arms = token.arms;
            renewed->arms_len = token.arms_len;
            return;
        }
}

bool fp_token_renew(const struct fp_site *site, struct fp_str own, char text[FP_TOKEN_SIZE])
{
    int64_t now_s = fp_clock_real_us() / FP_US_PER_S;
    struct fleetprof_token token = {
        .site = site->name.ptr,
        .site_len = site->name.len,
        .ppm = PPM,
        .time_s = now_s,
    };
    copy_claims(site, own, now_s, &token);
    size_t len = fleetprof_token_draw_nonce(token.nonce)
                     ? fleetprof_token_make(site->token_keys[0], &token, text)
                     : 0;
    text[len] = '\0';
    if (len == 0)
        fp_message_error("could not sign a page token for the site %s", site->name.ptr);
    return len > 0;
}
