"""Find the column of a table that holds the texts to judge, or the equally likely ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from core.formats.columns.answer_columns import is_date, words_in
from core.formats.columns.headings import lower_heading, question_in, stem_of, without_prefix
from core.formats.source.heading_words import (
    ASKERS,
    PROMPTS,
    RATERS,
    REFERENCES,
    REMARKS,
    SCHOOL,
    SOURCES,
    TOPICS,
    WRITTEN_TEXTS,
    has_word,
    plain_heading,
)
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table, value_paths

#: Usual names of a column of submissions. ``WRITTEN_BY``: names that include their author or kind.
WRITTEN_BY = (
    *("student answer", "student response", "model output", "model response", "model completion"),
    *("generated text", "generated answer", "generated response", "generated summary"),
    *("ai answer", "llm answer", "bot answer", "assistant answer", "pupil answer", "ai output"),
    *("llm response", "llm output", "ai response", "system output", "candidate answer"),
    *("essay text", "answer text", "response text", "system summary", "model summary"),
)
WRITTEN = (
    *("response", "answer", "completion", "output", "generation", "essay", "reply", "full text"),
    *("model answer", "summary", "translation", "story", "continuation", "hypothesis"),
    *("prediction", "assistant", "mt", "mt output"),
)
#: Names of any text: as often the source of a summary as the judged text.
ANY_TEXT = (
    *("text", "content", "body", "tweet", "email", "transcript", "ticket text", "message"),
    *("review", "post", "comment text", "sentence", "conversation", "dialogue", "online text"),
    *("segment", "coded segment", "excerpt", "quotation", "quotation content", "quote"),
    *("texto", "texte", "testo", "tekst", "excerto", "trecho", "fragmento", "frammento"),
    *("estratto", "auszug", "textauszug", "textstelle", "extrait", "extracto", "fragment"),
)
#: Names of texts about the judged text.
ABOUT = (
    *("reason", "rationale", "explanation", "comment", "comments", "note", "notes", "feedback"),
    *("justification", "description", "title", "instructions", "requirement"),
    # The author, however long the names are.
    *("name", "full name", "student", "student name", "pupil", "author"),
)
#: Last words of headings such as `grader comment`, if there is a column of answers, too.
_REMARKS = frozenset({*ABOUT[:8], "justification", "remark", "remarks"})
#: Texts shorter than this on average are not recognised as submissions by length alone.
LONG = 60
#: The average length up to which texts may be labels.
_SHORT = 25
#: Topics have at least this many words on average; categories have fewer.
_TITLE = 2.5
_ROWS = 1000


class TextChoice(NamedTuple):
    """The column of texts and why; if none is chosen, the candidates."""

    column: str | None
    why: str = ""
    rivals: tuple[str, ...] = ()


class TextShape(NamedTuple):
    """The texts of a column: average length, whether they are sentences, whether they repeat.

    In scripts without spaces a letter counts as several, because it stands for a larger part of a
    word.
    """

    length: float
    sentences: bool
    repeated: bool
    words: float = 0.0

    @property
    def is_short(self) -> bool:
        """Return whether the texts are as short as labels and names."""
        return self.length < _SHORT

    @property
    def has_phrases(self) -> bool:
        """Return whether the texts are more than names and titles of a few words."""
        return self.words >= 4 and self.length >= _SHORT - 5

    @property
    def are_like_labels(self) -> bool:
        """Return whether the texts are as short as labels, and not different sentences."""
        return self.is_short and not (self.sentences and not self.repeated)


def text_shape(table: Table, column: str) -> TextShape | None:
    """Return the shape of a column's texts, or ``None`` if most cells are not texts."""
    return table.once(_shape_of, column)


def _shape_of(table: Table, column: str) -> TextShape | None:
    cells = [row[column] for row in table.rows[:_ROWS] if row.get(column) not in (None, "")]
    texts = [_text_of_cell(cell) for cell in cells]
    texts = [text for text in texts if text]
    if not texts or len(texts) * 5 < len(cells) * 4:
        return None
    if all(map(is_date, texts)) or all(map(_TREE.fullmatch, texts)):
        return None
    signs = [0 if text.isascii() else len(_UNSPACED.findall(text)) for text in texts]
    words = [len(text.split()) + n / 2.5 for text, n in zip(texts, signs, strict=True)]
    sentences = sum(w >= (3 if n else 2) for w, n in zip(words, signs, strict=True))
    repeated = len(texts) >= 4 and len(set(texts)) * 2 <= len(texts)
    length = (sum(map(len, texts)) + 1.5 * sum(signs)) / len(texts)
    return TextShape(length, sentences * 2 > len(texts), repeated, sum(words) / len(texts))


