"""Answers as numbers: words, TF-IDF, similarity to answers and reference."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from core.domain.dataset import Item

#: Longer texts are cut to their beginning and end, so that a huge text cannot stall a run.
HEAD_CHARS, TAIL_CHARS = 5_000, 1_000
_WORD = re.compile(r"\w+")
_SIZES = (3, 4, 5)


def words_of(text: str) -> list[str]:
    """Return the words of ``text``: case folded, composed, without punctuation.

    >>> words_of("The Earth's axis, tilted.")
    ['the', 'earth', 's', 'axis', 'tilted']
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]} {text[-TAIL_CHARS:]}"
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def grams_of(word: str) -> list[str]:
    """Return the sequences of 3 to 5 characters of ``word`` with spaces around it.

    >>> grams_of("axis")
    [' ax', 'axi', 'xis', 'is ', ' axi', 'axis', 'xis ', ' axis', 'axis ']
    """
    marked = f" {word} "
    return [marked[i : i + k] for k in _SIZES for i in range(len(marked) - k + 1)]


def terms_of(words: list[str]) -> list[str]:
    """Return words and pairs of neighbouring words, with repeats.

    >>> terms_of(["tilted", "axis"])
    ['tilted', 'axis', 'tilted axis']
    """
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


def excerpt(text: str, limit: int = 80) -> str:
    """Return the beginning of ``text`` on one line, cut at a word.

    >>> excerpt("one two three", 8)
    'one two…'
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[:limit].rsplit(" ", 1)[0] if " " in line[:limit] else line[:limit]
    return f"{cut}…"


# Answers as vectors: word, word-pair and character TF-IDF, fitted on all answers of a run.
#
# This uses no labels, so the answers to be judged are included, too (as measured in
# ``bench/offline.py``). Character sequences stay within words, so a text's are the sum of its
# words': each word is split once, and a sequence's contribution can be assigned to words.

Floats = npt.NDArray[np.float64]
Texts = tuple[str, str, str]
#: A term must occur in this many answers: a term of one answer relates it to no other.
MIN_ANSWERS = 2


def texts_of(item: Item) -> Texts:
    """Return the texts that features use: output without thinking, prompt, reference."""
    return item.output, item.prompt, item.reference


class Lexicon:
    """Known terms with their inverse document frequencies; turns texts into weight rows."""

    def __init__(self, texts: Iterable[str]) -> None:
        documents = [words_of(text) for text in texts]
        self.size = len(documents)
        term_counts = Counter[str]()
        gram_counts = Counter[str]()
        self._grams = dict[str, Counter[str]]()
        for document in documents:
            term_counts.update(set(terms_of(document)))
            gram_counts.update(set().union(*(self._grams_of(word) for word in set(document))))
        self.terms, self._term_idf = self._kept_terms(term_counts)
        self._gram_ids, self._gram_idf = self._kept_terms(gram_counts)
        self.rarest = float(np.log(1 + self.size) + 1)

    @property
    def width(self) -> int:
        """Return the number of columns of a row."""
        return len(self.terms) + len(self._gram_ids)

    def _kept_terms(self, counts: Counter[str]) -> tuple[dict[str, int], Floats]:
        terms = sorted(term for term, count in counts.items() if count >= MIN_ANSWERS)
        frequencies = np.array([counts[term] for term in terms], dtype=np.float64)
        return {term: i for i, term in enumerate(terms)}, np.log(
            (1 + self.size) / (1 + frequencies)
        ) + 1

    def _grams_of(self, word: str) -> Counter[str]:
        if word not in self._grams:
            self._grams[word] = Counter(grams_of(word))
        return self._grams[word]

    def idf(self, word: str) -> float:
        """Return a word's weight: high for rare words, highest for unknown ones."""
        index = self.terms.get(word)
        return self.rarest if index is None else float(self._term_idf[index])

    def rows(self, documents: Sequence[list[str]]) -> sparse.csr_matrix:
        """Return texts (lists of words) as unit rows, shape (len(documents), width).

        Words and character sequences each hold half of the squared length.
        """
        terms = [Counter(terms_of(document)) for document in documents]
        grams = [self._sum_of_grams(document) for document in documents]
        words = _weighted_rows(terms, self.terms, self._term_idf)
        right = _weighted_rows(grams, self._gram_ids, self._gram_idf)
        return sparse.hstack([words, right], format="csr") * np.sqrt(0.5)

    def _sum_of_grams(self, words: list[str]) -> Counter[str]:
        total = Counter[str]()
        for word, count in Counter(words).items():
            for gram, times in self._grams_of(word).items():
                total[gram] += count * times
        return total

    def columns_of(self, word: str) -> list[int]:
        """Return the columns of a word and its character sequences, if known."""
        grams = [self._gram_ids[gram] for gram in self._grams_of(word) if gram in self._gram_ids]
        columns = [len(self.terms) + gram for gram in grams]
        return [self.terms[word], *columns] if word in self.terms else columns


