# SPDX-License-Identifier: Apache-2.0
"""Real emulators and simulated cores: equal executions are one value, and every change misses."""

from __future__ import annotations

import shutil
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kadenz import tools
from kadenz.config.target_name import TargetName, parse_target
from kadenz.elf import Elf
from kadenz.images.image import Image
from kadenz.lab.condition import Setup
from kadenz.lab.execution import default_setup, image_of, make_target
from kadenz.lab.plan import Point, plan_text
from kadenz.targets import counted, process, scope_plugin
from kadenz.targets.base import die_with_parent
from kadenz.targets.counted import CountedProcess
from kadenz.targets.qemu import QemuTarget
from kadenz.values import keeper as keepers
from kadenz.values import program as programs
from kadenz.values.environment import counted_environment
from kadenz.values.keeper import Keeper
from kadenz.values.key import Command, key_of
from kadenz.values.store import Store

from .traced import PLAN, execute

STM32F4 = parse_target("freertos/stm32f4@emulated")
IBEX = parse_target("freertos/ibex@rtl")
FAULTS = Path(__file__).parents[1] / "e2e" / "targets" / "faults.c"

pytestmark = pytest.mark.counted


@dataclass
class Bench:
    """A target that is executed with a store of its own."""

    name: TargetName
    instrument: str
    image: Image
    setup: Setup
    store: Store
    executed: int = 0

    def target(self) -> CountedProcess:
        target = make_target(self.name, self.instrument, self.image, self.setup)
        assert isinstance(target, CountedProcess)
        target.keeper = Keeper(str(self.name), store=self.store)
        return target

    def key(self, plan: str = PLAN) -> str:
        """The key of an execution, which does not begin."""
        target: Any = self.target()
        target.keeper = Asking()
        with pytest.raises(AskedError) as asked:
            target.open(plan)
        target.keeper = None
        target.close()
        return asked.value.key


class AskedError(Exception):
    """An execution that is about to begin."""

    def __init__(self, key: str) -> None:
        self.key = key


class Asking(Keeper):
    """Only asks for the key."""

    def __init__(self) -> None:
        super().__init__("asking", store=Store(Path("/nonexistent")))

    def take(self, command: Command | None) -> bool:
        assert command is not None
        raise AskedError(key_of(command).digest)


def bench(name: TargetName, instrument: str, folder: Path, *extra: Path) -> Bench:
    setup = default_setup(name)
    return Bench(name, instrument, image_of(name, instrument, setup, extra), setup, Store(folder))


