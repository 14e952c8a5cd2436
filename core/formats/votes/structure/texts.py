"""Find the columns of judged texts and their prompts if headings are unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from core.formats.columns.headings import stem_of, without_prefix
from core.formats.columns.text_columns import (
    ABOUT,
    ANY_TEXT,
    WRITTEN_BY,
    heads_a_prompt,
    heads_a_source,
    text_shape,
    topics_in,
)
from core.formats.source.heading_words import WRITTEN_TEXTS, has_word, plain_heading
from core.formats.tables.table import Table
from core.formats.votes.structure.values import USUAL, Values, values_of

#: The most words of a title, on average, and headings of titles and of their reviews.
_TITLE_WORDS = 15
_TITLES = re.compile(
    r"(?:\w+ )?(?:title|titel|titre|titulo|titolo|tytul|otsikko|baslik|headline|titular"
    r"|schlagzeile|uberschrift|manchete|naglowek)|название|заголовок"
    r"|标题|题名|タイトル|見出し|제목"
)
_REVIEWS = re.compile(
    r"\breview|\bgutacht|\brezens|\brecens|\bresen|\breferee|\bpares?cer|\bevaluateur"
    r"|рецензи|审稿|評審|査読|심사"
)


class TextColumns(NamedTuple):
    """Columns of the texts and of their prompts, and a second candidate for the texts."""

    text: str = ""
    prompt: str = ""
    second: str = ""

    def changes(self, item: Sequence[str] = ()) -> list[str]:
        """Return the columns as `FIELD=COLUMN`, without a text that is the item itself."""
        text = "" if self.text in item else self.text
        return [f"{f}={c}" for f, c in (("submission", text), ("prompt", self.prompt)) if c]

    def readings(self) -> tuple[TextColumns, ...]:
        """Return this reading, and the one with the second candidate if it is equally likely.

        Of `sentence1` and `sentence2`, the second is judged as it follows from the first.
        """
        stem = stem_of(self.text)
        if self.second and not self.prompt and stem == stem_of(self.second) and stem in ANY_TEXT:
            return (TextColumns(*sorted((self.text, self.second), reverse=True)),)
        second = TextColumns(self.second, self.prompt, self.text)
        return (self, second) if self.second else (self,)

    @property
    def columns_phrase(self) -> str:
        """Return a description of the columns, as the end of a sentence."""
        if self.second:
            return f"; {self.second!r} is a second text and left out: one is judged"
        return "" if self.text else NO_TEXTS


NO_TEXTS = (
    "; no column holds the texts that were judged, and the votes can be imported without them"
)


def best_texts(values: Values, texts: Sequence[str], item: Sequence[str]) -> TextColumns:
    """Return the columns of the judged texts and of their prompts, among ``texts``.

    A usual heading takes precedence, then the longest texts; most items must have a text of their
    own, unless the only column of texts is headed for titles or answers.
    """
    items = values.uniqueness(item) * values.size if any(item) else values.size
    if texts and all(map(heads_a_prompt, texts)):  # what was written about them may be short
        written = [c for c in values.columns if has_word(c, WRITTEN_TEXTS) and c not in texts]
        shapes = {c: text_shape(values.table, c) for c in written}
        texts = [*texts, *(c for c, of in shapes.items() if of and of.sentences)]
    able = [
        t
        for t in texts
        if 10 * len(values.distinct[t]) >= (4 if plain_heading(t) in USUAL else 7) * items
    ]
    able = [t for t in able if not _titles_of_reviewed(values, t)]
    prompts = [t for t in texts if plain_heading(t) not in USUAL]
    prompts = [t for t in prompts if heads_a_prompt(without_prefix(t))]
    if any(has_word(t, WRITTEN_TEXTS) and t not in prompts for t in able or texts):
        prompts += [t for t in texts if t not in prompts and heads_a_source(t)]
    candidates = [t for t in able if t not in prompts] or able
    if not candidates:
        others = [t for t in texts if t not in prompts and len(values.distinct[t]) > 1]
        fit = [t for t in others if _is_headed_for_texts(values, t)]
        candidates = fit if len(others) == 1 else []
    ranked = sorted(
        candidates, key=lambda t: (_text_heading_level(t), _median_length(values, t)), reverse=True
    )
    text = next(iter(ranked), "")
    free = [c for c in values.columns if c not in (text, *item)]
    prompts = [t for t in prompts if t != text]
    # `sentence1`, of which several of `sentence2` follow
    prompts = prompts or [t for t in texts if t not in able and stem_of(t) == stem_of(text) != ""]
    prompts = prompts or topics_in(values.table, free)
    prompt = next(iter(prompts), "")
    near = (
        t for t in ranked[1:] if t != prompt and _text_heading_level(t) == _text_heading_level(text)
    )
    near = (
        t
        for t in near
        if plain_heading(t) not in ABOUT
        and (
            5 * _median_length(values, t) >= 2 * _median_length(values, text)
            or stem_of(t) == stem_of(text) != ""
        )
    )
    return TextColumns(text, prompt, next(near, ""))


def _is_headed_for_texts(values: Values, column: str) -> bool:
    titled = _TITLES.fullmatch(plain_heading(column)) and not _titles_of_reviewed(values, column)
    return bool(titled) or has_word(column, WRITTEN_TEXTS)


def _titles_of_reviewed(values: Values, column: str) -> bool:
    """Return whether a column holds titles of a few words, beside a heading of reviews."""
    if not _TITLES.fullmatch(plain_heading(column)) or values.holds_sentences(column):
        return False
    shape = text_shape(values.table, column)
    reviewed = any(_REVIEWS.search(plain_heading(c)) for c in values.columns)
    return reviewed and shape is not None and shape.words <= _TITLE_WORDS


def _text_heading_level(column: str) -> int:
    """Return how certainly a heading is that of judged texts."""
    if (heading := plain_heading(column)) in WRITTEN_BY:
        return 3
    return 2 if heading in USUAL else int(has_word(column, WRITTEN_TEXTS))


def _median_length(values: Values, column: str) -> int:
    return sum(map(len, values.distinct[column]))


def judged_texts(values: Values, item: Sequence[str]) -> list[str]:
    """Return the columns with a text of its own for most items; remarks may be among them."""
    items = values.uniqueness(item) * values.size if item else values.size
    able = [c for c in values.columns if values.share_filled(c) >= 0.8 and c not in item]
    able = [
        c for c in able if (shape := text_shape(values.table, c)) is not None and shape.has_phrases
    ]
    able = [c for c in able if 10 * len(values.distinct[c]) >= 7 * items]
    return [c for c in able if not (item and values.varies(item, c))]


def may_hold_texts(table: Table, column: str) -> bool:
    """Return whether a column, or a place in its cells, may hold the judged texts."""
    if column not in table.columns or plain_heading(column) in USUAL:
        return True
    return column in judged_texts(values_of(table), [])


#: `Q2`, `2. What is it?`, `問1`: a question of a quiz.
_QUIZ = re.compile(
    r"(?:q|question|frage|aufgabe|pregunta|pergunta|domanda|vraag|task|exercise|问题?|問|第)? ?"
    r"\d{1,2}(?:$|[^\w]|(?<=\d)[^\W\d_])"
)
#: The fewest words of an answer, on average.
_ANSWER_WORDS = 3


def quiz_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of written answers to two or more numbered questions, or ().

    >>> rows = tuple({"Q1": f"It grows {n} cm.", "Q2": "In the north, I think."} for n in range(4))
    >>> quiz_columns(Table("x.csv", "csv", ("Q1", "Q2"), rows, (2, 3, 4, 5)))
    ('Q1', 'Q2')
    """
    asked = [c for c in table.columns if _QUIZ.match(plain_heading(c))]
    shapes = {c: text_shape(table, c) for c in asked}
    texts = [c for c, of in shapes.items() if of and of.sentences and of.words >= _ANSWER_WORDS]
    return tuple(texts) if len(texts) > 1 and not any(map(heads_a_prompt, texts)) else ()
