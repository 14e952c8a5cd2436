"""Leaderboards, whose rows are the results of many votes and not votes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import RANKS, has_word, plain_heading
from core.formats.votes.structure.values import Values
from core.formats.votes.structure.vote_headings import names_a_system

_COMPETITOR = re.compile(
    r"(player|team|method|approach|agent|bot|competitor|candidate|contestant|script|spieler|joueur"
    r"|jugador|giocatore)s?( name)?"
)
_SCORE = re.compile(
    r"\b(score|rating|elo|win ?rate|winrate|strength|skill|ability|mean|average|avg|punkte|wertung"
    r"|note|puntuacion|punteggio|pontuacao|theta|logit|true score)\b"
)
_SPREAD = re.compile(
    r"\b(ci|\d\d ?% ?ci|confidence interval|interval|margin|std|stderr|std err|standard error|se"
    r"|sd|lower|upper|rating q\d+|q\d+|konfidenzintervall|ki|ic|intervalle|intervalo)\b|±"
)
#: `+14/-13`, `±7`, `[1180, 1194]`: how far a result may be off.
_SPREAD_CELL = re.compile(r"\+?\d+([.,]\d+)? ?/ ?[-−]\d+.*|±.*|[\[(]-?\d+.*[,;–-].*\d[\])]")
_COUNT = re.compile(
    r"\b(votes|battles|games|matches|comparisons|judgements|judgments|wins|losses|n|count"
    r"|stimmen|spiele|vergleiche|parties|duels|partidas|votos|voti)\b"
)
#: A count of votes that is no mark is larger.
_MARK = 10


def why_leaderboard_unread(values: Values) -> str:
    """Return why a table of results by system is not read and what to bring, or ""."""
    names = [c for c in values.columns if values.uniqueness([c]) == 1 and not values.is_number(c)]
    names = [c for c in names if names_a_system(c) or _COMPETITOR.fullmatch(plain_heading(c))]
    if not names or values.size < 3:
        return ""
    found = {
        what: [c for c in values.columns if c not in names and is_it(values, c)]
        for what, is_it in _KINDS.items()
    }
    kinds = {what for what, columns in found.items() if columns}
    if "score" not in kinds or len(kinds) < 3:
        return ""
    listed = ", ".join(repr(c) for c in values.columns if any(c in of for of in found.values()))
    return (
        f"It holds results, not votes: each row sums up the votes on one {names[0]!r} ({listed}). "
        "Bring the votes that they were computed from: a row for each, with the two that were "
        "compared and which was better, or with what was rated, by whom, and the rating."
    )


def _is_place(values: Values, column: str) -> bool:
    places = [number_of(word) for word in values.words[column]]
    ranked = has_word(column, RANKS) or column.strip() == "#"
    return ranked and None not in places and min(places, key=lambda n: n or 0) == 1


def _is_spread(values: Values, column: str) -> bool:
    words: Sequence[str] = [*values.distinct[column]]
    return bool(_SPREAD.search(plain_heading(column)) or all(map(_SPREAD_CELL.fullmatch, words)))


def _is_count(values: Values, column: str) -> bool:
    if not _COUNT.search(plain_heading(column)) or not values.is_number(column):
        return False
    numbers = [number_of(word) or 0.0 for word in values.distinct[column]]
    return max(numbers) > _MARK and all(n.is_integer() and n >= 0 for n in numbers)


def _is_score(values: Values, column: str) -> bool:
    number = values.is_number(column) and bool(_SCORE.search(plain_heading(column)))
    return number and not _SPREAD.search(plain_heading(column))


#: What a leaderboard says of a system.
_KINDS: dict[str, Callable[[Values, str], bool]] = {
    "place": _is_place,
    "spread": _is_spread,
    "count": _is_count,
    "score": _is_score,
}
