"""Statistics of a dataset's labels under a rubric: distribution, baseline, missing, unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.domain.rubric import Criterion, Rubric, Scale
from core.formats.columns.label_words import holds_no_answer
from core.formats.datasets.labels import UnfitValue, label_as_spelt, label_as_word
from core.formats.datasets.mapping import ColumnMapping
from core.formats.tables.table import Table
from core.metrics.agreement.ratings import majority_baseline, normalised_entropy
from core.metrics.estimate import Estimate
from core.store.store import Store
from core.text.names import fold


def strange_labels(table: Table, mapping: ColumnMapping, rubric: Rubric) -> dict[str, list[str]]:
    """Return the unknown labels in columns of labels, by criterion, most frequent first.

    The mapping's own replacements of labels are ignored.
    """
    criteria = {fold(c.name): c for c in rubric.criteria}
    by_criterion: dict[str, Counter[str]] = {}
    for row in table.rows:
        objects = row.get(mapping.label_map) if mapping.label_map is not None else None
        object_labels = {**objects} if isinstance(objects, dict) else {}
        object_labels |= {name: row.get(column) for name, column in mapping.labels.items()}
        for name, value in object_labels.items():
            criterion, word = criteria.get(fold(str(name))), _label_text(value)
            if criterion is None or holds_no_answer(criterion, word):
                continue
            if not _is_known_label(criterion, word):
                by_criterion.setdefault(criterion.name, Counter())[word] += 1
    return {
        name: [word for word, _ in labels.most_common()] for name, labels in by_criterion.items()
    }


def _label_text(value: object) -> str:
    word = value.get("label") if isinstance(value, dict) else value
    return "" if word is None or isinstance(word, list | dict) else label_as_word(word)


def _is_known_label(criterion: Criterion, word: str) -> bool:
    try:
        label_as_spelt(criterion, word)
    except UnfitValue:
        return False
    return True


#: With fewer labels on an option, nothing can be concluded about this option.
RARE = 5


@dataclass(frozen=True)
class CriterionLabels:
    """One criterion. ``counts`` has every option that is not ``na``, in the rubric's order.

    ``abstained`` labels are "cannot assess"; ``missing`` items have no label; ``strange`` labels
    match no option, with their counts. ``commonest`` is the most frequent label. ``best_first``:
    the first option earns most, as MET does except in a penalty.
    """

    name: str
    scale: Scale
    counts: Mapping[str, int]
    abstained: int
    missing: int
    strange: Mapping[str, int]
    entropy: Estimate
    baseline: Estimate
    commonest: str
    best_first: bool

    @property
    def labelled(self) -> int:
        """Return the number of labels that are an option with a value."""
        return sum(self.counts.values())

    @property
    def unused(self) -> tuple[str, ...]:
        """Return the options that no item has."""
        return tuple(name for name, number in self.counts.items() if not number)


def label_stats(
    store: Store, version_id: int, rubric: Rubric
) -> tuple[tuple[CriterionLabels, ...], dict[str, int]]:
    """Return the labels of a dataset version under a rubric, as ``stats_of``."""
    counts = store.datasets.label_counts(version_id)
    return stats_of(counts, store.datasets.version(version_id).items, rubric)


def stats_of(
    label_counts: Mapping[str, Mapping[str, int]], items: int, rubric: Rubric
) -> tuple[tuple[CriterionLabels, ...], dict[str, int]]:
    """Return the labels of all criteria of a rubric, from counts by criterion and label, and the
    number of labels by each criterion that the rubric lacks.

    >>> from core.domain.rubric import Criterion, Rubric
    >>> rubric = Rubric(criteria=(Criterion(name="ok", requirement="It is."),))
    >>> (labels,), _ = stats_of({"ok": {"MET": 3, "met": 1, "huh": 1}}, 6, rubric)
    >>> labels.counts, labels.missing, labels.strange
    ({'MET': 4, 'UNMET': 0}, 1, {'huh': 1})
    """
    names = {c.name for c in rubric.criteria}
    return (
        tuple(_criterion_labels(c, label_counts.get(c.name, {}), items) for c in rubric.criteria),
        {name: sum(labels.values()) for name, labels in label_counts.items() if name not in names},
    )


def _criterion_labels(
    criterion: Criterion, counts_by_label: Mapping[str, int], items: int
) -> CriterionLabels:
    counts = {criterion.choices[index].label: 0 for index in criterion.scored}
    abstained, unknown = 0, dict[str, int]()
    for label, number in counts_by_label.items():
        index = criterion.index_of(label)
        if index is None:
            unknown[label] = number
        elif criterion.choices[index].na:
            abstained += number
        else:
            counts[criterion.choices[index].label] += number
    numbers = list(counts.values())
    return CriterionLabels(
        name=criterion.name,
        scale=criterion.scale,
        counts=counts,
        abstained=abstained,
        missing=items - sum(counts_by_label.values()),
        strange=unknown,
        entropy=normalised_entropy(numbers),
        baseline=majority_baseline(numbers),
        commonest=max(counts, key=lambda name: counts[name]) if any(numbers) else "",
        best_first=(criterion.scale == "binary") is (criterion.weight >= 0),
    )


def rubrics_for(store: Store, version_id: int, labelled: Collection[str]) -> dict[int, Rubric]:
    """Return the rubrics under which labels can be shown by version, the dataset's own under 0.

    Those with most ``labelled`` criteria come first; empty if none has any.
    """
    own_rubric = store.datasets.version(version_id).head.rubric
    rubrics = {} if own_rubric is None else {0: own_rubric}
    for row in store.rubrics.list():
        rubrics[row.version_id] = store.rubrics.version(row.version_id).rubric
    known = {
        version: len({c.name for c in rubric.criteria}.intersection(labelled))
        for version, rubric in rubrics.items()
    }
    order = sorted(rubrics, key=lambda version: -known[version])
    return {version: rubrics[version] for version in order} if any(known.values()) else {}
