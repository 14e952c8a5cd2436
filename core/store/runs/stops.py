"""Runs that stopped the process that worked on them, and what they were at.

Once may be chance. A run that did it twice is put aside as failed, so that others go on; what it
was at is named. When somebody resumes it, that is left out (``passed_over``) and fails by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from core.domain.runs import Lease
from core.domain.votes import Cell
from core.store.database.connection import Connections
from core.store.runs.leases import Leases
from core.store.runs.runs import Runs

#: Nothing moved any more, or the process ended by itself.
How = Literal["hung", "ended"]
#: So many cells are named in words, each name by so many characters.
MOST_NAMED, LONGEST_NAME = 3, 60


class Stops:
    """Reached as ``store.stops``."""

    def __init__(self, files: Connections, runs: Runs, leases: Leases) -> None:
        self._files, self._runs, self._leases = files, runs, leases

    def stopped(self, lease: Lease, how: How, cells: Sequence[Cell], *, now: str) -> bool:
        """A run's owner was stopped, while the code of these cells ran where that is known.

        The run is free for others, or put aside if that happened before: ``True``. A process that
        ended counts only against a cell, and only against the same one: somebody may have ended it.
        """
        with self._files.write():
            run = self._runs.get(lease.run_id)
            before: list[dict[str, Any]] = run.notes.get("stops", [])
            mine = [list(cell) for cell in cells]
            again = [
                one
                for one in before
                if one["how"] == how == "hung" or any(cell in one["cells"] for cell in mine)
            ]
            if not again:
                stops = (
                    [*before, {"how": how, "cells": mine, "at": now}]
                    if how == "hung" or mine
                    else before
                )
                self._runs.set_notes(lease.run_id, {"stops": stops})
                self._leases.expire(lease.run_id, lease.owner, lease.fence)
                return False
            found = [cell for one in (*again, {"cells": mine}) for cell in one["cells"]]
            guilty = [cell for at, cell in enumerate(found) if cell not in found[:at]]
            self._runs.set_notes(lease.run_id, {"stops": [], "passed_over": guilty})
            self._leases.release(
                lease, "failed", now=now, message=aside_words(guilty), lost=run.out
            )
            return True


def passed_over(notes: Mapping[str, Any]) -> tuple[Cell, ...]:
    """The cells that are not to be asked, since the process that asked them stopped twice."""
    return tuple(Cell(*cell) for cell in notes.get("passed_over", ()))


def aside_words(cells: Sequence[Sequence[Any]]) -> str:
    """Why a run was put aside, and what to do.

    >>> aside_words([["i3", "tone", "ada", 0]])[:90]
    "Put aside: it stopped the process that worked on it twice, at ada on 'tone' of item 'i3'. "
    """
    named = [
        f"{judge} on {criterion[:LONGEST_NAME]!r} of item {item[:LONGEST_NAME]!r}"
        for item, criterion, judge, _ in cells
    ]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    if not named:
        return (
            "Put aside: it stopped the process that worked on it twice, and what it was at is not "
            "known. Other runs go on. Resume tries it again."
        )
    return (
        f"Put aside: it stopped the process that worked on it twice, at "
        f"{', '.join(named[:MOST_NAMED])}{more}. Other runs go on. Resume asks all the rest and "
        "counts that as failed; retry asks it again."
    )
