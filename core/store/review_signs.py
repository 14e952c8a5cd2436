"""What a run's cells look like to someone who chooses which of them people should see."""

from __future__ import annotations

from typing import NamedTuple

from core.domain.names import STORED
from core.domain.review import SettledState
from core.domain.rubric import Rubric
from core.store.connection import Connections


class Signs(NamedTuple):
    """What the votes on a cell look like; ``option`` and ``abstained`` are the verdict now.

    ``failures`` are the open ones. ``settled`` is the state of what people settled, if they did.
    """

    option: int | None
    abstained: bool
    agreement: float | None
    margin: float | None
    votes: int
    abstentions: int
    failures: int
    settled: SettledState | None


_NO_SIGNS = Signs(None, False, None, None, 0, 0, 0, None)


class RunSigns:
    """Reached as ``store.signs``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def of_cells(self, run_id: int, item_id: str | None = None) -> dict[tuple[str, str], Signs]:
        """What the votes on the cells of a run (or of one item) look like, by item and criterion.

        Cells without votes, failures and decision are not in it.
        """
        found = {
            (row[0], row[1]): Signs(row[2], bool(row[3]), *row[4:])
            for row in self._files.tuples(
                "SELECT c.item_id, c.criterion, c.option, c.abstained, c.agreement, c.margin, "
                "c.votes, c.abstentions, 0, s.state FROM cell c LEFT JOIN settled s "
                "ON s.run_id = c.run_id AND s.item_id = c.item_id AND s.criterion = c.criterion "
                "WHERE c.run_id = ? AND (? IS NULL OR c.item_id = ?)",
                (run_id, item_id, item_id),
            )
        }
        for item, criterion, count in self._files.tuples(
            "SELECT item_id, criterion, count(*) FROM failure WHERE run_id = ? AND open = 1 "
            "AND (? IS NULL OR item_id = ?) GROUP BY 1, 2",
            (run_id, item_id, item_id),
        ):
            before = found.get((item, criterion), _NO_SIGNS)
            found[item, criterion] = before._replace(failures=count)
        return found

    def scores(self, run_id: int) -> list[tuple[str, int, float | None]]:
        """The items of a run in its order: id, position and score."""
        return self._files.tuples(
            "SELECT item_id, position, score FROM run_item WHERE run_id = ? ORDER BY position",
            (run_id,),
        )

    def own_rubrics(self, run_id: int) -> dict[str, Rubric]:
        """The rubrics of the run's items that have one of their own, by item id."""
        return {
            item_id: Rubric.model_validate_json(text, context=STORED)
            for item_id, text in self._files.tuples(
                "SELECT i.item_id, json_extract(i.content, '$.rubric') FROM item i "
                "JOIN run r ON r.dataset_version_id = i.version_id WHERE r.id = ? "
                # Looked for as text first: parsing every submission takes its time.
                "AND instr(i.content, '\"rubric\"') "
                "AND json_type(i.content, '$.rubric') = 'object'",
                (run_id,),
            )
        }