@pytest.fixture(autouse=True)
def _no_spot_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: False)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that were started."""
    names: list[str] = []
    real = counted._started

    def start(really: programs.Program, how: counted.Start) -> counted.Process:
        names.append(really.path.name)
        return real(really, how)

    monkeypatch.setattr(counted, "_started", start)
    return names


def frames(target: Any) -> bytes:
    """What a target sends; it is executed to its end."""
    read, all_bytes = target.read, bytearray()

    def kept(timeout_s: float) -> bytes | None:
        data: bytes | None = read(timeout_s)
        all_bytes.extend(data or b"")
        return data

    target.read = kept
    outcome = execute(target)
    assert outcome.failure is None, outcome.failure
    return bytes(all_bytes)


@pytest.mark.parametrize(
    ("name", "instrument"),
    [
        (STM32F4, "counter"),
        (STM32F4, "scope"),
        (STM32F4, "model"),
        (IBEX, "counter"),
        (IBEX, "scope"),
    ],
)
def test_the_second_execution_starts_no_process_and_sends_the_same_bytes(
    name: TargetName, instrument: str, tmp_path: Path, started: list[str]
) -> None:
    of = bench(name, instrument, tmp_path / "store")
    targets = [of.target(), of.target()]
    first, second = (frames(target) for target in targets)
    assert first == second and len(first) > 500
    assert len(started) == 1
    values = [target.value for target in targets]
    assert [value is not None and value.stored for value in values] == [False, True]
    if instrument != "counter":
        measured: list[Any] = [*targets]
        spans = [target.records[1].spans.tolist() for target in measured]
        assert spans[0] == spans[1] and len(spans[0]) == 20


def test_a_value_has_the_bytes_of_a_process_without_the_store(tmp_path: Path) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    assert frames(of.target()) == frames(of.target())
    without = of.target()
    without.keeper = None
    assert frames(of.target()) == frames(without)


@pytest.mark.parametrize(
    ("fault", "kept"),
    [("good", True), *((f, False) for f in ("no-proof", "wrong-proof", "assert", "hang"))],
)
def test_an_execution_that_fails_hangs_or_has_an_invalid_record_is_not_kept(
    fault: str, kept: bool, tmp_path: Path
) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store", FAULTS)
    target: Any = of.target()
    outcome = execute(target, plan_text([Point(0, f"fault/{fault}", 20)]), silence_s=4.0)
    assert (outcome.failure is not None) == (fault in ("assert", "hang"))
    assert len(list(of.store.entries())) == kept


def test_an_execution_that_is_stopped_or_closed_early_is_not_kept(tmp_path: Path) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    target: Any = of.target()
    target.open(PLAN)
    target.close()
    stop = threading.Event()
    stop.set()
    stopped: Any = of.target()
    stopped.read = lambda timeout_s: b""  # the stop comes first, however fast the target is
    assert execute(stopped, stop=stop).stopped
    assert list(of.store.entries()) == []


def test_this_machine_and_images_of_other_builds_have_no_value(tmp_path: Path) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    host = make_target(parse_target("posix/linux@host"), "counter", of.image, Setup())
    assert isinstance(host, process.ProcessTarget)
    assert not isinstance(host, CountedProcess)
    given = Setup(image=of.image.elf.path)
    name = parse_target("stm32f4@emulated")
    target = make_target(name, "counter", image_of(name, "counter", given), given)
    assert isinstance(target, QemuTarget) and target.keeper is None


# ---- ten mutations, each of an input of a real execution -----------------------------------------


def copied_image(of: Bench, folder: Path) -> None:
    """A byte at the end of the ELF file, which no section has."""
    file = folder / "image.elf"
    file.write_bytes(of.image.elf.path.read_bytes() + b"\0")
    elf = Elf(file)
    entry = structs.replace(of.image.entry, elf_sha256=elf.sha256)
    of.image = replace(of.image, elf=elf, entry=entry)


def wrapper(folder: Path, real: programs.Program, roms: Path, around: str = "") -> None:
    """A QEMU in PATH: a script, as the one that `kadenz setup` writes."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    script = bin_folder / "qemu-system-arm"
    lines = [f'export {name}="{value}"' for name, value in real.environment.items()]
    script.write_text(
        "\n".join(["#!/bin/sh", *lines, around, f'exec "{real.path}" -L "{roms}" "$@"', ""])
    )
    script.chmod(0o755)


@pytest.fixture
def real() -> programs.Program:
    emulator = programs.emulator(
        tools.require("qemu-system-arm"), counted_environment(), die_with_parent
    )
    assert emulator is not None
    return emulator


def test_a_byte_of_the_image_misses(tmp_path: Path) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    before = of.key()
    assert of.key() == before
    copied_image(of, tmp_path)
    assert of.key() != before


def test_a_word_of_the_plan_misses(tmp_path: Path) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    assert of.key() != of.key(PLAN.replace("20", "21"))


def test_a_byte_of_the_plugin_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = bench(STM32F4, "scope", tmp_path / "store")
    before = of.key()
    library = scope_plugin.build

    def changed(*arguments: Any, **named: Any) -> Path:
        copy = tmp_path / "libkadenz-scope.so"
        copy.write_bytes(library(*arguments, **named).read_bytes() + b"\0")
        return copy

    monkeypatch.setattr(scope_plugin, "build", changed)
    assert of.key() != before


def test_another_instrument_misses(tmp_path: Path) -> None:
    keys = {
        bench(STM32F4, instrument, tmp_path).key() for instrument in ("counter", "scope", "model")
    }
    assert len(keys) == 3


