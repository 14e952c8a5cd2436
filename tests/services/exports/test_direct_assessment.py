"""A run under the field names of unitxt's direct judge."""

from __future__ import annotations

import json
from typing import Any

from core.services.exports.run_export import export
from core.store.store import Store
from tests.pages.graded import FIRST, graded


def judged(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(export(store, graded(store), "direct").text)
    return found


def row(found: dict[str, Any], judge: str, item: str, criterion: str) -> dict[str, Any]:
    (one,) = [
        r
        for r in found["judges"][judge]["rows"]
        if (r["id"], r["criteria"]["name"]) == (item, criterion)
    ]
    return dict(one)


def test_every_answer_has_the_fields_of_a_direct_assessment(store: Store) -> None:
    found = judged(store)
    ann = row(found, "ann", FIRST, "Clear")
    assert (ann["main_score_name"], ann["main_score"], ann["clear"]) == ("clear", 1.0, 1.0)
    assert ann["selected_option"] == "MET"
    assert ann["assessment"].startswith("Because")
    assert ann["option_selection_completion"] == "RAW REPLY"
    assert ann["prompts"]["assessment"][1] == {"role": "user", "content": "SENT TO ANN"}
    assert ann["criteria"]["option_map"] == {"MET": 1.0, "UNMET": 0.0}
    # Nothing was asked a second time: that is not "no bias".
    assert (ann["positional_bias"], ann["positional_bias_selected_option"]) == (None, None)


def test_failures_and_abstentions_have_no_score_and_the_mean_leaves_them_out(store: Store) -> None:
    found = judged(store)
    lost = row(found, "ann", "c", "Clear")
    assert (lost["main_score"], lost["selected_option"]) == (None, None)
    assert lost["failure"] == "missing_key: NO_SUCH_KEY is not set."
    away = row(found, "ann", "b", "Depth")
    assert (away["main_score"], away["failure"]) == (None, None)
    # bob on Clear: UNMET, MET, UNMET.
    assert found["judges"]["bob"]["scores"]["clear"] == 1 / 3
