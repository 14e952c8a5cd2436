"""The Start page: the graded example with its figures, and what the user has."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.services.guided import grading
from core.services.reports import worked_example
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest
from core.store.store import Store
from pages.start import drop
from pages.ui import routes
from tests.pages.conftest import open_page, shown, visit
from tests.pages.spot_checks import saved_rubric, worked_off
from tests.pages.ui.test_routes import links
from tests.provider import Provider, ok
from tests.services.guided.test_dropped import BESIDE

PAGE = routes.START
NOW = "2026-03-01T10:00:00.000Z"


def small_example(store: Store, url: str) -> int:
    """A labelled run in the example's place, graded by a model that says MET to everything."""
    rubric = Rubric(name="Tides", criteria=(Criterion(name="Cause", requirement="The Moon."),))
    labels = {"a": "MET", "b": "UNMET", "c": "MET"}
    items = tuple(
        Item(id=i, submission=f"Answer {i}", labels={"Cause": Label(label=label)})
        for i, label in labels.items()
    )
    judge = Judge(name="Ann", model="m", api_base=url, door="openai", shuffle=False, tries=1)
    run_id = start(
        store,
        RunRequest(
            rubric_version=store.rubrics.create(rubric, now=NOW).id,
            dataset_version=store.datasets.create(Dataset(items=items), now=NOW).id,
            panel=Panel(judges=(judge,)),
        ),
    )
    store.settings.put("example_run", run_id)
    return run_id


def test_while_the_example_is_graded_its_progress_is_shown(store: Store) -> None:
    worked_example.ensure_example(store)
    words = shown(open_page(PAGE))
    assert "are learning from short" in words
    assert "Your work" not in words


def test_the_graded_example_shows_its_figures_and_an_answer_it_got_wrong(store: Store) -> None:
    with Provider() as provider:
        provider.rule = lambda body: ok(1)
        worked_off(store, small_example(store, provider.url))
    app = open_page(PAGE)
    words = shown(app)
    # Three labels: 20 are needed. Always MET: 2 of 3 are right.
    assert "verdicts on none of 1 criterion; too few items to tell on 1." in words
    assert "too few items" in words
    assert "67%" in words
    assert worked_example.telling_item(store, 1) == ("b", 1, 1)
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    # Its one judge disagrees with nobody.
    assert not [words for words in links if words.startswith("Settle ")]


def test_own_work_is_listed_once_there_is_some(store: Store) -> None:
    saved_rubric(store)
    app = open_page(PAGE)
    assert "Your work" in [s.value for s in app.subheader]


def test_beside_own_work_the_example_is_a_press_away(store: Store) -> None:
    run_id = worked_example.ensure_example(store)
    assert "Worked example" not in links(open_page(PAGE))
    saved_rubric(store)
    assert links(open_page(PAGE))["Worked example"].endswith(f"run?run={run_id}")


def test_every_kind_of_work_can_be_begun_from_here(store: Store) -> None:
    ways = {button.label for button in open_page(PAGE).button}
    # Graders, importers and rankers have a button; authors and reviewers a place in the sidebar.
    assert {"Grade my texts", "Review my tool's results", "Compare two prompts"} <= ways


def test_where_nothing_is_yet_the_way_in_takes_any_file(store: Store) -> None:
    app = open_page(PAGE)
    assert app.get("file_uploader")[0].label.startswith("Drop anything")


def dropped(name: str, data: bytes, *more: tuple[str, bytes]) -> AppTest:
    """Start after files were dropped there."""
    files = [(one, content, "text/csv") for one, content in ((name, data), *more)]
    return open_page(PAGE).file_uploader(key=drop.START_FILES).set_value(files).run()


def pressed(app: AppTest, words: str) -> AppTest:
    next(button for button in app.button if button.label == words).click().run()
    assert not app.exception
    return app


def test_votes_dropped_on_start_arrive_at_import_votes_with_their_file(store: Store) -> None:
    app = dropped("votes.csv", b"id,kim,lee\na,MET,MET\nb,UNMET,MET\n")
    assert "Votes, a rater a column, 2 rows." in shown(app)
    pressed(app, "Review and measure these votes")
    visit(app, routes.IMPORT_VOTES)
    assert "votes.csv" in shown(app)
    pressed(app, "Import")
    assert "Imported as run" in shown(app)
    # It was taken: another visit asks for another file.
    visit(visit(app, routes.START), routes.IMPORT_VOTES)
    assert app.get("file_uploader")


def test_a_rubric_dropped_on_start_arrives_on_the_path_with_its_file(store: Store) -> None:
    app = dropped("r.csv", b"Criterion,Full (4),Half (2)\nCause,names it,hints\n")
    pressed(app, "Grade texts with this rubric")
    visit(app, routes.GRADE)
    assert "r.csv" in shown(app)


def test_the_first_button_takes_along_what_was_dropped(store: Store) -> None:
    app = dropped("essays.csv", b"id,answer\na,The Moon.\nb,The Sun.\n")
    pressed(app, "Grade my texts")
    visit(app, routes.GRADE)
    assert "essays.csv" in shown(app)
    assert any(button.label == "Use these 2 texts" for button in app.button)


