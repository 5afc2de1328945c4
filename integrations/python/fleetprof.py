# SPDX-License-Identifier: Apache-2.0
"""fleetprof for WSGI (Django, Flask) and ASGI (Starlette, FastAPI, Django). The contract: docs/decision.md.

    application = fleetprof.Wsgi(application, rate=0.001, site="shop", key_file="/etc/fleetprof/token.key")
    app = fleetprof.Asgi(app, rate=0.001, site="shop", key_file="/etc/fleetprof/token.key")

rate: the share of page loads that are sampled, from 0 to 1. The first key of key_file signs tokens; without one, pages carry none.
"""

import re
from pathlib import Path

from fleetprof_decision import announce


def read_key(file, site):
    """Returns the first key of a file."""
    lines = [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines()]
    key = next((line for line in lines if line and not line.startswith("#")), "")
    if not re.fullmatch(r"(?:[0-9A-Fa-f]{2}){32,128}", key):
        raise ValueError(f"fleetprof: {file}: the first key is not 32 to 128 bytes as hexadecimal digits")
    if not re.fullmatch(r"[\w.-]{1,64}", site or "", re.A):
        raise ValueError(f"fleetprof: site {site!r} is not 1 to 64 of A-Z a-z 0-9 . _ -")
    return bytes.fromhex(key)


class Middleware:
    """What both interfaces share."""

    def __init__(self, app, rate, site=None, key_file=None):
        if rate != 0 and not 0.000001 <= rate <= 1:
            raise ValueError(f"fleetprof: rate {rate} is not 0, and not from 0.000001 to 1")
        self.app = app
        self.decision = (rate, site, read_key(key_file, site) if key_file else None)


class Wsgi(Middleware):
    """The interface of PEP 3333."""

    def __call__(self, environ, start_response):
        def ask(name):
            return environ.get("HTTP_" + name.upper().replace("-", "_"))

        def start(status, headers, *rest):
            return start_response(status, announce(int(status.split()[0]), headers, ask, *self.decision), *rest)
        return self.app(environ, start)


class Asgi(Middleware):
    """The interface of ASGI 3."""

    async def __call__(self, scope, receive, send):
        def ask(name):
            return ", ".join(value.decode("latin-1") for one, value in scope["headers"] if one.lower() == name.encode())

        async def decided(message):
            if message["type"] == "http.response.start":
                fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", [])]
                fields = announce(message["status"], fields, ask, *self.decision)
                message = {**message, "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]}
            await send(message)
        await self.app(scope, receive, decided if scope["type"] == "http" else send)
