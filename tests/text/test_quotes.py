"""A judge's quote is found where it stands, and never where it does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.text.quotes import find_quote


def test_the_exact_words_are_found_before_a_looser_match() -> None:
    # "sun" stands at 4 in another case and at 8 as quoted.
    assert find_quote("The Sun sun", "sun") == (8, 11)


def test_spaces_case_quotation_marks_and_dashes_do_not_count() -> None:
    text = "He said:  “It’s\nwarm – very.”"

    found = find_quote(text, "it's warm - VERY")

    assert found == (text.index("It"), text.index(".”"))


def test_a_ligature_that_is_compared_as_two_letters_keeps_its_place() -> None:
    # U+FB01 is one character of the text and two of what is compared.
    assert find_quote("a ﬁne day", "fine DAY") == (2, 9)


def test_other_words_and_nothing_are_not_found() -> None:
    assert find_quote("The sun rises.", "the moon rises") is None
    assert find_quote("The sun rises.", "  ") is None
    assert find_quote("The sun rises.", ' "..." ') is None
    assert find_quote("", "x") is None


@given(st.text(min_size=1), st.data())
def test_every_piece_of_a_text_that_is_not_blank_is_found_in_it(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    piece = text[start:end]

    found = find_quote(text, piece)

    if piece.strip():
        assert found is not None
        assert text[slice(*found)] == piece


@given(st.text(), st.text())
def test_what_is_found_lies_in_the_text(text: str, quote: str) -> None:
    found = find_quote(text, quote)
    if found is not None:
        start, end = found
        assert 0 <= start < end <= len(text)
