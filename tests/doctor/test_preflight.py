# SPDX-License-Identifier: Apache-2.0
"""The preflight: each finding's effect on figures, most important first, and its remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz import tools
from kadenz.cli.doctor import doctor
from kadenz.config import inventory, manifest
from kadenz.config.tuning import removes
from kadenz.host import clock as host_clock
from kadenz.host import facts, throttling
from kadenz.host.limits import Rights
from kadenz.host.preflight import _CHECKS
from kadenz.machine_files import MachineFiles
from kadenz.targets import checkup
from kadenz.targets.checkup import TargetCheck

from . import machine
from .machine import ALL_RIGHTS, CPU

Changes = dict[str, str | None]
CODES = {check.code for check in _CHECKS}
CLOCK = host_clock.check_clock(span_ns=1, readings=1000)


def findings(root: Path, changes: Changes) -> list[manifest.PreflightEntry]:
    entries = machine.host(root, changes).preflight
    return [entry for entry in entries if entry.verdict == "finding"]


def test_a_good_machine_has_no_finding_and_every_check_is_listed(tmp_path: Path) -> None:
    entries = machine.host(tmp_path, {"/sys/kernel/tracing/current_tracer": "nop"}).preflight
    assert {entry.code for entry in entries} == CODES
    assert {entry.verdict for entry in entries} == {"good"}


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"/proc/sys/kernel/timer_migration": "1"}, "timer-migration", "another processor"),
        (
            {
                "/proc/sys/kernel/numa_balancing": "1",
                "/sys/devices/system/node/node0/cpulist": "0-1",
                "/sys/devices/system/node/node1/cpulist": "2-3",
            },
            "numa-balancing",
            "2 memory nodes",
        ),
        (
            {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
            "huge-pages",
            "huge",
        ),
        ({"/sys/kernel/mm/ksm/run": "1"}, "page-merging", "KSM"),
        (
            {"/proc/sys/kernel/nmi_watchdog": "1", "/proc/sys/kernel/watchdog_thresh": "7"},
            "nmi-watchdog",
            "every 7 s",
        ),
        ({"/proc/sys/vm/stat_interval": "1"}, "stat-interval", "every second"),
        ({"/proc/lockdep": "x"}, "lock-checking", "CONFIG_LOCKDEP"),
        (
            {
                "/sys/kernel/tracing/current_tracer": "function",
                "/sys/kernel/tracing/tracing_on": "1",
            },
            "tracing",
            "`function`",
        ),
        ({f"{CPU}/isolated": ""}, "no-isolation", "no processor is isolated"),
        (
            {"/proc/irq/24/smp_affinity_list": "0-3", "/proc/irq/25/smp_affinity_list": "1"},
            "interrupts-everywhere",
            "1 of 2 interrupts",
        ),
        (
            {"/proc/77/stat": "77 (irqbalance) S 1 0 0 0 -1 0 " + "0 " * 30 + "0 0 0"},
            "irqbalance",
            "irqbalance is running",
        ),
        (
            {"/proc/77/stat": "77 (robot ctl) S 1 0 0 0 -1 0 " + "0 " * 30 + "95 1 0"},
            "rt-competitor",
            "robot ctl (77) at 95",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value and " " not in value else "",
)
def test_a_disturbance_is_named_with_its_effect_and_its_remedy(
    changes: Changes, code: str, message: str, tmp_path: Path
) -> None:
    (entry,) = findings(tmp_path, changes)
    assert entry.code == code
    assert message in entry.message
    assert entry.effect and entry.remedy


def test_kernel_threads_and_low_priorities_are_not_competitors(tmp_path: Path) -> None:
    low = "77 (x) S 1 0 0 0 -1 0 " + "0 " * 30 + "50 1 0"
    kernel = "18 (migration/0) S 2 0 0 0 -1 69238880 " + "0 " * 30 + "99 1 0"
    assert findings(tmp_path, {"/proc/77/stat": low, "/proc/18/stat": kernel}) == []


HOUSEKEEPING = "/sys/fs/cgroup/cpuset/kadenz-housekeeping/cpuset.cpus"


def program(number: int, cpus: str, flags: int = 0) -> Changes:
    stat = f"{number} (robot) S 1 0 0 0 -1 {flags} " + "0 " * 30 + "0 0 0"
    return {
        f"/proc/{number}/stat": stat,
        f"/proc/{number}/status": f"Name:\trobot\nCpus_allowed:\tf\nCpus_allowed_list:\t{cpus}\n",
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({HOUSEKEEPING: "0-2", f"{CPU}/isolated": "", **program(77, "0-2")}, ""),
        ({HOUSEKEEPING: "0-3", f"{CPU}/isolated": ""}, "no processor is isolated"),
        ({HOUSEKEEPING: "", f"{CPU}/isolated": ""}, "no processor is isolated"),
        ({HOUSEKEEPING: "0-1", f"{CPU}/isolated": "", **program(77, "0-2")}, "run on 2: robot"),
        ({**program(77, "3")}, "processors 3 are meant to be isolated"),
        ({**program(77, "0-3", flags=0x00200000)}, ""),  # a kernel thread
        ({f"{CPU}/isolated": "", "/sys/fs/cgroup/cpuset.cpus.isolated": "2-3"}, ""),
    ],
)
def test_isolation_is_checked_in_effect_and_not_as_configured(
    changes: Changes, message: str, tmp_path: Path
) -> None:
    messages = {entry.code: entry.message for entry in findings(tmp_path, changes)}
    assert message in messages.get("no-isolation", "") and bool(message) == (
        "no-isolation" in messages
    )


def test_findings_are_sorted_by_importance(tmp_path: Path) -> None:
    changes: Changes = {
        "/proc/sys/kernel/sched_rt_runtime_us": "950000",
        "/proc/sys/vm/stat_interval": "1",
        "/proc/cpuinfo": "model name\t: EPYC\nflags\t: fpu hypervisor\n",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "schedutil",
        "/proc/pressure/cpu": "some avg10=31.50 avg60=0.00 avg300=0.00 total=1",
    }
    entries = findings(tmp_path, changes)
    assert [entry.code for entry in entries] == [
        "competing-load",
        "governor",
        "virtual-machine",
        "stat-interval",
        "rt-throttling",
    ]
    assert [entry.invalidates for entry in entries[:3]] == [
        ["medians", "worst-cases"],
        ["medians"],
        ["worst-cases"],
    ]


def test_an_effect_contains_the_machines_own_number(tmp_path: Path) -> None:
    changes: Changes = {
        f"{CPU}/cpu0/cpuidle/state2/latency": "133",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "schedutil",
        f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": "4000000",
        f"{CPU}/cpu0/cpufreq/cpuinfo_min_freq": "800000",
    }
    files = machine.make(tmp_path, **changes)
    entries = {e.code: e for e in facts.read_host(files, Rights("", "", "EACCES")).preflight}
    assert "up to 133 us" in entries["idle-states"].effect
    assert "up to 5.0 times slower" in entries["governor"].effect


def test_profiles_that_remove_a_finding_are_named_smallest_first(tmp_path: Path) -> None:
    entries = {e.code: e for e in findings(tmp_path, {"/proc/sys/kernel/timer_migration": "1"})}
    assert entries["timer-migration"].tunings == ["quiet", "latency", "isolated"]
    lacking = {e.code: e for e in findings(tmp_path, {"/sys/kernel/realtime": None})}
    assert all("not-preempt-rt" not in entry.tunings for entry in lacking.values())


def test_profiles_only_claim_findings_of_the_preflight() -> None:
    for name in inventory.tuning_files():
        assert removes(inventory.read_tuning(name)[0]) <= CODES


def test_unreadable_values_are_unknown_not_good(tmp_path: Path) -> None:
    entries = {e.code: e for e in facts.read_host(MachineFiles(tmp_path), ALL_RIGHTS).preflight}
    for code in ("governor", "idle-states", "rt-throttling", "fair-server", "tracing"):
        assert entries[code].verdict == "unknown"
        assert entries[code].message


def test_the_throttling_of_real_time_threads_depends_on_the_kernel(tmp_path: Path) -> None:
    """Since 6.12 the limit has no effect without RT_GROUP_SCHED; a fair server replaces it."""
    codes = ("rt-throttling", "fair-server")
    release = {"/proc/sys/kernel/osrelease": "6.12.43-amd64"}
    limit = {"/proc/sys/kernel/sched_rt_runtime_us": "950000"}
    config = {"/boot/config-6.12.43-amd64": "# CONFIG_RT_GROUP_SCHED is not set"}
    server = {
        "/sys/kernel/debug/sched/fair_server/cpu0/runtime": "0",
        "/sys/kernel/debug/sched/fair_server/cpu0/period": "1000000000",
    }
    cases: list[tuple[Changes, tuple[str, str]]] = [
        ({}, ("good", "good")),  # 6.1 without a limit
        ({**limit}, ("finding", "good")),
        ({**release}, ("good", "unknown")),
        ({**release, **limit}, ("unknown", "unknown")),
        ({**release, **limit, **config}, ("good", "unknown")),
        ({**release, **limit, **config, **server}, ("good", "good")),
    ]
    for number, (changes, verdicts) in enumerate(cases):
        host = machine.host(tmp_path / str(number), changes)
        entries = {entry.code: entry.verdict for entry in host.preflight}
        assert tuple(entries[code] for code in codes) == verdicts, changes
    assert host.entry.facts["fair_server_ns"] == "0/1000000000"


def test_every_warning_of_the_machine_is_in_the_preflight() -> None:
    """Otherwise doctor would never report it."""
    import re

    source = Path(facts.__file__).read_text() + Path(throttling.__file__).read_text()
    assert set(re.findall(r'code="([a-z-]+)"', source)) <= CODES
    assert len({check.code for check in _CHECKS}) == len(_CHECKS)


def doctor_on(
    changes: Changes, arguments: list[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str]:
    host = machine.host(root, changes)
    monkeypatch.setattr(facts, "read_host", lambda: host)
    # Only the preflight: neither compilers nor half a second of clock checks.
    ready = TargetCheck("posix/linux@host", "this Linux", ("counter",), (), (), "")
    monkeypatch.setattr(checkup, "check_targets", lambda *arguments: [ready])
    clock = replace(CLOCK, problems=())
    monkeypatch.setattr(host_clock, "check_clock", lambda: clock)
    monkeypatch.setattr(tools, "NEEDS", ())
    answer = CliRunner().invoke(doctor, arguments)
    return answer.exit_code, answer.output


@pytest.mark.parametrize(
    ("changes", "claim", "code"),
    [
        ({}, "medians", 0),
        ({f"{CPU}/cpu1/cpufreq/scaling_governor": "schedutil"}, "medians", 1),
        ({f"{CPU}/cpu1/cpufreq/scaling_governor": "schedutil"}, "worst-cases", 0),
        ({f"{CPU}/cpu0/cpufreq/scaling_governor": None}, "medians", 4),
        ({"/proc/sys/kernel/sched_rt_runtime_us": "950000"}, "worst-cases", 0),
    ],
)
def test_a_claim_can_be_required(
    changes: Changes, claim: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: Changes = {"/sys/kernel/tracing/current_tracer": "nop", **changes}
    got, output = doctor_on(whole, ["--require", claim], tmp_path, monkeypatch)
    assert got == code, output
    assert doctor_on(whole, [], tmp_path / "plain", monkeypatch)[0] == 0


def test_doctor_reports_effect_and_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes: Changes = {f"{CPU}/cpu1/cpufreq/scaling_governor": "schedutil"}
    _, output = doctor_on(changes, [], tmp_path, monkeypatch)
    text = " ".join(output.split())
    assert "invalidates medians: medians depend on how busy the processor was before" in text
    assert "kadenz tune apply quiet | latency | isolated" in text
    assert "No effect on instruction counts" in text
    _, output = doctor_on(changes, ["--json"], tmp_path / "json", monkeypatch)
    entries = json.loads(output)["preflight"]
    assert entries[0]["code"] == "governor"
    assert entries[0]["tunings"] == ["quiet", "latency", "isolated"]
