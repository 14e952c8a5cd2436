"""Train the judge of a criterion from labels, or refuse with the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.errors import InputError, Problem
from core.identity import seeded_random
from core.judging.near_duplicates import group_numbers
from core.judging.offline.calibration import (
    LEAST_COVERAGE,
    TARGET,
    answering_threshold,
    chosen_labels,
    cross_validate,
    is_ordered,
)
from core.judging.offline.features import Encoded, Encoder, Nearness, encoder_of, texts_of
from core.judging.offline.judge import LEAST_LABELS
from core.judging.offline.methods import Ints, Method, methods_of
from core.judging.offline.report import TrainingReport
from core.judging.offline.trained import Trained, TrainedModel
from core.judging.offline.worth import (
    Order,
    OutOfFold,
    compare_with_baseline,
    not_better_sentence,
    order_of,
    with_figures,
)
from core.text.numbers import plural

#: The least number of labels other than the most common label. With fewer, some fold cannot learn
#: from or be tested on any of them.
LEAST_OTHERS = 3
#: If there are more labels, a sample of this size is used, because time grows with the square of
#: the number and accuracy hardly grows.
MOST_LABELS = 1_200

Labelled = Sequence[tuple[Item, int]]


def train(
    spec: Judge, criterion: Criterion, labelled: Labelled, unlabelled: Sequence[Item], *, seed: int
) -> Trained | TrainingReport:
    """Return a judge of ``criterion`` that learnt from ``labelled``, or why not.

    Args:
        spec: Of kind ``classifier`` or ``neighbours``. ``params`` may hold ``target`` (share right
            among the answers given, default 0.8) and ``min_coverage`` (default 0.5).
        criterion: The criterion to judge.
        labelled: Items with their true option, an index into ``criterion.choices``. Abstentions
            are left out: the judge does not learn from items that cannot be assessed.
        unlabelled: Items to be judged. They only show which words are rare; equal answers count
            once, labelled or not.
        seed: Determines the folds. The same arguments give the same judge.

    Returns:
        ``TrainingReport`` if there are fewer than ten different labelled answers, or fewer than
        three labels other than the most common, or if all of these fail: in cross-validation the
        judge beats the most common label (of all, or of each prompt, if that is right more often)
        by 1.28 standard errors; or it follows the order of ordered labels; or answers closer to
        their reference are better. ``Trained`` otherwise.

    Raises:
        InputError: A value in ``params`` is not a share.
    """
    target, least = (
        _share_param(spec, "target", TARGET),
        _share_param(spec, "min_coverage", LEAST_COVERAGE),
    )
    scored = {choice: i for i, choice in enumerate(criterion.scored)}
    pairs = [(item, scored[choice]) for item, choice in labelled if choice in scored]
    report = _opening_report(spec, criterion, pairs, seed)
    problem = _why_too_few(pairs, report)
    if problem:
        return replace(report, reason=problem)
    pairs = _sample_pairs(pairs, seed)
    texts = {texts_of(item) for item in (*(item for item, _ in pairs), *unlabelled)}
    encoder = encoder_of(tuple(sorted(texts)))
    # The matrices are small: with more threads these only wait for each other (4 times slower on
    # busy cores), and a single thread adds in the same order every time.
    with threadpool_limits(1, user_api="blas"):
        return _learn(criterion, pairs, encoder, replace(report, target=target), least)


def _share_param(spec: Judge, name: str, default: float) -> float:
    value = spec.params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        problem = Problem(f"is {value!r}.", "Use a number from 0 to 1.", ("params", name))
        raise InputError(f"The judge {spec.name!r} cannot be trained.", (problem,))
    return float(value)


def _learn(
    criterion: Criterion,
    pairs: list[tuple[Item, int]],
    encoder: Encoder,
    report: TrainingReport,
    minimum: float,
) -> Trained | TrainingReport:
    items, labels = tuple(i for i, _ in pairs), np.array([y for _, y in pairs], dtype=np.int64)
    encoded = encoder.encode(items)
    nearness, ordered = Nearness.nearness_matrix(encoded, encoded), is_ordered(criterion)
    groups, k = np.array(group_numbers(items), dtype=np.int64), len(criterion.scored)
    tried = dict[str, tuple[Method, Ints, OutOfFold]]()
    for name, method in methods_of(report.method).items():
        products = method.products(nearness)
        evidence, folds = cross_validate(method, products, labels, groups, k, report.seed)
        weighed = compare_with_baseline(evidence, folds, labels, encoded.prompts, groups, ordered)
        tried[name] = method, folds, weighed
    best = min(tried, key=lambda name: tried[name][-1].loss)
    enough = tried[best][-1].enough
    if not enough and "numbers" in tried:
        numbers = tried["numbers"][-1]
        enough = numbers.follows(
            _order_by_closeness(criterion, encoded, labels, groups, numbers.own)
        )
        best = "numbers" if enough else best
    method, folds, weighed = tried[best]
    report = replace(with_figures(report, weighed, labels, groups, ordered), features=best)
    if not enough:
        return replace(report, reason=not_better_sentence(report, weighed))
    fitted = method.fit(method.products(nearness), labels, k)
    learnt = TrainedModel(
        examples=items,
        labels=tuple(labels.tolist()),
        encoded=encoded,
        fitted=fitted,
        base=weighed.base,
        temperature=weighed.temperature,
        threshold=0.0,
        out_of_fold=weighed.chances,
    )
    learnt, report = _with_threshold(learnt, report, weighed, folds[0], ordered, minimum)
    return Trained(criterion, method, encoder, learnt, report)


def _order_by_closeness(
    criterion: Criterion, encoded: Encoded, labels: Ints, groups: Ints, prompts: Ints | None
) -> Order | None:
    """Return how well closeness to the reference ranks answers, better labels last.

    Nothing is fitted for this, so few labels suffice. ``None`` without references or an order.
    """
    values = [criterion.choices[choice].value for choice in criterion.scored]
    first, last = values[0], values[-1]
    if first is None or last is None or not (is_ordered(criterion) and all(encoded.has_reference)):
        return None
    towards = np.sign((last - first) * criterion.weight)
    return order_of(towards * encoded.closeness, labels, groups, prompts)


def _opening_report(
    spec: Judge, criterion: Criterion, pairs: list[tuple[Item, int]], seed: int
) -> TrainingReport:
    counts = Counter(label for _, label in pairs)
    return TrainingReport(
        method=spec.kind,
        criterion=criterion.name,
        seed=seed,
        n=len(pairs),
        classes=tuple(
            (criterion.choices[choice].label, counts[i])
            for i, choice in enumerate(criterion.scored)
        ),
        trained=False,
    )


def _why_too_few(pairs: list[tuple[Item, int]], report: TrainingReport) -> str:
    different = len(set(group_numbers([item for item, _ in pairs])))
    if different < LEAST_LABELS:
        return (
            f"{plural(different, 'different labelled answer')}; it needs at least {LEAST_LABELS}."
        )
    commonest = max(count for _, count in report.classes)
    uncommon = report.n - commonest
    if uncommon < LEAST_OTHERS:
        label = next(label for label, count in report.classes if count == commonest)
        return (
            f'{commonest} of {report.n} labels are "{label}"; it needs at least {LEAST_OTHERS} '
            "others to learn a difference."
        )
    return ""


def _sample_pairs(pairs: list[tuple[Item, int]], seed: int) -> list[tuple[Item, int]]:
    if len(pairs) <= MOST_LABELS:
        return pairs
    places = sorted(seeded_random("labels", seed).sample(range(len(pairs)), MOST_LABELS))
    return [pairs[i] for i in places]


def _with_threshold(
    learnt: TrainedModel,
    report: TrainingReport,
    out_of_fold: OutOfFold,
    folds: Ints,
    ordered: bool,
    minimum: float,
) -> tuple[TrainedModel, TrainingReport]:
    """Return model and report with a threshold for the target, or for a higher baseline."""
    target = max(report.target or 0.0, out_of_fold.majority)
    best = chosen_labels(out_of_fold.chances, ordered)
    right = (best == np.array(learnt.labels)).astype(np.float64)
    sure = np.take_along_axis(out_of_fold.chances, best[:, None], axis=1)[:, 0]
    threshold, coverage, accuracy = answering_threshold(sure, right, folds, target, minimum)
    return learnt._replace(threshold=threshold), replace(
        report,
        trained=True,
        target=target,
        threshold=threshold,
        coverage=coverage,
        accuracy_answering=accuracy,
    )
