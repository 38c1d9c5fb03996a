# SPDX-License-Identifier: Apache-2.0
"""The notation `NAME,KEY=VALUE,…`: what it reads, and how it refuses everything else."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kadenz.config.key_values import Key, Notation, OptionValue
from kadenz.errors import UsageError

LOAD = Notation(
    "--load",
    (
        Key("workers", "", "N", "count"),
        Key("cpus", "", "LIST", "processors"),
        Key("scratch", "", "DIR", "folder"),
    ),
    "NAME",
)
BUS = Notation("--bus", (Key("interface", "", "NAME"), Key("layout", "", "FILE", "file")))
GUEST = Notation("--guest", (Key("kernel", "", "VERSION", many=True), Key("busy", "", "TIME")))
BOARD = Notation("--board", (Key("results", "", "uart|rtt", choices=("uart", "rtt")),))
ANY = Notation("--set")


@pytest.mark.parametrize(
    ("notation", "text", "name", "keys"),
    [
        (LOAD, "cpu", "cpu", {}),
        (LOAD, "cpu+disk,workers=2", "cpu+disk", {"workers": 2}),
        (LOAD, "cpu,cpus=0,2-3,workers=1", "cpu", {"cpus": "0,2-3", "workers": 1}),
        (LOAD, "cpu,workers=1,cpus=0,2-3", "cpu", {"cpus": "0,2-3", "workers": 1}),
        (LOAD, "./a=b.toml", "./a=b.toml", {}),
        (LOAD, "a=b.toml", "a=b.toml", {}),
        (LOAD, '"a,b",workers=1', "a,b", {"workers": 1}),
        (BUS, "interface=eth1,layout=a.toml", "", {"interface": "eth1", "layout": Path("a.toml")}),
        (BUS, "layout=a=b.toml", "", {"layout": Path("a=b.toml")}),
        (BUS, 'layout="a,interface=b"', "", {"layout": Path("a,interface=b")}),
        (BUS, 'layout="a ""b"", c"', "", {"layout": Path('a "b", c')}),
        (BUS, 'layout=a"b', "", {"layout": Path('a"b')}),
        (BUS, "interface=µ\n", "", {"interface": "µ\n"}),
        (GUEST, "kernel=6.12,6.1,busy=50us", "", {"kernel": ("6.12", "6.1"), "busy": "50us"}),
        (GUEST, "kernel=6.12,6.12", "", {"kernel": ("6.12",)}),
        (GUEST, 'kernel="6,1",6.2', "", {"kernel": ("6,1", "6.2")}),
        (ANY, "size_bytes=4,64,policy=fifo", "", {"size_bytes": ("4", "64"), "policy": ("fifo",)}),
    ],
)
def test_what_is_written_is_what_is_read(
    notation: Notation, text: str, name: str, keys: dict[str, Any]
) -> None:
    assert notation.parse(text) == OptionValue(name, keys)


@pytest.mark.parametrize(
    ("notation", "text", "message", "remedy"),
    [
        (LOAD, "cpu,workerz=2", "no key `workerz`", "Did you mean `workers`?"),
        (LOAD, "cpu,zzz=2", "no key `zzz`", "workers=N, cpus=LIST, scratch=DIR"),
        (LOAD, "workers=2", "no NAME before `workers`", "--load NAME,workers=2"),
        (LOAD, "cpu,workers", "`workers` has no value", "workers=N"),
        (LOAD, "cpu,cpus=0,workers", "`workers` has no value", "workers=N"),
        (LOAD, "cpu,workers=", "`workers` has no value", "workers=N"),
        (LOAD, "cpu,cpus=", "`cpus` has no value", "cpus=LIST"),
        (LOAD, "cpu,cpus=0,", "a word is empty", "cpus=LIST"),
        (LOAD, "", "a word is empty", ""),
        (LOAD, "cpu,", "a word is empty", ""),
        (LOAD, ",workers=2", "a word is empty", ""),
        (LOAD, "cpu,workers=1,workers=2", "`workers` is there twice", "one of them"),
        (LOAD, "cpu,workers=two", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=0", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=-1", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=1.5", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=٢", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=99999999999", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=2+1", "not a number from 1 on", "workers=2"),
        (LOAD, "cpu,workers=1,2", "`2` is not KEY=VALUE", "workers=N"),
        (LOAD, "cpu,disk", "`disk` is not KEY=VALUE", "Another NAME takes a --load of its own"),
        (LOAD, "cpu,2-3", "`2-3` is not KEY=VALUE", "cpus=LIST"),
        (LOAD, "cpu,cpus=0,two", "`two` is neither a number nor a range", "0,2-3"),
        (LOAD, "cpu,cpus=3-1", "the range 3-1 is reversed", "0,2-3"),
        (LOAD, "cpu,cpus=0,=2", "`=2` is neither", "0,2-3"),
        (LOAD, "cpu,scratch=/no/such", "`/no/such` is not a folder", "exists"),
        (BUS, "eth1", "`eth1` is not KEY=VALUE", "interface=NAME, layout=FILE"),
        (BUS, "layout=a,b.toml", "`b.toml` is not KEY=VALUE", """--bus 'layout="a,b.toml"'"""),
        (BUS, "layout=a,b=c", "no key `b`", 'layout="…"'),
        (BUS, 'layout="a,b', "begins with a quote", ""),
        (BUS, 'layout="a"b', "begins with a quote", ""),
        (BUS, 'layout=""', "`layout` has no value", "layout=FILE"),
        (GUEST, "kernel=6.12,kernel=6.1", "`kernel` is there twice", "kernel=A,B"),
        (GUEST, "kernel=6.12,,6.1", "a word is empty", ""),
        (BOARD, "results=usb", "no results `usb`", "uart, rtt"),
        (ANY, "size_bytes", "`size_bytes` is not KEY=VALUE", "--set KEY=VALUE"),
        (ANY, "=4", "`=4` is not KEY=VALUE", "--set KEY=VALUE"),
        (ANY, "a=1,a=2", "`a` is there twice", "a=A,B"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_works(
    notation: Notation, text: str, message: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as wrong:
        notation.parse(text)
    assert wrong.value.message.startswith(f"{notation.flag} {text}: ".lstrip())
    assert message in wrong.value.message and remedy in wrong.value.remedy


@pytest.mark.parametrize("path", ["a,b.toml", "a,b,c", "my dir/a,b", "a,b'c"])
def test_the_remedy_for_a_comma_in_a_path_works_as_it_stands(path: str) -> None:
    with pytest.raises(UsageError) as wrong:
        BUS.parse(f"interface=eth1,layout={path}")
    flag, text = shlex.split(wrong.value.remedy.partition("value: ")[2])
    assert flag == "--bus"
    assert BUS.parse(text).keys == {"interface": "eth1", "layout": Path(path)}


def test_files_are_relative_to_the_folder_of_the_lab(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    assert LOAD.parse("disk,scratch=big", tmp_path).keys == {"scratch": tmp_path / "big"}
    assert BUS.parse("layout=/a", tmp_path).keys == {"layout": Path("/a")}
    with pytest.raises(UsageError, match=re.escape(f"`{tmp_path / 'small'}` is not a folder")):
        LOAD.parse("disk,scratch=small", tmp_path)


def test_keys_may_be_together_or_apart_but_not_twice() -> None:
    apart = [BUS.parse("interface=eth1"), BUS.parse("layout=a")]
    assert BUS.merged(apart) == BUS.parse("interface=eth1,layout=a").keys
    with pytest.raises(UsageError, match="--bus: `layout` is there twice"):
        BUS.merged([*apart, BUS.parse("layout=b")])
