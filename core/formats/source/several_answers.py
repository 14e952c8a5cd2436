"""Rows with several answers, of quizzes or of systems side by side: each becomes a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import PEOPLE, PREFERENCES, RATERS, has_word, plain_heading

Row = dict[str, Any]
#: Headings of what belongs to a question, by field, with a group for the question; "" is the
#: question itself. Microsoft Forms, Google Forms, Moodle.
_FORMS: tuple[Mapping[str, str], ...] = (
    {"answer": "", "score": r"(?:points|punkte|puntos) - (.+)", "feedback": r"feedback - (.+)"},
    {"answer": "", "score": r"(.+) \[(?:score|points)\]", "feedback": r"(.+) \[feedback\]"},
    {
        "answer": r"(?:response|answer|antwort|réponse|respuesta) (\d+)",
        "score": r"(?:q|f|p)\. ?(\d+) ?/ ?[\d.,]+",
        "question": r"(?:question|frage|pregunta) (\d+)",
        "reference": r"(?:right answer|richtige antwort|bonne réponse|respuesta correcta) (\d+)",
    },
)
_OUT_OF = re.compile(r"(-?[\d.,]+) ?/ ?[\d.,]+\Z")
#: Columns about the whole attempt and the person: times, sums and names.
_WHOLE = re.compile(
    r"(start time|completion time|started on|completed|time taken|duration|state|status|timestamp"
    r"|last modified time|grade posted time|total points|quiz feedback|score|(grade|bewertung)/.*"
    r"|begonnen am|beendet|verbrauchte zeit|e-?mail.*|username|name|surname|(first|last) name"
    r"|nachname|vorname)\Z",
    re.IGNORECASE,
)
_ID = re.compile(
    r"(.*[ _])?(id|id number|nr|no|#|key|uid|item|number|matrikelnummer)\Z", re.IGNORECASE
)
#: What a quiz writes where nothing was answered.
_DASHES = frozenset({"-", "–", "—"})
#: Words for a system's text, next to its scores.
_TEXTS = frozenset(
    {"", "output", "response", "answer", "text", "translation", "summary", "completion", "reply"}
)
#: Sides of a comparison, people and given texts, which are no systems.
_NO_SYSTEM = re.compile(
    r"(chosen|rejected|winner|loser|first|second|left|right|source|reference|gold|prompt|question"
    r"|context|input|comments?|notes?|reasons?)\Z"
)
#: Words for a score of a text, and for a remark on it.
_SCORED = re.compile(
    r"score|rating|grade|mark\b|marks|quality|fluen|adequa|accura|coher|correct|helpful|relevan|rank"
    r"|overall|likert|points|faithful|clar|style|safe|honest|useful|complete"
)
_REMARK = re.compile(r"comment|reason|rationale|feedback|explanation|note")
#: Lists of given texts, spans and turns, which are no answers.
_GIVEN = re.compile(
    r"context|passage|document|reference|source|evidence|retriev|turn|message|history|dialog"
    r"|annotation|entit|span|choice|option|example|demonstration"
)
#: Headings of comparisons: then the texts are pairs.
_COMPARES = re.compile(r"prefer|winner|better|best|choice|chosen|win\b|vote|verdict|rank|label")


def answers_as_rows(
    columns: Sequence[str], rows: Sequence[Row], lines: Sequence[int | None]
) -> tuple[tuple[str, ...], tuple[Row, ...], tuple[int | None, ...], tuple[Problem, ...]]:
    """Return a row for each answer of a quiz or of systems; any other table unchanged.

    >>> row = {"ID": "7", "Why?": "So.", "Points - Why?": "2 / 3"}
    >>> answers_as_rows([*row], [row], [2])[1]
    ({'item id': '7', 'question': 'Why?', 'answer': 'So.', 'score': '2'},)
    """
    if (found := answers_in_lists(rows)) is not None:
        key, entries = found
        of_entries = dict.fromkeys(column for _, _, row in entries for column in row)
        of_lists = tuple(lines[at] for at, *_ in entries)
        return tuple(of_entries), tuple(r for *_, r in entries), of_lists, (list_notice(key),)
    heads = {column.strip(): column for column in columns}
    groups, of = _columns_of_questions([*heads]), "question"
    if not groups:
        groups, of = _columns_of_systems([*heads], rows), "system"
    if not groups or len(heads) < len(columns):
        return tuple(columns), tuple(rows), tuple(lines), ()
    parts = {column for group in groups.values() for column in group.values()}
    left = [c for c in columns if c.strip() not in parts]
    own_id = id_column(left, rows)
    whole = [c for c in left if of == "question" and c != own_id and _WHOLE.match(c.strip())]
    kept = [c for c in left if c not in (own_id, *whole)]
    longer, of_lines, dashes = list[Row](), list[int | None](), 0
    for at, (row, line) in enumerate(zip(rows, lines, strict=True), start=1):
        number = at if own_id is None else row.get(own_id)
        for n, (name, group) in enumerate(groups.items(), start=1):
            cells = {field: _cell_value(row.get(heads[column])) for field, column in group.items()}
            is_dash = of == "question" and str(cells["answer"]).strip() in _DASHES
            dashes += is_dash
            if is_dash or cells["answer"] in (None, ""):
                continue
            part = n if of == "question" else name
            id = f"{number} / {part}" if len(groups) > 1 else str(number)
            asked = {"number" if name.isdigit() and of == "question" else of: name}
            longer.append({"item id": id} | {c: row.get(c) for c in kept} | asked | cells)
            of_lines.append(line)
    message = f"Each answer of the {len(groups)} {of}s ({', '.join(groups)}) is a row."
    if whole:
        message += f" What is about a whole attempt is left out: {', '.join(whole)}."
    if dashes:
        message += f" Answers that are only a dash have no row: {dashes:,}."
    of_row = dict.fromkeys(column for row in longer for column in row)
    return tuple(of_row), tuple(longer), tuple(of_lines), (Problem(message[:1000]),)


def answers_in_lists(rows: Sequence[Row]) -> tuple[str, list[tuple[int, int, Row]]] | None:
    """Return the column that lists several answers per row, and a new row for each answer, or
    ``None``.

    Each new row comes with the indices of its original row and of its answer in the list.
    """
    columns = dict.fromkeys(key for row in rows[:200] for key in row)
    lists = [c for c in columns if all(_is_answer_list(row.get(c)) for row in rows)]
    lists = [c for c in lists if not _GIVEN.search(plain_heading(c))]
    others = [
        c for c in columns if plain_heading(c).rpartition(" ")[2] in _ANSWERS and c not in lists
    ]
    if len(lists) != 1 or others or not rows or all(len(row[lists[0]]) < 2 for row in rows):
        return None
    key, entries = lists[0], list[tuple[int, int, Row]]()
    sizes = {len(row[key]) for row in rows}
    if any(number_of_first(c, [r.get(c) for r in rows], min(sizes)) is not None for c in columns):
        return None  # a comparison, which names the best of each list
    own_id = id_column([*columns], rows)
    for at, row in enumerate(rows):
        number = at + 1 if own_id is None else row[own_id]
        kept = {c: cell for c, cell in row.items() if c not in (key, own_id)}
        for n, entry in enumerate(row[key], start=1):
            entries.append((at, n - 1, {"item id": f"{number} / {n}"} | kept | entry))
    return key, entries


def number_of_first(column: str, cells: Sequence[Any], size: int) -> int | None:
    """Return the number of the first of ``size`` answers if a preference names them by numbers.

    >>> number_of_first("choice", [0, 1], 2), number_of_first("best", [1, 2], 2)
    (0, 1)
    >>> number_of_first("choice", ["a"], 2), number_of_first("score", [0, 1], 2)
    (None, None)
    """
    if not has_word(column, PREFERENCES):
        return None
    numbers = {number_of(str(cell)) for cell in cells}
    known = {int(n) for n in numbers if n is not None and n.is_integer()}
    if not known or len(known) < len(numbers):
        return None
    if 0 in known:
        return 0 if min(known) == 0 and max(known) < size else None
    return 1 if min(known) > 0 and max(known) == size else None


def id_column(columns: Sequence[str], rows: Sequence[Row]) -> str | None:
    """Return the first column headed for ids that differ in every row, or ``None``."""
    ids = (c for c in columns if _ID.match(c.strip()))
    return next((c for c in ids if len({str(row.get(c)) for row in rows}) == len(rows)), None)


def list_notice(key: str) -> Problem:
    """Return the notice that each entry of a column's lists is a row."""
    return Problem(f"Each answer in the lists of {key!r} is a row.")


