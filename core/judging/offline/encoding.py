"""Items as numbers, and how near two items are: everything both offline methods compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from core.domain.dataset import Item
from core.judging.offline.corpus import Floats, Lexicon, Texts, texts_of
from core.judging.offline.similarity import Relater
from core.judging.offline.words import words_of


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
        """One item of them."""
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

    @cached_property
    def transposed(self) -> sparse.csr_matrix:
        """The text rows the other way round, shape (terms, n); made once, used per question."""
        return self.rows.T.tocsr()


@dataclass(frozen=True)
class Nearness:
    """Products between ``m`` items and ``n`` others, each of shape (m, n).

    ``text``: cosine of the answers. ``related``: product of the related numbers, per number.
    ``same``: whether both answer the same prompt.
    """

    text: Floats
    related: Floats
    same: npt.NDArray[np.bool_]
    lengths: tuple[Floats, Floats]

    @staticmethod
    def between(a: Encoded, b: Encoded) -> Nearness:
        """How near the items of ``a`` are to the items of ``b``."""
        width = a.related.shape[1]
        return Nearness(
            text=(a.rows @ b.transposed).toarray(),
            related=a.related @ b.related.T / width,
            same=a.prompts[:, None] == b.prompts[None, :],
            lengths=(_squares(a), _squares(b)),
        )


def _squares(part: Encoded) -> Floats:
    return np.asarray((part.related**2).mean(axis=1))


class Encoder:
    """Fitted on all answers of a run, without their labels; turns items into numbers."""

    def __init__(self, texts: tuple[Texts, ...]) -> None:
        self.lexicon = Lexicon(answer for answer, _, _ in texts)
        self._relater = Relater(self.lexicon)
        self._prompts = {prompt: i for i, prompt in enumerate(sorted({p for _, p, _ in texts}))}
        documents = tuple(words_of(answer) for answer, _, _ in texts)
        raw = self._relater.numbers(texts, documents, self.lexicon.rows(documents))
        spread = raw.std(axis=0)
        self._mean, self._spread = raw.mean(axis=0), np.where(spread > 1e-9, spread, np.inf)

    def encode(self, items: Sequence[Item]) -> Encoded:
        """The items as numbers. A number that is the same for all answers counts for nothing."""
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
    """The encoder of these texts; the latest is kept, for the next criterion of the same run."""
    return Encoder(texts)
