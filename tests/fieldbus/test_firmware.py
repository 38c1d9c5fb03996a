# SPDX-License-Identifier: Apache-2.0
"""SOEM (pysoem) updates a drive's firmware over FoE in bootstrap, and reads it back."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rights import NOBODY, ROOT_ONLY

from .conftest import Starter, Veth, stop

pysoem = pytest.importorskip("pysoem", reason="pysoem is not installed: pip install -e .[dev]")
pytestmark = [pytest.mark.machine, ROOT_ONLY]

# A busy machine may keep the segment from its processor for longer than SOEM's 2 ms.
FRAME_US = 100_000
_patience = pysoem.settings.timeouts
_patience.ret = FRAME_US
_patience.safe = _patience.eeprom = _patience.tx_mailbox = 2 * FRAME_US
MAILBOX_US = 2_000_000
STATE_US = 5_000_000

# EEPROM words of the bootstrap mailboxes, to the device and to the master.
BOOT_OUT, BOOT_IN = 0x14, 0x16
FIRMWARE = bytes((at * 31 + at // 251) & 0xFF for at in range(20_240))  # 20 packets of 1012
LINE = (
    '[[device]]\nname = "coupler"\nkind = "coupler"\n[[device]]\nname = "drive"\nkind = "drive"\n'
)


@pytest.fixture
def images() -> Iterator[Path]:
    """A folder that the segment may write without root's rights."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "images"
        folder.mkdir()
        Path(outer).chmod(0o755)
        os.chown(folder, NOBODY, NOBODY)
        yield folder


def ring(images: Path) -> Path:
    path = images.parent / "ring.toml"
    path.write_text(f'{LINE}files = {{ folder = "images" }}\n', encoding="utf-8")
    return path


def reach(soem: Any, device: Any, state: int) -> None:
    device.state = state
    device.write_state()
    assert device.state_check(state, STATE_US) == state, hex(device.al_status)


def in_bootstrap(veth: Veth) -> tuple[Any, Any]:
    """SOEM, and the drive in BOOT."""
    soem = pysoem.Master()
    soem.open(veth.master)
    assert next((count for count in (soem.config_init() for _ in range(3)) if count > 0), 0) == 2
    drive = soem.slaves[1]
    reach(soem, drive, pysoem.INIT_STATE)
    for mailbox, word in (("out", BOOT_OUT), ("in", BOOT_IN)):
        start, size = struct.unpack("<HH", drive.eeprom_read(word))
        drive.amend_mbx(mailbox=mailbox, start_address=start, size=size)
    reach(soem, drive, pysoem.BOOT_STATE)
    return soem, drive


def test_soem_updates_a_firmware_that_is_kept_in_a_folder(
    start_segment: Starter, veth: Veth, images: Path
) -> None:
    busy = "foe-busy@frame=1,device=drive,packet=3,times=2"
    process = start_segment("--fault", busy, ring=ring(images))
    soem, drive = in_bootstrap(veth)
    for length in (20_240, 0, 1, 20_239):
        name = f"v{length}.efw"
        assert drive.foe_write(name, 0, FIRMWARE[:length], MAILBOX_US) > 0
        assert (images / name).read_bytes() == FIRMWARE[:length]
    (images / "by-hand.efw").write_bytes(FIRMWARE[:500])
    assert drive.foe_read("by-hand.efw", 0, len(FIRMWARE), MAILBOX_US) == FIRMWARE[:500]
    reach(soem, drive, pysoem.INIT_STATE)
    soem.close()
    assert "0 lost by faults" in stop(process)


def test_a_folder_without_the_right_to_write_ends_the_segment_at_its_start(
    segment_program: Path, veth: Veth, images: Path
) -> None:
    os.chown(images, 0, 0)
    images.chmod(0o755)
    command = [str(segment_program), "run", "--interface", veth.segment, "--ring"]
    done = subprocess.run(
        [*command, str(ring(images))], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert f"cannot keep files in {images}" in done.stderr
    assert "caller of sudo, else nobody" in done.stderr
    assert list(images.iterdir()) == []
