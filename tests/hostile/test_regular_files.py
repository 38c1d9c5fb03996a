# SPDX-License-Identifier: Apache-2.0
"""A pipe, a device or a link in the place of a file is named, and never waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from kadenz.regular_files import NotRegular, open_regular, read_regular


def place(kind: str, folder: Path) -> Path:
    path = folder / "x"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    else:
        path.symlink_to({"device": "/dev/zero", "link to a pipe": "pipe"}[kind])
        os.mkfifo(folder / "pipe")
    return path


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a pipe"])
def test_anything_but_a_file_is_named_at_once(kind: str, tmp_path: Path) -> None:
    with pytest.raises(NotRegular) as caught:
        read_regular(place(kind, tmp_path))
    assert caught.value.strerror == f"a {kind.split()[-1]} in the place of a file"


def test_a_socket_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        read_regular(place("socket", tmp_path))


def test_a_file_has_at_most_the_stated_bytes(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(100))
    assert read_regular(file, limit=100) == bytes(100)
    with pytest.raises(NotRegular, match="larger than"):
        read_regular(file, limit=99)


@pytest.mark.parametrize("link", ["a", "a/b", "a/b/c"])
def test_below_a_folder_no_link_is_followed(link: str, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "c").write_text(folder.name)
    target = inside / "a" / "b" / "c"
    assert read_regular(target, inside=inside) == b"inside"
    (inside / link).rename(tmp_path / "away")
    (inside / link).symlink_to(outside / link)
    assert read_regular(target) == b"outside"
    with pytest.raises(NotRegular, match="a link, which is not followed"):
        read_regular(target, inside=inside)


def test_a_folder_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("x")
    (tmp_path / "latest").symlink_to("real")
    latest = tmp_path / "latest"
    assert read_regular(latest / "x", inside=latest) == b"x"


@pytest.mark.parametrize("name", ["../x", "a/../../x"])
def test_no_name_leads_out(name: str, tmp_path: Path) -> None:
    (tmp_path / "inside" / "a").mkdir(parents=True)
    (tmp_path / "x").write_text("secret")
    with pytest.raises((NotRegular, ValueError), match=r"outside|subpath"):
        open_regular(tmp_path / "inside" / name, inside=tmp_path / "inside")


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "no" / "x", inside=tmp_path)
