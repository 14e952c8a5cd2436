"""What the heading of a column says it holds: raters, criteria, sums, quantities."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.formats.source.heading import CRITERIA
from core.formats.source.heading_words import (
    ASPECTS,
    MEASURES,
    PEOPLE,
    PROMPTS,
    RANKS,
    RATERS,
    SUMMARIES,
    has_word,
    plain_heading,
)
from core.text.names import fold, kept_if_short


@kept_if_short
def plain_name(name: str) -> str:
    """Return a column's name as lower-case words.

    `traceId`, `trace_id` and `Trace ID` become the same.
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return lower_heading(parted)


@kept_if_short
def lower_heading(name: str) -> str:
    """Return a heading in lower case, with one space for blanks and dashes."""
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()


#: Prefixes that tools put before the names of their fields.
_PREFIX = re.compile(r"(answer|input|scores?|ratings?|labels?|annotations?|metrics)\s*\.\s*", re.I)


def without_prefix(name: str) -> str:
    """Return a heading without a tool's prefix.

    >>> without_prefix("Answer.quality"), without_prefix("scores.depth"), without_prefix("a.b")
    ('quality', 'depth', 'a.b')
    """
    return _PREFIX.sub("", name, count=1) or name


#: Names of columns that count votes and hold no answers.
COUNTS = frozenset(
    {
        *("n", "n votes", "num votes", "number of votes", "votes", "vote count", "count", "counts"),
        *("n annotators", "num annotators", "n raters", "n ratings", "frequency", "freq"),
    }
)


#: Not sums, despite the word: a maximum (`[Total Pts: 20 Score]`), `Final essay`, `Issue resolved`.
_NO_SUM = re.compile(
    r"[\[<][^\]>]*\d[^\]>]*[\]>]|\b(issue|problem|query|case|ticket|request|call)s?[ _]+resolved"
    r"|\bfinal(?=[^\[(]*(\[.+\] \|\d+|\(\d{3,}\))\Z)"
    r"|(?:exam|test|essay|paper|project|report)[ _]final\b"
    r"|\bfinal[ _](?=exam|test|essay|paper|project|presentation|report|draft|reflection|version)",
    re.I,
)


def is_sum(column: str, others: Sequence[str] = ()) -> bool:
    """Return whether a column's name says that it is a total, or a score next to raters.

    >>> is_sum("resolved_score"), is_sum("score", ["rater1", "rater2"]), is_sum("tone")
    (True, True, False)
    """
    if has_word(_NO_SUM.sub("", column), SUMMARIES, whole=True) or plain_name(column) in COUNTS:
        return True
    beside = sum(map(names_a_rater, others)) > 1
    return beside and "score" in plain_name(column).split() and not names_a_rater(column)


def without_place(columns: Sequence[str]) -> list[str]:
    """Return the columns, without the only one that is headed for places.

    >>> without_place(["Ama", "Bo", "Rank"]), without_place(["Ama rank", "Bo rank"])
    (['Ama', 'Bo'], ['Ama rank', 'Bo rank'])
    """
    places = [c for c in columns if has_word(c, RANKS, whole=True)]
    return [c for c in columns if c not in places or len(places) > 1]


def named_for_raters(columns: Sequence[str]) -> bool:
    """Return whether headings name raters: `rater 1`, `score_a` and `score_b`.

    Numbered questions and parts do not.

    >>> named_for_raters(["R1", "R2"]), named_for_raters(["depth", "tone"])
    (True, False)
    >>> named_for_raters(["Q1", "Q2"]), named_for_raters(["r1_holistic", "r2_holistic"])
    (False, True)
    """
    stems = {stem_of(column) for column in columns}
    alike = len(columns) > 1 and len(stems) == 1 and stems != {""} and not numbered_parts(columns)
    alike = alike and not any(map(is_question, columns))
    codes = [_CODED.fullmatch(plain_heading(column)) for column in columns]
    coded = len({(m[1], m[2]) for m in codes if m}) == 1 < len(columns) and None not in codes
    return alike or coded or all(map(names_a_rater, columns))


#: `r1_holistic`: a numbered rater, and a question that every rater answers.
_CODED = re.compile(r"(r|a|j|c|e|h|ann|annot)\d+ (.+)")


#: `rater1_domain1`, `Rater 2 - clarity`: a numbered rater, and what is rated.
_OF_RATER = re.compile(r"([^\W\d_]+[ _]?\d+)(?:_| [-–—:|/] |: | )([^\W\d_].*)")


def part_beside_raters(columns: Sequence[str]) -> str:
    """Return what all headings name beside a numbered rater each, or "".

    >>> part_beside_raters(["rater1_domain1", "rater2_domain1"]), part_beside_raters(["R1", "R2"])
    ('domain1', '')
    >>> part_beside_raters(["Judge 1 - Kim", "Judge 2 - Lee"])
    ''
    """
    coded = [match for c in columns if (match := _OF_RATER.fullmatch(c.strip()))]
    parts = {match[2] for match in coded if names_a_rater(match[1])}
    return parts.pop() if len(parts) == 1 and len(coded) == len(columns) > 1 else ""


