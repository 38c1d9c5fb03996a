# SPDX-License-Identifier: Apache-2.0
"""Records of a run that was read: "ok" only if proof and accounting bear it out.

The lab judges a record where its frames come in (`wire.records`). A run of others, or of an older
kadenz, is judged here, once; from then on its status alone decides.
"""

from __future__ import annotations

from kadenz.config.manifest import Manifest, RecordEntry


def accept(manifest: Manifest) -> None:
    """Makes a record `invalid`, with the reason, whose status says ok and whose counts do not."""
    for record in manifest.records:
        objection = _objection(record) if record.status == "ok" else ""
        if objection:
            record.status, record.reason = "invalid", objection


def _objection(record: RecordEntry) -> str:
    if record.proof.failed:
        return (
            f"proof failed for {record.proof.failed:,} of {record.proof.checked:,} checks: "
            f"{record.proof.reason or 'no reason given'}"
        )
    for lane in record.series:
        if lane.planned != lane.taken + lane.missed + lane.not_measured:
            return (
                f"lane {lane.name}: {lane.planned:,} planned, but {lane.taken:,} taken, "
                f"{lane.missed:,} missed and {lane.not_measured:,} not measured: samples are "
                "unaccounted for"
            )
        for kind, companion in record.companions(lane).items():
            if companion.taken != lane.taken:
                return (
                    f"lane {lane.name}: {lane.taken:,} samples, but {companion.taken:,} values of "
                    f"{kind} for them"
                )
    return ""
