# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of run.json, generated from the models: `python -m kadenz.store.schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from kadenz.config.manifest import SCHEMA_VERSION, Manifest

FILE = Path(__file__).resolve().parents[2] / "schemas" / f"run-{SCHEMA_VERSION}.json"


def schema_text() -> str:
    """The schema, as in the file in schemas/."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kadenz run manifest, version {SCHEMA_VERSION}",
        **msgspec.json.schema(Manifest),
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(schema_text(), encoding="utf-8")
    print(FILE)
