"""Name the columns of a survey by what was asked, and leave out its trials."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from core.errors import Problem
from core.formats.source.heading import CRITERIA
from core.formats.source.heading_words import plain_heading
from core.formats.source.parsed import TableRows
from core.formats.source.summary_rows import IMPORT_ID

#: `E1_2`: a question, and a part of it.
_PART = re.compile(r"(.+)_(\d+)")
#: `G01Q02[SQ001]. Was it clear?`: LimeSurvey's code, and what was asked.
_CODED = re.compile(r"\w+(?:\[\w+\])?\. (.+)", re.S)
#: Columns of Qualtrics, without spaces, and its words for answers of the survey's own authors.
_QUALTRICS, _STATES = {"responseid", "recordeddate"}, {"status", "distributionchannel"}
#: A question of more words is what was judged: a vignette, a translation.
_TITLE_WORDS = 8
#: An instruction, which may name what is judged, and the most words of such a name.
_INSTRUCTION = re.compile(
    r"\W*(please|kindly|now|next|first|then|read|rate|look|listen|watch|consider|think|judge|open"
    r"|how|to what|for|about|bitte|lesen|wie|veuillez|lisez|por favor|lea|per favore|lees)\b",
    re.I,
)
_NAME_WORDS = 4
#: The longest name of an item.
_LONGEST_NAME = 60
_TRIALS = {"survey preview", "preview", "survey test", "test"}


def survey_rows(rows: TableRows) -> TableRows:
    """Return the rows of a Qualtrics survey without previews, with parts named as asked.

    `E1_2` below "Rate text 1. - Clarity (1 to 7)" is `E1_Clarity`, and `Q3_1` below "It is clear. -
    So." is `So. / It is clear`. Other tables are unchanged.
    """
    coded = {c: match[1] for c in rows.columns if (match := _CODED.fullmatch(c))}
    if "".join(rows.columns[:1]).startswith("id. ") and len({*coded.values()}) == len(rows.columns):
        named = ({coded[c]: cell for c, cell in row.items()} for row in rows.rows)
        return rows._replace(columns=tuple(coded.values()), rows=tuple(named))
    heads = {column.lower().replace(" ", ""): column for column in rows.columns}
    with_ids = len(rows.rows) > 2 and bool(IMPORT_ID.search(str(rows.rows[1][rows.columns[0]])))
    if not (heads.keys() >= _QUALTRICS or (with_ids and heads.keys() & _QUALTRICS)):
        names, questions = _texts_in_form(rows.columns)
        return _renamed(rows, names, questions, range(len(rows.rows))) if names else rows
    states = [heads[state] for state in sorted(_STATES & heads.keys())]
    words = ([str(row[c]).strip().lower() for c in states] for row in rows.rows)
    left = {at for at, said in enumerate(words) if _TRIALS & {*said}}
    notices = [*rows.notices]
    if left:
        which = ", ".join(str(rows.lines[at]) for at in sorted(left)[:20])
        are = "1 row is a preview or test" if len(left) == 1 else f"{len(left):,} rows are previews"
        notices.append(Problem(f"{are} of the survey and left out (line {which})."))
    names, questions = _question_parts(rows) if with_ids else ({}, {})
    if not names and with_ids and (questions := _texts_by_code(rows)):
        (name, text), *_ = questions.items()
        notices.append(Problem(f"What was asked holds the judged texts; {name!r} is {text!r}."))
    kept = [at for at in range(len(rows.rows)) if at not in left]
    return _renamed(rows._replace(notices=tuple(notices)), names, questions, kept)


def _renamed(
    rows: TableRows, names: Mapping[str, str], questions: Mapping[str, str], kept: Sequence[int]
) -> TableRows:
    """Return the rows ``kept``, with columns named as asked, and a notice of it."""
    notices = [*rows.notices]
    if names:
        listed = ", ".join(f"{c[:100]!r} is {name!r}" for c, name in [*names.items()][:6])
        listed += " and so on" if len(names) > 6 else ""
        text = next(iter(questions.values()), "")
        texts = f" A judged text is {text[:100]!r}." if text else ""
        notices.append(Problem(f"Columns are named by their questions: {listed}.{texts}"))
    return rows._replace(
        columns=tuple(names.get(c, c) for c in rows.columns),
        rows=tuple({names.get(c, c): cell for c, cell in rows.rows[at].items()} for at in kept),
        lines=tuple(rows.lines[at] for at in kept),
        notices=tuple(notices),
        questions=questions,
    )


def _question_parts(rows: TableRows) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of columns whose questions end alike for each number, and the judged texts.

    What is judged is the question, or what stands behind it if the questions name criteria.
    """
    parts = {c: m for c in rows.columns if (m := _PART.fullmatch(c)) and " - " in rows.rows[0][c]}
    asked = {c: _asked_and_end(rows.rows[0][c]) for c in parts}
    statements = {(parts[c][1], question) for c, (question, _) in asked.items()}
    ended = {(parts[c][2], end) for c, (_, end) in asked.items()}
    stems, numbers = {stem for stem, _ in statements}, {number for number, _ in ended}
    texts = {end for _, end in ended}
    alike = len(texts) == len(ended) == len(numbers) > 1 < len(stems) == len(statements)
    if alike and _judge_what_follows({question for _, question in statements}, texts):
        short = {end: textwrap.shorten(end, _LONGEST_NAME, placeholder=" ...") for end in texts}
        if len({*short.values()}) == len(texts):
            names = {c: f"{short[end]} / {question}" for c, (question, end) in asked.items()}
            return names, {name: end for end, name in short.items()}
    ends = {c: end.partition("(")[0].strip(" :.") for c, (_, end) in asked.items()}
    known = {(parts[c][2], end) for c, end in ends.items() if 0 < len(end) <= 40}
    numbers = {number for number, _ in known}
    if not len({end for _, end in known}) == len(known) == len(numbers) > 1 < len(stems):
        return _named_by_ends(asked), {}
    told = {parts[c][1]: question for c, (question, _) in asked.items()}
    if things := _things_named([*told.values()]):
        names = {c: f"{things[asked[c][0]]} / {end}" for c, end in ends.items()}
        return names, dict.fromkeys(things.values(), "")
    judged = {stem: q for stem, q in told.items() if len(q.split()) > _TITLE_WORDS}
    judged = dict(zip(judged, _without_frame([*judged.values()]), strict=True))
    return {c: f"{parts[c][1]}_{end}" for c, end in ends.items()}, judged


