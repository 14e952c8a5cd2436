"""How many items need a person is one number, whatever their outcome, as in the scores."""

from __future__ import annotations

from core.blocks.markdown import markdown_paper
from core.domain.gates import Decision
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.services.results.scored_items import derivation_for, resolved_items
from core.store.store import Store
from tests.services.reports.made import MADE
from tests.services.results.partly_assessed import RUBRIC, partly_assessed


def test_items_assessed_in_part_need_a_person_where_the_rubric_decides_nothing(
    store: Store,
) -> None:
    run = partly_assessed(store)
    found = report_run(store, run, created=MADE)

    # All but "whole" (partly_assessed).
    assert sum(row.review for row in store.results.items(run)) == 4
    assert found.scores.waiting.hits == 4
    said = markdown_paper(report_as_paper(found))
    assert "80% of the items need a person (4 of 5)." in said
    assert "Review the 4 items that need a person." in said


def test_an_item_that_passes_may_need_a_person_all_the_same(store: Store) -> None:
    run = partly_assessed(store)
    rubric = RUBRIC.model_copy(update={"decision": Decision(pass_at=0.7)})
    rubric = rubric.model_copy(
        update={"scoring": rubric.scoring.model_copy(update={"abstention": "partial"})}
    )
    items = resolved_items(store, store.runs.get(run).dataset_version_id, None)
    store.results.rebuild(run, derivation_for(store.runs.get(run).plan, rubric, items))
    found = report_run(store, run, created=MADE)

    rows = {row.item_id: row for row in store.results.items(run)}
    assert (rows["most"].outcome, rows["most"].review) == ("pass", True)
    # "quarter" has no grade, "lost" and "failed" lack verdicts: their outcome is review.
    assert found.scores.outcomes["review"].hits == 3
    assert found.scores.waiting.hits == sum(row.review for row in rows.values()) == 4
    assert "80% of the items need a person (4 of 5)." in markdown_paper(report_as_paper(found))
