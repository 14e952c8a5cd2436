"""Compare any two runs: which items belong together, and on which verdicts differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.domain.runs import Run
from core.errors import InputError
from core.services.results import run_columns
from core.services.results.scored_items import scored_rubric
from core.store.store import Store
from core.text.names import fold
from core.text.numbers import count, plural

#: The items of two runs that belong together, in the first run's order.
ItemPairs = tuple[tuple[str, str], ...]


def pair_items(store: Store, first: Run, second: Run) -> tuple[ItemPairs, str]:
    """Return the pairs, by id, or by order if two datasets have no id in common; and words that say
    how they were paired, and which items have no partner.

    Raises:
        InputError: no id is in both, and order says nothing: the runs are over one dataset, or one
            has more items.
    """
    before, after = (store.runs.item_ids(run.id) for run in (first, second))
    first_ids, second_ids = set(before), set(after)
    common = [item_id for item_id in before if item_id in second_ids]
    if common:
        parts = [f"{plural(len(common), 'item')} in both, paired by id."]
        parts += [
            f"{count(len(unmatched))} only in {side}."
            for side, unmatched in (("A", first_ids - second_ids), ("B", second_ids - first_ids))
            if unmatched
        ]
        return tuple((item_id, item_id) for item_id in common), " ".join(parts)
    if first.dataset_id == second.dataset_id:
        raise InputError(
            f"Runs {first.id} and {second.id} have no item in common, though both are over "
            f"{first.dataset_name!r}. Choose two runs over the same items."
        )
    if len(before) != len(after):
        raise InputError(
            f"Run {first.id} has {plural(len(before), 'item')} and run {second.id} "
            f"{count(len(after))}, and no id is in both, so neither ids nor order tell which "
            "belong together. Give both datasets the same ids, or the same number of items."
        )
    sentence = (
        f"No id is in both: the {count(len(before))} items of each are paired by their order."
    )
    return tuple(zip(before, after, strict=True)), sentence


def differing_pairs(store: Store, runs: tuple[Run, Run], pairs: ItemPairs) -> tuple[int, ...]:
    """Return the positions of the pairs with different verdicts on a criterion of both runs.

    Verdicts are those of the votes, as in ``paired_runs.flips``, whatever people settled. A verdict
    or abstention of only one run is also a difference. Criteria are matched by name, verdicts by
    label.
    """
    sides = [_labels_by_votes(store, run) for run in runs]
    rows = [
        np.array([places[pair[side]] for pair in pairs], np.int64)
        for side, run in enumerate(runs)
        for places in [run_columns.places_of_items(store, run)]
    ]
    differ = np.zeros(len(pairs), np.bool_)
    for name in sides[0].keys() & sides[1].keys():
        before, after = (side[name][at] for side, at in zip(sides, rows, strict=True))
        differ |= before != after
    return tuple(np.flatnonzero(differ).tolist())


def _labels_by_votes(store: Store, run: Run) -> dict[str, npt.NDArray[np.str_]]:
    """Return, by criterion, the folded label that the votes gave every item; empty without one."""
    labels = {}
    columns = {column.criterion: column for column in run_columns.cell_columns(store, run)}
    for criterion in scored_rubric(store, run).criteria:
        names = [fold(option.label) for option in criterion.choices]
        options = np.full(run.items, -1)
        if column := columns.get(criterion.name):
            voted = column.judged >= 0
            options[column.rows[voted]] = column.judged[voted]
        # An item's own rubric may have more options than the run's.
        names += [str(option) for option in range(len(names), int(options.max(initial=0)) + 1)]
        labels[fold(criterion.name)] = np.array([*names, ""])[options]
    return labels
