"""An answer's JSON is what ``json.loads`` reads, whoever reads it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.judging.providers.base import json_of

TEXT = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)
#: What the quicker reader refuses, and json.loads reads.
DEEP = "[" * 300 + "]" * 300
HALF = '"\\ud83d"'


def read(text: str) -> Any:
    try:
        return repr(json.loads(text))
    except (ValueError, RecursionError) as error:
        return type(error)


def read_here(text: str) -> Any:
    try:
        return repr(json_of(text))
    except (ValueError, RecursionError) as error:
        return type(error)


@given(VALUES, st.booleans())
def test_json_says_the_same_whoever_reads_it(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_here(text) == read(text)


@given(
    VALUES, st.integers(0, 200), st.text('{}[]",:\\u0dE+-.NaI \t\n\x00\x1f\xa0\ufeff', max_size=3)
)
def test_what_is_no_json_is_none_for_both(value: object, at: int, put: str) -> None:
    text = json.dumps(value)
    broken = text[:at] + put + text[at + 1 :]
    assert read_here(broken) == read(broken)


@pytest.mark.parametrize("text", [DEEP, HALF, "NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000])
def test_what_one_reader_refuses_the_other_reads(text: str) -> None:
    assert read_here(text) == read(text)
