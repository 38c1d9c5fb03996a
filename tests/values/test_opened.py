# SPDX-License-Identifier: Apache-2.0
"""Every file that QEMU or a simulated core opens is in its key, as strace sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.config.target_name import parse_target
from kadenz.errors import ToolMissing
from kadenz.lab.execution import check_tools, default_setup, image_of, make_target

from .traced import Opened, opened_by

# A counted target of each kind of emulator, of plugin and of device.
TARGETS = (
    ("freertos/stm32f4@emulated", "counter"),
    ("freertos/stm32f4@emulated", "scope"),
    ("freertos/stm32f4@emulated", "model"),
    ("freertos/hifive1-revb@emulated", "counter"),
    ("freertos/microbit@emulated", "scope"),
    ("freertos/mps2-an386@emulated", "counter"),
    ("freertos/vexriscv@emulated", "model"),
    ("freertos/ibex@rtl", "scope"),
    ("linux-rt/x86_64@guest", "counter"),
)
# Opened and not in the key, by the reason.
NOT_IN_THE_KEY = {
    "/proc/": "the kernel's view of the process, no file",
    "/sys/": "of this machine: its processors and its memory in nodes, for QEMU's own threads",
    "/dev/null": "always empty",
    "/dev/urandom": "seeds of hash tables; a guest gets its random numbers from -seed",
    "/etc/ld.so.cache": "says where libraries are: those that it leads to are in the key",
}
# Searched for, and absent on this machine.
ABSENT = {
    "/etc/libnl/": "names of traffic classes of a network that no target has",
    "/dev/sgx_vepc": "memory of a processor's enclave, for guests that ask for it",
    "/usr/share/zoneinfo/UTC0": "TZ=UTC0 is a rule, not the name of a file",
}

pytestmark = pytest.mark.counted


def traced(text: str, instrument: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    name = parse_target(text)
    try:
        check_tools(name)
        setup = default_setup(name)
    except ToolMissing as missing:
        pytest.skip(str(missing))
    image = image_of(name, instrument, setup)
    target = make_target(name, instrument, image, setup)
    return opened_by(target, folder / "strace.log", folder / "store", monkeypatch)


def is_known(file: Path, reasons: dict[str, str]) -> bool:
    return any(str(file).startswith(name) for name in reasons)


@pytest.mark.parametrize(("text", "instrument"), TARGETS)
def test_every_file_that_is_opened_is_in_the_key(
    text: str, instrument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = traced(text, instrument, tmp_path, monkeypatch)
    known = {file.resolve() for file in opened.key.states} | {*opened.key.states}
    assert len(opened.present & known) >= 3, "strace sees the program and its libraries"
    folder = opened.folder
    unknown = [
        file
        for file in opened.present
        if file not in known
        and file.resolve() not in known
        and folder not in (file, file.parent)  # what it writes, and the folder itself
        and not is_known(file, NOT_IN_THE_KEY)
    ]
    assert unknown == []
    inputs = {name for name in opened.key.document["files"] if "/" not in name}  # type: ignore[attr-defined]
    assert {folder / name for name in inputs} <= opened.present, "and each input is read"


@pytest.mark.parametrize(("text", "instrument"), TARGETS[:1] + TARGETS[-3:])
def test_a_file_that_would_be_read_if_it_were_there_is_in_a_folder_of_the_key(
    text: str, instrument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it could appear unseen. Libraries: those that are found are in the key."""
    opened = traced(text, instrument, tmp_path, monkeypatch)
    folders = [file.parent for file in opened.key.states]
    unknown = [
        file
        for file in opened.missing
        if ".so" not in file.name
        and not any(file.is_relative_to(folder) for folder in folders)
        and not is_known(file, {**NOT_IN_THE_KEY, **ABSENT})
    ]
    assert unknown == []
