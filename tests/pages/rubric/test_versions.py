"""A rubric's versions on its page: read, compared, and let loose on runs that are graded."""

from __future__ import annotations

from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from core.services.results import scored_items
from core.services.rubrics import library
from core.services.rubrics.draft_criteria import set_criterion
from core.services.rubrics.drafts import draft_from
from core.services.versions import follow_version
from core.store.store import Store
from pages.rubric.versions import applying as keys
from pages.ui import routes, state
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_SIDE
from pages.ui.identity import NAME
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, press
from tests.pages.ways import offered
from tests.services.reviewed import sit
from tests.services.versions.edited_run import (
    DEPTH,
    LEVELS,
    RIGHT,
    SCORES,
    changed,
    graded,
    rubric,
    saved,
    scores,
)

HEAVY = rubric(changed(RIGHT, weight=1), DEPTH)
TRUE = rubric(changed(RIGHT, requirement="It is true."), DEPTH)


def spread(run_id: int, rubric_id: int) -> AppTest:
    return open_page(PAGE, rubric=str(rubric_id), run=str(run_id))


def apply(app: AppTest, run_id: int, version_id: int) -> AppTest:
    done(app.text_input(key=state.key(keys.SPREAD_REASON, "name")).set_value("Lea"))
    return press(app, run_id, version_id, "apply", family=keys.SPREAD_ACT)


def test_the_card_leads_from_the_editor_to_what_a_version_would_change(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, HEAVY)
    name = str(run.rubric_id)
    app = open_page(PAGE, rubric=name)
    done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Versions"))
    assert "asked in 1 run: 1 Run" in shown(app)
    app = press(app, name, "open", run.id, family=keys.SPREAD_ACT)
    text = {metric.label: unescape(metric.value) for metric in app.metric}
    # See tests.services.versions.test_follow_version: 6 of 8 items change, three up, three down.
    assert (text["Items that change"], text["Up · down"]) == ("6 of 8", "3 · 3")
    moved = follow_version.version_difference(store, run.id, new.id).moved
    steps, review = offered(app, store)
    assert set(steps.items) == set(review.items) == {one.item_id for one in moved}
    assert steps.words == "Step through these 6"
    assert (text["Largest change"], text["Mean score"]) == ("−0.25", "0.48 → 0.47")
    assert scores(store, run.id) == SCORES
    apply(app, run.id, new.id)
    assert store.runs.get(run.id).scored_version_id == new.id
    assert scores(store, run.id) != SCORES
    assert [c.actor for c in follow_version.followed_versions(store, run.id)] == ["Lea"]


def test_going_back_is_one_click(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, HEAVY)
    follow_version.follow(store, sit(store, "Lea"), run.id, new.id)
    app = spread(run.id, run.rubric_id)
    done(app.text_input(key=state.key(keys.SPREAD_REASON, "name")).set_value("Tom"))
    press(app, run.id, "back", family=keys.SPREAD_ACT)
    assert scores(store, run.id) == SCORES


def test_without_a_name_nothing_is_applied_and_one_is_told(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, HEAVY)
    app = press(spread(run.id, run.rubric_id), run.id, new.id, "apply", family=keys.SPREAD_ACT)
    assert app.error
    assert scores(store, run.id) == SCORES


@pytest.mark.parametrize(("stands", "stale"), [(True, 0), (False, 8)])
def test_a_changed_question_is_stale_unless_its_answers_may_stand(
    store: Store, stands: bool, stale: int
) -> None:
    run = graded(store)
    new = saved(store, run, TRUE)
    app = spread(run.id, run.rubric_id)
    box = app.checkbox(key=state.key(keys.SPREAD_KEEP, run.id, new.id, "Right"))
    assert not box.value
    done(box.set_value(stands))
    app = apply(app, run.id, new.id)
    assert len(scored_items.stale_cells(store, run.id)) == stale
    assert ("8 cells stale" in str([w.value for w in app.warning])) is bool(stale)
    if stale:
        press(app, run.id, "queue", family=keys.SPREAD_ACT)
        (queue,) = store.queues.list(run.id)
        assert len(store.queues.cells(queue.id)) == 8


