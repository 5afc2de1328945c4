/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of findings: what is wrong with a page, its policies and caches.
 */
#include "cli/doctor/finding_texts.h"

#define NGINX_ON "fleetprof on;\nfleetprof_sample 1%;"
#define HTTPD_ON "FleetProf on\nFleetProfSample 1%"

#define TEXT(id) [FP_FINDING_##id - FP_FINDING_PAGE_STATUS]

const struct fp_finding_text fp_texts_of_pages[FP_TEXTS_OF_PAGES] = {
    TEXT(PAGE_STATUS) =
        {
            .what = "The page answers with an error.",
            .why = "Error documents are not sampled, so nothing else about the page can be said.",
            .fix = "Give the URL of a page that visitors see.",
        },
    TEXT(PAGE_NOT_HTML) =
        {
            .what = "The address is not an HTML document.",
            .why = "Only documents of the configured types are sampled.",
            .fix = "Give the URL of a page, or add the type.",
            .nginx = "fleetprof_types text/html application/xhtml+xml;",
            .httpd = "FleetProfTypes text/html application/xhtml+xml",
            .express = "res.type('html');",
        },
    TEXT(PAGE_REDIRECTS) =
        {
            .what = "The page redirects too often, or to an address that is not http or https.",
            .why = "A browser also gives up.",
            .fix = "Give the URL that the chain should end at, and repair the redirects.",
        },
    TEXT(PAGE_ELSEWHERE) =
        {
            .what = "The page redirects to another origin, and doctor did not follow.",
            .why = "Whoever controls the page chooses the target, which could be a machine in your "
                   "own network.",
            .fix = "If the target is yours, give its URL, or the option --follow.",
        },
    TEXT(PAGE_UNSTEADY) =
        {
            .what = "Some requests for the page failed.",
            .why = "A server behind the load balancer is away or overloaded.",
            .fix = "Look at the servers' error logs.",
        },
    TEXT(POLICY_MISSING) =
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
    TEXT(POLICY_BROKEN) =
        {
            .what = "Document-Policy cannot be parsed.",
            .why = "One syntax error, in any line, makes the browser drop the whole policy.",
            .fix = "Correct the field where the application or the server sets it.",
            .nginx = "proxy_hide_header Document-Policy;",
            .httpd = "Header unset Document-Policy",
            .express = "res.set('Document-Policy', 'document-write=?0');",
        },
    TEXT(POLICY_PARAMETER) =
        {
            .what = "js-profiling is a parameter of another member of Document-Policy.",
            .why = "Members are separated by commas; after a semicolon it is not a member, and "
                   "ignored.",
            .fix = "Write a comma in front of js-profiling.",
            .express = "res.set('Document-Policy', 'document-write=?0, js-profiling');",
        },
    TEXT(POLICY_TYPE) =
        {
            .what = "js-profiling in Document-Policy is not a Boolean.",
            .why = "The browser drops a member of the wrong type.",
            .fix = "Write `js-profiling` or `js-profiling=?0`, or leave it to the module.",
            .nginx = "fleetprof_conflict local;",
            .httpd = "FleetProfConflict local",
            .express = "res.set('Document-Policy', 'js-profiling');",
        },
    TEXT(POLICY_MODE_ONLY) =
        {
            .what = "Document-Policy has js-profiling-mode without js-profiling.",
            .why = "Today's browsers know only the switch, so they do not profile.",
            .fix = "Send both.",
            .nginx = "fleetprof_policy js-profiling js-profiling-mode=lazy;",
            .httpd = "FleetProfPolicy js-profiling js-profiling-mode=lazy",
            .express = "res.set('Document-Policy', 'js-profiling, js-profiling-mode=lazy');",
        },
    TEXT(POLICY_DROPPED) =
        {
            .what = "The server sampled the page load, but Document-Policy is missing.",
            .why = "A proxy or CDN in front of the module removes the field, so the browser does "
                   "not profile.",
            .fix = "Let the field pass in everything in front of the module.",
            .nginx = "proxy_pass_header Document-Policy;",
            .httpd = "# remove: Header unset Document-Policy",
            .express = "// remove: res.removeHeader('Document-Policy');",
        },
    TEXT(POLICY_OVERRIDDEN) =
        {
            .what = "The server sampled the page load, but Document-Policy does not allow "
                    "profiling.",
            .why = "Something between module and browser replaces the field.",
            .fix = "Set Document-Policy in one place, behind the module or in it.",
            .nginx = "# remove: add_header Document-Policy …; use fleetprof_policy",
            .httpd = "# remove: Header set Document-Policy …; use FleetProfPolicy",
            .express = "// remove: res.set('Document-Policy', …);",
        },
    TEXT(POLICY_CONFLICT) =
        {
            .what = "The application allows profiling by itself.",
            .why = "The page's policy says yes though the server did not sample the load: every "
                   "visitor pays, and nothing is collected.",
            .fix = "Remove js-profiling from the application's policy, or let the module win.",
            .nginx = "fleetprof_conflict local;",
            .httpd = "FleetProfConflict local",
            .express = "// remove js-profiling: res.set('Document-Policy', …);",
        },
    TEXT(POLICY_IN_META) =
        {
            .what = "A meta element tries to set Document-Policy.",
            .why = "Browsers read this policy from the HTTP header only.",
            .fix = "Remove the element and turn the module on.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    TEXT(POLICY_REPORT_ONLY) =
        {
            .what = "js-profiling is in Document-Policy-Report-Only, and not in Document-Policy.",
            .why = "A report-only policy allows nothing.",
            .fix = "Use the module, or send the member in Document-Policy.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    TEXT(POLICY_OMITTED) =
        {
            .what = "Page loads that are not sampled carry no policy, and browsers may revalidate "
                    "the page.",
            .why = "A 304 without the field leaves the yes of an earlier, sampled page in force.",
            .fix = "Send the explicit no, or forbid storing the page.",
            .nginx = "fleetprof_unsampled negative;",
            .httpd = "FleetProfUnsampled negative",
            .express = "res.set('Cache-Control', 'no-store');",
        },
    TEXT(DECISION_MISSING) =
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
    TEXT(DECISION_SOMETIMES) =
        {
            .what = "Only some replies have a decision.",
            .why = "One of the servers behind the load balancer runs without fleetprof, so the "
                   "true rate is lower than the configured one.",
            .fix = "Give all servers the same configuration.",
            .nginx = NGINX_ON,
            .httpd = HTTPD_ON,
        },
    TEXT(DECISION_UNKNOWN) =
        {
            .what = "The decision in Server-Timing has an unknown form.",
            .why = "The agent does nothing with a decision that it cannot read.",
            .fix = "Use module and agent of one version; no other metric may be named fleetprof.",
        },
    TEXT(CLOCK_SERVER) =
        {
            .what = "The web server's clock differs from this machine's by more than a minute.",
            .why = "The collector refuses page tokens from the future, and expired ones.",
            .fix = "Run an NTP client on web servers and collectors.",
        },
    TEXT(RATE_ZERO) =
        {
            .what = "No page load was sampled.",
            .why = "What only sampled pages show (policy, token) could not be checked.",
            .fix =
                "Raise --repeat, or set the rate to 100% for a test page. If it is 100%, look at "
                "$fleetprof_reason in the access log: at `upstream`, the application says no.",
            .nginx = "location = /fleetprof-test.html { fleetprof_sample 100%; }",
            .httpd = "<Location /fleetprof-test.html>\n    FleetProfSample 100%\n</Location>",
        },
    TEXT(RATE_DIFFERS) =
        {
            .what = "The rate that was seen does not fit the expected one.",
            .why = "Another level of the configuration, a key or a cache decides.",
            .fix = "Look at $fleetprof_rate and $fleetprof_reason in the access log.",
            .nginx = "log_format fleetprof '$uri sampled=$fleetprof_sampled rate=$fleetprof_rate "
                     "reason=$fleetprof_reason';",
            .httpd = "LogFormat \"%U sampled=%{FLEETPROF_SAMPLED}e rate=%{FLEETPROF_RATE}e "
                     "reason=%{FLEETPROF_REASON}e\" fleetprof",
        },
    TEXT(PAGE_CACHEABLE) =
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
    TEXT(PAGE_FROZEN) =
        {
            .what = "A cache answers with one decision for everybody.",
            .why = "The same visitors' decision comes again and again: either all page loads are "
                   "profiled until the entry expires, or none.",
            .fix = "Run the module in front of the cache, or keep the cache from storing the page.",
            .nginx = "proxy_no_cache 1;  # in the outer server; or load the module there",
            .httpd = "CacheDisable /  # in the outer server; or load the module there",
            .express = "res.set('Cache-Control', 'private, no-cache');",
        },
    TEXT(PAGE_NO_STORE) =
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
    TEXT(REVALIDATION_KEEPS_YES) =
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
    TEXT(DIRECT_DIFFERS) =
        {
            .what = "A field that the server sends directly is missing behind the public address.",
            .why = "A proxy or CDN in front removes it.",
            .fix = "Let the field pass there.",
            .nginx = "proxy_pass_header Document-Policy;\nproxy_pass_header Server-Timing;",
            .httpd = "# remove: Header unset Document-Policy, Header unset Server-Timing",
        },
};
