# SPDX-License-Identifier: Apache-2.0
"""Manifests and records for tests of the store."""

from __future__ import annotations

from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    ClockEntry,
    HostEntry,
    LaneEntry,
    Manifest,
    ProofEntry,
    RecordEntry,
    TargetEntry,
)


def manifest(id: str = "20261121-120000-freertos-stm32f4") -> Manifest:
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version="0.1.0",
        id=id,
        created="2026-11-21T12:00:00+00:00",
        duration_s=0.0,
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(name="test", file="", sha256="", quick=False),
        target=TargetEntry(
            name="freertos/stm32f4@emulated",
            kernel="freertos",
            board="stm32f4",
            tier="emulated",
            instrument="counter",
            arch="armv7m",
            kernel_name="FreeRTOS",
            kernel_version="V11.2.0",
            capabilities=[],
            settings={},
            cores=1,
            tick_hz=1000,
        ),
        clock=ClockEntry(clock_class="instruction", name="tim2", hz=0, bits=32, unit="instruction"),
        build=None,
        host=HostEntry(os="", kernel="", preempt="", cpu="", cpus=1, virtual="", facts={}),
        emulator=None,
        conditions=[],
        warnings=[],
        records=[],
    )


def record(id: int = 10, planned: int = 1000, lanes: tuple[str, ...] = ("all",)) -> RecordEntry:
    return RecordEntry(
        id=id,
        bench="itc/queue",
        params={"size_bytes": 60},
        ranks={},
        begins="",
        ends="",
        source="",
        status="ok",
        reason="",
        unit="ticks",
        cold=0,
        drains=[],
        lanes=[
            LaneEntry(
                name=name,
                file="",
                dtype="<u4",
                planned=planned,
                taken=0,
                missed=0,
                overrun=0,
                not_measured=planned,
            )
            for name in lanes
        ],
        proof=ProofEntry(checked=planned, failed=0),
    )
