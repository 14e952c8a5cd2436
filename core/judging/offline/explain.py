"""Why the classifier chose a label, in words: terms, comparison with the reference, prompt."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from core.judging.offline.calibration import Bools
from core.judging.offline.corpus import Floats, Lexicon
from core.judging.offline.encoding import Encoded
from core.judging.offline.folds import Ints
from core.judging.offline.methods import (
    PROMPT,
    RELATED,
    RELATED_SAME,
    TEXT,
    TEXT_SAME,
    Dual,
)
from core.judging.offline.report import percent
from core.judging.offline.similarity import OF_PROMPT, OF_REFERENCE, WORDINGS
from core.judging.offline.words import terms_of

MOST_FOR, MOST_AGAINST = 4, 2
#: A contribution (in log-odds) below this is not worth a word.
WORTH_SAYING, PROMPT_WORTH_SAYING = 0.05, 0.2
#: English words that are not named, though they count: their share is small and tells nobody
#: anything. Negations are named. Other languages have no such list here.
UNTELLING = ENGLISH_STOP_WORDS - {"no", "not", "nor", "never", "none", "nothing", "without"}


class Explainer:
    """Takes the score of a label apart into what the answer's parts added to it.

    The parts of a score sum to it exactly; a character sequence's part is shared by the words of
    the answer that contain it, a word pair's by its two words.
    """

    def __init__(self, lexicon: Lexicon, dual: Dual, examples: Encoded, labels: Ints) -> None:
        self._lexicon, self._examples, self._labels = lexicon, examples, labels
        self._weights = dual.weights - dual.weights.mean(axis=1, keepdims=True)

    def reason(self, item: Encoded, chosen: int, label: str) -> str:
        """Sentences for one encoded item (n = 1) and the label chosen for it."""
        weights, same = self._weights[:, chosen], self._examples.prompts == item.prompts[0]
        words = self.word_parts(item, weights * (TEXT + TEXT_SAME * same))
        related = self.related_parts(item, weights * (RELATED + RELATED_SAME * same))
        for_it, against = _related_sides(related, item)
        prompt = float(PROMPT * (weights * same).sum())
        if abs(prompt) >= PROMPT_WORTH_SAYING:
            side = for_it if prompt > 0 else against
            side.append(self._of_prompt(same, chosen, label))
        sentences = [_words_sentence(self._nameable(words), label)]
        sentences += [f"For it: {'; '.join(for_it)}."] if for_it else []
        sentences += [f"Against it: {'; '.join(against)}."] if against else []
        said = " ".join(sentence for sentence in sentences if sentence)
        return said or f'Nothing in the answer stands out; "{label}" is the likeliest label.'

    def word_parts(self, item: Encoded, weights: Floats) -> dict[str, float]:
        """What each distinct word of the item added to the score."""
        columns, values = item.rows.indices, item.rows.data
        added = dict(
            zip(
                columns.tolist(),
                (values * (self._examples.transposed[columns] @ weights)).tolist(),
                strict=True,
            )
        )
        owners = defaultdict[int, list[str]](list)
        for word in dict.fromkeys(item.words[0]):
            for column in self._lexicon.columns_of(word):
                owners[column].append(word)
        for term in dict.fromkeys(terms_of(item.words[0])[len(item.words[0]) :]):
            if term in self._lexicon.terms:
                owners[self._lexicon.terms[term]] += term.split(" ")
        parts = defaultdict[str, float](float)
        for column, words in owners.items():
            for word in words:
                parts[word] += added[column] / len(words)
        return dict(parts)

    def related_parts(self, item: Encoded, weights: Floats) -> Floats:
        """What each related number of the item added to the score, shape (12,)."""
        related = self._examples.related
        return np.asarray(item.related[0] * (weights @ related) / related.shape[1])

    def _of_prompt(self, same: Bools, chosen: int, label: str) -> str:
        alike = int((self._labels[same] == chosen).sum())
        return f'{alike} of {int(same.sum())} labelled answers to its prompt are "{label}"'

    def _nameable(self, parts: dict[str, float]) -> list[tuple[str, float]]:
        kept = [
            (word, part)
            for word, part in parts.items()
            if abs(part) >= WORTH_SAYING / 2 and len(word) > 1 and word not in UNTELLING
        ]
        return sorted(kept, key=lambda pair: (-abs(pair[1]), pair[0]))


def _words_sentence(parts: list[tuple[str, float]], label: str) -> str:
    spoke = [word for word, part in parts if part > 0][:MOST_FOR]
    against = [word for word, part in parts if part < 0][:MOST_AGAINST]
    if spoke:
        tail = f" Against: {', '.join(against)}." if against else ""
        return f'Words that spoke for "{label}": {", ".join(spoke)}.{tail}'
    return f'Words that spoke against "{label}": {", ".join(against)}.' if against else ""


def _related_sides(parts: Floats, item: Encoded) -> tuple[list[str], list[str]]:
    """The strongest related number that spoke for the label, and the strongest against."""
    usable = [
        column
        for column in range(len(parts))
        if (item.has_reference[0] or column not in OF_REFERENCE)
        and (item.has_prompt[0] or column not in OF_PROMPT)
    ]
    sides: tuple[list[str], list[str]] = ([], [])
    for sign, side in zip((1, -1), sides, strict=True):
        part, column = max((sign * float(parts[column]), column) for column in usable)
        if part >= WORTH_SAYING:
            side.append(_worded(column, item))
    return sides


def _worded(column: int, item: Encoded) -> str:
    above, below = WORDINGS[column]
    count = len(item.words[0])
    words = f"{count} word{'' if count == 1 else 's'}"
    wording = above if item.related[0, column] > 0 else below
    return wording.format(percent(float(item.raw[0, column])), words=words)
