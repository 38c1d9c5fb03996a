# SPDX-License-Identifier: Apache-2.0
"""The rate of each load on this machine, and the time until it is effective and until it is gone.

The last column is the time after SIGKILL of the load's owner, as after `kill -9` of kadenz.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from kadenz.errors import LoadFailed
from kadenz.load.definitions import Options, names
from kadenz.load.running import RunningLoad, number

TITLE = "Loads"


def left(folder: Path) -> bool:
    """True if a scratch folder or a process in it still exists."""
    if any(folder.iterdir()):
        return True
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(link.readlink()).startswith(str(folder)):
                return True
        except OSError:
            continue
    return False


def gone(folder: Path) -> float:
    """Seconds until all of the load is gone."""
    begun = time.monotonic()
    while left(folder):
        time.sleep(0.01)
    return time.monotonic() - begun


def killed(name: str, folder: Path) -> float:
    """Seconds until all of the load is gone after SIGKILL of its owner."""
    ready, told = os.pipe()
    owner = os.fork()
    if owner == 0:
        with RunningLoad(name, Options(allow_weak=True), folder, lambda _: None) as load:
            load.start(threading.Event())
            os.write(told, b"x")
            time.sleep(600)
        os._exit(0)
    os.read(ready, 1)
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    os.close(ready)
    os.close(told)
    return gone(folder)


def main() -> None:
    """Prints one row per load."""
    print("| load | idle machine | under load | unit | CPU | effective after | ended in | killed |")
    print("|---|---|---|---|---|---|---|---|")
    slowest = longest = 0.0
    for name in sys.argv[1:] or names()[1:]:
        with tempfile.TemporaryDirectory(dir=".") as text:
            folder = Path(text).resolve()
            begun = time.monotonic()
            load = RunningLoad(name, Options(allow_weak=True), folder, lambda _: None)
            try:
                load.start(threading.Event())
            except LoadFailed as error:
                load.close()
                print(f"| {name} | {error.message} |", flush=True)
                continue
            after = time.monotonic() - begun
            ending = time.monotonic()
            load.close()
            ended = time.monotonic() - ending
            assert not left(folder)
            dead = killed(name, folder)
            slowest, longest = max(slowest, after), max(longest, ended, dead)
        for entry in load.entries:
            weak = "" if entry.verified else " (weak)"
            who = name if name == entry.name else f"{name}: {entry.name}"
            print(
                f"| {who} | {number(entry.idle_rate)} | {number(entry.rate)}{weak} | {entry.unit} "
                f"| {entry.cpu_percent:.0f} % | {after:.1f} s | {ended:.2f} s | {dead:.2f} s |",
                flush=True,
            )
    print(f"\nanswer: verified within {slowest:.1f} s, gone within {longest:.1f} s of their end")


if __name__ == "__main__":
    main()
