# SPDX-License-Identifier: Apache-2.0
"""Decides on a page load for fleetprof.py, and says which fields of the response that changes. Fields are pairs of texts."""

import base64
import hashlib
import hmac
import random
import re
import secrets
import time
from email.utils import parsedate_to_datetime

# RFC 9651, section 4.2: a dictionary's members.
ITEM = r"""(?:-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][\w!#$%&'*+.^|~:/`-]*|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")"""
KEY = r"[a-z*][a-z0-9_.*-]*"
PARAMETERS = rf"(?:; *{KEY}(?:={ITEM})?)*"
MEMBER = re.compile(rf"({KEY})(?:=({ITEM}|\( *(?:{ITEM}{PARAMETERS}(?: +|(?=\))))*\)))?{PARAMETERS}[ \t]*(,[ \t]*(?!$)|$)", re.A)
OURS = re.compile(r"\s*fleetprof(?![\w!#$%&'*+.^|~`-])", re.A)


def members(text):
    """Returns the last value of each key; None if browsers would drop the text."""
    found, at, text = {}, 0, text.strip(" ")
    while at < len(text):
        member = MEMBER.match(text, at)
        if not member:
            return None
        found[member[1]], at = member[2] or "?1", member.end()
    return found


def split(text):
    """Splits at commas outside of quotes."""
    return re.findall(r'(?:"(?:\\.|[^"\\])*"?|[^,"])+|(?:(?<=,)|^)(?=,|$)', text)


def is_ahead(date):
    try:
        return parsedate_to_datetime(date).timestamp() > time.time()
    except (TypeError, ValueError):
        return False


def is_shared(control, expires=""):
    """May shared caches store what has this Cache-Control, and Expires?"""
    def has(name, argument=""):
        return any(re.match(rf"\s*{name}\s*(?:=|$){argument}", one, re.I) for one in split(control))
    is_fresh = has("max-age", r'\s*"?0*[1-9]') or (not has("max-age") and is_ahead(expires))
    return not has("no-store") and (has("public") or has("s-maxage") or (is_fresh and not has("private", "$")))


def is_document(status, content_type, ask):
    """Is the response a document or a worker's script? Asks for fields of the request."""
    def is_page(text):
        return bool(re.match(r"\s*(?:text/html|application/xhtml\+xml)\s*(?:;|$)", text, re.I))
    destination = ask("sec-fetch-dest") or "empty"
    if is_page(content_type) or destination in ("worker", "sharedworker") or status != 304 or content_type:
        return is_page(content_type) or destination in ("worker", "sharedworker")
    return (ask("sec-fetch-mode") == "navigate" or destination in ("document", "iframe", "frame", "embed", "object")
            or (destination == "empty" and any(map(is_page, split(ask("accept") or "")))))


def sign(rate, site, key):
    """Returns the word of a sampled page: a token, or 1.TIME.NONCE without a key."""
    made = f"{int(time.time())}.{secrets.token_urlsafe(12)}"
    if not key:
        return f"1.{made}"
    def mac(text):
        return hmac.new(key, text.encode(), hashlib.sha256).digest()
    signed = f"v1.{mac('fleetprof key id')[:4].hex()}.{site}.{round(rate * 1_000_000)}.{made}"
    return f"{signed}.{base64.urlsafe_b64encode(mac(signed)).decode().rstrip('=')}"


def announce(status, fields, ask, rate, site, key):
    """Returns the fields of the response with the decision."""
    def lines(pattern):
        return [value for name, value in fields if re.fullmatch(pattern, name, re.I)]
    said, content_type = lines("document-policy"), (lines("content-type") or [""])[0]
    if not (200 <= status < 300 or (status == 304 and said)) or not is_document(status, content_type, ask):
        return fields
    is_cacheable = is_shared(",".join(lines("cache-control")), (lines("expires") or [""])[0]) or any(map(is_shared, lines("surrogate-control|.+-cache-control")))
    is_sampled = random.random() < rate and not is_cacheable
    text = ", ".join(said)
    policy = (f"{text}, " if text else "") + ("js-profiling, js-profiling-mode=lazy" if is_sampled else "js-profiling=?0")
    own = members(text) if len(policy) <= 4096 else None
    if own and (own.get("js-profiling") == "?1" or re.match("[A-Za-z*]", own.get("js-profiling-mode", ""))):
        return fields
    is_ours = own is not None and not own.keys() & {"js-profiling", "js-profiling-mode"}
    is_sampled = is_sampled and is_ours
    timings = [line if not any(map(OURS.match, split(line))) else ",".join(one for one in split(line) if not OURS.match(one)).strip() for line in lines("server-timing")]
    gone = ["server-timing"] + ["document-policy"] * is_ours + ["etag", "last-modified"] * (is_sampled and status != 304)
    return ([field for field in fields if field[0].lower() not in gone] + [("Document-Policy", policy)] * is_ours
            + [("Server-Timing", f'fleetprof;desc="{sign(rate, site, key) if is_sampled else 0}"')] + [("Server-Timing", line) for line in timings if line])