def test_answers_of_two_prompts_in_one_table_lead_to_a_contest_of_them(store: Store) -> None:
    app = dropped("a.csv", b"prompt,system,answer\nWhy?,v1,Moon.\nWhy?,v2,Sun.\n")
    pressed(app, "Compare v1 and v2")
    assert grading.dataset_to_compare(store) is not None
    fresh = open_page(PAGE)
    assert [b.label for b in fresh.button if "Compare" in b.label] == ["Compare two prompts"]


def test_answers_side_by_side_lead_to_a_contest_of_their_columns(store: Store) -> None:
    app = dropped("p.csv", BESIDE)
    pressed(app, "Compare answer&#95;v1 and answer&#95;v2")
    compared = grading.dataset_to_compare(store)
    assert compared is not None
    plan = open_page(routes.CONTESTS, plan="new", dataset=str(compared))
    assert "2 tasks that at least two systems answered." in shown(plan)


def test_answers_of_two_prompts_in_a_file_each_lead_to_a_contest_of_them(store: Store) -> None:
    terse = b"question,answer\nWhy?,Moon.\nHow?,By its pull.\n"
    long = b"question,answer\nWhy?,The moon pulls at it.\nHow?,It pulls at all water.\n"
    app = dropped("terse.csv", terse, ("long.csv", long))
    assert [b.label for b in app.button if "Compare" in b.label] == [
        "Compare two prompts",
        "Compare terse and long",
    ]

    pressed(app, "Compare terse and long")

    compared = grading.dataset_to_compare(store)
    assert compared is not None
    plan = open_page(routes.CONTESTS, plan="new", dataset=str(compared))
    assert "2 tasks that at least two systems answered." in shown(plan)


def test_two_class_lists_are_one_dataset_by_one_press(store: Store) -> None:
    first, second = b"Name,Essay\nAda,On tides.\n", b"Name,Essay\nBen,On moons.\n"
    app = pressed(dropped("7a.csv", first, ("7b.csv", second)), "Grade these texts")
    assert "2 texts from 7a.csv and 1 other table" in shown(visit(app, routes.GRADE))
    (dataset,) = store.datasets.list()
    items = store.datasets.load(dataset.version_id).items
    assert [(item.text, item.system) for item in items] == [("On tides.", ""), ("On moons.", "")]


@pytest.mark.parametrize(
    "table",
    [
        b"id,answer,grade\na,The Moon.,4\nb,,3\n",  # a row without a text
        b"id,wording,grade\na,The Moon pulls it.,4\nb,The Sun pulls it.,3\n",  # which column?
    ],
)
def test_what_leaves_a_question_is_asked_before_it_is_stored(store: Store, table: bytes) -> None:
    app = pressed(dropped("essays.csv", table), "Grade these texts")
    assert "essays.csv" in shown(visit(app, routes.GRADE))
    assert not store.datasets.list()


def test_two_class_lists_are_no_systems_to_compare(store: Store) -> None:
    first, second = b"Name,Essay\nAda,On tides.\n", b"Name,Essay\nBen,On moons.\n"
    app = dropped("7a.csv", first, ("7b.csv", second))
    assert [b.label for b in app.button if "Compare" in b.label] == ["Compare two prompts"]


def test_without_answers_of_two_prompts_it_says_what_to_drop(store: Store) -> None:
    worked_example.ensure_example(store)  # whose systems are nobody's prompts
    app = pressed(open_page(PAGE), "Compare two prompts")
    assert "drop a file with the answers of each" in shown(app)


def test_what_is_not_recognised_is_said_and_leads_nowhere(store: Store) -> None:
    app = dropped("x.csv", b"a,b\n1,2\n")
    assert "Nothing here is known" in shown(app)
    ways = {"Grade my texts", "Review my tool's results", "Compare two prompts"}
    assert {button.label for button in app.button} == ways | {"Clear"}


def test_what_lies_on_start_is_there_after_a_reload_until_something_is_made_of_it(
    store: Store,
) -> None:
    dropped("essays.csv", b"id,answer\na,The Moon.\nb,The Sun.\n")
    again = open_page(PAGE)
    assert "essays.csv" in shown(again)
    # A file dropped later comes to it; the same name takes the place of the first.
    for data in (b"Criterion,Full (4)\nCause,x\n", b"Criterion,Full (4),None (0)\nCause,x,y\n"):
        zone = again.get("file_uploader")[0]
        again = zone.set_value([("r.csv", data, "text/csv")]).run()
    assert "1 criterion, 4 points" in shown(open_page(PAGE))
    pressed(again, "Grade these texts with this rubric")
    visit(again, routes.GRADE)
    words = shown(again)
    assert "2 texts from essays.csv, text in column “answer”" in words
    assert "1 criterion, 4 points" in words
    assert "essays.csv" not in shown(open_page(PAGE))
