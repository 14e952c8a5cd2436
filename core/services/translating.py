"""Votes and decisions of one version of a rubric, read under another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.domain.review import Settled
from core.domain.rubric import Criterion
from core.domain.votes import BallotRow, ItemBallots
from core.services.versioning import Edits


def places(edits: Edits) -> dict[str, tuple[Criterion, tuple[int | None, ...]]]:
    """By older criterion: the newer one, and where each of its choices is there now."""
    return {
        old.name: (new, edits.moves.options.get(old.name, tuple(range(len(old.choices)))))
        for old, new in edits.pairs
    }


def translated(item: ItemBallots, edits: Edits) -> ItemBallots:
    """The ballots of an item in the newer version's terms; those without a place are left out."""
    to = places(edits)
    found = (_ballot(row, to) for row in item.ballots)
    failures = {to[name][0].name: n for name, n in item.failures.items() if name in to}
    return ItemBallots(item.item_id, tuple(row for row in found if row), failures)


def _ballot(
    row: BallotRow, to: Mapping[str, tuple[Criterion, tuple[int | None, ...]]]
) -> BallotRow | None:
    if row.criterion not in to:
        return None
    new, place = to[row.criterion]
    if row.option is None:
        return row._replace(criterion=new.name)
    option = place[row.option]
    if option is None:
        return None
    return row._replace(criterion=new.name, option=option, abstained=new.choices[option].na)


def translated_settled(cells: Mapping[str, Settled], edits: Edits) -> dict[str, Settled]:
    """What people settled of an item, likewise."""
    found = dict[str, Settled]()
    for name, (new, place) in places(edits).items():
        one = cells.get(name)
        if one is None:
            continue
        option = None if one.option is None else place[one.option]
        if one.option is not None and option is None:
            continue
        label = None if option is None or new.choices[option].na else new.choices[option].label
        found[new.name] = replace(one, criterion=new.name, option=option, label=label)
    return found