def is_question(heading: str) -> bool:
    """Return whether a heading is a question, or as long as a question."""
    return heading.rstrip()[-1:] in "?？؟" or len(heading.split()) > 4


#: `How natural is it? [It rains cats.]`, as forms head a grid of questions.
_IN_GRID = re.compile(r"(.+?)\s*\[([^\]]+)\]", re.S)


def sentences_asked(headings: Sequence[str]) -> dict[str, str]:
    """Return the sentences that a form asks one question about, by heading; none of other forms.

    >>> sentences_asked(["Plain? [Idea]", "Plain? [Go to the far hill.]"])
    {}
    >>> [*sentences_asked([f"Plain? [They all go to hill {n}.]" for n in "ab"]).values()]
    ['They all go to hill a.', 'They all go to hill b.']
    """
    parts = {h: m for h in headings if (m := _IN_GRID.fullmatch(h.strip()))}
    long = sum(len(m[2].split()) > _PHRASE_WORDS for m in parts.values())
    alike = len(parts) == len(headings) and len({m[1] for m in parts.values()}) == 1
    sentences = {h: m[2].strip() for h, m in parts.items()}
    return sentences if alike and 2 * long > len(parts) > 1 else {}


#: A name or a criterion has no more words.
_PHRASE_WORDS = 3


#: Remarks that not everybody may read.
_CONFIDENTIAL = re.compile(
    r"\b(confidential|private|internal|vertraulich|intern|nicht offentlich|confidentiel"
    r"|confidencial|riservat|vertrouwelijk|poufn|konfident|конфиденц)"
    r"|\b(for|to) (the )?(pc|editors?|(area )?chairs?|committee|organi[sz]ers?|staff)\b"
    r"|内部|机密|非公開"
)


def is_confidential(column: str) -> bool:
    """Return whether a heading is that of remarks for a few people only.

    >>> is_confidential("confidential remarks for the PC"), is_confidential("Remarks")
    (True, False)
    """
    return _CONFIDENTIAL.search(plain_heading(column)) is not None


#: `Q7. `, `Question 2:`, `3) `, before what was asked.
_NUMBERED = re.compile(r"(?:[^\W\d_]{1,10}\.? ?)?\d{1,2}[a-z]?\s*[.:)\-–—]+\s*(?=\S)")
#: The fewest words of a question with its mark, of a numbered one, and of any other.
_LEAST, _LEAST_NUMBERED, _LEAST_OTHER = 3, 4, 7


def question_in(heading: str) -> str:
    """Return the question that a heading asks, so that its cells are answers, or "".

    >>> question_in("Q2. Why is the sky blue?"), question_in("Answer 2"), question_in("Is it so?")
    ('Why is the sky blue?', '', 'Is it so?')
    >>> question_in("3) Name two uses of sand."), question_in("Question")
    ('Name two uses of sand.', '')
    """
    asked = _NUMBERED.sub("", heading.strip(), count=1)
    words = len(asked.split()) + len(re.findall(r"[\u3040-\u30ff\u3400-\u9fff]", asked)) // 3
    if asked[-1:] in ("?", "？", "؟"):
        return asked if words >= _LEAST else ""
    numbered = asked != heading.strip()
    least = (
        _LEAST_NUMBERED
        if numbered
        else _LEAST_OTHER
        if asked[-1:] in (".", ":", "。")
        else words + 1
    )
    return asked if words >= least else ""


_PARTS = frozenset(
    {
        *("q", "item", "part", "section", "ex", "exercise", "problem", "subtask", "step", "turn"),
        *("teil", "abschnitt", "ejercicio", "partie", "exercice", "esercizio", "pregunta"),
    }
)


def numbered_parts(columns: Sequence[str]) -> bool:
    """Return whether headings are numbered questions, tasks or parts.

    >>> numbered_parts(["Task 1", "Task 2"]), numbered_parts(["L1", "L2"])
    (True, False)
    """
    stems = {plain_heading(stem_of(column)) for column in columns}
    return all(s in _PARTS or has_word(s, PROMPTS) or has_word(s, ASPECTS) for s in stems)


def names_a_rater(column: str) -> bool:
    """Return whether a heading contains a word for a rater.

    >>> names_a_rater("Rater 2"), names_a_rater("R2")
    (True, False)
    """
    return has_word(column, RATERS)


#: What models that judge are called, before or after the word for a judge.
_MODEL = re.compile(r"\b(model|modelo|modell|modele|modello|llm|lm|ai|ki|checkpoint|engine)\b")


def names_a_judging_model(column: str) -> bool:
    """Return whether a heading says that its raters are models: `judge_model`, `LLM judge`.

    >>> names_a_judging_model("judge_model"), names_a_judging_model("judged model")
    (True, False)
    """
    words = plain_heading(column).removesuffix(" name").removesuffix(" id")
    short = len(words.split()) < 4 and _MODEL.search(words) is not None
    return short and has_word(_MODEL.sub("", words), RATERS, whole=True)