#: Keys of an answer in a list of answers.
_ANSWERS = _TEXTS - {""} | {"generation", "generated text", "model output", "submission"}


def _is_answer_list(cell: Any) -> bool:
    """Return whether a cell is a list of objects with a text each, and no conversation."""
    if not isinstance(cell, list) or not cell or not all(isinstance(e, dict) for e in cell):
        return False
    return all(map(text_of_answer, cell)) and not any(
        {"role", "start", "end", "speaker"} & e.keys() for e in cell
    )


def text_of_answer(entry: Row) -> str:
    """Return the text of an answer in a list, of several words, or ""."""
    texts = [value for key, value in entry.items() if plain_heading(str(key)) in _ANSWERS]
    return texts[0] if texts and isinstance(texts[0], str) and " " in texts[0].strip() else ""


def _columns_of_systems(columns: Sequence[str], rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    """Return the columns of each system, if several have a text and the same scores."""
    for parted in _parted_headings(columns):
        groups = dict[str, dict[str, str]]()
        for column, (name, field) in parted.items():
            is_system = name and not (
                _NO_SYSTEM.match(plain_heading(name)) or has_word(name, RATERS)
            )
            if is_system and not has_word(name, PEOPLE):
                field = "answer" if plain_heading(field) in _TEXTS else field
                groups.setdefault(name, {}).setdefault(field, column)
        groups = {n: of for n, of in groups.items() if "answer" in of and len(of) > 1}
        alike = len({frozenset(of) for of in groups.values()}) == 1 < len(groups)
        texts = _are_texts(rows, [of["answer"] for of in groups.values()])
        used = {column for of in groups.values() for column in of.values()}
        scores = all(
            _are_scores(rows, c) for of in groups.values() for f, c in of.items() if f != "answer"
        )
        fields = {field for of in groups.values() for field in of} - {"answer"}
        scored = [field for field in fields if _SCORED.search(plain_heading(field))]
        known = scored and all(f in scored or _REMARK.search(plain_heading(f)) for f in fields)
        beside = [c for c in columns if c not in used and _COMPARES.search(plain_heading(c))]
        compares = any(len(groups) < 3 or not _names_one(rows, c, groups) for c in beside)
        if alike and known and texts and scores and not compares:
            return groups
    return {}


def _parted_headings(columns: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Yield each heading as a system and a field: its first word, its last, all before a text's."""
    words = {column: plain_heading(column).split() for column in columns}
    longer = {
        c.strip()[: -len(w[-1])].strip(" _-"): w[:-1]
        for c, w in words.items()
        if len(w) > 2 and w[-1] in _TEXTS
    }
    by_text = {
        c: (n, c.strip()[len(n) :].strip(" _-"))
        for c, w in words.items()
        for n, of in longer.items()
        if w[: len(of)] == of
    }
    yield {c: (" ".join(w[:1]), " ".join(w[1:])) for c, w in words.items()}
    yield {c: (" ".join(w[-1:]), " ".join(w[:-1])) for c, w in words.items()}
    yield by_text if len(longer) > 2 else {}
    yield _beside_their_texts(columns)


def _beside_their_texts(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return each heading that is in others, as a system's text, and these as its fields.

    >>> _beside_their_texts(["lark-2", "lark-2_score", "note"])
    {'lark-2': ('lark-2', ''), 'lark-2_score': ('lark-2', 'score')}
    """
    parted = dict[str, tuple[str, str]]()
    for name in sorted(columns, key=len):
        field = re.compile(rf"{re.escape(name)}[\W_]+(.+?)\W*|(.+?)[\W_]+{re.escape(name)}\W*")
        if of := {c: match[1] or match[2] for c in columns if (match := field.fullmatch(c))}:
            parted |= {name: (name, "")} | {c: (name, part) for c, part in of.items()}
    return parted


def _names_one(rows: Sequence[Row], column: str, systems: Collection[str]) -> bool:
    """Return whether a column only names the systems, each row one or none of them."""
    names = {name.lower() for name in systems} | {"", "none", "tie"}
    return {str(row.get(column) or "").lower() for row in rows} <= names


def _are_texts(rows: Sequence[Row], columns: Sequence[str]) -> bool:
    """Return whether most cells of systems' answers have several words; some may be short."""
    cells = [[str(row.get(c) or "") for row in rows[:200]] for c in columns]
    long = sum(len(cell.split()) > 2 for of in cells for cell in of)
    return all(len({*of}) > 1 for of in cells) and 2 * long > sum(map(len, cells))


def _are_scores(rows: Sequence[Row], column: str) -> bool:
    cells = [str(row.get(column) or "") for row in rows[:200]]
    return any(cells) and all(len(c) < 25 and len(c.split()) < 3 for c in cells)


def _columns_of_questions(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the columns of each question by field, in the first form that headings have."""
    for form in _FORMS:
        found = dict[str, dict[str, str]]()
        for field, pattern in form.items():
            matches = (re.fullmatch(pattern, column, re.IGNORECASE) for column in columns)
            for match in filter(None, matches if pattern else ()):
                found.setdefault(match[1].strip(), {})[field] = match[0]
        if not form["answer"]:
            found = {n: {"answer": n, **of} for n, of in found.items() if n in columns}
        found = {
            n: of
            for n, of in found.items()
            if "answer" in of and of.keys() & {"score", "reference"}
        }
        if found:
            return found
    return {}


def _cell_value(cell: Any) -> Any:
    """Return a cell; of points out of a maximum, only the points."""
    match = _OUT_OF.match(cell.strip()) if isinstance(cell, str) else None
    return match[1] if match else cell