def test_another_build_of_qemu_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: programs.Program
) -> None:
    """Equal but for a byte that it never reads, and found through a wrapper."""
    of = bench(STM32F4, "counter", tmp_path / "store")
    roms = Path(real.arguments[1]) if real.arguments else tmp_path
    copy = tmp_path / "qemu"
    copy.write_bytes(real.path.read_bytes())
    copy.chmod(0o755)
    wrapper(tmp_path, replace(real, path=copy), roms)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    before = of.key()
    assert of.key() == before
    with copy.open("ab") as file:
        file.write(b"\0")
    assert of.key() != before


@pytest.mark.parametrize("change", ["a byte", "a new file"])
def test_a_rom_of_qemu_misses(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: programs.Program
) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    roms = tmp_path / "roms"
    roms.mkdir()
    (roms / "bios.bin").write_bytes(b"\x55\xaa" * 64)
    wrapper(tmp_path, real, roms)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    before = of.key()
    if change == "a byte":
        (roms / "bios.bin").write_bytes(b"\x55\xab" * 64)
    else:
        (roms / "vgabios.bin").write_bytes(b"\x55\xaa" * 64)
    assert of.key() != before


def test_a_variable_that_qemu_reads_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    before = of.key()
    monkeypatch.setenv("QEMU_AUDIO_TIMER_PERIOD", "100")
    assert of.key() != before


@pytest.mark.parametrize("variable", ["G_SLICE", "TMPDIR", "MALLOC_PERTURB_", "LANG", "TZ"])
def test_any_other_variable_does_not_reach_qemu(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    before = of.key()
    monkeypatch.setenv(variable, str(tmp_path))
    assert of.key() == before


def test_a_variable_that_the_wrapper_sets_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: programs.Program
) -> None:
    of = bench(STM32F4, "counter", tmp_path / "store")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    keys = []
    for period in ("1", "2"):
        wrapper(tmp_path, real, tmp_path, f"export QEMU_AUDIO_TIMER_PERIOD={period}")
        keys.append(of.key())
        shutil.rmtree(tmp_path / "bin")
    assert keys[0] != keys[1]


def test_a_wait_state_misses(tmp_path: Path) -> None:
    of = bench(IBEX, "counter", tmp_path / "store")
    before = of.key()
    of.setup = replace(of.setup, wait_states={"flash": 3, "ram": 3})
    assert of.key() != before


def test_a_byte_of_the_compiled_core_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = bench(IBEX, "counter", tmp_path / "store")
    before = of.key()
    target: Any = of.target()
    core = tmp_path / "bench"
    core.write_bytes(target._core.program.read_bytes() + b"\0")
    core.chmod(0o755)
    monkeypatch.setattr(
        "kadenz.targets.rtl.rtl_core.build", lambda name: replace(target._core, program=core)
    )
    assert of.key() != before


def test_another_folder_of_the_lab_is_the_same_execution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image is named by no path, and neither is the folder of the execution."""
    of = bench(STM32F4, "scope", tmp_path / "store")
    before = of.key()
    elf = tmp_path / "elsewhere.elf"
    shutil.copyfile(of.image.elf.path, elf)
    of.image = replace(of.image, elf=Elf(elf))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert of.key() == before


def test_a_file_that_a_boards_arguments_name_is_in_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a path from the folder in which kadenz was called: QEMU works in another one."""
    of = bench(STM32F4, "counter", tmp_path / "store")
    (tmp_path / "disks").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disks" / "one.img").write_bytes(b"1" * 512)
    target: Any = of.target()
    arguments = (*target._tier.arguments, "-drive", "if=none,file=disks/one.img,format=raw")
    tier = replace_arguments(target._tier, arguments)
    keys = []
    for content in (b"1", b"2"):
        (tmp_path / "disks" / "one.img").write_bytes(content * 512)
        target = QemuTarget(tier, of.image.elf)
        target.keeper = Asking()
        with pytest.raises(AskedError) as asked:
            target.open(PLAN)
        keys.append(asked.value.key)
        assert str(tmp_path / "disks" / "one.img") in " ".join(target._command(Path()))
        target.close()
    assert keys[0] != keys[1]


def replace_arguments(tier: Any, arguments: tuple[str, ...]) -> Any:
    return structs.replace(tier, arguments=arguments)
