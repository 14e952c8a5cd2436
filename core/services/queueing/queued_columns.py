"""The cells of a queue as columns: their index in the run, and how they were selected."""

from __future__ import annotations

import numpy as np

from core.domain.review_records import QueueRow
from core.services.queueing.queue_table import CellTable, Numbers
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

#: The version of the stored columns; columns of other versions are ignored.
FORM = 1
#: How a cell was selected for a queue; ``OUTSIDE`` means that it is not in the queue.
OUTSIDE, RULE, AUDIT, GOLD = range(4)
_STRATA = {'["audit"]': AUDIT, '["gold"]': GOLD}


def queued_columns(store: Store, queue: QueueRow, table: CellTable) -> tuple[Numbers, Numbers]:
    """Return how each cell of a run was selected for a queue, and with what chance (1 outside of
    it); a queue never drops a cell.
    """
    stamp = store.queues.size(queue.id)

    def read_columns() -> Columns:
        cells, stratum, chance = [], list[int](), list[float]()
        for item_id, criterion, reasons, drawn in store.queues.chances(queue.id):
            cells.append((item_id, criterion))
            stratum.append(_STRATA.get(reasons, RULE))
            chance.append(drawn)
        arrays: dict[str, Numbers] = {
            "cells": table.cells_at(cells).astype(np.int32),
            "stratum": np.array(stratum, np.uint8),
            "chance": np.array(chance, np.float64),
        }
        return Columns({}, arrays)

    arrays = store.kept.cached_columns(
        f"cells of queue {queue.id}, form {FORM}", stamp, read_columns, keep=stamp >= MANY
    ).arrays
    in_queue = arrays["cells"] >= 0
    stratum, chance = np.full(len(table), OUTSIDE), np.ones(len(table))
    stratum[arrays["cells"][in_queue]] = arrays["stratum"][in_queue]
    chance[arrays["cells"][in_queue]] = arrays["chance"][in_queue]
    return stratum, chance
