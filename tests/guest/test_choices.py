# SPDX-License-Identifier: Apache-2.0
"""Options of a guest, and the errors for unavailable ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.analysis.units import unit_of
from kadenz.config import inventory
from kadenz.config.campaign import GuestSettings
from kadenz.config.manifest import ClockEntry
from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import ToolMissing, UsageError
from kadenz.images.cpio import File, Node, archive
from kadenz.lab.clock import clock_class
from kadenz.lab.conditions.guest import GuestChoice, checked_disturbance, thread_rules
from kadenz.targets.checkup import check_targets
from kadenz.targets.guest import LOADS, modules_of

RT = parse_target("linux-rt/x86_64@guest")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with dummy kernels of x86_64 and no others."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for version in ("6.12", "6.1"):
        folder = tmp_path / "kadenz" / "guests" / "x86_64" / f"{version}-rt"
        folder.mkdir(parents=True)
        for name in ("kernel", "release", "origin", "disturbance.ko"):
            (folder / name).write_text(f"{version}.9-rt\n")
    return tmp_path


def test_three_isas_have_a_preempt_rt_and_a_plain_kernel() -> None:
    guests = {name for name in known_targets() if name.endswith("@guest")}
    assert guests == {
        f"{kernel}/{board}@guest"
        for kernel in ("linux", "linux-rt")
        for isa in ("x86_64", "aarch64", "riscv64")
        for board in (isa, f"indy7-{isa}", f"terminals-{isa}")
    }
    for name in guests:
        kernel = inventory.kernel(parse_target(name).kernel)
        isa = inventory.board(parse_target(name).board).arch
        assert kernel.guest is not None and kernel.guest.versions[isa]
        assert "interrupt" in kernel.lacks  # with its port


def test_a_missing_kernel_names_make_guest_kernels(cache: Path) -> None:
    with pytest.raises(ToolMissing, match="no plain kernel 6.12 for x86_64") as told:
        GuestChoice().variants(parse_target("linux/x86_64@guest"))
    assert "kadenz setup --guests" in told.value.remedy


def test_doctor_lists_guests_and_how_to_get_their_kernels(cache: Path) -> None:
    checks = {check.name: check for check in check_targets()}
    riscv64 = checks["linux-rt/riscv64@guest"]
    assert not riscv64.ready
    assert any("kadenz setup --guests" in missing.remedy for missing in riscv64.missing)
    x86_64 = checks["linux-rt/x86_64@guest"]
    assert "6.12.9-rt, 6.1.9-rt" in x86_64.note
    assert not any("kernel" in missing.problem for missing in x86_64.missing)


def test_versions_and_loads_are_variants_and_the_first_version_is_the_default(cache: Path) -> None:
    (only,) = GuestChoice().variants(RT)
    assert only is not None and (only.kernel.version, only.load) == ("6.12", "")
    wanted = GuestSettings(kernels=("6.12", "6.1"), loads=("none", "cpu"))
    variants = GuestChoice(wanted=wanted).variants(RT)
    assert [(g.kernel.version, g.load) for g in variants if g] == [
        ("6.12", "none"),
        ("6.12", "cpu"),
        ("6.1", "none"),
        ("6.1", "cpu"),
    ]
    (variant,) = GuestChoice(("6.1",), ("none",), wanted=wanted).variants(RT)
    assert variant is not None and variant.kernel.version == "6.1"


def test_the_studys_priorities_are_only_variants_of_preempt_rt(cache: Path) -> None:
    wanted = GuestSettings(tunings=("cereia2011-case1", "cereia2011-case2"))
    variants = [g for g in GuestChoice(wanted=wanted).variants(RT) if g]
    assert [g.labels[-1] for g in variants] == list(wanted.tunings)
    assert len({g.suffix for g in variants}) == len({g.labels for g in variants}) == 2
    plain = cache / "kadenz" / "guests" / "x86_64"
    (plain / "6.12-rt").rename(plain / "6.12-plain")
    (variant,) = GuestChoice(wanted=wanted).variants(parse_target("linux/x86_64@guest"))
    assert variant is not None and "tuning" not in [entry.kind for entry in variant.entries]


def test_a_later_rule_for_a_thread_is_applied_last() -> None:
    rules = thread_rules("cereia2011-case2")
    assert rules[0] == "irq/*:fifo:50" and rules[-1] == "ktimer*/*:fifo:51"
    assert rules[:-1] == thread_rules("cereia2011-case1")
    assert thread_rules("none") == ()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (GuestChoice(tunings=("isolated",)), "more than give kernel threads a policy"),
        (GuestChoice(tunings=("cereia2011-case3",)), "no tuning profile `cereia2011-case3`"),
        (GuestChoice(kernels=("5.10",)), "--guest kernel=5.10"),
        (GuestChoice(loads=("cpu+disk",)), "there is no `disk`"),
        (GuestChoice(disturbance="5us"), "expected BUSY/PERIOD"),
        (GuestChoice(disturbance="10us/10us"), "BUSY below PERIOD"),
        (GuestChoice(disturbance="timer:10us/10us"), "timer:BUSY/PERIOD"),
        (GuestChoice(disturbance="thread:5us/10us"), "expected BUSY/PERIOD"),
        (GuestChoice(disturbance=":5us/10us"), "expected BUSY/PERIOD"),
    ],
)
def test_a_missing_option_of_a_guest_is_a_usage_error(
    cache: Path, choice: GuestChoice, message: str
) -> None:
    with pytest.raises(UsageError, match=message.replace("+", r"\+")) as told:
        choice.variants(RT)
    assert told.value.remedy


def test_a_disturbance_is_by_a_thread_or_by_a_timer() -> None:
    assert checked_disturbance("50us/1001us") == "period_us=1001,busy_us=50"
    assert checked_disturbance("timer:1200us/1s") == "period_us=1000000,busy_us=1200,timer=1"


def test_every_module_that_a_board_or_a_load_names_comes_with_the_kernels() -> None:
    lines = (inventory.root() / "kernels/linux/guest/modules").read_text().splitlines()
    fetched = {line.split()[0] for line in lines if not line.startswith("#")}
    guests = [inventory.board(parse_target(name).board).tier.guest for name in known_targets()]
    programs = [guest.program for guest in guests if guest is not None]
    named = [modules_of(program, "+".join(LOADS)) for program in programs]
    assert set().union(*named) == fetched


def test_a_guest_counts_instructions_and_never_claims_a_time() -> None:
    assert clock_class("guest", "") == clock_class("guest", "kvm") == "instruction"
    clock = ClockEntry(
        clock_class="instruction", name="clock_monotonic", hz=0, bits=64, unit="virtual ns"
    )
    unit = unit_of("ticks", clock)
    assert unit.label == "virtual ns" and not unit.is_time and unit.clock_class == "instruction"


def test_an_archive_contains_its_files_and_no_trace_of_this_machine() -> None:
    cpio = archive({"dev": None, "dev/console": Node(5, 1), "init": File(b"abcde", 0o755)})
    assert cpio == archive({"dev": None, "dev/console": Node(5, 1), "init": File(b"abcde", 0o755)})
    assert _read(cpio) == {
        "dev": (0o040755, b""),
        "dev/console": (0o020600, b""),
        "init": (0o100755, b"abcde"),
    }


def _read(cpio: bytes) -> dict[str, tuple[int, bytes]]:
    """Reads `newc` like the kernel (init/initramfs.c): fields of 8 digits, parts of 4 bytes."""
    entries: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert at % 4 == 0 and cpio[at : at + 6] == b"070701"
        fields = [int(cpio[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        mode, size, name_size, time = fields[1], fields[6], fields[11], fields[5]
        assert time == 0 and fields[2] == fields[3] == 0
        name = cpio[at + 110 : at + 110 + name_size - 1].decode()
        at += (110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            return entries
        entries[name] = (mode, cpio[at : at + size])
        at += (size + 3) // 4 * 4
