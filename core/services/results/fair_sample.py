"""Whether labelled cells can be a fair sample of all, by how often judges agree on them.

Only a person knows how labels were drawn. But if judges surely agree more often, or less often, on
labelled cells than on the others, the labels were not drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.domain.library import LabelDraw
from core.metrics.estimate import difference
from core.metrics.intervals.clustered_share import clustered_share
from core.services.datasets import label_draws
from core.services.results import run_columns
from core.store.store import Store
from core.text.names import visible
from core.text.numbers import percent

if TYPE_CHECKING:
    from core.services.results.run_columns import Numbers

#: The joint confidence in all differences: about 1 of 100 fair samples is called unfair.
SURE = 0.99


class CellAgreement(NamedTuple):
    """A criterion's cells with at least two answers: whether the answers are equal, and whether the
    cell has a label; ``chance`` is its probability of a label, if unequal.
    """

    criterion: str
    same: Numbers
    labelled: Numbers
    chance: Numbers | None = None


#: Labels that are not a fair sample: both shares in words, and whether judges agree less on cells
#: with a label.
UnfairLabels = tuple[str, bool]


def unfair_labels(criteria: Sequence[CellAgreement]) -> dict[str, UnfairLabels]:
    """Return, by criterion, the labels that are surely not a fair sample.

    Each is tested separately: a criterion without labels says nothing about the others' labels.

    >>> same, labelled = np.arange(60) < 30, np.arange(60) < 30
    >>> unfair_labels([CellAgreement("Cause", same, labelled)])["Cause"]
    ('all judges agree on 100% of cells with a label, and on 0% of the others', False)
    """
    partly_labelled = [
        cells for cells in criteria if cells.labelled.any() and not cells.labelled.all()
    ]
    several_criteria = sum(len(cells.same) > 0 for cells in criteria) > 1
    level = 1 - (1 - SURE) / max(1, len(partly_labelled))
    unfair = dict[str, UnfairLabels]()
    for cells in partly_labelled:
        chance = cells.chance
        weights = (None, None) if chance is None else (1 / chance, 1 / np.maximum(1 - chance, 1e-9))
        sides = (cells.labelled & (chance is None or chance < 1), ~cells.labelled)
        first, others = (
            clustered_share(
                *(cells.same[at], np.flatnonzero(at)), None if w is None else w[at], level
            )
            for at, w in zip(sides, weights, strict=True)
        )
        if first.low is None or others.low is None:
            continue
        _, low, high, *_ = difference(first, others)
        if (low or 0.0) > 0 or (high or 0.0) < 0:
            place = f"on {visible(cells.criterion)} " if several_criteria else ""
            sentence = (
                f"{place}all judges agree on {percent(first.value)} of cells with a label, and on "
                f"{percent(others.value)} of the others"
            )
            unfair[cells.criterion] = sentence, (high or 0.0) < 0
    return unfair


def draw_contradiction(store: Store, run_id: int, draw: LabelDraw) -> str:
    """Return why labels of a run's dataset cannot have been drawn as declared; empty if they can.

    Raises:
        NotFound: the run does not exist.
    """
    run = store.runs.get(run_id)
    if any(judge.rater_kind == "human" for judge in run.panel.judges):
        return ""
    labels = run_columns.label_columns(store, run, settled=False)
    chance = None
    if draw.note:
        chances = label_draws.item_chances(store, run.dataset_version_id, draw.note)
        chance = np.array([chances[column] for column in run_columns.ids_of_run(store, run)])
    cells = []
    for column in run_columns.cell_columns(store, run):
        rows = column.rows[column.votes > 1]
        labelled = labels.get(column.criterion)
        has = (
            np.zeros(len(rows), np.bool_)
            if labelled is None
            else labelled[rows] != run_columns.NO_LABEL
        )
        same = column.entropy[column.votes > 1] == 0
        cells.append(
            CellAgreement(column.criterion, same, has, None if chance is None else chance[rows])
        )
    reason = next((words for words, _ in unfair_labels(cells).values()), "")
    declarer = draw.by or "the owner of the data"
    return f"{declarer} declared them drawn at random, but {reason}" if reason else ""


def declaration_contradiction(store: Store, version_id: int) -> str:
    """Return how the newest finished run on a dataset version contradicts the declaration of its
    labels; empty if it does not.
    """
    draw = label_draws.declared_draw(store, version_id)
    run_id = store.runs.newest_on(version_id)
    reason = draw_contradiction(store, run_id, draw) if draw and run_id is not None else ""
    return f"They are not a fair sample: {reason} (run {run_id})." if reason else ""