def test_merged_options_are_mapped_and_their_votes_carried_over(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, rubric(RIGHT, changed(DEPTH, options=[LEVELS[0], LEVELS[2]])))
    app = spread(run.id, run.rubric_id)
    place = app.selectbox(key=state.key(keys.SPREAD_MOVE, run.id, "option", "Depth", 1, 3))
    assert place.value == -1  # Mid is gone: nobody guesses where its votes belong
    done(place.set_value(1))
    done(app.checkbox(key=state.key(keys.SPREAD_AGAIN, run.id, new.id, "Depth")).set_value(False))
    apply(app, run.id, new.id)
    (made, *_) = store.runs.list()
    # Mid counts as High on items 1, 4, 7 (tests.services.versions.test_carry_votes).
    assert scores(store, made.id) == [0.75, 0.25, 1.0, 0.0, 1.0, 0.25, 0.75, 0.25]
    assert scores(store, run.id) == SCORES


def test_two_versions_are_read_side_by_side(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, TRUE)
    address = {"version": str(new.id), "against": str(run.rubric_version_id)}
    text = shown(open_page(PAGE, rubric=str(run.rubric_id), **address))
    assert "asked otherwise" in text
    assert 'It is <mark class="rs-mark">right</mark>.' in text.replace('\\"', '"')
    assert 'It is <mark class="rs-mark">true</mark>.' in text.replace('\\"', '"')


def test_the_run_says_under_which_version_it_is_scored(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, TRUE)
    assert "The rubric has version 2 by now" in shown(open_page(routes.RUN, run=str(run.id)))
    follow_version.follow(store, sit(store, "Lea"), run.id, new.id)
    text = shown(open_page(routes.RUN, run=str(run.id)))
    assert "Scored under version 2; judges were asked 1" in text
    assert "8 cells stale" in text


def test_saving_leads_to_the_graded_runs_and_keeps_who_saved(store: Store) -> None:
    run = graded(store)
    name = str(run.rubric_id)
    app = open_page(PAGE, rubric=name)
    app.session_state[NAME] = "Lea"
    draft = library.draft_of(store, run.rubric_id)
    draft = set_criterion(draft, draft["criteria"][0]["uid"], "weight", 1.0)
    library.keep(store, name, draft)
    app = open_page(PAGE, rubric=name)
    app.session_state[NAME] = "Lea"
    app = press(app, name, "save")
    assert store.rubrics.latest(run.rubric_id).author == "Lea"
    assert "1 run behind version 2" in str([e.label for e in app.expander])


def test_a_draft_of_a_rubric_without_runs_has_no_card(store: Store) -> None:
    name = str(library.save(store, "x", draft_from(HEAVY)).rubric_id)
    app = open_page(PAGE, rubric=name)
    done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Versions"))
    assert "Graded runs" not in str([e.label for e in app.expander])


def test_a_changed_weight_shows_what_it_would_change_in_the_newest_run_before_it_is_saved(
    store: Store,
) -> None:
    run = graded(store)
    name = str(run.rubric_id)
    app = open_page(PAGE, rubric=name)
    app = done(app.segmented_control(key=state.key(RUBRIC_SIDE, name)).set_value("Scoring"))
    assert "would change" not in shown(app)

    uid = draft_of(app)["criteria"][0]["uid"]
    app = done(app.number_input(key=field(name, uid, "weight")).set_value(1.0))

    # As of the saved version above: 6 of 8 items, three up, three down.
    text = shown(app)
    assert "<b>6 of 8 items would change</b>: 3 up, 3 down" in text
    assert "Mean score 0.48 → <b>0.47</b>" in text
    assert f"run?run={run.id}&amp;item=i0" in text
    assert "−0.25" in text
    assert len(library.version_history(store, run.rubric_id)) == 1
    assert scores(store, run.id) == SCORES


def test_how_many_items_a_changed_weight_moves_stands_beside_save_and_scoring_opens(
    store: Store,
) -> None:
    name = str(graded(store).rubric_id)
    draft, moved = library.draft_of(store, int(name)), state.key(RUBRIC_ACT, name, "rescored")
    library.keep(store, name, draft | {"description": "Without effect on scores."})
    app = open_page(PAGE, rubric=name)
    assert moved not in [button.key for button in app.button]

    uid = draft["criteria"][0]["uid"]
    app = done(app.number_input(key=field(name, uid, "weight")).set_value(1.0))
    # As of the saved version above: 6 of 8 items.
    assert app.button(key=moved).label == "6 items change: 3 up, 3 down"
    assert "6 of 8 items would change" in shown(app)
    assert "Score of the verdicts chosen below" in shown(app)

    # Who goes back to another side stays there until the effect is another one.
    side = state.key(RUBRIC_SIDE, name)
    app = done(app.segmented_control(key=side).set_value("Versions"))
    assert "would change" not in shown(app)
    app = done(app.button(key=moved).click())
    assert "6 of 8 items would change" in shown(app)