def _without_frame(questions: Sequence[str]) -> list[str]:
    r"""Return questions without the lines before and after the text that they ask about.

    >>> asks = "Read this:\nThe {} is here. It waits for you in the old yard.\nDo you agree?"
    >>> _without_frame([asks.format(of) for of in ("cat", "dog")])[1]
    'The dog is here. It waits for you in the old yard.'
    """
    lines = [[line.strip() for line in question.split("\n")] for question in questions]
    least = min(map(len, lines), default=0)
    before = next((n for n in range(least) if len({of[n] for of in lines}) > 1), 0)
    after = next((n for n in range(least) if len({of[-n - 1] for of in lines}) > 1), 0)
    texts = ["\n".join(of[before : len(of) - after]).strip() for of in lines]
    long = all(len(text.split()) > _TITLE_WORDS for text in texts)
    return texts if long and len(texts) > 1 else [*questions]


#: `Text 1. The bakery is open. [Clarity]`: a text of a form's grid, and what was asked of it;
#: what numbers the text; and where a sentence ends and another begins.
_IN_GRID = re.compile(r"(.+?)\s*\[([^\[\]]+)\]", re.DOTALL)
_LABEL = re.compile(r"([^\W\d_]+ ?[№#]? ?\d{1,3})\s*[.:)–—-]\s+(?=\S)")
_SENTENCES = re.compile(r"[.!?…]\s+\S|[。！？]\S")


