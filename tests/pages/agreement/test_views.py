"""The Agreement page with people: any pair, parts of the items, and five ways to look."""

from __future__ import annotations

import html
from types import SimpleNamespace
from urllib.parse import quote_plus

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.agreement import (
    calibration,
    conclusion,
    confusion,
    load_ratings,
    overall,
    rating_sheet,
    ratings,
)
from core.services.agreement.blocks.headline import headline
from core.services.diagnostics import probes
from core.services.gate import drift
from core.services.rating_models.severity import SeverityStudy
from core.services.results.scored_items import derivation_for
from core.services.runs.runner import work_here
from core.store.store import Store
from core.text.numbers import percent
from pages.agreement import findings, raters
from pages.agreement import selection as keys
from pages.ui import routes, state
from tests.pages.agreement.test_page import PAGE, field, linked_items
from tests.pages.conftest import open_page, shown
from tests.pages.graded import graded
from tests.pages.ways import Work, offered
from tests.services.comparison.test_cascade_sweep import voted
from tests.services.comparison.world import ONE, TWO
from tests.services.diagnostics.test_probes import FAIR, LONGISH, made

NOW = "2026-03-01T10:00:00.000Z"
PEOPLE = {"ann": "person", "ben": "person", "cat": "person"}
EVERYBODY = {**PEOPLE, "gpt": "imported", "llama <b>": "imported", "words": "imported_offline"}
TONE = tuple(Option(label=w, value=v / 2) for v, w in enumerate(("Cold", "Mild", "Warm")))
RUBRIC = Rubric(
    criteria=(
        Criterion(name="Cites *it*", requirement="Cites?"),
        Criterion(name="Tone", requirement="Warm?", scale="ordinal", options=TONE),
    )
)


def imported(store: Store, kinds: dict[str, str], n: int = 60, *, labelled: bool = False) -> int:
    """A run of votes by these raters over items of two systems, a third of them long."""
    # As an import has it, people do not count beside models.
    models = any(kind != "person" for kind in kinds.values())
    judges = tuple(
        Judge.model_validate({"name": a, "kind": k, "shadow": models and k == "person"})
        for a, k in kinds.items()
    )
    items = tuple(
        Item(
            id=f"i{at}",
            submission="Rain falls.",
            system=("x", "y")[at % 2],
            tags=("long",) if at % 3 == 0 else (),
            labels={"Tone": Label(label=("Cold", "Mild", "Warm")[at % 3])} if labelled else {},
        )
        for at in range(n)
    )
    plan = RunPlan(
        name="Imported",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=items), now=NOW).id,
        panel=Panel(judges=judges),
    )
    run = store.runs.create(plan, [(item.id, 2 * len(kinds)) for item in items], now=NOW).id
    outcomes = [
        AskedOutcome(
            (Vote(Cell(item.id, criterion.name, name), (at * 7 + at * who // 3) % k, False),)
        )
        for at, item in enumerate(items)
        for who, name in enumerate(kinds)
        for criterion, k in zip(RUBRIC.criteria, (2, 3), strict=True)
    ]
    lease = store.leases.claim("x:1:x", at=1e10, seconds=60, run_id=run)
    assert lease is not None
    derive = derivation_for(store.runs.get(run).plan, RUBRIC, items)
    store.votes.record(run, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive)
    store.leases.release(lease, "done", now=NOW)
    return run


def charts(app: AppTest) -> int:
    return len(app.get("plotly_chart"))


def words(app: AppTest) -> str:
    return html.unescape(shown(app).replace("\\", ""))


def test_with_people_their_majority_is_what_the_panel_is_held_against(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, EVERYBODY)), view="figures")

    assert app.selectbox(key=field(keys.REFERENCE)).value == "people"
    assert app.selectbox(key=field(keys.RATER)).value == "panel"
    assert "tied" in words(app)
    assert "People's alpha" in words(app)


def test_people_alone_can_be_examined_one_by_one(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, PEOPLE)), view="figures")

    assert app.selectbox(key=field(keys.REFERENCE)).value == "people"
    assert app.selectbox(key=field(keys.RATER)).options == [
        "Rater: ann",
        "Rater: ben",
        "Rater: cat",
    ]
    assert "ann is compared with the majority of the others." in words(app)
    assert "Judges' alpha" not in words(app)