#: A sentence as a parser writes it: `(S (NP Birds) (VP fly))`.
_TREE = re.compile(r"\s*\([^()]*\(.*\)[^()]*\)\s*", re.DOTALL)
#: Letters of scripts that are written without spaces.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def _text_of_cell(cell: Any) -> str:
    """Return a text, the last message of a conversation, or "" for anything else."""
    inside = parsed_cell(cell)
    if isinstance(inside, list) and inside:
        inside = inside[-1]
        inside = inside.get("content") if isinstance(inside, dict) else inside
    elif isinstance(inside, dict):
        inside = inside.get("output") or inside.get("content")
    return inside if isinstance(inside, str) else ""


def text_column(table: Table, free: Mapping[str, str]) -> TextChoice:
    """Return the column of the texts to judge, among ``free`` columns by plain name.

    A longer column is preferred to one of short or repeated values. If several columns are equally
    likely, none is chosen.
    """
    shapes = {column: text_shape(table, column) for column in free.values()}
    texts = {column: shape for column, shape in shapes.items() if shape is not None}
    about = _columns_about_text(free)
    short, answers = list[str](), _answers_by_heading(texts)
    for names in (WRITTEN_BY, WRITTEN, ANY_TEXT):
        columns = [c for n in names if (c := free.get(n)) and _may_hold_texts(table, c)]
        if names is ANY_TEXT:
            if not short and len(answers) == 1 < len(texts):
                return TextChoice(answers[0], "its heading")
            columns = [c for c in columns if not (answers and _holds_codes(table, c))]
        longer = {c: _longer_columns(c, texts) for c in columns}
        weak = [c for c in columns if longer[c]]
        # A column of texts about the answer may replace one of short answers only if the user
        # agrees.
        unsure = [c for c in weak if not texts[c].repeated or set(longer[c]) <= about]
        short += [*unsure, *(other for c in unsure for other in longer[c] if other in about)]
        chosen = _choice_among([c for c in columns if c not in weak], texts)
        if chosen and chosen.column and names is ANY_TEXT:
            candidates = [c for c in _long_text_columns(texts, about) if c != chosen.column]
            chosen = TextChoice(None, "", (chosen.column, *candidates)) if candidates else chosen
        if chosen and chosen.column and short:
            return TextChoice(None, "", tuple(dict.fromkeys((*short, chosen.column))))
        if chosen:
            return chosen
    if not short and len(answers) == 1 and any(c for c in texts if heads_a_prompt(c)):
        return TextChoice(answers[0], "its heading")
    longest = list(_long_text_columns(texts, about))
    longest = [c for c in longest if not has_word(c, REFERENCES)] or longest
    longest += [c for c in texts if c not in longest and _are_versions(c, longest, texts)]
    if len(longest) == 1 and not short and texts[longest[0]].length >= LONG:
        return TextChoice(longest[0], "the longest texts")
    return TextChoice(None, "", tuple(dict.fromkeys((*short, *longest))))


def _answers_by_heading(texts: Mapping[str, TextShape]) -> list[str]:
    """Return the columns of sentences headed for a written answer: `bot_reply`."""
    headed = [c for c, of in texts.items() if of.sentences and has_word(c, WRITTEN_TEXTS)]
    about = (REFERENCES, PROMPTS, ASKERS, RATERS)
    headed = [c for c in headed if not any(has_word(c, words) for words in about)]
    return [c for c in headed if not (is_remark(c) or _TITLED.search(plain_heading(c)))]


#: Headings of titles and kinds of texts.
_TITLED = re.compile(r"\b(title|titel|titre|titulo|titolo|tytul|name|type|topic|thema|tema)\b")


def _holds_codes(table: Table, column: str) -> bool:
    """Return whether a column holds only codes such as `chat-12`, which are no texts."""
    cells = [row[column] for row in table.rows[:_ROWS] if row.get(column)]
    return all(isinstance(cell, str) and re.fullmatch(r"\S*\d\S*", cell) for cell in cells)


_VERSIONS = re.compile(
    r"\b(draft|revision|revised|version|original|edited|rewritten|before|after|entwurf|fassung"
    r"|uberarbeitung|brouillon|borrador|rascunho|bozza)\b"
)


