"""Judges' quotes in the text that they judged: nothing of the text is lost or obeyed."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from pages.review_item.submission import layered_html, quote_legend

TEXTS = st.text(alphabet="ab <>&.\n", max_size=30)
SPANS = st.lists(st.tuples(st.integers(-2, 35), st.integers(-2, 35)), max_size=4)


@given(TEXTS, SPANS, st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=4))
def test_the_text_stays_what_it_was_however_marks_overlap(
    text: str, own: list[tuple[int, int]], cuts: list[tuple[int, int]]
) -> None:
    quotes = {
        f"Ann {at}": (text[start : start + length],) for at, (start, length) in enumerate(cuts)
    }
    shown = re.sub("<sup>[^<]*</sup>", "", layered_html(text, own, quotes))
    assert html.unescape(re.sub("</?mark[^>]*>", "", shown)) == text


def test_a_passage_that_both_mark_shows_both_marks_and_every_judge_who_quoted_it() -> None:
    quotes = {"Ann": ("sun rises",), "Bob": ("rises",)}
    shown = re.sub(' style="[^"]*"', "", layered_html("The sun rises.", [(4, 7)], quotes))
    assert shown == (
        'The <mark class="rs-quoted"><mark class="rs-mark">sun</mark></mark>'
        '<mark class="rs-quoted"> </mark><mark class="rs-quoted">rises</mark><sup>a,b</sup>.'
    )


def test_who_quoted_what_is_not_there_is_not_in_the_legend() -> None:
    quotes = {"Ann": ("the moon",), "<Bob>": ("sun",)}
    assert quote_legend("The sun.", quotes).endswith("<sup>b</sup> &lt;Bob&gt;</span>")
    assert quote_legend("The sun.", {"Ann": ("the moon",)}) == ""
