"""The trained judge of a criterion: answers in, explained predictions out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.judging.offline.calibration import (
    Bools,
    chosen_labels,
    evidence_over_base,
    is_ordered,
    probabilities,
)
from core.judging.offline.features import (
    CLOSENESS,
    OF_PROMPT,
    OF_REFERENCE,
    WORDINGS,
    Encoded,
    Encoder,
    Floats,
    Lexicon,
    Nearness,
    excerpt,
    terms_of,
    texts_of,
)
from core.judging.offline.methods import (
    DualWeights,
    FittedMethod,
    Ints,
    Kernel,
    LogisticRegression,
    Method,
    Neighbourhood,
)
from core.judging.offline.report import Prediction, TrainingReport
from core.text.numbers import percent

MOST_FOR, MOST_AGAINST = 4, 2
#: Smaller contributions (in log-odds) are not mentioned.
WORTH_SAYING, PROMPT_WORTH_SAYING = 0.05, 0.2
#: English stop words that reasons omit although the model uses them, since each contributes little.
#: Negations are kept. For other languages there is no list.
UNTELLING = ENGLISH_STOP_WORDS - {"no", "not", "nor", "never", "none", "nothing", "without"}


class Explainer:
    """Splits a label's score into contributions of the answer's parts.

    The parts sum exactly to the score. A character sequence's part is shared by the words of the
    answer that contain it, a word pair's by its two words.
    """

    def __init__(
        self, lexicon: Lexicon, kernel: Kernel, dual: DualWeights, examples: Encoded, labels: Ints
    ) -> None:
        self._lexicon, self._kernel = lexicon, kernel
        self._examples, self._labels = examples, labels
        self._weights = dual.weights - dual.weights.mean(axis=1, keepdims=True)

    def reason(self, item: Encoded, chosen: int, label: str) -> str:
        """Return sentences that explain one encoded item (n = 1) and its chosen label."""
        weights, same = self._weights[:, chosen], self._examples.prompts == item.prompts[0]
        words = self.word_parts(item, weights, same)
        for_it, against = _related_sides(self.related_parts(item, weights, same), item)
        prompt = float(self._kernel.prompt * (weights * same).sum())
        if abs(prompt) >= PROMPT_WORTH_SAYING:
            side = for_it if prompt > 0 else against
            side.append(self._prompt_sentence(same, chosen, label))
        sentences = [_words_sentence(self._nameable_words(words), label)]
        sentences += [f"For it: {'; '.join(for_it)}."] if for_it else []
        sentences += [f"Against it: {'; '.join(against)}."] if against else []
        reason = " ".join(sentence for sentence in sentences if sentence)
        return reason or f'Nothing in the answer stands out; "{label}" is the likeliest label.'

    def word_parts(self, item: Encoded, weights: Floats, same: Bools) -> dict[str, float]:
        """Return what each distinct word of the item added to the score."""
        weights = weights * (self._kernel.text + self._kernel.text_same * same)
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

    def related_parts(self, item: Encoded, weights: Floats, same: Bools) -> Floats:
        """Return how much each of the item's related numbers adds to the score, shape (12,)."""
        kernel, related = self._kernel, self._examples.related
        per_example = weights * (kernel.related + kernel.related_same * same)
        parts = (per_example @ related) / related.shape[1]
        shared = kernel.closeness * float(weights @ self._examples.closeness)
        parts[list(CLOSENESS)] += shared / len(CLOSENESS)
        return np.asarray(item.related[0] * parts)

    def _prompt_sentence(self, same: Bools, chosen: int, label: str) -> str:
        same_label = int((self._labels[same] == chosen).sum())
        return f'{same_label} of {int(same.sum())} labelled answers to its prompt are "{label}"'

    def _nameable_words(self, parts: dict[str, float]) -> list[tuple[str, float]]:
        parts_kept = [
            (word, part)
            for word, part in parts.items()
            if abs(part) >= WORTH_SAYING / 2 and len(word) > 1 and word not in UNTELLING
        ]
        return sorted(parts_kept, key=lambda pair: (-abs(pair[1]), pair[0]))


def _words_sentence(parts: list[tuple[str, float]], label: str) -> str:
    spoke = [word for word, part in parts if part > 0][:MOST_FOR]
    against = [word for word, part in parts if part < 0][:MOST_AGAINST]
    if spoke:
        tail = f" Against: {', '.join(against)}." if against else ""
        return f'Words that spoke for "{label}": {", ".join(spoke)}.{tail}'
    return f'Words that spoke against "{label}": {", ".join(against)}.' if against else ""


def _related_sides(parts: Floats, item: Encoded) -> tuple[list[str], list[str]]:
    """Return the strongest related number for the label, and the strongest against it."""
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
            side.append(_related_text(column, item))
    return sides