def _weighted_rows(
    counts: list[Counter[str]], ids: dict[str, int], idf: Floats
) -> sparse.csr_matrix:
    """Return unit rows of (1 + log count) * idf; zeros for a text without known terms."""
    columns, times, ends = list[int](), list[int](), [0]
    for counter in counts:
        weighted = [(ids[term], count) for term, count in counter.items() if term in ids]
        columns += [column for column, _ in weighted]
        times += [count for _, count in weighted]
        ends.append(len(columns))
    places = np.array(columns, dtype=np.int32)
    values = (1 + np.log(np.array(times, dtype=np.float64))) * idf[places]
    ends_array = np.array(ends)
    squares = np.concatenate([[0.0], np.cumsum(values**2)])
    lengths = np.sqrt(np.diff(squares[ends_array]))
    values /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(ends_array))
    return sparse.csr_matrix((values, places, ends_array), shape=(len(counts), len(ids)))


#: The wording for each column above and below the average answer; ``{}`` is the share.
WORDINGS: tuple[tuple[str, str], ...] = (
    ("it is closer to the reference than most", "it is less close to the reference than most"),
    ("it is closer to the reference than most", "it is less close to the reference than most"),
    ("it repeats more of the prompt than most", "it repeats less of the prompt than most"),
    ("it repeats more of the prompt than most", "it repeats less of the prompt than most"),
    ("it uses {} of the reference's words", "it uses only {} of the reference's words"),
    ("{} of its words are the reference's", "only {} of its words are the reference's"),
    ("it uses {} of the reference's new words", "it uses only {} of the reference's new words"),
    ("{} of its new words are the reference's", "only {} of its new words are the reference's"),
    ("it is longer than most ({words})", "it is shorter than most ({words})"),
    ("it is long for its reference ({words})", "it is short for its reference ({words})"),
    ("{} of its words are not the prompt's", "only {} of its words are not the prompt's"),
    (
        "it shares {} of the reference's word pairs",
        "it shares only {} of its word pairs",
    ),
)
#: Columns that need a reference, and columns that need a prompt.
OF_REFERENCE, OF_PROMPT = frozenset({0, 1, 4, 5, 6, 7, 9, 11}), frozenset({2, 3, 6, 7, 10})
#: Columns whose mean says how close an answer is to its reference, without any labels.
CLOSENESS = (0, 1, 4, 6, 11)


class Relater:
    """Computes the related numbers of answers; caches their prompts and references."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._split = len(lexicon.terms)
        self._known = dict[str, tuple[list[str], sparse.csr_matrix]]()

    def _words_and_row(self, text: str) -> tuple[list[str], sparse.csr_matrix]:
        if text not in self._known:
            words = words_of(text)
            self._known[text] = words, self._lexicon.rows([words])
        return self._known[text]

    def numbers(
        self, texts: Sequence[Texts], documents: Sequence[list[str]], rows: sparse.csr_matrix
    ) -> Floats:
        """Return a row per item, shape (n, 12), with columns as in ``WORDINGS``.

        A missing text gives 0.
        """
        cosines = np.column_stack(
            [self._cosines_to_texts(texts, rows, column) for column in (2, 1)]
        )
        shares = [
            self._word_shares(
                document, self._words_and_row(prompt)[0], self._words_and_row(reference)[0]
            )
            for document, (_, prompt, reference) in zip(documents, texts, strict=True)
        ]
        return np.column_stack([cosines, np.array(shares, dtype=np.float64).reshape(-1, 8)])

    def _cosines_to_texts(
        self, texts: Sequence[Texts], rows: sparse.csr_matrix, column: int
    ) -> Floats:
        distinct = {text[column]: 0 for text in texts}
        place = {text: i for i, text in enumerate(distinct)}
        table = sparse.vstack([self._words_and_row(text)[1] for text in distinct], format="csr")
        products = rows.multiply(table[[place[text[column]] for text in texts]]).tocsr()
        return np.column_stack(
            [
                np.asarray(part.sum(axis=1)).ravel() * 2
                for part in (products[:, : self._split], products[:, self._split :])
            ]
        )

    def _word_shares(
        self, answer: list[str], prompt: list[str], reference: list[str]
    ) -> list[float]:
        in_answer, in_prompt, in_reference = set(answer), set(prompt), set(reference)
        added, new = in_answer - in_prompt, in_reference - in_prompt
        pairs = set(pairwise(reference))
        shared = pairs & set(pairwise(answer))
        return [
            self._shared_part(in_answer & in_reference, in_reference),
            self._shared_part(in_answer & in_reference, in_answer),
            self._shared_part(added & new, new),
            self._shared_part(added & new, added),
            float(np.log1p(len(answer))),
            float(np.log((1 + len(answer)) / (1 + len(reference)))) if reference else 0.0,
            len(added) / len(in_answer) if in_answer else 0.0,
            len(shared) / len(pairs) if pairs else 0.0,
        ]

    def _shared_part(self, part: set[str], word_parts: set[str]) -> float:
        # The words are sorted, because floating-point sums depend on the order.
        total = sum(self._lexicon.idf(word) for word in sorted(word_parts))
        return sum(self._lexicon.idf(word) for word in sorted(part)) / total if total else 0.0


@dataclass(frozen=True)
class Encoded:
    """``n`` items: text rows (n, terms), related numbers (n, 12; standardised and raw), prompts."""

    words: tuple[list[str], ...]
    rows: sparse.csr_matrix
    related: Floats
    raw: Floats
    prompts: npt.NDArray[np.int64]
    has_reference: tuple[bool, ...]
    has_prompt: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, index: int) -> Encoded:
        """Return one of the items."""
        part = slice(index, index + 1)
        return Encoded(
            self.words[part],
            self.rows[part],
            self.related[part],
            self.raw[part],
            self.prompts[part],
            self.has_reference[part],
            self.has_prompt[part],
        )

    @property
    def closeness(self) -> Floats:
        """Return each answer's closeness to its reference, relative to all answers, shape (n,)."""
        return np.asarray(self.related[:, CLOSENESS].mean(axis=1))

    @cached_property
    def transposed(self) -> sparse.csr_matrix:
        """Return transposed text rows, shape (terms, n); computed once, used per question."""
        return self.rows.T.tocsr()


