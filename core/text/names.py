"""Equal and similar-looking names, and text without invisible characters.

Two names are equal if they differ only in case, in white space, in the width of their letters or in
invisible characters; two equal names are refused. Names may also look alike because of letters of
other alphabets: their ``skeletons`` are then equal (after Unicode's UTS 39).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import ValidationInfo

More = ParamSpec("More")
Result = TypeVar("Result")

#: The validation context of stored nouns, whose names were once compared less strictly.
STORED: Mapping[str, bool] = MappingProxyType({"stored": True})

#: Invisible characters that are not in the category "format" (Cf): variation selectors, fillers and
#: joiners that Unicode calls default ignorable.
_UNSEEN = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
#: Greek and Cyrillic letters, and signs; each is followed by the Latin letter that it looks like.
_ALIKE = (
    # Cyrillic, capital and small
    "АAВBЕEЅSІIЈJКKМMНHОOРPСCТTУYХXЗ3ԚQԜWҮYЁEӀI"
    "аaеeѕsіiјjоoрpсcуyхxԁdԛqԝwһhүyӏlкkѵvёe"
    # Greek, capital and small
    "ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX"
    "αaγyιiκkνvοoρpσoτtυuχxωw"
    # Latin of other kinds, and signs
    "ıiɑaɡgɩiʋuɪi’'‘'ʼ'‐-‑-–-—-−-"
)
_LATIN = str.maketrans(dict(zip(_ALIKE[::2], _ALIKE[1::2], strict=True)))
_STROKES = str.maketrans("I1|0", "lllO")


#: A longer text is a submission or an attack: it hardly occurs again, and would fill the memory.
_KEPT_UP_TO = 120


def kept_if_short(
    of: Callable[Concatenate[str, More], Result],
) -> Callable[Concatenate[str, More], Result]:
    """Return a function that answers once for the same short text (and the same other values)."""
    kept = cast("Callable[Concatenate[str, More], Result]", lru_cache(maxsize=8192)(of))

    @wraps(of)
    def answer(text: str, /, *more: More.args, **named: More.kwargs) -> Result:
        return (kept if len(text) <= _KEPT_UP_TO else of)(text, *more, **named)

    return answer


@kept_if_short
def fold(label: str) -> str:
    r"""Return a label in the form in which equal labels match.

    Case, extra spaces, invisible characters and different encodings of a letter are removed.

    >>> fold("  Partly\u00a0 Cor\u200brect ")
    'partly correct'
    """
    if not label.isascii():
        label = without_unseen(unicodedata.normalize("NFKC", label))
    return " ".join(label.casefold().split())


def without_unseen(text: str) -> str:
    """Return the text without invisible characters."""
    if text.isascii():
        return text
    return "".join(c for c in text if ord(c) not in _UNSEEN and unicodedata.category(c) != "Cf")


def same_name(name: str, info: ValidationInfo) -> str:
    """Return the form in which equal names match when a noun is validated.

    Nouns stored before invisible characters were checked stay readable.
    """
    if info.context and info.context.get("stored"):
        return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return fold(name)


def skeletons(name: str) -> tuple[str, str]:
    """Return two normal forms of a name's appearance; names look alike if either form is the same.

    They cover Greek and Cyrillic letters that look like Latin ones, and dashes; the second form
    also ``1``, ``I``, ``l`` and ``|``, and ``0`` and ``O``. Other alphabets, and pairs of letters
    (``rn`` and ``m``), are not covered.

    >>> skeletons("Сlarity")[0] == skeletons("Clarity")[0]
    True
    >>> skeletons("Mail") == skeletons("Mall")
    False
    """
    visible_name = without_unseen(unicodedata.normalize("NFKC", name)).translate(_LATIN)
    forms = (visible_name, visible_name.translate(_STROKES))
    letters, strokes = (" ".join(form.casefold().split()) for form in forms)
    return letters, strokes


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
    r"""Return the text with visible signs for control, bidirectional and invisible characters.

    >>> visible("a\u202eb\x07")
    'a⟦RLO⟧b␇'
    """
    return _SUSPECT.sub(_visible_sign, text.replace("\r\n", "\n"))


def _visible_sign(match: re.Match[str]) -> str:
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
