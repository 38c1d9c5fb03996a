# SPDX-License-Identifier: Apache-2.0
"""servers/NAME.toml: a program that speaks the GDB remote protocol with a board.

Texts may hold placeholders: `{port}` of the protocol, `{chip}` (the board's name for its chip in
this server), `{transport}` of the board, `{usb}` and `{serial}` of the probe, `{folder}` of this
execution, and `{elf}`. Two placeholders stand for several arguments: `{probe}` for those that
choose the probe, and `{interface}` for those that say how it is driven.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from kadenz.config.model import FileModel

# Clock class of time stamps under this server: silicon, or counted instructions.
ServerClock = Literal["hardware", "instruction", "cycle-exact"]
_SEVERAL = {"probe", "interface"}
_PLACEHOLDERS = _SEVERAL | {"port", "chip", "transport", "usb", "serial", "folder", "elf"}


class DebugServer(FileModel, kw_only=True, frozen=True):
    """One debug server: how it is started, how it finds a probe, how it resets a chip."""

    title: str  # "OpenOCD"
    program: str
    remedy: str  # how to install it
    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]  # arguments of the program
    probe: tuple[str, ...] = ()  # `{probe}` in the command; left out if the probe is not known
    # `{interface}` by the probe's USB name "vid:pid"; "" is for a probe that is not listed.
    interfaces: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    # The server's own commands after which the chip is reset and halted, sent by `monitor`.
    reset: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    line: str = ""  # a serial line that the server itself provides: "{folder}/line"
    line_opens_s: float = 0.0  # until it notices that somebody has opened this line
    clock: ServerClock = "hardware"
    usb: bool = True  # reaches boards by a probe on USB; False: no probe is looked for
    # The board is simulated: [tier.rtl] of its board.toml, with its JTAG port at this socket.
    simulated_jtag: str = ""
    # Output that says why the server cannot work, although its process lives.
    fatal: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a placeholder that kadenz does not fill."""
        interfaces = (argument for arguments in self.interfaces.values() for argument in arguments)
        lists = (*self.command, *self.probe, *interfaces, *self.reset)
        for text in (*lists, self.line, self.simulated_jtag):
            for part in text.split("{")[1:]:
                word, closed, _ = part.partition("}")
                if closed and word.isidentifier() and word not in _PLACEHOLDERS:
                    raise ValueError(
                        f"`{{{word}}}` in `{text}`: a placeholder is one of "
                        + ", ".join(sorted(_PLACEHOLDERS))
                    )


def filled(text: str, replacements: dict[str, str]) -> str:
    """`text` with its placeholders replaced; other braces stay, they are the server's own."""
    for placeholder, value in replacements.items():
        text = text.replace(f"{{{placeholder}}}", value)
    return text
