/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: the table, the storing of values through it, and the default configuration that it
 * prints.
 */
#include "collector/config/settings.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/config/source_link.h"
#include "collector/config/time_zone.h"
#include "collector/config/value.h"

#include <inttypes.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)

#define FIELD(home_, type_, field_)                                                                \
    .home = (home_), .offset = offsetof(type_, field_), .size = sizeof(((type_ *)NULL)->field_)
#define IN_CONFIG(field_) FIELD(FP_HOME_CONFIG, struct fp_config, field_)
#define IN_PACE(field_) IN_CONFIG(field_), .reloadable = true
#define IN_RULES(field_) FIELD(FP_HOME_RULES, struct fp_rules, field_), .reloadable = true
#define IN_CEILINGS(kind_) IN_RULES(ceilings.names[kind_]), .min = 1, .max = 10000000
#define IN_SITE(field_) FIELD(FP_HOME_SITE, struct fp_site, field_), .reloadable = true

/* Settings of one section are adjacent, in the order in which they are printed. */
const struct fp_setting fp_settings[] = {
    {"listen", FP_SETTING_ADDRESS, IN_CONFIG(listen), .value = "127.0.0.1:8600", .required = true,
     .help = "Where uploads are accepted: `host:port`, `[IPv6]:port` or `unix:/path` (mode 0660)"},
    {"admin", FP_SETTING_ADDRESS, IN_CONFIG(admin), .value = "127.0.0.1:8601",
     .help = "Where `/healthz`, `/readyz` and `/metrics` are [answered](http.md#administration); "
             "if absent, nowhere. Keep it away from the public"},
    {"database", FP_SETTING_CONNECTION, IN_CONFIG(database), .required = true,
     .value = "host=/run/postgresql dbname=fleetprof user=fleetprof_writer",
     .help = "libpq connection string or URI of the database; it may name [several "
             "servers](postgresql.md#failover)"},
    {"spool.path", FP_SETTING_PATH, IN_CONFIG(spool_path), .required = true,
     .value = "/var/lib/fleetprof/spool",
     .help = "Directory of the spool, for one collector only; created if absent, its parent must "
             "exist"},
    {"spool.max_bytes", FP_SETTING_BYTES, IN_CONFIG(spool_max_bytes), .value = "4GiB",
     .min = 4 * MIB, .max = 1024 * TIB,
     .help = "Maximum size of the spool on disk, at least four times `spool.segment_bytes`; above "
             "that, uploads are answered with 503. One of several sites may fill half"},
    {"spool.segment_bytes", FP_SETTING_BYTES, IN_CONFIG(spool_segment_bytes), .value = "16MiB",
     .min = MIB, .max = GIB,
     .help = "Size of one file of the spool, preallocated; the largest record fits in one"},
    {"spool.keep", FP_SETTING_DURATION, IN_CONFIG(spool_keep_us), .value = "1h", .min = 0,
     .max = 30 * FP_US_PER_DAY, .help = "How long a file stays after all of it is in the database"},
    {"dead_letters.path", FP_SETTING_PATH_OR_NONE, IN_CONFIG(dead_letters_path), .value = "",
     .help = "Directory where bodies of refused uploads are kept, for one collector only; created "
             "if absent. They are raw user data. If empty, none are kept"},
    {"dead_letters.max_bytes", FP_SETTING_BYTES, IN_CONFIG(dead_letters_max_bytes),
     .value = "64MiB", .min = MIB, .max = GIB,
     .help = "Maximum size of that directory; above that, the oldest are dropped"},
    {"limits.max_body", FP_SETTING_BYTES, IN_RULES(max_body), .value = "8MiB", .min = 1024,
     .max = GIB, .help = "Largest body of a request, as received"},
    {"limits.max_inflated", FP_SETTING_BYTES, IN_RULES(format.max_inflated), .value = "64MiB",
     .min = 1024, .max = GIB, .help = "Largest body after inflating; all parts of a form together"},
    {"limits.samples", FP_SETTING_COUNT, IN_RULES(format.samples), .value = "200000", .min = 1,
     .max = 100000000, .help = "Samples of one trace"},
    {"limits.stacks", FP_SETTING_COUNT, IN_RULES(format.stacks), .value = "500000", .min = 1,
     .max = 100000000, .help = "Stacks of one trace"},
    {"limits.frames", FP_SETTING_COUNT, IN_RULES(format.frames), .value = "100000", .min = 1,
     .max = 100000000, .help = "Frames of one trace"},
    {"limits.resources", FP_SETTING_COUNT, IN_RULES(format.resources), .value = "10000", .min = 1,
     .max = 100000000, .help = "Resources of one trace"},
    {"limits.entries", FP_SETTING_COUNT, IN_RULES(format.entries), .value = "50000", .min = 1,
     .max = 100000000,
     .help = "Marks, measures and entries of one upload together; and vitals, interactions, "
             "frames, scripts and resources together"},
    {"limits.measures", FP_SETTING_COUNT, IN_RULES(measures), .value = "64", .min = 0, .max = 10000,
     .help = "Names of measures and windows per upload whose samples are added up by function; "
             "those with the most samples first; 0: none"},
    {"limits.stack_depth", FP_SETTING_COUNT, IN_RULES(format.stack_depth), .value = "2000",
     .min = 1, .max = 1000000, .help = "Frames on one stack"},
    {"limits.json_depth", FP_SETTING_COUNT, IN_RULES(format.json_depth), .value = "64", .min = 8,
     .max = 1024, .help = "Nesting of arrays and objects in a body"},
    {"limits.max_span", FP_SETTING_DURATION, IN_RULES(format.max_span_us), .value = "1h",
     .min = FP_US_PER_S, .max = FP_US_PER_DAY,
     .help = "Time between a trace's first and last sample, and the window of an upload with a "
             "trace; above that 422"},
    {"limits.upload_memory", FP_SETTING_BYTES, IN_RULES(upload_memory), .value = "256MiB",
     .min = MIB, .max = 64 * GIB,
     .help =
         "Working memory of one upload while it is decoded; at most `http.threads` and one more "
         "are decoded at once"},
    {"limits.body_memory", FP_SETTING_BYTES, IN_RULES(body_memory), .value = "64MiB", .min = 65536,
     .max = 64 * GIB,
     .help = "Memory of all bodies being received; above that, uploads are answered with 503 and "
             "`Retry-After`"},
    {"limits.kept", FP_SETTING_BYTES, IN_RULES(kept_per_hour), .value = "128MiB", .min = 0,
     .max = TIB,
     .help = "Bytes of sessions and traces of all sites that are [kept whole](#kept-bytes) per "
             "hour, about as they are stored; above that, uploads count but are not kept. One site "
             "may take half"},
    {"limits.token_memory", FP_SETTING_BYTES, IN_RULES(token_memory), .value = "64MiB", .min = MIB,
     .max = 64 * GIB,
     .help = "Memory for how often [page tokens](#page-tokens) were used; sites with `token_keys` "
             "share it equally. 32 bytes per page load"},
    {"limits.connections", FP_SETTING_COUNT, IN_CONFIG(connections), .value = "1024", .min = 1,
     .max = 1000000,
     .help = "Open connections; for one more, the one that has been idle longest is closed"},
    {"limits.connections_per_address", FP_SETTING_COUNT, IN_CONFIG(connections_per_address),
     .value = "0", .min = 0, .max = 1000000,
     .help = "Open connections per client address, further ones are closed at once; 0: no limit. "
             "Behind a proxy all connections have its address: keep 0"},
    {"limits.timeout", FP_SETTING_DURATION, IN_CONFIG(timeout_us), .value = "30s",
     .min = FP_US_PER_S, .max = FP_US_PER_HOUR,
     .help = "A connection is closed after this time without traffic; whole seconds, rounded up"},
    {"limits.request_timeout", FP_SETTING_DURATION, IN_CONFIG(request_timeout_us), .value = "60s",
     .min = FP_US_PER_S, .max = FP_US_PER_HOUR,
     .help = "Time for the headers of a request, and again for its body; then the connection is "
             "closed, even with traffic"},
    {"ceilings.frames", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_FRAME), .value = "50000",
     .help = "New functions, with their place in a script, and types of events per site and hour; "
             "above that, here and below, new names become `(overflow)`. A name that the site used "
             "in this hour or the last is not new"},
    {"ceilings.stacks", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_STACK), .value = "500000",
     .help = "New stacks per site and hour, and the stacks they stand on"},
    {"ceilings.timing_names", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_TIMING), .value = "5000",
     .help = "New names of marks and measures per site and hour; targets of interactions, scripts "
             "of long frames, hosts of resources"},
    {"ceilings.routes", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_ROUTE), .value = "1000",
     .help = "New routes per site and hour"},
    {"ceilings.releases", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_RELEASE), .value = "200",
     .help = "New releases per site and hour"},
    {"ceilings.segments", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_SEGMENT), .value = "2000",
     .help = "New combinations of dimensions per site and hour; above that, the environment "
             "becomes `(overflow)`, then the release, the route and the variant"},
    {"ceilings.browser_versions", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_BROWSER_VERSION),
     .value = "2000",
     .help = "The same with the browser version, which counts apart; above that, it becomes "
             "`(overflow)`"},
    {"ceilings.custom", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_CUSTOM), .value = "2000",
     .help = "The same with [custom dimensions](numbers.md#custom-dimensions), which count apart; "
             "above that, they become `(overflow)`"},
    {"ceilings.custom_values", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_CUSTOM_VALUE), .value = "100",
     .help = "New values of custom dimensions per site and hour; above that, `(overflow)`"},
    {"ceilings.elements", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_ELEMENT), .value = "2000",
     .help = "New elements of web vitals, with what they show, and things that "
             "[vitals would be without](numbers.md#what-a-vital-would-be-without-something), per "
             "site and hour"},
    {"ceilings.vitals", FP_SETTING_COUNT, IN_CEILINGS(FP_NAME_VITAL), .value = "500000",
     .help = "Web vitals with an id per site and hour that may be [sent "
             "again](numbers.md#vitals-that-are-sent-again); above that they count all the same, "
             "but a later value does not replace them"},
    {"ceilings.memory", FP_SETTING_BYTES, IN_RULES(ceilings.memory), .value = "64MiB", .min = MIB,
     .max = 64 * GIB,
     .help = "Memory for the names of all sites together, 11 to 22 bytes per name; when it is "
             "full, new names become `(overflow)`"},
    {"http.threads", FP_SETTING_COUNT, IN_CONFIG(http_threads), .value = "2", .min = 1, .max = 256,
     .help =
         "Threads that receive uploads; as many and one more decode them [in turns](#turns), of "
         "which one site never has all"},
    {"http.proxies", FP_SETTING_COUNT, IN_CONFIG(http_proxies), .value = "1", .min = 0, .max = 16,
     .help =
         "Proxies in front that add to `X-Forwarded-For`: the outermost one's entry is the address "
         "by which [repeated page loads](privacy.md#addresses) are recognised; without the header "
         "it is the connection's. It is not stored"},
    {"flush.min_window", FP_SETTING_DURATION, IN_PACE(flush_min_window_us), .value = "250ms",
     .min = FP_US_PER_MS, .max = FP_US_PER_HOUR,
     .help = "Least time from the start of one transaction to the start of the next"},
    {"flush.max_window", FP_SETTING_DURATION, IN_PACE(flush_max_window_us), .value = "10s",
     .min = FP_US_PER_MS, .max = FP_US_PER_HOUR,
     .help = "A transaction that takes longer makes the next one smaller; under load, uploads are "
             "gathered for half as long"},
    {"retention.facts", FP_SETTING_DURATION, IN_PACE(retention_facts_us), .value = "400d",
     .min = FP_US_PER_DAY, .max = 36500 * FP_US_PER_DAY,
     .help = "How long numbers are kept; eight days are dropped at once"},
    {"retention.hours", FP_SETTING_DURATION, IN_PACE(retention_hours_us), .value = "14d",
     .min = FP_US_PER_DAY, .max = 36500 * FP_US_PER_DAY,
     .help = "How long numbers are kept by the hour; older ones are kept by the day. At most "
             "`retention.facts` counts"},
    {"retention.upload_log", FP_SETTING_DURATION, IN_PACE(retention_upload_log_us), .value = "14d",
     .min = FP_US_PER_DAY, .max = 36500 * FP_US_PER_DAY,
     .help = "How long there is a row for each counted upload, and for refusals; whole days are "
             "dropped"},
    {"retention.sessions", FP_SETTING_DURATION, IN_PACE(retention_sessions_us), .value = "30d",
     .min = FP_US_PER_DAY, .max = 36500 * FP_US_PER_DAY,
     .help =
         "How long whole [sessions](sql.md#sessions) and traces are kept; whole days are dropped"},
    {"retention.upload_ids", FP_SETTING_DURATION, IN_PACE(retention_upload_ids_us), .value = "7d",
     .min = FP_US_PER_HOUR, .max = 36500 * FP_US_PER_DAY,
     .help = "How long an upload sent again is recognised by its id"},
    {"privacy.keep_query", FP_SETTING_FLAG, IN_RULES(keep_query), .value = "false",
     .help = "Keep query strings in URLs of pages and scripts; they often hold personal data"},
    {"privacy.keep_path_parameters", FP_SETTING_FLAG, IN_RULES(kept.path_parameters),
     .value = "false", .help = "Keep `;name=value` in paths, such as `;jsessionid=0F0F`"},
    {"privacy.keep_path_addresses", FP_SETTING_FLAG, IN_RULES(kept.path_addresses),
     .value = "false",
     .help = "Keep e-mail addresses in paths of pages; otherwise `:mail` replaces them"},
    {"privacy.keep_path_hashes", FP_SETTING_FLAG, IN_RULES(kept.path_hashes), .value = "false",
     .help = "Keep UUIDs, hexadecimal ids and addresses of machines in paths of pages; otherwise "
             "`:id` replaces them"},
    {"privacy.keep_path_numbers", FP_SETTING_FLAG, IN_RULES(kept.path_numbers), .value = "false",
     .help = "Keep numbers of four digits and more in paths of pages; otherwise `:id` replaces "
             "them. Dates and versions stay in any case"},
    {"privacy.keep_path_tokens", FP_SETTING_FLAG, IN_RULES(kept.path_tokens), .value = "false",
     .help = "Keep long random texts in paths of pages; otherwise `:token` replaces them"},
    {"privacy.keep_names", FP_SETTING_FLAG, IN_RULES(kept.names), .value = "false",
     .help = "Keep names of marks and measures as the page has them, with e-mail addresses, tokens "
             "and what follows `?` and `#` in a URL"},
    {"privacy.detail_keys", FP_SETTING_NAMES, IN_RULES(format.detail_keys), .value = "[]",
     .help = "Members of the `detail` of marks and measures that are kept as a part of their "
             "names: `fetch{status=200}`"},
    {"privacy.keep_raw", FP_SETTING_FLAG, IN_RULES(keep_raw), .value = "false",
     .help = "Keep sessions and traces byte for byte as they were sent, except cookies and "
             "authorization, instead of scrubbed"},
    {"privacy.honour_gpc", FP_SETTING_FLAG, IN_RULES(honour_gpc), .value = "false",
     .help = "Refuse uploads of browsers that send `Sec-GPC: 1` (Global Privacy Control) with 403"},
    {FP_SITE_PREFIX "name", FP_SETTING_NAME, IN_SITE(name), .value = "shop", .required = true,
     .help = "The site's name in SQL"},
    {FP_SITE_PREFIX "key", FP_SETTING_NAME, IN_SITE(key), .value = "pk_shop", .required = true,
     .help = "The site's key in the path `/v1/ingest/KEY`; public, because pages contain it"},
    {FP_SITE_PREFIX "origins", FP_SETTING_ORIGINS, IN_SITE(origins),
     .value = "[https://shop.example, \"http://127.0.0.1:8080\"]",
     .help = "Origins whose pages may upload, as browsers send them; also list `null` to admit it. "
             "Requests without `Origin` are admitted"},
    {FP_SITE_PREFIX "formats", FP_SETTING_FORMATS, IN_SITE(format_names), .value = "[web]",
     .help =
         "Accepted formats: `web`, and of the [older formats](formats.md), which are kept whole, "
         "`speed-tracer` and `opera-scope`. Other uploads get 415"},
    {FP_SITE_PREFIX "routes", FP_SETTING_ROUTES, IN_SITE(routes), .value = "[/product/:id, /cart]",
     .help = "Templates of paths that count as one page; the first that matches wins"},
    {FP_SITE_PREFIX "timing_names", FP_SETTING_TIMING_NAMES, IN_SITE(timing_names), .value = "[]",
     .help = "Templates such as `fetch-:id` of names of marks and measures that count as one; the "
             "first that matches wins"},
    {FP_SITE_PREFIX "custom", FP_SETTING_DIMENSIONS, IN_SITE(custom), .value = "[]",
     .help = "Up to three [custom dimensions](numbers.md#custom-dimensions), such as `[plan, "
             "country]`; pages say the values"},
    {FP_SITE_PREFIX "scripts", FP_SETTING_SCRIPTS, IN_SITE(scripts), .value = "[]",
     .help = "Templates such as `/build/:id/*.js` of URLs of scripts, and of paths of sources, "
             "that count as one across releases, for names that bundlers do not make; the first "
             "that matches wins"},
    {FP_SITE_PREFIX "ignore", FP_SETTING_IGNORED, IN_SITE(ignore), .value = "[]",
     .help =
         "[Code that is not the site's own](source-maps.md#ignored-code), such as `/vendor/*.js` "
         "or `src/generated/*`: URLs of scripts, and sources of function tables"},
    {FP_SITE_PREFIX "source_link", FP_SETTING_LINK, IN_SITE(source_link), .value = "",
     .help = "Where [sources](source-maps.md#links-to-sources) can be looked at: an address with "
             "`{file}`, and `{release}`, `{line}`, `{column}` if wanted, such as "
             "`https://git.example/shop/blob/{release}/{file}#L{line}`"},
    {FP_SITE_PREFIX "first_party", FP_SETTING_HOSTS, IN_SITE(first_party), .value = "[]",
     .help = "Hosts whose scripts are the site's own, with their subdomains, such as "
             "`shopcdn.example`. The domains of the origins are, anyway"},
    {FP_SITE_PREFIX "performance_budgets", FP_SETTING_PERFORMANCE_BUDGETS,
     IN_SITE(performance_budgets), .value = "[]",
     .help = "Limits for the waits of visitors, for [budgets](cli.md#budgets): up to 50 "
             "texts such as `INP p75 <= 200ms on /checkout`, `measure search p90 <= 0.5s`, `JS "
             "mean <= 300ms`, `third-party tags.example mean <= 50ms`. Whole numbers without "
             "unit are ms of a vital"},
    {FP_SITE_PREFIX "timezone", FP_SETTING_TIME_ZONE, IN_SITE(timezone), .value = "UTC",
     .help = "Whose days the site's days are, such as `Australia/Sydney`: trends by day and the "
             "report take them"},
    {FP_SITE_PREFIX "require_token", FP_SETTING_FLAG, IN_SITE(require_token), .value = "false",
     .help = "Refuse uploads without a valid [page token](page_token.md) (403); needs a key file. "
             "Where none is required, a valid one still verifies the sample rate"},
    {FP_SITE_PREFIX "token_keys", FP_SETTING_KEY_FILES, IN_SITE(token_key_files), .value = "[]",
     .help = "Files with the keys that sign page tokens, the same as the web server's "
             "`fleetprof_token_key`; absolute paths. Without one, tokens are ignored"},
    {FP_SITE_PREFIX "token_max_age", FP_SETTING_DURATION, IN_SITE(token_max_age_us), .value = "1h",
     .min = FP_US_PER_S, .max = 30 * FP_US_PER_DAY,
     .help = "How old a page may be when its upload arrives; one minute more is allowed, for "
             "clocks that differ"},
    {FP_SITE_PREFIX "token_uploads", FP_SETTING_COUNT, IN_SITE(token_uploads), .value = "32",
     .min = 1, .max = 1000000,
     .help = "Uploads that one page token allows: parts, retries, and loads of the page from the "
             "browser's cache"},
    {FP_SITE_PREFIX "sample_keep", FP_SETTING_SHARE, IN_SITE(sample_keep_ppm), .value = "0%",
     .min = 0, .max = 1000000,
     .help = "Share of traces that are kept whole, for `retention.sessions`. Sessions of the older "
             "formats always are"},
    {FP_SITE_PREFIX "kept", FP_SETTING_BYTES, IN_SITE(kept_per_hour), .value = "32MiB", .min = 0,
     .max = TIB, .help = "The same as `limits.kept` for this site; 0: nothing is kept whole"},
    {FP_SITE_PREFIX "budgets.requests_per_second", FP_SETTING_COUNT,
     IN_SITE(budgets.per_s[FP_BUDGET_REQUESTS]), .value = "500", .min = 0,
     .max = FP_BUDGET_RATE_MAX,
     .help = "Uploads per second that the site may send on average; above that 429; 0: no limit"},
    {FP_SITE_PREFIX "budgets.bytes_per_second", FP_SETTING_BYTES,
     IN_SITE(budgets.per_s[FP_BUDGET_BYTES]), .value = "8MiB", .min = 0, .max = FP_BUDGET_RATE_MAX,
     .help = "Bytes of bodies per second, as received; above that 429; 0: no limit"},
    {FP_SITE_PREFIX "budgets.burst", FP_SETTING_DURATION, IN_SITE(budgets.burst_us), .value = "10s",
     .min = FP_US_PER_S, .max = FP_BUDGET_BURST_MAX_US,
     .help = "How many seconds' worth of both rates may arrive at once after a quiet period"},
};
const size_t fp_setting_count = sizeof(fp_settings) / sizeof(fp_settings[0]);

