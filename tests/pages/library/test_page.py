"""The Library page: find criteria, look at one as judges see it, put some into a rubric."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.services.rubrics import criterion_packs, library
from core.store.store import Store
from pages.library import adding as keys
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import done, draft_of, name_of, press, saved

PAGE = routes.LIBRARY


def tick(app: AppTest, *wanted: str) -> AppTest:
    for key in wanted:
        done(app.checkbox(key=state.key(keys.LIBRARY_PICK, key)).check())
    return app


def add(app: AppTest) -> AppTest:
    return press(app, "add", family=keys.LIBRARY_ACT)


def test_every_criterion_is_listed_and_the_first_is_shown_with_its_example() -> None:
    app = open_page(PAGE)
    text = shown(app)
    for pack in criterion_packs.all_packs():
        assert pack.title in text
    assert len(app.checkbox) == sum(len(pack.entries) for pack in criterion_packs.all_packs())
    assert "Worked example" in text
    assert "The exact prompt" in str([e.label for e in app.expander])


def test_search_pack_and_answer_narrow_the_list_and_keep_what_was_ticked() -> None:
    app = tick(open_page(PAGE), "rag/Question answered")
    done(app.text_input(key=keys.LIBRARY_SEARCH).set_value("password"))
    assert [b.key for b in app.checkbox] == [state.key(keys.LIBRARY_PICK, "code/Security gap")]
    assert "Add 1 criterion" in [b.label for b in app.button]
    done(app.text_input(key=keys.LIBRARY_SEARCH).set_value("no such words anywhere"))
    assert "Nothing found" in shown(app)
    done(app.text_input(key=keys.LIBRARY_SEARCH).set_value(""))
    done(app.selectbox(key=keys.LIBRARY_PACK).set_value("rag"))
    assert app.checkbox(key=state.key(keys.LIBRARY_PICK, "rag/Question answered")).value


def test_ticked_criteria_become_a_new_rubric_in_the_editor(store: Store) -> None:
    app = add(tick(open_page(PAGE), "rag/Question answered", "rag/Claims found in passages"))
    assert [c["name"] for c in draft_of(app)["criteria"]] == [
        "Claims found in passages",  # in the library's order
        "Question answered",
    ]
    assert draft_of(app)["name"] == "RAG and citations"
    press(app, name_of(app), "save")
    (row,) = library.rubric_rows(store)
    assert row.criteria == 2


def test_the_one_looked_at_goes_into_a_rubric_that_is_there_with_one_click(store: Store) -> None:
    name = saved(store)
    before = len(library.latest_version(store, int(name)).rubric.criteria)
    app = open_page(PAGE, rubric=name)
    press(app, "look", "essays/Side taken", family=keys.LIBRARY_ACT)
    app = add(app)
    assert name_of(app) == name
    assert [c["name"] for c in draft_of(app)["criteria"][before:]] == ["Side taken"]
    kept = library.unsaved_work(store, name)
    assert kept is not None
    assert len(kept.draft["criteria"]) == before + 1


def test_the_editor_leads_to_the_library_and_is_where_its_criteria_go(store: Store) -> None:
    name = saved(store)
    app = press(open_page(routes.RUBRICS, rubric=name), name, "library")
    assert app.selectbox(key=keys.LIBRARY_TARGET).value == name


def test_a_whole_rubric_is_used_with_one_click() -> None:
    app = open_page(PAGE)
    done(app.segmented_control(key=keys.LIBRARY_VIEW).set_value("Whole rubrics"))
    app = press(app, "whole", "essay.yaml", family=keys.LIBRARY_ACT)
    assert draft_of(app)["name"] == "Argumentative essay"


def guided(app: AppTest, wish: bool) -> AppTest:
    return done(app.toggle(key=keys.LIBRARY_GUIDELINES).set_value(wish))


def test_the_guidelines_that_come_along_are_named_read_and_taken_back(store: Store) -> None:
    name = saved(store)
    mine = library.draft_of(store, int(name))["guidelines"]
    (pack,) = (one for one in criterion_packs.all_packs() if one.name == "essays")
    app = open_page(PAGE, rubric=name)
    press(app, "look", "essays/Side taken", family=keys.LIBRARY_ACT)
    # Said before, with their words, in place of the draft's own being changed in silence.
    assert f"Add the guidelines of “{pack.title}”" in [box.label for box in app.toggle]
    assert pack.guidelines.splitlines()[0] in shown(app)

    app = add(app)
    assert draft_of(app)["guidelines"] == f"{mine}\n\n{pack.guidelines}".strip()
    assert f"the guidelines of “{pack.title}” below yours" in shown(app)
    assert "Undo removes both" in shown(app)
    press(app, name, "undo")
    assert draft_of(app)["guidelines"] == mine
    assert "Side taken" not in [c["name"] for c in draft_of(app)["criteria"]]


def test_criteria_can_come_without_the_guidelines(store: Store) -> None:
    name = saved(store)
    mine = library.draft_of(store, int(name))["guidelines"]
    app = open_page(PAGE, rubric=name)
    press(app, "look", "essays/Side taken", family=keys.LIBRARY_ACT)
    app = add(guided(app, False))
    assert draft_of(app)["guidelines"] == mine
    assert "guidelines of" not in shown(app)


def test_guidelines_that_are_there_already_are_not_offered_again(store: Store) -> None:
    app = open_page(PAGE)
    press(app, "look", "essays/Side taken", family=keys.LIBRARY_ACT)
    app = add(app)
    again = open_page(PAGE, rubric=name_of(app))
    press(again, "look", "essays/Side taken", family=keys.LIBRARY_ACT)
    assert not [box for box in again.toggle if box.label.startswith("With the guidelines")]
