"""Numbers of a report's slices lead to as many items of the run as they say."""

from __future__ import annotations

import pytest

from core.blocks.blocks import TableBlock, TextCell
from core.domain.runs import RunItemFilter
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.services.results import browsing
from core.store.store import Store
from tests.services.reports.made import MADE, decided


def rows_of(store: Store, run_id: int, name: str) -> dict[str, tuple[TextCell, ...]]:
    """The rows of a table of the report, by what stands first in them."""
    made = report_as_paper(report_run(store, run_id, resamples=10, created=MADE))
    tables = [
        b for s in made.sections for b in s.blocks if isinstance(b, TableBlock) and b.name == name
    ]
    return {row[0].text: row[1:] for row in tables[0].rows}


def found(store: Store, run_id: int, words: TextCell) -> int:
    """How many items the run's page shows behind a cell."""
    return browsing.run_items(store, run_id, RunItemFilter(**words.link))[1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "name", "items", "passing"),
    [
        # Of the 20 items 0, 4, 8, 12 and 16 pass; every other one is of system x.
        ("Scores by system", "x", 10, 5),
        # Every fifth: 0, 5, 10, 15, of which 0 passes.
        ("Scores by tag", "a & b", 4, 1),
        ("Scores by tag", "long", 10, 5),
        # Every tenth: 0 and 10.
        ("Scores by split", "evaluation", 2, 1),
    ],
)
def test_a_slice_leads_to_its_items_and_to_those_that_pass(
    store: Store, table: str, name: str, items: int, passing: int
) -> None:
    run_id = decided(store, grouped=True)
    count, _, _, share = rows_of(store, run_id, table)[name]
    assert (count.text, found(store, run_id, count)) == (str(items), items)
    assert share.below.startswith(f"{passing} of {items};")
    assert found(store, run_id, share) == passing


def test_the_row_of_all_items_leads_to_all_that_pass(store: Store) -> None:
    run_id = decided(store, grouped=True)
    count, _, _, share = rows_of(store, run_id, "Scores by tag")["All items"]
    assert count.link == {}
    assert found(store, run_id, share) == 5
