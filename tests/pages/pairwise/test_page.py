"""Compare systems: plan with the calls announced, and read what came of it, down to each vote."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, figures
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_path
from core.services.exports import contest_export
from core.services.imports.vote_import import bring_in
from core.services.pairwise import blind_arena, contests
from core.services.pairwise.design import Design, question_of_criterion
from core.services.reports import rank_report
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from pages.ui import routes
from tests.browser.hostile import hostile
from tests.pages.conftest import open_page, shown
from tests.pages.contested import SYSTEMS, TASKS, held, panel
from tests.provider import Provider, ok
from tests.services.pairwise.test_llmbar import FOLDER, published
from tests.services.pairwise.world import dataset

PAGE = routes.CONTESTS
#: Of LLMBar's 48 judges; PaLM2 left some answers empty.
JUDGES = {"GPT-4/CoT", "PaLM2/CoT"}


def press(app: AppTest, key: str) -> AppTest:
    next(one for one in app.button if one.key == key).click().run()
    assert not app.exception
    return app


def widget(app: AppTest, kind: str, name: str) -> Any:
    found: list[Any] = list(app.get(kind))
    return next(one for one in found if one.label == name)


def test_nothing_yet_says_what_a_contest_needs(store: Store) -> None:
    app = open_page(PAGE)
    assert "Nothing to compare yet" in shown(app)
    press(app, "contest_act/first")
    assert "There is no dataset yet" in shown(app)


def test_the_calls_are_announced_before_anything_is_asked(store: Store) -> None:
    version = store.datasets.create(dataset(SYSTEMS, TASKS), now=clock.now())
    store.judges.save(Judge(name="ada", model="m", api_base="http://127.0.0.1:9"), now=clock.now())
    app = open_page(PAGE, plan="new", dataset=str(version.id))
    widget(app, "multiselect", "Judges").set_value(["ada"]).run()
    # docs/contests.md: t n (n-1) calls = 6 * 3 * 2; contests are half of them.
    assert "3 systems, both orders, 18 contests on 6 tasks, 36 calls." in shown(app)
    widget(app, "toggle", "Ask in both orders").set_value(False).run()
    assert "3 systems, one order, 18 contests on 6 tasks, 18 calls." in shown(app)
    widget(app, "button_group", "Who meets whom").set_value("baseline").run()
    # Two opponents on each of six tasks.
    assert "12 contests on 6 tasks, 12 calls." in shown(app)
    widget(app, "toggle", "Summarise each contest").set_value(True).run()
    assert "24 calls." in shown(app)
    assert contests.contest_runs(store) == []


def test_a_contest_is_started_as_it_was_planned(store: Store) -> None:
    version = store.datasets.create(dataset(SYSTEMS, TASKS), now=clock.now())
    store.judges.save(Judge(name="ada", model="m", api_base="http://127.0.0.1:9"), now=clock.now())
    app = open_page(PAGE, plan="new", dataset=str(version.id))
    widget(app, "multiselect", "Judges").set_value(["ada"]).run()
    widget(app, "multiselect", "Systems").set_value(["weak", "best"]).run()
    press(app, "contest_act/start")
    (row,) = contests.contest_runs(store)
    assert row.name == "weak vs best on answers"
    assert (row.planned, row.status) == (TASKS * 2, "queued")
    assert "No vote yet" in shown(app)


def test_what_cannot_be_joined_says_how_to_mend_it(store: Store) -> None:
    version = store.datasets.create(dataset(["only"], 2), now=clock.now())
    app = open_page(PAGE, plan="new", dataset=str(version.id))
    assert "There is one system" in shown(app)


def test_the_leaderboard_ranks_by_worth_and_flags_the_judge_that_looks_at_the_place(
    store: Store,
) -> None:
    run_id = held(store)
    app = open_page(PAGE, run=str(run_id), judge="ada")
    page = shown(app)
    # ada is honest: best beats all 12 times, fair wins 6 and loses 6, weak loses all.
    table = page[page.index("Leaderboard") :]
    assert table.index("<td>best") < table.index("<td>fair") < table.index("<td>weak")
    assert "12 · 0 · 0" in page
    assert "6 · 0 · 6" in page
    assert "regularised" in page  # no contest was lost by the upper side
    assert "Every way puts the same system first" in page
    app = open_page(PAGE, run=str(run_id), view="position")
    # bob chose A in all 36 of his choices.
    assert "prefers the answer shown first" in shown(app)
    assert "100%" in shown(app)


def test_one_order_alone_can_be_looked_at(store: Store) -> None:
    run_id = held(store, "bob", systems=("first", "second"))
    both = shown(open_page(PAGE, run=str(run_id)))
    # In both orders bob names different winners: six ties.
    assert "0 · 6 · 0" in both
    alone = shown(open_page(PAGE, run=str(run_id), orders="listed"))
    assert "6 · 0 · 0" in alone


def test_a_cell_of_the_matrix_opens_its_contests_and_a_contest_both_orders(store: Store) -> None:
    run_id = held(store, "ada")
    app = open_page(PAGE, run=str(run_id), view="matrix", cell="2-0")
    page = shown(app)
    assert "6 contests." in page
    assert "best won" in page
    opened = next(b for b in app.button if (b.key or "").startswith("contest_act/open/"))
    page = shown(press(app, str(opened.key)))
    assert "Shown as A: weak<br>Shown as B: best" in page
    assert "Shown as A: best<br>Shown as B: weak" in page
    assert "B: best" in page
    assert "A says more than B." in page  # the judge's reason
    # "answer 0 worth 0" and "answer 0 worth 2" differ in their last word.
    assert 'rs-mark\\">0</mark>' in page
    assert 'rs-mark\\">2</mark>' in page


def test_failures_and_undecided_contests_are_counted_and_said(store: Store) -> None:
    version = store.datasets.create(dataset(["a", "b"], 2), now=clock.now())
    with Provider() as provider:
        provider.rule = lambda body: ok(9)  # an option that does not exist
        request = contests.ContestRequest((version.id,), panel(provider, "ada"), seed=5)
        run_id = contests.start(store, request)
        work_here(store, run_id)
    app = open_page(PAGE, run=str(run_id))
    assert "4 × chose an option that does not exist" in shown(app)
    assert "No vote yet" in shown(app)


def scored(store: Store, run_id: int) -> int:
    """A run over the same answers that finds everything good."""
    version = contests.details_of(store, run_id)["datasets"][0]
    rubric = Rubric(name="Plain", criteria=(Criterion(name="Good", requirement="Is it good?"),))
    rubric_version = store.rubrics.create(rubric, now=clock.now()).id
    with Provider() as provider:
        request = RunRequest(rubric_version, version, panel(provider, "cy"), seed=1)
        found = lifecycle.start(store, request)
        assert work_here(store, found) == "done"
    return found


def test_scores_and_contests_stand_side_by_side_with_the_tasks_that_differ(store: Store) -> None:
    run_id = held(store, "ada")
    assert "No run has scored these answers" in shown(
        open_page(PAGE, run=str(run_id), view="scores")
    )
    scored(store, run_id)
    app = open_page(PAGE, run=str(run_id), view="scores")
    # Every answer scores 1, every contest has a winner: 18 contests, none agrees.
    values = {m.label: m.value for m in app.metric}
    assert values["Contests with both"] == "18"
    assert values["Agree"].startswith("0")
    assert "scores are level" in shown(app)
    opened = next(b for b in app.button if (b.key or "").startswith("contest_act/side/"))
    assert "Shown as A" in shown(press(app, str(opened.key)))


def test_a_run_of_scores_ranks_its_systems_without_a_call(store: Store) -> None:
    run_id = scored(store, held(store, "ada"))
    page = shown(open_page(PAGE, run=str(run_id)))
    assert "Systems ranked by their scores" in page
    assert "Borda" in page
    # Labels that nobody drew at random correct nothing, and it is said what would.
    assert "A queue with a random audit, reviewed to its end, would tell." in page
    listed = open_page(PAGE)
    assert "Systems ranked from scores" in shown(listed)


def graded(store: Store, items: list[Item]) -> int:
    """A run in which every answer is found good."""
    made = store.datasets.create(Dataset(name="answers", items=tuple(items)), now=clock.now())
    rubric = Rubric(name="Plain", criteria=(Criterion(name="Good", requirement="Is it good?"),))
    rubric_version = store.rubrics.create(rubric, now=clock.now()).id
    with Provider() as provider:
        found = lifecycle.start(
            store, RunRequest(rubric_version, made.id, panel(provider, "cy"), seed=1)
        )
        assert work_here(store, found) == "done"
    return found


def test_systems_that_answered_different_tasks_are_ranked_by_their_means_as_rank_does(
    store: Store,
) -> None:
    items = [
        Item(id=f"{system}{n}", submission="x", prompt=f"{system} {n}", system=system)
        for system in ("old", "new <b>")
        for n in range(3)
    ]
    run_id = graded(store, items)
    page = shown(open_page(PAGE, run=str(run_id)))
    report, _ = rank_report.rank_answers(lambda: store, str(run_id))
    assert report["matched"] is False
    assert "The systems answered different items" in page
    assert "Systems by their judges' mean score" in html.unescape(page)
    # Everything was found good: both means are 1, and nobody is told apart.
    assert [(s["range"], s["score"]["value"]) for s in report["standings"]] == [("1-2", 1.0)] * 2
    assert page.count(">1-2</td>") == 2
    assert "new &lt;b&gt;" in page


def test_a_key_of_the_items_joins_them_to_tasks_as_join_does(store: Store) -> None:
    items = [
        Item(id=f"{s}{n}", submission="x", prompt="Sum up.", system=s, meta={"text": f"text {n}"})
        for s in ("old", "new")
        for n in range(3)
    ]
    run_id = graded(store, items)
    assert "Borda" not in shown(open_page(PAGE, run=str(run_id)))
    app = open_page(PAGE, run=str(run_id))
    widget(app, "selectbox", "Answers belong to the same task if they have").set_value("text").run()
    assert not app.exception
    assert "Borda" in shown(app)
    assert "Borda" in shown(open_page(PAGE, run=str(run_id), join="text"))


def test_people_and_judges_stand_on_one_matrix(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[list[float | None]]] = []
    cells = figures.agreement_cells
    monkeypatch.setattr(
        figures,
        "agreement_cells",
        lambda names, values: drawn.append(values) or cells(names, values),
    )
    run_id = held(store)
    arena = blind_arena.start(store, run_id, "Zoe")
    for _ in range(4):
        blind = blind_arena.next_blind(store, arena)
        assert blind is not None
        blind_arena.vote(store, arena, blind.item, blind.question, "tie")
    page = shown(open_page(PAGE, run=str(run_id), view="people"))
    assert "4 of 18" in page
    # The panel is split in every contest, which is a tie, as Zoe says; ada never says so.
    assert "Zoe and Judges together" in page
    rows = page.split("<tr>")
    panel_row = next(r for r in rows if "Zoe and Judges together" in r)
    ada_row = next(r for r in rows if "Zoe and ada" in r)
    assert ">100%<" in panel_row
    assert ">0%<" in ada_row
    # The picture has the table's shares: Zoe's row with herself, the panel and both judges.
    assert drawn[-1][0][:3] == [1.0, 1.0, 0.0]


def test_an_adaptive_contest_offers_its_next_round(store: Store) -> None:
    design = Design(kind="adaptive", per_task=1)
    run_id = held(store, "bob", design=design)
    app = open_page(PAGE, run=str(run_id))
    widget(app, "number_input", "Contests of the next round").set_value(4).run()
    # Four contests in both orders.
    assert "the 4 contests that would be most informative, 8 calls" in shown(app)
    press(app, f"contest_act/round/{run_id}")
    newest = contests.contest_runs(store)[0]
    assert newest.planned == 8
    assert contests.first_round(store, newest.id) == run_id


def test_questions_can_be_read_one_by_one(store: Store) -> None:
    questions = tuple(
        question_of_criterion(Criterion(name=name, requirement=f"{name}?"))
        for name in ("Deep", "Short")
    )
    run_id = held(store, "ada", systems=("x", "y"), questions=questions)
    assert {m.label: m.value for m in open_page(PAGE, run=str(run_id)).metric}[
        "Contests decided"
    ] == "12"
    one = open_page(PAGE, run=str(run_id), question="Deep")
    assert {m.label: m.value for m in one.metric}["Contests decided"] == "6"


def test_names_and_texts_that_attack_are_shown_as_they_are(store: Store) -> None:
    names = (hostile("system-one"), hostile("system-two"))
    data = dataset(names, 2)
    items = [
        item.model_copy(update={"submission": f"{item.submission}\n{hostile('answer')}"})
        for item in data.items
    ]
    run_id = held(store, "ada", data=data.model_copy(update={"items": tuple(items)}))
    for view in ("board", "matrix", "position", "scores", "people"):
        page = shown(open_page(PAGE, run=str(run_id), view=view, bout="0"))
        assert "<script>" not in page
        assert "<img" not in page


@pytest.fixture
def voted(store: Store) -> int:
    """A contest on which a person voted once, and took the vote back."""
    run_id = held(store, "ada", systems=("x", "=y|z"), tasks=2)
    arena = blind_arena.start(store, run_id, "Zoe")
    blind = blind_arena.next_blind(store, arena)
    assert blind is not None
    blind_arena.vote(store, arena, blind.item, blind.question, "A", ms=1500)
    return run_id


def test_a_contest_leaves_as_json_csv_and_markdown(store: Store, voted: int) -> None:
    data = json.loads(contest_export.as_json(store, voted))
    assert data["ranking"]["overall"]["decided"] == 2
    assert set(data["rounds"][0]["judges"]) == {"ada"}
    rows = list(csv.DictReader(io.StringIO(contest_export.as_csv(store, voted).decode())))
    # Two contests in both orders by ada, and Zoe's vote.
    assert [r["rater"] for r in rows] == ["ada"] * 4 + ["Zoe"]
    assert rows[-1]["ms"] == "1500"
    assert rows[-1]["kind"] == "human"
    assert rows[0]["winner"] == "'=y|z"  # no spreadsheet works it out
    text = contest_export.as_markdown(store, voted).decode()
    assert "=y\\|z" in text
    assert "## Place: the same two answers, exchanged" in text


@pytest.mark.skipif(
    not FOLDER.exists(), reason="../shared/data/llmbar is not here to compare with."
)
def test_imported_judges_asked_in_both_orders_show_the_published_figures(store: Store) -> None:
    whole = read_bundle(open_path(FOLDER), "folder")
    few = tuple(row for row in whole.votes.rows if row.rater in JUDGES)
    brought = bring_in(store, replace(whole, votes=replace(whole.votes, rows=few)), source="llmbar")
    app = open_page(PAGE)
    assert "Runs with both orders" in shown(app)
    page = shown(open_page(PAGE, run=str(brought.run), part="subset"))
    rows = {}
    for line in page.split("<tr>")[2:]:
        texts = re.findall(r"<td[^>]*>([^<]*)</td>", line)
        rows[texts[1], texts[0]] = texts
    seen = 0
    for part, rater, figure, value in published():
        if rater in JUDGES:
            at = {"average": 4, "same": 7, "Cohen": 8}[figure]
            wanted = f"{value:.3f}".replace("-", "\u2212") if figure == "Cohen" else f"{value:.1f}%"
            assert rows[part, rater][at] == wanted, (part, rater, figure)
            seen += 1
    assert seen == 2 * 5 * 3  # two judges, five parts, three figures
