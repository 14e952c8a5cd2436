"""Comments are told from sharp signs that belong to a value."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.formats.rubrics.rubric_file import dump_rubric
from core.formats.source.yaml_reader import comment_lines
from tests.strategies import rubrics


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# first\nname: x\n  # last", (1, 3)),
        ("name: x # beside\nnote: x#y\n", (1,)),
        ("name: 'a # b'\nnote: \"c # d\"\n", ()),
        ("text: |  # beside the sign\n  # part of the text\n  more\n# after it\nx: 1\n", (1, 4)),
        ("text: >-\n  folded # still text\n\nx: [a, b] # beside a list\n", (4,)),
        ("windows: 1 # x\r\nnext: 2\r\n# y\r\n", (1, 3)),
        ("plain: over\n  two lines # and a comment\n", (2,)),
        ("", ()),
        ("note: 'never closed # here\n", ()),
    ],
)
def test_only_comments_are_found(text: str, lines: tuple[int, ...]) -> None:
    assert comment_lines(text) == lines


@given(rubrics())
def test_what_we_write_ourselves_holds_no_comment_whatever_its_texts_are(rubric: Rubric) -> None:
    assert comment_lines(dump_rubric(rubric)) == ()


@given(st.lists(st.sampled_from(["a: 1", "b: 'x # y'", "# note", "c: d # e", ""]), max_size=8))
def test_without_the_lines_that_are_nothing_but_comments_the_data_is_the_same(
    lines: list[str],
) -> None:
    text = "\n".join(lines)
    kept = [line for line in lines if not line.startswith("#")]
    assert yaml.safe_load("\n".join(kept)) == yaml.safe_load(text)
    expected = [n for n, line in enumerate(lines, 1) if line in ("# note", "c: d # e")]
    assert list(comment_lines(text)) == expected
