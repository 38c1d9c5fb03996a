# SPDX-License-Identifier: Apache-2.0
"""A rack on this machine: labgrid's coordinator and exporters, QEMU at each place, and a strip of
power switches.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.targets.board.process import end_process
from tests.farm.machines import free_port
from tests.waiting import wait_for

PLACES = ("shelf-1", "shelf-2", "shelf-3")
BOARD = "stm32f4"


class Machine:
    """The board of a place: QEMU behind its GDB stub, which starts again when it ends.

    Its line is served over TCP, as ser2net does: it stays when the board is off.
    """

    def __init__(self, folder: Path) -> None:
        self._line = folder / "line"
        folder.mkdir()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.line, self.gdb = int(self._server.getsockname()[1]), free_port()
        self._over, self._off, self._restart = False, False, threading.Lock()
        self._dead = self._silent = self._cured = False
        self.switched: list[bool] = []  # by the strip: on or off
        self._process: subprocess.Popen[bytes] | None = None
        self._caller: socket.socket | None = None
        works = (self._live, self._accept, self._relay)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def power_cycle(self, *, dead: bool = False) -> None:
        """Interrupts the board's supply; `dead`: until the next power cycle."""
        self._silent, self.switched = False, []
        self._supply(off=False, dead=dead)

    def switch(self, on: bool) -> None:
        """What the strip of the rack does. It cures a board that is not silent for good."""
        self.switched.append(on)
        self._silent = self._silent and not self._cured
        self._supply(off=not on, dead=self._dead)

    def fall_silent(self, *, for_good: bool = False) -> None:
        """Its UART hangs; a reset does not help, and `for_good` power neither."""
        self._silent, self._cured = True, not for_good

    def freeze(self) -> None:
        """Core and debug port hang."""
        wait_for(lambda: self._process is not None and self._process.poll() is None)
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def _supply(self, *, off: bool, dead: bool) -> None:
        with self._restart:
            self._off, self._dead = off, dead
            if self._process is not None:
                self._process.kill()
                self._process.wait()  # or the next one to look would take it for the board

    def close(self) -> None:
        with self._restart:  # or the board that starts now would live on, and be waited for
            self._over = True
        self.power_cycle()
        self._server.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _live(self) -> None:
        server, tier = inventory.debug_server("qemu-arm"), inventory.board(BOARD).tier.board
        assert tier is not None
        values = {"{chip}": tier.chip["qemu-arm"]}
        command = [values.get(word, word) for word in server.command]
        command[command.index("-gdb") + 1] = f"tcp:127.0.0.1:{self.gdb}"
        # No pseudo terminal: the next QEMU anywhere may have the number of one that ended.
        line = f"socket,id=line,path={self._line},server=on,wait=off"
        command[command.index("-chardev") + 1] = line
        # A board that idles sleeps, so that those of other places have the processor.
        command[command.index("-icount") + 1] = "shift=0,sleep=on"
        command.insert(0, str(tools.require(server.program)))
        null = subprocess.DEVNULL
        while not self._over:
            with self._restart:
                if not (self._over or self._off or self._dead):
                    self._process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
            if self._process is not None:
                self._process.wait()
            time.sleep(0.1)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while not self._over:
                self._caller = self._server.accept()[0]

    def _relay(self) -> None:
        """Bytes between the board's line and who called last."""
        near: socket.socket | None = None
        while not self._over:
            near, caller = near or self._called(), self._caller
            ends = [end for end in (near, caller) if end is not None]
            ready = select.select(ends, [], [], 0.05)[0] if ends else []
            if not ends:
                time.sleep(0.05)
            if near in ready and near is not None:
                data = self._received(near)
                if not data:  # the board is off
                    near.close()
                    near = None
                elif caller is not None and not self._silent:
                    with contextlib.suppress(OSError):
                        caller.sendall(data)
            if caller in ready and caller is not None:
                sent = self._received(caller)
                if not sent and self._caller is caller:
                    self._caller = None
                elif sent and near is not None:
                    with contextlib.suppress(OSError):
                        near.sendall(sent)

    def _called(self) -> socket.socket | None:
        """The board's own end of the line; None while it is off."""
        end = socket.socket(socket.AF_UNIX)
        try:
            end.connect(str(self._line))
        except OSError:
            end.close()
            return None
        return end

    @staticmethod
    def _received(end: socket.socket) -> bytes:
        try:
            return end.recv(4096)
        except OSError:
            return b""


