"""What a program graded is on screen like any run: verdicts, votes, and failures in words."""

from __future__ import annotations

import rubric_studio as rs
from core.domain.dataset import Item
from pages.ui import routes
from tests.pages.conftest import open_page, shown


def test_a_run_of_functions_is_shown_with_its_votes_and_failures() -> None:
    def thanks(item: Item) -> bool:
        if "?" in item.output:
            raise ValueError("no <b>question</b>")
        return True

    data = [{"id": "one", "submission": "Thanks!"}, {"submission": "?"}]
    run = rs.grade(["Thanks"], data, rs.check(thanks))
    app = open_page(routes.RUN, run=str(run.id))
    text = shown(app)
    assert "1 × the judge&#x27;s code failed" in text
    assert "Mend it and grade again." in text
    assert "<b>question" not in text
    one = shown(open_page(routes.RUN, run=str(run.id), item="one"))
    assert "thanks" in one
    assert "MET" in one
