"""Read the verdicts of a run as columns, and their counts."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from core.domain.votes import ADJUDICATED
from core.store.database.connection import Connections

_COLUMNS = (
    "item_id",
    "option",
    f"CASE WHEN rule = '{ADJUDICATED}' THEN voted ELSE option END",
    "abstained",
    "value",
    "entropy",
    "margin",
    "votes",
    "abstentions",
)


class CellVerdicts:
    """The part of ``store.results`` that reads columns and counts of verdicts."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def agreements(self, run_id: int) -> list[tuple[str, str, float]]:
        """Return the agreement of the votes on each cell: item, criterion, agreement."""
        return self._files.tuples(
            "SELECT item_id, criterion, agreement FROM cell "
            "WHERE run_id = ? AND agreement IS NOT NULL",
            (run_id,),
        )

    def cell_columns(self, run_id: int) -> dict[str, list[tuple[Any, ...]]]:
        """Return the verdicts of each criterion: columns with an entry per item, by its name.

        The columns are item ids; the option; the voted option, even if a person settled another
        one; whether it is an abstention; value, entropy and margin; votes and abstentions.
        """
        rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for row in self._files.tuples(
            f"SELECT criterion, {', '.join(_COLUMNS)} FROM cell WHERE run_id = ?", (run_id,)
        ):
            rows[row[0]].append(row)
        return {name: list(zip(*rows[name], strict=True))[1:] for name in sorted(rows)}

    def derived(self, run_id: int) -> int:
        """Return the run's derivation number, which each derivation changes."""
        ((count,),) = self._files.tuples("SELECT derived FROM run WHERE id = ?", (run_id,))
        return int(count)

    def verdict_counts(self, run_id: int) -> list[dict[str, Any]]:
        """Return counts per verdict: criterion, option, abstained, count."""
        return [
            {"criterion": name, "option": option, "abstained": bool(abstained), "count": count}
            for name, option, abstained, count in self._files.tuples(
                "SELECT criterion, option, abstained, count(*) FROM cell WHERE run_id = ? "
                "GROUP BY 1, 2, 3 ORDER BY 1, 3, 2",
                (run_id,),
            )
        ]

    def cell_tallies(self, run_id: int) -> tuple[int, ...]:
        """Return the numbers of a run's verdicts: all, abstentions, settled by people, and those
        that no vote is for (``services.results.item_view.unvoted``).
        """
        (counts,) = self._files.tuples(
            "SELECT count(*), total(abstained), total(rule = ?), "
            "total(rule <> ? AND votes > 0 AND option IS NOT NULL AND NOT abstained "
            "AND agreement = 0.0) FROM cell WHERE run_id = ?",
            (ADJUDICATED, ADJUDICATED, run_id),
        )
        return tuple(map(int, counts))
