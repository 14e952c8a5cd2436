"""Plain items are read by whole columns as one by one; what is not plain is left to that reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.clean_items import read_clean_items
from core.formats.folder import read_rubric_file
from core.services.agreement import load_ratings

RUBRIC = """\
name: Two
criteria:
  - {name: Right, requirement: It is right.}
  - {name: Deep, requirement: How deep?, scale: ordinal, options: [
      {label: "1", value: 0}, {label: "2", value: 1}, {label: unclear, na: true}]}
"""
VOTES = "item_id,criterion,rater_id,rater_kind,label\na,Right,ann,human,MET\n"
said = st.sampled_from(["MET", "unmet", " yes", "", "CANNOT_ASSESS", None])
reasoned = st.builds(lambda label, why: {"label": label, "reason": why}, said, st.text(max_size=2))
deep = st.sampled_from([1, 2, None])
texts = st.text(max_size=3)
notes = st.fixed_dictionaries(
    {"n": st.integers(-9, 9)},
    optional={"system": st.sampled_from(["gpt", "", "a\nb"]), "subset": st.sampled_from([3, 7])},
)


@st.composite
def items(draw: st.DrawFn) -> list[dict[str, object]]:
    """Items that all name the same things; each may leave out what is not always said."""
    right = draw(st.sampled_from([said, reasoned]))
    maybe = {
        "prompt": texts,
        "reference": texts,
        "system": st.sampled_from(["ours", "", None]),
        "split": st.sampled_from(["calibration", "evaluation", "", None]),
        "meta": notes,
        "labels": st.fixed_dictionaries({}, optional={"Right": right, "Deep": deep}),
    }
    names = draw(st.sets(st.sampled_from(sorted(maybe))))
    one = st.fixed_dictionaries(
        {"submission": texts}, optional={name: maybe[name] for name in sorted(names)}
    )
    return [{"id": f"{at}ä", **draw(one)} for at in range(draw(st.integers(1, 4)))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("folder")
    (made / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    return made


@settings(max_examples=25)
@given(items(), st.booleans())
def test_plain_items_are_read_as_one_by_one(
    folder: Path, made: list[dict[str, object]], plain: bool
) -> None:
    lines = [json.dumps(one, ensure_ascii=plain) for one in made]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "votes.csv").write_text(VOTES.replace("a,R", "0ä,R"), encoding="utf-8")
    clean = load_ratings.folder_ratings(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_ratings, "read_clean_dataset", lambda *_: None)
        careful = load_ratings.folder_ratings(folder)
    assert clean.of.ids == careful.of.ids
    assert clean.of.traits == careful.of.traits
    told = [{n: c.tolist() for n, c in one.labelled.items()} for one in (clean, careful)]
    # A column without a label is as good as none.
    told = [{n: c for n, c in one.items() if set(c) != {-1}} for one in told]
    assert told[0] == told[1]
    assert clean.items == careful.items


GOOD = '{"id": "a", "submission": "x", "labels": {"Right": "MET"}}'


def test_a_plain_file_needs_no_closer_look(folder: Path) -> None:
    found = read_clean_items(f"{GOOD}\n", _rubric(folder))
    assert found is not None
    assert found.labels["Right"].tolist() == [0]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "b", "submission": "x"} {"id": "c", "submission": "y"}',  # two on a line
        '{"id": "b",\n"submission": "x"}',  # one on two lines
        '{"id": "b", "id": "c", "submission": "x"}',  # a key twice
        '{"id": "b", "submission": "x", "meta": {"k": 1, "k": 2}}',
        '{"id": "b"}',  # no text
        '{"id": "b", "submission": null}',  # a text that is not at hand
        '{"id": "b", "submission": [{"role": "user", "content": "Hi"}]}',
        '{"id": "b", "submission": "x", "meta": {"k": NaN}}',
        '{"id": "b", "submission": "x", "meta": {"k": 1e999}}',
        '{"id": "b", "submission": "\\ud83d"}',  # half a character
        '{"id": "a", "submission": "x"}',  # an id twice
        '{"id": " ", "submission": "x"}',
        '{"id": 7, "submission": "x"}',
        '{"id": "b", "submission": "x", "labels": {"Right": "maybe"}}',  # no option
        '{"id": "b", "submission": "x", "labels": {"right": "MET"}}',  # spelt otherwise
        '{"id": "b", "submission": "x", "labels": {"Deep": {"label": "1", "by": "me"}}}',
        '{"id": "b", "submission": "x", "labels": {"Deep": {"reason": "so"}}}',
        '{"id": "b", "submission": "x", "labels": ["MET"]}',
        '{"id": "b", "submission": "x", "split": "train"}',
        '{"id": "b", "submission": "x", "tags": ["t"]}',
        '{"id": "b", "submission": "x", "colour": "red"}',
        '{"id": "b", "submission": "x", "rubric": {"criteria": []}}',
        '{"id": "b", "submission": "x", "meta": "none"}',
        '{"id": "b", "submission": "x", "meta": {"system": "2024-01-01 10:00:00"}}',
        f'{{"id": "{"b" * 501}", "submission": "x"}}',
        "[]",
        "{",
    ],
)
def test_what_is_not_plain_is_left_to_the_reader_of_items(folder: Path, line: str) -> None:
    assert read_clean_items(f"{GOOD}\n{line}\n", _rubric(folder)) is None


def test_a_bad_item_is_refused_with_its_line(folder: Path) -> None:
    bad = '{"id": "b", "submission": "x", "labels": {"Right": "maybe"}}'
    (folder / "items.jsonl").write_text(f"{GOOD}\n{bad}\n", encoding="utf-8")
    (folder / "votes.csv").write_text(VOTES, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_ratings.folder_ratings(folder)
    assert [problem.line for problem in refused.value.problems] == [2]


def _rubric(folder: Path) -> Rubric:
    return read_rubric_file(folder).value
