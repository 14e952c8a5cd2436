"""Whether a file says that the lowest mark is the best: `1 = exceptional, 9 = poor`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from core.errors import Problem
from core.formats.source.heading_words import plain_heading
from core.formats.tables.sheets import ON_SHEET

#: The notice of a criterion whose lowest mark is the best.
LOW_IS_BEST = "The lowest number is the best, as the file says: it has value 1, the highest 0."
_BEST = (
    r"best|excellent|exceptional|outstanding|superb|perfect|ideal|very good|strongest|highest"
    r"|beste[rs]?|sehr gut|hervorragend|ausgezeichnet|exzellent|tres bon|meilleure?|excellente"
    r"|mejor|excelente|muy bueno|sobresaliente|melhor|otimo|muito bom|migliore|ottimo|eccellente"
    r"|uitstekend|zeer goed|najlepsz\w*|basta|utmarkt|отлично|лучш\w*|最好|最高|最優|非常好"
)
_WORST = (
    r"worst|poor|very poor|terrible|bad|very bad|unacceptable|weakest|lowest|fail|ungenugend"
    r"|mangelhaft|schlechteste?|sehr schlecht|schlecht|pire|mauvaise?|tres mauvais|insuffisant"
    r"|peor|malo|muy malo|deficiente|pior|pessimo|ruim|peggiore|scarso|insufficiente"
    r"|slechtst?|onvoldoende|najgorsz\w*|samst|хуж\w*|плохо|最差|最低"
)
_LINK = r" ?(?:=|is|means|ist|bedeutet|est|es|e|is de|,)? ?"
_NUMBER = r"(?<![\w.,])(\d{1,3})(?![\w])"


def lowest_is_best(text: str, marks: Collection[float] = ()) -> bool | None:
    """Return whether a text says that the lowest mark is best, or ``None`` if it does not say.

    If ``marks`` are given, they must lie between the two numbers.

    >>> lowest_is_best("1 = exceptional, 9 = poor"), lowest_is_best("Merit (5 best, 1 worst)")
    (True, False)
    >>> lowest_is_best("Merit, 1 (best) to 9"), lowest_is_best("Scale 1–9, 9 = best")
    (True, False)
    >>> lowest_is_best("The best 3 essays")
    """
    spelt = re.sub(r"(?<=\d) ?[-–—] ?(?=\d)", " to ", text.replace("=", " = "))
    plain = " ".join(plain_heading(spelt).split())
    ends = [_number_beside(plain, words) for words in (_BEST, _WORST)]
    if ends[0] is None and ends[1] is None:
        return None
    if None in ends:  # only one end is named: `1 (best) to 9`, `1-9, 9 = best`
        spans = re.search(
            rf"{_NUMBER}[^\d]{{0,30}}\b(?:to|bis|a|tot|до)\b[^\d]{{0,9}}{_NUMBER}", plain
        )
        others = {float(spans[1]), float(spans[2])} - {*ends} if spans else set[float]()
        if len(others) != 1:
            return None
        ends = [others.pop() if end is None else end for end in ends]
    best, worst = ends
    if best is None or worst is None or best == worst:
        return None
    inside = not marks or (min(best, worst) <= min(marks) and max(marks) <= max(best, worst))
    return best < worst if inside else None


def any_says_lowest_is_best(texts: Iterable[str], marks: Collection[float]) -> bool | None:
    """Return what the first of these texts says that says anything."""
    said = (lowest_is_best(text, marks) for text in texts)
    return next((best for best in said if best is not None), None)


def turned_notices(notices: Iterable[Problem]) -> list[Problem]:
    """Return a warning for each text that contradicts what the others say of the best mark.

    Of one sheet alone, a text that the lowest mark is best may be about its rater.

    >>> said = [Problem("5 = best, 1 = worst"), Problem("1 = best, 5 = worst")]
    >>> [notice.message for notice in turned_notices(said)]
    ["A rater's marks may run the other way round: 1 = best, 5 = worst"]
    """
    said = [(n, low) for n in notices if (low := lowest_is_best(n.message)) is not None]
    general = next((low for n, low in said if not n.message.startswith(ON_SHEET)), False)
    mend = "No mark is turned. If a rater used the scale the other way round, turn it in the file."
    return [
        Problem(f"A rater's marks may run the other way round: {n.message}", mend, (), n.line)
        for n, low in said
        if low != general
    ]


def _number_beside(plain: str, words: str) -> float | None:
    """Return the number next to a word for an end: `9 = poor`, `poor = 9`, `9 (poor)`."""
    after = re.search(rf"{_NUMBER}{_LINK}(?:{words})(?!\w)", plain)
    before = re.search(rf"(?<!\w)(?:{words}) ?= ?{_NUMBER}", plain)
    match = before or after
    return float(match[1]) if match else None
