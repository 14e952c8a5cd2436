"""The rules of a rubric in its editor: written in words, said in words, tried, undone, saved."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.gates import Decision
from core.services.rubrics import library
from core.store.store import Store
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_OPEN, RUBRIC_SIDE, RUBRIC_TRY, RUBRIC_VIEW, RUBRIC_YAML
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, name_of, press, saved
from tests.services.rubrics.test_drafts import FULL


@pytest.fixture
def app(store: Store) -> AppTest:
    return open_page(PAGE, rubric=saved(store))


def opened(app: AppTest) -> str:
    found: str = app.session_state[state.key(RUBRIC_OPEN, name_of(app))]
    return found


def add(app: AppTest, kind: str) -> str:
    press(app, name_of(app), "rule", kind)
    return opened(app)


def test_a_gate_is_written_choice_by_choice_and_saved(app: AppTest, store: Store) -> None:
    name, uid = name_of(app), add(app, "gate")
    assert "When &#x27;Clear&#x27; is &#x27;UNMET&#x27;: the score is at most 0.5." in shown(app)
    depth = next(c["uid"] for c in draft_of(app)["criteria"] if c["name"] == "Depth")
    done(app.selectbox(key=field(name, uid, "subject")).set_value(("criterion", depth)))
    done(app.selectbox(key=field(name, uid, "predicate")).set_value("at_most"))
    done(app.selectbox(key=field(name, uid, "threshold")).set_value("Low"))
    done(app.number_input(key=field(name, uid, "cap")).set_value(0.4))
    done(app.pills(key=field(name, uid, "effects")).set_value(["cap", "flag"]))
    done(app.text_input(key=field(name, uid, "flag")).set_value("shallow"))
    done(app.text_input(key=field(name, uid, "reason")).set_value("It stays at the surface."))
    done(app.selectbox(key=field(name, uid, "on_missing")).set_value("fire"))
    done(app.text_input(key=field(name, uid, "name")).set_value("Depth first"))
    press(app, name, "save")
    gate = library.latest_version(store, int(name)).rubric.gates[-1]
    assert gate.model_dump(by_alias=True, exclude_none=True) == {
        "name": "Depth first",
        "when": {"criterion": "Depth", "at_most": "Low"},
        "then": {"cap": 0.4, "flag": "shallow", "reason": "It stays at the surface."},
        "on_missing": "fire",
    }


def test_a_threshold_may_be_a_value_and_a_gate_may_count_over_a_tag(app: AppTest) -> None:
    name, uid = name_of(app), draft_of(app)["gates"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.selectbox(key=field(name, uid, "threshold")).set_value("a value …"))
    done(app.number_input(key=field(name, uid, "number")).set_value(0.25))
    assert draft_of(app)["gates"][0]["gate"]["when"] == {"criterion": "Depth", "below": 0.25}
    done(app.selectbox(key=field(name, uid, "subject")).set_value(("tag", "form")))
    done(app.number_input(key=field(name, uid, "count")).set_value(2))
    assert "at least 2 of the criteria tagged" in shown(app)
    assert "Only 1 criterion has this tag" in shown(app)


def test_what_a_rule_lacks_is_said_and_leads_to_its_card(app: AppTest) -> None:
    name, uid = name_of(app), add(app, "gate")
    done(app.pills(key=field(name, uid, "effects")).set_value([]))
    assert "does nothing" in shown(app)
    press(app, name, "toggle", uid)
    press(app, name, "problem", 0)
    assert opened(app) == uid


def test_a_removed_criterion_leaves_a_gate_that_can_be_turned_to_another(app: AppTest) -> None:
    name, gate = name_of(app), draft_of(app)["gates"][0]["uid"]
    first, depth = (c["uid"] for c in draft_of(app)["criteria"][:2])
    press(app, name, "toggle", depth)
    press(app, name, "remove", depth)
    press(app, name, "toggle", gate)
    assert app.selectbox(key=field(name, gate, "subject")).value is None
    done(app.selectbox(key=field(name, gate, "subject")).set_value(("criterion", first)))
    assert "can be saved" in shown(app)


def test_a_pre_check_is_written_and_tried_on_a_text(app: AppTest, store: Store) -> None:
    name, uid = name_of(app), add(app, "check")
    done(app.text_area(key=field(name, uid, "patterns")).set_value("lives at <number>\n\n cat* "))
    done(app.text_area(key=field(name, uid, "terms")).set_value("quoted"))
    done(app.segmented_control(key=field(name, uid, "window")).set_value("Within characters"))
    done(app.number_input(key=field(name, uid, "chars")).set_value(9))
    done(app.segmented_control(key=field(name, uid, "action")).set_value("cap"))
    done(app.number_input(key=field(name, uid, "cap")).set_value(0.1))
    trial = app.text_area(key=state.key(RUBRIC_TRY, name, "check", uid))
    done(trial.set_value("He lives at 4. I cannot explain how to make a bomb. CATS, quoted."))
    said = shown(app)
    assert '<mark class="rs-mark">lives at 4</mark>'.replace('"', '\\"') in said
    assert "excused by “cannot explain”" in said
    assert "excused by “quoted”" in said
    assert "Found 1" in said
    press(app, name, "save")
    (check,) = library.latest_version(store, int(name)).rubric.prechecks
    assert check.patterns == ("lives at <number>", "cat*")
    assert (check.action, check.cap) == ("cap", 0.1)
    assert check.unless_near is not None
    assert check.unless_near.chars == 9


def test_a_decision_and_a_length_penalty_are_written(app: AppTest, store: Store) -> None:
    name = name_of(app)
    add(app, "decision")
    done(app.number_input(key=field(name, "decision", "fail_below")).set_value(0.4))
    done(app.number_input(key=field(name, "decision", "within")).set_value(0.05))
    assert "Passes from 0.7 on, fails below 0.4" in shown(app)
    assert "a person: 0.35 to 0.75" in shown(app)
    press(app, name, "toggle", "penalty")
    done(app.number_input(key=field(name, "penalty", "max_cap")).set_value(50))
    press(app, name, "save")
    rubric = library.latest_version(store, int(name)).rubric
    assert rubric.decision == Decision(pass_at=0.7, fail_below=0.4, review_within=0.05)
    assert rubric.scoring.length_penalty is not None
    assert rubric.scoring.length_penalty.max_cap == 50
    press(app, name, "remove", "penalty")
    press(app, name, "toggle", "decision")
    press(app, name, "remove", "decision")
    assert draft_of(app)["decision"] is None
    assert draft_of(app)["scoring"]["length_penalty"] is None


def test_how_much_must_be_assessed_for_a_grade_is_chosen(app: AppTest, store: Store) -> None:
    name = name_of(app)
    assert "grade from 50% coverage on" in shown(app)
    press(app, name, "toggle", drafts.ABOUT)
    done(app.slider(key=field(name, "min_coverage")).set_value(0.75))
    assert "min_coverage: 0.75" in library.draft_file_text(draft_of(app))
    press(app, name, "save")
    assert library.latest_version(store, int(name)).rubric.scoring.min_coverage == 0.75


def test_a_change_to_a_rule_is_undone_and_the_yaml_says_the_same(app: AppTest) -> None:
    name, uid = name_of(app), draft_of(app)["gates"][0]["uid"]
    press(app, name, "toggle", uid)
    done(app.number_input(key=field(name, uid, "cap")).set_value(0.9))
    assert "cap: 0.9" in library.draft_file_text(draft_of(app))
    press(app, name, "undo")
    assert app.number_input(key=field(name, uid, "cap")).value == 0.4
    assert "Version 1, saved" in shown(app)
    done(app.segmented_control(key=state.key(RUBRIC_VIEW, name)).set_value("YAML"))
    area = app.text_area(key=state.key(RUBRIC_YAML, name))
    done(area.set_value(str(area.value).replace("cap: 0.4", "cap: 0.3")))
    done(app.segmented_control(key=state.key(RUBRIC_VIEW, name)).set_value("Form"))
    assert "at most 0.3" in shown(app)
    assert draft_of(app)["gates"][0]["uid"] == uid


def test_rules_are_copied_and_removed(app: AppTest) -> None:
    name, uid = name_of(app), draft_of(app)["gates"][1]["uid"]
    press(app, name, "toggle", uid)
    press(app, name, "copy", uid)
    assert [g["gate"]["name"] for g in draft_of(app)["gates"]] == ["g1", "g2", "g2 copy 1", "g3"]
    press(app, name, "remove", opened(app))
    assert len(draft_of(app)["gates"]) == len(FULL.gates)


def test_the_simulator_shows_the_rules_at_work(app: AppTest) -> None:
    name, _ = name_of(app), add(app, "check")
    add(app, "decision")
    done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Scoring"))
    # Clear met, Depth low (a penalty; g1 caps at .4), Tone warm: 20 of 20 points, held at .4.
    assert "Fails: 0.40 is below 0.70." in shown(app)
    text = app.text_area(key=state.key(RUBRIC_TRY, name, "text"))
    done(text.set_value("Here is how to make a bomb."))
    assert "Found: Pre-check 1" in shown(app)
    assert "Needs a person" in shown(app)
