"""Find the header of a table below titles and notes, and what a survey's headings mean."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Container, Iterable, Sequence

from core.errors import Problem
from core.formats.source.heading_words import PROMPTS, TOPICS, has_word, plain_heading
from core.formats.source.parsed import TableRows
from core.formats.source.summary_rows import IMPORT_ID

#: The last row that can be a header.
_DEEPEST = 20
#: The longest heading.
_LONGEST = 300
_COMMENT = re.compile(r"\s*#+\s*[^\W\d]")
_NUMBER = re.compile(r"[-+]?[\d.,]+%?\Z")


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Return the index of the header among the first rows, 0 if undecided.

    Only titles may precede a later header: a lone cell, a word with a colon and a value, or a
    comment that begins with #. The header names every column of the rows below it, each
    differently.

    >>> header_at([["Marks of course 101"], ["id", "essay", "mark"], ["1", "It is.", "3"]])
    1
    >>> header_at([["id", "essay"], ["1", "It is."]]), header_at([["essay"], ["One", " two"]])
    (0, 0)
    >>> header_at([["# By ann", " bo"], ["id", "a", "b"], ["1", "x", "y"]])
    1
    >>> header_at([["Day: 3 May", "", "By: Ann"], ["id", "a", "b", "c"], ["1", "2", "3", "4"]])
    1
    """
    first = [_trimmed_row(row) for row in rows[: 2 * _DEEPEST]]
    for at, row in enumerate(first[:_DEEPEST]):
        if at and (_heads_rows(row, first[at + 1 :]) or heading_rows(first, at)[1] > 1):
            return at
        below = first[at + 1 :]
        if not (_is_title(row) or _is_comment(row, below) or _are_entries(row, below)):
            return 0
    return 0


def heading_rows(rows: Sequence[Sequence[str]], at: int) -> tuple[tuple[str, ...], int]:
    """Return the headings of the header at ``at``, and the number of rows that they fill.

    Two rows are one header if each heading of the upper row covers several columns, by blanks
    (merged cells, a survey's questions) or by repetition (a data frame), and the lower row
    distinguishes them.

    >>> rows = [["", "clarity", "clarity"], ["", "ann", "bob"], ["item", "", ""], ["a", "1", "2"]]
    >>> heading_rows(rows, 0)
    (('item', 'clarity / ann', 'clarity / bob'), 3)
    """
    upper = [cell.strip() for cell in rows[at]]
    below = [[cell.strip() for cell in row] for row in rows[at + 1 : at + 1 + _DEEPEST]]
    if len(below) < 3 or len(below[1]) > max(len(upper), len(below[0])):
        return tuple(upper), 1
    alone = tuple(upper)
    upper += [""] * (len(below[0]) - len(upper))
    lower = below[0] + [""] * (len(upper) - len(below[0]))
    over = list(upper)
    for n in range(1, len(over)):
        if not over[n] and lower[n]:
            over[n] = over[n - 1]
    shared = {
        w for w in lower if len({o for o, word in zip(over, lower, strict=True) if word == w}) > 1
    }
    if len(upper) > len(alone) and not shared:
        return alone, 1
    for n in _columns_beside(upper, over, lower, shared):
        over[n] = ""
    groups = [n for n, name in enumerate(over) if name and over.count(name) > 1]
    words = [lower[n] for n in groups]
    single = [n for n in range(len(over)) if n not in groups]
    repeated = any(upper.count(upper[n]) > 1 for n in groups)
    apart = len(set(zip((over[n] for n in groups), words, strict=True))) == len(groups) > 1
    names = apart and all(words) and not any(_NUMBER.match(w) or len(w) > 60 for w in words)
    again = any(row[n] == lower[n] for row in below[1:] for n in groups if n < len(row))
    blank = bool(single) and (not upper[single[0]] or not lower[single[0]])
    if not names or again or not (repeated or blank):
        return tuple(upper), 1
    index = below[1] if below[1][0] and not any(below[1][1:]) else []
    heads = [
        _joined_heading(over[n], lower[n]) if n in groups else over[n] or lower[n]
        for n in range(len(over))
    ]
    heads[0] = index[0] if index else heads[0]
    return tuple(heads), 3 if index else 2


def _columns_beside(
    upper: Sequence[str], over: Sequence[str], lower: Sequence[str], shared: Container[str]
) -> list[int]:
    """Return the columns at the end of a group that are not part of it.

    A mean, a reference or remarks may follow the last rater of a table: unlike the others, no other
    group has their words.
    """
    beside = list[int]()
    for n in reversed(range(len(over))):
        ends = n + 1 == len(over) or over[n + 1] != over[n] or n + 1 in beside
        inside = any(over[m] == over[n] and lower[m] in shared for m in range(n))
        if over[n] and not upper[n] and ends and inside and lower[n] not in shared:
            beside.append(n)
    return beside