def names_a_person(column: str) -> bool:
    """Return whether a heading could name raters, in one of several languages.

    >>> names_a_person("évaluateur"), names_a_person("note")
    (True, False)
    """
    return names_a_rater(column) or has_word(column, PEOPLE)


def names_a_criterion(column: str) -> bool:
    """Return whether a heading is a usual name of a criterion.

    >>> names_a_criterion("Coherence"), names_a_criterion("Kim")
    (True, False)
    """
    return bool(CRITERIA.search(plain_heading(column)))


def stem_of(heading: str) -> str:
    """Return a heading without its last letter or number.

    >>> stem_of("answer_v1"), stem_of("Answer B"), stem_of("v2"), stem_of("Essay")
    ('answer_v', 'answer', 'v', '')
    """
    pattern = r"(.*[^\W\d_].*?)[\s_.-]*(?:\d+|(?<=[\s_.\-\u3040-\u9fff])\w)$"
    match = re.match(pattern, heading.strip())
    return fold(match[1]) if match else ""


def is_quantity(column: str) -> bool:
    """Return whether a heading says that its numbers are counts or measurements; questions do not.

    >>> is_quantity("helpful_votes"), is_quantity("Dauer (Minuten)"), is_quantity("pain at 6 weeks")
    (True, True, False)
    """
    when = re.search(
        r"\d+ (hour|day|week|month|stunde|tag|woche|monat|jour|dia)", plain_heading(column)
    )
    return has_word(column, MEASURES, whole=True) and not (when or is_question(column))


_RUN = re.compile(r"\b(parse|parsed|parsing|parseable|cached|truncated|timed out|retried)\b")


def reports_a_run(column: str) -> bool:
    """Return whether a heading says what became of a program's own run: `parse_ok`."""
    return _RUN.search(plain_heading(column)) is not None


#: Headings for when, or in which part of a study, a row was rated; not `Session quality`.
_OCCASION = re.compile(
    r"(?:(?:test|testing|rating|tasting|study|scoring) )?(?:session|round|wave|batch|day|block|week"
    r"|occasion|run|sitzung|runde|durchgang|durchlauf|welle|seance|manche|vague|sesion|ronda|dia"
    r"|sessao|rodada|sessione|sessie|ronde|сессия|раунд|场次|轮次)(?: (?:no|nr|number|num|id|\d+))?"
)


def names_an_occasion(column: str) -> bool:
    """Return whether a heading is only that of a session, a round or a day of rating.

    >>> names_an_occasion("Session"), names_an_occasion("test_day"), names_an_occasion("Day plan")
    (True, True, False)
    """
    return _OCCASION.fullmatch(plain_heading(column)) is not None


#: Last words of columns that describe the row and are not answers.
NO_RATERS = frozenset(
    {
        *("id", "ids", "uuid", "guid", "key", "name", "email", "url", "uri", "link", "path"),
        *("file", "time", "timestamp", "date", "at", "duration", "latency", "cost", "tokens"),
        *("length", "seconds", "minutes", "hours", "age", "year", "index", "row", "position"),
        *("count", "version", "type", "status", "source", "split", "tag", "tags", "environment"),
        *("project", "metadata", "meta", "confidence", "certainty"),
        *("experience", "expertise", "familiarity", "set", "group", "batch", "round"),
    }
)


#: What Mechanical Turk (beside `HITId`) and Toloka write of a task, and the requester's verdict.
_PLATFORM = re.compile(
    r"hit ?type ?id|title|description|keywords|reward|max ?assignments|(requester|assignment) ?\w+"
    r"|auto ?approval ?\w+|number ?of ?similar ?hits|lifetime ?\w+|work ?time ?in ?seconds"
    r"|(approval|rejection|accept|submit|creation) ?time|last ?\d+ ?days ?\w+|approve|reject"
)
_TOLOKA = re.compile(r"(assignment|accept):\w+", re.I)


def is_of_platform(column: str, columns: Collection[str]) -> bool:
    """Return whether a crowdsourcing platform wrote a column, as the requester's approval.

    >>> [is_of_platform("Approve", names) for names in (["HITId", "Approve"], ["Approve"])]
    [True, False]
    >>> is_of_platform("ASSIGNMENT:status", [])
    True
    """
    in_turk = "HITId" in columns and _PLATFORM.fullmatch(plain_heading(column)) is not None
    return in_turk or _TOLOKA.fullmatch(column) is not None


#: Columns of languages, unless they hold marks.
LANGUAGE = frozenset({"language", "lang"})


#: Plain headings for the model that is judged.
MODELS = ("model", "model name", "モデル", "システム", "模型", "系统", "모델", "시스템")
#: Plain headings for the model that wrote a text, beside other columns for its raters.
GENERATORS = (
    *("generator", "generator model", "generator name", "generating model", "author model"),
    *("source model", "writer model", "llm", "llm name", "generated by"),
)
