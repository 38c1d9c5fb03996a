# SPDX-License-Identifier: Apache-2.0
"""Text of others, such that it stays text wherever it is shown.

Names, versions and reasons come from targets, run folders, captures and file names. A character
that moves a cursor, hides text or turns its order becomes visible: `\\u001b`, as JSON writes it, so
that JSON stays the same JSON. Letters, signs and combining accents stay as they are.
"""

from __future__ import annotations

import re

# The Unicode categories Cc, Cf, Cs, Zl and Zp, and U+FFFE and U+FFFF, which XML forbids. Without
# tabs, ends of lines, and the signs of category Cf that are drawn (U+0600 to U+0605, ...).
_HIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001-\U000e007f]|\r(?!\n)"
)
_HIDDEN_ASCII = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
# What begins a tag, a character reference or a link in Markdown.
_MARKUP = re.compile(r"\\|&(?=#?\w+;)|<(?=[a-zA-Z/!?])|(?<=\])[(\[]|(?<=:)/(?=/)|(?<=\bwww)\.")
_CODE = re.compile(r"[^`]*(`[^`]+`[^`]*)*")  # pairs of backticks stay: only text is in them
# What begins a heading, a list, a quotation, a rule, or the definition of a link.
_BLOCK = re.compile(r"[#>~=]|[-+*_](?=[\s*_-]|$)|\[(?=.*\]:)|(?<=\d)[.)](?=\s|$)")
_FORMULA = re.compile(r"\t|\s*[=+\-@]")


def visible(text: str) -> str:
    """The text, with each character that is no letter, sign or space as `\\uXXXX`."""
    if text.isascii() and len(text.encode().translate(None, _HIDDEN_ASCII)) == len(text):
        return text  # ten times as fast: an export has gigabytes
    return _HIDDEN.sub(_escaped, text)


def markdown_text(text: str) -> str:
    """One line of Markdown that shows the text: no tag, link, heading or list is in it."""
    line = _inline(text.strip())
    digits = len(line) - len(line.lstrip("0123456789"))
    return f"{line[:digits]}\\{line[digits:]}" if _BLOCK.match(line, digits) else line


def markdown_cell(text: str) -> str:
    """The same for a cell of a table."""
    return _inline(text).replace("|", "\\|")


def _inline(text: str) -> str:
    line = _MARKUP.sub(_as_text, " ".join(visible(text).split("\n")).replace("\r", ""))
    return line if _CODE.fullmatch(line) else line.replace("`", "\\`")


def spreadsheet_cell(value: object) -> object:
    """A cell of CSV. Text that a spreadsheet would execute begins with an apostrophe."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _as_text(match: re.Match[str]) -> str:
    return {"&": "&amp;", "<": "&lt;"}.get(match[0], f"\\{match[0]}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
