"""What a heading or a text says about the ends of a scale: the lowest, the highest, the best."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from core.errors import Problem
from core.formats.columns.label_words import is_yes
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import FAULTS, RANKS, has_word, plain_heading
from core.formats.tables.sheets import ON_SHEET
from core.formats.votes.structure.graded_words import bare_word
from core.formats.votes.structure.vote_headings import WORDED_ENDS

#: The notice of a criterion that counts against a text.
FAULT = "More of it is worse: the lowest number has value 1, the highest 0."
#: The first words of scales of amounts.
_LEAST = re.compile(
    r"(very |sehr |tres |muy |molto |muito |zeer )?"
    r"(low|niedrig|gering|faible|bajo|basso|baixo|laag)"
    r"|none|no|never|keine?|nie|aucune?|jamais|ningun[oa]?|nunca|nulo|mai|geen|nooit|minimal"
)
#: Handling a risk well, or none at all, is no fault.
_HANDLED = re.compile(
    r"\b(handl|avoid|manag|control|mitigat|correct|detect|absen|free|aware|low|analys|discuss|assess"
    r"|identif|recogni|propagat|prevent|vermeid|vermied|behandel|frei|evit|gest[ií]on|sans"
    r"|without|ohne|sin|sem|senza|zonder|bez|kein|aucun|ningun|nessun|nenhum|geen)"
    r"|\b(no|not|non|nicht|pas|nie|never|none|free of|null|zero|не|без|нет)\b|无|没有|なし|없음"
)
#: Questions whether a text has a fault.
_HAS = re.compile(
    r"\b(contains?|has|have|is|are|any|includes?|exhibits?|shows?|made|makes?|enthalt|hat|ist|gibt"
    r"|contient|comporte|y a t il|contiene|contem|hay|ha|bevat|zawiera|содержит|есть)\b"
    r"|包含|存在|含"
)


def counts_against(criterion: str, lowest: str) -> bool:
    """Return whether a criterion names a fault, and its lowest level is the least of it.

    >>> counts_against("Severity", "0"), counts_against("Severity", "critical")
    (True, False)
    >>> counts_against("Risk handling", "0"), counts_against("Tone", "low")
    (False, False)
    >>> counts_against("Does it contain an error?", "no"), counts_against("No errors", "nein")
    (True, False)
    """
    plain = plain_heading(criterion)
    short = len(plain.split()) < 5 or (is_yes(lowest) is False and _HAS.search(plain))
    named = short and has_word(criterion, FAULTS, whole=True)
    least = number_of(lowest) is not None or is_yes(lowest) is False
    least = least or _LEAST.fullmatch(bare_word(lowest)) is not None
    return bool(named and least) and not _HANDLED.search(plain)


#: `Depth (0-15)`, `Depth (scale 1 to 5)`, `Note de 0 à 10`, `Depth /5`, `Depth (max. 20)`,
#: `Note sur 20`, `Essay [Total Pts: 40 Score] |301`: the lowest and the highest mark.
_OF, _TO = r"(?:from|de|von|da|van|od)", r"(?:-|–|to|bis|a|à|tot|do|até)"
_ENDS = re.compile(
    r"[(\[](?:(?:scale|rat(?:ed|ing)|range|skala|note|punkte|[eé]chelle|escala|scala|schaal)?:? ?)"
    rf"(?:{_OF} )?(\d+) ?{_TO} ?(\d+)(?: (?:points?|pts|punkte?|puntos|punti|pontos|punten))?[)\]]"
    rf"|\b{_OF} (\d+) {_TO} (\d+)[)\]]?\Z"
    r"|(?:/ ?|\bmax(?:imum|\.)? ?"
    r"|(?<!\d)[ (\[](?:out of|sur|sobre|su|von|auf|van|op|av|na|из) )(\d+)[)\]]?\Z"
    r"|\b(?:total pts|max ?points): ?(\d+)(?:\.0+)?\b",
    re.I,
)
_WORDED = re.compile(WORDED_ENDS)


def ends_of(
    criterion: str, given: set[float], told: tuple[float, float] | None = None
) -> set[float]:
    """Return the lowest and the highest mark by a heading, or those told elsewhere.

    Returns none if a mark lies outside.

    >>> ends_of("Depth (max. 20)", {8.0, 13.5}), ends_of("Depth /5", {8.0}), ends_of("Depth", {1.0})
    ({0.0, 20.0}, set(), set())
    >>> ends_of("Essay", {8.0}, (0.0, 10.0))
    {0.0, 10.0}
    >>> sorted(ends_of("Is on time [1 = never, 5 = always]", {2.0, 4.0}))
    [1.0, 5.0]
    """
    match, worded = _ENDS.search(criterion), _WORDED.search(criterion)
    ends = told
    if match:
        low, high, low_after, high_after, *most = match.groups()
        ends = float(low or low_after or 0), float(high or high_after or next(filter(None, most)))
    if worded:
        ends = min(numbers := [float(n) for n in worded.groups() if n]), max(numbers)
    inside = ends and given and ends[0] <= min(given) <= max(given) <= ends[1]
    return {*ends} if ends and inside else set()


#: Headings of points, which have a maximum.
_POINTS = re.compile(r"\b(punkte?|points?|pts|puntos|punti|pontos|punten|pkt|poang|баллы)\b")


def order_sentence(criterion: str, is_ranking: bool, alone: bool, ends: bool) -> str:
    """Return a sentence on which end of the numbers is best; ``ends``: they are told."""
    low_is_least = "The lowest number has value 0, the highest 1."
    if not ends and _POINTS.search(plain_heading(criterion)):
        low_is_least += " The maximum is not told: the ends are those of the marks seen."
    if not has_word(criterion, RANKS, whole=True):
        return low_is_least
    if not is_ranking:
        return f"{low_is_least} If 1 is best, as in a ranking, this is the wrong way round."
    again = " Where the last is best, name it otherwise: --map only=points." if alone else ""
    return f"1 is best, as in a ranking: it has value 1, the last 0.{again}"


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
_DIGITS = r"(?<![\w.,])(\d{1,3})(?![\w])"


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
            rf"{_DIGITS}[^\d]{{0,30}}\b(?:to|bis|a|tot|до)\b[^\d]{{0,9}}{_DIGITS}", plain
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
    after = re.search(rf"{_DIGITS}{_LINK}(?:{words})(?!\w)", plain)
    before = re.search(rf"(?<!\w)(?:{words}) ?= ?{_DIGITS}", plain)
    match = before or after
    return float(match[1]) if match else None