def _are_versions(column: str, longest: list[str], texts: Mapping[str, TextShape]) -> bool:
    """Return whether a column has another version of the only long texts, as in `draft_1`."""
    if len(longest) != 1 or not texts[column].sentences or texts[column].repeated:
        return False
    worded = all(_VERSIONS.search(plain_heading(c)) for c in (column, *longest))
    return worded or stem_of(column) == stem_of(longest[0]) != ""


def _may_hold_texts(table: Table, column: str) -> bool:
    """Return whether no cell is an object that holds more than an answer."""
    cells = (row.get(column) for row in table.rows)
    return not any(isinstance(v, dict) and not v.keys() & SECTIONS for v in cells)


#: Keys of a submission that is an object; other objects hold more than an answer.
SECTIONS = frozenset({"thinking", "output", "first", "second"})


def _longer_columns(column: str, texts: Mapping[str, TextShape]) -> list[str]:
    """Return the longer columns next to a column as short as labels."""
    shape = texts.get(column)
    if shape is None or not shape.are_like_labels:
        return []
    least = max(_SHORT, 3 * shape.length)
    return [
        name
        for name, candidate in texts.items()
        if candidate.sentences and not candidate.repeated and candidate.length >= least
    ]


def is_worded(table: Table, column: str) -> bool:
    """Return whether most cells of a column are longer than a word."""
    cells = [row[column] for row in table.rows[:1000] if row.get(column)]
    texts = [cell for cell in cells if not isinstance(cell, str) or " " in cell.strip()]
    return bool(cells) and 2 * len(texts) > len(cells)


def _choice_among(columns: list[str], texts: Mapping[str, TextShape]) -> TextChoice | None:
    if not columns:
        return None
    written = [c for c in columns if c in texts and texts[c].sentences and not texts[c].repeated]
    if len(columns) == 1 or len(written) == 1:
        return TextChoice((written or columns)[0], "a usual name for it")
    return TextChoice(None, "", tuple(written or columns))


def _columns_about_text(free: Mapping[str, str]) -> set[str]:
    """Return the columns of texts about the judged text, such as comments next to answers."""
    answered = any(name in free for name in (*WRITTEN_BY, *WRITTEN))
    ends = _REMARKS if answered else frozenset[str]()
    return {c for name, c in free.items() if name in ABOUT or name.rpartition(" ")[2] in ends}


def _long_text_columns(texts: Mapping[str, TextShape], about: Collection[str]) -> Iterator[str]:
    """Yield the columns of sentences that could be the texts by their length."""
    longest = max((shape.length for name, shape in texts.items() if name not in about), default=0)
    for name, shape in texts.items():
        near = shape.length >= LONG / 2 and shape.length * 10 >= longest
        if shape.sentences and not shape.repeated and near and name not in about:
            yield name


#: Notes that are judged, or summarised, and not written by those who judge.
_NOTES = re.compile(
    r"\b(discharge|clinical|progress|case|medical|nursing|patient|consult|operative|admission|visit"
    r"|call|field|release|lecture|soap|chart|physician) notes?\b"
)


def is_remark(column: str) -> bool:
    """Return whether a heading is that of remarks about a text.

    >>> is_remark("grader_comment"), is_remark("clinical_note")
    (True, False)
    """
    return has_word(column, REMARKS) and not _NOTES.search(plain_heading(column))


def heads_a_prompt(column: str) -> bool:
    """Return whether a heading is that of a question, a message or a source, beside another text.

    >>> [heads_a_prompt(name) for name in ("Pregunta 1", "Customer message", "Respuesta 1")]
    [True, True, False]
    """
    named = has_word(column, PROMPTS) or has_word(column, ASKERS)
    named = named or bool(_NOTES.search(plain_heading(column)))
    named = named and not question_in(column)
    return named and not is_remark(column) and not has_word(column, REFERENCES)


def heads_a_source(column: str) -> bool:
    """Return whether a heading is that of a text to summarise, or of what came before a reply."""
    before = _BEFORE.fullmatch(plain_heading(without_prefix(column)))
    return bool(before) or (has_word(column, SOURCES) and not has_word(column, WRITTEN_TEXTS))


#: Headings of the conversation before a response.
_BEFORE = re.compile(r"(dialog(ue)?|conversation|chat)?( ?(context|history|so far))")