@pytest.mark.parametrize("kinds", [EVERYBODY, PEOPLE], ids=["everybody", "people"])
@pytest.mark.parametrize(
    "view", ["criteria", "figures", "one", "raters", "scores", "variance", "severity", "findings"]
)
def test_every_view_opens_from_its_address(store: Store, view: str, kinds: dict[str, str]) -> None:
    app = open_page(PAGE, run=str(imported(store, kinds)), view=view, criterion="Tone")

    assert app.selectbox(key=field(state.VIEW)).value
    assert charts(app) >= (0 if view in ("criteria", "figures", "findings") else 1)
    assert ("rs-bar" in shown(app)) == (view == "criteria")
    assert "undefined<br>" not in words(app) or view != "criteria"


def test_a_run_without_people_has_every_view_too(store: Store) -> None:
    run = str(graded(store))

    for view in ("one", "raters", "scores", "variance", "severity", "findings"):
        assert not open_page(PAGE, run=run, view=view).exception


def test_where_severity_surely_changes_no_score_it_says_so_and_lists_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(imported(store, EVERYBODY))
    assert "Items most affected by severity" in words(open_page(PAGE, run=run, view="severity"))

    monkeypatch.setattr(SeverityStudy, "surely_changed", ())
    app = open_page(PAGE, run=run, view="severity")
    assert "Severity significantly changes the score of none of 60 items." in words(app)
    assert "Items most affected by severity" not in words(app)


def test_a_part_of_the_items_is_in_the_address_and_said_with_its_number(store: Store) -> None:
    run = str(imported(store, EVERYBODY))

    app = open_page(PAGE, run=run, system="y", tag="long", view="one", rater="judge:gpt")

    # Items 3, 9, ... 57: every sixth of 60.
    assert "10 of 60 items: y, long" in words(app)
    assert "50 or more are more reliable" in words(app)
    assert "a share of one half is uncertain by 14 points or more" in words(app)


def test_choosing_a_system_goes_into_the_address_and_forgets_the_cell(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, EVERYBODY)), view="one", cell="0-0")
    every = linked_items(app)

    app.multiselect(key=field(state.SYSTEM)).set_value(["x"]).run()

    assert not app.exception
    assert list(app.query_params[state.SYSTEM]) == ["x"]
    assert keys.CELL not in app.query_params
    app.selectbox(key=field(keys.CELL)).set_value("0-0").run()
    assert linked_items(app)
    assert {int(item[1:]) % 2 for item in linked_items(app)} == {0}
    assert every


def test_what_no_item_has_is_not_chosen(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, EVERYBODY)), system="gone", tag="none")

    assert app.multiselect(key=field(state.SYSTEM)).value == []
    assert "Agreement per criterion" in shown(app)


def test_choices_that_exclude_each_other_leave_no_item_and_say_so(store: Store) -> None:
    # Of five items only 0 and 3 are long, and only 3 is of y.
    run = str(imported(store, EVERYBODY, n=3))

    app = open_page(PAGE, run=run, system="y", tag="long")

    assert "No item fits" in words(app)
    assert app.multiselect(key=field(state.TAG)).value == ["long"]


def test_a_reference_can_be_one_person_and_the_rater_a_judge(store: Store) -> None:
    app = open_page(
        PAGE,
        run=str(imported(store, EVERYBODY)),
        reference="person:ben",
        rater="judge:gpt",
        view="one",
    )

    assert "gpt against ben: 60 items with an answer from both" in words(app)


def test_the_matrix_leads_to_a_pair_and_the_earlier_column_is_the_reference(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ("people", "judge:gpt", "person:ann")
    put = dict[str, object]()
    monkeypatch.setattr(state, "set_address", lambda **given: put.update(given))
    clicked = {"selection": {"points": [{"customdata": [2, 1]}]}}
    monkeypatch.setattr(state, "get", lambda *_: clicked)

    raters._on_click("chart", columns)

    assert (put[keys.REFERENCE], put[keys.RATER]) == ("judge:gpt", "person:ann")
    assert put[state.VIEW] == "one"


def test_a_box_dragged_in_the_matrix_means_the_cell_in_its_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = dict[str, object]()
    monkeypatch.setattr(state, "set_address", lambda **given: put.update(given))
    box = {"selection": {"points": [], "box": [{"x": [-0.4, 0.3], "y": [1.7, 2.2]}]}}
    monkeypatch.setattr(state, "get", lambda *_: box)

    raters._on_click("chart", ("people", "judge:gpt", "person:ann"))

    assert (put[keys.REFERENCE], put[keys.RATER]) == ("people", "person:ann")


def test_people_stand_beside_judges_as_the_ceiling(store: Store) -> None:
    text = words(open_page(PAGE, run=str(imported(store, EVERYBODY)), view="raters"))

    assert "People agree with each other at a mean kappa of" in text
    assert "LLM judges reach" in text
    assert "offline judges reach" in text


def test_a_finding_is_chosen_beside_its_evidence_and_stays_in_the_address(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, EVERYBODY)), view="findings")
    findings = app.radio(key=field(keys.FINDING))

    findings.set_value(findings.options and str(len(findings.options) - 1)).run()

    assert not app.exception
    assert app.query_params[keys.FINDING] == str(len(findings.options) - 1)
    assert charts(app) >= 1
    assert "What could not be examined" in str([e.label for e in app.expander])
    assert "No order in which options were shown is known" in words(app)


