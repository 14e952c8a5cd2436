"""What judges quoted, shown in the submission itself once their votes are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from core.services.quoting import find_quote
from core.services.reviewing import RevealedCell
from pages.ui.text import esc

#: Underlined and lettered, so that it is told from a person's own marks, and not by colour alone.
_STYLE = "background:none;color:inherit;border-bottom:2px dotted currentColor"


class Quoted(NamedTuple):
    """What one judge quoted; `letter` stands at the end of each passage."""

    letter: str
    judge: str
    passages: tuple[str, ...]


def quoted(cell: RevealedCell | None) -> tuple[Quoted, ...]:
    """The quotes of the votes on a cell, by judge; none before its votes are revealed."""
    found: dict[str, dict[str, None]] = {}
    for view in () if cell is None else cell.view.votes:
        if view.vote is not None:
            found.setdefault(view.cell.judge, {}).update(dict.fromkeys(view.vote.evidence))
    with_quotes = [(judge, tuple(told)) for judge, told in found.items() if told]
    return tuple(
        Quoted(_letter(at), judge, passages) for at, (judge, passages) in enumerate(with_quotes)
    )


def _letter(at: int) -> str:
    """Letters a to z, then a2 to z2 and so on.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'a2')
    """
    round_, place = divmod(at, 26)
    return chr(ord("a") + place) + (str(round_ + 1) if round_ else "")


def legend(text: str, quotes: Sequence[Quoted]) -> str:
    """Who quoted what is underlined, as HTML; empty where none of the quotes is in the text."""
    there = [q for q in quotes if any(find_quote(text, words) for words in q.passages)]
    names = ", ".join(f"<sup>{q.letter}</sup> {esc(q.judge)}" for q in there)
    return f'<span class="rs-quiet">Underlined: quoted by {names}</span>' if there else ""


def layered(text: str, own: Iterable[tuple[int, int]], quotes: Sequence[Quoted]) -> str:
    """The escaped text with a person's own spans highlighted and the judges' quotes underlined.

    >>> layered("a<b", [(0, 1)], [Quoted("a", "Ann", ("<b",))]).replace(_STYLE, "")
    '<mark class="rs-mark">a</mark><mark class="rs-quoted" style="">&lt;b</mark><sup>a</sup>'
    """
    mine = [(max(0, start), min(len(text), end)) for start, end in own]
    theirs = [
        (*span, quote.letter)
        for quote in quotes
        for words in quote.passages
        if (span := find_quote(text, words)) is not None
    ]
    edges = {0, len(text)}.union(*((s, e) for s, e in mine), *((s, e) for s, e, _ in theirs))
    parts, cuts = list[str](), sorted(edges)
    for start, end in pairwise(cuts):
        inside = esc(text[start:end])
        if any(s <= start < e for s, e in mine):
            inside = f'<mark class="rs-mark">{inside}</mark>'
        if any(s <= start < e for s, e, _ in theirs):
            inside = f'<mark class="rs-quoted" style="{_STYLE}">{inside}</mark>'
        ended = sorted({letter for _, e, letter in theirs if e == end})
        parts.append(inside + (f"<sup>{','.join(ended)}</sup>" if ended else ""))
    return "".join(parts)
