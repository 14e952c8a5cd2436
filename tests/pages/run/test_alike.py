"""Answers alike on a run: a group with its members, one press for those that are ticked."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.services.labelling import answer_groups
from core.services.review import adjudication
from core.store.store import Store
from pages.ui import state
from pages.ui.identity import NAME, SESSION
from pages.ui.places.alike import ALIKE
from tests.pages.conftest import shown
from tests.pages.run.test_page import open_run
from tests.services.labelling.test_answer_groups import run_of
from tests.services.reviewed import MET


def alike(store: Store) -> AppTest:
    app = open_run(run_of(store).id, view="alike")
    app.session_state[NAME], app.session_state[SESSION] = "Ada", "tab"
    return app.run()


def press(app: AppTest, *ids: object) -> AppTest:
    return app.button(key=state.key(ALIKE, *ids)).click().run()


def settled(store: Store) -> dict[str, int | None]:
    return {item: one.option for (item, _), one in adjudication.settled_cells(store, 1).items()}


def test_the_ticked_members_of_a_group_are_settled_by_one_press(store: Store) -> None:
    app = alike(store)
    # a, b and c are nearly the same; d is not, and e answers another question.
    assert (
        "5 answers take 3 decisions: 1 group (0 settled) and 2 answers without a group."
        in shown(app)
    )
    app.checkbox(key=state.key(ALIKE, "member", "Right", "c")).uncheck().run()

    press(app, "as", MET)

    assert settled(store) == {"a": MET, "b": MET}
    assert "2 cells settled: MET." in shown(app)
    # What is left of the group comes again, without those that are settled.
    assert not app.checkbox(key=state.key(ALIKE, "member", "Right", "a")).value
    press(app, "as", 1)
    assert settled(store) == {"a": MET, "b": MET, "c": 1}
    assert "Every group is settled." in shown(app)


def test_a_stricter_closeness_takes_a_group_apart(store: Store) -> None:
    app = alike(store)

    press(app, "apart")

    assert (
        "5 answers take 4 decisions: 1 group (0 settled) and 3 answers without a group."
        in shown(app)
    )


def test_members_of_settled_groups_are_drawn_to_be_looked_at_singly(store: Store) -> None:
    app = alike(store)
    press(app, "as", MET)

    press(app, "singly")

    assert answer_groups.check_against_group(store, 1, "Right")[0] == 3
