# SPDX-License-Identifier: Apache-2.0
"""Probes on USB, as Linux lists them: which are there, and which one is meant.

Two equal boards have equal probes. Only the serial number tells them apart, so a choice by chance
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import TargetFailed, UsageError

SYSFS = Path("/sys/bus/usb/devices")


@dataclass(frozen=True)
class Probe:
    """A probe's USB name and serial number; `str` is the value of `probe`."""

    vendor: str  # four hexadecimal digits
    product: str
    serial: str

    @property
    def usb(self) -> str:
        """Vendor and product in hexadecimal: "0483:374b"."""
        return f"{self.vendor}:{self.product}"

    def __str__(self) -> str:
        return f"{self.usb}:{self.serial}"


def parse_probe(text: str) -> Probe:
    """`vid:pid:serial`, or a serial number alone. UsageError for anything else."""
    parts = text.split(":", 2)
    if len(parts) == 1 and text.strip():
        return Probe("", "", text)
    hexadecimal = [part.lower() for part in parts[:2] if len(part) == 4 and _is_hex(part)]
    if len(parts) != 3 or len(hexadecimal) != 2 or not parts[2]:
        raise UsageError(
            f"`{text}` is not a probe",
            remedy="Write vid:pid:serial, e.g. 0483:374b:066EFF505251, or the serial number alone; "
            "`kadenz doctor` lists what is connected",
        )
    return Probe(hexadecimal[0], hexadecimal[1], parts[2])


def connected(known: Iterable[str], sysfs: Path = SYSFS) -> list[Probe]:
    """The probes on USB whose "vid:pid" is in `known`, by serial number."""
    wanted = {name.lower() for name in known if name}
    probes = []
    for device in sorted(sysfs.glob("*")) if sysfs.is_dir() else []:
        probe = Probe(*(_word(device, name) for name in ("idVendor", "idProduct", "serial")))
        if probe.usb.lower() in wanted:
            probes.append(probe)
    return sorted(probes, key=str)


def probe_for(asked: str, known: Iterable[str], sysfs: Path = SYSFS) -> Probe | None:
    """The probe that is meant; None if none is connected and none was named.

    Raises UsageError if several are connected and none was named, or the name fits several;
    TargetFailed if the named one is not connected.
    """
    probes = connected(known, sysfs)
    listed = ", ".join(map(str, probes)) or "none"
    if not asked:
        if len(probes) > 1:
            raise UsageError(
                f"{len(probes)} probes are connected and none is named: {listed}",
                remedy="Name one: --board probe=…, or `probe` in the target's table of kadenz.toml",
            )
        return probes[0] if probes else None
    wanted = parse_probe(asked)
    fitting = [
        probe
        for probe in probes
        if probe.serial == wanted.serial and wanted.usb in (":", probe.usb.lower())
    ]
    if len(fitting) > 1:
        raise UsageError(
            f"`{asked}` names {len(fitting)} probes: {', '.join(map(str, fitting))}",
            remedy="Write vid:pid:serial",
        )
    if not fitting and sysfs.is_dir():
        raise TargetFailed(
            f"no probe {asked} is connected; on USB: {listed}",
            remedy="Plug it in, or name one of those",
        )
    return fitting[0] if fitting else wanted


def _word(device: Path, name: str) -> str:
    try:
        return (device / name).read_text().strip()
    except OSError:
        return ""


def _is_hex(text: str) -> bool:
    return all(digit in "0123456789abcdefABCDEF" for digit in text)
