# SPDX-License-Identifier: Apache-2.0
"""The plan of a profile on a machine: changes, values already set, missing features."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.config.toml import parse_toml
from kadenz.config.tuning import InterruptRule, Tuning, removes
from kadenz.errors import ConfigError, UsageError
from kadenz.tuning import lifecycle
from kadenz.tuning.machine import CPU, parse_mask, show_mask
from kadenz.tuning.plan import Item, Plan, make_plan

from . import machine as machines
from .machine import FileMachine


def plan_of(machine: FileMachine, name: str, cpus: str = "") -> Plan:
    tuning, _ = inventory.read_tuning(name)
    return make_plan(machine, name, tuning, cpus)


def item_of(plan: Plan, key: str) -> Item:
    (item,) = [item for item in plan.items if item.key == key]
    return item


def values(item: Item) -> dict[str, tuple[str, str]]:
    return {change.what: (change.was, change.value) for change in item.changes}


@pytest.mark.parametrize("name", sorted(inventory.tuning_files()))
def test_every_profile_explains_all_its_changes_and_makes_none(name: str, tmp_path: Path) -> None:
    machine = machines.make(tmp_path)
    before = machine.snapshot()
    plan = plan_of(machine, name)
    assert plan.items
    assert plan.changes()
    for item in plan.items:
        assert item.effect and item.risk
        assert bool(item.missing) != bool(item.changes or item.as_wanted)
    assert machine.snapshot() == before
    assert machine.writes == 0


def test_each_change_shows_the_old_and_the_new_value(tmp_path: Path) -> None:
    plan = plan_of(machines.make(tmp_path), "latency")
    runtime = "/proc/sys/kernel/sched_rt_runtime_us"
    assert values(item_of(plan, "scheduler.rt_runtime_us")) == {runtime: ("950000", "-1")}
    huge = "/sys/kernel/mm/transparent_hugepage/enabled"
    assert values(item_of(plan, "memory.transparent_hugepages")) == {huge: ("always", "never")}
    assert item_of(plan, "scheduler.numa_balancing").as_wanted
    idle = f"{CPU}/cpu0/cpuidle/state2/disable (C6, 133 us)"
    assert values(item_of(plan, "processor.idle_above_us")) == {idle: ("0", "1")}
    assert len(item_of(plan, "processor.governor").changes) == 2
    last = [item.key for item in plan.items[-2:]]
    assert last == ["scheduler.rt_runtime_us", "scheduler.fair_server_runtime_ns"]


def test_the_fair_server_is_switched_off_last_and_restored_first(
    tmp_path: Path,
) -> None:
    folder = "/sys/kernel/debug/sched/fair_server"
    paths = [f"{folder}/cpu{cpu}/runtime" for cpu in (0, 1)]
    changes: dict[str, str | None] = dict.fromkeys(paths, "50000000")
    machine = machines.make(tmp_path / "m", changes)
    before, plan = machine.snapshot(), plan_of(machine, "latency")
    item = item_of(plan, "scheduler.fair_server_runtime_ns")
    assert values(item) == dict.fromkeys(paths, ("50000000", "0"))
    assert [change.path for change in plan.changes()[-2:]] == paths
    lifecycle.apply(machine, plan, folder=tmp_path / "state")
    assert [machine.read(path) for path in paths] == ["0", "0"]
    taken = lifecycle.restore(machine, folder=tmp_path / "state")
    assert [value.change.path for value in taken[:2]] == paths[::-1]
    assert machine.snapshot() == before
    lacking = plan_of(machines.make(tmp_path / "old"), "latency")
    assert "before 6.12" in item_of(lacking, "scheduler.fair_server_runtime_ns").missing


def test_missing_features_are_named(tmp_path: Path) -> None:
    lacking: dict[str, str | None] = dict.fromkeys(
        [p for p in machines.FILES if "cpufreq" in p or "cpuidle" in p or "ksm" in p]
    )
    plan = plan_of(machines.make(tmp_path, lacking, cgroups=0), "isolated")
    assert "cpufreq/policy*" in item_of(plan, "processor.governor").missing
    assert "no cpuidle" in item_of(plan, "processor.idle_above_us").missing
    assert item_of(plan, "memory.same_page_merging").missing == "no /sys/kernel/mm/ksm/run"
    assert "no cpuset controller" in item_of(plan, "placement.user_tasks").missing
    assert "no kernel thread `rcub/*`" in item_of(plan, "thread rcub/*").missing


def test_a_governor_the_driver_lacks_is_named(tmp_path: Path) -> None:
    offers: dict[str, str | None] = {
        f"{CPU}/cpufreq/policy{n}/scaling_available_governors": "powersave" for n in (0, 3)
    }
    plan = plan_of(machines.make(tmp_path, offers), "quiet")
    assert item_of(plan, "processor.governor").missing == "the driver offers powersave"


def test_everything_movable_leaves_the_real_time_processors(tmp_path: Path) -> None:
    plan = plan_of(machines.make(tmp_path), "isolated")
    assert plan.realtime == {3} and plan.housekeeping == {0, 1, 2}
    assert values(item_of(plan, "placement.interrupts")) == {
        "/proc/irq/24/smp_affinity_list (eth0)": ("0-3", "0-2"),
        "/proc/irq/25/smp_affinity_list (nvme0q1)": ("3", "0-2"),
    }
    threads = {change.name for change in item_of(plan, "placement.kernel_threads").changes}
    assert threads == {"kthreadd", "kswapd0", "rcu_preempt"}
    masks = item_of(plan, "placement.workqueues").changes
    assert [change.value for change in masks] == ["7", "7"]
    moved = item_of(plan, "placement.user_tasks").changes
    assert [c.name for c in moved if c.kind == "move"] == ["init", "sshd", "bash"]
    narrowed = [(c.path, c.was, c.value) for c in moved if c.kind == "group-cpus"]
    # The deeper group first: version 1 refuses a group with more processors than its parent.
    assert narrowed == [
        (f"{machines.V1}/shop/inner/cpuset.cpus", "3", "0-2"),
        (f"{machines.V1}/shop/cpuset.cpus", "2-3", "2"),
    ]


def test_unified_control_groups_are_narrowed_by_slice(tmp_path: Path) -> None:
    moved = item_of(plan_of(machines.make(tmp_path, cgroups=2), "isolated"), "placement.user_tasks")
    assert [(c.kind, c.value) for c in moved.changes[:3]] == [
        ("controller", "+cpuset"),
        ("group-cpus", "0-2"),
        ("group", "0-2;"),
    ]


def test_other_real_time_processors_can_be_chosen(tmp_path: Path) -> None:
    machine = machines.make(tmp_path)
    assert plan_of(machine, "isolated", "1-2").housekeeping == {0, 3}
    for wrong, message in (
        ("4", "not on this machine"),
        ("0-3", "no processor is left"),
        ("a", "list"),
    ):
        with pytest.raises(ConfigError, match=message):
            plan_of(machine, "isolated", wrong)


def test_a_single_processor_cannot_be_isolated(tmp_path: Path) -> None:
    plan = plan_of(machines.make(tmp_path, {f"{CPU}/online": "0"}), "isolated")
    assert item_of(plan, "placement.interrupts").missing.startswith("only one processor")


def test_irqbalance_is_reported_because_it_would_undo_the_placement(tmp_path: Path) -> None:
    machine = machines.make(tmp_path)
    machines.add_task(machine, 200, "irqbalance", 0, "other:0", "0-3")
    machine.path("/proc/200/cgroup").write_text("3:cpuset:/shop\n")
    assert "irqbalance" in item_of(plan_of(machine, "isolated"), "placement.interrupts").note


def test_the_cases_of_cereia2011_only_differ_in_the_timer_thread(tmp_path: Path) -> None:
    machine = machines.make(tmp_path)

    def priorities(name: str) -> dict[str, str]:
        return {change.name: change.value for change in plan_of(machine, name).changes()}

    first, second = priorities("cereia2011-case1"), priorities("cereia2011-case2")
    assert first["ktimers/0"] == "fifo:50"
    assert second["ktimers/0"] == second["ktimers/3"] == "fifo:51"
    assert set(first) == set(second)
    assert {name for name in first if first[name] != second[name]} == {"ktimers/0", "ktimers/3"}
    assert first["irq/25-nvme0q1"] == "fifo:50"
    assert "irq/24-eth0" not in first  # it already has 50


def test_case_2_reports_a_kernel_without_its_thread(tmp_path: Path) -> None:
    machine = machines.make(tmp_path)
    for tid in (16, 17):
        for name in ("stat", "comm"):
            machine.path(f"/proc/{tid}/{name}").unlink()
    items = [i for i in plan_of(machine, "cereia2011-case2").items if "ktimer" in i.key]
    assert all("sirq_" in item.missing for item in items)
    assert "case 2 equals case 1" in items[-1].missing


def test_a_later_rule_overrides_an_earlier_one() -> None:
    tuning, _ = inventory.read_tuning("cereia2011-case2")
    assert [rule.priority for rule in tuning.thread if rule.match == "ktimer*/*"] == [50, 51]


def test_an_unknown_key_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(
        ConfigError, match=r"p\.toml:3: unknown key `scheduler\.rt_runtime`"
    ) as wrong:
        parse_toml('title = "x"\n[scheduler]\nrt_runtime = 1\n', Tuning, "p.toml")
    assert "rt_runtime_us" in wrong.value.remedy


def lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of tunings of a new lab."""
    tunings = folder / "tunings"
    tunings.mkdir(parents=True)
    (folder / "kadenz.toml").write_text("")
    monkeypatch.setenv("KADENZ_LAB", str(folder))
    return tunings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "x"\n[[thread]]\nmatch = "a"\npolicy = "fifo"', "needs a `priority`"),
        ('title = "x"\n[[thread]]\nmatch = "a"\npriority = 3', "needs `policy"),
        ('title = "x"\n[[thread]]\nmatch = "a"', "neither"),
        ('title = "x"\nbased_on = "own"', "based on itself"),
        ('title = "x"\nbased_on = "nothing"', "no profile"),
    ],
)
def test_an_inconsistent_profile_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunings = lab(tmp_path, monkeypatch)
    (tunings / "own.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        inventory.read_tuning("own")


def test_a_profile_of_the_lab_can_be_based_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunings = lab(tmp_path / "lab", monkeypatch)
    (tunings / "mine.toml").write_text(
        'title = "mine"\nbased_on = "latency"\n[memory]\nswappiness = 1\n'
        '[[interrupt]]\nmatch = "eth*"\ncpus = "3"\n'
    )
    plan = plan_of(machines.make(tmp_path / "machine"), "mine")
    assert item_of(plan, "memory.swappiness").wanted == "1"
    assert item_of(plan, "scheduler.rt_runtime_us").wanted == "-1"
    assert [c.value for c in item_of(plan, "interrupt eth*").changes] == ["3"]


def test_a_rule_for_one_interrupt_overrides_the_placement_of_all(tmp_path: Path) -> None:
    tuning, _ = inventory.read_tuning("isolated")
    overriding = Tuning(title="own", interrupt=(InterruptRule(match="eth*", cpus="realtime"),))
    plan = make_plan(machines.make(tmp_path), "own", overriding.over(tuning))
    assert [c.name for c in item_of(plan, "placement.interrupts").changes] == ["nvme0q1"]
    assert [c.value for c in item_of(plan, "interrupt eth*").changes] == ["3"]


def test_an_unknown_profile_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no tuning profile `isolatd`") as wrong:
        inventory.read_tuning("isolatd")
    assert "isolated" in wrong.value.remedy


def test_the_findings_removed_by_each_profile_are_listed() -> None:
    assert removes(inventory.read_tuning("latency")[0]) >= {
        "rt-throttling",
        "fair-server",
        "governor",
        "huge-pages",
    }
    assert "rt-throttling" not in removes(inventory.read_tuning("quiet")[0])
    assert removes(inventory.read_tuning("cereia2011-case1")[0]) == set()


@pytest.mark.parametrize("text", ["0", "0-2", "0,2-3", "0-1,31-33,64"])
def test_lists_and_masks_of_processors_are_equivalent(text: str) -> None:
    cpus = parse_cpus(text)
    assert show_cpus(cpus) == text
    assert parse_mask(show_mask(cpus)) == cpus


def test_masks_are_written_in_groups_of_32() -> None:
    assert show_mask(frozenset({0, 1})) == "3"
    assert show_mask(frozenset({32})) == "00000001,00000000"
    assert show_mask(frozenset()) == "0"
