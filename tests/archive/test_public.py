# SPDX-License-Identifier: Apache-2.0
"""A public copy has the figures and samples, and no private text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.place import Place, open_archive
from kadenz.archive.private import Cleaning, rules_of
from kadenz.archive.public import copy, hidden
from kadenz.archive.query import connect, run_sql
from kadenz.cli import cli
from kadenz.config.manifest import (
    CallEntry,
    Warning,  # noqa: A004
)
from kadenz.errors import UsageError
from kadenz.store import read_run
from tests.synthetic import (
    STM32F4,
    Point,
    manifest,
    under,
    write_run,
)

SECRETS = (
    "/home/ada/firmware",
    "/dev/serial/by-id/usb-ST-0669FF",
    "ada@example.org",
    "falcon",
    "066EFF505251",  # a probe, as an option of the call and as a text
    "bench.corp",  # the machine of a serial line, of a debug server, and of a lab
    "rack-1",
    "192.0.2.7",
    "52:54:00:ab:cd:ef",
)


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    document = manifest(STM32F4, id="one")
    document.campaign.file = "/home/ada/firmware/campaigns/x.toml"
    document.target.settings["port"] = "/dev/serial/by-id/usb-ST-0669FF"
    document.host.facts["owner"] = "ada@example.org"
    document.conditions += under(project="falcon")
    document.target.settings["interface"] = "eth1 52:54:00:ab:cd:ef"
    document.partial_reason = "probe 0483:374b:066EFF505251 is gone, as is openocd@rack-1:3333"
    document.warnings = [
        Warning(code="line", message="rfc2217://bench.corp:4001: 192.0.2.7 refused")
    ]
    arguments = ["--board", "probe=066EFF505251,port=rfc2217://bench.corp:4001"]
    arguments += ["--board", "server=openocd@rack-1:3333", "--farm", "falcon.toml"]
    document.call = CallEntry(arguments=["itc/queue", *arguments], folder="/home/ada/firmware")
    if document.build:
        document.build.flags = "-O2 -I/home/ada/firmware/include -Wall"
    samples = np.arange(900, 1100, dtype=np.uint32)
    run = write_run(tmp_path / "runs", document, [Point("itc/queue", {"all": samples})])
    (run / "console.txt").write_text("built by ada in /home/ada/firmware\n")
    again = run / "interrupted" / "1"  # what a resumed run measured again
    again.mkdir(parents=True)
    (again / "run.json").write_bytes((run / "run.json").read_bytes())
    place = open_archive(str(tmp_path / "archive"), create=True)
    add(place, read_run(run), label="feature/falcon", commit="c1 by ada@example.org")
    return place


def test_no_byte_of_a_public_copy_has_a_private_text(archive: Place, tmp_path: Path) -> None:
    there = open_archive(str(tmp_path / "public"), create=True)
    assert copy(archive, there, public=True, hide=("falcon",), progress=lambda a, b: None).runs == 1
    con = connect(there)
    texts = [
        str(row)
        for name in ("runs", "records")
        for row in run_sql(there, con, f"FROM {name}").fetchall()
    ]
    texts += _unzipped(there)
    assert [secret for secret in SECRETS if any(secret in text for text in texts)] == []
    kept = run_sql(
        there,
        con,
        "SELECT r.target, r.label, r.commit, n, median, max FROM runs r JOIN records USING (run)",
    ).fetchall()
    labels = ("feature/(left out)", "c1 by (left out)")
    assert kept == [("freertos/stm32f4@emulated", *labels, 200, 999.0, 1099.0)]


def _unzipped(place: Place) -> list[str]:
    import io
    import zipfile

    texts = []
    for relative in place.objects("files/*/*.zip"):
        with zipfile.ZipFile(io.BytesIO(place.read(relative))) as box:
            texts += [box.read(name).decode() for name in box.namelist()]
    return texts


def test_the_list_shows_every_text_that_is_left_out(archive: Place) -> None:
    listing = hidden(archive, ("falcon",))
    listed = [text for texts in listing.gone.values() for text in texts]
    assert [secret for secret in SECRETS if not any(secret in text for text in listed)] == []
    assert listing.gone["file"] == ["console.txt", "interrupted/1/run.json"]
    assert listing.stays == []


def test_a_name_that_stays_although_it_is_to_be_hidden_is_reported(archive: Place) -> None:
    assert hidden(archive, ("stm32",)).stays == ["freertos/stm32f4@emulated"]
    arguments = ["archive", "export", "--archive", archive.text, "--public", "--dry-run", "there"]
    answer = CliRunner().invoke(cli, [*arguments, "--hide", "stm32"])
    assert "--hide matches `freertos/stm32f4@emulated`, which stays" in answer.output


@pytest.mark.parametrize(
    "text",
    [
        "freertos-next 0.12.0 (crates.io)",
        "queue.c:120: wrong order",
        "lib.rs:1200: panicked",
        "mtime (32768 Hz crystal) over 1.0 s",
        "core0:cycle",
        "8 MB/s written",
        "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)",
        "freertos/stm32f4@emulated: 12 points",
        "2026-11-21T10:30:00Z",
    ],
)
def test_a_text_without_a_private_part_stays(text: str) -> None:
    cleaning = Cleaning(rules_of(()))
    assert (cleaning.text(text), cleaning.gone) == (text, {})


def test_a_plain_copy_is_whole(archive: Place, tmp_path: Path) -> None:
    there = open_archive(str(tmp_path / "copy"), create=True)
    copy(archive, there, public=False, progress=lambda a, b: None)
    assert any("/home/ada/firmware" in text for text in _unzipped(there))


def test_a_wrong_expression_is_the_users_error(archive: Place) -> None:
    with pytest.raises(UsageError, match="--hide"):
        hidden(archive, ("(",))