@dataclass(frozen=True)
class Nearness:
    """Products between ``m`` items and ``n`` others, each of shape (m, n).

    ``text``: cosine of the answers. ``related``: product of the related numbers, per number;
    ``closeness``: of their nearness to the reference. ``same``: whether both answer the same
    prompt.
    """

    text: Floats
    related: Floats
    closeness: Floats
    same: npt.NDArray[np.bool_]
    lengths: tuple[Floats, Floats]

    @staticmethod
    def nearness_matrix(a: Encoded, b: Encoded) -> Nearness:
        """Return the nearness of the items of ``a`` to the items of ``b``."""
        width = a.related.shape[1]
        return Nearness(
            text=(a.rows @ b.transposed).toarray(),
            related=a.related @ b.related.T / width,
            closeness=np.outer(a.closeness, b.closeness),
            same=a.prompts[:, None] == b.prompts[None, :],
            lengths=(_row_squares(a), _row_squares(b)),
        )


def _row_squares(part: Encoded) -> Floats:
    return np.asarray((part.related**2).mean(axis=1))


class Encoder:
    """Converts items to numbers, fitted on all answers of a run without labels."""

    def __init__(self, texts: tuple[Texts, ...]) -> None:
        self.lexicon = Lexicon(answer for answer, _, _ in texts)
        self._relater = Relater(self.lexicon)
        self._prompts = {prompt: i for i, prompt in enumerate(sorted({p for _, p, _ in texts}))}
        documents = tuple(words_of(answer) for answer, _, _ in texts)
        raw = self._relater.numbers(texts, documents, self.lexicon.rows(documents))
        spread = raw.std(axis=0)
        self._mean, self._spread = raw.mean(axis=0), np.where(spread > 1e-9, spread, np.inf)

    def encode(self, items: Sequence[Item]) -> Encoded:
        """Return the items as numbers. A number that all answers share has no effect."""
        texts = [texts_of(item) for item in items]
        documents = tuple(words_of(answer) for answer, _, _ in texts)
        rows = self.lexicon.rows(documents)
        raw = self._relater.numbers(texts, documents, rows)
        return Encoded(
            words=documents,
            rows=rows,
            related=np.clip((raw - self._mean) / self._spread, -4, 4),
            raw=raw,
            prompts=np.array([self._prompts.get(prompt, -1) for _, prompt, _ in texts]),
            has_reference=tuple(bool(reference) for _, _, reference in texts),
            has_prompt=tuple(bool(prompt) for _, prompt, _ in texts),
        )


@lru_cache(maxsize=1)
def encoder_of(texts: tuple[Texts, ...]) -> Encoder:
    """Return the encoder of these texts, cached for the run's next criterion."""
    return Encoder(texts)


def closeness_to_reference(items: Sequence[Item]) -> dict[str, float] | None:
    """Return each answer's closeness to its reference, by item id: larger is closer.

    These numbers rank answers but do not grade them, since they are relative to the other answers.
    ``None`` if an item has no reference or no text.
    """
    texts = [texts_of(item) for item in items]
    if not texts or not all(answer.strip() and reference.strip() for answer, _, reference in texts):
        return None
    near = encoder_of(tuple(sorted(set(texts)))).encode(items).closeness
    return {item.id: float(value) for item, value in zip(items, near, strict=True)}
