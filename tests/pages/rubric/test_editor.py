"""The editor under the hands of somebody who types on: comments, saving, sections, sizes."""

from __future__ import annotations

import re

from pydantic import BaseModel
from streamlit.testing.v1 import AppTest

from core.domain.gates import ScoringPolicy
from core.domain.rubric import Criterion, Option, Rubric
from core.services.rubrics import library
from core.store.store import Store
from pages.rubric.form import keyboard
from pages.rubric.weights import WEIGHTS_ACT, WEIGHTS_SOURCE, WEIGHTS_TEXT
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_SIDE, RUBRICS_ACT, RUBRICS_TEXT
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import (
    PAGE,
    done,
    draft_of,
    field,
    name_of,
    press,
    saved,
    type_yaml,
    view,
    yaml_of,
)
from tests.services.versions.edited_run import changed

THREE = Rubric(
    name="Three",
    criteria=(
        Criterion(name="A", requirement="Is it a?", weight=6, section="First"),
        Criterion(name="B", requirement="Is it b?", weight=4, section="First", tags=("x",)),
        Criterion(name="C", requirement="Is it c?", weight=-2, section="Second"),
    ),
)


def test_a_weight_is_changed_in_its_line_without_opening_the_card(store: Store) -> None:
    name = saved(store, THREE)
    app = open_page(PAGE, rubric=name)
    uids = [criterion["uid"] for criterion in draft_of(app)["criteria"]]
    lines = [app.number_input(key=field(name, uid, "weight")) for uid in uids]
    assert [line.label for line in lines] == [f"Weight of {one}" for one in "ABC"]
    assert [line.value for line in lines] == [6.0, 4.0, -2.0]

    done(lines[2].set_value(-3.0))

    assert draft_of(app)["criteria"][2]["weight"] == -3.0
    press(app, name, "save")
    # Weights 6 and 4, and now -3.
    assert [c.weight for c in library.latest_version(store, int(name)).rubric.criteria] == [
        6,
        4,
        -3,
    ]


def without_widget(
    app: AppTest, noun: type[BaseModel], *ids: str, **named: tuple[str, ...]
) -> set[str]:
    """The fields of a noun that no widget on the page edits; ``named`` are keyed otherwise."""
    known = {
        what: field(name_of(app), *ids, *named.get(what, (what,))) for what in noun.model_fields
    }
    return {what for what, key in known.items() if key not in app.session_state}


def test_every_field_has_a_widget(store: Store) -> None:
    levels = [{"label": "Low", "value": 0}, {"label": "High", "value": 1}]
    deep = changed(THREE.criteria[0], scale="ordinal", options=levels)
    app = open_page(PAGE, rubric=saved(store, THREE.model_copy(update={"criteria": (deep,)})))
    criterion = draft_of(app)["criteria"][0]
    uid, option = criterion["uid"], criterion["options"][0]["uid"]
    press(app, name_of(app), "toggle", uid)
    named = {"weight": ("points",), "section": ("section", "First"), "options": (option, "label")}
    # Notes are written in YAML; an option becomes an abstention by its menu.
    assert without_widget(app, Criterion, uid, **named) == {"meta"}
    assert without_widget(app, Option, uid, option) == {"na"}

    press(app, name_of(app), "toggle", drafts.ABOUT)
    # These have cards of their own, or need partial credit to be chosen.
    cards = {"criteria", "scoring", "gates", "prechecks", "decision", "meta"}
    assert without_widget(app, Rubric) == cards
    assert without_widget(app, ScoringPolicy) == {"partial_credit", "length_penalty"}


def test_of_comments_one_is_told_before_saving_in_every_view(store: Store) -> None:
    name = saved(store, THREE)
    app = view(open_page(PAGE, rubric=name), "YAML")
    told = "Line 1 holds a comment"
    assert told not in shown(app)
    type_yaml(app, "# by Ada\n" + yaml_of(app).replace("Is it a?", "Is it an a?"))
    assert told in shown(app)
    assert told in shown(view(app, "Form"))
    press(app, name, "save")
    assert told not in shown(app)
    assert "Ada" not in yaml_of(view(app, "YAML"))


