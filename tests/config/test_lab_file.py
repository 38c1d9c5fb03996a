# SPDX-License-Identifier: Apache-2.0
"""A lab: parts and targets of the user's own, found beside kadenz's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.lab_file import find_lab
from kadenz.config.target_name import known_targets, lab_target, own_source, parse_target, problems
from kadenz.errors import ConfigError, UsageError

STM32 = "freertos/stm32f4@emulated"
MINE = '[target.mine]\nkernel = "freertos"\nboard = "stm32f4"\ntier = "emulated"\n'


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab without anything, around the working directory."""
    (tmp_path / "kadenz.toml").write_text("")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    return tmp_path


def copied(part: str, to: Path) -> Path:
    """A copy of a folder of kadenz."""
    shutil.copytree(inventory.root() / part, to)
    return to


def test_a_lab_is_found_upward_or_by_the_variable(
    lab: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = find_lab()
    assert current is not None and current.folder == lab
    assert inventory.build_folder() == lab / "build" and current.output == lab / "runs"
    other = tmp_path_factory.mktemp("other")
    (other / "kadenz.toml").write_text('[defaults]\noutput = "measured"\n')
    for named in (other, other / "kadenz.toml"):
        monkeypatch.setenv("KADENZ_LAB", str(named))
        current = find_lab()
        assert current is not None and current.output == other / "measured"
    monkeypatch.setenv("KADENZ_LAB", str(tmp_path_factory.mktemp("empty")))
    with pytest.raises(ConfigError, match=r"KADENZ_LAB=.*no kadenz.toml there"):
        find_lab()


def test_without_a_lab_images_are_built_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_lab() is None and inventory.places() == [inventory.root()]
    assert inventory.build_folder() == inventory.root() / "build"


def test_a_lab_inside_a_lab_is_refused_with_both_places(lab: Path) -> None:
    (lab / "deep" / "kadenz.toml").write_text("")
    with pytest.raises(ConfigError) as caught:
        find_lab()
    assert f"{lab}/deep/kadenz.toml" in caught.value.message
    assert f"the lab {lab}/kadenz.toml" in caught.value.message
    assert f"KADENZ_LAB={lab}/deep" in caught.value.remedy


def test_parts_of_the_lab_are_found_next_to_those_of_kadenz(
    lab: Path,
) -> None:
    copied("kernels/freertos", lab / "kernels" / "mine")
    copied("boards/stm32f4", lab / "boards" / "desk")
    board = lab / "boards" / "desk" / "board.toml"
    board.write_text('kernels = ["freertos"]\n' + board.read_text())
    campaign = copied("campaigns", lab / "copies") / "demo.toml"
    (lab / "campaigns").mkdir()
    campaign.rename(lab / "campaigns" / "own.toml")
    (lab / "tunings").mkdir()
    (lab / "tunings" / "own.toml").write_text('title = "t"\nbased_on = "latency"\n')
    names = known_targets()
    assert "mine/stm32f4@emulated" in names and "freertos/desk@emulated" in names
    assert STM32 in names
    assert inventory.kernel_folder("mine") == lab / "kernels" / "mine"
    assert inventory.board_folder("desk") == lab / "boards" / "desk"
    assert inventory.campaign_file("own").parent == lab / "campaigns"
    assert inventory.read_tuning("own")[1].parent == lab / "tunings"
    assert inventory.problems() == []
    origins = {name: inventory.origin(inventory.board_folder(name)) for name in ("desk", "stm32f4")}
    assert origins == {"desk": "lab", "stm32f4": "kadenz"}


def test_a_lab_in_the_checkout_is_a_lab_and_the_checkout_in_a_lab_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "outer" / "inner"
    (inner / "boards" / "one").mkdir(parents=True)
    for root, lab in ((tmp_path / "outer", inner), (inner, tmp_path / "outer")):
        monkeypatch.setattr(inventory, "places", lambda root=root, lab=lab: [root, lab])
        monkeypatch.setattr(inventory, "root", lambda root=root: root)
        expected = "lab" if lab == inner else "kadenz"
        assert inventory.origin(inner / "boards" / "one") == expected


def test_a_name_found_twice_is_refused_with_both_places(lab: Path) -> None:
    copied("boards/stm32f4", lab / "boards" / "stm32f4")
    stock, twin = inventory.root() / "boards/stm32f4/board.toml", lab / "boards/stm32f4/board.toml"
    with pytest.raises(ConfigError, match="found twice") as caught:
        parse_target(STM32)
    assert str(stock) in caught.value.message and str(twin) in caught.value.message
    assert caught.value.remedy == f"Rename {twin.parent}"
    assert [error.message for error in inventory.problems()] == [caught.value.message]
    assert "freertos/hifive1-revb@emulated" in known_targets()  # the rest works
    for kind, name in (("campaigns", "demo"), ("tunings", "latency")):
        (lab / kind).mkdir()
        (lab / kind / f"{name}.toml").write_text("")
    with pytest.raises(ConfigError, match="campaign `demo` is found twice"):
        inventory.campaign_file("demo")
    with pytest.raises(ConfigError, match="tuning profile `latency` is found twice"):
        inventory.read_tuning("latency")


def test_an_invalid_file_spoils_only_its_own_targets(lab: Path) -> None:
    copied("kernels/freertos", lab / "kernels" / "broken")
    file = lab / "kernels" / "broken" / "kernel.toml"
    file.write_text("titel = 3\n" + file.read_text())
    copied("boards/stm32f4", lab / "boards" / "odd")
    board = lab / "boards" / "odd" / "board.toml"
    board.write_text('kernels = ["freertoss"]\n' + board.read_text())
    (lab / "campaigns").mkdir()
    (lab / "campaigns" / "bad.toml").write_text("name = 1\n")
    assert parse_target(STM32).board == "stm32f4"
    with pytest.raises(ConfigError, match=rf"{file}:1: unknown key `titel`"):
        parse_target("broken/stm32f4@emulated")
    with pytest.raises(ConfigError, match="`kernels`: no kernel `freertoss`") as caught:
        parse_target("freertos/odd@emulated")
    assert caught.value.remedy == "Did you mean `freertos`?"
    assert "demo" in inventory.campaigns() and "bad" not in inventory.campaigns()
    told = "\n".join(error.message for error in inventory.problems())
    assert told.count("\n") == 2 and "titel" in told and "freertoss" in told and "bad.toml" in told


def test_a_target_of_the_lab_is_a_kernel_a_board_and_a_tier_by_a_short_name(lab: Path) -> None:
    (lab / "tree").mkdir()
    (lab / "kadenz.toml").write_text(MINE + 'source = "tree"\ndeadline = "100us"\n')
    name = parse_target("mine")
    assert str(name) == "mine" and name.parts == STM32
    assert name != parse_target(STM32)
    assert known_targets()[-1] == "mine" and problems() == []
    assert lab_target(name).deadline == "100us"
    assert own_source(name) == lab / "tree"
    assert own_source(parse_target(STM32)) is None


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("[target.mine\n", "not TOML", "syntax"),
        ("[targets.mine]\n", "kadenz.toml:1: unknown key `targets`", "`target`"),
        (MINE + 'prot = "x"\n', "kadenz.toml:5: unknown key `target.mine.prot`", "`port`"),
        (MINE + "deadline = 3\n", "kadenz.toml:5", ""),
        (MINE + 'deadline = "soon"\n', "deadline", ""),
        ('[target."a/b"]\n' + MINE.partition("\n")[2], "letters, digits", ""),
        ("[target.latest]\n" + MINE.partition("\n")[2], "letters, digits", ""),
        ("[target.mine]\n", "missing required field `board`", ""),
        ("[defaults]\nrounds = 0\n", "kadenz.toml:2", ""),
        (MINE + "conditions = 3\n", "kadenz.toml:5", ""),
    ],
)
def test_a_mistake_in_the_file_has_its_line_and_a_remedy(
    text: str, message: str, remedy: str, lab: Path
) -> None:
    (lab / "kadenz.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        find_lab()
    assert message in caught.value.message and remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "message", "remedy"),
    [
        (("freertos", "freertoss"), "no target `freertoss/stm32f4@emulated`", "freertos/stm32f4"),
        (("stm32f4", "stm32f5"), "no target `freertos/stm32f5@emulated`", "freertos/stm32f4"),
        (("emulated", "host"), "no target `freertos/stm32f4@host`", "freertos/stm32f4"),
        (('"emulated"', '"emulated"\nport = "/dev/x"'), "`port` is for the tier board", "board"),
        (('"emulated"', '"emulated"\nsource = "none"'), "is not a folder", "relative to the lab"),
    ],
)
def test_a_table_that_makes_no_target_spoils_that_target_alone(
    change: tuple[str, str], message: str, remedy: str, lab: Path
) -> None:
    (lab / "kadenz.toml").write_text(MINE.replace(*change) + MINE.replace("mine", "good"))
    with pytest.raises(ConfigError) as caught:
        parse_target("mine")
    assert f"{lab}/kadenz.toml: [target.mine]" in caught.value.message
    assert message in caught.value.message and remedy in caught.value.remedy
    assert [str(error) for error in problems()] == [str(caught.value)]
    assert parse_target("good").parts == STM32


def test_an_unknown_name_is_compared_with_the_names_of_the_lab(lab: Path) -> None:
    (lab / "kadenz.toml").write_text(MINE)
    with pytest.raises(UsageError) as caught:
        parse_target("mien")
    assert caught.value.remedy == "Did you mean `mine`?"
