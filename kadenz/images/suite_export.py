# SPDX-License-Identifier: Apache-2.0
"""Writes the suite, a port and a board as sources for a project of the user's."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.images import suite_forms
from kadenz.images.needed_settings import needed_settings
from kadenz.images.suite_sources import KERNEL_SETTINGS, MAIN, SETTINGS, Suite


def check_folder(folder: Path) -> None:
    """UsageError if something is in `folder`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder}: not an empty folder", remedy="Name a new folder, or remove that one first"
        )


def write_suite(suite: Suite, form: str, folder: Path) -> None:
    """Writes `suite` in one form: the whole folder, or nothing."""
    check_folder(folder)
    chosen = suite_forms.form(form)
    texts = {**chosen.files(suite), "README.md": readme(suite, form)}
    contents = suite.contents | {name: text.encode() for name, text in texts.items()}
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, content in contents.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        part.chmod(0o755)
        part.replace(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def readme(suite: Suite, form: str) -> str:
    """Ten lines, to the first run."""
    kernel, board = suite.target.kernel, suite.target.board
    page = suite.board.tier.emulated or suite.board.tier.rtl
    target = f"{board}@{suite.target.tier}"
    steps = [
        suite_forms.form(form).how.strip(),
        _kernel(suite),
        f"Compile with optimisation, as C11, and with `-include {SETTINGS}`. That file has the "
        "board's values and the texts that HELLO reports; correct a text that is not true of your "
        "build.",
        f"Start-up of kadenz: {_code(*suite.startup)}, with {_code(suite.linker_script)}. Your own "
        "start-up connects the board's software interrupt to `kdz_irq_entry`. Your own linker "
        "script has `KEEP(*(kdz_bench))`, `KEEP(*(kdz_mechanisms))` and the symbols "
        "`kdz_storage`, `kdz_storage_end`, `kdz_stack_top`"
        + (f", `kdz_plan_page = {page.plan_address:#010x}`" if page is not None else "")
        + ".",
        f"`{MAIN}` starts the board, the clock and the kernel, which calls `kdz_suite_main`. A "
        "project with its own `main` makes these three calls there.",
        *(f"`{command}`" for command in _first_runs(suite, target)),
    ]
    head = [
        f"# kadenz {suite.version}: the suite for {suite.title}",
        f"Written by `kadenz export-suite --as {form} --kernel {kernel} --board {board} "
        f"--instrument {suite.instrument}`. License: Apache-2.0.",
        "",
    ]
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    return "\n".join([*head, *numbered, ""])


def _first_runs(suite: Suite, target: str) -> tuple[str, str]:
    """Purpose of this instrument."""
    given = f"{target} --image YOUR.elf"
    if suite.instrument == "scope":
        return (
            f"kadenz profile itc/queue --target {given}",
            f"kadenz trace itc/queue --target {given}",
        )
    return (
        f"kadenz conformance {given}",
        f"kadenz run mazzi2021 --target {given} --report report.html",
    )


def _kernel(suite: Suite) -> str:
    """The part of the project: the kernel and its configuration."""
    title = suite.kernel.title
    if suite.rules:
        return (
            f"The kernel is built by its own rules, with files of this folder: `{suite.rules}`. "
            f"Pass `-DKDZ_KERNEL_SOURCE=` with your tree of {title}. YOUR-KERNEL is "
            "`kadenz-kernel`, linked to `kadenz` already. Call `kdz_kernel_program(YOUR-APP)` "
            "after the last `target_link_libraries`."
        )
    settings = any(name.startswith(f"{KERNEL_SETTINGS}/") for name in suite.contents)
    sentences = [f"Your project provides {title} and its include folders."]
    if suite.kernel_definitions:
        sentences.append(f"Its configuration has {_code(*suite.kernel_definitions)}.")
    if settings:
        sentences.append(
            f"`{KERNEL_SETTINGS}/` shows the settings that kadenz measures with; it is not on the "
            "include path, since your own files take its place."
        )
    texts = (text.decode() for name, text in suite.contents.items() if name.endswith((".c", ".h")))
    needed = needed_settings(texts)
    if needed:
        sentences.append(f"The port needs {_code(*needed)}; any other value stops the compiler.")
    return " ".join(sentences)


def _code(*names: str) -> str:
    return ", ".join(f"`{name}`" for name in names)
