/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of findings: what is wrong on the way to the collector.
 */
#include "cli/doctor/finding_texts.h"

#define NGINX_INGEST                                                                               \
    "location /v1/ingest/ {\n    fleetprof off;\n    client_max_body_size 8m;\n"                   \
    "    client_body_buffer_size 256k;\n    proxy_pass http://127.0.0.1:8600;\n}"
#define HTTPD_INGEST                                                                               \
    "ProxyPass /v1/ingest/ http://127.0.0.1:8600/v1/ingest/ retry=1\n"                             \
    "<Location /v1/ingest/>\n    FleetProf off\n</Location>"
#define EXPRESS_INGEST                                                                             \
    "app.use(createProxyMiddleware({ target: 'http://127.0.0.1:8600', pathFilter: '/v1/ingest' "   \
    "}));"

#define TEXT(id) [FP_FINDING_##id - FP_FINDING_ENDPOINT_MIXED]

const struct fp_finding_text fp_texts_of_uploads[FP_TEXTS_OF_UPLOADS] = {
    TEXT(ENDPOINT_MIXED) =
        {
            .what = "An https page uploads to an http endpoint.",
            .why = "The browser blocks the upload as mixed content.",
            .fix = "Use an endpoint on the page's own origin: data-endpoint=\"/v1/ingest/KEY\".",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    TEXT(ENDPOINT_ELSEWHERE) =
        {
            .what = "The agent uploads to another site, and doctor sent nothing there.",
            .why = "Whoever controls the page chooses the endpoint, so doctor posts only to the "
                   "page's own site: the same registrable domain.",
            .fix = "If the endpoint is yours, name it: --endpoint URL",
        },
    TEXT(ENDPOINT_UNREACHABLE) =
        {
            .what = "Nobody answers at the endpoint.",
            .why = "All uploads are lost.",
            .fix = "Correct data-endpoint; use the page's own origin.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    TEXT(ENDPOINT_NOT_COLLECTOR) =
        {
            .what = "Something other than a collector answers at the endpoint.",
            .why = "The path is not passed on, and the application or the web server answers; all "
                   "uploads are lost.",
            .fix = "Pass the path to the collector.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    TEXT(ENDPOINT_PATH) =
        {
            .what = "The collector gets a path that it does not know.",
            .why = "The proxy cuts or rewrites the path, or data-endpoint is not /v1/ingest/KEY.",
            .fix = "Pass the whole path: proxy_pass without a path of its own, not even a slash.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    TEXT(ENDPOINT_CORS) =
        {
            .what = "The endpoint's reply does not allow the page's origin.",
            .why = "The endpoint is on another origin; without the header the agent cannot see "
                   "whether an upload was accepted.",
            .fix = "List the origin in the site's configuration, and let the collector's CORS "
                   "fields pass.",
            .nginx = "proxy_pass_header Access-Control-Allow-Origin;",
            .httpd = "# remove: Header unset Access-Control-Allow-Origin",
        },
    TEXT(PREFLIGHT) =
        {
            .what = "The endpoint refuses a preflight.",
            .why = "Uploads of application/json from another origin need one. (The agent's own "
                   "uploads do not.)",
            .fix = "Pass OPTIONS to the collector.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
        },
    TEXT(COLLECTOR_DOWN) =
        {
            .what = "The proxy cannot reach the collector.",
            .why = "The agent retries for a few minutes; then the uploads are lost.",
            .fix = "Start the collector, and compare its `listen` with the proxy's address: "
                   "systemctl status fleetprofd",
            .nginx = "proxy_pass http://127.0.0.1:8600;",
            .httpd = "ProxyPass /v1/ingest/ http://127.0.0.1:8600/v1/ingest/ retry=1",
            .express = EXPRESS_INGEST,
        },
    TEXT(COLLECTOR_BUSY) =
        {
            .what = "The collector takes no uploads now.",
            .why = "Its spool or disk is full, or it is stopping.",
            .fix = "Run `fleetprof doctor` without a URL on the collector's machine.",
        },
    TEXT(COLLECTOR_OLD) =
        {
            .what = "The endpoint answers like a collector that does not know ?dry_run.",
            .why = "The check may have been stored as an upload; doctor sends no further ones.",
            .fix = "Upgrade the collector, and let the query and Fleetprof-Dry-Run pass.",
        },
    TEXT(KEY_UNKNOWN) =
        {
            .what = "The collector does not know the key in data-endpoint.",
            .why = "All uploads get 403.",
            .fix = "Use the `key` of the site in fleetprof.yaml, and reload the collector.",
        },
    TEXT(ORIGIN_REFUSED) =
        {
            .what = "The collector refuses uploads from the page's origin.",
            .why = "All uploads get 403. Scheme, host and port must be as in the address bar.",
            .fix = "Add the origin to the site in fleetprof.yaml: origins: [https://shop.example]",
        },
    TEXT(TOKEN_MISSING) =
        {
            .what = "The collector requires a page token, and the page has none.",
            .why = "All uploads get 403: the web server has no token key.",
            .fix = "Give web servers and collectors the same key file.",
            .nginx = "fleetprof_site shop;\nfleetprof_token_key /etc/fleetprof/token.key;",
            .httpd = "FleetProfSite shop\nFleetProfTokenKey /etc/fleetprof/token.key",
        },
    TEXT(TOKEN_REFUSED) =
        {
            .what = "The collector does not accept the page's token.",
            .why = "The key files or the site's names differ, or the clocks do. If tokens are "
                   "required, all uploads get 403; otherwise their sample rate stays unknown.",
            .fix = "Compare fleetprof_site with the site's `name`, and the key files.",
            .nginx = "fleetprof_site shop;\nfleetprof_token_key /etc/fleetprof/token.key;",
            .httpd = "FleetProfSite shop\nFleetProfTokenKey /etc/fleetprof/token.key",
        },
    TEXT(TOKEN_UNSEEN) =
        {
            .what = "The collector requires a page token, and no page load was sampled.",
            .why = "Only sampled pages carry a token, so it could not be checked.",
            .fix = "Raise --repeat.",
        },
    TEXT(BUDGET_SPENT) =
        {
            .what = "Uploads are limited, and the limit is reached.",
            .why = "The site's budget or the proxy's limit_req answered 429; the agent retries.",
            .fix = "Raise `budgets`, `http.threads` (reason budget_decoding) or the burst of the "
                   "proxy, if visitors also meet it.",
            .nginx = "limit_req zone=fleetprof burst=20 nodelay;",
        },
    TEXT(UPLOAD_REFUSED) =
        {
            .what = "A small, valid upload is refused.",
            .why = "Something in front of the collector changes or blocks it, such as a firewall "
                   "that dislikes a body without a content type.",
            .fix = "Let POST requests to /v1/ingest/ pass as they are.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    TEXT(BODY_LIMIT) =
        {
            .what = "A large upload is refused.",
            .why = "The proxy's or the collector's limit is below 8 MB; large dumps are lost.",
            .fix = "Raise the limit of the proxy, and `limits.max_body` if the collector refuses.",
            .nginx = "client_max_body_size 8m;",
            .express = "// mount the proxy before express.json(), whose limit is 100kb",
        },
};
