# SPDX-License-Identifier: Apache-2.0
"""The comments of a pull request, behind the addresses of GitHub and of GitLab."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

_COMMENTS = re.compile(r".*/(?:issues/7/comments|merge_requests/7/notes)")
_COMMENT = re.compile(r".*/(?:issues/comments|merge_requests/7/notes)/(\d+)")
ME = 42  # the user of the token, and the bot


class Forge:
    """Pull request 7 with its comments, oldest first; `calls` are methods."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.comments: list[dict[str, Any]] = []
        self.calls: list[str] = []

    def write(self, body: str, *, by: int, kind: str) -> None:
        """Somebody writes a comment."""
        number = len(self.comments) + 1
        user = {"id": by, "type": kind}
        self.comments.append({"id": number, "body": body, "user": user, "author": user})


@contextmanager
def forge() -> Iterator[Forge]:
    """A server of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, data: object) -> None:
            text = json.dumps(data).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _body(self) -> str:
            known.calls.append(self.command)
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            return str(json.loads(sent)["body"])

        def do_GET(self) -> None:  # noqa: N802 (of the library)
            address = urlparse(self.path)
            if address.path.endswith("/user"):
                self._answer({"id": ME})
                return
            assert _COMMENTS.fullmatch(address.path), self.path
            asked = parse_qs(address.query)
            size, page = int(asked["per_page"][0]), int(asked["page"][0])
            self._answer(known.comments[(page - 1) * size : page * size])

        def do_POST(self) -> None:  # noqa: N802
            assert _COMMENTS.fullmatch(self.path), self.path
            known.write(self._body(), by=ME, kind="Bot")
            self._answer({})

        def do_PATCH(self) -> None:  # noqa: N802
            match = _COMMENT.fullmatch(self.path)
            assert match is not None, self.path
            known.comments[int(match[1]) - 1]["body"] = self._body()
            self._answer({})

        do_PUT = do_PATCH  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known = Forge(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
