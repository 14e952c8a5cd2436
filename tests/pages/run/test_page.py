"""The Run page: how far a run is, its items, and one item with every vote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.store.store import Store
from pages.run.figures import RUN_CHART
from pages.run.filters import BY, CELL, DOWN, ITEM_ACT, ITEM_OPEN, LEAST, MOST, ONLY, SORT, VERDICT
from pages.run.item import ALL
from pages.run.open_cell import RUN_GRID
from pages.ui import routes, state
from pages.ui.run_status import RUN_ACT
from tests.pages.conftest import open_page, shown
from tests.pages.graded import FIRST, graded, planned
from tests.pages.grids import grids

PAGE = routes.RUN


def open_run(run_id: int, **address: Any) -> AppTest:
    return open_page(PAGE, run=str(run_id), **address)


def act(app: AppTest, name: str, run_id: int) -> AppTest:
    app.button(key=state.key(RUN_ACT, name, run_id)).click().run()
    assert not app.exception
    return app


def listed(app: AppTest) -> list[str]:
    return [cell.words for cell in grids(app)[0].column("Item")]


def test_without_a_run_the_page_says_where_runs_are() -> None:
    assert "No run is chosen" in shown(open_page(PAGE))


def test_a_run_that_does_not_exist_is_said_to_be_missing() -> None:
    assert "There is no run 99" in shown(open_run(99)).replace("&#46;", ".")


def test_failures_are_told_in_words_and_name_the_variable_to_set(store: Store) -> None:
    text = shown(open_run(graded(store)))

    assert "2 × no key" in text
    assert "Set NO_SUCH_KEY in the environment of the app" in text


def test_addresses_of_a_judge_say_how_it_goes_at_each(store: Store) -> None:
    run_id = graded(store)
    told = {"answered": 5, "lost": 3, "down": True}
    up = {"answered": 1200, "lost": 0, "down": False}
    addresses = {"ann": {"http://a:1/v1": up, "http://b:1/v1": told}}
    store.runs.set_notes(run_id, {"addresses": addresses})
    app = open_run(run_id)
    assert "Calls went to 2 addresses, 1 of them left alone" in [one.label for one in app.expander]
    for words in ("http://b:1/v1", "1,200", "✕ left alone"):
        assert words in shown(app)


def test_what_is_at_the_provider_is_said_and_can_be_stopped(store: Store) -> None:
    run_id = planned(store)
    at = clock.seconds_now()
    lease = store.leases.claim("here:1:a", at=at, seconds=1000)
    assert lease is not None
    for number, status in ((1, "sent"), (2, "taken")):
        batch = store.batches.plan(lease, "ann", f"t{number}", [], guess=0.1, now=clock.now())
        facts = {
            "file": "f",
            "batch": f"b{number}",
            "lines": 6,
            "done": 2,
            "sent": at - 3700,
            "due": at + 300,
        }
        store.batches.update(lease, batch, status=status, said="in_progress", **facts)
    app = open_run(run_id)
    text = shown(app)
    assert "… Waiting for batches" in text
    # The table's line: judge, questions, answered, since when, how, when it is looked at again.
    for words in ("2 of 6", "in progress", "1 batch finished"):
        assert words in text
    act(app, "cancel", run_id)
    assert store.runs.row(run_id).cancel

    # Whoever held it is gone: it is queued, so that somebody tells the provider.
    store.leases.release(lease, "interrupted", now=clock.now())
    assert "This app is not waiting for these" in shown(open_run(run_id))
    act(open_run(run_id), "cancel", run_id)
    assert (store.runs.row(run_id).status, store.runs.row(run_id).cancel) == ("queued", True)


def test_what_was_spent_is_unknown_while_no_price_is_known_and_never_nothing(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    with store.write() as db:
        db.execute("UPDATE run SET cost = 0, cost_unknown = calls")
    app = open_run(run_id)
    assert "cost unknown" in shown(app)
    assert [one.value for one in app.metric if one.label == "Spent so far"] == ["unknown"]


def test_what_a_stop_lost_of_the_calls_is_said(store: Store) -> None:
    run_id = graded(store)
    with store.write() as db:
        db.execute("UPDATE run SET lost = 129")
    assert "129 more calls were out when the run was stopped: they are not counted" in shown(
        open_run(run_id)
    )


def test_retrying_closes_the_failures_and_queues_the_run(store: Store) -> None:
    run_id = graded(store)

    act(open_run(run_id), "retry", run_id)

    assert (store.runs.row(run_id).status, store.runs.row(run_id).failures_open) == ("queued", 0)


def test_a_run_is_cancelled_and_resumed(store: Store) -> None:
    run_id = planned(store)

    app = act(open_run(run_id), "cancel", run_id)
    assert store.runs.row(run_id).status == "cancelled"
    assert "Cancelled" in shown(app)
    act(app, "resume", run_id)

    assert store.runs.row(run_id).status == "queued"


def test_a_run_whose_worker_is_gone_says_so_and_offers_to_resume(store: Store) -> None:
    # The lease ran out a minute before now.
    run_id = graded(store, "running", at=clock.seconds_now() - 120)

    app = open_run(run_id)

    assert "no other has taken over" in shown(app)
    assert app.button(key=state.key(RUN_ACT, "resume", run_id))


def test_items_stand_by_criteria_with_what_each_cell_earned(store: Store) -> None:
    grid = grids(open_run(graded(store)))[0]

    # a: UNMET (0 of 10) and Deep (10 of 10); b: MET alone counts; c: UNMET and Some (5 of 20).
    assert [cell.words for cell in grid.column("Score")] == ["0.50", "1.00", "0.25"]
    assert [cell.words for cell in grid.column("Clear")] == ["UNMET", "MET", "UNMET"]
    assert [cell.tone for cell in grid.column("Clear")] == ["t0", "t4", "t0"]
    # Deep earns all, both judges abstained on b, Some earns half.
    assert [cell.words for cell in grid.column("Depth")] == ["Deep", "abstained", "Some"]
    assert [cell.tone for cell in grid.column("Depth")] == ["t4", "none", "t2"]
    # One of two said UNMET of a; ann failed on c.
    assert [cell.signs for cell in grid.column("Clear")] == ["≠", "", "✕"]
    # b: Depth has half of the weight and was not assessed.
    assert [cell.words for cell in grid.column("Notes")] == [
        *("", "needs a person, 2 abstentions, 50% assessed", "2 failures"),
    ]
    # Means: Clear (0 + 1 + 0) / 3, Depth (1 + .5) / 2 of the two that have a value.
    notes = {head["words"]: head["note"] for head in grid.heads}
    assert (notes["Score"], notes["Clear"], notes["Depth"]) == ("0.58", "33%", "75%")


def test_a_cell_says_in_words_what_its_colour_and_signs_say(store: Store) -> None:
    cell = grids(open_run(graded(store)))[0].column("Clear")[0]

    assert cell.tells == f"{FIRST}, Clear: UNMET, 0% of its best, judges disagree"


def test_a_cell_of_the_address_is_open_beside_the_grid(store: Store) -> None:
    app = open_run(graded(store), cell=[FIRST, "Clear"])

    assert grids(app)[0].opened == json.dumps([FIRST, "Clear"])
    text = shown(app)
    assert "The text is clear." in text
    assert "confidence 0.75" in text
    # Depth is not read: only the open cell is.
    assert "How deep is it?" not in text


def test_the_open_cell_moves_by_criterion_and_by_item_and_closes(store: Store) -> None:
    app = open_run(graded(store), cell=[FIRST, "Clear"])

    app.button(key=state.key(RUN_GRID, "Next criterion")).click().run()
    assert app.query_params[CELL] == [FIRST, "Depth"]
    app.button(key=state.key(RUN_GRID, "Item below")).click().run()
    assert app.query_params[CELL] == ["b", "Depth"]
    assert app.button(key=state.key(RUN_GRID, "Next criterion")).disabled
    app.button(key=state.key(RUN_GRID, "close")).click().run()

    assert CELL not in app.query_params


@pytest.mark.parametrize("cell", [["b"], ["nobody", "Clear"], [FIRST, "Nothing"]])
def test_an_address_of_no_cell_opens_none(store: Store, cell: list[str]) -> None:
    assert grids(open_run(graded(store), cell=cell))[0].opened == ""


def test_a_verdict_that_no_vote_is_for_is_no_disagreement_of_the_judges(store: Store) -> None:
    run_id = graded(store)
    with store.write() as db:
        # Both said Deep; chances may make it Some (soft_mean): none agrees, and nobody disagrees.
        db.execute(
            "UPDATE cell SET option = 1, value = 0.5, agreement = 0, rule = 'soft_mean' "
            "WHERE item_id = ? AND criterion = 'Depth'",
            (FIRST,),
        )

    cell = grids(open_run(run_id))[0].column("Depth")[0]
    assert (cell.words, cell.signs) == ("Some", "≈")
    assert grids(open_run(run_id, criterion="Depth", verdict="split")) == []


def test_settled_cells_of_a_grid_are_marked_and_found(store: Store) -> None:
    run_id = graded(store)
    with store.write() as db:
        db.execute("UPDATE cell SET rule = 'adjudicated' WHERE item_id = 'b'")

    app = open_run(run_id, only="settled")

    assert listed(app) == ["b"]
    assert [cell.signs for cell in grids(app)[0].column("Clear")] == ["◆"]


@pytest.mark.parametrize(
    ("address", "ids"),
    [
        ({SORT: "score"}, ["c", FIRST, "b"]),
        ({SORT: "score", DOWN: "1"}, ["b", FIRST, "c"]),
        ({ONLY: "failures"}, ["c"]),
        ({ONLY: "abstentions"}, ["b"]),
        ({ONLY: "doubt"}, [FIRST]),
        ({LEAST: "0.4", MOST: "0.9"}, [FIRST]),
        ({state.FIND: "snow"}, ["b"]),
        ({state.SYSTEM: "y"}, ["b"]),
        ({state.CRITERION: "Clear", VERDICT: "1"}, [FIRST, "c"]),
        ({state.CRITERION: "Depth"}, ["b"]),
        # Clear is worth 0, 1, 0 to a, b, c; on Depth b has no value, which comes last either way.
        ({SORT: "criterion", BY: "Clear", DOWN: "1"}, ["b", FIRST, "c"]),
        ({SORT: "criterion", BY: "Depth"}, ["c", FIRST, "b"]),
        ({SORT: "system"}, [FIRST, "b", "c"]),
        ({state.CRITERION: "Clear", VERDICT: "split"}, [FIRST]),
        ({state.CRITERION: "Depth", VERDICT: "split"}, []),
        ({state.CRITERION: "Depth", VERDICT: "abstained"}, ["b"]),
        ({state.CRITERION: "Clear", VERDICT: "abstained"}, []),
        ({state.CRITERION: "Clear", VERDICT: "failed"}, ["c"]),
        ({VERDICT: "failed"}, ["c"]),
        ({state.CRITERION: "Clear", VERDICT: "none"}, []),
        ({SORT: "nonsense", LEAST: "x", VERDICT: "-1"}, [FIRST, "b", "c"]),
    ],
)
def test_the_address_says_which_items_are_shown(
    store: Store, address: dict[str, str], ids: list[str]
) -> None:
    app = open_run(graded(store), **address)

    assert (listed(app) if ids else grids(app)) == ids


def test_a_filter_is_written_into_the_address_and_cleared_again(store: Store) -> None:
    app = open_run(graded(store), sort="score")

    app.pills[0].set_value(["failures"]).run()
    assert app.query_params[ONLY] == "failures"
    assert listed(app) == ["c"]
    app.button(key=state.key(RUN_ACT, "clear")).click().run()

    assert len(listed(app)) == 3
    assert set(app.query_params) == {state.RUN}


def test_an_item_shows_what_each_judge_saw_in_its_order(store: Store) -> None:
    text = shown(open_run(graded(store), item=FIRST))

    # ann saw UNMET (option 2 of the rubric) first and chose what she saw second.
    assert "<small>1</small><span>UNMET</span><small>0.00 · option 2</small>" in text
    assert "<small>2</small><span>MET</span><small>1.00 · option 1</small>" in text
    assert "chances: MET 0.25, UNMET 0.75" in text
    assert "confidence 0.75" in text


def test_an_item_opens_on_criteria_by_judges_with_labels_and_verdicts(store: Store) -> None:
    grid = grids(open_run(graded(store), item=FIRST))[0]

    assert [head["words"] for head in grid.heads] == [
        *("Criterion", "Label", "Verdict"),
        *("ann", "bob"),
    ]
    clear, depth = grid.rows
    # The table of tests/pages/graded.py; ✗: the label is not the verdict.
    assert [cell.words for cell in clear] == ["Clear", "MET", "UNMET", "MET", "UNMET"]
    assert [cell.signs for cell in clear] == ["", "✗", "≠", "", ""]
    assert [cell.words for cell in depth] == ["Depth", "Some", "Deep", "Deep", "Deep"]
    assert [cell.tone for cell in depth] == ["plain", "t2", "t4", "t4", "t4"]
    app = open_run(graded(store), item=FIRST)
    assert "≠ judges disagree · ✗ another label" in shown(app)
    failed = grids(open_run(graded(store), item="c"))[0].rows[0]
    assert [cell.words for cell in failed[3:]] == ["✕ no key", "UNMET"]
    gone = grids(open_run(graded(store), item="b"))[0].rows[1]
    assert [cell.words for cell in gone[2:]] == ["abstained", "abstained", "abstained"]


def test_one_judges_reasons_are_read_on_all_criteria_by_one_key(store: Store) -> None:
    app = open_run(graded(store), item=FIRST, judge="ann")

    assert "confidence 0.75" in shown(app)
    assert "<b>bob</b>" not in shown(app)
    assert "How deep is it?" not in shown(app)
    app.button(key=state.key(ITEM_ACT, "Next criterion")).click().run()

    assert (app.query_params[state.AT], app.query_params[state.JUDGE]) == ("Depth", "ann")
    assert "How deep is it?" in shown(app)
    assert "<b>bob</b>" not in shown(app)
    assert app.button(key=state.key(ITEM_ACT, "Next criterion")).disabled
    app.selectbox(key=state.key(ITEM_ACT, "read")).set_value(ALL).run()
    assert "<b>bob</b>" in shown(app)


def test_the_criterion_that_is_open_stays_from_item_to_item(store: Store) -> None:
    app = open_run(graded(store), item=FIRST, at="Depth")

    app.button(key=state.key(ITEM_ACT, "Next")).click().run()

    assert (app.query_params[state.ITEM], app.query_params[state.AT]) == ("b", "Depth")
    assert "How deep is it?" in shown(app)


def test_an_item_opens_at_what_is_remarkable_about_it(store: Store) -> None:
    run_id = graded(store)

    # Of a and c the verdict on Clear is not the label.
    assert "The text is clear." in shown(open_run(run_id, item=FIRST))
    with store.write() as db:
        # Nothing is wrong with b, and votes on Depth disagree.
        db.execute(
            "UPDATE cell SET option = 2, abstained = 0, votes = 2, entropy = 0.5 "
            "WHERE item_id = 'b' AND criterion = 'Depth'"
        )
    assert "How deep is it?" in shown(open_run(run_id, item="b"))


def test_an_item_with_a_filter_of_a_criterion_opens_there(store: Store) -> None:
    app = open_run(graded(store), item=FIRST, criterion="Depth", verdict="2")

    assert "How deep is it?" in shown(app)


def test_right_and_wrong_are_said_in_words_with_the_label_and_its_reason(store: Store) -> None:
    text = shown(open_run(graded(store), item=FIRST))

    assert "✕ wrong: the label is MET" in text
    assert "s reason: It reads well." in text
    assert "✓ as labelled" in text
    assert "a tie, in which the worse answer counts" in text
    assert "options in the order shown" in text
    assert "rubrics?rubric=1" in text
    assert ">weight +10</a>" in text


def test_a_quote_is_marked_in_the_submission_and_an_invented_one_is_told(store: Store) -> None:
    # ann's quote on Depth is in no text.
    text = shown(open_run(graded(store), item=FIRST, at="Depth")).replace("\\", "")

    assert '<mark class="rs-mark">Rain falls.</mark>' in text
    assert text.count("quote not found in the submission") == 1


def test_what_judges_and_pupils_wrote_is_never_markup(store: Store) -> None:
    app = open_run(graded(store), item=FIRST)

    written = [str(e.proto) for e in app.get("html")]
    assert not any("<script>" in text or "\u202e" in text for text in written)
    assert not any("![x](http" in str(m.value) for m in app.markdown)
    assert "**" not in app.title[0].value
    assert "<b>" not in app.title[0].value


def test_prompt_and_reply_are_fetched_only_when_opened(store: Store) -> None:
    run_id = graded(store)
    vote = store.votes.for_item(run_id, FIRST)[0]
    app = open_run(run_id, item=FIRST)
    assert "SENT TO ANN" not in shown(app)

    key = state.key(ITEM_OPEN, "call", vote.call_id, "Clear", "ann", 0)
    app.session_state[key] = True
    app.run()

    assert not app.exception
    assert "SENT TO ANN" in shown(app)
    assert "RAW REPLY" in shown(app)
    assert "100 tokens in · 10 tokens out · cost $0.50 · 0.25 s · 1 try" in shown(app)


def test_next_and_previous_follow_the_filter_and_order(store: Store) -> None:
    app = open_run(graded(store), item=FIRST, sort="score")

    app.button(key=state.key(ITEM_ACT, "Previous")).click().run()
    assert app.query_params[state.ITEM] == "c"
    assert app.button(key=state.key(ITEM_ACT, "Previous")).disabled
    app.button(key=state.key(ITEM_ACT, "Next")).click().run()
    app.button(key=state.key(ITEM_ACT, "Next")).click().run()

    assert app.query_params[state.ITEM] == "b"
    assert "3 of 3" in shown(app)


def test_a_cell_nobody_could_answer_has_no_verdict(store: Store) -> None:
    text = shown(open_run(planned(store), item="c"))

    assert "No score yet" in text
    assert "Not asked yet: ann, bob" in text


def test_the_histogram_in_words_never_calls_one_of_three_scores_most(store: Store) -> None:
    scores = open_run(graded(store), view="scores").get("plotly_chart")[0].proto.alt

    assert scores.startswith("Histogram of 3 scores, mean 0.")
    assert scores.endswith(", has 1.")
    assert "most" not in scores


def test_verdicts_are_counted_and_lead_to_their_items(store: Store) -> None:
    app = open_run(graded(store), view="scores")

    app.button(key=state.key(RUN_CHART, "see", "Clear", 1)).click().run()

    assert listed(app) == [FIRST, "c"]


def test_verdicts_stand_against_labels_beside_the_commonest_answer(store: Store) -> None:
    text = shown(open_run(graded(store), view="labels"))

    # Clear: one of three verdicts is MET, and all three labels are. The interval is that of the
    # Agreement page and of the report: Wilson's with t on 2 (4.3027), of 1/3 on 3 items.
    assert "33%" in text
    assert "2% to 94%" in text
    assert "100%" in text
    # Three alike labels are 3 of 3, whose own interval begins at 44% (3 / (3 + 3.8415)): it is not
    # above, but three items do not show that it is below.
    assert "▼ not above" in text
    assert "▼ clearly below" not in text


def test_the_plan_names_versions_judges_and_what_settles_votes(store: Store) -> None:
    text = shown(open_run(graded(store), view="plan"))

    assert "Essays *starred*, version 1" in text
    assert "yes/no: majority; levels: mean" in text
    assert "openai/m" in text


def test_grades_are_taken_home_from_the_run_by_one_click(store: Store) -> None:
    (grades,) = open_run(graded(store)).get("download_button")
    assert grades.label == "Grades (Excel)"
    assert open_run(graded(store, "running", at=clock.seconds_now())).get("download_button") == []
