"""The Datasets page: nothing is imported that was not looked at."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from core.domain.rubric import Criterion, Rubric
from core.services.datasets import catalog
from core.store.store import Store
from pages.datasets.importing import (
    IMPORT_ACT,
    IMPORT_FILE,
    IMPORT_INTO,
    IMPORT_RUBRIC,
    IMPORT_TEXT,
    IMPORT_WAY,
)
from pages.datasets.items import DATASET_ACT, DATASET_VIEW, DATASETS_ACT
from pages.ui import routes, state
from tests.formats.datasets.test_submissions import MOODLE
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import VOTES, xlsx, zipped
from tests.formats.votes.tools.test_inspect_logs import members
from tests.formats.votes.tools.zstandard_zip import packed
from tests.pages.conftest import open_page, shown
from tests.pages.made import CSV, kept

PAGE = routes.DATASETS
PEER = {
    "name": "Peer",
    "prompt": "Say hello.",
    "rubric": [{"name": "polite", "requirement": "It is polite.", "weight": 10.0}],
    "items": [{"submission": "Hello.", "description": "fine", "ground_truth": ["MET"]}],
}


def importing(text: str, name: str = "tone.csv") -> AppTest:
    app = open_page(PAGE, dataset=state.NEW)
    app.file_uploader(key=IMPORT_FILE).set_value((name, text.encode(), "text/csv")).run()
    assert not app.exception
    return app


def press_import(app: AppTest) -> AppTest:
    app.button(key=state.key(IMPORT_ACT, "import")).click().run()
    assert not app.exception
    return app


def test_a_file_dropped_on_the_list_is_looked_at_without_another_press(store: Store) -> None:
    app = open_page(PAGE)
    app.file_uploader[0].set_value(("tone.csv", CSV.encode(), "text/csv")).run()
    assert app.query_params[state.DATASET] == state.NEW
    assert "tone.csv" in shown(app)
    assert not store.datasets.list()
    press_import(app)
    assert len(store.datasets.list()) == 1
    # It was used: the next import asks for a file.
    again = open_page(PAGE, dataset=state.NEW)
    assert "tone.csv" not in shown(again)
    assert again.get("file_uploader")


def test_the_first_visit_says_what_to_do() -> None:
    app = open_page(PAGE)

    assert "No datasets yet" in shown(app)
    app.button(key=state.key(DATASETS_ACT, "first")).click().run()
    assert app.query_params[state.DATASET] == state.NEW


def test_an_upload_is_shown_before_it_is_saved(store: Store) -> None:
    app = importing(CSV)

    assert "All 3 items can be read, 2 with labels." in shown(app)
    assert "Hello." in shown(app)
    assert catalog.list_datasets(store) == []

    press_import(app)

    (row,) = catalog.list_datasets(store)
    assert (row.name, row.items, row.labelled, row.source) == ("tone", 3, 2, "tone.csv")
    assert app.query_params[state.DATASET] == str(row.id)


def test_pasted_text_is_read_like_a_file(store: Store) -> None:
    app = open_page(PAGE, dataset=state.NEW)
    app.segmented_control(key=IMPORT_WAY).set_value("text").run()
    app.text_area(key=IMPORT_TEXT).set_value(CSV).run()

    press_import(app)

    assert [row.items for row in catalog.list_datasets(store)] == [3]


def test_a_column_is_given_another_role(store: Store) -> None:
    app = importing("id,first,second\n1,the question,the answer\n", "odd.csv")
    assert "has no column that holds the submission" in shown(app)

    choose = {w.label: w for w in app.selectbox}
    choose["Role of first"].set_value("prompt")
    choose["Role of second"].set_value("submission").run()
    press_import(app)

    version = catalog.latest(store, catalog.list_datasets(store)[0].id)
    found = catalog.item_of_version(store, version, "1")
    assert (found.prompt, found.submission) == ("the question", "the answer")


def test_two_columns_with_one_role_are_refused_in_words() -> None:
    app = importing(CSV)
    next(w for w in app.selectbox if w.label == "Role of prompt").set_value("submission").run()

    assert "Two columns have the role" in shown(app)
    assert not [b for b in app.button if b.label == "Import"]


def test_problems_are_listed_with_their_lines_and_nothing_can_be_imported() -> None:
    app = importing("id,answer\na,Hi\na,Ho\n")

    assert "<b>line 3" in shown(app)
    assert "Give every item an id of its own." in shown(app)
    assert not [b for b in app.button if b.label == "Import"]


def test_a_file_that_cannot_be_read_says_where() -> None:
    app = importing('{"id": 1, "submission": "x"}\n{broken\n', "items.jsonl")

    assert "line 2" in shown(app)


def test_labels_are_checked_against_a_chosen_rubric(store: Store) -> None:
    rubric = Rubric(name="Tone", criteria=(Criterion(name="tone", requirement="Friendly?"),))
    saved = catalog.keep_rubric(store, rubric)
    app = importing(CSV)

    app.selectbox(key=IMPORT_RUBRIC).set_value(saved.id).run()

    assert "which is not an option" in shown(app)


def test_words_for_labels_that_are_no_options_get_their_meaning_in_one_table(store: Store) -> None:
    rubric = Rubric(name="Tone", criteria=(Criterion(name="tone", requirement="Friendly?"),))
    saved = catalog.keep_rubric(store, rubric)
    app = importing("id,submission,tone\na,Hello,höflich\nb,Go away,grob\n")
    app.selectbox(key=IMPORT_RUBRIC).set_value(saved.id).run()
    assert "which is not an option" in shown(app)
    for theirs, ours in (("höflich", "MET"), ("grob", "UNMET")):
        (box,) = [one for one in app.selectbox if one.label.endswith(f" {theirs}")]
        box.set_value(ours).run()
    press_import(app)
    version = catalog.latest(store, catalog.list_datasets(store)[0].id)
    labels = [
        catalog.item_of_version(store, version, item).labels["tone"].label for item in ("a", "b")
    ]
    assert labels == ["MET", "UNMET"]


def test_roles_that_were_chosen_stay_when_a_rubric_is_chosen(store: Store) -> None:
    rubric = Rubric(name="Tone", criteria=(Criterion(name="tone", requirement="Friendly?"),))
    saved = catalog.keep_rubric(store, rubric)
    app = importing("id,first,second,tone,mood\n1,the question,the answer,MET,UNMET\n", "odd.csv")
    # The rubric is guessed from the columns; who wants none of it says so.
    assert app.selectbox(key=IMPORT_RUBRIC).value == saved.id
    app.selectbox(key=IMPORT_RUBRIC).set_value(None).run()
    for column, role in (("first", "prompt"), ("second", "submission"), ("mood", "label")):
        role_of(app, column).set_value(role).run()

    app.selectbox(key=IMPORT_RUBRIC).set_value(saved.id).run()

    chosen = [role_of(app, column).value for column in ("first", "second", "mood")]
    assert chosen == ["prompt", "submission", "label"]
    # What nobody touched follows the rubric: the column is named after its criterion.
    assert role_of(app, "tone").value == "label:tone"
    app.selectbox(key=IMPORT_RUBRIC).set_value(None).run()
    assert [role_of(app, c).value for c in ("first", "second")] == ["prompt", "submission"]


def role_of(app: AppTest, column: str) -> Selectbox:
    return next(box for box in app.selectbox if box.label == f"Role of {column}")


def test_the_same_content_again_is_there_already(store: Store) -> None:
    kept(store)

    app = press_import(importing(CSV))

    assert len(catalog.list_datasets(store)) == 1
    assert "already exists" in shown(app)


def test_a_new_version_of_a_dataset_is_saved(store: Store) -> None:
    first = kept(store)
    app = importing(CSV + "d,Greet.,Welcome.,gpt,Good,\n", "more.csv")

    app.selectbox(key=IMPORT_INTO).set_value(first.dataset_id).run()
    press_import(app)

    assert [(v.number, v.items, v.name) for v in catalog.versions_of(store, first.dataset_id)] == [
        (2, 4, "tone"),
        (1, 3, "tone"),
    ]


def test_a_new_version_is_begun_from_the_dataset(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))
    app.session_state[DATASET_VIEW] = "about"
    app.run()

    app.button(key=state.key(DATASET_ACT, "renew", version.id)).click().run()
    app.file_uploader(key=IMPORT_FILE).set_value(("b.csv", b"id,answer\nz,New.\n", "")).run()
    press_import(app)

    assert [v.items for v in catalog.versions_of(store, version.dataset_id)] == [1, 3]


def test_the_rubric_that_came_along_is_saved_too(store: Store) -> None:
    app = importing(json.dumps(PEER), "peer.json")
    assert "contains a rubric" in shown(app)

    press_import(app)

    assert [row.name for row in store.rubrics.list()] == ["Peer"]
    assert [row.name for row in catalog.list_datasets(store)] == ["Peer"]


def test_the_sheet_of_a_workbook_is_chosen_and_its_texts_are_only_texts(store: Store) -> None:
    rows = [["id", "answer"], ["a", "<b>x</b> =1+1"], ["b", "y"]]
    data = xlsx({"<i>Essays &amp; _more_": rows, "Old": [["id", "answer"], ["c", "z"]]})
    app = open_page(PAGE, dataset=state.NEW)
    app.file_uploader(key=IMPORT_FILE).set_value(("x.xlsx", data, "application/zip")).run()
    (choice,) = [box for box in app.selectbox if "2 sheets" in box.label]
    assert not app.get("button_group")[1:]
    choice.set_value("<i>Essays &amp; _more_").run()
    assert "All 2 items can be read" in shown(app)
    press_import(app)
    (row,) = catalog.list_datasets(store)
    version = catalog.latest(store, row.id)
    assert catalog.item_of_version(store, version, "a").text == "<b>x</b> =1+1"


def test_an_archive_of_submissions_is_a_dataset_once_looked_at(store: Store) -> None:
    app = open_page(PAGE, dataset=state.NEW)
    upload = ("essays.zip", zipped(MOODLE), "application/zip")
    app.file_uploader(key=IMPORT_FILE).set_value(upload).run()
    assert not app.exception
    assert "All 3 items can be read" in shown(app)
    assert "3 submissions in 4 files" in shown(app)
    press_import(app)
    (row,) = catalog.list_datasets(store)
    assert (
        catalog.item_of_version(store, catalog.latest(store, row.id), "12346").text == "Bob’s text"
    )


def test_what_stands_inside_the_cells_can_be_the_submission(store: Store) -> None:
    asked = {"role": "user", "content": "Ask"}
    said = [{"role": "assistant", "content": f"Say {n}."} for n in ("a", "b")]
    rows = [{"id": n, "messages": [asked, one]} for n, one in zip("ab", said, strict=True)]
    app = importing("".join(json.dumps(row) + "\n" for row in rows), "chats.jsonl")
    (inside,) = app.multiselect
    # The last message's text is the likeliest; nothing has to be said.
    assert inside.value == ["messages[-1].content"]
    assert "All 2 items can be read" in shown(app)
    press_import(app)
    (row,) = catalog.list_datasets(store)
    assert catalog.item_of_version(store, catalog.latest(store, row.id), "b").text == "Say b."


def test_a_file_that_is_no_dataset_is_led_to_its_page() -> None:
    table = grid(
        [["Criterion", "Good", "Poor"], ["Style", "no slips (2 points)", "many (0 points)"]]
    )
    for data, name, words in (
        (xlsx({"Marks": VOTES}), "marks.xlsx", "This seems to hold votes"),
        (docx("Rubric", table), "rubric.docx", "This seems to be a rubric"),
    ):
        app = open_page(PAGE, dataset=state.NEW)
        app.file_uploader(key=IMPORT_FILE).set_value((name, data, "application/zip")).run()
        assert not app.exception
        assert words in shown(app)


def test_results_of_a_tool_say_what_they_are_and_lead_on_or_give_their_items(store: Store) -> None:
    app = open_page(routes.DATASETS, dataset=state.NEW)
    log = ("log.eval", packed(members()), "application/octet-stream")
    app.file_uploader(key=IMPORT_FILE).set_value(log).run()

    assert not app.exception
    assert "This file holds results of Inspect." in shown(app)
    assert "import_votes" in {link.proto.page for link in app.get("page_link")}
    app.button(key=state.key(IMPORT_ACT, "import")).click().run()
    assert not app.exception
    (row,) = catalog.list_datasets(store)
    assert row.items > 0
    assert store.runs.list() == []
