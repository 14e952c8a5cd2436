"""The cells of a queue as columns: where they are among those of the run, and how they came in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.domain.review_records import QueueRow
from core.services.queueing.queue_table import CellTable, Numbers
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

#: Says how columns are written; another number, and none that was kept before is read.
FORM = 1
#: How a cell came into a queue; what is not in it is outside.
OUTSIDE, RULE, AUDIT, GOLD = range(4)
_STRATA = {'["audit"]': AUDIT, '["gold"]': GOLD}


class QueuedColumns(NamedTuple):
    """For every cell of a run how it came into a queue, and with what chance (1 outside of it)."""

    stratum: Numbers
    chance: Numbers


def queued(store: Store, queue: QueueRow, table: CellTable) -> QueuedColumns:
    """How the cells of a run came into one of its queues; none is ever taken out of one."""
    stamp = store.queues.size(queue.id)

    def read() -> Columns:
        cells, stratum, chance = [], list[int](), list[float]()
        for item_id, criterion, reasons, one in store.queues.chances(queue.id):
            cells.append((item_id, criterion))
            stratum.append(_STRATA.get(reasons, RULE))
            chance.append(one)
        arrays: dict[str, Numbers] = {
            "cells": table.cells_at(cells).astype(np.int32),
            "stratum": np.array(stratum, np.uint8),
            "chance": np.array(chance, np.float64),
        }
        return Columns({}, arrays)

    kept = store.kept.made(
        f"cells of queue {queue.id}, form {FORM}", stamp, read, keep=stamp >= MANY
    ).arrays
    there = kept["cells"] >= 0
    stratum, chance = np.full(len(table), OUTSIDE), np.ones(len(table))
    stratum[kept["cells"][there]] = kept["stratum"][there]
    chance[kept["cells"][there]] = kept["chance"][there]
    return QueuedColumns(stratum, chance)
