"""Find the header of a table below titles and notes, and the words of its headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence

from core.errors import Problem
from core.formats.source.heading_words import PROMPTS, TOPICS, has_word, plain_heading

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


#: A sentence has more words than a code; digits in codes differ.
_SENTENCE_WORDS, _DIGITS = 4, re.compile(r"\d+")
#: The fewest rows that show what is like the others.
_FEWEST = 5


#: What is said of a table without a header.
ALL_DATA = Problem(
    "The first line is data like the others, so columns are named by their places.", "", (), 1
)


def headings_of(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the headings; a column without one is named by its number.

    >>> headings_of(["", "text"])
    ('column 1', 'text')
    """
    return tuple(cell.strip() or f"column {at}" for at, cell in enumerate(cells, start=1))


def is_placed(heading: str) -> bool:
    """Return whether a column has no heading of its own but the name of its place."""
    return re.fullmatch(r"column \d+", heading) is not None


def are_all_data(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is no header: each cell is like the others of its column.

    These are sentences, or numbers and codes that come again, among them a sentence or a word.

    >>> rows = [["k1", "0", "It rained all day."], ["k1", "1", "So they all went."]]
    >>> are_all_data(3 * rows), are_all_data([["a", "b", "What did they all do?"], *3 * rows])
    (True, False)
    """
    if len(rows) <= _FEWEST or len({*map(len, rows)}) > 1 or len(rows[0]) < 2:
        return False
    kinds = {_kind_beside(c, below) for c, *below in zip(*rows, strict=True) if c.strip()}
    return "" not in kinds and len(kinds) > 1 and bool(kinds & {"sentence", "word"})


def _kind_beside(cell: str, below: Sequence[str]) -> str:
    """Return what a cell is like the others of its column, "" if it is not like them."""
    filled = [other for other in below if other.strip()]
    sentences = sum(len(other.split()) >= _SENTENCE_WORDS for other in filled)
    if len(cell.split()) >= _SENTENCE_WORDS:
        ends = cell.strip()[-1] in ".!…。\"'"
        return "sentence" if ends and 4 * sentences >= 3 * len(filled) > 0 else ""
    if _NUMBER.match(cell):
        return "number" if filled and all(map(_NUMBER.match, filled)) else ""
    shape = _DIGITS.sub("0", cell)
    alike = shape != cell and all(_DIGITS.sub("0", other) == shape for other in filled)
    return "word" if cell in filled or (alike and filled) else ""


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
