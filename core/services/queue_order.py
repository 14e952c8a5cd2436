"""What settling the cells of a queue could change: the numbers that it is ordered by."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.review import Order
from core.domain.review_records import QueuedCell
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.domain.votes import BallotRow
from core.scoring import MeasuredTexts, looks_at_texts, measure
from core.services.calibrating import likely
from core.services.counting import Counting, counting_of
from core.services.impact import ORDERS as FORMULAS
from core.services.impact import Tally, WhatIf, tally
from core.services.preparing import resolved_items
from core.services.queue_cells import Candidate
from core.services.results import texts_from
from core.services.scored import scored_rubric
from core.services.spread import expected_disagreement, spread
from core.services.truth import effective
from core.store.store import Store

#: Every order with its name and its formula in words.
ORDERS: dict[Order, tuple[str, str]] = {
    "impact": ("What changes most", FORMULAS["impact"]),
    "change": ("Expected change of the score", FORMULAS["change"]),
    "entropy": ("Most mixed votes", FORMULAS["entropy"]),
    "margin": ("Smallest margin", FORMULAS["margin"]),
    "spread": ("Least agreement among judges", FORMULAS["spread"]),
    "random": ("At random", "A number drawn for each item by the queue's seed."),
    "dataset": ("As in the dataset", "The order of the run's items."),
}


def weigh_again(store: Store, run: Run, queue_id: int) -> list[QueuedCell]:
    """The open cells of a queue, weighed by what people have settled since they were queued."""
    rubric = scored_rubric(store, run)
    queued = [cell for cell in store.queues.cells(queue_id) if cell.state != "resolved"]
    ids = list(dict.fromkeys(cell.item_id for cell in queued))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    places = {item.item_id: item.position for item in store.queues.items(queue_id)}
    cells = [
        Candidate(
            cell.item_id,
            places[cell.item_id],
            effective(items[cell.item_id], rubric).criterion(cell.criterion),
            cell.reasons,
            cell.chance,
        )
        for cell in queued
    ]
    return weigh(store, run, cells)


def weigh(store: Store, run: Run, cells: Sequence[Candidate]) -> list[QueuedCell]:
    """The cells with what settling each could change, in the order given.

    Where labels have shown which judges are right how often, an option's chance is what they make
    of the votes; else it is the share of the votes (``impact``).
    """
    known = likely(store, run.id)
    rubric = scored_rubric(store, run)
    ids = list(dict.fromkeys(cell.item_id for cell in cells))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    tallies = _tallies(store, run, cells)
    signs = store.signs.of_cells(run.id)
    answers: dict[str, dict[str, int | None]] = {}
    for (item_id, name), sign in signs.items():
        if sign.votes or sign.abstentions or sign.settled:
            answers.setdefault(item_id, {})[name] = sign.option
    usual = _usual(cells, tallies)
    what_ifs: dict[int, WhatIf] = {}
    texts: dict[str, MeasuredTexts] = {}
    found = []
    for cell in cells:
        item_id, name = cell.item_id, cell.criterion.name
        in_force = effective(items[item_id], rubric)
        what_if = what_ifs.setdefault(id(in_force), WhatIf(in_force))
        if looks_at_texts(in_force) and item_id not in texts:
            texts[item_id] = measure(in_force, texts_from(items[item_id]))
        votes = tallies.get((item_id, name), Tally({}, {}))
        impact = what_if.impact(
            name, answers.get(item_id, {}), votes, texts.get(item_id), known.get((item_id, name))
        )
        found.append(
            QueuedCell(
                item_id=item_id,
                criterion=name,
                reasons=cell.reasons,
                chance=cell.chance,
                failed="failure" in cell.reasons,
                flip=round(impact.flip, 9),
                change=round(impact.change, 9),
                entropy=impact.entropy,
                margin=impact.margin,
                spread=spread(cell.criterion, votes, usual[name, len(cell.criterion.choices)]),
            )
        )
    return found


def _tallies(store: Store, run: Run, cells: Sequence[Candidate]) -> dict[tuple[str, str], Tally]:
    """The votes that count, of every cell of the criteria that are asked about."""
    counting = counting_of(run.plan)
    asked = {cell.criterion.name: cell.criterion for cell in cells}
    own = {(cell.item_id, cell.criterion.name): cell.criterion for cell in cells}
    found = {}
    for name, criterion in asked.items():
        rows: dict[str, list[BallotRow]] = {}
        for row in store.votes.all_ballots(run.id, name):
            rows.setdefault(row.item_id, []).append(row)
        for item_id, ballots in rows.items():
            key = (item_id, name)
            found[key] = _tally(own.get(key, criterion), counting, ballots)
    return found


def _tally(criterion: Criterion, counting: Counting, ballots: Sequence[BallotRow]) -> Tally:
    counted = counting.count(ballots).ballots
    # An item's own rubric may give the same name to a question with fewer options.
    known = [b for b in counted if b.option is None or b.option < len(criterion.choices)]
    return tally(criterion, known)


def _usual(
    cells: Sequence[Candidate], tallies: dict[tuple[str, str], Tally]
) -> dict[tuple[str, int], float | None]:
    """The disagreement to expect on each criterion (by its number of choices, too)."""
    by_name: dict[str, list[Tally]] = {}
    for (_, name), votes in tallies.items():
        by_name.setdefault(name, []).append(votes)
    found: dict[tuple[str, int], float | None] = {}
    for cell in cells:
        key = (cell.criterion.name, len(cell.criterion.choices))
        if key not in found:
            scored = set(cell.criterion.scored)
            same = [t for t in by_name.get(key[0], ()) if t.heads.keys() <= scored]
            found[key] = expected_disagreement(cell.criterion, same)
    return found