const char fp_setting_out_of_bounds[] = "is out of bounds";

const struct fp_setting *fp_setting_find(const char *name)
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        if (strcmp(fp_settings[i].name, name) == 0)
            return &fp_settings[i];
    }
    return NULL;
}

void *fp_setting_field(const struct fp_setting *setting, struct fp_config *config,
                       struct fp_site *site)
{
    void *homes[] = {
        [FP_HOME_CONFIG] = config,
        [FP_HOME_RULES] = config->rules,
        [FP_HOME_SITE] = site,
    };
    FP_ASSERT(homes[setting->home] != NULL);
    return (char *)homes[setting->home] + setting->offset;
}

bool fp_setting_is_list(const struct fp_setting *setting)
{
    return setting->type >= FP_SETTING_ORIGINS;
}

const char *fp_setting_type_name(enum fp_setting_type type)
{
    static const char *const names[] = {
        [FP_SETTING_CONNECTION] = "a text",
        [FP_SETTING_PATH] = "an absolute path",
        [FP_SETTING_PATH_OR_NONE] = "an absolute path, or \"\" for none",
        [FP_SETTING_ADDRESS] = "an address",
        [FP_SETTING_DURATION] = "a duration such as 250ms or 7d",
        [FP_SETTING_BYTES] = "a size such as 8MiB",
        [FP_SETTING_COUNT] = "a whole number",
        [FP_SETTING_SHARE] = "a share such as 1%",
        [FP_SETTING_FLAG] = "true or false",
        [FP_SETTING_NAME] = "a name",
        [FP_SETTING_LINK] = "an address, or \"\" for none",
        [FP_SETTING_TIME_ZONE] = "a time zone such as Australia/Sydney",
        [FP_SETTING_ORIGINS] = "a list of origins",
        [FP_SETTING_ROUTES] = "a list of paths",
        [FP_SETTING_KEY_FILES] = "a list of files",
        [FP_SETTING_TIMING_NAMES] = "a list of templates",
        [FP_SETTING_DIMENSIONS] = "a list of names",
        [FP_SETTING_SCRIPTS] = "a list of templates",
        [FP_SETTING_IGNORED] = "a list of patterns",
        [FP_SETTING_HOSTS] = "a list of hosts",
        [FP_SETTING_PERFORMANCE_BUDGETS] = "a list of budgets",
        [FP_SETTING_NAMES] = "a list of names",
        [FP_SETTING_FORMATS] = "a list of formats",
    };
    FP_ASSERT((size_t)type < FP_COUNT(names) && names[type] != NULL);
    return names[type];
}

