# SPDX-License-Identifier: Apache-2.0
# fleetprof for Varnish 7 with Debian's varnish-vmod-digest. The contract: docs/decision.md.
#
#   include "/etc/varnish/fleetprof.vcl";
#   sub vcl_deliver {
#       set req.http.fleetprof-rate = "0.001";  # from 0 to 1
#       set req.http.fleetprof-site = "shop";   # these two: for tokens
#       set req.http.fleetprof-key = "/etc/varnish/token.key";
#       call fleetprof;
#   }
#
# Each delivery is decided, of a stored page too. No byte of the first key may be 00, where a text of VCL ends. Of the fields for
# CDNs alone, VCL sees those that it names.
import std;
include "./fleetprof_parts.vcl";

sub vcl_recv { # nobody else sets them
    unset req.http.fleetprof-rate;
    unset req.http.fleetprof-site;
    unset req.http.fleetprof-key;
}

# Decides on a document, and changes its fields.
sub fleetprof_announce {
    std.collect(resp.http.Document-Policy);
    set req.http.fleetprof-said = resp.http.Document-Policy;
    set req.http.fleetprof-policy = "js-profiling=?0";
    set req.http.fleetprof-word = "0";
    if (!req.http.fleetprof-shared && std.random(0, 1) < std.real(req.http.fleetprof-rate, 0.0)) {
        call fleetprof_sign;
    }
    if (req.http.fleetprof-word != "0") {
        set req.http.fleetprof-policy = "js-profiling, js-profiling-mode=lazy";
    }
    set req.http.fleetprof-policy = regsub(req.http.fleetprof-said, "(.)$", "\1, ") + req.http.fleetprof-policy;
    # RFC 9651, section 4.2: a dictionary. Then its keys, without what may have commas.
    if (req.http.fleetprof-policy ~ "^.{4097}" || req.http.fleetprof-said !~ {"(?x)
        (?(DEFINE) (?<key> [a-z*][a-z0-9_.*-]*+) (?<parameters> (?: ; [ ]*+ (?&key) (?: = (?&item))?+)*+)
            (?<item> -?\d{1,12}\.\d{1,3} | -?\d{1,15} | "(?: [ !#-\[\]-~]++ | \\["\\])*+" | [A-Za-z*][\w!#$%&'*+.^|~:/`-]*+ | :[A-Za-z0-9+/=]*+:
                | \?[01] | @-?\d{1,15} | %"(?: [ !#$&-~]++ | %[0-9a-f]{2})*+")
            (?<member> (?&key) (?: = (?: (?&item) | \([ ]*+ (?: (?&item) (?&parameters) (?: [ ]++ | (?=\))))*+ \)))?+ (?&parameters)))
        ^ [ ]*+ (?: (?&member) (?: [ \t]*+ , [ \t]*+ (?&member))*+)?+ [ ]*+ $"}) {
        set req.http.fleetprof-word = "0";
    } else {
        set req.http.fleetprof-said = regsuball(regsuball(req.http.fleetprof-said, {""(?:\\.|[^"\\])*+""}, ""), "\([^)]*\)", "");
        if (req.http.fleetprof-said !~ "(?:^|,)[ \t]*js-profiling(?:-mode)?[ \t]*(?:[=;,]|$)") {
            set resp.http.Document-Policy = req.http.fleetprof-policy;
        } elseif (req.http.fleetprof-said ~ "(?:^|,)[ \t]*(js-profiling(?:-mode)?)(?!.*,[ \t]*\1[ \t]*(?:[=;,]|$))(?:(?<=g)(?:=\?1)?[ \t]*(?:[;,]|$)|(?<=e)=[A-Za-z*])") {
            return;
        } else {
            set req.http.fleetprof-word = "0";
        }
    }
    if (req.http.fleetprof-word != "0" && resp.status != 304) {
        unset resp.http.ETag;
        unset resp.http.Last-Modified;
    }
    std.collect(resp.http.Server-Timing);
    set req.http.fleetprof-said = regsub(resp.http.Server-Timing,
        {"^(?:\s*fleetprof(?![\w!#$%&'*+.^|~`-])(?:"(?:\\.|[^"\\])*+"?|[^,"])*(?:,\s*|$))+"}, "");
    set req.http.fleetprof-said = regsuball(req.http.fleetprof-said,
        {""(?:\\.|[^"\\])*+"(*SKIP)(*F)|,\s*fleetprof(?![\w!#$%&'*+.^|~`-])(?:"(?:\\.|[^"\\])*+"?|[^,"])*"}, "");
    set resp.http.Server-Timing = {"fleetprof;desc=""} + req.http.fleetprof-word + {"""} + regsub(req.http.fleetprof-said, "^(.)", ", \1");
}

sub fleetprof {
    if (!req.http.fleetprof-rate || req.esi_level > 0 || (resp.status != 304 && (resp.status < 200 || resp.status > 299))
        || (resp.status == 304 && !resp.http.Document-Policy)) {
        return;
    }
    if (resp.http.Content-Type ~ "(?i)^\s*(?:text/html|application/xhtml\+xml)\s*(?:;|$)" || req.http.Sec-Fetch-Dest ~ "^(?:worker|sharedworker)$"
        || (resp.status == 304 && !resp.http.Content-Type && (req.http.Sec-Fetch-Mode == "navigate"
            || req.http.Sec-Fetch-Dest ~ "^(?:document|iframe|frame|embed|object)$" || (req.http.Sec-Fetch-Dest ~ "^(?:empty)?$"
            && req.http.Accept ~ "(?i)(?:^|,)\s*(?:text/html|application/xhtml\+xml)\s*(?:[;,]|$)")))) {
        call fleetprof_cache;
        call fleetprof_announce;
    }
}
