# SPDX-License-Identifier: Apache-2.0
"""A public copy has the figures and samples, and no private text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.archive.adding import add
from kadenz.archive.place import Place, open_archive
from kadenz.archive.public import copy, hidden
from kadenz.archive.query import connect, run_sql
from kadenz.errors import UsageError
from kadenz.store import read_run
from tests.synthetic import STM32F4, Point, manifest, write_run

SECRETS = ("/home/ada/firmware", "/dev/serial/by-id/usb-ST-0669FF", "ada@example.org", "falcon")


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    made = manifest(STM32F4, id="one")
    made.campaign.file = "/home/ada/firmware/campaigns/x.toml"
    made.target.settings["port"] = "/dev/serial/by-id/usb-ST-0669FF"
    made.host.facts["owner"] = "ada@example.org"
    made.conditions["project"] = "falcon"
    if made.build:
        made.build.flags = "-O2 -I/home/ada/firmware/include -Wall"
    samples = np.arange(900, 1100, dtype=np.uint32)
    run = write_run(tmp_path / "runs", made, [Point("itc/queue", {"all": samples})])
    (run / "console.txt").write_text("built by ada in /home/ada/firmware\n")
    place = open_archive(str(tmp_path / "archive"), create=True)
    add(place, read_run(run), label="main", commit="c1")
    return place


def test_no_byte_of_a_public_copy_has_a_private_text(archive: Place, tmp_path: Path) -> None:
    there = open_archive(str(tmp_path / "public"), create=True)
    assert copy(archive, there, public=True, hide=("falcon",), progress=lambda a, b: None) == 1
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
        "SELECT r.target, r.label, r.commit, n, p50, max FROM runs r JOIN records USING (run)",
    ).fetchall()
    assert kept == [("freertos/stm32f4@emulated", "main", "c1", 200, 999.0, 1099.0)]


def _unzipped(place: Place) -> list[str]:
    import io
    import zipfile

    found = []
    for one in place.objects("files/*/*.zip"):
        with zipfile.ZipFile(io.BytesIO(place.read(one))) as box:
            found += [box.read(name).decode() for name in box.namelist()]
    return found


def test_the_list_shows_every_text_that_is_left_out(archive: Place) -> None:
    found = hidden(archive, ("falcon",))
    listed = [text for texts in found.values() for text in texts]
    assert all(any(secret in text for text in listed) for secret in SECRETS)
    assert found["text file"] == ["console.txt"]


def test_a_plain_copy_is_whole(archive: Place, tmp_path: Path) -> None:
    there = open_archive(str(tmp_path / "copy"), create=True)
    copy(archive, there, public=False, progress=lambda a, b: None)
    assert any("/home/ada/firmware" in text for text in _unzipped(there))


def test_a_wrong_expression_is_the_users_error(archive: Place) -> None:
    with pytest.raises(UsageError, match="--hide"):
        hidden(archive, ("(",))
