"""Headings of two answers that say which of them is the better one: winner and loser."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.formats.source.heading_words import plain_heading

#: Words for the better of two answers, by language. Longer words come first: `preferred one` before
#: `preferred`.
_WON = (
    r"winning|winners?|won|chosen|preferred|accepted|better|selected|picked|favou?red"
    r"|gewinner|sieger|gewonnen|besser(e[rs]?)?|bevorzugt(e[rs]?)?|gewahlt(e[rs]?)?"
    r"|gagnante?|vainqueur|prefere?e?|choisie?|retenue?|meilleure?|mieux"
    r"|ganador(a|es)?|preferid[oa]|elegid[oa]|mejor|vencedora?|escolhid[oa]|melhor"
    r"|vincitore|vincitrice|vincente|preferit[oa]|scelt[oa]|migliore"
    r"|winnaar|winnend|gekozen|betere?|wygran[ya]|zwyciezca|lepsz[yae]|wybran[yae]"
    r"|vinnare|vinder|vinner|vald|valgt|battre|bedre|voittaja|parempi|kazanan|daha iyi"
    r"|победитель|выбранн\w+|лучш\w+"
    r"|获胜者?|勝者|胜者|赢家|更好|更优|勝ち|선택|승자"
)
_NOT = r"(?:not|un|non|nicht|pas|no|nao|niet|nie|ikke|inte|не|未) ?"
_LOST = (
    r"losing|losers?|lost|rejected|dispreferred|worse|declined|discarded"
    r"|verlierer|verloren|schlechter(e[rs]?)?|abgelehnt(e[rs]?)?|verworfen(e[rs]?)?"
    r"|perdante?|rejetee?|ecartee?|pire|moins bonn?e?"
    r"|perdedora?|rechazad[oa]|peor|rejeitad[oa]|descartad[oa]|pior"
    r"|perdente|scartat[oa]|rifiutat[oa]|peggiore"
    r"|verliezer|verliezend|afgewezen|slechtere?|przegran[ya]|gorsz[yae]|odrzucon[yae]"
    r"|forlorare|taber|taper|samre|darligere|haviaja|huonompi|kaybeden"
    r"|проигравш\w+|отклоненн\w+|худш\w+"
    r"|落败者?|敗者|败者|输家|更差|拒绝|負け|패자"
)
_BETTER = re.compile(rf"(?<!\w)(?:{_WON})(?!\w)|(?:获胜者?|勝者|胜者|赢家|更好|승자)")
_WORSE = re.compile(
    rf"(?<!\w)(?:{_NOT}(?:{_WON})|{_LOST})(?!\w)|(?:落败者?|敗者|败者|输家|更差|패자)"
)


def decided_sides(headings: Sequence[str]) -> tuple[str, str] | None:
    """Return the headings of the better and the worse answer: the only two that differ just in a
    word such as "winning" and "losing".

    >>> decided_sides(["Losing script", "Winning script", "Judge"])
    ('Winning script', 'Losing script')
    >>> decided_sides(["chosen", "not chosen"]), decided_sides(["winner", "score"])
    (('chosen', 'not chosen'), None)
    """
    better, worse = dict[str, str](), dict[str, str]()
    for heading in headings:
        plain = plain_heading(heading)
        if match := _WORSE.search(plain):
            worse.setdefault(_rest(plain, match), heading)
        elif match := _BETTER.search(plain):
            better.setdefault(_rest(plain, match), heading)
    pairs = [(column, worse[rest]) for rest, column in better.items() if rest in worse]
    return pairs[0] if len(pairs) == 1 else None


def _rest(plain: str, match: re.Match[str]) -> str:
    return " ".join((plain[: match.start()] + plain[match.end() :]).split())