def test_of_comments_in_a_file_one_is_told_when_it_is_read() -> None:
    app = press(open_page(PAGE), "import", family=RUBRICS_ACT)
    text = "name: R\ncriteria:\n  - name: A # why\n    requirement: Is it?\n"
    done(app.text_area(key=RUBRICS_TEXT).set_value(text))
    press(app, "read", family=RUBRICS_ACT)
    assert "Line 3 holds a comment." in shown(app)


def test_saving_what_has_not_changed_makes_no_version(store: Store) -> None:
    name = saved(store, THREE)
    app = press(open_page(PAGE, rubric=name), name, "save")
    assert "Nothing has changed since the last version" in app.toast[0].value
    assert library.latest_version(store, int(name)).number == 1


def test_a_section_is_chosen_among_those_there_are_or_taken_away(store: Store) -> None:
    name = saved(store, THREE)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][2]["uid"]
    press(app, name, "toggle", uid)
    section = app.selectbox(key=field(name, uid, "section", "Second"))
    assert section.options == ["First", "Second"]
    done(section.set_value("First"))
    assert draft_of(app)["criteria"][2]["section"] == "First"
    done(app.selectbox(key=field(name, uid, "section", "First")).set_value(None))
    assert draft_of(app)["criteria"][2]["section"] == ""


def test_the_tags_of_other_criteria_are_offered(store: Store) -> None:
    name = saved(store, THREE)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    assert app.multiselect(key=field(name, uid, "tags")).options == ["x"]


def test_the_form_says_what_can_be_won_and_lost_in_all_and_by_section(store: Store) -> None:
    text = shown(open_page(PAGE, rubric=saved(store, THREE)))
    # 6 + 4 can be won, 2 taken away; the first section has the first two.
    assert "3 criteria · 10 points · −2 by penalties" in text
    assert "2 criteria · 10 points" in text
    assert "1 criterion · 0 points · −2 by penalties" in text


def test_lines_of_the_yaml_are_numbered_and_wrong_ones_marked(store: Store) -> None:
    app = view(open_page(PAGE, rubric=saved(store, THREE)), "YAML")
    type_yaml(app, "name: R\ncriteria:\n  - name: A\n    requirement: ''\n    wieght: 3\n")
    marked = re.findall(r"title=[^>]*>(\d+) ▸<", shown(app))
    assert marked == ["4", "5"]


def test_a_new_criterion_is_where_the_cursor_goes_and_the_next_is_like_it(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    press(app, name, "add", "three")
    uid = draft_of(app)["criteria"][-1]["uid"]
    assert app.session_state[state.key(keyboard.FRESH, name)] == uid
    assert app.session_state[state.key(keyboard.TEMPLATE, name)] == "three"


def test_weights_come_from_a_pasted_gradebook_without_texts(store: Store) -> None:
    rubric = Rubric(
        name="Two",
        criteria=(Criterion(name="A", requirement="A?"), Criterion(name="B", requirement="B?")),
    )
    name = saved(store, rubric)
    app = open_page(PAGE, rubric=name)
    done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Scoring"))
    source = app.segmented_control(key=state.key(WEIGHTS_SOURCE, name))
    done(source.set_value("A table"))
    # A is worth 6 and B 3 in every row.
    table = "id,A,B,total\nann,MET,MET,9\nbob,MET,UNMET,6\ncem,UNMET,MET,3\ndia,UNMET,UNMET,0"
    field_of = app.text_area(key=state.key(WEIGHTS_TEXT, name))
    done(field_of.set_value(table))
    assert "Inferred weights" in shown(app)
    app = press(app, name, family=WEIGHTS_ACT)
    assert [c["weight"] for c in draft_of(app)["criteria"]] == [6.0, 3.0]
    done(app.text_area(key=state.key(WEIGHTS_TEXT, name)).set_value("id,points\nx,3"))
    assert "No column is named like a criterion" in shown(app)
