# SPDX-License-Identifier: Apache-2.0
"""`--timeout` of every command that measures."""

from __future__ import annotations

from typing import Any

import click

TIMEOUT: dict[str, Any] = {
    "type": click.FloatRange(min=0.1),
    "metavar": "SECONDS",
    "default": 30.0,
    "show_default": True,
    "help": "Seconds of silence after which a target counts as hung.",
}
timeout_option = click.option("--timeout", "timeout_s", **TIMEOUT)
