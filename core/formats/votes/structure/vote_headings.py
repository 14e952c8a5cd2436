"""What the heading of a column beside votes says it is: a label, a system, a measurement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.formats.columns.headings import (
    is_quantity,
    names_a_judging_model,
    plain_name,
)
from core.formats.columns.text_columns import is_remark
from core.formats.source.heading_words import (
    plain_heading,
)

#: Headings of the answer column in tables with one answer a row.
LABELS = frozenset(
    {
        *("label", "rating", "score", "grade", "mark", "vote", "verdict", "decision"),
        *("judgement", "judgment", "state", "severity", "result", "outcome"),
        *("stars", "sterne", "etoiles", "estrellas", "stelle"),
    }
)


#: First words of measured, not judged, quantities.
_MEASURED = frozenset({"time", "rt", "age", "alter", "edad"})


_SYSTEM = re.compile(
    r"\b(system|model|engine|generator|voice|variant|condition|cond\b|sys\b|llm|checkpoint)|modell|modelo|systeme|sistema"
    r"|\bcondi[cz]i|\bcondicao|\bbedingung|条件|模型|系统|モデル|システム|모델|النموذج|модель|система"
)
#: Words of a heading that is an id, whatever else it says.
IDS = frozenset({"id", "nr", "no", "number", "nummer", "numero", "n°", "编号", "番号"})


def is_measured(column: str) -> bool:
    """Return whether a heading is that of a time, an age or a count."""
    return bool({*plain_heading(column).split()[:1]} & _MEASURED) or is_quantity(column)


def is_overall_heading(column: str) -> bool:
    """Return whether a heading is that of an overall rating, given or computed."""
    return bool(
        re.match(r"(overall|gesamt|global|general|ensemble|conjunto)", plain_heading(column))
    )


def heads_label(column: str) -> bool:
    """Return whether a heading says that it is a rating, a score or a verdict."""
    ranged = re.search(r"%|/ ?\d+|\(\d{1,3}\)", column) or RANGED.search(column)
    return bool({*plain_heading(column).split()} & LABELS or ranged or YES_OR_NO.search(column))


def names_a_system(column: str) -> bool:
    """Return whether a short heading names the system judged, or its condition."""
    words = plain_heading(column)
    named = len(words.split()) < 5 and bool(_SYSTEM.search(words))
    return named and not names_a_judging_model(column)


_FEEDBACK = re.compile(
    r"\bthumbs?\b"
    r"|\b(users?|customers?|visitors?) (feedback|thumbs?|ratings?|scores?|votes?|likes?)\b"
)


def is_users_feedback(name: str) -> bool:
    """Return whether a score's name says that users gave it, though a program sent it.

    >>> [is_users_feedback(name) for name in ("user_thumb", "thumbs up", "user intent")]
    [True, True, False]
    """
    return _FEEDBACK.search(plain_heading(name)) is not None


def item_changes(item: Sequence[str]) -> list[str]:
    """Return an item's columns as `FIELD=COLUMN`, also as `system=COLUMN` if one is a system."""
    ordered = sorted(item, key=names_a_system)
    systems = [c for c in ordered if names_a_system(c)] if len(item) > 1 else []
    return [*(f"item={c}" for c in ordered), *(f"system={c}" for c in systems[:1])]


#: `Tone [1 = rude, 3 = plain, 5 = warm]`: the first and the last of such marks.
WORDED_ENDS = (
    r"[(\[](\d{1,3}) ?[=:] ?[^\d()\[\]]+[,;/–-] ?(?:\d[^()\[\]]*[,;/–-] ?)?"
    r"(\d{1,3}) ?[=:] ?[^\d()\[\]]+[)\]]"
    r"|[(\[][^\d()\[\]]+ ?[=:] ?(\d{1,3}) ?[,;/–-] ?(?:[^()\[\]]*[,;/–-] ?)?"
    r"[^\d()\[\]]+ ?[=:] ?(\d{1,3})[)\]]"
)
#: `Depth (0-15)`, `Depth /5`: the marks of a criterion.
RANGED = re.compile(rf"[(\[]\d+ ?(-|–|/|to|bis|a|à) ?\d+[)\]]|/ ?\d+\)?\Z|{WORDED_ENDS}", re.I)


YES_OR_NO = re.compile(r"[(\[](y ?/ ?n|yes ?/ ?no|j ?/ ?n|ja ?/ ?nein|o ?/ ?n|s ?/ ?n)[)\]]", re.I)


#: A part in brackets at the end of a heading: `(Real)`, `[/20]`.
IN_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]+)[)\]]\Z")


def what_is_remarked_on(heading: str) -> str:
    """Return what a heading says its remarks are about, or "".

    >>> what_is_remarked_on("Essay (Feedback)"), what_is_remarked_on("ann_comment")
    ('essay', 'ann')
    """
    name = plain_name(heading)
    if (part := IN_BRACKETS.search(name)) and is_remark(part[1]):
        return name[: part.start()]
    about, _, last = name.rpartition(" ")
    return about.rstrip(" |:/") if is_remark(last) else ""