static bool is_number(enum fp_setting_type type)
{
    return type == FP_SETTING_COUNT || type == FP_SETTING_SHARE || type == FP_SETTING_BYTES ||
           type == FP_SETTING_DURATION;
}

void fp_setting_print_number(const struct fp_setting *setting, int64_t value, struct fp_buf *out)
{
    if (setting->type == FP_SETTING_BYTES)
        fp_value_print_bytes(value, out);
    else if (setting->type == FP_SETTING_DURATION)
        fp_value_print_duration(value, out);
    else if (setting->type == FP_SETTING_SHARE)
        fp_value_print_share(value, out);
    else
        fp_buf_addf(out, "%" PRId64, value);
}

void fp_setting_print_bounds(const struct fp_setting *setting, struct fp_buf *out)
{
    if (!is_number(setting->type))
        return;
    fp_buf_addf(out, "from ");
    fp_setting_print_number(setting, setting->min, out);
    fp_buf_addf(out, " to ");
    fp_setting_print_number(setting, setting->max, out);
}

static const char *read_number(enum fp_setting_type type, struct fp_str text, int64_t *value)
{
    if (type == FP_SETTING_COUNT)
        return fp_value_count(text, value);
    if (type == FP_SETTING_SHARE)
        return fp_value_share(text, value);
    if (type == FP_SETTING_BYTES)
        return fp_value_bytes(text, value);
    return fp_value_duration(text, value);
}