def _joined_heading(upper: str, lower: str) -> str:
    """Join a heading in two rows: `Question? [part]` as surveys write it, else `upper / lower`."""
    asks = upper.endswith("?") or len(upper.split()) > 4
    return f"{upper} [{lower}]" if asks else f"{upper} / {lower}"


#: What begins a line with a model answer.
_MODEL_ANSWER = re.compile(
    r"(model|sample|correct|expected|reference|ideal) (answer|solution|response)|solution"
    r"|mark(ing)? scheme|answer key|(muster|beispiel)?losung|losungsvorschlag|musterantwort"
    r"|erwartungshorizont|corrige( type)?|reponse (attendue|modele|type)|(respuesta|solucion)"
    r" (modelo|esperada|correcta)|solucion|risposta (attesa|modello|corretta)|soluzione"
    r"|gabarito|resposta (modelo|esperada)|modelantwoord|antwoordmodel|correctievoorschrift"
    r"|facit|modellsvar|odpowiedz wzorcowa|эталон|标准答案|参考答案|模範解答|모범답안"
)
#: Names of the right answers, among raters or sheets.
_TRUTHS = re.compile(
    "gold|gold label|gold standard|ground truth|truth|reference|reference label|reference standard"
    "|goldstandard|referenz|referenzstandard|wahrheit|reference diagnosis|verite|verite terrain"
    "|etalon or|verdad|referencia|estandar de referencia|verita|riferimento|waarheid|referentie"
)


def names_the_truth(name: str) -> bool:
    """Return whether a name among raters, or of a sheet, is that of the right answers.

    >>> names_the_truth("Ground_truth"), names_the_truth("Ms Truth")
    (True, False)
    """
    return _TRUTHS.fullmatch(plain_heading(name)) is not None


#: Words of a source, which is no question.
_SOURCE = re.compile(r"\b(source|src|input|original|fuente|fonte|bron|quelle|quelltext|query)\b")


def read_titles(rows: Sequence[Sequence[str]], line: int) -> tuple[dict[str, str], list[Problem]]:
    """Return the prompt and the reference in lines above a header, and notices about all lines.

    >>> read_titles([["Test 2"], ["Question:", "Why is it so?"], ["Model answer: Rain."]], 1)[0]
    {'prompt': 'Why is it so?', 'reference': 'Rain.'}
    >>> read_titles([["Sujet : Les fleuves et la mer"]], 1)[0]
    {'prompt': 'Les fleuves et la mer'}
    """
    found, left = dict[str, list[str]](), list[Sequence[str]]()
    for row in rows:
        field, text = _given_above(" ".join(cell.strip() for cell in row if cell.strip()))
        found.setdefault(field, []).append(text)
        if not field:
            left.append(row)
    given = {field: texts[0] for field, texts in found.items() if field and len(texts) == 1}
    if len(given) + (1 if left else 0) < len(found):
        given, left = {}, [*rows]  # several questions
    notices = [titles_notice(left, line)] if left else []
    for field, text in given.items():
        message = f"A line above the header is every item's {field}: {text[:200]!r}."
        notices.append(Problem(message, "", (), line))
    return given, notices


def _given_above(line: str) -> tuple[str, str]:
    """Return the field that a line gives, and its text, or "" twice."""
    head, _, text = (part.strip() for part in line.replace("：", ":").partition(":"))
    plain = plain_heading(head)
    if not text or len(head.split()) > 3:
        return "", ""
    if _MODEL_ANSWER.fullmatch(plain):
        return "reference", text
    asks = has_word(head, PROMPTS) or has_word(head, TOPICS, whole=True)
    asks = asks and not _SOURCE.search(plain) and len(text) > _LEAST_ASKED
    return ("prompt", text) if asks else ("", "")


#: A question has more letters.
_LEAST_ASKED = 8


