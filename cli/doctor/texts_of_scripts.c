/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of findings: what is wrong with the agent's tag, the page's Content-Security-Policy and
 * other scripts.
 */
#include "cli/doctor/finding_texts.h"

#define NGINX_CSP                                                                                  \
    "proxy_hide_header Content-Security-Policy;\n"                                                 \
    "add_header Content-Security-Policy \"script-src 'self'; connect-src 'self'\";  "              \
    "# and the rest of the page's policy"
#define AGENT "fleetprof-" FP_VERSION ".js"
#define TAG "<script src=\"/" AGENT "\" data-endpoint=\"/v1/ingest/KEY\"></script>"

#define TEXT(id) [FP_FINDING_##id - FP_FINDING_AGENT_MISSING]

const struct fp_finding_text fp_texts_of_scripts[FP_TEXTS_OF_SCRIPTS] = {
    TEXT(AGENT_MISSING) =
        {
            .what = "The page has no tag of the agent.",
            .why = "Nothing profiles and uploads. (If the agent is in a bundle, give --endpoint.)",
            .fix = "Add the tag at the top of <head>: " TAG,
        },
    TEXT(AGENT_TWICE) =
        {
            .what = "The page has several tags of the agent.",
            .why = "The first one decides; the options of the others are ignored.",
            .fix = "Keep one tag.",
        },
    TEXT(AGENT_INERT) =
        {
            .what = "The agent's tag has a type that browsers do not run.",
            .why = "A consent tool or an optimiser has changed the type.",
            .fix = "Remove the type attribute, or start the agent after consent.",
        },
    TEXT(AGENT_RENAMED) =
        {
            .what = "The agent's file has another name.",
            .why = "It works, but its own functions count as the page's: the analysis knows them "
                   "by a name such as fleetprof.js or " AGENT ".",
            .fix = "Give the file such a name; a version or a hash may follow.",
        },
    TEXT(AGENT_LATE) =
        {
            .what = "Other scripts stand before the agent's tag.",
            .why = "What they do before the agent runs is not profiled, and it looks like success.",
            .fix = "Move the tag to the top of <head>, before all other scripts.",
        },
    TEXT(AGENT_DEFERRED) =
        {
            .what = "The agent's tag has defer, async or type=\"module\".",
            .why = "It runs after other scripts, whose work is not profiled, and it looks like "
                   "success.",
            .fix = "Remove the attribute: " TAG,
        },
    TEXT(AGENT_MODULE) =
        {
            .what = "The agent's tag has type=\"module\", and options.",
            .why = "A module does not see its own tag: the agent finds no data-endpoint and does "
                   "not start.",
            .fix = "Remove the type (" TAG "), or call start({ endpoint }) in a module.",
        },
    TEXT(AGENT_OPTION) =
        {
            .what = "The agent's tag has an attribute that the agent does not know or cannot use.",
            .why = "The agent ignores it.",
            .fix = "Correct the attribute; docs/agent.md lists them.",
        },
    TEXT(AGENT_NO_ENDPOINT) =
        {
            .what = "The agent's tag has no data-endpoint.",
            .why = "The agent does not start by itself, unless the page calls fleetprof.start().",
            .fix = "Add the endpoint, or give doctor --endpoint: " TAG,
        },
    TEXT(AGENT_NOT_SERVED) =
        {
            .what = "The agent's script does not arrive as JavaScript.",
            .why = "The browser cannot run it, so nothing is profiled.",
            .fix = "Copy agent/dist/fleetprof.js to the address in the tag.",
            .nginx = "location = /" AGENT " { root /var/www/shop; }",
            .httpd = "Alias /" AGENT " /var/www/shop/" AGENT,
            .express = "app.use(express.static('/var/www/shop'));",
        },
    TEXT(AGENT_INTEGRITY) =
        {
            .what = "The integrity attribute does not fit the agent's script.",
            .why = "The browser refuses to run the script.",
            .fix = "Compute the hash again after each change of the file: openssl dgst -sha384 "
                   "-binary agent/dist/fleetprof.js | openssl base64 -A",
        },
    TEXT(CSP_SCRIPT) =
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
    TEXT(CSP_CONNECT) =
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
    TEXT(CSP_SANDBOX) =
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
    TEXT(SCRIPT_BLIND) =
        {
            .what = "A script of another origin is loaded without CORS.",
            .why = "Its functions are missing from profiles; their time looks like idle time.",
            .fix = "Add crossorigin to its tag, and the header on its server.",
            .nginx = "add_header Access-Control-Allow-Origin *;",
            .httpd = "Header set Access-Control-Allow-Origin \"*\"",
            .express = "res.set('Access-Control-Allow-Origin', '*');",
        },
    TEXT(SCRIPT_BLOCKED) =
        {
            .what = "A script's tag has crossorigin, but its server does not allow the page's "
                    "origin.",
            .why = "The browser does not run the script at all.",
            .fix = "Send the header on the script's server, on redirects too.",
            .nginx = "add_header Access-Control-Allow-Origin *;",
            .httpd = "Header set Access-Control-Allow-Origin \"*\"",
            .express = "res.set('Access-Control-Allow-Origin', '*');",
        },
    TEXT(SCRIPT_MIXED) =
        {
            .what = "An https page loads a script over http.",
            .why = "The browser blocks it as mixed content.",
            .fix = "Load the script over https.",
            .nginx = "add_header Content-Security-Policy upgrade-insecure-requests;",
            .httpd = "Header set Content-Security-Policy upgrade-insecure-requests",
            .express = "helmet({ contentSecurityPolicy: { directives: { "
                       "upgradeInsecureRequests: [] } } })",
        },
    TEXT(SCRIPT_UNREACHABLE) =
        {
            .what = "A script of the page does not load.",
            .why = "Its functions cannot be in profiles.",
            .fix = "Correct the address in the tag.",
        },
    TEXT(TIMING_HIDDEN) =
        {
            .what = "A script of another origin has no Timing-Allow-Origin for this page.",
            .why = "The page cannot see how long it took to load; profiles are not affected.",
            .fix = "Send the header on the script's server, on redirects and 304s too.",
            .nginx = "timing_allow_origin https://shop.example;",
            .httpd = "TimingAllowOrigin https://shop.example",
            .express = "res.set('Timing-Allow-Origin', 'https://shop.example');",
        },
    TEXT(SOURCE_MAP_MISSING) =
        {
            .what = "A minified script names no source map.",
            .why = "Its functions have the minifier's names, which change with each release.",
            .fix = "Let the bundler write a source map; it need not be public.",
        },
    TEXT(SOURCE_MAP_UNREACHABLE) =
        {
            .what = "A script names a source map that cannot be fetched.",
            .why = "Tools that read it from the site cannot restore the names.",
            .fix = "Nothing, if the map is private on purpose.",
        },
    TEXT(WORKER) =
        {
            .what = "The page starts workers.",
            .why = "No browser profiles workers, so the workers' functions are missing.",
            .fix = "Nothing; fleetprof.worker.js sends a worker's marks and measures "
                   "(docs/agent.md).",
        },
};