/* Stores a number in a field of 4 or 8 bytes; the bounds ensure that the value fits. */
static const char *store_number(const struct fp_setting *setting, struct fp_str text, void *field)
{
    int64_t value = 0;
    const char *wrong = read_number(setting->type, text, &value);
    if (wrong != NULL)
        return wrong;
    if (value < setting->min || value > setting->max)
        return fp_setting_out_of_bounds;
    uint32_t narrow = (uint32_t)value;
    FP_ASSERT(setting->size == sizeof(value) ||
              (setting->size == sizeof(narrow) && setting->min >= 0 && setting->max <= UINT32_MAX));
    if (setting->size == sizeof(narrow))
        memcpy(field, &narrow, sizeof(narrow));
    else
        memcpy(field, &value, sizeof(value));
    return NULL;
}

const char *fp_setting_store(const struct fp_setting *setting, struct fp_str text, void *field,
                             struct fp_arena *arena)
{
    const char *wrong = "is not a single value";
    switch (setting->type) {
    case FP_SETTING_COUNT:
    case FP_SETTING_SHARE:
    case FP_SETTING_BYTES:
    case FP_SETTING_DURATION:
        return store_number(setting, text, field);
    case FP_SETTING_FLAG:
        return fp_value_flag(text, field);
    case FP_SETTING_ADDRESS:
        return fp_address_parse(text, field);
    case FP_SETTING_CONNECTION:
        wrong = fp_value_check_connection(text);
        break;
    case FP_SETTING_PATH:
        wrong = fp_value_check_path(text);
        break;
    case FP_SETTING_PATH_OR_NONE:
        wrong = text.len > 0 ? fp_value_check_path(text) : NULL;
        break;
    case FP_SETTING_NAME:
        wrong = fp_value_check_name(text);
        break;
    case FP_SETTING_LINK:
        wrong = text.len > 0 ? fp_source_link_check(text) : NULL;
        break;
    case FP_SETTING_TIME_ZONE:
        wrong = fp_time_zone_check(text, FP_TIME_ZONE_DIRECTORY);
        break;
    case FP_SETTING_ORIGINS:
    case FP_SETTING_ROUTES:
    case FP_SETTING_KEY_FILES:
    case FP_SETTING_TIMING_NAMES:
    case FP_SETTING_DIMENSIONS:
    case FP_SETTING_SCRIPTS:
    case FP_SETTING_IGNORED:
    case FP_SETTING_HOSTS:
    case FP_SETTING_PERFORMANCE_BUDGETS:
    case FP_SETTING_NAMES:
    case FP_SETTING_FORMATS:
        break;
    }
    if (wrong == NULL && !fp_arena_copy(arena, text, field))
        wrong = "does not fit in memory";
    return wrong;
}

