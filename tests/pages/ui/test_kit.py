"""The kit: hostile text stays text, numbers read the same everywhere, errors are said."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core.domain.rubric import Criterion, Option
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui.items import option_chips
from pages.ui.text import JOINER, esc, label, marked, one_line
from tests.places import ROOT

PAGES = ROOT / "pages"


@pytest.mark.parametrize(
    "text",
    [
        "**b** _i_ `c` ~~s~~ [l](http://x.test) ![i](http://x.test/p.png)",
        "# h",
        "1. one",
        "> q",
        "$x$ | a |",
        "<img src=x onerror=alert(1)> &amp; &#42;",
    ],
)
def test_a_label_has_no_mark_that_markdown_reads(text: str) -> None:
    bare = label(text)
    for number in {ord(c) for c in text if not c.isalnum() and not c.isspace()}:
        bare = bare.replace(f"&#{number};", "")
    assert all(c.isalnum() or c.isspace() or c == JOINER for c in bare)


@given(st.text())
def test_a_label_reads_as_the_same_characters(text: str) -> None:
    # What the browser shows: references resolved, joiners invisible.
    assert html.unescape(label(text)).replace(JOINER, "") == one_line(text)


@given(st.text())
def test_no_icon_emoji_address_or_arrow_survives_in_a_label(text: str) -> None:
    shown = html.unescape(
        label(text + " :material/x: www.x.test a@b.c http://x -> <- >= www.www.a")
    )
    assert not re.search(rf"[:@][^\s{JOINER}]|[wW]{{3}}\.|[-<>=~][-<>=~]", shown)


@given(st.text(alphabet=st.characters()))
def test_nothing_invisible_is_left_in_shown_text(text: str) -> None:
    shown = visible(text)
    assert shown.encode("utf-8").decode() == shown  # no half characters
    assert not [c for c in shown if "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"]
    assert not [c for c in shown if ord(c) < 32 and c not in "\n\t"]


def test_marks_are_merged_clamped_and_escaped() -> None:
    assert marked("a<b>c", [(3, 99), (0, 2), (1, 3), (4, 4), (-5, 0)]) == (
        '<mark class="rs-mark">a&lt;b</mark>'.replace("b</mark>", "b&gt;c</mark>")
    )


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40))))
def test_marking_never_changes_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    shown = marked(text, spans).replace('<mark class="rs-mark">', "").replace("</mark>", "")
    whole = esc(text)
    # A line break of two characters may be split by a mark; everything else is the same.
    assert shown.replace("\n\n", "\n") == whole.replace("\n\n", "\n")


GRADE = Criterion(
    name="g",
    requirement="?",
    scale="ordinal",
    options=(Option(label="<Low>", value=0), Option(label="High", value=1)),
)


def test_the_chosen_option_has_a_tick_and_each_its_shown_and_own_place() -> None:
    chips = option_chips(GRADE, 0, (1, 0, 2))
    first, second, third = chips.split('<span class="rs-chip')[1:]
    assert "High" in first
    assert "option 2" in first
    assert "✓" in second
    assert "rs-chosen" in second
    assert "&lt;Low&gt;" in second
    assert "no score" in third
    assert chips.count("✓") == 1


def _cards() -> None:
    import streamlit as st

    from core.domain.votes import Call, Cell, Vote, VoteFailure
    from pages.ui.items import vote_card
    from tests.pages.ui.test_kit import GRADE

    cell = Cell("i", "g", "<judge>")
    st.html(vote_card(GRADE, VoteFailure(cell, "rate_limit", "<b>slow</b>"), Call((), {})))
    st.html(vote_card(GRADE, Vote(cell, None, True, reason="<i>")))
    offline = {"method": "nearest labelled neighbours"}
    st.html(vote_card(GRADE, Vote(cell, 0, False, detail=offline)))


def test_a_card_says_failure_abstention_and_unknown_cost_in_words() -> None:
    app = AppTest.from_function(_cards).run()
    failure, abstention, offline = (str(card.proto.body) for card in app.get("html"))
    assert "No vote: rate limit" in failure
    assert "&lt;b&gt;slow" in failure
    assert "&lt;judge&gt;" in failure
    assert "cost unknown" in failure
    assert "Abstained" in abstention
    assert "&lt;i&gt;" in abstention
    # An offline judge is shown no options, and so no order of them.
    assert "no options shown: this judge learned from labels" in offline
    assert "by nearest labelled neighbours" in offline


def test_an_unknown_number_is_never_a_zero() -> None:
    for write in (fmt.score, fmt.percent, fmt.count, fmt.number, fmt.seconds):
        assert write(None) == fmt.DASH  # type: ignore[operator]
        assert write(0) != fmt.DASH  # type: ignore[operator]
    assert fmt.cost(None) == "unknown"
    assert fmt.cost(0) == "$0.00"


def test_no_page_is_beside_the_frame() -> None:
    assert {p.name for p in PAGES.glob("*.py")} == {"__init__.py", "frame.py"}
