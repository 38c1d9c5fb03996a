# SPDX-License-Identifier: Apache-2.0
"""The sources of an image without its kernel: what a project of the user's has to compile.

The list comes from CMake, which knows which files of a port fit the kernel's version and the board.
Nothing is compiled.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz import __version__
from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.kernel import Kernel
from kadenz.config.target_name import TargetName
from kadenz.images.image import compile_commands

MAIN = "main.c"
SETTINGS = "kadenz_settings.h"  # every definition, included before each file
KERNEL_SETTINGS = "kernel-settings"
_LACKS = "lacks.c"
_STARTUP = re.compile(r"(arch|boards)/.*(start|vectors)\.[cS]")  # reset and its vectors
_OWN_DEFINITION = "KDZ_"


@dataclass(frozen=True)
class Suite:
    """Sources for one kernel on one board. Paths are relative to the folder of the export."""

    target: TargetName
    kernel: Kernel
    board: Board
    contents: dict[str, bytes]  # every file
    sources: tuple[str, ...]  # to compile, without the next two
    startup: tuple[str, ...]  # reset and vectors: for a project without its own
    include: tuple[str, ...]  # include folders
    linker_script: str  # of the board; part of the start-up
    linker_folders: tuple[str, ...]  # of scripts that it includes
    kernel_definitions: tuple[str, ...]  # "NAME=VALUE", for the kernel's configuration
    rules: str  # CMake file that has the kernel's own rules build it; "" if the project does
    instrument: str  # how the image takes time stamps

    @property
    def version(self) -> str:
        """Of the suite, as semantic versioning writes it: managers of components ask for that."""
        return __version__.replace(".dev", "-dev.")

    @property
    def title(self) -> str:
        """Kernel and board in words: "FreeRTOS on STM32F405"."""
        return f"{self.kernel.title} on {self.board.title}"


def suite_sources(target: TargetName, tree: Path | None, instrument: str) -> Suite:
    """The sources for `target` and an instrument; `tree` replaces the kernel's own source.

    Raises as a build.
    """
    with tempfile.TemporaryDirectory(prefix="kadenz-export-") as build:
        commands = compile_commands(target, tree, Path(build), instrument)
        return _Collected(target, commands, Path(build)).suite(instrument)


class _Collected:
    """Files in the compile commands of an image."""

    def __init__(self, target: TargetName, commands: Sequence[dict[str, str]], build: Path) -> None:
        self._target, self._build = target, build
        self._places = [place.resolve() for place in inventory.places()]
        self._kernel = inventory.kernel(target.kernel)
        self._port = inventory.kernel_folder(self._kernel.port or target.kernel)
        self._rules = self._kernel.source.rules if self._kernel.source else ""
        files = [(Path(entry["file"]), shlex.split(entry["command"])) for entry in commands]
        are_own = [
            self._name(file) and not self._built_by_rules(command) for file, command in files
        ]
        self._sources = [source for source, is_own in zip(files, are_own, strict=True) if is_own]
        of_kernel = [
            command for (_, command), is_own in zip(files, are_own, strict=True) if not is_own
        ]
        # Folders that the kernel's own files see as well hold its configuration. The port's own
        # folder is none: a kernel that is configured at compile time may look there. Rules of the
        # kernel read the port's folders in the export itself.
        seen = {*_included(of_kernel)}
        self._settings = set() if self._rules else seen - {self._port}
        self._read_by_rules = seen if self._rules else set()
        self._include = [
            folder
            for folder in _included(command for _, command in self._sources)
            if self._name(folder)
        ]

    def _name(self, file: Path) -> str:
        """The path of a file in the export; "" if it is not kadenz's or the lab's."""
        if file.parent == self._build:
            return _LACKS if file.name == _LACKS else ""
        home = next((place for place in self._places if file.is_relative_to(place)), None)
        if home is None or file.is_relative_to(inventory.build_folder()):
            return ""
        name = str(file.relative_to(home))
        return MAIN if name == "suite/core/main.c" else name

    def _built_by_rules(self, command: Sequence[str]) -> bool:
        """Whether a project below the image's own compiles the file."""
        return bool(self._rules) and not command[command.index("-o") + 1].startswith("CMakeFiles/")

    def _for_rules(self) -> list[Path]:
        """The files of the port in the folders that the kernel's rules read."""
        ours = {"kernel.toml", "kernel.cmake", f"{inventory.board(self._target.board).arch}.cmake"}
        folders = [folder for folder in self._read_by_rules if folder.is_relative_to(self._port)]
        files = [file for folder in folders for file in folder.iterdir() if file.is_file()]
        return [file for file in files if file.name not in ours]

    def suite(self, instrument: str) -> Suite:
        """Everything. Sources are in the order in which kadenz links them."""
        contents = {self._name(file): file.read_bytes() for file, _ in self._sources}
        sources = list(contents)
        include = [folder for folder in self._include if folder not in self._settings]
        for folder in {*include, *(file.parent for file, _ in self._sources)} - self._settings:
            if folder != self._build:
                contents |= {self._name(file): file.read_bytes() for file in _headers(folder)}
        for folder in self._settings:
            for file in _headers(folder) if self._name(folder) else ():
                contents[f"{KERNEL_SETTINGS}/{file.name}"] = file.read_bytes()
        (script,) = inventory.board_folder(self._target.board).glob("*.ld")
        more = [
            linker_script
            for folder in sorted({file.parent for file, _ in self._sources})
            for linker_script in folder.glob("*.ld")
        ]
        for_rules = self._for_rules()
        contents |= {self._name(file): file.read_bytes() for file in for_rules}
        included = [file for file in more if file != script and file not in for_rules]
        contents |= {self._name(file): file.read_bytes() for file in (script, *included)}
        definitions = _definitions(command for _, command in self._sources)
        suite_definitions = {name: value for name, value in definitions.items() if _is_own(name)}
        contents[SETTINGS] = _settings_header(suite_definitions).encode()
        license_text = inventory.root() / "LICENSE"
        if license_text.is_file():
            contents["LICENSE"] = license_text.read_bytes()
        return Suite(
            target=self._target,
            kernel=self._kernel,
            board=inventory.board(self._target.board),
            contents=dict(sorted(contents.items())),
            sources=tuple(s for s in sources if s != MAIN and not _STARTUP.fullmatch(s)),
            startup=tuple(s for s in sources if _STARTUP.fullmatch(s)),
            include=tuple(dict.fromkeys(self._name(folder) for folder in include)),
            linker_script=self._name(script),
            linker_folders=tuple(dict.fromkeys(self._name(file.parent) for file in included)),
            kernel_definitions=tuple(
                f"{name}={value}".removesuffix("=")
                for name, value in definitions.items()
                if not _is_own(name) and not self._rules
            ),
            rules=self._name(self._port / self._rules) if self._rules else "",
            instrument=instrument,
        )


