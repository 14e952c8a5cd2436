"""People who review are raters, too: by their first verdicts, given before they saw the votes.

Agreement uses what somebody said at first; truth is what was settled in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.services.agreeing_sheet import PEOPLE, PERSON, Asked, Sheet
from core.services.rated_matrix import ABSTAINED, NOT_ASKED, Levels, majority_column
from core.store.store import Store

#: By reviewer: (item id, criterion) and the option, ``None`` where it could not be assessed.
Firsts = Mapping[str, Mapping[tuple[str, str], int | None]]


def first_verdicts(store: Store, run_id: int) -> Firsts:
    """What reviewers said at first, blind, in any queue of a run.

    Verdicts given with the votes in sight are left out, and so are those that end disagreements.
    Of several on a cell the earliest counts. Raises ``NotFound`` for an unknown run.
    """
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    verdicts = [v for queue in queues for v in store.verdicts.of_queue(queue.id)]
    found: dict[str, dict[tuple[str, str], int | None]] = {}
    for verdict in sorted(verdicts, key=lambda v: v.first_event):
        if verdict.part == "review" and verdict.mode != "assisted":
            mine = found.setdefault(verdict.reviewer, {})
            mine.setdefault((verdict.item_id, verdict.criterion), verdict.first.option)
    return found


def with_reviewers(sheet: Sheet, firsts: Firsts) -> Sheet:
    """The sheet with a column per reviewer, in the order of names, and their majority.

    A reviewer who has the name of an imported person is told apart by "(review)".
    """
    if not firsts:
        return sheet
    names = {
        who: PERSON + who + (" (review)" if PERSON + who in sheet.people else "")
        for who in sorted(firsts, key=str.casefold)
    }
    people = (*sheet.people, *names.values())
    place = {item: at for at, item in enumerate(sheet.items)}
    criteria = tuple(
        _with_columns(asked, {names[who]: firsts[who] for who in names}, place, people)
        for asked in sheet.criteria
    )
    return replace(sheet, people=people, criteria=criteria, reviewers=tuple(names.values()))


def _with_columns(
    asked: Asked,
    said: Mapping[str, Mapping[tuple[str, str], int | None]],
    place: Mapping[str, int],
    people: Sequence[str],
) -> Asked:
    levels = {option: level for level, option in enumerate(asked.options)}
    was_asked = _asked_of(asked, len(place))
    columns = dict(asked.columns)
    for name, cells in said.items():
        column = np.full(len(place), NOT_ASKED)
        for (item, criterion), option in cells.items():
            at = place.get(item)
            if criterion == asked.source and at is not None and was_asked[at]:
                column[at] = ABSTAINED if option is None else levels.get(option, ABSTAINED)
        if (column != NOT_ASKED).any():
            columns[name] = column
    theirs = [columns[name] for name in people if name in columns]
    if theirs:
        columns[PEOPLE] = majority_column(np.column_stack(theirs), len(asked.labels))
    return replace(asked, columns=columns)


def _asked_of(asked: Asked, items: int) -> Levels:
    """On which items anybody was asked this: items may ask different things by one name."""
    found = np.zeros(items, np.int64)
    for column in asked.columns.values():
        found |= column != NOT_ASKED
    return found
