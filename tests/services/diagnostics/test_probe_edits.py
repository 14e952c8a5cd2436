"""Edits change how a text looks and not what it says."""

from __future__ import annotations

import re
from random import Random

import pytest

from core.services.diagnostics.probe_edits import (
    DOSES,
    EDITS,
    LAST_LINES,
    NEUTRAL,
    edited_texts,
    word_count,
)

TEXT = (
    "I think the bridge is very old, and it may be closed soon. Due to the fact that it rained, "
    "the river rose.\nPeople cross it in order to reach the market: it is important to note that "
    "there is no other way."
)


def edited(name: str, text: str = TEXT, houses: tuple[str, ...] = ()) -> dict[str, str]:
    return {one.key: one.text for one in edited_texts(text, [name], houses, Random(1))}


def letters(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_padding_goes_after_the_text_and_a_higher_dose_goes_on_from_the_lower() -> None:
    long = " ".join([TEXT] * 6)
    found = [*edited_texts(long, ["longer"], (), Random(1))]
    assert [one.key for one in found] == ["longer:25", "longer:50", "longer:100"]
    for one, dose in zip(found, DOSES, strict=True):
        assert one.text.startswith(long.rstrip())
        # Whole sentences: within half of the longest, 22 words, of the dose.
        assert one.grown * word_count(long) == pytest.approx(dose * word_count(long), abs=11)
        assert word_count(one.text) == round(word_count(long) * (1 + one.grown))
    assert found[1].text.startswith(found[0].text)
    assert found[2].text.startswith(found[1].text)


def test_a_text_of_very_many_words_is_padded_like_a_short_one() -> None:
    # 400,000 words, the most of them that an item holds: half of them, within half a sentence.
    grown = {
        one.key: one.grown for one in edited_texts("Yes. " * 400_000, ["longer"], [], Random(1))
    }
    assert grown["longer:50"] == pytest.approx(0.5, abs=1e-4)


def test_leaving_out_empty_phrases_keeps_every_other_word() -> None:
    assert edited("shorter")["shorter"] == (
        "I think the bridge is old, and it may be closed soon. Because it rained, the river rose.\n"
        "People cross it to reach the market: there is no other way."
    )


def test_a_text_that_an_edit_leaves_as_it_is_has_no_such_twin() -> None:
    assert edited("shorter", "The bridge is old.") == {}
    assert edited("typo", "It is so.") == {}
    assert [*edited_texts("42", EDITS, ("openai",), Random(1))] == []


def test_a_confident_tone_takes_hedges_away_and_adds_no_claim_on_the_matter() -> None:
    found = edited("confident", "I think it may be closed. Perhaps it rained.")["confident"]
    assert found.splitlines()[0] == "It is closed. It rained."


def test_a_line_that_is_added_is_as_long_as_the_one_that_says_nothing() -> None:
    assert {word_count(line) for line in LAST_LINES.values()} == {16}
    # Where no hedge is taken away, every such edit is the text with its line.
    plain = "The river rose because it rained."
    for name in LAST_LINES.keys() - {NEUTRAL}:
        assert edited(name, plain) == {name: f"{plain}\n\n{LAST_LINES[name]}"}


def test_markdown_keeps_the_words_and_their_order() -> None:
    found = edited("markdown")["markdown"]
    assert letters(found) == ["answer", *letters(TEXT)]
    assert found.count("\n- ") == 3


def test_typos_swap_neighbouring_letters_in_two_words_at_least() -> None:
    found = edited("typo")["typo"]
    pairs = [(a, b) for a, b in zip(letters(TEXT), letters(found), strict=True) if a != b]
    assert len(pairs) == 2
    for before, after in pairs:
        assert sorted(before) == sorted(after)
        assert (before[0], before[-1]) == (after[0], after[-1])


def test_each_maker_s_name_stands_above_the_same_text() -> None:
    found = edited("name", houses=("openai", "meta"))
    assert set(found) == {"name:openai", "name:meta"}
    assert all(text.endswith(TEXT) for text in found.values())
    assert "OpenAI" in found["name:openai"]


def test_the_same_seed_makes_the_same_twins() -> None:
    everything = [*EDITS]
    one, other = ([*edited_texts(TEXT, everything, ("meta",), Random(4))] for _ in range(2))
    assert one == other
