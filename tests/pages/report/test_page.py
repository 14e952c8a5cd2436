"""The Report page says what its files say, and its numbers lead to items."""

from __future__ import annotations

import html
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.blocks.blocks import TextCell
from core.blocks.html import html_paper
from core.blocks.markdown import markdown_paper
from core.domain.runs import RunItemFilter
from core.metrics.estimate import Confidence
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.services.results import browsing
from core.store.store import Store
from pages.report import blocks
from pages.ui import routes, state, widgets
from pages.ui.blocks.drawn import cell_html
from tests.pages.conftest import open_page, shown
from tests.pages.graded import graded, planned
from tests.pages.ways import offered
from tests.services.reports.made import decided

PAGE = routes.REPORT
NUMBER = re.compile(r"(?<![\w.])[−+]?\$?\d*\.?\d+%?(?![\w])")


def numbers(text: str) -> set[str]:
    return set(NUMBER.findall(text))


def body(page_html: str) -> str:
    """What is read of our own HTML."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page_html))


def open_annexes(store: Store, run: int) -> AppTest:
    """The report of a run with every annex open."""
    app = open_page(PAGE, run=str(run))
    for at, section in enumerate(report_as_paper(report_run(store, run)).sections):
        if section.annex:
            app.session_state[state.key(blocks.REPORT_FIELD, "annex", at)] = True
    return app.run()


def test_without_votes_the_page_says_what_to_do(store: Store) -> None:
    assert "No run has votes yet" in shown(open_page(PAGE))
    assert "No votes yet" in shown(open_page(PAGE, run=str(planned(store))))


def test_every_number_of_the_page_is_in_both_files(store: Store) -> None:
    run = graded(store)
    app = open_annexes(store, run)
    made = report_as_paper(report_run(store, run))

    there = [str(e.proto.body) for e in app.get("html") if "<style>" not in str(e.proto.body)]
    seen = numbers(body(" ".join(there)))
    assert len(seen) > 30
    assert seen <= numbers(body(html_paper(made)))
    assert seen <= numbers(markdown_paper(made).replace("\\", ""))


def test_intervals_are_as_sure_as_chosen_and_what_to_trust_stays(store: Store) -> None:
    run = graded(store)
    app = open_annexes(store, run)
    app.selectbox(key="confidence_field/level").set_value(0.8).run()
    wide, narrow = report_run(store, run), report_run(store, run, confidence=Confidence(0.8))
    assert "Every interval is a 80% interval" in shown(app)
    assert narrow.conclusion == wide.conclusion
    # The first limit tells of the interval of the mean score.
    assert narrow.limits[1:] == wide.limits[1:]
    ends = [(one.scores.mean.low or 0.0, one.scores.mean.high or 0.0) for one in (wide, narrow)]
    # Three scores: both reach to 1, where normalised scores end.
    assert ends[0][0] < ends[1][0] < ends[1][1] == ends[0][1] == 1.0


def test_every_text_of_the_report_is_on_the_page(store: Store) -> None:
    run = decided(store)
    app = open_annexes(store, run)
    read = body(" ".join(str(e.proto.body) for e in app.get("html")))
    read += " ".join(e.value for e in app.subheader)
    read += " ".join(e.label for e in app.expander)

    made = report_as_paper(report_run(store, run))
    missing = [text for text in made.texts() if text not in read]
    # The head of the run says what is reported on; when it was made is a caption.
    assert [text for text in missing if text not in (made.title, made.subtitle, made.made)] == []
    folded = [one.title for one in made.sections if one.annex]
    assert [one.label for one in app.expander if one.label in folded] == folded
    assert len(app.get("plotly_chart")) == 4


def test_a_number_leads_to_its_items(store: Store) -> None:
    run = decided(store)
    read = " ".join(str(e.proto.body) for e in open_annexes(store, run).get("html"))

    links = {html.unescape(link) for link in re.findall(r'href="([^"]*)"', read)}
    # 5 of 20 pass; x has 10 items; the verdict on `short` is UNMET (choice 1) for 15.
    assert f"run?run={run}&outcome=pass" in links
    assert f"run?run={run}&system=x" in links
    assert f"run?run={run}&criterion=short&verdict=1" in links
    assert f"run?run={run}&item=i01" in links
    # The items behind an accuracy stand in the confusion matrix.
    assert f"agreement?run={run}&view=one&criterion=short" in links
    assert not [link for link in links if "All+items" in link]


def test_a_part_of_the_items_can_be_stepped_through_or_reviewed(store: Store) -> None:
    run = decided(store)
    app = open_annexes(store, run)
    assert offered(app, store) == []
    (systems,) = [one for one in app.selectbox if one.placeholder == "System …"]
    app = systems.set_value("x").run()
    work = offered(app, store)
    # x has 10 of the 20 items.
    assert [one.words for one in work] == ["Step through these 10", "Review these"]
    of_x = browsing.item_ids(store, run, RunItemFilter(system="x"), "position", False)
    assert {one.items for one in work} == {tuple(of_x)}


def test_a_link_cannot_be_broken_out_of() -> None:
    made = cell_html(1, TextCell("1", "", {"system": '"><script>&x=y'}))
    assert "<script>" not in made
    assert "%22%3E%3Cscript%3E%26x%3Dy" in made


def test_four_files_can_be_taken_away(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)))

    names = [button.label for button in app.get("download_button")]
    assert names == ["HTML, to print", "Markdown", "Excel", "CSV of everything"]


def test_a_run_that_does_not_exist_is_said_to_be_missing() -> None:
    assert "There is no run 99" in shown(open_page(PAGE, run="99")).replace("&#46;", ".")


def test_very_many_votes_are_worked_out_when_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(widgets.MANY, "report", 5)
    app = open_page(PAGE, run=str(graded(store)))
    assert not app.subheader

    app.button(key=state.key(widgets.WORKED_OUT, "report")).click().run()

    assert "What came out" in [heading.value for heading in app.subheader]


def test_an_annex_is_drawn_once_it_is_opened(store: Store) -> None:
    run = decided(store)
    app = open_page(PAGE, run=str(run))
    # The browser loads megabytes of script for a chart, even for one that is folded.
    assert "Scores" in [annex.label for annex in app.expander]
    assert not app.get("plotly_chart")
    assert "outcome=pass" not in shown(app)

    app = open_annexes(store, run)
    assert app.get("plotly_chart")
    assert "outcome=pass" in shown(app)


def test_each_step_leads_to_where_it_is_done_and_files_have_its_words(store: Store) -> None:
    run = graded(store)
    steps = (
        ("What would help", f"item?run={run}&amp;rule=random"),
        ("Review the 1 item that needs a person.", f"run?run={run}&amp;only=review"),
    )

    bodies = "".join(str(one.proto.body) for one in open_page(PAGE, run=str(run)).get("html"))
    content = report_as_paper(report_run(store, run))

    for words, address in steps:
        assert f'<a href="{address}" target="_self">{words}' in bodies
    for written in (html_paper(content), markdown_paper(content)):
        assert all(words in written for words, _ in steps)
        assert "rule=random" not in written
