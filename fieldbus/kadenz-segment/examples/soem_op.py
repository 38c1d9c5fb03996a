# SPDX-License-Identifier: Apache-2.0
"""SOEM (pysoem) on a network interface: brings what is there to OP with distributed clocks, speaks
the protocols of its mailboxes, and exchanges process data until it is stopped.

`python soem_op.py veth0 [veth2]`; the second interface is the other end of a ring. While it
runs, it does what `ecatcheck` of SOEM's `ec_sample.c` does: once a working counter is wrong, it
leads devices back until all are in OP. Ten times a second it reads all states and looks for mail.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Any

import pysoem

CYCLE_NS = 1_000_000
PATIENCE_US = 100_000
# Cycles between two looks at states and mailboxes.
LOOK_EVERY = 100
SDO_ERRORS = (
    pysoem.SdoError,
    pysoem.MailboxError,
    pysoem.PacketError,
    pysoem.WkcError,
    pysoem.Emergency,
)


def patient() -> None:
    """SOEM waits 2 ms for a frame, which is short on a machine that has other work."""
    timeouts = pysoem.settings.timeouts
    timeouts.ret = PATIENCE_US
    timeouts.safe = timeouts.eeprom = timeouts.tx_mailbox = 2 * PATIENCE_US


def speak(device: Any) -> None:
    """SDO up and down, complete access, SDO information, a file there and back."""
    with suppress(*SDO_ERRORS):
        device.sdo_read(0x1000, 0)
    with suppress(*SDO_ERRORS):
        device.sdo_read(0x1008, 0)
    with suppress(*SDO_ERRORS):
        device.sdo_write(0x6066, 0, (20).to_bytes(2, "little"))
    with suppress(*SDO_ERRORS):
        device.sdo_read(0x1C12, 0, ca=True)
    with suppress(*SDO_ERRORS, pysoem.SdoInfoError):
        print(f"{device.name}: {len(device.od)} objects")
    with suppress(Exception):
        device.foe_write("master.bin", 0, bytes(range(200)))
        device.foe_read("master.bin", 0, 200)


def bring_up(soem: Any) -> bool:
    """To OP; false if a device does not get there."""
    devices = next((count for count in (soem.config_init() for _ in range(3)) if count > 0), 0)
    print(f"{devices} devices")
    for device in soem.slaves:
        if device.id == 2:
            speak(device)
            break
    soem.config_map()
    if soem.config_dc():
        for device in soem.slaves:
            device.dc_sync(True, CYCLE_NS)
    if soem.state_check(pysoem.SAFEOP_STATE, 5_000_000) != pysoem.SAFEOP_STATE:
        soem.read_state()
        for device in soem.slaves:
            print(f"{device.name}: {pysoem.al_status_code_to_string(device.al_status)}")
        return False
    cycle(soem)
    soem.state = pysoem.OP_STATE
    soem.write_state()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        cycle(soem)
        if soem.state_check(pysoem.OP_STATE, 1000) == pysoem.OP_STATE:
            return True
    return False


def cycle(soem: Any) -> int:
    """Exchanges process data; gives the working counter, negative if no frame came."""
    soem.send_processdata()
    return int(soem.receive_processdata(2000))


def are_operational(soem: Any) -> bool:
    """Whether every device says that it is in OP."""
    soem.read_state()
    return all(device.state == pysoem.OP_STATE for device in soem.slaves)


def look_after(soem: Any) -> bool:
    """Leads devices back that are not in OP; true while there are some."""
    if are_operational(soem):
        return False
    for device in soem.slaves:
        if device.state == pysoem.SAFEOP_STATE + pysoem.STATE_ERROR:
            device.state = pysoem.SAFEOP_STATE + pysoem.STATE_ACK
            device.write_state()
        elif device.state == pysoem.SAFEOP_STATE:
            device.state = pysoem.OP_STATE
            device.write_state()
        elif device.state > pysoem.NONE_STATE and device.state != pysoem.OP_STATE:
            if device.reconfig():
                device.is_lost = False
        elif device.state == pysoem.NONE_STATE:
            device.is_lost = not device.recover()
        if device.is_lost and device.recover():
            device.is_lost = False
    return True


def fetch_mail(soem: Any) -> None:
    """Takes what waits in the mailboxes, and prints emergencies."""
    for device in soem.slaves:
        try:
            device.mbx_receive()
        except pysoem.Emergency as emergency:
            print(f"{device.name}: {emergency}")
        except SDO_ERRORS:
            pass


def main() -> int:
    """Operates the devices until a signal ends it; 1 if they do not reach OP."""
    patient()
    soem = pysoem.Master()
    soem.open(*(name for name in sys.argv[1:] if name != "none"))
    if not bring_up(soem):
        print("not all in OP")
        return 1
    print("all in OP")
    expected = cycle(soem)
    next_ns = time.monotonic_ns()
    is_disturbed, cycles = False, 0
    while True:
        is_disturbed = cycle(soem) != expected or is_disturbed
        cycles += 1
        if is_disturbed:
            is_disturbed = look_after(soem)
        elif cycles % LOOK_EVERY == 0:
            is_disturbed = not are_operational(soem)
            fetch_mail(soem)
        next_ns = max(next_ns + CYCLE_NS, time.monotonic_ns() - CYCLE_NS)
        time.sleep(max(0, next_ns - time.monotonic_ns()) / 1e9)


if __name__ == "__main__":
    sys.exit(main())
