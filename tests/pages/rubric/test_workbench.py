"""The workbench in the editor: rows, expectations, asking, figures; kept across sessions."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item, Label
from core.services.judges import registry
from core.services.rubrics import draft_criteria, library
from core.services.rubrics.drafts import draft_from
from core.services.spot import request
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import new_row
from core.store.store import Store
from pages.rubric.workbench import subject as keys
from pages.ui import routes, state
from pages.ui.drafts import RUBRIC_FIELD, RUBRIC_WORK
from pages.ui.trial.votes import VOTE_CALL
from tests.pages.conftest import open_page, shown
from tests.pages.spot_checks import model, worked_off
from tests.provider import Provider, ok, status
from tests.services.workbench.made import EXPECTED, RUBRIC, TEXTS, by_text

PAGE = routes.RUBRICS


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        running.rule = by_text
        yield running


def saved(store: Store) -> str:
    return str(library.save(store, "new-x", draft_from(RUBRIC)).rubric_id)


def opened(name: str) -> AppTest:
    return open_page(PAGE, rubric=name, side=keys.BENCH)


def done(act: object) -> AppTest:
    app: AppTest = act.run()  # type: ignore[attr-defined]
    assert not app.exception
    return app


def act(app: AppTest, name: str, *ids: object) -> AppTest:
    return done(app.button(key=state.key(keys.WORKBENCH_ACT, name, *ids)).click())


def field(name: str, *ids: object) -> str:
    return state.key(keys.WORKBENCH_FIELD, name, *ids)


def with_rows(store: Store, provider: Provider) -> tuple[str, list[str]]:
    """A saved rubric whose workbench has three rows and asks Ann; its name, and the rows."""
    name = saved(store)
    model(store, provider.url)
    rows = [new_row(t, expected=e) for t, e in zip(TEXTS, EXPECTED, strict=True)]
    bench_rows.add_rows(store, name, rows)
    return name, [row["uid"] for row in rows]


def work_off(store: Store, name: str) -> None:
    for run_id in bench_rows.saved_workbench(store, name)["runs"]:
        if store.runs.row(run_id).active:
            worked_off(store, run_id)


def test_an_empty_workbench_says_what_it_is_for(store: Store) -> None:
    app = opened(saved(store))
    assert "No test rows yet" in shown(app)


def test_without_a_judge_it_says_what_is_needed(store: Store) -> None:
    name = saved(store)
    bench_rows.add_rows(store, name, [new_row("The Moon.")])
    assert "No judge is chosen" in shown(opened(name))


def test_a_judge_that_learns_is_given_the_labels_that_fit_best(store: Store) -> None:
    name = saved(store)
    registry.ensure_defaults(store)
    bench_rows.add_rows(store, name, [new_row("The Moon.")])
    few, many = (
        store.datasets.create(
            Dataset(
                name=f"{count} labels",
                items=tuple(
                    Item(id=f"{n}", submission=f"{n}", labels={"Cause": Label(label="MET")})
                    for n in range(count)
                ),
            ),
            now="2026-03-01T10:00:00.000Z",
        )
        for count in (2, 3)
    )
    app = opened(name)
    app = done(app.multiselect(key=field(name, "judges")).set_value(["Text classifier"]))
    assert bench_rows.saved_workbench(store, name)["learn_from"] == many.id
    assert "Choose the dataset they learn from" not in shown(app)
    assert "Ask open questions (1)" in [b.label for b in app.button]
    done(app.selectbox(key=field(name, "learn_from")).set_value(few.id))
    assert bench_rows.saved_workbench(store, name)["learn_from"] == few.id


def test_a_written_row_is_there_in_another_session(store: Store, provider: Provider) -> None:
    name = saved(store)
    model(store, provider.url)
    app = act(opened(name), name, "write")
    (uid,) = [row["uid"] for row in bench_rows.saved_workbench(store, name)["rows"]]
    done(app.text_area(key=field(name, uid, "submission")).set_value("The Moon pulls."))
    done(app.selectbox(key=field(name, uid, "expected", "Cause")).set_value(0))
    again = opened(name)
    assert "The Moon pulls." in shown(again)
    assert again.selectbox(key=field(name, uid, "expected", "Cause")).value == 0
    assert bench_rows.saved_workbench(store, name)["rows"][0]["expected"] == {"Cause": "MET"}


def test_pasted_lines_become_rows(store: Store) -> None:
    name = saved(store)
    app = opened(name)
    done(app.text_area(key=field(name, "paste")).set_value("The Moon.\nThe wind."))
    app = act(app, name, "paste")
    assert [r["submission"] for r in bench_rows.saved_workbench(store, name)["rows"]] == [
        "The Moon.",
        "The wind.",
    ]


def test_items_come_from_a_dataset_with_their_labels(store: Store) -> None:
    name = saved(store)
    items = (
        Item(id="a", submission="Moon.", labels={"Cause": Label(label="MET")}),
        Item(id="b", submission="Wind."),
    )
    store.datasets.create(Dataset(name="Course", items=items), now="2026-03-01T10:00:00.000Z")
    app = opened(name)
    app.multiselect(key=field(name, "items")).set_value(["a", "b"])
    act(app, name, "items")
    rows = bench_rows.saved_workbench(store, name)["rows"]
    assert [(r["submission"], r["expected"]) for r in rows] == [
        ("Moon.", {"Cause": "MET"}),
        ("Wind.", {}),
    ]


def test_rows_are_judged_and_stand_beside_what_is_expected(
    store: Store, provider: Provider
) -> None:
    name, _ = with_rows(store, provider)
    app = opened(name)
    assert "Open: 3 answers, 3 calls, cost unknown" in unescape(
        shown(app)
    )  # the chosen criterion, Cause, on 3 rows
    app = act(app, name, "ask", "open")
    assert "waiting to start" in str(app.get("progress")[0].proto)
    work_off(store, name)
    app = opened(name)  # a reload finds the answers
    words = shown(app)
    assert words.count("✓ as expected") == 3
    assert "3 of 3" in words  # agreement
    assert "It says so." in words  # the judge's reason
    assert "shown as option 1 of 3" in words  # MET, UNMET and the abstention; no shuffling
    assert provider.count == 3


def test_an_edit_turns_exactly_its_criterions_rows_stale_and_only_those_are_asked(
    store: Store, provider: Provider
) -> None:
    name, _ = with_rows(store, provider)
    app = opened(name)
    app = done(app.selectbox(key=state.key(keys.WORKBENCH_CRITERION, name)).set_value(""))
    act(app, name, "ask", "open")
    work_off(store, name)
    app = opened(name)
    cause = app.session_state[state.key(RUBRIC_WORK, name)]["draft"]["criteria"][0]["uid"]
    edited = app.text_area(key=state.key(RUBRIC_FIELD, name, cause, "requirement"))
    app = done(edited.set_value("Names the Moon as the cause."))
    assert "3 stale" in shown(app)
    app = done(app.selectbox(key=state.key(keys.WORKBENCH_CRITERION, name)).set_value(""))
    words = shown(app)
    assert words.count("3 stale") == 1  # in the line of Cause, and not in that of Depth
    app = act(app, name, "ask", "open")
    work_off(store, name)
    assert provider.count == 9  # 3 x 2, then 3 x 1
    assert "3 stale" not in shown(opened(name))


def test_a_failure_is_shown_as_one_and_asked_again(store: Store, provider: Provider) -> None:
    name, rows = with_rows(store, provider)
    provider.say(status(500))
    act(opened(name), name, "ask", "open")
    work_off(store, name)
    app = opened(name)
    assert "1 failed" in shown(app)
    assert "Ask open questions (1)" in [b.label for b in app.button]
    act(app, name, "ask", "open")
    work_off(store, name)
    assert provider.count == 4
    assert "failed" not in shown(opened(name))
    assert rows


def test_what_to_do_about_a_failure_is_said_as_on_a_run_s_page(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIDES_KEY", raising=False)
    name, _ = with_rows(store, provider)
    model(store, provider.url, "Bob", key_env="TIDES_KEY")
    bench_rows.set_asking(store, name, judges=["Bob"])
    act(opened(name), name, "ask", "open")
    work_off(store, name)
    words = shown(opened(name))
    assert "3 × no key" in words  # Cause on three rows
    assert "Set TIDES_KEY in the environment of the app" in words


def test_cancel_stops_asking(store: Store, provider: Provider) -> None:
    name, _ = with_rows(store, provider)
    app = act(opened(name), name, "ask", "open")
    app = act(app, name, "cancel")
    assert "Ask open questions (3)" in [b.label for b in app.button]
    assert provider.count == 0


def test_a_row_becomes_an_example_with_one_click_and_a_test_again_with_another(
    store: Store, provider: Provider
) -> None:
    name, (first, *_) = with_rows(store, provider)
    app = act(opened(name), name, "example", first)
    assert "Examples shown to models (1)" in shown(app)
    act(app, name, "test", first)
    assert not any(row["example"] for row in bench_rows.saved_workbench(store, name)["rows"])


def test_a_removed_row_can_be_put_back(store: Store, provider: Provider) -> None:
    name, (first, *rows) = with_rows(store, provider)
    app = opened(name)
    done(app.menu_button(key=state.key(keys.WORKBENCH_ACT, name, "more", first)).click("Remove"))
    assert [row["uid"] for row in bench_rows.saved_workbench(store, name)["rows"]] == rows
    act(app, name, "back")
    assert [row["uid"] for row in bench_rows.saved_workbench(store, name)["rows"]] == [*rows, first]


def test_an_opened_row_shows_the_vote_the_prompt_and_the_reply(
    store: Store, provider: Provider
) -> None:
    name, (first, *_) = with_rows(store, provider)
    act(opened(name), name, "ask", "open")
    work_off(store, name)
    app = act(opened(name), name, "open", first)
    (run,) = bench_rows.saved_workbench(store, name)["runs"]
    app = done(app.toggle(key=state.key(VOTE_CALL, run, first, "Cause", "Ann", 0)).set_value(True))
    words = shown(app)
    assert "BEGIN SUBMISSION" in words
    assert "Unprocessed reply" in words
    # As on the page of a run: what it cost, and with which settings it was asked.
    assert "cost unknown" in words
    assert "Settings of the call" in words


def test_rows_are_saved_as_a_dataset_and_opened_in_spot_check(
    store: Store, provider: Provider
) -> None:
    name, (first, *_) = with_rows(store, provider)
    app = act(opened(name), name, "save")
    (row,) = store.datasets.list()
    assert (row.name, row.items) == ("Tide answers: test rows", 3)
    act(app, name, "spot")
    form = request.opened_form(store)
    assert (form.dataset, form.item, form.rubric) == (row.version_id, first, name)


def test_a_criterion_that_is_no_criterion_yet_says_so_and_the_others_work(
    store: Store, provider: Provider
) -> None:
    name, _ = with_rows(store, provider)
    kept = library.draft_of(store, int(name))
    broken = draft_criteria.set_criterion(kept, kept["criteria"][0]["uid"], "requirement", "")
    library.keep(store, name, broken)
    app = opened(name)
    assert "cannot be asked yet" in shown(app)
    app = done(app.selectbox(key=state.key(keys.WORKBENCH_CRITERION, name)).set_value(""))
    assert "Ask open questions (3)" in [b.label for b in app.button]


def test_hostile_text_is_shown_and_never_obeyed(store: Store, provider: Provider) -> None:
    name, (first, *_) = with_rows(store, provider)
    attack = "<script>alert(1)</script> [l](http://evil.test) :red[x] \u202e"
    bench_rows.set_row(store, name, first, submission=attack, prompt=attack, source=attack)
    provider.rule = lambda body: ok(1, reason=attack)
    act(opened(name), name, "ask", "open")
    work_off(store, name)
    app = act(opened(name), name, "open", first)
    act(app, name, "example", first)
    for page in (app, opened(name)):
        words = shown(page)
        assert "<script>" not in words
        assert "\u202e" not in words
        assert "&lt;script&gt;" in words
