"""The Rubrics page: from an empty list to a saved rubric, and nothing is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.rubric import Rubric
from core.services.judges import registry
from core.services.rubrics import library
from core.store.store import Store
from pages.rubric.preview import RUBRIC_PREVIEW
from pages.ui import state
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_SIDE, RUBRICS_ACT, RUBRICS_TEXT
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, name_of, press, saved
from tests.services.rubrics.test_drafts import FULL


def test_an_empty_library_says_what_to_do() -> None:
    app = open_page(PAGE)
    assert "No rubrics yet" in shown(app)


def test_a_rubric_with_each_kind_of_criterion_is_written_and_saved(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    assert "is empty" in shown(app)  # the checks speak from the first moment
    done(app.text_input(key=field(name, "name")).set_value("Answers"))
    for kind, requirement in (("yes_no", "Dense?"), ("four", "Deep?"), ("categories", "Tone?")):
        press(app, name, "add", kind)
        uid = draft_of(app)["criteria"][-1]["uid"]
        done(app.text_area(key=field(name, uid, "requirement")).set_value(requirement))
    assert "can be saved" in shown(app)
    press(app, name, "save")
    (row,) = library.rubric_rows(store)
    rubric = library.latest_version(store, row.id).rubric
    assert [(c.scale, c.requirement) for c in rubric.criteria] == [
        ("binary", "Dense?"),
        ("ordinal", "Deep?"),
        ("nominal", "Tone?"),
    ]
    assert name_of(app) == str(row.id)
    assert "Version 1, saved" in shown(app)
    assert library.all_kept_drafts(store) == []


def test_a_new_rubric_left_empty_leaves_no_draft_behind(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    press(app, "list")
    assert library.all_kept_drafts(store) == []
    assert "No rubrics yet" in shown(app)


def test_a_penalty_is_said_in_sign_word_and_sentence(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.segmented_control(key=field(name, uid, "effect")).set_value("Penalty"))
    assert draft_of(app)["criteria"][0]["weight"] == -10
    assert "− Penalty" in shown(app)
    assert "MET is bad: it deducts 10 points." in shown(app)
    done(app.number_input(key=field(name, uid, "points")).set_value(2.5))
    assert draft_of(app)["criteria"][0]["weight"] == -2.5


def test_unsaved_changes_are_marked_kept_and_can_be_discarded(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", "about")
    done(app.text_input(key=field(name, "name")).set_value("Changed"))
    assert "Unsaved changes to version 1" in shown(app)
    other_tab = open_page(PAGE, rubric=name)
    assert draft_of(other_tab)["name"] == "Changed"
    assert "Unsaved changes" in shown(open_page(PAGE))
    press(app, name, "discard")
    assert draft_of(app)["name"] == "Essays"
    assert library.all_kept_drafts(store) == []
    press(app, name, "undo")
    assert draft_of(app)["name"] == "Changed"
    assert [one.draft["name"] for one in library.all_kept_drafts(store)] == ["Changed"]


def test_typing_back_what_was_there_leaves_nothing_unsaved(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", "about")
    for words in ("Changed", "Essays"):
        done(app.text_input(key=field(name, "name")).set_value(words))
    assert "Version 1, saved" in shown(app)
    assert library.all_kept_drafts(store) == []


def test_the_form_keeps_gates_and_length_penalty_and_says_them(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    assert "the item is flagged" in shown(app)
    assert "Free up to 10 words of all text" in shown(app)
    uid = draft_of(app)["criteria"][1]["uid"]
    press(app, name, "toggle", uid)
    done(app.text_input(key=field(name, uid, "name")).set_value("Deep"))
    press(app, name, "save")
    rubric = library.latest_version(store, int(name)).rubric
    assert rubric.gates[0].when.criterion == "Deep"
    assert len(rubric.gates) == 3
    assert rubric.scoring == FULL.scoring


def test_criteria_are_moved_copied_and_removed(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    press(app, name, "down", uid)
    press(app, name, "copy", uid)
    names = [c["name"] for c in draft_of(app)["criteria"]]
    assert names == ["Depth", "Clear", "Clear copy 1", "Tone"]
    twin = draft_of(app)["criteria"][2]["uid"]
    press(app, name, "remove", twin)
    assert [c["name"] for c in draft_of(app)["criteria"]] == ["Depth", "Clear", "Tone"]


def test_a_criterion_removed_by_mistake_comes_back_with_undo(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.text_input(key=field(name, uid, "name")).set_value("Lucid"))
    press(app, name, "remove", uid)
    press(app, name, "undo")
    assert [c["name"] for c in draft_of(app)["criteria"]] == ["Lucid", "Depth", "Tone"]
    press(app, name, "undo")
    assert app.text_input(key=field(name, uid, "name")).value == "Clear"
    assert "Version 1, saved" in shown(app)
    assert app.button(key=state.key(RUBRIC_ACT, name, "undo")).disabled


def test_keys_that_are_kept_but_not_used_are_said_after_an_import() -> None:
    app = press(open_page(PAGE), "import", family=RUBRICS_ACT)
    text = "name: R\nlicence: free\ncriteria:\n  - {name: A, requirement: Is it?, colour: red}\n"
    app.text_area(key=RUBRICS_TEXT).set_value(text)
    press(app, "read", family=RUBRICS_ACT)
    assert "Noticed while reading the file" in shown(app)
    assert "colour" in shown(app)


def test_options_are_edited_one_by_one(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][1]["uid"]
    low = draft_of(app)["criteria"][1]["options"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.text_input(key=field(name, uid, low, "label")).set_value("Shallow"))
    done(app.text_area(key=field(name, uid, low, "description")).set_value("Only the surface."))
    done(app.number_input(key=field(name, uid, low, "value")).set_value(0.1))
    press(app, name, "option", uid)
    option = draft_of(app)["criteria"][1]["options"][0]
    assert (option["label"], option["description"], option["value"]) == (
        "Shallow",
        "Only the surface.",
        0.1,
    )
    assert len(draft_of(app)["criteria"][1]["options"]) == 4


def test_another_scale_shows_its_options_at_once(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.segmented_control(key=field(name, uid, "scale")).set_value("ordinal"))
    labels = [o["label"] for o in draft_of(app)["criteria"][0]["options"]]
    assert labels == ["Absent", "In part", "Whole"]
    assert "Absent" in [t.value for t in app.text_input]


def side(app: AppTest, which: str) -> AppTest:
    key = state.key(RUBRIC_SIDE, name_of(app))
    return done(app.segmented_control(key=key).set_value(which))


def test_the_preview_shows_the_instructions_of_a_judge_or_panel_in_their_places(
    store: Store,
) -> None:
    rubric = saved(store)
    app = side(open_page(PAGE, rubric=rubric), "Preview")
    key = state.key(RUBRIC_PREVIEW, "instructions")
    assert key not in [one.key for one in app.selectbox]  # nobody has any
    says = {"name": "Strict", "model": "m", "instructions": "Be strict on {criterion}."}
    registry.save_judge(store, says)
    app = side(open_page(PAGE, rubric=rubric), "Preview")
    assert "Be strict on" not in shown(app)
    app.selectbox(key=key).set_value("judge Strict").run()
    name = FULL.criteria[0].name
    assert f"Be strict on {name}." in shown(app).replace("\u2060", "")


def test_the_preview_shows_the_prompt_and_another_order_on_request(store: Store) -> None:
    app = side(open_page(PAGE, rubric=saved(store)), "Preview")
    assert "Is clear." in shown(app)
    assert "Ice floats" in shown(app)
    seen = {shown(app).split("Shown in this order")[1][:600]}
    for _ in range(6):
        press(app, "shuffle")
        seen.add(shown(app).split("Shown in this order")[1][:600])
    assert len(seen) > 1


def test_the_simulator_scores_and_explains(store: Store) -> None:
    app = side(open_page(PAGE, rubric=saved(store)), "Scoring")
    name = name_of(app)
    # All 20 points, but Depth is below High: its gate caps the score at 0.4.
    assert app.metric[0].value == "0.40".replace(".", "&#46;")
    press(app, name, "try", "Fewest points")
    # Clear UNMET: 0; Depth High takes 4; Tone Cold: 0. Raw -4 of 20, clamped to 0.
    assert app.metric[0].value == "0.00".replace(".", "&#46;")
    assert "Base score" in shown(app)


def test_an_old_version_is_read_only_and_can_be_started_from(store: Store) -> None:
    name = saved(store)
    changed: Any = {**library.draft_of(store, int(name)), "name": "Second"}
    library.save(store, name, changed)
    app = side(open_page(PAGE, rubric=name), "Versions")
    first = library.version_history(store, int(name))[1].id
    press(app, name, "version", first)
    assert "Version 1, read only" in shown(app)
    press(app, "from")
    assert draft_of(app)["name"] == "Essays"
    press(app, name, "save")
    assert library.latest_version(store, int(name)).number == 3


@pytest.mark.parametrize("address", ["99", "new-gone", "x", "-1", "9" * 30])
def test_an_address_that_leads_nowhere_says_so(address: str) -> None:
    app = open_page(PAGE, rubric=address)
    assert app.warning or app.error
    press(app, "list")
    assert "No rubrics yet" in shown(app)


HOSTILE = "![x](http://evil.test/p.png) :material/home: <img src=x> $a$ \u202e"


def test_hostile_names_never_reach_markdown_as_they_are(store: Store) -> None:
    rubric = FULL.model_dump(mode="json", by_alias=True) | {"name": HOSTILE, "gates": []}
    rubric["criteria"][0] |= {"name": HOSTILE, "requirement": HOSTILE, "section": HOSTILE}
    name = saved(store, Rubric.model_validate(rubric))
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", draft_of(app)["criteria"][0]["uid"])
    for which in ("Preview", "Scoring", "Versions", "Check"):
        side(app, which)
    seen = [b.label for b in app.button] + [s.label for s in app.selectbox]
    seen += [str(t.value) for t in app.title]
    assert not [text for text in seen if "![" in text or ":material/home" in text]
    assert "&lt;img src=x&gt;" in shown(app)