def _texts_in_form(headings: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of columns of a form that asks several things of each text, and the texts.

    Most are texts of several sentences, and none is a question: statements about people who stand
    in the brackets are no texts.
    """
    parts = {c: m for c in headings if (m := _IN_GRID.fullmatch(c.strip()))}
    asked = Counter(m[2].strip() for m in parts.values())
    labels = {m[1]: _LABEL.match(m[1]) for m in parts.values()}
    texts = {whole: whole[m.end() if m else 0 :].strip() for whole, m in labels.items()}
    alike = len(texts) > 1 < len(asked) and len(parts) == len(texts) * len(asked)
    several = sum(bool(_SENTENCES.search(text)) for text in texts.values())
    are_texts = 2 * several > len(texts) and not any(t[-1:] in "?？؟" for t in texts.values())
    if not (alike and are_texts) or {*asked.values()} != {len(texts)}:
        return {}, {}
    if any(len(criterion.split()) > _NAME_WORDS for criterion in asked):
        return {}, {}
    short = {
        whole: m[1] if m else re.sub(r"[\s/|:_–—]+", " ", whole) for whole, m in labels.items()
    }
    short = {w: textwrap.shorten(n, _LONGEST_NAME, placeholder=" ...") for w, n in short.items()}
    if len({*short.values()}) < len(texts):
        return {}, {}
    names = {c: f"{short[m[1]]} / {m[2].strip()}" for c, m in parts.items()}
    return names, {short[whole]: text for whole, text in texts.items()}


#: `M1_polite`: a text, and what was asked of it; and a text inside of a question.
_ASKED_OF, _QUOTED = re.compile(r"(.+)_([^_]+)"), re.compile(r"[\"“”„«](.{2,})[\"“”»]", re.S)


def _texts_by_code(rows: TableRows) -> dict[str, str]:
    """Return the texts that questions quote, by the beginning of their columns' names.

    Each text has the same questions: those with the same end of the name.
    """
    asked = rows.rows[0]
    coded = {c: m for c in rows.columns if (m := _ASKED_OF.fullmatch(c))}
    quoted = {c: m for c in coded if (m := _QUOTED.search(asked[c]))}
    texts = {(coded[c][1], m[1].strip()) for c, m in quoted.items()}
    asks = {
        (coded[c][2], re.sub(r"\d+", "", asked[c][: m.start()] + asked[c][m.end() :]).strip())
        for c, m in quoted.items()
    }
    stems, ends = {stem for stem, _ in texts}, {end for end, _ in asks}
    whole = len(quoted) == len(stems) * len(ends)
    alike = len(texts) == len(stems) and len(asks) == len(ends)
    return (
        {coded[c][1]: m[1].strip() for c, m in quoted.items()}
        if whole and alike and len(stems) > 1 < len(ends)
        else {}
    )


def _named_by_ends(asked: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the names of columns by what follows their question, if each differs, or nothing."""
    questions = Counter(question for question, _ in asked.values())
    ends = {end for _, end in asked.values()}
    known = len(ends) == len(asked) and min(questions.values(), default=0) > 1
    known = known and all(0 < len(end) <= _LONGEST_NAME for end in ends)
    return {c: end for c, (_, end) in asked.items()} if known else {}


def _things_named(questions: Sequence[str]) -> dict[str, str]:
    """Return what each long instruction names by the words that differ, or nothing.

    >>> asks = "Please look at picture {} and say how far you agree with each of these."
    >>> [*_things_named([asks.format("A"), asks.format("B")]).values()]
    ['picture A', 'picture B']
    """
    words = [question.split() for question in questions]
    least = min(map(len, words))
    if least <= _TITLE_WORDS or not all(map(_INSTRUCTION.match, questions)):
        return {}
    before = next((n for n in range(least) if len({(*w[: n + 1],) for w in words}) > 1), least)
    after = next((n for n in range(least) if len({(*w[-n - 1 :],) for w in words}) > 1), least)
    spans = [w[before : len(w) - after] for w in words]
    if any(not 0 < len(span) <= _NAME_WORDS for span in spans):
        return {}
    numbered = before > 1 and all(len(span) == 1 and len(span[0]) < 4 for span in spans)
    names = [
        " ".join([*w[before - numbered : before], *s]) for w, s in zip(words, spans, strict=True)
    ]
    names = [name.strip(" .,:;!?\"'").replace("/", "-") for name in names]
    return dict(zip(questions, names, strict=True)) if len({*names}) == len(names) else {}


def _asked_and_end(heading: str) -> tuple[str, str]:
    question, _, end = heading.rpartition(" - ")
    return question.strip(), end.strip()


def _judge_what_follows(questions: Collection[str], ends: Collection[str]) -> bool:
    """Return whether short questions name a criterion each, and what follows them mostly none."""
    short = all(len(question.split()) <= _TITLE_WORDS for question in questions)
    named = [sum(bool(CRITERIA.search(plain_heading(t))) for t in of) for of in (questions, ends)]
    return short and named[0] == len(questions) and 2 * named[1] < len(ends)
