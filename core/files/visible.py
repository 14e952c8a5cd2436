"""Text that others wrote, without what cannot be seen or would turn the text around."""

from __future__ import annotations

import re

_NAMES = {
    0x200B: "ZWSP",
    0x200E: "LRM",
    0x200F: "RLM",
    0x061C: "ALM",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0xFEFF: "BOM",
}
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""The text with control, bidirectional and invisible characters as signs.

    >>> visible("a\u202eb\x07")
    'a⟦RLO⟧b␇'
    """
    return _SUSPECT.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x0D:
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"⟦{_NAMES.get(code) or f'U+{code:04X}'}⟧"