def lines_of(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return each row's words as a line."""
    return tuple(" ".join(filter(None, row)) for row in rows)


def titles_notice(rows: Sequence[Sequence[str]], line: int | None) -> Problem:
    """Return the notice about the rows above a header."""
    text = " / ".join(lines_of(rows))
    lines = "The line" if len(rows) == 1 else f"The {len(rows)} lines"
    verb = "is" if len(rows) == 1 else "are"
    return Problem(f"{lines} above the header {verb} left out: {text[:200]!r}.", "", (), line)


def _is_comment(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is words after a #, and not as wide as a row of the table."""
    widths = {len(other) for other in below if other and not _COMMENT.match(other[0])}
    return bool(row and _COMMENT.match(row[0])) and len(row) not in widths


_ENTRY = re.compile(r"[^\W\d][^:]{1,40}: ?\S.*", re.S)


def _are_entries(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row holds only words with their values, and few beside rows below it."""
    filled = [cell.strip() for cell in row if cell.strip()]
    widest = max((sum(map(bool, other)) for other in below), default=0)
    return 2 * len(filled) <= widest and all(map(_ENTRY.fullmatch, filled))


def _trimmed_row(row: Sequence[str]) -> list[str]:
    cells = list(row)
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _is_title(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) < 2 or (len(filled) == 2 and filled[0].endswith(":"))


def _heads_rows(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is a header of those below it."""
    if len(row) < 2 or not below or len(set(row)) < len(row) or not all(row):
        return False
    if len(row) == 2 and row[0].endswith(":") and not row[1].endswith(":"):
        return False  # `Question:`, and what it is
    # A text that was split at its commas continues with a space.
    if any(name[0] == " " or len(name) > _LONGEST or _NUMBER.match(name) for name in row):
        return False
    # A few rows may be longer: a remark at their end has no heading.
    return sum(len(lower) <= len(row) for lower in below) * 2 > len(below)


def below_titles(
    rows: Sequence[Sequence[str]], is_header: Callable[[Sequence[str]], bool]
) -> int | None:
    """Return the index of the first row that is a header, or ``None`` if other rows precede it.

    Titles may precede it.

    >>> below_titles([["Rubric", ""], ["Criterion", "Good"]], lambda row: "Good" in row)
    1
    """
    for at, row in enumerate(rows[:_DEEPEST]):
        if is_header(row):
            return at
        if not _is_title(row):
            return None
    return None


#: Words for criteria in column names.
CRITERIA = re.compile(
    r"coheren|cohesi|fluen|relevan|helpful|correct(?!eur|ric|or)|complex|verbos|gramma|syntax|vocab|clarity"
    r"|clear|tone\b|accura|consisten|engag|surpris|empath|factual|style|organi|convention"
    r"|phraseolog|naturalness|complete|concise|toxic|safety|harm|polite|readab|structure|creativ"
    r"|original|depth|useful|informativ|specific|understand|faithful|grounded|adequa|evidence"
    r"|mechanics|argument|thesis|spelling|overall|persuas|novelty|soundness|significance"
    r"|professional|appearance|aroma\b|flavou?r\b|sweetness|acidity|bitterness"
    r"|inhalt|sprache\b|aufbau\b|ausdruck\b|rechtschreib|verstandlich|gliederung"
    r"|contenido|ortografia|estructura|cla(rid|rez|rte)|chiarezza|comunica|contenu\b|orthographe"
    r"|coeren|coesao|genauigkeit|sprachfluss|terminolog|inhoud|opbouw|taalgebruik|rigor\b|tono?\b"
    r"|estilo|грамотн|вежлив|полезн|ясност|точност|стил|содержани|логик|正確|自然|流暢|准确|流畅|连贯|完整|清晰",
)
#: `E1_2`: a question, and a part of it.
_PART = re.compile(r"(.+)_(\d+)")
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
    heads = {column.lower().replace(" ", ""): column for column in rows.columns}
    with_ids = len(rows.rows) > 2 and IMPORT_ID in str(rows.rows[1][rows.columns[0]])
    if not (heads.keys() >= _QUALTRICS or (with_ids and heads.keys() & _QUALTRICS)):
        return rows
    states = [heads[state] for state in sorted(_STATES & heads.keys())]
    words = ([str(row[c]).strip().lower() for c in states] for row in rows.rows)
    left = {at for at, said in enumerate(words) if _TRIALS & {*said}}
    notices = [*rows.notices]
    if left:
        which = ", ".join(str(rows.lines[at]) for at in sorted(left)[:20])
        are = "1 row is a preview or test" if len(left) == 1 else f"{len(left):,} rows are previews"
        notices.append(Problem(f"{are} of the survey and left out (line {which})."))
    names, questions = _question_parts(rows)
    if names:
        listed = ", ".join(f"{c!r} is {name!r}" for c, name in [*names.items()][:6])
        listed += " and so on" if len(names) > 6 else ""
        texts = (
            f" A judged text is {text[:100]!r}."
            if (text := next(iter(questions.values()), ""))
            else ""
        )
        notices.append(Problem(f"Columns are named by their questions: {listed}.{texts}"))
    kept = [at for at in range(len(rows.rows)) if at not in left]
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
    if len(rows.rows) < 3 or IMPORT_ID not in str(rows.rows[1][rows.columns[0]]):
        return {}, {}
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
        return {}, {}
    told = {parts[c][1]: question for c, (question, _) in asked.items()}
    if things := _things_named([*told.values()]):
        names = {c: f"{things[asked[c][0]]} / {end}" for c, end in ends.items()}
        return names, dict.fromkeys(things.values(), "")
    judged = {stem: q for stem, q in told.items() if len(q.split()) > _TITLE_WORDS}
    return {c: f"{parts[c][1]}_{end}" for c, end in ends.items()}, judged


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
