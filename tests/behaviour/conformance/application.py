# SPDX-License-Identifier: Apache-2.0
"""The application of the conformance test (conformance/application.mjs) in Python, with the middleware where a part is on.

application.py PORT serves it by WSGI; uvicorn application:asgi by ASGI.
"""

import json
import sys
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "integrations/python"))
import fleetprof  # noqa: E402

DATA = json.loads((ROOT / "conformance/cases.json").read_text(encoding="utf-8"))
ANSWERS = {one["name"]: {"fields": [["Content-Type", "text/html"]]} for one in DATA["rates"]} | {one["name"]: one["answer"] for one in DATA["cases"]}
BODY = b"<!doctype html><title>a page</title>"


def answer_to(path):
    answer = ANSWERS.get(path.rsplit("/", 1)[-1], {"status": 404})
    status = answer.get("status", 200)
    return status, [tuple(field) for field in answer.get("fields", [])], b"" if status == 304 else BODY


def wsgi_application(environ, start_response):
    status, fields, body = answer_to(environ["PATH_INFO"])
    start_response(f"{status} Said", fields)
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]  # wsgiref would send it


async def asgi_application(scope, _receive, send):
    status, fields, body = answer_to(scope["path"])
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def parts_of(interface, application):
    """Returns the application of each part of the server."""
    return {part: setting and interface(application, float(setting["rate"].rstrip("%")) / 100, "shop", ROOT / "conformance/token.key" if setting["key"] else None)
            or application for part, setting in DATA["servers"].items()}


WSGI = parts_of(fleetprof.Wsgi, wsgi_application)
ASGI = parts_of(fleetprof.Asgi, asgi_application)


def wsgi(environ, start_response):
    return WSGI.get(environ["PATH_INFO"].split("/")[1], wsgi_application)(environ, start_response)


async def asgi(scope, receive, send):
    await ASGI.get(scope["path"].split("/")[1], asgi_application)(scope, receive, send)


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    make_server("127.0.0.1", int(sys.argv[1]), wsgi, handler_class=Handler).serve_forever()
