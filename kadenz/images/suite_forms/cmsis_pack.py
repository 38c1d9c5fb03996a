# SPDX-License-Identifier: Apache-2.0
"""The description of a CMSIS-Pack: schema 1.7 of Open-CMSIS-Pack, PACK.xsd."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from kadenz.images.suite_sources import MAIN, SETTINGS, Suite

HOW = (
    "Zip the content of this folder as `kadenz.suite.VERSION.pack` and install it (`cpackget "
    "add FILE`). Choose the component kadenz:Suite, and kadenz:Start-up if your project has "
    "no start-up of its own. `main.c` is a template of the first."
)

_SCHEMA = (
    "https://raw.githubusercontent.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec/v1.7.40/schema/PACK.xsd"
)


def files(suite: Suite) -> dict[str, str]:
    """kadenz.suite.pdsc. The name is made of vendor and package."""
    suite_files = [("include", f"{folder}/") for folder in suite.include]
    suite_files += [("preIncludeLocal", SETTINGS), *(("source", name) for name in suite.sources)]
    suite_files += [("doc", "README.md")]
    start = [("source", name) for name in suite.startup] + [("linkerScript", suite.linker_script)]
    main = _file(f'category="source" name="{MAIN}" attr="template" select="main of kadenz"')
    text = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<package schemaVersion="1.7.40" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" \
xs:noNamespaceSchemaLocation="{_SCHEMA}">
  <vendor>kadenz</vendor>
  <name>suite</name>
  <description>{escape(f"Benchmark suite of kadenz for {suite.title}")}</description>
  <url></url>
  <license>LICENSE</license>
  <releases>
    <release version={quoteattr(suite.version)}>Suite of kadenz {escape(suite.version)}</release>
  </releases>
  <components>
    <component Cclass="kadenz" Cgroup="Suite" Cversion={quoteattr(suite.version)}>
      <description>Benchmarks, kernel port and board</description>
      <files>
{_files(suite_files)}{main}      </files>
    </component>
    <component Cclass="kadenz" Cgroup="Start-up" Cversion={quoteattr(suite.version)}>
      <description>Reset, vectors and linker script, for a project without its own</description>
      <files>
{_files(start)}      </files>
    </component>
  </components>
</package>
"""
    return {"kadenz.suite.pdsc": text}


def _files(rows: list[tuple[str, str]]) -> str:
    return "".join(_file(f"category={quoteattr(c)} name={quoteattr(n)}") for c, n in rows)


def _file(attributes: str) -> str:
    return f"        <file {attributes}/>\n"
