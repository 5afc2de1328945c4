/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of each finding: what, why, what to do, and the lines to add.
 */
#include "cli/doctor/finding.h"

#define NGINX_ON "fleetprof on;\nfleetprof_sample 1%;"
#define HTTPD_ON "FleetProf on\nFleetProfSample 1%"
#define NGINX_INGEST                                                                               \
    "location /v1/ingest/ {\n    fleetprof off;\n    client_max_body_size 8m;\n"                   \
    "    client_body_buffer_size 256k;\n    proxy_pass http://127.0.0.1:8600;\n}"
#define HTTPD_INGEST                                                                               \
    "ProxyPass /v1/ingest/ http://127.0.0.1:8600/v1/ingest/ retry=1\n"                             \
    "<Location /v1/ingest/>\n    FleetProf off\n</Location>"
#define EXPRESS_INGEST                                                                             \
    "app.use(createProxyMiddleware({ target: 'http://127.0.0.1:8600', pathFilter: '/v1/ingest' "   \
    "}));"
#define NGINX_CSP                                                                                  \
    "proxy_hide_header Content-Security-Policy;\n"                                                 \
    "add_header Content-Security-Policy \"script-src 'self'; connect-src 'self'\";  "              \
    "# and the rest of the page's policy"
#define AGENT "fleetprof-" FP_VERSION ".js"
#define TAG "<script src=\"/" AGENT "\" data-endpoint=\"/v1/ingest/KEY\"></script>"

