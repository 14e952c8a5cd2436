"""JSON: strict where the standard library is lax, with lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats.source.json_reader import read_json, walk
from core.formats.source.parsed import Document
from tests.formats.refusals import refused


def read(text: str) -> Document:
    return read_json(text).require_valid("rubric", "x.json")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"a": 1,\n "a": 2}', 2, "a: is given twice"),
        ('[{"b": {"a": 1,\n\n "a": 2}}]', 3, "b, a: is given twice"),
        ("[1,\nNaN]", 2, "is NaN, which is not a finite number"),
        ('{"w":\n -Infinity}', 2, "w: is -Infinity"),
        ('{"w":\n 1e999}', 2, "is 1e999, which is too large"),
        (f'{{"w":\n {"9" * 5000}}}', 2, "is a whole number of 5000 digits"),
        ('{"a":\n}', 2, "is not valid JSON"),
        ('{"a": 1}\n{"b": 2}', 2, "is not valid JSON: extra data"),
        ('{"a": "x\ny"}', 1, "is not valid JSON"),
        ('{"a": [1,\n"\\ud83d"]}', 2, "holds half of a surrogate pair"),
        ("[\n" + "[" * 200_000, 2, "nested more than 64 levels deep"),
        ('{"a":\n' * 200_000, 65, "nested more than 64 levels deep"),
        ("[" * 100 + "]" * 100, 1, "nested more than 64 levels deep"),
    ],
)
def test_a_fault_is_named_with_its_line(text: str, line: int, words: str) -> None:
    found = refused(lambda: read(text))
    assert found[0][0] == line
    assert words in found[0][1]


def test_every_fault_is_found_at_once() -> None:
    found = refused(lambda: read('{"a": NaN,\n"b": 1e999,\n"a": 1}'))
    assert [line for line, _ in found] == [1, 2, 3]


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert read('["\\ud83d\\ude42"]').value == ["🙂"]


def test_every_place_has_its_line() -> None:
    text = '{"a": [\n1,\n{"b": "x, ]",\n"c": {}}],\n"z": [[],\n[3]]}'
    line_of = read(text).line_of
    places: list[tuple[str | int, ...]]
    places = [("a",), ("a", 0), ("a", 1, "b"), ("a", 1, "c"), ("z",), ("z", 1, 0), ("z", 9)]
    assert [line_of(place) for place in places] == [1, 2, 3, 4, 5, 6, 5]


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place of plain data, in the order of its JSON, by plain recursion."""
    parts = (
        list(value.items() if isinstance(value, dict) else enumerate(value))
        if isinstance(value, dict | list)
        else []
    )
    return [path, *(p for key, part in parts for p in paths_of(part, (*path, key)))]


@given(TREES)
def test_the_walk_finds_every_place_of_any_json(value: Any) -> None:
    found = list(walk(json.dumps(value, indent=1)))
    assert [path for path, _, _ in found] == paths_of(value)
    assert all(fault is None for _, _, fault in found)


@pytest.mark.parametrize(
    "entry",
    [
        r'"a": "\ud83d\ude00"',  # as json.dumps writes what is beyond 16 bits
        f'"{"k" * 1100}": 1',
        '"a" \t: "\x7f"',
        '"a": "\ufffe"',
    ],
)
def test_lines_are_found_in_json_that_yaml_parsers_refuse(entry: str) -> None:
    assert read(f'{{\n{entry},\n"b": [\n1]}}').line_of(("b", 0)) == 4
    faults = refused(lambda: read(f'{{\n{entry},\n"b": 1,\n"b": 2}}'))
    assert [line for line, _ in faults] == [4]


def test_a_colon_may_stand_on_the_line_after_its_key() -> None:
    document = read('{"a"\n:\n1,\n"b": 2}')
    assert (document.line_of(("a",)), document.line_of(("b",))) == (1, 4)