def _related_text(column: int, item: Encoded) -> str:
    above, below = WORDINGS[column]
    count = len(item.words[0])
    number = f"{count} word{'' if count == 1 else 's'}"
    wording = above if item.related[0, column] > 0 else below
    return wording.format(percent(float(item.raw[0, column])), words=number)


#: The number of neighbours that a reason names.
NAMED = 3
HELD_OUT = "This item was among the labelled ones, so it was judged without its own label."


class TrainedModel(NamedTuple):
    """The result of training. ``out_of_fold``: probabilities (n, k) of the examples."""

    examples: tuple[Item, ...]
    labels: tuple[int, ...]
    encoded: Encoded
    fitted: FittedMethod
    base: Floats
    temperature: float
    threshold: float
    out_of_fold: Floats


class Trained:
    """The judge of a criterion. The same items always give the same predictions.

    For an item used in training, it returns the out-of-fold prediction, because the final model has
    seen the label and would only repeat it.
    """

    def __init__(
        self,
        criterion: Criterion,
        method: Method,
        encoder: Encoder,
        learnt: TrainedModel,
        report: TrainingReport,
    ) -> None:
        self.criterion, self.encoder, self.report = criterion, encoder, report
        self._method, self._learnt = method, learnt
        self._place = {(i.id, texts_of(i)): place for place, i in enumerate(learnt.examples)}
        self._explainer: Explainer | None = None
        if isinstance(learnt.fitted, DualWeights) and isinstance(method, LogisticRegression):
            labels, kernel = np.array(learnt.labels), method.kernel
            self._explainer = Explainer(
                encoder.lexicon, kernel, learnt.fitted, learnt.encoded, labels
            )

    def predict(self, items: Sequence[Item], encoded: Encoded | None = None) -> list[Prediction]:
        """Return a prediction per item; pass ``encoded`` to avoid encoding them again."""
        if not items:
            return []
        encoded = self.encoder.encode(items) if encoded is None else encoded
        products = self._method.products(Nearness.nearness_matrix(encoded, self._learnt.encoded))
        shown = evidence_over_base(self._learnt.fitted.scores(products), self._learnt.base)
        chances = probabilities(shown, self._learnt.temperature, self._learnt.base)
        places = [self._place.get((item.id, texts_of(item))) for item in items]
        return [
            self._predict_new(encoded.take(i), products[i : i + 1], chances[i])
            if place is None
            else self._predict_held_out(place)
            for i, place in enumerate(places)
        ]

    def _predict_new(self, item: Encoded, products: Floats, chances: Floats) -> Prediction:
        best = int(chosen_labels(chances, is_ordered(self.criterion)))
        if self._explainer is not None:
            reason = self._explainer.reason(item, best, self._label(best))
            return self._prediction(chances, best, reason)
        nearest = self._nearest_examples(products)
        prediction = self._prediction(chances, best, self._neighbours_sentence(nearest))
        ids = tuple(self._learnt.examples[i].id for i, _ in nearest)
        return prediction._replace(neighbours=ids)

    def _predict_held_out(self, place: int) -> Prediction:
        chances = self._learnt.out_of_fold[place]
        best = int(chosen_labels(chances, is_ordered(self.criterion)))
        return self._prediction(chances, best, HELD_OUT)._replace(held_out=True)

    def _prediction(self, chances: Floats, best: int, reason: str) -> Prediction:
        # Rounded, so that differences between machines in the last digit change no vote.
        along = [0.0] * len(self.criterion.choices)
        for index, chance in zip(self.criterion.scored, chances, strict=True):
            along[index] = round(float(chance), 6)
        confidence = along[self.criterion.scored[best]]
        abstained = confidence < self._learnt.threshold
        statement = f'{percent(confidence)} sure of "{self._label(best)}"'
        if abstained:
            statement += f", below the {percent(self._learnt.threshold)} it needs to answer"
        return Prediction(
            tuple(along),
            self.criterion.scored[best],
            abstained,
            confidence,
            f"{statement[0].upper()}{statement[1:]}. {reason}",
        )

    def _nearest_examples(self, products: Floats) -> list[tuple[int, float]]:
        assert isinstance(self._learnt.fitted, Neighbourhood)
        columns = self._learnt.fitted.nearest(products)[0].tolist()
        return [(i, float(products[0, i])) for i in columns if products[0, i] > 0][:NAMED]

    def _neighbours_sentence(self, nearest: list[tuple[int, float]]) -> str:
        if not nearest:
            return "No labelled answer resembles it; this is how common the labels are."
        neighbours = "; ".join(
            f'{self._learnt.examples[i].id} ("{self._label(self._learnt.labels[i])}", similarity '
            f"{index_of_neighbour:.2f}): {excerpt(self._learnt.examples[i].output)}"
            for i, index_of_neighbour in nearest
        )
        return f"Nearest labelled answers: {neighbours}"

    def _label(self, scored: int) -> str:
        return self.criterion.choices[self.criterion.scored[scored]].label
