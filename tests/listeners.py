# SPDX-License-Identifier: Apache-2.0
"""The TCP and UDP sockets on which a process listens, as `ss -tulnp` shows them."""

from __future__ import annotations

import re
import subprocess

_LINE = re.compile(r"^(?:tcp|udp)\s+\S+\s+\S+\s+\S+\s+(\S+):\d+\s.*\bpid=(\d+)\b", re.MULTILINE)


def listeners(pid: int) -> list[str]:
    """The address of each socket: "127.0.0.1", "0.0.0.0", "::1"."""
    answer = subprocess.run(["ss", "-tulnp"], capture_output=True, text=True, check=True)
    return [
        host.strip("[]").replace("*", "0.0.0.0").partition("%")[0]
        for host, owner in _LINE.findall(answer.stdout)
        if int(owner) == pid
    ]