/* ---- the default configuration ---- */

enum { HELP_MAX = 512 }; /* bytes of a help text, its final zero included */

/* Copies a help text without the marks of Markdown: backquotes, and where links lead. */
static void strip_marks(const char *help, char *plain, size_t size)
{
    FP_ASSERT(strlen(help) < size);
    while (*help != '\0') {
        const char *link = *help == '[' ? strstr(help, "](") : NULL;
        if (link != NULL && link == strchr(help, ']')) {
            memcpy(plain, help + 1, (size_t)(link - help - 1));
            plain += link - help - 1;
            help = strchr(link, ')') + 1;
            continue;
        }
        if (*help != '`')
            *plain++ = *help;
        help++;
    }
    *plain = '\0';
}

/* Writes text as comment lines of at most 96 columns. */
static void print_comment(const char *indent, const char *text, struct fp_buf *out)
{
    enum { COLUMNS = 96 };
    size_t column = 0;
    while (*text != '\0') {
        size_t word_len = strcspn(text, " ");
        if (column == 0 || column + 1 + word_len > COLUMNS) {
            fp_buf_addf(out, "%s%s#", column == 0 ? "" : "\n", indent);
            column = strlen(indent) + 1;
        }
        fp_buf_addf(out, " %.*s", (int)word_len, text);
        column += 1 + word_len;
        text += word_len;
        text += strspn(text, " ");
    }
    fp_buf_addf(out, "\n");
}

