"""Writing many criteria quickly: pasted, put in their place, weighed by share or from grades."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.domain.dataset import Dataset
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from pages.rubric.files import PASTE_ACT, PASTE_TEXT
from pages.rubric.weights import WEIGHTS_ACT
from pages.ui import state
from pages.ui.drafts import RUBRIC_SIDE, RUBRICS_ACT
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, name_of, press
from tests.services.rubrics.test_weights_from_grades import PLANTED, RUBRIC, graded
from tests.services.versions.edited_run import NOW


def opened(store: Store) -> str:
    return str(library.save(store, "new-x", draft_from(RUBRIC)).rubric_id)


def test_pasted_lines_are_shown_as_what_they_are_read_as_and_then_added(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    text = "# Facts\n- Cites a source (12 points)\n[-5] Invents facts\nTone: It is warm."
    app = done(app.text_area(key=state.key(PASTE_TEXT, name)).set_value(text))
    assert "−5 penalty" in shown(app)
    assert [c["requirement"] for c in draft_of(app)["criteria"]] == [""]
    app = press(app, name, "add", family=PASTE_ACT)
    assert [(c["name"], c["weight"], c["section"]) for c in draft_of(app)["criteria"]] == [
        ("Cites a source", 12.0, "Facts"),
        ("Invents facts", -5.0, "Facts"),
        ("Tone", 10.0, "Facts"),
    ]
    press(app, name, "undo")
    assert [c["requirement"] for c in draft_of(app)["criteria"]] == [""]


def test_lines_pasted_into_one_requirement_become_criteria_by_one_click(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name, uid = name_of(app), draft_of(app)["criteria"][0]["uid"]
    words = app.text_area(key=field(name, uid, "requirement"))
    app = done(words.set_value("It is warm. (12 points)\n\n[-5] It invents facts."))
    press(app, name, "part", uid, family=PASTE_ACT)
    assert [(c["requirement"], c["weight"]) for c in draft_of(app)["criteria"]] == [
        ("It is warm.", 12.0),
        ("It invents facts.", -5.0),
    ]
    press(app, name, "undo")
    assert len(draft_of(app)["criteria"]) == 1


def test_a_pasted_grid_is_shown_with_its_levels_and_added_with_them(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    text = "Criterion\tExcellent\tGood\tPoor\nThesis\tclear <b>\tvague\tnone\n"
    app = done(app.text_area(key=state.key(PASTE_TEXT, name)).set_value(text))
    assert "clear &lt;b&gt;" in shown(app)
    app = press(app, name, "add", family=PASTE_ACT)
    (made,) = draft_of(app)["criteria"]
    assert [(o["label"], o["value"]) for o in made["options"]] == [
        ("Poor", 0.0),
        ("Good", 0.5),
        ("Excellent", 1.0),
    ]
    # A grid that cannot be read says why, and loses nothing.
    bad = "Criterion\tGold\tSilver\nThesis\tx\ty\n"
    app = done(app.text_area(key=state.key(PASTE_TEXT, name)).set_value(bad))
    assert "but not which of them is best" in shown(app)
    assert app.text_area(key=state.key(PASTE_TEXT, name)).value == bad


def test_a_criterion_is_put_at_a_place_by_its_number(store: Store) -> None:
    name = opened(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "add", "yes_no")
    uid = draft_of(app)["criteria"][-1]["uid"]
    last = len(draft_of(app)["criteria"])
    where = app.number_input(key=field(name, uid, "place", str(last))).set_value(2)
    sent = where._widget_state
    done(where)
    names = [c["name"] for c in draft_of(app)["criteria"]]
    assert names[:3] == ["A", "Criterion 1", "B"]

    # A card that moves is there twice for a moment: the browser may send again what the first had.
    sent.int_value = last
    states = app._tree.get_widget_states()
    states.widgets.append(sent)
    app = done(SimpleNamespace(run=lambda: app._run(states)))
    assert [c["name"] for c in draft_of(app)["criteria"]] == names


def test_a_weight_is_set_as_a_share_of_all_points(store: Store) -> None:
    name = opened(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    share = app.number_input(key=field(name, uid, "share"))
    # A, B, C weigh 1 each; the penalty gives no points.
    assert share.value == pytest.approx(33.33)
    app = done(share.set_value(60.0))
    # w / (w + 2) = .6 gives w = 3.
    assert draft_of(app)["criteria"][0]["weight"] == 3.0
    assert app.number_input(key=field(name, uid, "points")).value == 3.0


def test_what_a_requirement_speaks_of_is_shown(store: Store) -> None:
    name = opened(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    words = "The answer agrees with the reference in {{style}}."
    app = done(app.text_area(key=field(name, uid, "requirement")).set_value(words))
    text = shown(app)
    assert "answer: the submission" in text
    assert "reference: the reference" in text
    assert "judges see literally" in text


def test_weights_are_inferred_from_totals_and_taken_by_one_click(store: Store) -> None:
    store.datasets.create(Dataset(name="Exam", items=tuple(graded(40))), now=NOW)
    name = opened(store)
    app = open_page(PAGE, rubric=name)
    done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Scoring"))
    assert "Inferred weights" in shown(app)
    app = press(app, name, family=WEIGHTS_ACT)
    assert {c["name"]: c["weight"] for c in draft_of(app)["criteria"]} == PLANTED
