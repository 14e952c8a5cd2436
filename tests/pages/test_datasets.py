"""The Datasets page: import with a look first, browse by address, hostile text shown as it is."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.rubric import Criterion, Rubric
from core.services import datasets
from core.store.store import Store
from pages.ui import families as fam
from pages.ui import state
from tests.pages.conftest import open_page, shown

PAGE = "author/datasets.py"
CSV = (
    "id,prompt,answer,model,label:tone,reason:tone\n"
    "a,Greet.,Hello.,gpt,Good,kind\nb,Greet.,Go away.,llama,Bad,\nc,Greet.,Hm.,llama,,\n"
)
PEER = {
    "name": "Peer",
    "prompt": "Say hello.",
    "rubric": [{"name": "polite", "requirement": "It is polite.", "weight": 10.0}],
    "items": [{"submission": "Hello.", "description": "fine", "ground_truth": ["MET"]}],
}
HOSTILE = "**b** ![x](http://127.0.0.1:9/x) <script>alert(1)</script> \u202eevil $1 and $2 :smile:"


def importing(text: str, name: str = "tone.csv") -> AppTest:
    app = open_page(PAGE, dataset=fam.NEW)
    app.file_uploader(key=fam.IMPORT_FILE).set_value((name, text.encode(), "text/csv")).run()
    assert not app.exception
    return app


def press_import(app: AppTest) -> AppTest:
    app.button(key=state.key(fam.IMPORT_ACT, "import")).click().run()
    assert not app.exception
    return app


def kept(store: Store, text: str = CSV, name: str = "tone.csv") -> datasets.DatasetVersion:
    table = datasets.read_source(text, name)
    dataset = datasets.check(table, datasets.suggest(table)).dataset
    assert dataset is not None
    return datasets.import_dataset(store, dataset, source=name).version


def test_the_first_visit_says_what_to_do() -> None:
    app = open_page(PAGE)

    assert "No datasets yet" in shown(app)
    app.button(key=state.key(fam.DATASETS_ACT, "first")).click().run()
    assert app.query_params[state.DATASET] == fam.NEW


def test_an_upload_is_shown_before_it_is_saved(store: Store) -> None:
    app = importing(CSV)

    assert "All 3 items can be read, 2 with labels." in shown(app)
    assert "Hello." in shown(app)
    assert datasets.listing(store) == []

    press_import(app)

    (row,) = datasets.listing(store)
    assert (row.name, row.items, row.labelled, row.source) == ("tone", 3, 2, "tone.csv")
    assert app.query_params[state.DATASET] == str(row.id)


def test_pasted_text_is_read_like_a_file(store: Store) -> None:
    app = open_page(PAGE, dataset=fam.NEW)
    app.segmented_control(key=fam.IMPORT_WAY).set_value("text").run()
    app.text_area(key=fam.IMPORT_TEXT).set_value(CSV).run()

    press_import(app)

    assert [row.items for row in datasets.listing(store)] == [3]


def test_a_column_is_given_another_role(store: Store) -> None:
    app = importing("id,first,second\n1,the question,the answer\n", "odd.csv")
    assert "has no column that holds the submission" in shown(app)

    choose = {w.label: w for w in app.selectbox}
    choose["Role of first"].set_value("prompt")
    choose["Role of second"].set_value("submission").run()
    press_import(app)

    version = datasets.latest(store, datasets.listing(store)[0].id)
    found = datasets.item(store, version, "1")
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
    saved = datasets.keep_rubric(store, rubric)
    app = importing(CSV)

    app.selectbox(key=fam.IMPORT_RUBRIC).set_value(saved.id).run()

    assert "which is not an option" in shown(app)


def test_the_same_content_again_is_there_already(store: Store) -> None:
    kept(store)

    app = press_import(importing(CSV))

    assert len(datasets.listing(store)) == 1
    assert "there already" in shown(app)


def test_a_new_version_of_a_dataset_is_saved(store: Store) -> None:
    first = kept(store)
    app = importing(CSV + "d,Greet.,Welcome.,gpt,Good,\n", "more.csv")

    app.selectbox(key=fam.IMPORT_INTO).set_value(first.dataset_id).run()
    press_import(app)

    assert [(v.number, v.items, v.name) for v in datasets.history(store, first.dataset_id)] == [
        (2, 4, "tone"),
        (1, 3, "tone"),
    ]


def test_a_new_version_is_begun_from_the_dataset(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))
    app.session_state[fam.DATASET_VIEW] = "about"
    app.run()

    app.button(key=state.key(fam.DATASET_ACT, "renew", version.id)).click().run()
    app.file_uploader(key=fam.IMPORT_FILE).set_value(("b.csv", b"id,answer\nz,New.\n", "")).run()
    press_import(app)

    assert [v.items for v in datasets.history(store, version.dataset_id)] == [1, 3]


def test_the_rubric_that_came_along_is_saved_too(store: Store) -> None:
    app = importing(json.dumps(PEER), "peer.json")
    assert "brings a rubric along" in shown(app)

    press_import(app)

    assert [row.name for row in store.rubrics.list()] == ["Peer"]
    assert [row.name for row in datasets.listing(store)] == ["Peer"]


def test_an_item_is_opened_by_its_address(store: Store) -> None:
    version = kept(store)

    app = open_page(PAGE, dataset=str(version.dataset_id), item="b")

    assert "Go away." in shown(app)
    assert "Bad" in shown(app)


def test_walking_and_choosing_set_the_address(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    app.button(key=state.key(fam.DATASET_ACT, "Next")).click().run()
    assert app.query_params[state.ITEM] == "b"
    app.selectbox(key=state.key(fam.DATASET_PICK, version.id)).set_value("c").run()
    assert app.query_params[state.ITEM] == "c"
    app.button(key=state.key(fam.DATASET_ACT, "Next")).click().run()

    assert app.query_params[state.ITEM] == "c"
    assert "Hm." in shown(app)


def test_a_page_of_items_is_listed(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    assert list(app.dataframe[0].value["Id"]) == ["a", "b", "c"]


def test_filters_narrow_the_list(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    app.selectbox(key=fam.DATASET_LABELLED).set_value("no").run()
    assert list(app.dataframe[0].value["Id"]) == ["c"]
    app.selectbox(key=fam.DATASET_LABELLED).set_value("any")
    app.selectbox(key=fam.DATASET_SYSTEM).set_value("=llama").run()
    assert list(app.dataframe[0].value["Id"]) == ["b", "c"]
    app.text_input(key=fam.DATASET_SEARCH).set_value("away").run()
    assert list(app.dataframe[0].value["Id"]) == ["b"]
    app.text_input(key=fam.DATASET_SEARCH).set_value("nowhere").run()
    assert "No item passes these filters." in shown(app)


def test_labels_are_counted_by_criterion(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))
    app.session_state[fam.DATASET_VIEW] = "labels"
    app.run()

    # One Good and one Bad among two labels.
    assert app.dataframe[0].value.to_dict("list") == {
        "Criterion": ["tone", "tone"],
        "Label": ["Bad", "Good"],
        "Items": [1, 1],
        "Share": [0.5, 0.5],
    }


def test_an_older_version_can_be_read(store: Store) -> None:
    version = kept(store)
    dataset = datasets.check(
        datasets.read_source("id,answer\nz,New.\n", "z.csv"),
        datasets.suggest(datasets.read_source("id,answer\nz,New.\n", "z.csv")),
    ).dataset
    assert dataset is not None
    datasets.import_dataset(store, dataset, into=version.dataset_id)

    app = open_page(PAGE, dataset=str(version.dataset_id), dataset_version="1")

    assert "version 1 of 2" in shown(app)
    assert "Hello." in shown(app)


def test_hostile_text_is_shown_as_it_is(store: Store) -> None:
    rows = [
        {
            "id": HOSTILE,
            "submission": HOSTILE,
            "prompt": HOSTILE,
            "system": HOSTILE,
            "tags": [HOSTILE],
            "labels": {HOSTILE: {"label": HOSTILE, "reason": HOSTILE}},
            "note": HOSTILE,
        }
    ]
    text = json.dumps({"name": HOSTILE, "items": rows})
    version = kept(store, text, "hostile.json")

    for app in (
        open_page(PAGE),
        open_page(PAGE, dataset=str(version.dataset_id)),
        importing(text, "hostile.json"),
    ):
        read_as_markdown = [b.label for b in app.button] + [t.value for t in app.title]
        read_as_markdown += [t.label for t in app.tabs] + [e.label for e in app.expander]
        assert "![x]" not in "".join(read_as_markdown)
        html = "".join(str(e.proto) for e in app.get("html"))
        assert "<script>" not in html
        assert "\u202e" not in html


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        ([{"role": "user", "content": "Hi"}, {"role": "bot", "content": "Yo"}], "<b>bot</b>"),
        ({"thinking": "let me see", "output": "42"}, "42"),
        ("", "Empty answer"),
        (None, "The text is not at hand"),
    ],
)
def test_every_kind_of_submission_can_be_read(store: Store, submission: object, words: str) -> None:
    rows = [{"id": "a", "submission": submission}]
    version = kept(store, json.dumps(rows), "kinds.json")

    assert words in shown(open_page(PAGE, dataset=str(version.dataset_id)))


@pytest.mark.parametrize("address", [{"dataset": "99"}, {"dataset": "x"}])
def test_an_address_of_nothing_says_so(address: dict[str, str]) -> None:
    assert "No such dataset" in shown(open_page(PAGE, **address))


def test_an_item_that_is_not_there_is_said(store: Store) -> None:
    version = kept(store)

    app = open_page(PAGE, dataset=str(version.dataset_id), item="zzz")

    assert "No such item" in shown(app)
