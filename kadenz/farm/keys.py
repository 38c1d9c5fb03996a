# SPDX-License-Identifier: Apache-2.0
"""Who belongs to a farm: keys that its own authority signed.

A scheduler and its workers execute the code that they receive. Beyond this machine they talk by TLS
alone, and both sides show a certificate of the farm's authority.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kadenz.errors import KadenzError, ToolMissing, UsageError
from kadenz.farm.extra import require

PLAIN, ENCRYPTED = "tcp", "tls"
_AUTHORITY, _CERTIFICATE, _KEY = "authority.pem", "certificate.pem", "key.pem"
_PARTS = (_AUTHORITY, _CERTIFICATE, _KEY)
_DAYS = "3650"
_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_MEMBER = (
    *("-addext", "basicConstraints=critical,CA:FALSE"),
    *("-addext", "extendedKeyUsage=serverAuth,clientAuth"),
)


def make_keys(folder: Path, machines: Sequence[str]) -> list[Path]:
    """A folder with keys for each machine, and the authority if `folder` has none yet.

    UsageError for a machine that has keys already or whose name is not a file's; KadenzError if
    OpenSSL fails.
    """
    for machine in machines:
        _check_name(folder, machine)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    authority = (folder / _AUTHORITY, folder / "authority.key")
    if not authority[0].exists():
        _openssl("-subj", "/CN=kadenz farm", certificate=authority[0], key=authority[1])
    return [_sign(folder / machine, machine, authority) for machine in machines]


def _check_name(folder: Path, machine: str) -> None:
    if not machine.replace("-", "").replace(".", "").isalnum() or machine.startswith((".", "-")):
        raise UsageError(
            f"`{machine}` is not the name of a machine",
            remedy="Use letters, digits, `-` and `.`",
        )
    if (folder / machine).exists():
        raise UsageError(
            f"{folder / machine} exists: {machine} has keys already",
            remedy="Remove that folder to make new ones; the old ones stay valid",
        )


def _sign(folder: Path, machine: str, authority: tuple[Path, Path]) -> Path:
    certificate, key = authority
    folder.mkdir(mode=0o700)
    shutil.copyfile(certificate, folder / _AUTHORITY)
    signed = ("-CA", str(certificate), "-CAkey", str(key), *_MEMBER)
    _openssl(
        "-subj", f"/CN={machine}", *signed, certificate=folder / _CERTIFICATE, key=folder / _KEY
    )
    return folder


def _openssl(*options: str, certificate: Path, key: Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise ToolMissing(
            "openssl is not installed (makes the keys of a farm)",
            remedy="apt-get install openssl",
        )
    places = ("-keyout", str(key), "-out", str(certificate))
    answer = subprocess.run(
        [program, "req", "-x509", *_CURVE, "-days", _DAYS, *options, *places],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise KadenzError(
            f"{program} could not make {certificate}",
            remedy="Read its words below; it needs OpenSSL 3",
            detail=answer.stderr.strip(),
        )
    key.chmod(0o600)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address or a name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_of(address: str) -> str:
    """The host of "tcp://HOST:PORT" or "tls://HOST:PORT". UsageError for another address."""
    return _parts(address)[1]


def security(address: str, keys: Path | None) -> Any:
    """What distributed needs to listen at `address` or to call it; None for plain text.

    UsageError without keys, unless it is on this machine; for an address that does not fit to them;
    and for keys that are not complete or that others can read.
    """
    protocol, host = _parts(address)
    if keys is None and not is_loopback(host):
        raise UsageError(
            f"{host} is not this machine, and there are no keys: whoever reaches a scheduler or a "
            "worker executes code there",
            remedy="Make keys with `kadenz farm keys FOLDER MACHINE…` and name the folder of this "
            "machine with --keys, in a farm's file with `keys`",
        )
    if (protocol == ENCRYPTED) != (keys is not None):
        needed = PLAIN if keys is None else ENCRYPTED
        raise UsageError(
            f"{address}: {'with' if keys else 'without'} keys, an address begins with {needed}://",
            remedy=f"Write {needed}{address.removeprefix(protocol)}"
            + ("" if keys else ", or name keys with --keys, in a farm's file with `keys`"),
        )
    return None if keys is None else _security(keys)


def _parts(address: str) -> tuple[str, str]:
    """Protocol and host of an address."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in (PLAIN, ENCRYPTED) and parts.port is not None
    except ValueError:
        known = False
    if not known or not parts.hostname:
        raise UsageError(
            f"{address}: not the address of a scheduler",
            remedy="For example tls://10.0.0.1:8786, or tcp://127.0.0.1:8786 on this machine",
        )
    return parts.scheme, parts.hostname


def _security(keys: Path) -> Any:
    missing = [name for name in _PARTS if not (keys / name).is_file()]
    if missing:
        raise UsageError(
            f"{keys}: no {missing[0]}",
            remedy="Name the folder of one machine that `kadenz farm keys` made",
        )
    key = (keys / _KEY).stat()
    if key.st_mode & 0o077 or key.st_uid not in (0, os.geteuid()):
        raise UsageError(
            f"{keys / _KEY}: others can read it, or it is not yours",
            remedy=f"chown it to yourself, and: chmod 600 {keys / _KEY}",
        )
    authority, certificate, key_file = (str(keys / name) for name in _PARTS)
    sides = ("scheduler", "worker", "client")
    return require("distributed").Security(
        require_encryption=True,
        tls_ca_file=authority,
        **{f"tls_{side}_cert": certificate for side in sides},
        **{f"tls_{side}_key": key_file for side in sides},
    )