/* Prints `# name: type, default or required, bounds, when a change takes effect`. */
static void print_facts(const struct fp_setting *setting, const char *indent, struct fp_buf *out)
{
    fp_buf_addf(out, "%s# [%s] %s", indent, setting->name, fp_setting_type_name(setting->type));
    if (is_number(setting->type)) {
        fp_buf_addf(out, ", ");
        fp_setting_print_bounds(setting, out);
    }
    fp_buf_addf(out, "%s; %s\n", setting->required ? "; required" : "",
                setting->reloadable ? "reload" : "restart");
}

static void print_setting(const struct fp_setting *setting, const char *indent, const char *key,
                          struct fp_buf *out)
{
    bool first_of_site = setting->home == FP_HOME_SITE && strcmp(key, "name") == 0;
    char help[HELP_MAX];
    strip_marks(setting->help, help, sizeof(help));
    print_comment(indent, help, out);
    print_facts(setting, indent, out);
    bool quoted = setting->type == FP_SETTING_ADDRESS || setting->value[0] == '\0';
    fp_buf_addf(out, "%s%s: %s%s%s\n", first_of_site ? "  - " : indent, key, quoted ? "\"" : "",
                setting->value, quoted ? "\"" : "");
}

static const char preamble[] =
    "# Configuration of fleetprofd: every setting with its default and an explanation. Made by\n"
    "# `fleetprofd --print-default-config`.\n"
    "#\n"
    "# Only the settings marked as required must be present. Addresses, paths, the database and "
    "the\n"
    "# sites are examples; all other values are the defaults. Each setting says when a change "
    "takes\n"
    "# effect: at the next reload (SIGHUP) or at the next restart.\n";

