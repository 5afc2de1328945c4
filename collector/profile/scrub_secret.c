/*
 * Scrub, secrets: their names, by length.
 */
#include "collector/profile/scrub_secret.h"

#include <strings.h>

#define LETTER(c) (UINT32_C(1) << ((unsigned char)(c) & 31))

const uint32_t fp_scrub_secret_letters[FP_SCRUB_SECRET_LEN_MAX + 1] = {
    [3] = LETTER('j') | LETTER('p') | LETTER('s'),
    [4] = LETTER('a') | LETTER('c') | LETTER('u'),
    [5] = LETTER('t') | LETTER('e') | LETTER('l'),
    [6] = LETTER('c') | LETTER('s') | LETTER('p') | LETTER('a') | LETTER('e') | LETTER('u'),
    [7] = LETTER('c') | LETTER('a') | LETTER('u') | LETTER('i'),
    [8] = LETTER('p') | LETTER('u') | LETTER('i'),
    [9] = LETTER('x') | LETTER('a') | LETTER('c') | LETTER('p') | LETTER('u'),
    [10] = LETTER('s') | LETTER('j') | LETTER('a') | LETTER('c') | LETTER('x'),
    [11] = LETTER('s') | LETTER('a') | LETTER('h'),
    [12] = LETTER('x') | LETTER('a') | LETTER('r'),
    [13] = LETTER('a') | LETTER('r'),
    [15] = LETTER('r'),
    [18] = LETTER('r'),
    [19] = LETTER('p'),
};

/* Names of one length, in lower case. */
struct names {
    const char *always;
    const char *scrubbed[10]; /* NULL ends */
};

static const struct names names_by_len[FP_SCRUB_SECRET_LEN_MAX + 1] = {
    [3] = {NULL, {"jwt", "pwd", "sid"}},
    [4] = {NULL, {"auth", "csrf", "user"}},
    [5] = {NULL, {"token", "email", "login"}},
    [6] = {"cookie", {"secret", "passwd", "apikey", "e-mail", "userid"}},
    [7] = {"cookie2", {"cookies", "api-key", "api_key", "user-id", "user_id", "idtoken"}},
    [8] = {NULL, {"postdata", "password", "username", "id-token", "id_token"}},
    [9] = {NULL,
           {"x-api-key", "authtoken", "csrftoken", "xsrftoken", "phpsessid", "user-name",
            "user_name"}},
    [10] = {"set-cookie",
            {"jsessionid", "auth-token", "auth_token", "session-id", "session_id", "csrf-token",
             "csrf_token", "xsrf-token", "xsrf_token"}},
    [11] = {"set-cookie2", {"accesstoken", "headerstext"}},
    [12] = {NULL,
            {"x-auth-token", "x-csrf-token", "x-xsrf-token", "access-token", "access_token",
             "refreshtoken"}},
    [13] = {"authorization", {"refresh-token", "refresh_token"}},
    [15] = {NULL, {"requestformdata"}},
    [18] = {NULL, {"requestheaderstext"}},
    [19] = {"proxy-authorization", {NULL}},
};

/* Most names differ in their first two letters. */
static bool is_name(struct fp_str name, const char *known)
{
    return (name.ptr[0] | 0x20) == known[0] && (name.ptr[1] | 0x20) == known[1] &&
           strncasecmp(name.ptr, known, name.len) == 0;
}

bool fp_scrub_is_known_secret(struct fp_str name, bool are_scrubbed)
{
    const struct names *names = &names_by_len[name.len];
    if (names->always != NULL && is_name(name, names->always))
        return true;
    const char *const *known = names->scrubbed;
    while (are_scrubbed && *known != NULL && !is_name(name, *known))
        known++;
    return are_scrubbed && *known != NULL;
}