const struct fp_finding_text fp_finding_texts[FP_FINDING_COUNT] = {
    [FP_FINDING_PAGE_STATUS] =
        {
            .what = "The page answers with an error.",
            .why = "Error documents are not sampled, so nothing else about the page can be said.",
            .fix = "Give the URL of a page that visitors see.",
        },
    [FP_FINDING_PAGE_NOT_HTML] =
        {
            .what = "The address is not an HTML document.",
            .why = "Only documents of the configured types are sampled.",
            .fix = "Give the URL of a page, or add the type.",
            .nginx = "fleetprof_types text/html application/xhtml+xml;",
            .httpd = "FleetProfTypes text/html application/xhtml+xml",
            .express = "res.type('html');",
        },
    [FP_FINDING_PAGE_REDIRECTS] =
        {
            .what = "The page redirects too often, or to an address that is not http or https.",
            .why = "A browser also gives up.",
            .fix = "Give the URL that the chain should end at, and repair the redirects.",
        },
    [FP_FINDING_PAGE_ELSEWHERE] =
        {
            .what = "The page redirects to another origin, and doctor did not follow.",
            .why = "Whoever controls the page chooses the target, which could be a machine in your "
                   "own network.",
            .fix = "If the target is yours, give its URL, or the option --follow.",
        },
    [FP_FINDING_PAGE_UNSTEADY] =
        {
            .what = "Some requests for the page failed.",
            .why = "A server behind the load balancer is away or overloaded.",
            .fix = "Look at the servers' error logs.",
        },
    [FP_FINDING_POLICY_MISSING] =
        {
            .what = "The page has neither a policy nor a decision.",
            .why = "The browser profiles only where Document-Policy allows it; "
                   "fleetprof is off for this page, or a proxy removes both fields.",
            .fix = "Turn the module on in the server that sends the page.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
            .express = "res.set('Document-Policy', Math.random() < 0.01 ? "
                       "'js-profiling, js-profiling-mode=lazy' : 'js-profiling=?0');",
        },
    [FP_FINDING_POLICY_BROKEN] =
        {
            .what = "Document-Policy cannot be parsed.",
            .why = "One syntax error, in any line, makes the browser drop the whole policy.",
            .fix = "Correct the field where the application or the server sets it.",
            .nginx = "proxy_hide_header Document-Policy;",
            .httpd = "Header unset Document-Policy",
            .express = "res.set('Document-Policy', 'document-write=?0');",
        },
    [FP_FINDING_POLICY_PARAMETER] =
        {
            .what = "js-profiling is a parameter of another member of Document-Policy.",
            .why = "Members are separated by commas; after a semicolon it is not a member, and "
                   "ignored.",
            .fix = "Write a comma in front of js-profiling.",
            .express = "res.set('Document-Policy', 'document-write=?0, js-profiling');",
        },
    [FP_FINDING_POLICY_TYPE] =
        {
            .what = "js-profiling in Document-Policy is not a Boolean.",
            .why = "The browser drops a member of the wrong type.",
            .fix = "Write `js-profiling` or `js-profiling=?0`, or leave it to the module.",
            .nginx = "fleetprof_conflict local;",
            .httpd = "FleetProfConflict local",
            .express = "res.set('Document-Policy', 'js-profiling');",
        },
    [FP_FINDING_POLICY_MODE_ONLY] =
        {
            .what = "Document-Policy has js-profiling-mode without js-profiling.",
            .why = "Today's browsers know only the switch, so they do not profile.",
            .fix = "Send both.",
            .nginx = "fleetprof_policy js-profiling js-profiling-mode=lazy;",
            .httpd = "FleetProfPolicy js-profiling js-profiling-mode=lazy",
            .express = "res.set('Document-Policy', 'js-profiling, js-profiling-mode=lazy');",
        },
    [FP_FINDING_POLICY_DROPPED] =
        {
            .what = "The server sampled the page load, but Document-Policy is missing.",
            .why = "A proxy or CDN in front of the module removes the field, so the browser does "
                   "not profile.",
            .fix = "Let the field pass in everything in front of the module.",
            .nginx = "proxy_pass_header Document-Policy;",
            .httpd = "# remove: Header unset Document-Policy",
            .express = "// remove: res.removeHeader('Document-Policy');",
        },
    [FP_FINDING_POLICY_OVERRIDDEN] =
        {
            .what = "The server sampled the page load, but Document-Policy does not allow "
                    "profiling.",
            .why = "Something between module and browser replaces the field.",
            .fix = "Set Document-Policy in one place, behind the module or in it.",
            .nginx = "# remove: add_header Document-Policy …; use fleetprof_policy",
            .httpd = "# remove: Header set Document-Policy …; use FleetProfPolicy",
            .express = "// remove: res.set('Document-Policy', …);",
        },
    [FP_FINDING_POLICY_CONFLICT] =
        {
            .what = "The application allows profiling by itself.",
            .why = "The page's policy says yes though the server did not sample the load: every "
                   "visitor pays, and nothing is collected.",
            .fix = "Remove js-profiling from the application's policy, or let the module win.",
            .nginx = "fleetprof_conflict local;",
            .httpd = "FleetProfConflict local",
            .express = "// remove js-profiling: res.set('Document-Policy', …);",
        },
    [FP_FINDING_POLICY_IN_META] =
        {
            .what = "A meta element tries to set Document-Policy.",
            .why = "Browsers read this policy from the HTTP header only.",
            .fix = "Remove the element and turn the module on.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    [FP_FINDING_POLICY_REPORT_ONLY] =
        {
            .what = "js-profiling is in Document-Policy-Report-Only, and not in Document-Policy.",
            .why = "A report-only policy allows nothing.",
            .fix = "Use the module, or send the member in Document-Policy.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    [FP_FINDING_POLICY_OMITTED] =
        {
            .what = "Page loads that are not sampled carry no policy, and browsers may revalidate "
                    "the page.",
            .why = "A 304 without the field leaves the yes of an earlier, sampled page in force.",
            .fix = "Send the explicit no, or forbid storing the page.",
            .nginx = "fleetprof_unsampled negative;",
            .httpd = "FleetProfUnsampled negative",
            .express = "res.set('Cache-Control', 'no-store');",
        },
    [FP_FINDING_DECISION_MISSING] =
        {
            .what = "The page has a policy, but no decision in Server-Timing.",
            .why = "Without `Server-Timing: fleetprof` the agent does nothing: the application or "
                   "add_header sets js-profiling itself, or a proxy removes the field.",
            .fix = "Turn the module on and let it win, or let Server-Timing pass; without the "
                   "module, add data-policy=\"try\" to the agent's tag.",
            .nginx = NGINX_ON "\nfleetprof_conflict local;",
            .httpd = HTTPD_ON "\nFleetProfConflict local",
            .express = "// remove js-profiling: res.set('Document-Policy', …);",
        },
    [FP_FINDING_DECISION_SOMETIMES] =
        {
            .what = "Only some replies have a decision.",
            .why = "One of the servers behind the load balancer runs without fleetprof, so the "
                   "true rate is lower than the configured one.",
            .fix = "Give all servers the same configuration.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    [FP_FINDING_DECISION_UNKNOWN] =
        {
            .what = "The decision in Server-Timing has an unknown form.",
            .why = "The agent does nothing with a decision that it cannot read.",
            .fix = "Use module and agent of one version; no other metric may be named fleetprof.",
        },
    [FP_FINDING_CLOCK_SERVER] =
        {
            .what = "The web server's clock differs from this machine's by more than a minute.",
            .why = "The collector refuses page tokens from the future, and expired ones.",
            .fix = "Run an NTP client on web servers and collectors.",
        },
    [FP_FINDING_RATE_ZERO] =
        {
            .what = "No page load was sampled.",
            .why = "What only sampled pages show (policy, token) could not be checked.",
            .fix =
                "Raise --repeat, or set the rate to 100% for a test page. If it is 100%, look at "
                "$fleetprof_reason in the access log: at `upstream`, the application says no.",
            .nginx = "location = /fleetprof-test.html { fleetprof_sample 100%; }",
            .httpd = "<Location /fleetprof-test.html>\n    FleetProfSample 100%\n</Location>",
        },
    [FP_FINDING_RATE_DIFFERS] =
        {
            .what = "The rate that was seen does not fit the expected one.",
            .why = "Another level of the configuration, a key or a cache decides.",
            .fix = "Look at $fleetprof_rate and $fleetprof_reason in the access log.",
            .nginx = "log_format fleetprof '$uri sampled=$fleetprof_sampled rate=$fleetprof_rate "
                     "reason=$fleetprof_reason';",
            .httpd = "LogFormat \"%U sampled=%{FLEETPROF_SAMPLED}e rate=%{FLEETPROF_RATE}e "
                     "reason=%{FLEETPROF_REASON}e\" fleetprof",
        },
    [FP_FINDING_PAGE_CACHEABLE] =
        {
            .what = "Shared caches may store the page.",
            .why = "The module never samples such a page: one yes would reach every visitor of the "
                   "cache.",
            .fix = "Say that the page is each visitor's own, and drop fields for CDNs alone.",
            .nginx = "proxy_hide_header Cache-Control;\nproxy_hide_header CDN-Cache-Control;\n"
                     "add_header Cache-Control \"private, no-cache\";",
            .httpd = "Header set Cache-Control \"private, no-cache\"\n"
                     "Header unset CDN-Cache-Control",
            .express = "res.set('Cache-Control', 'private, no-cache');",
        },
    [FP_FINDING_PAGE_FROZEN] =
        {
            .what = "A cache answers with one decision for everybody.",
            .why = "The same visitors' decision comes again and again: either all page loads are "
                   "profiled until the entry expires, or none.",
            .fix = "Run the module in front of the cache, or keep the cache from storing the page.",
            .nginx = "proxy_no_cache 1;  # in the outer server; or load the module there",
            .httpd = "CacheDisable /  # in the outer server; or load the module there",
            .express = "res.set('Cache-Control', 'private, no-cache');",
        },
    [FP_FINDING_PAGE_NO_STORE] =
        {
            .what = "The page is sent with Cache-Control: no-store.",
            .why = "It does not enter the back/forward cache, so profiles are lost when visitors "
                   "leave by a link.",
            .fix = "If its content is not secret, use no-cache.",
            .nginx = "proxy_hide_header Cache-Control;\n"
                     "add_header Cache-Control \"private, no-cache\";",
            .httpd = "Header set Cache-Control \"private, no-cache\"",
            .express = "res.set('Cache-Control', 'private, no-cache');",
        },
    [FP_FINDING_REVALIDATION_KEEPS_YES] =
        {
            .what = "A 304 does not replace the policy of a sampled page.",
            .why = "The browser keeps the stored yes: a visitor who was sampled once is sampled "
                   "until the page changes, whatever the rate.",
            .fix = "Let the module decide on 304s, or send the page without ETag and "
                   "Last-Modified.",
            .nginx = "fleetprof_not_modified send;",
            .httpd = "FleetProfNotModified send",
            .express = "app.set('etag', false);",
        },
    [FP_FINDING_DIRECT_DIFFERS] =
        {
            .what = "A field that the server sends directly is missing behind the public address.",
            .why = "A proxy or CDN in front removes it.",
            .fix = "Let the field pass there.",
            .nginx = "proxy_pass_header Document-Policy;\nproxy_pass_header Server-Timing;",
            .httpd = "# remove: Header unset Document-Policy, Header unset Server-Timing",
        },
    [FP_FINDING_AGENT_MISSING] =
        {
            .what = "The page has no tag of the agent.",
            .why = "Nothing profiles and uploads. (If the agent is in a bundle, give --endpoint.)",
            .fix = "Add the tag at the top of <head>: " TAG,
        },
    [FP_FINDING_AGENT_TWICE] =
        {
            .what = "The page has several tags of the agent.",
            .why = "The first one decides; the options of the others are ignored.",
            .fix = "Keep one tag.",
        },
    [FP_FINDING_AGENT_INERT] =
        {
            .what = "The agent's tag has a type that browsers do not run.",
            .why = "A consent tool or an optimiser has changed the type.",
            .fix = "Remove the type attribute, or start the agent after consent.",
        },
    [FP_FINDING_AGENT_RENAMED] =
        {
            .what = "The agent's file has another name.",
            .why = "It works, but its own functions count as the page's: the analysis knows them "
                   "by a name such as fleetprof.js or " AGENT ".",
            .fix = "Give the file such a name; a version or a hash may follow.",
        },
    [FP_FINDING_AGENT_LATE] =
        {
            .what = "Other scripts stand before the agent's tag.",
            .why = "What they do before the agent runs is not profiled, and it looks like success.",
            .fix = "Move the tag to the top of <head>, before all other scripts.",
        },
    [FP_FINDING_AGENT_DEFERRED] =
        {
            .what = "The agent's tag has defer, async or type=\"module\".",
            .why = "It runs after other scripts, whose work is not profiled, and it looks like "
                   "success.",
            .fix = "Remove the attribute: " TAG,
        },
    [FP_FINDING_AGENT_MODULE] =
        {
            .what = "The agent's tag has type=\"module\", and options.",
            .why = "A module does not see its own tag: the agent finds no data-endpoint and does "
                   "not start.",
            .fix = "Remove the type (" TAG "), or call start({ endpoint }) in a module.",
        },
    [FP_FINDING_AGENT_OPTION] =
        {
            .what = "The agent's tag has an attribute that the agent does not know or cannot use.",
            .why = "The agent ignores it.",
            .fix = "Correct the attribute; docs/agent.md lists them.",
        },
    [FP_FINDING_AGENT_NO_ENDPOINT] =
        {
            .what = "The agent's tag has no data-endpoint.",
            .why = "The agent does not start by itself, unless the page calls fleetprof.start().",
            .fix = "Add the endpoint, or give doctor --endpoint: " TAG,
        },
    [FP_FINDING_AGENT_NOT_SERVED] =
        {
            .what = "The agent's script does not arrive as JavaScript.",
            .why = "The browser cannot run it, so nothing is profiled.",
            .fix = "Copy agent/dist/fleetprof.js to the address in the tag.",
            .nginx = "location = /" AGENT " { root /var/www/shop; }",
            .httpd = "Alias /" AGENT " /var/www/shop/" AGENT,
            .express = "app.use(express.static('/var/www/shop'));",
        },
    [FP_FINDING_AGENT_INTEGRITY] =
        {
            .what = "The integrity attribute does not fit the agent's script.",
            .why = "The browser refuses to run the script.",
            .fix = "Compute the hash again after each change of the file: openssl dgst -sha384 "
                   "-binary agent/dist/fleetprof.js | openssl base64 -A",
        },
    [FP_FINDING_CSP_SCRIPT] =
        {
            .what = "The Content-Security-Policy does not let the agent load.",
            .why = "The browser blocks the script, so nothing is profiled.",
            .fix = "Allow the script's address in the policy's script-src (if it has none, in "
                   "default-src), or put the page's nonce on the tag. A second policy only forbids "
                   "more.",
            .nginx = NGINX_CSP,
            .httpd = "Header edit Content-Security-Policy \"script-src \" \"script-src 'self' \"",
            .express =
                "helmet({ contentSecurityPolicy: { directives: { scriptSrc: [\"'self'\"] } } })",
        },
    [FP_FINDING_CSP_CONNECT] =
        {
            .what = "The Content-Security-Policy does not let the agent upload.",
            .why = "The browser profiles and then blocks the upload.",
            .fix = "Allow the endpoint in the policy's connect-src (if it has none, in "
                   "default-src). A second policy only forbids more.",
            .nginx = NGINX_CSP,
            .httpd = "Header edit Content-Security-Policy \"connect-src \" \"connect-src 'self' \"",
            .express =
                "helmet({ contentSecurityPolicy: { directives: { connectSrc: [\"'self'\"] } } })",
        },
    [FP_FINDING_CSP_SANDBOX] =
        {
            .what = "The Content-Security-Policy puts the page into a sandbox.",
            .why = "Without allow-scripts nothing runs; without allow-same-origin uploads come "
                   "from the origin `null`.",
            .fix = "Add both flags to the policy, or remove the directive. A second policy only "
                   "forbids more.",
            .nginx = "proxy_hide_header Content-Security-Policy;\n"
                     "add_header Content-Security-Policy \"sandbox allow-scripts "
                     "allow-same-origin\";  # and the rest of the page's policy",
            .httpd = "Header edit Content-Security-Policy sandbox \"sandbox allow-scripts "
                     "allow-same-origin\"",
            .express = "helmet({ contentSecurityPolicy: { directives: { sandbox: "
                       "['allow-scripts', 'allow-same-origin'] } } })",
        },
    [FP_FINDING_SCRIPT_BLIND] =
        {
            .what = "A script of another origin is loaded without CORS.",
            .why = "Its functions are missing from profiles; their time looks like idle time.",
            .fix = "Add crossorigin to its tag, and the header on its server.",
            .nginx = "add_header Access-Control-Allow-Origin *;",
            .httpd = "Header set Access-Control-Allow-Origin \"*\"",
            .express = "res.set('Access-Control-Allow-Origin', '*');",
        },
    [FP_FINDING_SCRIPT_BLOCKED] =
        {
            .what = "A script's tag has crossorigin, but its server does not allow the page's "
                    "origin.",
            .why = "The browser does not run the script at all.",
            .fix = "Send the header on the script's server, on redirects too.",
            .nginx = "add_header Access-Control-Allow-Origin *;",
            .httpd = "Header set Access-Control-Allow-Origin \"*\"",
            .express = "res.set('Access-Control-Allow-Origin', '*');",
        },
    [FP_FINDING_SCRIPT_MIXED] =
        {
            .what = "An https page loads a script over http.",
            .why = "The browser blocks it as mixed content.",
            .fix = "Load the script over https.",
            .nginx = "add_header Content-Security-Policy upgrade-insecure-requests;",
            .httpd = "Header set Content-Security-Policy upgrade-insecure-requests",
            .express = "helmet({ contentSecurityPolicy: { directives: { "
                       "upgradeInsecureRequests: [] } } })",
        },
    [FP_FINDING_SCRIPT_UNREACHABLE] =
        {
            .what = "A script of the page does not load.",
            .why = "Its functions cannot be in profiles.",
            .fix = "Correct the address in the tag.",
        },
    [FP_FINDING_TIMING_HIDDEN] =
        {
            .what = "A script of another origin has no Timing-Allow-Origin for this page.",
            .why = "The page cannot see how long it took to load; profiles are not affected.",
            .fix = "Send the header on the script's server, on redirects and 304s too.",
            .nginx = "timing_allow_origin https://shop.example;",
            .httpd = "TimingAllowOrigin https://shop.example",
            .express = "res.set('Timing-Allow-Origin', 'https://shop.example');",
        },
    [FP_FINDING_SOURCE_MAP_MISSING] =
        {
            .what = "A minified script names no source map.",
            .why = "Its functions have the minifier's names, which change with each release.",
            .fix = "Let the bundler write a source map; it need not be public.",
        },
    [FP_FINDING_SOURCE_MAP_UNREACHABLE] =
        {
            .what = "A script names a source map that cannot be fetched.",
            .why = "Tools that read it from the site cannot restore the names.",
            .fix = "Nothing, if the map is private on purpose.",
        },
    [FP_FINDING_WORKER] =
        {
            .what = "The page starts workers.",
            .why = "No browser profiles workers, so the workers' functions are missing.",
            .fix = "Nothing; fleetprof.worker.js sends a worker's marks and measures "
                   "(docs/agent.md).",
        },
    [FP_FINDING_ENDPOINT_MIXED] =
        {
            .what = "An https page uploads to an http endpoint.",
            .why = "The browser blocks the upload as mixed content.",
            .fix = "Use an endpoint on the page's own origin: data-endpoint=\"/v1/ingest/KEY\".",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_ENDPOINT_ELSEWHERE] =
        {
            .what = "The agent uploads to another site, and doctor sent nothing there.",
            .why = "Whoever controls the page chooses the endpoint, so doctor posts only to the "
                   "page's own site: the same registrable domain.",
            .fix = "If the endpoint is yours, name it: --endpoint URL",
        },
    [FP_FINDING_ENDPOINT_UNREACHABLE] =
        {
            .what = "Nobody answers at the endpoint.",
            .why = "All uploads are lost.",
            .fix = "Correct data-endpoint; use the page's own origin.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_ENDPOINT_NOT_COLLECTOR] =
        {
            .what = "Something other than a collector answers at the endpoint.",
            .why = "The path is not passed on, and the application or the web server answers; all "
                   "uploads are lost.",
            .fix = "Pass the path to the collector.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_ENDPOINT_PATH] =
        {
            .what = "The collector gets a path that it does not know.",
            .why = "The proxy cuts or rewrites the path, or data-endpoint is not /v1/ingest/KEY.",
            .fix = "Pass the whole path: proxy_pass without a path of its own, not even a slash.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_ENDPOINT_CORS] =
        {
            .what = "The endpoint's reply does not allow the page's origin.",
            .why = "The endpoint is on another origin; without the header the agent cannot see "
                   "whether an upload was accepted.",
            .fix = "List the origin in the site's configuration, and let the collector's CORS "
                   "fields pass.",
            .nginx = "proxy_pass_header Access-Control-Allow-Origin;",
            .httpd = "# remove: Header unset Access-Control-Allow-Origin",
        },
    [FP_FINDING_PREFLIGHT] =
        {
            .what = "The endpoint refuses a preflight.",
            .why = "Uploads of application/json from another origin need one. (The agent's own "
                   "uploads do not.)",
            .fix = "Pass OPTIONS to the collector.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
        },
    [FP_FINDING_COLLECTOR_DOWN] =
        {
            .what = "The proxy cannot reach the collector.",
            .why = "The agent retries for a few minutes; then the uploads are lost.",
            .fix = "Start the collector, and compare its `listen` with the proxy's address: "
                   "systemctl status fleetprofd",
            .nginx = "proxy_pass http://127.0.0.1:8600;",
            .httpd = "ProxyPass /v1/ingest/ http://127.0.0.1:8600/v1/ingest/ retry=1",
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_COLLECTOR_BUSY] =
        {
            .what = "The collector takes no uploads now.",
            .why = "Its spool or disk is full, or it is stopping.",
            .fix = "Run `fleetprof doctor` without a URL on the collector's machine.",
        },
    [FP_FINDING_COLLECTOR_OLD] =
        {
            .what = "The endpoint answers like a collector that does not know ?dry_run.",
            .why = "The check may have been stored as an upload; doctor sends no further ones.",
            .fix = "Upgrade the collector, and let the query and Fleetprof-Dry-Run pass.",
        },
    [FP_FINDING_KEY_UNKNOWN] =
        {
            .what = "The collector does not know the key in data-endpoint.",
            .why = "All uploads get 403.",
            .fix = "Use the `key` of the site in fleetprof.yaml, and reload the collector.",
        },
    [FP_FINDING_ORIGIN_REFUSED] =
        {
            .what = "The collector refuses uploads from the page's origin.",
            .why = "All uploads get 403. Scheme, host and port must be as in the address bar.",
            .fix = "Add the origin to the site in fleetprof.yaml: origins: [https://shop.example]",
        },
    [FP_FINDING_TOKEN_MISSING] =
        {
            .what = "The collector requires a page token, and the page has none.",
            .why = "All uploads get 403: the web server has no token key.",
            .fix = "Give web servers and collectors the same key file.",
            .nginx = "fleetprof_site shop;\nfleetprof_token_key /etc/fleetprof/token.key;",
            .httpd = "FleetProfSite shop\nFleetProfTokenKey /etc/fleetprof/token.key",
        },
    [FP_FINDING_TOKEN_REFUSED] =
        {
            .what = "The collector does not accept the page's token.",
            .why = "The key files or the site's names differ, or the clocks do. If tokens are "
                   "required, all uploads get 403; otherwise their sample rate stays unknown.",
            .fix = "Compare fleetprof_site with the site's `name`, and the key files.",
            .nginx = "fleetprof_site shop;\nfleetprof_token_key /etc/fleetprof/token.key;",
            .httpd = "FleetProfSite shop\nFleetProfTokenKey /etc/fleetprof/token.key",
        },
    [FP_FINDING_TOKEN_UNSEEN] =
        {
            .what = "The collector requires a page token, and no page load was sampled.",
            .why = "Only sampled pages carry a token, so it could not be checked.",
            .fix = "Raise --repeat.",
        },
    [FP_FINDING_BUDGET_SPENT] =
        {
            .what = "Uploads are limited, and the limit is reached.",
            .why = "The site's budget or the proxy's limit_req answered 429; the agent retries.",
            .fix = "Raise `budgets`, `http.threads` (reason budget_decoding) or the burst of the "
                   "proxy, if visitors also meet it.",
            .nginx = "limit_req zone=fleetprof burst=20 nodelay;",
        },
    [FP_FINDING_UPLOAD_REFUSED] =
        {
            .what = "A small, valid upload is refused.",
            .why = "Something in front of the collector changes or blocks it, such as a firewall "
                   "that dislikes a body without a content type.",
            .fix = "Let POST requests to /v1/ingest/ pass as they are.",
            .nginx = NGINX_INGEST,
            .httpd = HTTPD_INGEST,
            .express = EXPRESS_INGEST,
        },
    [FP_FINDING_BODY_LIMIT] =
        {
            .what = "A large upload is refused.",
            .why = "The proxy's or the collector's limit is below 8 MB; large dumps are lost.",
            .fix = "Raise the limit of the proxy, and `limits.max_body` if the collector refuses.",
            .nginx = "client_max_body_size 8m;",
            .express = "// mount the proxy before express.json(), whose limit is 100kb",
        },
    [FP_FINDING_CONFIG_INVALID] =
        {
            .what = "The collector's configuration is invalid.",
            .why = "The collector does not start with it.",
            .fix = "Correct the places; `fleetprofd --check-config` also shows them.",
        },
    [FP_FINDING_CONFIG_UNREADABLE] =
        {
            .what = "The collector's user cannot read a file of the configuration.",
            .why = "The collector does not start.",
            .fix = "Give the file to the group: chgrp fleetprof FILE; chmod 640 FILE",
        },
    [FP_FINDING_DATABASE_UNREACHABLE] =
        {
            .what = "The database cannot be reached.",
            .why = "Uploads wait in the spool until it is full.",
            .fix = "Start PostgreSQL, and correct `database` in fleetprof.yaml.",
        },
    [FP_FINDING_DATABASE_POOLER] =
        {
            .what = "The database is behind a pooler in statement mode.",
            .why = "It has no transactions: nothing is counted or answered, and uploads wait in "
                   "the spool.",
            .fix = "In PgBouncer, set pool_mode = transaction for this database, or name "
                   "PostgreSQL's own address in `database`.",
        },
    [FP_FINDING_DATABASE_LOGIN] =
        {
            .what = "PostgreSQL does not let the collector in.",
            .why = "Uploads are accepted and never counted.",
            .fix = "With peer authentication, map the system user: in pg_hba.conf `local fleetprof "
                   "fleetprof_writer peer map=fleetprof`, in pg_ident.conf `fleetprof fleetprof "
                   "fleetprof_writer`; then reload PostgreSQL.",
        },
    [FP_FINDING_DATABASE_NOT_MIGRATED] =
        {
            .what = "The database has no schema.",
            .why = "Uploads are accepted and never counted.",
            .fix = "As postgres: createdb fleetprof; fleetprof migrate -d dbname=fleetprof",
        },
    [FP_FINDING_DATABASE_OUTDATED] =
        {
            .what = "The database's schema is not this version's.",
            .why = "What the collector cannot write to it waits in the spool.",
            .fix = "Run `fleetprof migrate` of the collector's version.",
        },
    [FP_FINDING_DATABASE_RIGHTS] =
        {
            .what = "The collector's role lacks rights.",
            .why = "Every flush fails while uploads are accepted.",
            .fix = "Use the role fleetprof_writer, or grant it: grant fleetprof_writer to ROLE",
        },
    [FP_FINDING_DATABASE_PARTITIONS] =
        {
            .what = "Partitions for today are missing.",
            .why = "Flushes have to make them first, which takes rights and locks.",
            .fix = "Start the collector: it makes them each hour.",
        },
    [FP_FINDING_CLOCK_DATABASE] =
        {
            .what = "The database's clock differs from this machine's.",
            .why = "Uploads are counted in the wrong hour, or in the database's.",
            .fix = "Run an NTP client on both machines.",
        },
    [FP_FINDING_RETENTION_REFUSED] =
        {
            .what = "Retention does not believe the clocks and destroys nothing.",
            .why = "Clocks that differ, or that jumped by more than two days, would cost what is "
                   "stored. The database grows meanwhile.",
            .fix = "Set the wrong clock. If the database's is right, run the command as a "
                   "superuser (docs/operations.md#clocks-jump).",
        },
    [FP_FINDING_SPOOL_PATH] =
        {
            .what = "The spool's directory cannot be used.",
            .why = "The collector does not start without it.",
            .fix = "install -d -o fleetprof -g fleetprof -m 700 /var/lib/fleetprof",
        },
    [FP_FINDING_SPOOL_SPACE] =
        {
            .what = "The disk has less room than the spool may take.",
            .why = "The disk fills before spool.max_bytes; then uploads get 503.",
            .fix = "Free the disk, or lower spool.max_bytes.",
        },
    [FP_FINDING_ADMIN_OFF] =
        {
            .what = "The collector has no admin listener.",
            .why = "Nobody can see its metrics and its readiness.",
            .fix = "admin: 127.0.0.1:8601",
        },
    [FP_FINDING_ADMIN_PUBLIC] =
        {
            .what = "The admin listener is on a public address.",
            .why = "It has no password; its metrics name your sites.",
            .fix = "admin: 127.0.0.1:8601",
        },
    [FP_FINDING_COLLECTOR_STOPPED] =
        {
            .what = "The collector does not answer.",
            .why = "Uploads are refused while it is down.",
            .fix = "systemctl start fleetprofd; journalctl -u fleetprofd",
        },
    [FP_FINDING_COLLECTOR_NOT_READY] =
        {
            .what = "The collector is not ready.",
            .why = "It answers uploads with 503.",
            .fix = "The reason says what is full or stopping.",
        },
    [FP_FINDING_COLLECTOR_DATABASE] =
        {
            .what = "The collector cannot write to the database.",
            .why = "Uploads are accepted and wait in the spool until it is full.",
            .fix = "The state says why, and what ends it if somebody changed the tables; the other "
                   "findings and the log have details.",
        },
    [FP_FINDING_BACKLOG] =
        {
            .what = "Uploads wait long in the spool.",
            .why = "Numbers are late, and the spool fills.",
            .fix = "docs/operations.md#flushes-fail; is the database slow or away?",
        },
    [FP_FINDING_ADMIN_NOT_COLLECTOR] =
        {
            .what = "Something else answers at the address of the admin listener.",
            .why = "Nothing is known about the collector.",
            .fix = "Give the address that `admin` has in the collector's fleetprof.yaml.",
        },
    [FP_FINDING_SPOOL_FILLING] =
        {
            .what = "The spool is nearly full.",
            .why = "A full spool refuses uploads with 503.",
            .fix = "See why uploads are not flushed (backlog, collector-database), or raise "
                   "spool.max_bytes.",
        },
    [FP_FINDING_SPOOL_DAMAGED] =
        {
            .what = "The spool had damaged bytes or failed writes.",
            .why = "The disk or the memory of the machine may fail.",
            .fix = "Run fleetprof spool verify, read the log, and check the disk "
                   "(docs/operations.md#the-spool-is-damaged).",
        },
    [FP_FINDING_UPLOADS_LOST] =
        {
            .what = "The database has lost uploads that the spool no longer keeps.",
            .why = "A standby was promoted before it had them, or a backup was restored that is "
                   "older than spool.keep, "
                   "or the collector writes to another database than before.",
            .fix = "They are on the former primary, if anywhere (docs/postgresql.md#failover). "
                   "Raise spool.keep for the next time. The finding goes when the collector is "
                   "restarted.",
        },
    [FP_FINDING_UPLOADS_REFUSED] =
        {
            .what = "Many uploads are being refused.",
            .why = "They are lost, except those that the agent sends again.",
            .fix = "The reason says what is wrong (docs/metrics.md#reasons-of-refusals); the log "
                   "has a line per site and reason (docs/operations.md#uploads-are-refused).",
        },
    [FP_FINDING_UPLOADS_REFUSED_EARLIER] =
        {
            .what = "Many uploads were refused since the collector's start.",
            .why = "The cause may come back, or may still be there.",
            .fix = "Read the log's lines \"uploads refused\" "
                   "(docs/operations.md#uploads-are-refused).",
        },
    [FP_FINDING_UPLOADS_QUARANTINED] =
        {
            .what = "The database refused uploads as data.",
            .why = "They are safe in the spool's directory, and in no number.",
            .fix = "fleetprof spool dead-letters list "
                   "(docs/operations.md#a-record-is-quarantined)",
        },
    [FP_FINDING_SITE_SILENT] =
        {
            .what = "A site has had no upload for an hour.",
            .why = "Either nobody visits it, or its pages are not profiled any more.",
            .fix = "fleetprof doctor URL, with the URL of a page of the site.",
        },
    [FP_FINDING_SEALING_LATE] =
        {
            .what = "Hours are not sealed in time.",
            .why = "Queries become slower with every hour, and the database grows.",
            .fix = "Read the log's lines \"sealing or housekeeping failed\" (docs/log.md), and see "
                   "whether the "
                   "database keeps up.",
        },
    [FP_FINDING_VERSIONS_DIFFER] =
        {
            .what = "Collectors and schema are not of one version.",
            .why = "An upgrade was not finished, or a collector was not restarted.",
            .fix = "Finish the upgrade (docs/operations.md#upgrades).",
        },
    [FP_FINDING_DATABASE_READING] =
        {
            .what = "PostgreSQL does not let this user read the numbers.",
            .why = "Nothing is known about the database; collectors have a role of their own.",
            .fix = "Connect as a reader: -d 'dbname=fleetprof user=fleetprof_reader'. With peer "
                   "authentication, map the system user in pg_ident.conf: fleetprof USER "
                   "fleetprof_reader.",
        },
    [FP_FINDING_QUESTION_FAILED] =
        {
            .what = "A question to the database fails.",
            .why = "Uploads are counted, and the report, the command line and dashboards cannot "
                   "show them.",
            .fix = "Do what is said after the database's message. `fleetprof migrate --repair` "
                   "makes functions, views and their rights again; it needs the rights of a "
                   "migration.",
        },
    [FP_FINDING_QUESTION_UNASKED] =
        {
            .what = "No question could be asked as a reader.",
            .why = "Whether the numbers can be read is unknown; collectors have a role of their "
                   "own, which cannot.",
            .fix = "Let this system user in as fleetprof_reader, in pg_ident.conf: fleetprof USER "
                   "fleetprof_reader. Or give status another login with -d.",
        },
    [FP_FINDING_SCHEMA_INCOMPLETE] =
        {
            .what = "Functions or views of fleetprof are missing in the database.",
            .why = "Somebody dropped them, or restored a part of a dump; questions that need them "
                   "fail.",
            .fix = "Run `fleetprof migrate`; it makes again what is missing.",
        },
    [FP_FINDING_TIMEZONE_UNKNOWN] =
        {
            .what = "PostgreSQL does not know the time zone of a site.",
            .why = "Trends by day take the days of the zone that the site had before, or of UTC; "
                   "if that zone is the unknown one, they fail.",
            .fix = "Update the time zones of the database's machine (package tzdata), or write a "
                   "name of pg_timezone_names into `sites[].timezone`. Then: systemctl reload "
                   "fleetprofd.",
        },
    [FP_FINDING_UPLOAD_FAILED] =
        {
            .what = "An upload to the collector's own listener is refused.",
            .why = "Uploads of the site's visitors are also refused.",
            .fix = "Do what is said after the reason. If the configuration was changed: systemctl "
                   "reload fleetprofd. If another program answers: compare `listen` with ss -ltnp.",
        },
};
