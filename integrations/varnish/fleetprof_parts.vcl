# SPDX-License-Identifier: Apache-2.0
# Parts of fleetprof.vcl: caches, and the word of a sampled page.
import blob;
import digest;
import std;

# Sets fleetprof-shared if they may store what has this Cache-Control, and Expires.
sub fleetprof_control {
    set req.http.fleetprof-control = regsuball(req.http.fleetprof-control, {""(?:\\.|[^"\\,])*,(?:\\.|[^"\\])*""}, "quoted");
    unset req.http.fleetprof-fresh;
    if (req.http.fleetprof-control ~ {"(?i)(?:^|,)\s*max-age\s*=\s*"?0*[1-9]"}
        || (req.http.fleetprof-ahead && req.http.fleetprof-control !~ "(?i)(?:^|,)\s*max-age\s*(?:=|,|$)")) {
        set req.http.fleetprof-fresh = "yes";
    }
    if (req.http.fleetprof-control !~ "(?i)(?:^|,)\s*no-store\s*(?:=|,|$)"
        && (req.http.fleetprof-control ~ "(?i)(?:^|,)\s*(?:public|s-maxage)\s*(?:=|,|$)"
            || (req.http.fleetprof-fresh && req.http.fleetprof-control !~ "(?i)(?:^|,)\s*private\s*(?:,|$)"))) {
        set req.http.fleetprof-shared = "yes";
    }
}

sub fleetprof_cache {
    unset req.http.fleetprof-shared;
    unset req.http.fleetprof-ahead;
    if (std.time(resp.http.Expires, now) > now) {
        set req.http.fleetprof-ahead = "yes";
    }
    std.collect(resp.http.Cache-Control);
    set req.http.fleetprof-control = resp.http.Cache-Control;
    call fleetprof_control;
    unset req.http.fleetprof-ahead;
    std.collect(resp.http.Surrogate-Control);
    set req.http.fleetprof-control = resp.http.Surrogate-Control;
    call fleetprof_control;
    std.collect(resp.http.CDN-Cache-Control);
    set req.http.fleetprof-control = resp.http.CDN-Cache-Control;
    call fleetprof_control;
    std.collect(resp.http.Cloudflare-CDN-Cache-Control);
    set req.http.fleetprof-control = resp.http.Cloudflare-CDN-Cache-Control;
    call fleetprof_control;
}

# Sets fleetprof-word: a token, or 1.TIME.NONCE without a key. With an unusable key, it stays 0.
sub fleetprof_sign {
    if (req.http.fleetprof-key) {
        set req.http.fleetprof-key = regsub(std.fileread(req.http.fleetprof-key), "(?s)^(?:[ \t]*(?:#[^\n]*)?\n)*\s*(\w+).*", "\1");
        if (req.http.fleetprof-key !~ "^(?:(?!00)[0-9A-Fa-f]{2}){32,128}$") {
            std.log("fleetprof: the first key is not 32 to 128 bytes as hexadecimal digits, or has a byte 00");
            return;
        }
    }
    set req.http.fleetprof-word = std.integer(time = now) + "." + digest.base64url_nopad_hex(regsub(digest.hash_sha256(server.identity
        + req.xid + now + std.random(0, 1000000) + std.random(0, 1000000) + req.http.fleetprof-key), "^(?:0x)?(.{24}).*", "\1"));
    if (req.http.fleetprof-key) {
        set req.http.fleetprof-word = "v1." + regsub(digest.hmac_sha256(blob.encode(IDENTITY, blob = blob.decode(HEX, encoded = req.http.fleetprof-key)),
            "fleetprof key id"), "^0x(.{8}).*", "\1") + "." + req.http.fleetprof-site + "."
            + std.integer(real = std.round(std.real(req.http.fleetprof-rate, 0.0) * 1000000.0)) + "." + req.http.fleetprof-word;
        set req.http.fleetprof-word = req.http.fleetprof-word + "." + digest.base64url_nopad_hex(
            digest.hmac_sha256(blob.encode(IDENTITY, blob = blob.decode(HEX, encoded = req.http.fleetprof-key)), req.http.fleetprof-word));
    } else {
        set req.http.fleetprof-word = "1." + req.http.fleetprof-word;
    }
    unset req.http.fleetprof-key;
}
