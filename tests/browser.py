# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens pages from disk, by its debugging protocol over two pipes."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

PATIENCE_S = 600.0  # for a machine with other work; a page takes well below a second
_SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


def program() -> str:
    """The browser's path; "" if it is not installed."""
    return shutil.which("chromium") or ""


class Browser:
    """One page of a running browser."""

    def __init__(self, asking: IO[bytes], answers: IO[bytes]) -> None:
        self._asking, self._answers = asking, answers
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        target = self._ask("Target.createTarget", url="about:blank")
        attached = self._ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = {"sessionId": attached["sessionId"]}

    def open(self, file: Path, route: str = "") -> None:
        """Loads a page from disk; `route` as "#/run/one"."""
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=file.resolve().as_uri() + route)
        self.until("document.readyState === 'complete'")

    def show(self, file: Path, width: int, media: str) -> None:
        """Loads a page at a width, as on "screen", in "print", or as it is for ""."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setEmulatedMedia", media=media)
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        self.open(file)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page. AssertionError if it throws."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """The value of the expression as soon as it is true; AssertionError if it never is."""
        end = time.monotonic() + PATIENCE_S
        while not (value := self.value(expression)):
            assert time.monotonic() < end, f"not in {PATIENCE_S:.0f} s: {expression}"
            time.sleep(0.02)
        return value

    def picture(self, file: Path, width: int, height: int) -> None:
        """Writes what the page shows as PNG."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        file.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def printed(self) -> int:
        """The number of pages on A4 paper."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69}  # inches
        document = base64.b64decode(self._ask("Page.printToPDF", **size)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", document))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params, **self._session}
        self._asking.write(json.dumps(message).encode() + b"\0")
        self._asking.flush()
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> bytes:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser ended"
            text += byte
        return bytes(text)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own, until the end of the block."""
    commands, asking = os.pipe()
    answers, results = os.pipe()
    # The browser reads from descriptor 3 and writes to 4.
    shell = ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{results}', "browser", program()]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = subprocess.Popen(
            [*shell, *_SWITCHES, f"--user-data-dir={profile}"],
            pass_fds=(commands, results),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(results)
        try:
            with os.fdopen(asking, "wb") as out, os.fdopen(answers, "rb") as back:
                yield Browser(out, back)
        finally:
            running.terminate()
            running.wait()
