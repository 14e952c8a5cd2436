"""Interpret a word in a cell of answers or labels: option, yes or no, or empty."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from math import gcd

from core.domain.rubric import Criterion
from core.text.names import fold

#: Other words for MET and UNMET: words for yes and no in pairs, as one file uses them.
YES_NO = (
    *(("yes", "no"), ("y", "n"), ("true", "false")),
    *(("pass", "fail"), ("passed", "failed"), ("met", "unmet"), ("met", "not met")),
    *(("ja", "nein"), ("ja", "nee"), ("ja", "nej"), ("oui", "non"), ("sí", "no"), ("si", "no")),
    *(("sì", "no"), ("sim", "não"), ("tak", "nie"), ("ano", "ne"), ("kyllä", "ei")),
    *(("evet", "hayır"), ("да", "нет"), ("так", "ні"), ("ναι", "όχι"), ("はい", "いいえ")),
    *(("是", "否"), ("예", "아니요"), ("예", "아니오"), ("نعم", "لا"), ("כן", "לא")),
)
YES = frozenset(yes for yes, _ in YES_NO)
NO = frozenset(no for _, no in YES_NO)
#: Words that mean yes only in a yes/no question, or next to such words.
SIGN_PAIRS = (
    *(("\u2713", "\u2717"), ("\u2714", "\u2718"), ("\u2705", "\u274c")),
    *(("\u2611", "\u2716"), ("\U0001f44d", "\U0001f44e")),
)
YES_SIGNS = frozenset({"1", "t", *(yes for yes, _ in SIGN_PAIRS)})
NO_SIGNS = frozenset({"0", "f", *(no for _, no in SIGN_PAIRS)})
#: Words for "cannot be assessed".
_AWAY = (
    "cannot_assess|cannot assess|not applicable|abstain|abstained|?|unable to assess|cannot judge"
    "|unable to judge|cannot rate|unable to rate|not assessable|nicht beurteilbar|kann ich nicht"
    " beurteilen|nicht bewertbar|non évaluable|impossible à évaluer|no evaluable|non valutabile"
    "|niet te beoordelen|não avaliável"
)
AWAY = frozenset(_AWAY.split("|"))
#: Words for "was not assessed".
_NOT_ASSESSED = (
    "not assessed|not evaluated|not rated|not scored|not graded|not marked|did not assess"
    "|didn't assess|did not evaluate|nicht beurteilt|nicht bewertet|nicht eingeschätzt|non évalué"
    "|non évaluée|non noté|non notée|non apprécié|non valutato|non valutata|no evaluado"
    "|no evaluada|no valorado|sin evaluar|não avaliado|não avaliada|niet beoordeeld|未评|未採点"
    "|non codable|not codable|uncodable|nicht codierbar|nicht kodierbar|no codificable"
)
#: Words for "not available"; if an option of the rubric has that name, they mean that option.
_NA = frozenset({"na", "n/a"})
#: Cells without an answer: empty, a dash, or a program's word for null.
NO_ANSWER = frozenset(
    {
        "",
        "-",
        "\u2013",
        "\u2014",
        *_NA,
        *_NOT_ASSESSED.split("|"),
        "nan",
        "none",
        "null",
        "<na>",
        "#n/a",
        "#nv",
        "#null!",
        "\\n",
    }
)

#: Words that mean "no number", by language, separated by bars.
_ABSENCES = (
    "abs|absent|absence|away|excused|exempt|missing|pending|no show|no-show|dns|dnf|ns|n/s"
    "|not submitted|no submission|not done|not coded"
    "|needs grading|needs marking|not yet graded|ungraded|ex|exc|exempted"
    "|coi|conflict|conflict of interest|recused|recusal|abstention",
    ".|..|n.a.|n. a.|not available|no data|no response|nil|n/d|n.d.|n/r|n.r.|---|--",
    "k.a.|ka|k. a.|keine angabe|entsch.|entschuldigt|unentsch.|unentschuldigt|abwesend|krank|fehlt"
    "|ausstand|im ausstand|befangen|enthaltung"
    "|entf.|entfällt|nicht erschienen|nicht abgegeben|nb|n.b.|n. b.",
    "abs.|absente|non rendu|dispensé|dispensée|disp|disp.|excusé|excusée|nn"
    "|non renseigné|nr|n.c.|n. c.|nc|n/c|non communiqué|s/o|s.o.|s. o.|sans objet"
    "|récusé|récusée|récusation",
    "ns/nc|ns/nr|ausente|no presentado|np|n.p.|no entregado|sin nota|s/d|sin dato"
    "|s/r|faltou|não entregue|sem nota",
    "assente|astenuto|astenuta|abstención|se abstiene|abstenção",
    "n.v.t.|nvt|niet van toepassing|non consegnato"
    "|afwezig|niet ingeleverd|nieobecny|nieobecna|frånvarande"
    "|fraværende|yok|gelmedi|girmedi|ast.|niet verschenen|non presentato|did not attend",
    "отсутствует|отсутствовал|отсутствовала|н/я|не явился|неявка|не сдано|нет оценки"
    "|з/о|н/о|н/д|нет ответа|затрудняюсь|затрудняюсь ответить|затруднились ответить",
    "缺考|缺席|未提交|弃权|缺失|欠席|未提出|결석|미제출|غائب|נעדר",
)
#: These words in lower case; they count as empty in columns of numbers.
ABSENT = frozenset(fold(word) for words in (*_ABSENCES, _NOT_ASSESSED) for word in words.split("|"))


def is_yes(word: str) -> bool | None:
    """Return whether a word means yes or no, or ``None`` for other words.

    >>> [is_yes(word) for word in ("TRUE", "1.0", "F", "2")]
    [True, True, False, None]
    """
    plain = fold(word).removesuffix(".0")
    if plain in YES or plain in YES_SIGNS:
        return True
    return False if plain in NO or plain in NO_SIGNS else None


#: The highest mark; larger numbers are levels if they have a round step and are few.
_MOST_POINTS, MOST_STEPS, _ROUND = 100, 20, 5


def may_be_marks(numbers: Collection[float]) -> bool:
    """Return whether numbers are in the range of marks, or are a few round levels beyond it.

    >>> may_be_marks([3.5, 98]), may_be_marks([0, 120, 200]), may_be_marks([812, 849])
    (True, True, False)
    """
    most = max(map(abs, numbers), default=0)
    if most <= _MOST_POINTS:
        return True
    step = gcd(*map(int, numbers)) if all(n % 1 == 0 for n in numbers) else 0
    return step >= _ROUND and most <= step * MOST_STEPS


def holds_no_answer(criterion: Criterion | None, word: str) -> bool:
    """Return whether a cell is empty, or a word for empty that is not an option.

    >>> asked = Criterion(name="c", requirement="r")
    >>> [holds_no_answer(asked, word) for word in ("", "NaN", "N/A", "MET")]
    [True, True, True, False]
    """
    if fold(word) not in NO_ANSWER:
        return False
    return criterion is None or option_named(criterion, word) is None


_SEVERAL = re.compile(r"\s*[;|]\s*|,\s+|\n")


def label_lists_in(words: Collection[str]) -> list[str]:
    """Return the words that list several labels: each part is a word, or part of another word.

    >>> label_lists_in(["pay; hours", "hours", "pay", "so, so"])
    ['pay; hours']
    """
    parts = {word: [p for p in _SEVERAL.split(fold(word)) if p] for word in words}
    single = {fold(word) for word in words}
    counts = Counter(part for part_list in parts.values() for part in set(part_list))
    return [
        word
        for word, part_list in parts.items()
        if len(part_list) > 1 and any(counts[p] > 1 or p in single for p in part_list)
    ]


def option_named(criterion: Criterion, label: str) -> int | None:
    """Return the choice that a label in a file means, or ``None``.

    Case and spaces are ignored. Without an exact option, ``3.0`` is ``3``. If the options are MET
    and UNMET, or other words for yes and no, then yes, true, T and 1 mean the first, and no, false,
    F and 0 the second. ``NA`` and ``N/A`` mean the rubric's own option for "not applicable".

    >>> asked = Criterion(name="c", requirement="r")
    >>> [option_named(asked, word) for word in ("met", "No", "1.0", "maybe")]
    [0, 1, 0, None]
    """
    for spelling in _spellings(criterion, label):
        option = criterion.index_of(spelling)
        if option is not None:
            return option
    return None


def _spellings(criterion: Criterion, label: str) -> Iterator[str]:
    yield label
    integer = label.strip().removesuffix(".0")
    yield integer
    if (yes := is_yes(integer)) is not None:
        yield from (label for label in _yes_and_no(criterion) if is_yes(label) is yes)
    if fold(integer) in _NA:
        yield from (
            o.label for o in criterion.options if o.na and fold(o.label) in {*_NA, "not applicable"}
        )


def _yes_and_no(criterion: Criterion) -> tuple[str, ...]:
    """Return the two options that mean yes and no, or ``()``."""
    labels = tuple(criterion.choices[at].label for at in criterion.scored)
    folded = {fold(label) for label in labels}
    sides = (folded & YES, folded & NO)
    return labels if len(labels) == 2 and all(sides) else ()


#: Pairs of words for yes and no, for a file that uses only one of them.
_PAIRS = (*YES_NO, ("1", "0"), ("t", "f"), *SIGN_PAIRS)


def opposite_word(word: str) -> str:
    """Return the other word of a pair, in the same letter case."""
    small = fold(word)
    opposite = next(pair[pair[0] == small] for pair in _PAIRS if small in pair)
    return opposite.upper() if word.isupper() else opposite.title() if word.istitle() else opposite