def _is_own(name: str) -> bool:
    return name.startswith(_OWN_DEFINITION)


def _included(commands: Iterable[Sequence[str]]) -> list[Path]:
    """The folders of -I, each once."""
    options = (word for command in commands for word in command if word.startswith("-I"))
    return [Path(word[2:]).resolve() for word in dict.fromkeys(options)]


def _headers(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.h"), *folder.glob("kadenz/*.h")])


def _definitions(commands: Iterable[Sequence[str]]) -> dict[str, str]:
    """Every -D of these commands, by name."""
    definitions = {}
    for command in commands:
        for word in command:
            if word.startswith("-D"):
                name, _, value = word[2:].partition("=")
                definitions[name] = value
    return dict(sorted(definitions.items()))


def _settings_header(definitions: dict[str, str]) -> str:
    lines = [f"#define {name} {value}".rstrip() for name, value in definitions.items()]
    return "\n".join(
        [
            "/* SPDX-License-Identifier: Apache-2.0",
            " *",
            f" * Written by kadenz {__version__}. Each file of the suite is compiled with",
            f" * `-include {SETTINGS}`. HELLO reports the texts: correct those that are not",
            " * true of your build.",
            " */",
            "#ifndef KADENZ_SETTINGS_H",
            "#define KADENZ_SETTINGS_H",
            "",
            *lines,
            "",
            "#endif",
            "",
        ]
    )
