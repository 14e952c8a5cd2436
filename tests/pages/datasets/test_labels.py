"""A dataset's labels under a rubric, and its split into parts."""

from __future__ import annotations

from collections import Counter

from core.domain.dataset import Dataset
from core.store.store import Store
from pages.datasets.items import DATASET_PARTS
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.services.comparison.world import NOW, ONE, RUBRIC, TWO, dataset, run_with

PAGE = routes.DATASETS
#: 8 MET, 2 UNMET; one strange tone, three missing.
LABELS = {
    "clear": ["MET"] * 8 + ["UNMET"] * 2,
    "tone": ["Cold"] * 3 + ["Warm"] * 3 + ["Tepid", "", "", ""],
    "<b>else</b>": ["x"] + [""] * 9,
}


def key(name: str) -> str:
    return state.key(DATASET_PARTS, name)


def kept(store: Store, data: Dataset | None = None) -> str:
    return str(store.datasets.create(data or dataset(LABELS), now=NOW).dataset_id)


def test_labels_are_seen_through_the_rubric_that_knows_them(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    app = open_page(PAGE, dataset=kept(store), dataset_view="Labels")

    text = shown(app)
    assert len(app.get("plotly_chart")) == 1
    # Always MET is right on 8 of 10.
    assert "80%" in text
    # clear: -(.8 ln .8 + .2 ln .2) / ln 2 = .72; tone: two of three options evenly, ln 2 / ln 3.
    assert "0.72" in text
    assert "0.63" in text
    assert "no option" in text
    assert "does not ask" in text
    assert "<b>else" not in text


def test_without_a_rubric_the_labels_are_shown_as_written(store: Store) -> None:
    app = open_page(PAGE, dataset=kept(store), dataset_view="Labels")

    assert "they are shown as written" in shown(app)
    assert len(app.dataframe) == 1


def test_a_split_is_previewed_and_saved_as_a_new_version(store: Store) -> None:
    number = kept(store)
    app = open_page(PAGE, dataset=number, dataset_view="Split")
    app.selectbox(key=key("by")).set_value("clear").run()
    app.number_input(key=key("train")).set_value(50)
    app.number_input(key=key("calibration")).set_value(0)
    app.number_input(key=key("test")).set_value(50).run()
    assert not app.exception

    app.button(key=key("save")).click().run()

    assert not app.exception
    latest = store.datasets.latest(int(number))
    assert latest.number == 2
    items = list(store.datasets.items(latest.id))
    assert Counter(item.split for item in items) == {"calibration": 5, "evaluation": 5}
    # 8 MET and 2 UNMET in halves.
    unmet = [i.split for i in items if i.labels["clear"].label == "UNMET"]
    assert sorted(map(str, unmet)) == ["calibration", "evaluation"]


def test_shares_that_do_not_add_up_cannot_be_saved(store: Store) -> None:
    app = open_page(PAGE, dataset=kept(store), dataset_view="Split")
    app.number_input(key=key("train")).set_value(70).run()

    assert "add up to 110%" in app.info[0].value
    assert key("save") not in [button.key for button in app.button]


def test_without_labels_there_is_nothing_to_split(store: Store) -> None:
    data = dataset({"clear": ["", ""]})
    app = open_page(PAGE, dataset=kept(store, data), dataset_view="Split")

    assert "No labels yet" in shown(app)


def test_a_declaration_that_votes_refute_warns(store: Store) -> None:
    # Judges agree on the 30 labelled answers, and on none of the 30 others.
    some = dataset({"clear": ["MET"] * 30 + [""] * 30})
    votes = {"one": {"clear": [0] * 60}, "two": {"clear": [0] * 30 + [1] * 30}}
    run = run_with(store, some, votes, judges=(ONE, TWO))
    version = store.datasets.version(store.runs.row(run).dataset_version_id)
    address = {"dataset": str(version.dataset_id), "dataset_view": "Labels"}
    app = open_page(PAGE, **address)
    app.button(key=f"dataset_draw/declare/{version.id}").click().run()

    assert "They are not a fair sample" in shown(app)
    assert "they represent all items" not in shown(app)


def test_whoever_knows_declares_labels_random_and_takes_it_back(store: Store) -> None:
    some = dataset({"clear": ["MET", "UNMET", "MET", *[""] * 7]})
    version = store.datasets.create(some, now=NOW)
    address = {"dataset": str(version.dataset_id), "dataset_view": "Labels"}
    app = open_page(PAGE, **address)
    assert "3 of 10 items have labels. If they were chosen by chance" in shown(app)
    app.button(key=f"dataset_draw/declare/{version.id}").click().run()
    assert "Labels declared a simple random sample by" in shown(app)
    app.button(key=f"dataset_draw/withdraw/{version.id}").click().run()
    assert "Were these labels drawn at random?" in shown(app)
    # Chances that are not there are refused, and said.
    app.segmented_control(key=f"dataset_draw/how/{version.id}").set_value("noted").run()
    app.button(key=f"dataset_draw/declare/{version.id}").click().run()
    assert "10 items of 10 have no chance in" in " ".join(e.value for e in app.error)