def test_a_finding_leads_to_the_items_it_is_about(store: Store) -> None:
    run = imported(store, EVERYBODY)
    app = open_page(PAGE, run=str(run), view="findings")
    # The first finding is that votes on "Cites *it*" do not agree: the items where they differ.
    said: dict[str, set[int | None]] = {}
    for ballot in store.votes.all_ballots(run):
        if ballot.criterion == "Cites *it*" and ballot.judge not in PEOPLE:
            said.setdefault(ballot.item_id, set()).add(ballot.option)
    split = tuple(item for item in store.runs.item_ids(run) if len(said[item]) > 1)
    assert 0 < len(split) < 60

    assert offered(app, store) == [
        Work(f"Step through these {len(split)}", split, "Cites *it*"),
        Work("Review these", split, "Cites *it*"),
    ]


def test_a_finding_about_a_judge_leads_to_where_it_is_not_with_the_panel(store: Store) -> None:
    run = imported(store, EVERYBODY)
    sheet = load_ratings.sheet_of_run(store, run)
    (gpt, *_) = sheet.judges
    finding = SimpleNamespace(role="judge", subject=rating_sheet.name_of(gpt))
    chosen = SimpleNamespace(run_id=run, run_about=(run,), whole=sheet, reference=ratings.PEOPLE)

    assert findings.finding_items(chosen, SimpleNamespace(finding=finding)) == (
        "gpt against the panel's verdicts",
        confusion.items_that_differ(sheet, ratings.PANEL, gpt),
        None,
    )


def test_a_part_of_the_items_is_work(store: Store) -> None:
    app = open_page(PAGE, run=str(imported(store, EVERYBODY, 6)), tag="long", system="x")

    # Every third is long, every second of x: i0 alone.
    (work,) = [one for one in offered(app, store) if one.words == "Review these"]
    assert (work.items, work.criterion) == (("i0",), None)


def test_how_sure_raters_are_stands_beside_how_often_they_are_right(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)), view="sure", criterion="Clear", rater="judge:ann")

    text = shown(app)
    # Every vote of tests.pages.graded is .75 sure of itself; bob's chances are kept, too.
    assert "Confidence and accuracy: Clear" in text
    assert "ann against labels (gold)" in text
    assert "How sure" in text
    assert "0.70 to 0.80" in text
    chart, _ = app.get("plotly_chart")  # the second is of a cascade replayed
    assert "Reliability diagram of ann" in str(chart.proto)


def test_where_nobody_says_how_sure_they_are_the_way_to_it_is_said(store: Store) -> None:
    text = shown(open_page(PAGE, run=str(imported(store, EVERYBODY)), view="sure"))
    assert "No rater gives a confidence" in text


def test_the_page_opens_with_what_to_trust_and_leads_to_where_they_differ(store: Store) -> None:
    run = imported(store, {"one": "imported", "two": "imported"}, labelled=True)
    said = conclusion.conclusion_on(load_ratings.sheet_of_run(store, run))

    app = open_page(PAGE, run=str(run))

    text = html.unescape(shown(app))
    assert headline(said) in text
    assert said.sentence in html.unescape(shown(open_page(PAGE, run=str(run), view="figures")))
    for one in said.criteria:
        assert f"view=one&criterion={quote_plus(one.name)}&reference=labels&rater=panel" in text


def test_without_labels_it_says_what_would_tell_and_where_judges_disagree(store: Store) -> None:
    run = imported(store, {"one": "imported", "two": "imported"}, labelled=False)
    app = open_page(PAGE, run=str(run))
    text = html.unescape(shown(app))
    assert "No person has graded any of these texts" in text
    assert "Judges agree on none of 2 criteria" in text
    assert "view=raters&criterion=Tone" in text
    ways = {one.proto.label: one.proto.query_string for one in app.main.get("page_link")}
    assert ways["Grade ten texts yourself"] == f"run={run}&rule=random"


def test_more_than_twelve_raters_are_a_ranked_list_in_groups(store: Store) -> None:
    many = {**PEOPLE, **{f"model {at}": "imported" for at in range(13)}}

    app = open_page(PAGE, run=str(imported(store, many)), view="raters")

    assert not app.exception
    text = shown(app)
    assert "Kappa with the majority of people, highest first in each group" in text
    assert "LLM judges, 13: mean" in text
    assert "People, 3: mean" in text
    assert text.index("LLM judges, 13") > text.index("People, 3: mean")
    assert "Heat map of all pairs" in [one.label for one in app.expander]


