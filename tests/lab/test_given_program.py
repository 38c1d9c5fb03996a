# SPDX-License-Identifier: Apache-2.0
"""`--program`: what cannot be measured is refused before anything is built or booted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.campaign import Campaign
from kadenz.config.target_name import parse_target
from kadenz.errors import UsageError
from kadenz.images.cpio import File
from kadenz.images.given_program import FOLDER, GivenProgram
from kadenz.lab.conditions.program import ProgramChoice

CARDS = "linux-rt/terminals-x86_64@guest"
NOTHING = Campaign(name="", title="", targets=[], benchmark=[])
RING = inventory.root() / "fieldbus/kadenz-motion/layouts/terminals-ring.toml"
MACHINE_AT = 18  # e_machine of an ELF header


def refusal(target: str = CARDS, **values: object) -> UsageError:
    with pytest.raises(UsageError) as refused:
        ProgramChoice.asked(values, NOTHING).check([parse_target(target)])
    assert refused.value.remedy
    return refused.value


def program(folder: Path, machine: int = 62) -> Path:
    """/bin/true, perhaps for another machine."""
    file = folder / "master"
    image = bytearray(Path("/bin/true").read_bytes())
    image[MACHINE_AT : MACHINE_AT + 2] = machine.to_bytes(2, "little")
    file.write_bytes(image)
    return file


def test_a_command_is_a_file_and_its_arguments_as_a_shell_has_them() -> None:
    (given,) = ProgramChoice.asked({"program": "./m 'a b' --x=1"}, NOTHING).variants(
        parse_target(CARDS)
    )
    assert given.program == GivenProgram(Path("m"), ("a b", "--x=1"))
    assert [entry.value for entry in given.entries] == ["m 'a b' --x=1"]
    assert given.suffix == "-m"


def test_what_is_no_program_of_the_guest_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "master.sh"
    script.write_text("#!/bin/sh\n")
    assert "not an ELF file" in refusal(program=str(script)).message
    assert "master" in refusal(program=str(tmp_path / "master")).message
    other = refusal(program=str(program(tmp_path, machine=183)))
    assert "built for EM_AARCH64, and the guest is x86_64" in other.message
    library = tmp_path / "library.so"
    subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(library)], check=True)
    assert "an object or a library" in refusal(program=str(library)).message
    assert "names no file" in refusal(program=" ").message
    assert "line break" in refusal(program=f"{program(tmp_path)} 'a\nb'").message


def test_a_target_without_network_cards_is_refused_and_those_with_them_are_named(
    tmp_path: Path,
) -> None:
    for target in ("linux-rt/x86_64@guest", "freertos/stm32f4@emulated"):
        refused = refusal(target, program=str(program(tmp_path)))
        assert "has no network cards" in refused.message
        assert CARDS in (refused.remedy or "")


def test_a_ring_without_a_program_is_refused() -> None:
    assert "--program" in (refusal(ring=str(RING)).remedy or "")


def test_a_ring_is_checked_by_the_segment(tmp_path: Path) -> None:
    ring = tmp_path / "ring.toml"
    ring.write_text('[[device]]\nname = "a"\nkind = "toaster"\n')
    refused = refusal(program=str(program(tmp_path)), ring=str(ring))
    assert refused.message.startswith(f"--ring {ring}: ") and "toaster" in refused.message
    assert "segment.md" in (refused.remedy or "")
    shutil.copy(RING, ring)
    ProgramChoice.asked({"program": str(program(tmp_path)), "ring": str(ring)}, NOTHING).check(
        [parse_target(CARDS)]
    )


def test_an_esi_file_outside_the_folder_of_its_ring_is_refused(tmp_path: Path) -> None:
    """Also one that is inside by an absolute path: the guest has the folder elsewhere."""
    esi = next((inventory.root() / "fieldbus").rglob("*.xml"))
    (tmp_path / "rings").mkdir()
    ring = tmp_path / "rings/ring.toml"
    for inside, place in ((tmp_path, "../drive.xml"), (ring.parent, f"{ring.parent}/drive.xml")):
        shutil.copy(esi, inside / "drive.xml")
        ring.write_text(f'[[device]]\nname = "a"\nkind = "coupler"\nesi = "{place}"\n')
        refused = refusal(program=str(program(tmp_path)), ring=str(ring))
        assert "drive.xml is not inside the folder of the ring" in refused.message, refused.message
    ring.write_text('[[device]]\nname = "a"\nkind = "coupler"\nesi = "drive.xml"\n')
    above = ring.parent / "../rings/ring.toml"
    ProgramChoice.asked({"program": str(program(tmp_path)), "ring": str(above)}, NOTHING).check(
        [parse_target(CARDS)]
    )


def test_the_files_of_a_program_are_in_the_archive(tmp_path: Path) -> None:
    (tmp_path / "esi").mkdir()
    (tmp_path / "esi/drive.xml").write_text("<x/>")
    ring = tmp_path / "ring.toml"
    ring.write_text('[[device]]\nname = "a"\nkind = "drive"\nesi = "esi/drive.xml"\n')
    given = GivenProgram(program(tmp_path), ("eth0", "1000"), ring)
    entries = given.entries()
    assert list(entries) == [
        FOLDER,
        f"{FOLDER}/program",
        f"{FOLDER}/arguments",
        f"{FOLDER}/ring.toml",
        f"{FOLDER}/esi",
        f"{FOLDER}/esi/drive.xml",
    ]
    command = entries[f"{FOLDER}/arguments"]
    assert isinstance(command, File) and command.data == b"master\neth0\n1000\n"
    assert given.root == tmp_path and len(given.sources) == 3
    changed = GivenProgram(given.file, ("eth1", "1000"), ring)
    assert given.digest != changed.digest
