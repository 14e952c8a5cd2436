"""Read the verdicts of a run as columns, and their counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from core.domain.votes import ADJUDICATED
from core.store.database.connection import Connections


def _exact_match(column: str) -> str:
    # In JSON, SQLite would round a number to 15 digits.
    return f"CASE WHEN {column} IS NOT NULL THEN printf('%!.17g', {column}) END"


_COLUMNS = (
    "item_id",
    "option",
    f"CASE WHEN rule = '{ADJUDICATED}' THEN voted ELSE option END",
    "abstained",
    *map(_exact_match, ("value", "entropy", "margin")),
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

    def cell_columns(self, run_id: int) -> Iterator[tuple[Any, ...]]:
        """Yield the verdicts of each criterion: its name, and lists with an entry per item.

        The lists hold item ids; the option; the voted option, even if a person settled another one;
        whether it is an abstention; value, entropy and margin (numbers as text); votes and
        abstentions.
        """
        lists = ", ".join(f"json_group_array({column})" for column in _COLUMNS)
        for criterion, *columns in self._files.tuples(
            f"SELECT criterion, {lists} FROM cell WHERE run_id = ? GROUP BY criterion", (run_id,)
        ):
            yield (criterion, *map(json.loads, columns))

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