class Strip:
    """Power switches of machines, as labgrid's `simplerest` calls them: GET /NUMBER/VALUE."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                number, value = self.path.strip("/").split("/")
                machines[int(number)].switch(value == "1")
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://user:secret@127.0.0.1:{self._server.server_port}/{{index}}/{{value}}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Rack:
    """Three places, and a lab whose targets stand there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.machines = [Machine(folder / f"board-{place}") for place in PLACES]
        self.strip = Strip(self.machines)
        self.calls: list[subprocess.Popen[str]] = []  # of kadenz, by a test
        self._serve()
        self._write_lab()

    def _serve(self) -> None:
        self.coordinator = self._start("labgrid-coordinator", "-l", self.address)
        self.exporters = []
        wait_for(lambda: self.client("places").returncode == 0)
        for number, (place, machine) in enumerate(zip(PLACES, self.machines, strict=True)):
            resources = self.folder / f"{place}.yaml"
            resources.write_text(
                f"{place}:\n  NetworkSerialPort:\n    host: 127.0.0.1\n"
                f"    port: {machine.line}\n    protocol: raw\n"
                f"  NetworkPowerPort:\n    model: simplerest\n    index: {number}\n"
                f"    host: '{self.strip.url}'\n"
            )
            self.exporters.append(
                self._start("labgrid-exporter", "-c", self.address, "-n", place, str(resources))
            )
            self.client("-p", place, "create", check=True)
            self.client("-p", place, "add-match", f"{place}/{place}/NetworkSerialPort", check=True)
        wait_for(lambda: self.client("resources").stdout.count("NetworkSerialPort") == len(PLACES))

    @contextlib.contextmanager
    def powered(self) -> Iterator[None]:
        """Meanwhile each place has its power switch."""
        for place in PLACES:
            self.client("-p", place, "add-match", f"{place}/{place}/NetworkPowerPort", check=True)
        try:
            yield
        finally:
            for place in PLACES:
                pattern = f"{place}/{place}/NetworkPowerPort"
                self.client("-p", place, "del-match", pattern, check=True)

    def end_calls(self) -> None:
        """A call that a failed test left behind would keep its places."""
        for call in self.calls:
            if call.poll() is None:
                call.kill()
                call.communicate()
        self.calls.clear()

    def stop(self) -> None:
        """Kills the coordinator and every exporter. The boards and their lines stay."""
        for program in (*self.exporters, self.coordinator):
            program.kill()
            program.wait()

    def restart(self) -> None:
        """After `stop`: as at first, with nothing acquired."""
        (self.folder / "places.yaml").unlink(missing_ok=True)
        self._serve()

    def owners(self) -> dict[str, str]:
        """Who has a place: each place that somebody has, with "host/user"."""
        _, *rows = self.client("who", check=True).stdout.splitlines()
        columns = (row.split() for row in rows)
        return {place: f"{host}/{user}" for user, host, place, *_ in columns}

    def client(
        self, *arguments: str, check: bool = False, user: str = "somebody"
    ) -> subprocess.CompletedProcess[str]:
        """Somebody's labgrid-client."""
        return subprocess.run(
            [_program("labgrid-client"), "-x", self.address, *arguments],
            capture_output=True,
            text=True,
            check=check,
            timeout=60,
            env={**os.environ, "LG_USERNAME": user, "LG_HOSTNAME": "elsewhere"},
        )

    def close(self) -> None:
        for program in (*self.exporters, self.coordinator):
            end_process(program)
        self.strip.close()
        for machine in self.machines:
            machine.close()

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}-{time.monotonic_ns()}.log").open("wb") as log:
            return subprocess.Popen(
                [_program(name), *arguments], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )

    def _write_lab(self) -> None:
        targets = [
            f'[target.desk{number}]\nkernel = "freertos"\nboard = "{BOARD}"\ntier = "board"\n'
            f'place = "{place}"\nserver = "qemu-arm@127.0.0.1:{machine.gdb}"\n'
            for number, (place, machine) in enumerate(zip(PLACES, self.machines, strict=True), 1)
        ]
        (self.folder / "kadenz.toml").write_text("\n".join(targets))
        (self.folder / "farm.toml").write_text(f'[labgrid]\ncoordinator = "{self.address}"\n')


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
