"""How an answer relates to its reference and its prompt: twelve numbers, no labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from core.judging.offline.corpus import Floats, Lexicon, Texts
from core.judging.offline.words import words_of

#: What each column says where it is above and below the average answer's; ``{}`` takes the share.
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
#: Columns that mean something only where there is a reference, and only where there is a prompt.
OF_REFERENCE, OF_PROMPT = frozenset({0, 1, 4, 5, 6, 7, 9, 11}), frozenset({2, 3, 6, 7, 10})


class Relater:
    """Computes the numbers; keeps prompts and references, which many answers share."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._split = len(lexicon.terms)
        self._known = dict[str, tuple[list[str], sparse.csr_matrix]]()

    def _of(self, text: str) -> tuple[list[str], sparse.csr_matrix]:
        if text not in self._known:
            words = words_of(text)
            self._known[text] = words, self._lexicon.rows([words])
        return self._known[text]

    def numbers(
        self, texts: Sequence[Texts], documents: Sequence[list[str]], rows: sparse.csr_matrix
    ) -> Floats:
        """Shape (n, 12), one row per item; columns as in ``WORDINGS``. A missing text gives 0."""
        cosines = np.column_stack([self._cosines(texts, rows, which) for which in (2, 1)])
        shares = [
            self._shares(words, self._of(prompt)[0], self._of(reference)[0])
            for words, (_, prompt, reference) in zip(documents, texts, strict=True)
        ]
        return np.column_stack([cosines, np.array(shares, dtype=np.float64).reshape(-1, 8)])

    def _cosines(self, texts: Sequence[Texts], rows: sparse.csr_matrix, which: int) -> Floats:
        distinct = {text[which]: 0 for text in texts}
        place = {text: i for i, text in enumerate(distinct)}
        table = sparse.vstack([self._of(text)[1] for text in distinct], format="csr")
        products = rows.multiply(table[[place[text[which]] for text in texts]]).tocsr()
        return np.column_stack(
            [
                np.asarray(part.sum(axis=1)).ravel() * 2
                for part in (products[:, : self._split], products[:, self._split :])
            ]
        )

    def _shares(self, answer: list[str], prompt: list[str], reference: list[str]) -> list[float]:
        said, asked, wanted = set(answer), set(prompt), set(reference)
        own, new = said - asked, wanted - asked
        pairs = set(pairwise(reference))
        shared = pairs & set(pairwise(answer))
        return [
            self._share(said & wanted, wanted),
            self._share(said & wanted, said),
            self._share(own & new, new),
            self._share(own & new, own),
            float(np.log1p(len(answer))),
            float(np.log((1 + len(answer)) / (1 + len(reference)))) if reference else 0.0,
            len(own) / len(said) if said else 0.0,
            len(shared) / len(pairs) if pairs else 0.0,
        ]

    def _share(self, part: set[str], whole: set[str]) -> float:
        # Sorted, because the sum of a set in another order differs in its last digit.
        total = sum(self._lexicon.idf(word) for word in sorted(whole))
        return sum(self._lexicon.idf(word) for word in sorted(part)) / total if total else 0.0
