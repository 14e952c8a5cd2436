"""Answers as vectors: word, word-pair and character TF-IDF, fitted on all answers of a run.

Labels play no part here, so the answers to be judged may be used too (what was measured in
``bench/offline.py``). Character sequences stay within words, so a text's are the sum of its
words': each word is taken apart once, and what a sequence contributes can be told in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from core.domain.dataset import Item
from core.judging.offline.words import grams_of, terms_of, words_of

Floats = npt.NDArray[np.float64]
Texts = tuple[str, str, str]
#: A term must be in this many answers: what is in one only cannot relate two answers.
MIN_ANSWERS = 2


def texts_of(item: Item) -> Texts:
    """What is read of an item: its output without thinking, its prompt, its reference."""
    return item.output, item.prompt, item.reference


class Lexicon:
    """The known terms, their inverse document frequencies, and texts as rows of weights."""

    def __init__(self, texts: Iterable[str]) -> None:
        documents = [words_of(text) for text in texts]
        self.size = len(documents)
        term_counts = Counter[str]()
        gram_counts = Counter[str]()
        self._grams = dict[str, Counter[str]]()
        for words in documents:
            term_counts.update(set(terms_of(words)))
            gram_counts.update(set().union(*(self._grams_of(word) for word in set(words))))
        self.terms, self._term_idf = self._kept(term_counts)
        self._gram_ids, self._gram_idf = self._kept(gram_counts)
        self.rarest = float(np.log(1 + self.size) + 1)

    @property
    def width(self) -> int:
        """How many columns a row has."""
        return len(self.terms) + len(self._gram_ids)

    def _kept(self, counts: Counter[str]) -> tuple[dict[str, int], Floats]:
        kept = sorted(term for term, count in counts.items() if count >= MIN_ANSWERS)
        seen = np.array([counts[term] for term in kept], dtype=np.float64)
        return {term: i for i, term in enumerate(kept)}, np.log((1 + self.size) / (1 + seen)) + 1

    def _grams_of(self, word: str) -> Counter[str]:
        if word not in self._grams:
            self._grams[word] = Counter(grams_of(word))
        return self._grams[word]

    def idf(self, word: str) -> float:
        """How telling a word is: high for rare words, highest for unknown ones."""
        index = self.terms.get(word)
        return self.rarest if index is None else float(self._term_idf[index])

    def rows(self, documents: Sequence[list[str]]) -> sparse.csr_matrix:
        """The texts (lists of words) as unit rows, shape (len(documents), width).

        Words and character sequences each hold half of the squared length.
        """
        terms = [Counter(terms_of(words)) for words in documents]
        grams = [self._sum_of_grams(words) for words in documents]
        left = _weighted(terms, self.terms, self._term_idf)
        right = _weighted(grams, self._gram_ids, self._gram_idf)
        return sparse.hstack([left, right], format="csr") * np.sqrt(0.5)

    def _sum_of_grams(self, words: list[str]) -> Counter[str]:
        total = Counter[str]()
        for word, count in Counter(words).items():
            for gram, times in self._grams_of(word).items():
                total[gram] += count * times
        return total

    def columns_of(self, word: str) -> list[int]:
        """The columns of a word and of its character sequences, unknown ones left out."""
        found = [self._gram_ids[gram] for gram in self._grams_of(word) if gram in self._gram_ids]
        columns = [len(self.terms) + gram for gram in found]
        return [self.terms[word], *columns] if word in self.terms else columns


def _weighted(counts: list[Counter[str]], ids: dict[str, int], idf: Floats) -> sparse.csr_matrix:
    """Unit rows of (1 + log count) * idf; a text without a known term is a row of zeros."""
    columns, times, ends = list[int](), list[int](), [0]
    for counter in counts:
        known = [(ids[term], count) for term, count in counter.items() if term in ids]
        columns += [column for column, _ in known]
        times += [count for _, count in known]
        ends.append(len(columns))
    places = np.array(columns, dtype=np.int32)
    values = (1 + np.log(np.array(times, dtype=np.float64))) * idf[places]
    ends_array = np.array(ends)
    squares = np.concatenate([[0.0], np.cumsum(values**2)])
    lengths = np.sqrt(np.diff(squares[ends_array]))
    values /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(ends_array))
    return sparse.csr_matrix((values, places, ends_array), shape=(len(counts), len(ids)))
