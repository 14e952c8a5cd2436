"""Infer weights from totals and verdicts, of a dataset or of a gradebook file.

An item's total is modelled as the sum of its criteria's weights, each times the value of the chosen
option. The best non-negative weights come from non-negative least squares (Lawson and Hanson 1974,
chapter 23). A criterion that takes points away is fitted with its sign reversed, so that its weight
becomes negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import MAX_ITEMS, build_dataset
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.table import read_table
from core.identity import seeded_random
from core.services.results.scored_items import labels_of, resolved_items
from core.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]


RESAMPLES = 500
#: A misfit's residual exceeds this many standard deviations of all residuals.
_FAR = 2.5
_STEPS = (0.1, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Weight:
    """A criterion's weight: as fitted, its 95% interval, and rounded.

    ``told`` says why the weight is unreliable, or is empty.
    """

    criterion: str
    fitted: float
    low: float
    high: float
    rounded: float
    told: str = ""


@dataclass(frozen=True)
class InferredWeights:
    """Weights for a rubric, and how well they explain the totals.

    ``r2`` is the explained share of the totals' variance, ``None`` if all totals are equal;
    ``r2_rounded`` is the share for rounded weights. ``error`` is the root mean square of the
    residuals, in points. ``left_out`` counts items that lack a total or a label. ``misfits`` are
    items whose total differs from the sum of their labels: id, total and residual.
    """

    weights: tuple[Weight, ...]
    items: int
    left_out: int
    r2: float | None
    r2_rounded: float | None
    error: float
    misfits: tuple[tuple[str, float, float], ...]


def label_sources(store: Store) -> dict[int, str]:
    """Return the datasets with labelled items: version ids and names, last changed first."""
    return {row.version_id: row.name for row in store.datasets.list() if row.labelled}


def total_fields(store: Store, version_id: int) -> list[str]:
    """Return the fields of a dataset version that could be totals."""
    return list(totals_by_field(tuple(store.datasets.items(version_id, None))))


def infer_from_dataset(
    store: Store, rubric: Rubric, version_id: int, total: str, *, step: float | None = None
) -> InferredWeights:
    """Run ``infer_weights`` on a dataset version, with settled verdicts as labels."""
    items = resolved_items(store, version_id, None)
    return infer_weights(rubric, items, total, step=step)


def totals_by_field(items: Sequence[Item]) -> dict[str, list[str]]:
    """Return the numeric fields of ``meta``, each with the ids of the items that have it."""
    ids_by_field: dict[str, list[str]] = {}
    for item in items:
        for name, value in item.meta.items():
            if _number_or_none(value) is not None:
                ids_by_field.setdefault(name, []).append(item.id)
    return ids_by_field


def infer_weights(
    rubric: Rubric,
    items: Sequence[Item],
    totals: Mapping[str, float] | str,
    *,
    step: float | None = None,
) -> InferredWeights:
    """Return the weights that best explain the totals of labelled items.

    Args:
        rubric: has the criteria to weight; only the signs of its weights matter.
        items: need labels for every criterion; items without are left out and counted.
        totals: by item id, or the name of the field of ``meta`` that has them.
        step: weights are rounded to its multiples; ``None`` chooses a step that fits their size.

    Raises:
        InputError: there are not more complete items than criteria.
    """
    import numpy as np

    signs = np.array([-1.0 if c.weight < 0 else 1.0 for c in rubric.criteria])
    ids, values, total_of = _complete_items(rubric, items, totals)
    if len(ids) < len(rubric.criteria) + 1:
        raise InputError(
            f"{len(ids)} items have a total and a label for all {len(rubric.criteria)} criteria; "
            f"at least {len(rubric.criteria) + 1} are needed."
        )
    fitted = _fit_weights(values * signs, total_of) * signs
    low, high = _fit_interval(values * signs, total_of)
    bounds = [tuple(sorted((signs[k] * low[k], signs[k] * high[k]))) for k in range(len(signs))]
    step = step or _rounding_step(fitted)
    rounded = np.round(fitted / step) * step
    residuals = total_of - values @ fitted
    return InferredWeights(
        weights=tuple(
            Weight(
                c.name,
                float(fitted[k]),
                float(bounds[k][0]),
                float(bounds[k][1]),
                _tidy_number(float(rounded[k])),
                _why_not_estimable(values, k, rubric),
            )
            for k, c in enumerate(rubric.criteria)
        ),
        items=len(ids),
        left_out=len(items) - len(ids),
        r2=_explained_share(total_of, residuals),
        r2_rounded=_explained_share(total_of, total_of - values @ rounded),
        error=float(np.sqrt(np.mean(residuals**2))),
        misfits=_total_misfits(ids, total_of, residuals),
    )


def _complete_items(
    rubric: Rubric, items: Sequence[Item], totals: Mapping[str, float] | str
) -> tuple[list[str], Matrix, Matrix]:
    import numpy as np

    ids, rows, targets = list[str](), list[list[float]](), list[float]()
    for item in items:
        total = (
            _number_or_none(item.meta.get(totals))
            if isinstance(totals, str)
            else totals.get(item.id)
        )
        labels = labels_of(item, rubric)
        values = [c.values[labels[c.name]] if c.name in labels else None for c in rubric.criteria]
        if total is None or any(value is None for value in values):
            continue
        ids.append(item.id)
        rows.append([value for value in values if value is not None])
        targets.append(total)
    return ids, np.array(rows).reshape(len(ids), len(rubric.criteria)), np.array(targets)


def _fit_weights(values: Matrix, targets: Matrix) -> Matrix:
    from scipy.optimize import nnls

    solution: Matrix = nnls(values, targets)[0]
    return solution


def _fit_interval(values: Matrix, targets: Matrix) -> tuple[Matrix, Matrix]:
    """Return the 2.5 and 97.5 percentiles of fits to items drawn with replacement."""
    import numpy as np

    generator = np.random.default_rng(seeded_random("weights", 0).getrandbits(64))
    draws = generator.integers(len(targets), size=(RESAMPLES, len(targets)))
    resampled = np.array([_fit_weights(values[rows], targets[rows]) for rows in draws])
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return low, high


def _explained_share(targets: Matrix, residuals: Matrix) -> float | None:
    spread = float(((targets - targets.mean()) ** 2).sum())
    return None if spread <= 1e-12 else 1.0 - float((residuals**2).sum()) / spread


def _total_misfits(
    ids: Sequence[str], targets: Matrix, residuals: Matrix
) -> tuple[tuple[str, float, float], ...]:
    spread = float(residuals.std())
    least = max(_FAR * spread, 1e-9 * max(1.0, float(abs(targets).max())))
    misfits = [
        (ids[index], float(targets[index]), float(residuals[index]))
        for index in range(len(ids))
        if abs(residuals[index]) > least
    ]
    return tuple(sorted(misfits, key=lambda misfit: -abs(misfit[2])))


def _why_not_estimable(values: Matrix, criterion_index: int, rubric: Rubric) -> str:
    column = values[:, criterion_index]
    if (column == column[0]).all():
        return "Every item got the same, so its weight cannot be estimated."
    for index, criterion in enumerate(rubric.criteria):
        if index != criterion_index and (values[:, index] == column).all():
            return f"It always got what {criterion.name!r} got: only their sum can be estimated."
    return ""


def _rounding_step(fitted: Matrix) -> float:
    """Return the largest of `_STEPS` that is at most a tenth of the largest weight; else the
    smallest.
    """
    import numpy as np

    largest = float(np.abs(fitted).max())
    good = [step for step in _STEPS if step <= largest / 10]
    return good[-1] if good else _STEPS[0]


def _tidy_number(value: float) -> float:
    return round(value, 6) + 0.0


def _number_or_none(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(str(value).strip().replace(",", "."))
    except ValueError:
        return None


# Grades from a table: a label per criterion and a total, with or without texts.

_TEXT = "submission"


def read_grades(data: bytes, name: str, rubric: Rubric) -> tuple[Item, ...]:
    """Return the rows as items: labels from columns named like criteria, other numbers in ``meta``.

    A gradebook needs no texts.

    Raises:
        InputError: no column is named like a criterion, a label is unknown, or the file itself is
            invalid, with lines.
    """
    table = read_table(data, name, most=MAX_ITEMS + 1)
    mapping = guess_mapping(table, rubric)
    if not mapping.labels:
        names = ", ".join(repr(c.name) for c in rubric.criteria[:5])
        raise InputError(
            "No column is named like a criterion.",
            (Problem(f"The criteria are {names}.", "Name a column like each of them."),),
            name,
        )
    if mapping.submission is None:
        rows = tuple({**row, _TEXT: None} for row in table.rows)
        table = replace(table, columns=(*table.columns, _TEXT), rows=rows)
        mapping = mapping.model_copy(update={"submission": _TEXT})
    return build_dataset(table, mapping, name, rubric).value.items
