# SPDX-License-Identifier: Apache-2.0
"""The user's own bus through the lab: a network interface and a layout, not the built-in ring.

Behind the interface, at the other end of a virtual cable, the test runs a simulated segment in its
own process: real in every part except the drives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.store import Run
from tests.e2e.conftest import kadenz, runs_in
from tests.e2e.segment import LAYOUTS, built_segment, cable, ip, segment
from tests.e2e.test_motion import AXES, INDY7, kept_time, measured


@pytest.fixture(scope="module")
def program() -> Path:
    return built_segment()


@pytest.fixture
def ends() -> Iterator[tuple[str, str]]:
    """The card's end and the ring's."""
    with cable() as both:
        yield both


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """Half of the built-in motion: from 0 to 45 degrees."""
    text = (LAYOUTS / "indy7.toml").read_text()
    file = tmp_path / "my-robot.toml"
    file.write_text(text.replace("high_deg = 90.0", "high_deg = 45.0"))
    assert file.read_text() != text
    return file


def told(run: Run) -> dict[str, str]:
    """A run's record of its bus; a condition names each option, and nothing else."""
    stated = run.manifest.condition_values
    settings = run.manifest.target.settings
    assert ("interface" in stated) == settings["transport"].startswith("virtual interface")
    assert ("layout" in stated) == ("layout_sha256" in settings)
    return {key: settings.get(key, "") for key in ("transport", "layout", "layout_sha256")}


@pytest.mark.machine
def test_the_motion_runs_on_the_users_card_and_layout(
    tmp_path: Path, program: Path, ends: tuple[str, str], layout: Path
) -> None:
    card, ring = ends
    bus = ("--bus", f"interface={card},layout={layout}")
    with segment(program, ring):
        run, _ = measured(tmp_path, *bus)
    settings = run.manifest.target.settings
    digest = hashlib.sha256(layout.read_bytes()).hexdigest()
    assert told(run) == {
        "transport": f"virtual interface {card}",
        "layout": "my-robot.toml",
        "layout_sha256": digest,
    }
    assert settings["scheduling"].startswith("SCHED_FIFO"), settings
    records = run.manifest.records
    assert all(record.status == "ok" for record in records), [r.reason for r in records]
    joints = [r.params["joint"] for r in records if r.bench == "motion/position-error"]
    assert sorted(joints) == list(range(AXES))
    page = tmp_path / "report.html"
    answer = kadenz("report", run.path, "--output", page)
    assert answer.returncode == 0, answer.stderr
    text = page.read_text()
    assert f"Neuromeka Indy7 over EtherCAT (virtual interface {card}, my-robot.toml)" in text
    assert digest in text and "simulated ring" not in text
    shown = " ".join(kadenz("show", run.path).stdout.split())
    assert f"(virtual interface {card}, my-robot.toml)" in shown


@pytest.mark.machine
def test_the_edges_come_from_the_users_card(
    tmp_path: Path, program: Path, ends: tuple[str, str]
) -> None:
    card, ring = ends
    with segment(program, ring):
        answer = kadenz(
            *("run", "cereia2011", "--quick", "--load", "none", "--output", tmp_path),
            *("--bus", f"interface={card}"),
        )
    kept_time(answer)
    run = runs_in(tmp_path)[INDY7]
    assert told(run) == {
        "transport": f"virtual interface {card}",
        "layout": "indy7 (built in)",
        "layout_sha256": "",
    }
    (record,) = [r for r in run.manifest.records if r.bench == "ethercat/edge-jitter"]
    assert record.status == "ok", record.reason
    assert sum(lane.taken for lane in record.series) > 2500


@pytest.mark.machine
def test_without_options_the_run_records_a_simulated_ring(tmp_path: Path) -> None:
    work = ("run", "motion/frame-time", "--target", INDY7, "--set", "samples=2000")
    kadenz(*work, "--output", tmp_path)  # recorded even if the machine stopped the run
    bus = told(runs_in(tmp_path)[INDY7])
    assert bus["transport"].startswith("simulated ring, behind a pair of virtual interfaces")
    assert (bus["layout"], bus["layout_sha256"]) == ("indy7 (built in)", "")


@pytest.mark.machine
def test_a_card_that_is_down_is_refused_before_anything_is_measured(
    tmp_path: Path, ends: tuple[str, str]
) -> None:
    card, ring = ends
    for end, problem in ((card, "the interface is down"), (ring, "the interface has no link")):
        ip("link", "set", card, "down")
        answer = kadenz("run", "motion", "--bus", f"interface={end}", "--output", tmp_path / "runs")
        assert answer.returncode == 1 and answer.stdout == "", answer.stderr
        assert f"--bus interface={end}: {problem}" in answer.stderr and "try:" in answer.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.machine
def test_an_inconsistent_layout_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    text = (LAYOUTS / "indy7.toml").read_text()
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("velocity_deg_s = 60.0", "velocity_deg_s = -1.0", 1))
    answer = kadenz("run", "motion", "--bus", f"layout={file}", "--output", tmp_path / "runs")
    assert answer.returncode == 2 and answer.stdout == "", answer.stderr
    assert f"--bus layout={file}: the target does not accept this layout" in answer.stderr
    assert "velocity_deg_s of axis `joint 0` is -1" in answer.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.machine
def test_a_card_without_devices_is_reported_with_a_remedy(
    tmp_path: Path, ends: tuple[str, str]
) -> None:
    answer = kadenz(
        *("run", "motion", "--quick", "--output", tmp_path, "--bus", f"interface={ends[0]}")
    )
    assert answer.returncode == 1, answer.stderr
    assert "no answer" in answer.stderr and "cable" in answer.stderr
    assert told(runs_in(tmp_path)[INDY7])["transport"] == f"virtual interface {ends[0]}"


@pytest.mark.machine
def test_a_drives_fault_is_an_event_of_the_run(tmp_path: Path, program: Path) -> None:
    saw, did = "drive of axis 2 reports fault 0x8110 (communication)", "power off"
    fault = ("--fault", "drive-fault@cycle=2000,device=joint-2,code=0x8110")
    with cable() as (card, ring), segment(program, ring, *fault):
        answer = kadenz(
            "run", "motion", "--quick", "--output", tmp_path, "--bus", f"interface={card}"
        )
    assert answer.returncode == 1, answer.stderr
    run = runs_in(tmp_path)[INDY7]
    events = {event.text: event for event in run.manifest.events}
    # a pause may stop the drives before the fault does
    assert saw in events, (list(events), answer.stderr)
    assert (events[saw].reaction, events[saw].count) == (did, 1)
    shown = " ".join(answer.stdout.split())
    assert f"event {saw}: {did}; once, in cycle {events[saw].first_cycle}" in shown
    assert not any(saw in warning.message for warning in run.manifest.warnings)
    page = tmp_path / "report.html"
    assert kadenz("report", run.path, "--output", page).returncode == 0
    assert saw in page.read_text()