/* Prints `section:`, `sites:`, or a mapping within a site. Returns the indent of its contents. */
static const char *print_heading(struct fp_str section, struct fp_buf *out)
{
    static const struct fp_str site = {FP_SITE_PREFIX, sizeof(FP_SITE_PREFIX) - 1};
    if (section.len > site.len && memcmp(section.ptr, site.ptr, site.len) == 0) {
        fp_buf_addf(out, "    %.*s:\n", (int)(section.len - site.len), section.ptr + site.len);
        return "      ";
    }
    bool is_site = section.len > 0 && section.ptr[section.len - 1] == ']';
    if (section.len > 0)
        fp_buf_addf(out, "%.*s:\n", (int)strcspn(section.ptr, "[."), section.ptr);
    return is_site ? "    " : section.len > 0 ? "  " : "";
}

void fp_config_print_default(struct fp_buf *out)
{
    fp_buf_addf(out, "%s", preamble);
    struct fp_str section = FP_STR("");
    const char *indent = "";
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        const char *dot = strrchr(setting->name, '.');
        struct fp_str own = {setting->name, dot == NULL ? 0 : (size_t)(dot - setting->name)};
        fp_buf_addf(out, "\n");
        if (!fp_str_equal(own, section))
            indent = print_heading(own, out);
        section = own;
        print_setting(setting, indent, dot == NULL ? setting->name : dot + 1, out);
    }
}
