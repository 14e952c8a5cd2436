"""Outcomes and findings on the Run page."""

from __future__ import annotations

import pytest

from core.domain.gates import Decision, Precheck
from core.services.results.scored_items import derivation_for
from core.store.store import Store
from pages.run.item import ITEM_MARKS
from pages.ui import state
from pages.ui.run_status import RUN_ACT
from tests.pages.conftest import shown
from tests.pages.graded import DATASET, FIRST, RUBRIC, graded
from tests.pages.grids import grids
from tests.pages.run.test_page import listed, open_run


def decided(store: Store) -> int:
    """The graded run, as if its rubric decided and looked for a phrase.

    Scores: .5 (a tie is unmet, and the highest level), 1 (met, an abstention left out), 0.25. What
    was left out never passes: b is for review.
    """
    run_id = graded(store)
    rubric = RUBRIC.model_copy(
        update={
            "decision": Decision(pass_at=0.7, fail_below=0.4),
            "prechecks": (Precheck(name="Weather", patterns=("rain falls",)),),
        }
    )
    store.results.rebuild(
        run_id, derivation_for(store.runs.get(run_id).plan, rubric, DATASET.items)
    )
    return run_id


def test_the_items_say_how_they_end_and_the_counts_lead_to_them(store: Store) -> None:
    app = open_run(decided(store))
    said = [cell.words for cell in grids(app)[0].column("Notes")]
    notes = dict(zip(listed(app), said, strict=True))
    assert "needs a person" in notes[FIRST]
    assert "passes" not in notes["b"]
    assert "needs a person" in notes["b"]
    assert "fails" in notes["c"]
    button = app.button(key=state.key(RUN_ACT, "outcome", "fail"))
    assert button.label == "✕ Fails: 1"
    button.click().run()
    assert listed(app) == ["c"]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (FIRST, "A person must review the item: the pre-check &#x27;Weather&#x27; found"),
        ("b", "For review: a criterion was not assessed."),
        ("c", "Fails: 0.25 is below 0.40."),
    ],
)
def test_an_item_says_why_it_ends_so(store: Store, item: str, said: str) -> None:
    assert said in shown(open_run(decided(store), item=item))


def test_what_a_pre_check_found_is_marked_in_the_submission(store: Store) -> None:
    app = open_run(decided(store), item=FIRST)
    app.toggle(key=state.key(ITEM_MARKS)).set_value(False).run()
    # Without the judges' quotes, the finding stays.
    assert 'rs-mark\\">Rain falls</mark>' in shown(app)
