/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad configurations, each with its complete error output, without the file's name.
 */
enum base {
    ADDED, /* behind four good lines */
    SITES, /* behind the first three of them, in place of the sites */
    WHOLE, /* the file */
};

static const struct {
    enum base base;
    const char *text;
    const char *errors;
} bad_cases[] = {
    {ADDED, "lisen: 127.0.0.1:1\n",
     "5:1: lisen: is not a setting; known here: listen, admin, database, spool, dead_letters, "
     "limits, ceilings, http, flush, retention, privacy, sites\n"},
    {ADDED, "limits.samples: 5\n",
     "5:1: limits.samples: is not a setting; known here: listen, admin, database, spool, "
     "dead_letters, limits, ceilings, http, flush, retention, privacy, sites\n"},
    {ADDED, "sites[]: {key: pk_shop}\n",
     "5:1: sites[]: is not a setting; known here: listen, admin, database, spool, "
     "dead_letters, limits, ceilings, http, flush, retention, privacy, sites\n"},
    {ADDED, "sites[].budgets: {burst: 5s}\n",
     "5:1: sites[].budgets: is not a setting; known here: listen, admin, database, spool, "
     "dead_letters, limits, ceilings, http, flush, retention, privacy, sites\n"},
    {ADDED, "limits: {sample: 5}\n",
     "5:10: limits.sample: is not a setting; known here: max_body, max_inflated, samples, stacks, "
     "frames, resources, entries, measures, stack_depth, json_depth, max_span, upload_memory, "
     "body_memory, kept, token_memory, "
     "connections, connections_per_address, timeout, request_timeout\n"},
    {ADDED, "? [a]\n: b\n", "5:3: a setting's name must be a text, this is a list\n"},
    {ADDED, "<<: {samples: 5}\n",
     "5:1: <<: is not a setting; known here: listen, admin, database, spool, dead_letters, limits, "
     "ceilings, http, flush, retention, privacy, sites\n"},
    {ADDED, "listen: 127.0.0.1:8601\n", "5:1: listen: is given twice; leave one out\n"},
    {ADDED, "spool: {path: /other}\n", "5:1: spool: is given twice; leave one out\n"},
    {ADDED, "privacy: {honour_gpc: true, honour_gpc: false}\n",
     "5:29: privacy.honour_gpc: is given twice; leave one out\n"},
    {ADDED, "limits: {samples: 0}\n",
     "5:19: limits.samples: \"0\" is out of bounds; it must be from 1 to 100000000\n"},
    {ADDED, "limits: {samples: -5}\n",
     "5:19: limits.samples: \"-5\" is not a whole number; write digits only\n"},
    {ADDED, "limits: {samples: 1.5}\n",
     "5:19: limits.samples: \"1.5\" is not a whole number; write digits only\n"},
    {ADDED, "limits: {samples: 1e3}\n",
     "5:19: limits.samples: \"1e3\" is not a whole number; write digits only\n"},
    {ADDED, "limits: {samples: \"5\"}\n",
     "5:19: limits.samples: \"5\" is a text; write it without quotes\n"},
    {ADDED, "limits: {samples: 99999999999999999999}\n",
     "5:19: limits.samples: \"99999999999999999999\" is not a whole number; write digits only\n"},
    {ADDED, "limits: {samples: 100000001}\n",
     "5:19: limits.samples: \"100000001\" is out of bounds; it must be from 1 to 100000000\n"},
    {ADDED, "limits: {samples: ~}\n",
     "5:19: limits.samples: has no value; it must be a whole number\n"},
    {ADDED, "limits: {samples: [5]}\n",
     "5:19: limits.samples: must be a whole number, this is a list\n"},
    {ADDED, "limits: {samples: {a: 5}}\n",
     "5:19: limits.samples: must be a whole number, this is a mapping\n"},
    {ADDED, "limits:\n", "5:8: limits: must be a mapping of settings, this is nothing\n"},
    {ADDED, "limits: 5\n", "5:9: limits: must be a mapping of settings, this is a single value\n"},
    {ADDED, "limits: [5]\n", "5:9: limits: must be a mapping of settings, this is a list\n"},
    {ADDED, "limits: {json_depth: 7}\n",
     "5:22: limits.json_depth: \"7\" is out of bounds; it must be from 8 to 1024\n"},
    {ADDED, "limits: {max_body: 4GB}\n",
     "5:20: limits.max_body: \"4GB\" is not a size; write a number and B, KiB, MiB, GiB or TiB, "
     "such as 8MiB\n"},
    {ADDED, "limits: {max_body: 4 MiB}\n",
     "5:20: limits.max_body: \"4 MiB\" is not a size; write a number and B, KiB, MiB, GiB or TiB, "
     "such as 8MiB\n"},
    {ADDED, "limits: {max_body: 1000}\n",
     "5:20: limits.max_body: \"1000\" is out of bounds; it must be from 1KiB to 1GiB\n"},
    {ADDED, "limits: {max_body: 9999999TiB}\n",
     "5:20: limits.max_body: \"9999999TiB\" is not a size; write a number and B, KiB, MiB, GiB or "
     "TiB, such as 8MiB\n"},
    {ADDED, "limits: {max_body: 65MiB}\n",
     "5:20: limits.max_body: must be at most limits.body_memory, which is 64MiB\n"
     "5:20: limits.max_body: must be at most limits.max_inflated, which is 64MiB\n"},
    {ADDED, "limits: {max_inflated: 1MiB}\n",
     "5:24: limits.max_inflated: must be at least limits.max_body, which is 8MiB\n"},
    {ADDED, "limits: {body_memory: 1MiB}\n",
     "5:23: limits.body_memory: must be at least limits.max_body, which is 8MiB\n"},
    {ADDED, "limits: {max_inflated: 512MiB}\n",
     "5:24: limits.max_inflated: must be at most limits.upload_memory, which is 256MiB\n"},
    {ADDED, "limits: {upload_memory: 1MiB}\n",
     "5:25: limits.upload_memory: must be at least limits.max_inflated, which is 64MiB\n"},
    {ADDED, "flush: {max_window: 100ms}\n",
     "5:21: flush.max_window: must be at least flush.min_window, which is 250ms\n"},
    {ADDED, "flush: {min_window: 10}\n",
     "5:21: flush.min_window: \"10\" is not a duration; write a number and ms, s, m, h or d, such "
     "as 250ms or 7d\n"},
    {ADDED, "flush: {min_window: 1.5s}\n",
     "5:21: flush.min_window: \"1.5s\" is not a duration; write a number and ms, s, m, h or d, "
     "such as 250ms or 7d\n"},
    {ADDED, "flush: {min_window: 10sec}\n",
     "5:21: flush.min_window: \"10sec\" is not a duration; write a number and ms, s, m, h or d, "
     "such as 250ms or 7d\n"},
    {ADDED, "flush: {min_window: 20s}\n",
     "5:21: flush.min_window: must be at most flush.max_window, which is 10s\n"},
    {ADDED, "flush: {min_window: 0ms}\n",
     "5:21: flush.min_window: \"0ms\" is out of bounds; it must be from 1ms to 1h\n"},
    {ADDED, "retention: {facts: 1h}\n",
     "5:20: retention.facts: \"1h\" is out of bounds; it must be from 1d to 36500d\n"},
    {ADDED, "retention: {facts: forever}\n",
     "5:20: retention.facts: \"forever\" is not a duration; write a number and ms, s, m, h or d, "
     "such as 250ms or 7d\n"},
    {ADDED, "privacy: {keep_query: yes}\n",
     "5:23: privacy.keep_query: \"yes\" is neither true nor false\n"},
    {ADDED, "privacy: {keep_query: \"true\"}\n",
     "5:23: privacy.keep_query: \"true\" is a text; write it without quotes\n"},
    {ADDED, "privacy: {keep_query: }\n",
     "5:23: privacy.keep_query: has no value; it must be true or false\n"},
    {ADDED, "admin: 127.0.0.1\n",
     "5:8: admin: \"127.0.0.1\" is not an address; write host:port, [IPv6]:port or unix:/path\n"},
    {ADDED, "admin: 127.0.0.1:0\n",
     "5:8: admin: \"127.0.0.1:0\" has a port that is not a number from 1 to 65535\n"},
    {ADDED, "admin: 127.0.0.1:65536\n",
     "5:8: admin: \"127.0.0.1:65536\" has a port that is not a number from 1 to 65535\n"},
    {ADDED, "admin: 127.0.0.1:http\n",
     "5:8: admin: \"127.0.0.1:http\" has a port that is not a number from 1 to 65535\n"},
    {ADDED, "admin: example.org:80\n",
     "5:8: admin: \"example.org:80\" has a host that is not an IPv4 address, an IPv6 address in "
     "brackets or localhost\n"},
    {ADDED, "admin: \"::1:80\"\n",
     "5:8: admin: \"::1:80\" has a host that is not an IPv4 address, an IPv6 address in brackets "
     "or localhost\n"},
    {ADDED, "admin: unix:relative/path\n",
     "5:8: admin: \"unix:relative/path\" has no absolute path; write unix:/path\n"},
    {ADDED, "admin: 127.0.0.1:8600\n", "5:8: admin: is the same address as listen\n"},
    {ADDED,
     "admin: "
     "unix:/"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxx\n",
     "5:8: admin: \"unix:/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" has a path "
     "longer than the 107 bytes of a unix socket\n"},
    {ADDED, "http: {threads: 0}\n",
     "5:17: http.threads: \"0\" is out of bounds; it must be from 1 to 256\n"},
    {ADDED, "a: [\n",
     "6:1: not YAML: did not find expected node content while parsing a flow node\n"},
    {ADDED, "\tx: 1\n", "5:1: not YAML: a tab; indent with spaces\n"},
    {ADDED, "http:\n\tthreads: 1\n", "6:1: not YAML: a tab; indent with spaces\n"},
    {ADDED, "x: \"\u00e9\"\n\ty: 1\n", "6:1: not YAML: a tab; indent with spaces\n"},
    {ADDED, "x: @a\n",
     "5:4: not YAML: found character that cannot start any token while scanning for the next "
     "token\n"},
    {ADDED, "admin:127.0.0.1:8601\nhttp: {threads: 1}\n",
     "6:1: not YAML: could not find expected ':' while scanning a simple key; is a space missing "
     "after a colon, here or in the line above?\n"},
    {WHOLE, "listen:127.0.0.1:8600\nadmin: 127.0.0.1:8601\n",
     "2:6: not YAML: mapping values are not allowed in this context; is a space missing after a "
     "colon, here or in the line above?\n"},
    {ADDED, "admin: \"\n",
     "6:1: not YAML: found unexpected end of stream while scanning a quoted scalar\n"},
    {ADDED, "x: \x01\n", "5:4: not YAML: control characters are not allowed\n"},
    {ADDED, "x: \xff\n", "5:4: not YAML: invalid leading UTF-8 octet\n"},
    {ADDED, "---\na: b\n", "6:1: a second document begins here; only one is allowed\n"},
    {SITES, "sites: []\n", "4:8: sites: must be a list of 1 to 1000 sites\n"},
    {SITES, "sites: {name: a}\n", "4:8: sites: must be a list of 1 to 1000 sites\n"},
    {SITES, "sites: [a]\n",
     "4:9: sites[]: must be a mapping of settings, this is a single value\n"},
    {SITES, "sites: [{}]\n",
     "4:9: sites[].name: is missing; it must be a name, such as shop\n"
     "4:9: sites[].key: is missing; it must be a name, such as pk_shop\n"},
    {SITES, "sites: [{name: a}]\n",
     "4:9: sites[].key: is missing; it must be a name, such as pk_shop\n"},
    {SITES, "sites: [{name: a b, key: k}]\n",
     "4:16: sites[].name: \"a b\" is not 1 to 64 letters, digits, dots, underscores and hyphens\n"},
    {SITES, "sites: [{name: a, key: \"\"}]\n",
     "4:24: sites[].key: \"\" is not 1 to 64 letters, digits, dots, underscores and hyphens\n"},
    {SITES, "sites: [{name: a, key: k/x}]\n",
     "4:24: sites[].key: \"k/x\" is not 1 to 64 letters, digits, dots, underscores and hyphens\n"},
    {SITES, "sites: [{name: a, key: k, origin: [x]}]\n",
     "4:27: sites[].origin: is not a setting; known here: name, key, origins, formats, routes, "
     "timing_names, custom, "
     "scripts, ignore, source_link, first_party, performance_budgets, timezone, require_token, "
     "token_keys, "
     "token_max_age, "
     "token_uploads, "
     "sample_keep, kept, "
     "budgets\n"},
    {SITES, "sites: [{name: a, key: k, formats: [web, har]}]\n",
     "4:42: sites[].formats: \"har\" is not a format; write web, speed-tracer or opera-scope\n"},
    {SITES, "sites: [{name: a, key: k, formats: [self-profile]}]\n",
     "4:37: sites[].formats: \"self-profile\" is not a format; write web, speed-tracer or "
     "opera-scope\n"},
    {SITES, "sites: [{name: a, key: k, formats: [web, web]}]\n",
     "4:42: sites[].formats: \"web\" is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, formats: web}]\n",
     "4:36: sites[].formats: must be a list of formats, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, formats: []}]\n",
     "4:36: sites[].formats: is empty, so the site takes nothing; write [web]\n"},
    {SITES, "sites: [{name: a, key: k, budgets: {requests: 5}}]\n",
     "4:37: sites[].budgets.requests: is not a setting; known here: requests_per_second, "
     "bytes_per_second, burst\n"},
    {SITES, "sites: [{name: a, key: k, budgets: 100}]\n",
     "4:36: sites[].budgets: must be a mapping of settings, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, budgets: {burst: 0s}}]\n",
     "4:44: sites[].budgets.burst: \"0s\" is out of bounds; it must be from 1s to 1h\n"},
    {SITES, "sites: [{name: a, key: k, budgets: {burst: 2s, burst: 3s}}]\n",
     "4:48: sites[].budgets.burst: is given twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, require_token: true}]\n",
     "4:42: sites[].require_token: no token can be valid without a key; name a key file in "
     "token_keys\n"},
    {SITES, "sites: [{name: a, key: k, require_token: true, token_keys: []}]\n",
     "4:42: sites[].require_token: no token can be valid without a key; name a key file in "
     "token_keys\n"},
    {SITES, "sites: [{name: a, key: k, require_token: \"true\"}]\n",
     "4:42: sites[].require_token: \"true\" is a text; write it without quotes\n"},
    {SITES, "sites: [{name: a, key: k, token_keys: /k}]\n",
     "4:39: sites[].token_keys: must be a list of files, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, token_keys: [/dev/null/k, k, /]}]\n",
     "4:53: sites[].token_keys: \"k\" is not an absolute path; begin it with /\n"},
    {SITES, "sites: [{name: a, key: k, token_keys: [/nonexistent/k, /nonexistent/k]}]\n",
     "4:56: sites[].token_keys: \"/nonexistent/k\" is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, token_keys: [/nonexistent/k, /, /dev/null]}]\n",
     "4:40: sites[].token_keys: \"/nonexistent/k\" cannot be read: No such file or directory\n"
     "4:56: sites[].token_keys: \"/\" cannot be read: Is a directory\n"
     "4:59: sites[].token_keys: \"/dev/null\": there is no key in the file; make one with "
     "\"openssl rand -hex 32\"\n"},
    {SITES, "sites: [{name: a, key: k, token_max_age: 31d}]\n",
     "4:42: sites[].token_max_age: \"31d\" is out of bounds; it must be from 1s to 30d\n"},
    {SITES, "sites: [{name: a, key: k, token_uploads: 0}]\n",
     "4:42: sites[].token_uploads: \"0\" is out of bounds; it must be from 1 to 1000000\n"},
    {SITES, "sites:\n  - {name: a, key: k}\n  - {name: a, key: l}\n",
     "6:12: sites[].name: \"a\" is the name of an earlier site; names must differ\n"},
    {SITES, "sites:\n  - {name: a, key: k}\n  - {name: b, key: k}\n",
     "6:20: sites[].key: \"k\" is the key of an earlier site; keys must differ\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"*\"]}]\n",
     "4:37: sites[].origins: \"*\" admits everybody; list the origins, such as "
     "https://shop.example\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://a.example/\"]}]\n",
     "4:37: sites[].origins: \"https://a.example/\" has a path; an origin ends after the host, "
     "leave "
     "the slash and the rest out\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://a.example/x\"]}]\n",
     "4:37: sites[].origins: \"https://a.example/x\" has a path; an origin ends after the host, "
     "leave the slash and the rest out\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://A.example\"]}]\n",
     "4:37: sites[].origins: \"https://A.example\" has upper-case letters; write it as browsers "
     "send it, in lower case\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"http://a.example:80\"]}]\n",
     "4:37: sites[].origins: \"http://a.example:80\" names the scheme's own port, which browsers "
     "leave out; leave it out too\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://a.example:443\"]}]\n",
     "4:37: sites[].origins: \"https://a.example:443\" names the scheme's own port, which browsers "
     "leave out; leave it out too\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://a.example:0\"]}]\n",
     "4:37: sites[].origins: \"https://a.example:0\" has a port that is not a number from 1 to "
     "65535\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"a.example\"]}]\n",
     "4:37: sites[].origins: \"a.example\" is not an origin; write scheme://host or "
     "scheme://host:port, such as https://shop.example\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://\"]}]\n",
     "4:37: sites[].origins: \"https://\" has a host that is missing or not in ASCII; write it as "
     "browsers send it, such as "
     "https://shop.example\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"https://münchen.example\"]}]\n",
     "4:37: sites[].origins: \"https://münchen.example\" has a host that is missing or not in "
     "ASCII; write it as browsers send it, such as https://shop.example\n"},
    {SITES, "sites: [{name: a, key: k, origins: [\"\"]}]\n",
     "4:37: sites[].origins: \"\" is empty\n"},
    {SITES, "sites: [{name: a, key: k, origins: [[a]]}]\n",
     "4:37: sites[].origins: an entry must be a text, this is a list\n"},
    {SITES, "sites: [{name: a, key: k, origins: https://a.example}]\n",
     "4:36: sites[].origins: must be a list of origins, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, origins: [https://a.example, https://a.example]}]\n",
     "4:56: sites[].origins: \"https://a.example\" is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, routes: [product]}]\n",
     "4:36: sites[].routes: \"product\": a route template begins with /\n"},
    {SITES, "sites: [{name: a, key: k, routes: [\"/a?b\"]}]\n",
     "4:36: sites[].routes: \"/a?b\": a route template has no query, fragment, white space or "
     "control character\n"},
    {SITES, "sites: [{name: a, key: k, routes: [/a, /a]}]\n",
     "4:40: sites[].routes: \"/a\": is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, timing_names: [fetch]}]\n",
     "4:42: sites[].timing_names: \"fetch\": a template of names has a :name or ends in *\n"},
    {SITES, "sites: [{name: a, key: k, custom: [plan, a, b, c]}]\n",
     "4:35: sites[].custom: has more than 3 entries\n"},
    {SITES, "sites: [{name: a, key: k, custom: [Plan]}]\n",
     "4:36: sites[].custom: \"Plan\": is not 1 to 32 lower-case letters, digits and underscores, "
     "the first a letter\n"},
    {SITES, "sites: [{name: a, key: k, custom: [plan, plan]}]\n",
     "4:42: sites[].custom: \"plan\": is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, custom: plan}]\n",
     "4:35: sites[].custom: must be a list of names, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, first_party: [\"https://cdn.example\"]}]\n",
     "4:41: sites[].first_party: \"https://cdn.example\": a host has no scheme and no path: write "
     "shopcdn.example\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 200ms\": a budget is WHAT pNN <= LIMIT or WHAT "
     "mean <= LIMIT, with \" on ROUTE\" if wanted, such as INP p75 <= 200ms on /checkout\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['p75 <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"p75 <= 200ms\": a budget is WHAT pNN <= LIMIT or WHAT "
     "mean <= LIMIT, with \" on ROUTE\" if wanted, such as INP p75 <= 200ms on /checkout\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p100 <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP p100 <= 200ms\": a budget is of a percentile from "
     "p1 to p99, or of the mean\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p0 <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP p0 <= 200ms\": a budget is of a percentile from p1 "
     "to p99, or of the mean\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP median <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP median <= 200ms\": a budget is of a percentile from "
     "p1 to p99, or of the mean\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP mean <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP mean <= 200ms\": a budget of a vital or measure is "
     "of a percentile: write p75\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['FID p75 <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"FID p75 <= 200ms\": a budget is of LCP, INP, CLS, FCP, "
     "TTFB, measure NAME, JS or third-party HOST\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['JS p75 <= 300ms']}]\n",
     "4:49: sites[].performance_budgets: \"JS p75 <= 300ms\": time of JS and third parties is "
     "known as a mean per page load only: write mean\n"},
    {SITES,
     "sites: [{name: a, key: k, performance_budgets: ['third-party https://x.example mean <= "
     "1s']}]\n",
     "4:49: sites[].performance_budgets: \"third-party https://x.example mean <= 1s\": a host has "
     "no scheme and no path: write shopcdn.example\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['LCP p75 <= 2.5']}]\n",
     "4:49: sites[].performance_budgets: \"LCP p75 <= 2.5\": a limit is a number with at most "
     "three decimals and ms or s, such as 200ms\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['measure m p75 <= 200']}]\n",
     "4:49: sites[].performance_budgets: \"measure m p75 <= 200\": a limit is a number with at "
     "most three decimals and ms or s, such as 200ms\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 0.0001s']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 0.0001s\": a limit is a number with at most "
     "three decimals and ms or s, such as 200ms\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 1.s']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 1.s\": a limit is a number with at most "
     "three decimals and ms or s, such as 200ms\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 0ms']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 0ms\": a limit is above 0 and at most "
     "3600s\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 3601s']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 3601s\": a limit is above 0 and at most "
     "3600s\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['CLS p75 <= 100ms']}]\n",
     "4:49: sites[].performance_budgets: \"CLS p75 <= 100ms\": the limit of a score is a number "
     "without unit, such as 0.1\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 200ms on checkout']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 200ms on checkout\": a route of a budget "
     "begins with /, and * in it is any text\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 200ms on /a b']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 200ms on /a b\": a route of a budget has no "
     "space\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['INP p75 <= 200ms on /**']}]\n",
     "4:49: sites[].performance_budgets: \"INP p75 <= 200ms on /**\": two * of a route need a "
     "character between them\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: ['measure a\\b p75 <= 200ms']}]\n",
     "4:49: sites[].performance_budgets: \"measure a\\b p75 <= 200ms\": a budget has no quote and "
     "no backslash\n"},
    {SITES, "sites: [{name: a, key: k, performance_budgets: JS}]\n",
     "4:48: sites[].performance_budgets: must be a list of budgets, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [app-:id.js]}]\n",
     "4:37: sites[].scripts: \"app-:id.js\": a template of scripts begins with / or "
     "scheme://host\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [/app.js]}]\n",
     "4:37: sites[].scripts: \"/app.js\": a template of scripts has a :name for what changes with "
     "each build\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [\"/a/*:id.js\"]}]\n",
     "4:37: sites[].scripts: \"/a/*:id.js\": two wildcards of a template of scripts need a "
     "character between them\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [\"/a/*-*-*-*-*-*-*-*-*-:id.js\"]}]\n",
     "4:37: sites[].scripts: \"/a/*-*-*-*-*-*-*-*-*-:id.js\": a template of scripts has at most 8 "
     "*\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [\"/a-:id.js?v=1\"]}]\n",
     "4:37: sites[].scripts: \"/a-:id.js?v=1\": a template of scripts has no query, fragment, "
     "quote, backslash, white space or control character\n"},
    {SITES, "sites: [{name: a, key: k, scripts: [\"https://c.example:8443/app.js\"]}]\n",
     "4:37: sites[].scripts: \"https://c.example:8443/app.js\": a template of scripts has a :name "
     "for what changes with each build\n"},
    {SITES, "sites: [{name: a, key: k, timezone: \"\"}]\n",
     "4:37: sites[].timezone: \"\" is not a time zone; write a name such as Australia/Sydney, or "
     "UTC\n"},
    {SITES, "sites: [{name: a, key: k, timezone: +10:00}]\n",
     "4:37: sites[].timezone: \"+10:00\" is not a time zone; write a name such as "
     "Australia/Sydney, or UTC\n"},
    {SITES, "sites: [{name: a, key: k, timezone: [UTC]}]\n",
     "4:37: sites[].timezone: must be a time zone such as Australia/Sydney, this is a list\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"javascript://x/%0a{file}\"}]\n",
     "4:40: sites[].source_link: \"javascript://x/%0a{file}\": a source link begins "
     "with https://, http://, vscode:// or idea://\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"{file}\"}]\n",
     "4:40: sites[].source_link: \"{file}\": a source link begins with https://, "
     "http://, vscode:// or idea://\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://{file}/\"}]\n",
     "4:40: sites[].source_link: \"https://{file}/\": a source link has a host, "
     "without user name or placeholder, and a / or ? after it\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://u:p@git.example/{file}\"}]\n",
     "4:40: sites[].source_link: \"https://u:p@git.example/{file}\": a source link has "
     "a host, without user name or placeholder, and a / or ? after it\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example\"}]\n",
     "4:40: sites[].source_link: \"https://git.example\": a source link has a host, "
     "without user name or placeholder, and a / or ? after it\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https:///{file}\"}]\n",
     "4:40: sites[].source_link: \"https:///{file}\": a source link has a host, "
     "without user name or placeholder, and a / or ? after it\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/a#L{line}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/a#L{line}\": a source link "
     "needs {file}, which stands for the path of the source\n"},
    {SITES, "sites: [{name: a, key: k, ignore: /vendor/*}]\n",
     "4:35: sites[].ignore: must be a list of patterns, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [/vendor/**]}]\n",
     "4:36: sites[].ignore: \"/vendor/**\": two * of a pattern of ignored code need a character "
     "between them\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [\"*\"]}]\n",
     "4:36: sites[].ignore: \"*\": a pattern of ignored code has a letter or a digit\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [\"/*.*\"]}]\n",
     "4:36: sites[].ignore: \"/*.*\": a pattern of ignored code has a letter or a digit\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [/vendor/:id/*]}]\n",
     "4:36: sites[].ignore: \"/vendor/:id/*\": a pattern of ignored code has no :name; write * for "
     "any text\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [/a.js?v=1]}]\n",
     "4:36: sites[].ignore: \"/a.js?v=1\": a pattern of ignored code has no query, fragment, "
     "quote, "
     "backslash or control character; * stands for any text\n"},
    {SITES, "sites: [{name: a, key: k, ignore: ['/a\"b']}]\n",
     "4:36: sites[].ignore: \"/a\"b\": a pattern of ignored code has no query, fragment, quote, "
     "backslash or control character; * stands for any text\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [\"*1*2*3*4*5*6*7*8*\"]}]\n",
     "4:36: sites[].ignore: \"*1*2*3*4*5*6*7*8*\": a pattern of ignored code has at most 8 *\n"},
    {SITES, "sites: [{name: a, key: k, ignore: [/a/*, /a/*]}]\n",
     "4:42: sites[].ignore: \"/a/*\": is listed twice; leave one out\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/{path}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/{path}\": a source link has "
     "{file}, {release}, {line}, {column}, and no other braces\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/{file\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/{file\": a source link has "
     "{file}, {release}, {line}, {column}, and no other braces\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/{file}}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/{file}}\": a source link has "
     "{file}, {release}, {line}, {column}, and no other braces\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/'{file}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/'{file}\": a source link has no "
     "quote, backslash, <, >, white space, control character or letter outside of "
     "ASCII; write it percent-encoded\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/é{file}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/é{file}\": a source link has no "
     "quote, backslash, <, >, white space, control character or letter outside of "
     "ASCII; write it percent-encoded\n"},
    {SITES, "sites: [{name: a, key: k, source_link: \"https://git.example/a b/{file}\"}]\n",
     "4:40: sites[].source_link: \"https://git.example/a b/{file}\": a source link has "
     "no quote, backslash, <, >, white space, control character or letter outside of "
     "ASCII; write it percent-encoded\n"},
    {SITES, "sites: [{name: a, key: k, timing_names: [\"*a\"]}]\n",
     "4:42: sites[].timing_names: \"*a\": * may only be the end of a template of names\n"},
    {ADDED, "privacy: {detail_keys: [a b]}\n",
     "5:25: privacy.detail_keys: \"a b\" is not 1 to 64 letters, digits, dots, underscores and "
     "hyphens\n"},
    {ADDED, "privacy: {detail_keys: status}\n",
     "5:24: privacy.detail_keys: must be a list of names, this is a single value\n"},
    {SITES, "sites: [{name: a, key: k, routes: /a}]\n",
     "4:35: sites[].routes: must be a list of paths, this is a single value\n"},
    {WHOLE, "",
     "1:1: the file must hold a mapping of settings, such as `listen: 127.0.0.1:8600`\n"},
    {WHOLE, "# nothing\n",
     "1:1: the file must hold a mapping of settings, such as `listen: 127.0.0.1:8600`\n"},
    {WHOLE, "5\n",
     "1:1: the file must hold a mapping of settings, such as `listen: 127.0.0.1:8600`\n"},
    {WHOLE, "[a]\n",
     "1:1: the file must hold a mapping of settings, such as `listen: 127.0.0.1:8600`\n"},
    {WHOLE, "listen: 127.0.0.1:8600\n",
     "1:1: database: is missing; it must be a text, such as host=/run/postgresql dbname=fleetprof "
     "user=fleetprof_writer\n"
     "1:1: spool: is missing; it must hold path, such as /var/lib/fleetprof/spool\n"
     "1:1: sites: is missing; it must be a list of sites, each with name and key\n"},
    {WHOLE, "spool: {}\n",
     "1:8: spool.path: is missing; it must be an absolute path, such as /var/lib/fleetprof/spool\n"
     "1:1: listen: is missing; it must be an address, such as 127.0.0.1:8600\n"
     "1:1: database: is missing; it must be a text, such as host=/run/postgresql dbname=fleetprof "
     "user=fleetprof_writer\n"
     "1:1: sites: is missing; it must be a list of sites, each with name and key\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: \"\"\nspool: {path: /s}\nsites: [{name: a, key: k}]\n",
     "2:11: database: is empty\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: \"password=secret\\n\"\nspool: {path: /s}\nsites: [{name: "
     "a, key: k}]\n",
     "2:11: database: holds a control character\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: hots=/x dbname=y\nspool: {path: /s}\nsites: [{name: a, "
     "key: k}]\n",
     "2:11: database: is not a libpq connection string or URI: invalid connection option "
     "\"hots\"\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: \"postgresql://a:secret@[::1/x\"\nspool: {path: /s}\n"
     "sites: [{name: a, key: k}]\n",
     "2:11: database: is not a libpq connection string or URI\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: dbname=x\nspool: {path: s}\nsites: [{name: a, key: k}]\n",
     "3:15: spool.path: \"s\" is not an absolute path; begin it with /\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: dbname=x\nspool: {path: /s, max_bytes: 32MiB}\nsites: "
     "[{name: a, key: k}]\n",
     "3:30: spool.max_bytes: must be at least four times spool.segment_bytes\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: dbname=x\nspool: {path: /s}\ndead_letters: {path: /s}\n"
     "sites: [{name: a, key: k}]\n",
     "4:22: dead_letters.path: is the same directory as spool.path\n"},
    {WHOLE,
     "listen: 127.0.0.1:8600\ndatabase: dbname=x\nspool: {path: /s}\ndead_letters: {path: s}\n"
     "sites: [{name: a, key: k}]\n",
     "4:22: dead_letters.path: \"s\" is not an absolute path; begin it with /\n"},
    {WHOLE,
     "listen: nowhere\ndatabase: dbname=x\nspool: {path: /s, keep: 1}\nlimits: {frames: 0}\n",
     "1:9: listen: \"nowhere\" is not an address; write host:port, [IPv6]:port or unix:/path\n"
     "3:25: spool.keep: \"1\" is not a duration; write a number and ms, s, m, h or d, such as "
     "250ms or 7d\n"
     "4:18: limits.frames: \"0\" is out of bounds; it must be from 1 to 100000000\n"
     "1:1: sites: is missing; it must be a list of sites, each with name and key\n"},

};