def test_raters_says_whether_a_judge_may_stand_in_for_a_person(store: Store) -> None:
    run = str(imported(store, EVERYBODY))
    app = open_page(PAGE, run=run, view="raters", criterion="Tone", rater="judge:gpt")
    said = html.unescape(shown(app))
    assert "May a judge stand in for a person?" in said
    found = calibration.stand_in_test(
        load_ratings.sheet_of_run(store, int(run)), "judge:gpt", 0.15, "Tone"
    )
    rate = found.winning_rate
    assert rate.value is not None
    verb = "may" if found.passes else "may not"
    assert f"gpt {verb} stand in for one of these people" in said
    assert f"it surely keeps up with {round(rate.value * rate.n)} of 3 of them" in said
    few = open_page(
        PAGE, run=str(imported(store, {"ann": "person", "gpt": "imported"})), view="raters"
    )
    assert "is unknown: 1 of at least 3 people rated this" in html.unescape(shown(few))


def test_probes_ask_at_a_stated_cost_and_say_which_edits_move_a_judge(store: Store) -> None:
    run = made(store, LONGISH, FAIR)
    app = open_page(PAGE, run=str(run), view="probes")
    assert "0 calls" in words(app)
    app.number_input[0].set_value(22).run()
    next(one for one in app.button if one.label == "Ask them").click().run()
    assert not app.exception
    work_here(store, probes.of_run(store, run)[0].id)

    app = open_page(PAGE, run=str(run), view="probes")
    text = words(app)
    assert "longish rewards length: made twice as long by words that say nothing" in text
    assert "22 answers" in text
    assert "fair rewards" not in text
    assert charts(app) == 1
    # A probe is no spot check, on Start neither.
    assert "Probes:" not in shown(open_page(routes.START))
    none = open_page(PAGE, run=str(imported(store, EVERYBODY)), view="probes")
    assert "Nothing to probe" in shown(none)


def test_all_criteria_stand_in_one_line_and_intervals_can_be_chosen(store: Store) -> None:
    run = str(imported(store, EVERYBODY, labelled=True))
    whole = overall.overall_of_sheet(load_ratings.sheet_of_run(store, int(run)), "people", "panel")
    chosen = {"reference": "people", "rater": "panel", "view": "figures"}
    said = words(open_page(PAGE, run=run, **chosen))
    assert f"All 2 criteria together: {percent(whole.accuracy.value)}" in said
    assert f"of {whole.cells} answers are the reference's; mean kappa" in said

    app = open_page(PAGE, run=run, view="one", criterion="Tone")
    assert "95% interval" in words(app)
    assert "How evenly the options are used" in words(app)
    app.selectbox(key="confidence_field/level").set_value(0.8).run()
    app.selectbox(key="confidence_field/method").set_value("basic").run()
    assert not app.exception
    assert "80% interval" in words(app)
    assert "(by the method that you chose)" in words(app)
    # It counts in every other view, but not for what to trust.
    app.query_params[state.VIEW] = "figures"
    app.run()
    assert "Below each figure: 80% interval" in words(app)
    sheet = load_ratings.sheet_of_run(store, int(run))
    assert conclusion.conclusion_on(sheet, "labels", "panel").sentence in words(app)


def test_how_sure_a_judge_must_be_to_decide_alone_stands_under_how_sure(store: Store) -> None:
    run = voted(store, Panel(judges=(ONE, TWO)))
    text = words(open_page(PAGE, run=str(run), view="sure", criterion="clear"))
    assert "Which confidence threshold lets a judge decide alone?" in text
    assert "one alone gives the label on 35% of 20 labelled cells, two on 90%" in text


def test_over_time_asks_the_same_again_and_holds_it_against_the_first(store: Store) -> None:
    run = made(store, FAIR)
    app = open_page(PAGE, run=str(run), view="over_time")
    assert "0 calls" in words(app)
    next(one for one in app.button if one.label == "Ask the same questions again").click().run()
    assert not app.exception
    again = drift.latest(store, run)
    assert again is not None
    work_here(store, again.id)

    app = open_page(PAGE, run=str(again.id), view="over_time")
    assert "No judge has moved beyond its limits in 1 look." in words(app)
    assert charts(app) == 0  # there are no labels: how often it is right cannot be told
    assert "Nothing to compare" in shown(app)
    kind = open_page(PAGE, run=str(run), view="over_time", over_time="earned")
    assert charts(kind) == 1
    assert "50%" in words(kind)
