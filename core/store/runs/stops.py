"""Runs that crashed or hung their worker process, and what they were doing.

A single stop may be chance. A second stop marks the run as failed and names the cells in progress,
so that other runs continue. After a resume those cells are skipped (``cells_to_skip``) and count as
failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from core.domain.runs import Lease
from core.domain.votes import Cell
from core.store.database.connection import Connections
from core.store.runs.leases import Leases
from core.store.runs.runs import Runs

#: The process hung, or ended unexpectedly.
How = Literal["hung", "ended"]
#: The most cells that a message names, and the most characters of each name.
MOST_NAMED, LONGEST_NAME = 3, 60


class Stops:
    """Available as ``store.stops``."""

    def __init__(self, files: Connections, runs: Runs, leases: Leases) -> None:
        self._files, self._runs, self._leases = files, runs, leases

    def stopped(self, lease: Lease, stop_kind: How, cells: Sequence[Cell], *, now: str) -> bool:
        """Record that a run's owner was stopped, and the cells in progress, if known.

        Returns ``True`` if this is the second time, so that the run is now failed; otherwise it can
        be claimed again. If the process ended, only stops at the same cell count, since it may have
        been stopped on purpose.
        """
        with self._files.write():
            run = self._runs.get(lease.run_id)
            before: list[dict[str, Any]] = run.notes.get("stops", [])
            named_cells = [list(cell) for cell in cells]
            previous = [
                stop
                for stop in before
                if stop["how"] == stop_kind == "hung"
                or any(cell in stop["cells"] for cell in named_cells)
            ]
            if not previous:
                stops = (
                    [*before, {"how": stop_kind, "cells": named_cells, "at": now}]
                    if stop_kind == "hung" or named_cells
                    else before
                )
                self._runs.set_notes(lease.run_id, {"stops": stops})
                self._leases.expire(lease)
                return False
            named = [cell for stop in (*previous, {"cells": named_cells}) for cell in stop["cells"]]
            guilty = [cell for at, cell in enumerate(named) if cell not in named[:at]]
            self._runs.set_notes(lease.run_id, {"stops": [], "passed_over": guilty})
            self._leases.release(
                lease, "failed", now=now, message=failure_message(guilty), lost=run.out
            )
            return True


def cells_to_skip(notes: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Return the cells to skip, because they stopped their process twice."""
    return tuple(Cell(*cell) for cell in notes.get("passed_over", ()))


def failure_message(cells: Sequence[Sequence[Any]]) -> str:
    """Return the message that says why a run was marked as failed, and what to do.

    >>> failure_message([["i3", "tone", "ada", 0]])[:90]
    "Put aside: it stopped the process that worked on it twice, at ada on 'tone' of item 'i3'. "
    """
    named = [
        f"{judge} on {criterion[:LONGEST_NAME]!r} of item {item[:LONGEST_NAME]!r}"
        for item, criterion, judge, _ in cells
    ]
    others = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    if not named:
        return (
            "Put aside: it stopped the process that worked on it twice, and what it was at is not "
            "known. Other runs go on. Resume tries it again."
        )
    return (
        f"Put aside: it stopped the process that worked on it twice, at "
        f"{', '.join(named[:MOST_NAMED])}{others}. Other runs go on. Resume asks all the rest and "
        "counts that as failed; retry asks it again."
    )
