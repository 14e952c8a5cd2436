"""Systems in the head of a run's grid, their answers side by side, and sets of items as work."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.review import ReviewerAnswer
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunItemFilter, RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.labelling import settle_at_sight
from core.services.results import browsing
from core.store.store import Store
from pages.queues.outlook import QUEUE_ACT
from pages.run.filters import BESIDE, DIFFER, ONLY
from pages.run.item import ITEM_ACT
from pages.ui import routes, state
from pages.ui.grid.run_cells import APART
from pages.ui.identity import NAME, SESSION
from pages.ui.run_status import RUN_ACT
from tests.pages.conftest import FRAME, open_page, shown, visit
from tests.pages.graded import FIRST, graded
from tests.pages.grids import grids
from tests.pages.run.test_page import listed, open_run
from tests.pages.ui.test_routes import links
from tests.recording import record
from tests.services import reviewed
from tests.services.comparison.world import CLEAR, NOW, RUBRIC, dataset, run_with
from tests.services.reviewed import sit
from tests.services.two_systems import made


def test_the_head_of_a_grid_says_what_each_system_earned_and_how_far_they_are_apart(
    store: Store,
) -> None:
    app = open_run(made(store))

    old, new, gap = grids(app)[0].lines
    # As derived in tests/services/results/test_grid.py: Depth .5 / 3 and 3.5 / 4. Rude takes
    # 5 of 10 from n4, so new scores (1 + .5 + 1 + .5) / 4.
    assert [cell.words for cell in old[:3]] == ["old", "0.17", "17%"]
    assert [cell.words for cell in new[:3]] == ["new", "0.75", "88%"]
    # tests/services/pairwise/test_system_gaps.py: 2/3 on the three tasks of both.
    assert [cell.words for cell in gap[:3]] == [
        "Difference",
        "+0.67 undecided",
        "+0.67 undecided",
    ]
    assert "Undecided between old and new" in shown(app)
    assert "3 shared tasks" in shown(app)


def test_answers_to_a_task_stand_side_by_side_where_that_is_asked_for(store: Store) -> None:
    grid = grids(open_run(made(store), **{BESIDE: "1"}))[0]

    assert [group[:2] for group in grid.groups] == [
        ["", 1],
        ["Score", 2],
        ["Depth", 2],
        ["Rude", 2],
    ]
    assert [head["words"] for head in grid.heads] == ["Task", *["old", "new"] * 3]
    # Task 2: both Some; nobody rude, and the judge abstained on new's.
    assert [cell.words for cell in grid.rows[1][3:]] == ["Some", "Some", "UNMET", "abstained"]


def test_only_tasks_that_differ_can_be_shown_and_the_difference_is_marked(store: Store) -> None:
    run_id = made(store)
    both = {BESIDE: "1", DIFFER: "1"}
    # Tasks 1 and 3 differ in Depth; on 2 it is Some twice, and new's Rude is an abstention.
    assert "3 of 3 tasks differ" in shown(open_run(run_id, **both))
    # Somebody settles it as old's: not rude.
    settle_at_sight.settle(store, sit(store, "Ada"), run_id, [("n2", "Rude")], ReviewerAnswer(1))

    app = open_run(run_id, **both)

    assert "2 of 3 tasks differ" in shown(app)
    first, third = grids(app)[0].rows
    assert [first[0].words, third[0].words] == ["Task 1", "Task 3"]
    # Task 1: Depth None against Deep, both not rude. Task 3: both criteria differ.
    assert [APART in cell.signs for cell in first[3:]] == [True, True, False, False]
    assert [APART in cell.signs for cell in third[3:]] == [True] * 4


def test_a_set_in_the_address_is_a_filter_and_a_list_to_step_through(store: Store) -> None:
    run_id = graded(store)
    word = browsing.packed_set(store, run_id, [FIRST, "c"])

    assert listed(open_run(run_id, set=word)) == [FIRST, "c"]
    app = open_run(run_id, set=word, item=FIRST)
    assert "1 of 2, as filtered" in shown(app)
    app.button(key=state.key(ITEM_ACT, "Next")).click().run()
    assert app.query_params[state.ITEM] == "c"


def test_filtered_items_are_stepped_through_from_the_first(store: Store) -> None:
    app = open_run(graded(store), **{ONLY: "failures"})

    app.button(key=state.key(RUN_ACT, "first")).click().run()

    assert (app.query_params[state.ITEM], app.query_params[ONLY]) == ("c", "failures")
    assert "1 of 1, as filtered" in shown(app)


def test_a_set_and_a_criterion_in_the_address_are_the_queue_of_exactly_these_cells(
    store: Store,
) -> None:
    run_id = graded(store)
    word = browsing.packed_set(store, run_id, [FIRST, "b"])
    reviewed.sit(store, "Ann")
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    app.session_state[NAME], app.session_state[SESSION] = "Ann", "tab"
    address = {"new": "queue", "run": str(run_id), "set": word, "criterion": "Clear"}
    for name, value in {**address, "named": "Judges disagree"}.items():
        app.query_params[name] = value
    visit(app, routes.QUEUES)

    assert "Exactly these 2 items" in shown(app)
    app.button(key=state.key(QUEUE_ACT, "make")).click().run()

    assert not app.exception
    (queue,) = store.queues.list(run_id)
    assert queue.name == "Judges disagree"
    cells = {(cell.item_id, cell.criterion) for cell in store.queues.cells(queue.id)}
    assert cells == {(FIRST, "Clear"), ("b", "Clear")}
    assert set(app.query_params) == {state.QUEUE}


def test_the_headings_of_a_rubric_stand_over_their_criteria(store: Store) -> None:
    parts = ("Form", "Form", None)
    criteria = tuple(
        CLEAR.model_copy(update={"name": f"c{at}", "section": part})
        for at, part in enumerate(parts)
    )
    rubric = RUBRIC.model_copy(update={"name": "Parts", "criteria": criteria})
    said = {"one": {one.name: [0] for one in criteria}}
    run = run_with(store, dataset({"c0": ["MET"]}), said, rubric=rubric)

    (grid,) = grids(open_run(run))
    # Item and score, two criteria under Form, one under nothing, then notes and the text.
    assert [group[:2] for group in grid.groups] == [["", 1], ["", 1], ["Form", 2], ["", 1], ["", 2]]
    assert sum(span for _, span, _ in grid.groups) == len(grid.heads)


LABELS = {"Clear": Label(label="MET"), "Short": Label(label="UNMET")}


def _all_abstain(store: Store, *labels: dict[str, Label]) -> int:
    """A run whose judge abstained on both criteria of two texts with these labels."""
    rubric = Rubric(name="Two", criteria=tuple(_yes_or_no(name) for name in LABELS))
    first, second = labels
    items = (
        Item(id="item-0001", submission="One two three four five six.", labels=first),
        Item(id="item-0002", submission="Two.", labels=second, meta={"Student": "Kay", "n": 1}),
    )
    # An outcome is of one item; the added "cannot assess" stands after the two options.
    away = [
        AskedOutcome(tuple(Vote(Cell(item.id, name, "one"), 2, True) for name in LABELS))
        for item in items
    ]
    plan = RunPlan(
        name="Class",
        rubric_version_id=store.rubrics.create(rubric, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=items), now=NOW).id,
        panel=Panel(judges=(Judge(name="one", kind="classifier"),)),
    )
    run_id = store.runs.create(plan, [(item.id, 2) for item in items], now=NOW).id
    record(store, run_id, rubric, items, away, now=NOW)
    return run_id


def test_what_a_person_labelled_is_graded_by_it_where_judges_abstained_and_says_so(
    store: Store,
) -> None:
    """The second text has labels of both criteria, the first has none."""
    run_id = _all_abstain(store, {}, LABELS)

    app = open_run(run_id)
    (grid,) = grids(app)

    assert [row[0].words for row in grid.rows] == ["One two three four five", "Kay"]
    first, second = (row[1] for row in grid.rows)
    # One of two criteria of one weight is met.
    assert (first.words, second.words, second.signs) == ("no grade", "0.50", "◇")
    assert "by a person's labels; judges abstained" in second.tells
    assert "graded by your labels" in [cell.words for cell in grid.rows[1]]
    # So only the other one is left to people, in the count, in the filter and in the next sitting.
    assert browsing.outcome_counts(store, run_id)["review"] == 1
    waiting = RunItemFilter(review=True)
    assert browsing.run_items(store, run_id, waiting)[1] == 1
    assert browsing.item_ids(store, run_id, waiting, "position", False) == ["item-0001"]
    assert "Grade 1 text yourself" in links(app)


def test_who_labelled_every_text_of_a_run_is_asked_to_grade_none(store: Store) -> None:
    run_id = _all_abstain(store, LABELS, LABELS)
    app = open_run(run_id)
    assert browsing.outcome_counts(store, run_id) == {}
    assert browsing.item_counts(store, run_id, [RunItemFilter(review=True)]) == [0]
    assert not [words for words in links(app) if words.startswith("Grade ")]
    assert "Needs a person" not in shown(app)
    for screen in (routes.RECORD, routes.AGREEMENT):
        there = open_page(screen, run=str(run_id))
        assert not there.exception
        assert not [words for words in links(there) if "yourself" in words]


def _yes_or_no(name: str) -> Criterion:
    return Criterion(name=name, requirement="Is it so?")


def test_means_in_the_head_and_counts_of_filters_follow_the_filter(store: Store) -> None:
    run_id = made(store)
    whole, (part,) = open_run(run_id), grids(open_run(run_id, find="n1"))

    # Each of its seven items has a score.
    assert grids(whole)[0].heads[0]["note"] == "means of 7"
    assert part.heads[0]["note"] == "means of 1 shown"
    assert [line[0].words for line in part.lines] == [
        "old, all items",
        "new, all items",
        "Difference",
    ]
    # Depth of n1 is the best answer.
    assert (part.heads[1]["words"], part.heads[2]["note"]) == ("Score", "100%")
    # Of its items one has an abstention.
    assert "○ Abstentions: 1" in str([one.proto for one in whole.get("button_group")])