#: What a text is about, beside it in an object: posts and their titles, which are summarised.
_POSTED = tuple(
    f"{head}.{key}" for key in ("post", "title") for head in ("info", "meta", "metadata")
)


def prompt_beside(table: Table, text: str, columns: Iterable[str]) -> str:
    """Return the column with the prompts that the texts in ``text`` answer, or "".

    Of several columns, the result is the one with the same number: `Question 2` beside `Answer 2`.
    Without any, it is the topic of pupils' texts, or the conversation before a response.
    """
    others = [c for c in columns if c != text]
    asked = _worded_columns(table, filter(heads_a_prompt, others))
    end = _number_at_end(text)
    same = [c for c in asked if _number_at_end(c) == end] if end else []
    asked = same or [c for c in asked if not (end and _number_at_end(c))]
    asked = asked or topics_in(table, others)
    if not asked and has_word(text, WRITTEN_TEXTS):
        asked = _worded_columns(table, (c for c in others if _BEFORE.fullmatch(plain_heading(c))))
        asked = asked or _worded_columns(table, filter(heads_a_source, others))
    asked = asked or _worded_columns(table, (c for c in _POSTED if c in others))[:1]
    return asked[0] if len(asked) == 1 else ""


def topics_in(table: Table, columns: Iterable[str]) -> list[str]:
    """Return the columns with the topic of all texts, or with the topics of pupils' texts."""
    shapes = {c: text_shape(table, c) for c in columns if has_word(c, TOPICS, whole=True)}
    least = _TITLE if any(has_word(c, SCHOOL) for c in table.columns) else float("inf")
    titles = {c: of.words for c, of in shapes.items() if of and of.sentences}
    return [c for c, n in titles.items() if n >= least or len(words_in(table, c)) == 1]


def reference_beside(table: Table, text: str, columns: Iterable[str]) -> str:
    """Return the only column of texts to compare ``text`` with, or ""."""
    named = [c for c in columns if c != text and has_word(c, REFERENCES) and not is_remark(c)]
    found = _worded_columns(table, named)
    return found[0] if len(found) == 1 else ""


def _worded_columns(table: Table, columns: Iterable[str]) -> list[str]:
    return [c for c in columns if (shape := text_shape(table, c)) is not None and shape.has_phrases]


def _number_at_end(heading: str) -> str:
    """Return the number at the end of a heading, or ""."""
    match = re.search(r"\d+\W*\Z", heading)
    return match[0].strip() if match else ""


def prompt_map(table: Table, unused: Iterable[str]) -> str:
    """Return how to take the first long texts among unused columns as prompts, or ""."""
    shapes = {c: text_shape(table, c) for c in unused}
    texts = [c for c, of in shapes.items() if of and of.sentences and of.length >= LONG / 2]
    texts = [c for c in texts if lower_heading(c) not in ABOUT and not is_remark(c)]
    texts = [c for c in texts if not (has_word(c, REFERENCES) or question_in(c))]
    return f"If {texts[0]!r} is what was asked: {maps_for('prompt', texts[:1])}." if texts else ""


def proposed_texts(table: Table) -> tuple[str, ...]:
    """Return the likeliest columns, or places in cells, of texts; the best first."""
    free = {lower_heading(column): column for column in table.columns}
    choice = text_column(table, free)
    if choice.column or len(choice.rivals) > 1:
        return (choice.column,) if choice.column else choice.rivals
    values = dict[str, str]()
    for path, value in value_paths(table).items():
        if isinstance(value, str):
            values[path] = value
    for column in table.columns:
        cells = [row[column] for row in table.rows[:20] if isinstance(row.get(column), str)]
        values[column] = max(cells, key=len, default="")
    texts = {p: v for p, v in values.items() if " " in v.strip() and v.lstrip()[:1] not in "{["}
    texts = {path: text for path, text in texts.items() if not is_date(text)}
    answers = [path for path in texts if path.endswith(_ANSWERS)]
    best = max(answers or texts, key=lambda path: len(texts[path]), default=None)
    return () if best is None else (best,)


#: Ends of paths to an answer.
_ANSWERS = (".content", ".output", ".answer", ".reply", ".text")


def maps_for(field: str, columns: Iterable[str], joined: str = " or ") -> str:
    """Return command line options that each name one column: either of them, or all ``joined``.

    >>> maps_for("submission", ["my text", "b"])
    "--map 'submission=my text' or --map submission=b"
    """
    import shlex

    return joined.join(f"--map {shlex.quote(f'{field}={column}')}" for column in columns)
