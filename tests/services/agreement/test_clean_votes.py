"""A folder's votes read by whole columns are what reading row by row makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Option, Rubric
from core.formats.votes.clean_votes import read_clean
from core.services.agreement import load_ratings
from core.services.agreement.ratings import Rated

RUBRIC = """\
name: Two
criteria:
  - {name: Right, requirement: It is right.}
  - {name: Deep, requirement: How deep?, scale: ordinal, options: [
      {label: low, value: 0}, {label: high, value: 1}, {label: unclear, na: true}]}
"""
ITEMS = "".join(
    f'{{"id": "{i}", "submission": "x", "labels": {{"Right": "MET"}}}}\n' for i in "abc"
)
HEADER = "item_id,criterion,rater_id,rater_kind,label\n"
#: Labels as people write them: in other cases, with spaces, abstentions of two kinds, and none.
LABELS = {
    "Right": ("MET", "unmet", " MET", "CANNOT_ASSESS", ""),
    "Deep": ("low", "High", "unclear", "CANNOT_ASSESS", ""),
}
cells = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(sorted(LABELS)),
    st.sampled_from([("ann", "human"), ("bot", "llm"), ("bot", " LLM"), ("ann", "offline")]),
)


def _once(cell: tuple[str, str, tuple[str, str]]) -> tuple[str, ...]:
    item, criterion, (rater, kind) = cell
    return item, criterion, rater, kind.strip().lower()


@st.composite
def rows(draw: st.DrawFn) -> list[str]:
    chosen = draw(st.lists(cells, min_size=1, unique_by=_once))
    said = [draw(st.sampled_from(LABELS[name])) for _, name, _ in chosen]
    return [",".join((i, n, *r, label)) for (i, n, r), label in zip(chosen, said, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("folder")
    (made / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (made / "items.jsonl").write_text(ITEMS, encoding="utf-8")
    return made


def _told(rated: Rated) -> object:
    return (
        rated.raters,
        [
            (one.name, one.raters, [(name, c.tolist()) for name, c in one.columns.items()])
            for one in rated.criteria
        ],
        {rater: {n: c.tolist() for n, c in of.items()} for rater, of in rated.given.items()},
        {name: column.tolist() for name, column in rated.labelled.items()},
    )


@given(rows())
def test_clean_votes_are_read_as_row_by_row(folder: Path, lines: list[str]) -> None:
    (folder / "votes.csv").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_ratings, "parse_votes", None)  # it must not be needed
        clean = load_ratings.of_folder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_ratings, "read_clean_votes", lambda *_: None)
        careful = load_ratings.of_folder(folder)
    assert _told(clean) == _told(careful)


@pytest.mark.parametrize(
    "row",
    [
        "z,Right,ann,human,MET",  # no such item
        "a,Wrong,ann,human,MET",  # no such criterion
        "a,Right,ann,alien,MET",  # no such kind
        "a,Right, ,human,MET",  # nobody
        "a,Right,ann,human,maybe",  # no option
        "a,Right,ann,human,MET,more",  # too many cells
        "a,Right,ann,human",  # too few
        'a,Right,ann,human,"MET"',  # quotes, which might not close
        "b,Right,bob,human,MET",  # the same cell twice
        ",,,,",  # a blank row
    ],
)
def test_what_is_not_plain_is_left_to_the_reader_of_rows(row: str) -> None:
    rubric = Rubric(criteria=(Criterion(name="Right", requirement="It is right."),))
    text = f"{HEADER}b,Right,bob,human,MET\n{row}\n"
    items = [Item(id=name, submission="x") for name in "ab"]
    assert read_clean(text, ",", HEADER.strip().split(","), rubric, items) is None


@pytest.mark.parametrize("column", ["weight", "replicate", "order", "confidence", "p_MET"])
def test_rows_that_say_more_are_read_one_by_one(column: str) -> None:
    rubric = Rubric(criteria=(Criterion(name="Right", requirement="It is right."),))
    items = [Item(id="a", submission="x")]
    columns = [*HEADER.strip().split(","), column]
    head = ",".join(columns)
    plain = read_clean(f"{head}\na,Right,bob,human,MET,\n", ",", columns, rubric, items)
    assert plain is not None
    assert plain[0].options.tolist() == [0]
    assert read_clean(f"{head}\na,Right,bob,human,MET,1\n", ",", columns, rubric, items) is None


def test_items_with_rubrics_of_their_own_are_read_one_by_one() -> None:
    options = (Option(label="MET", value=1.0), Option(label="UNMET", value=0.0))
    own = Rubric(criteria=(Criterion(name="Right", requirement="Is it?", options=options),))
    items = [Item(id="a", submission="x", rubric=own)]
    text = f"{HEADER}a,Right,bob,human,MET\n"
    assert read_clean(text, ",", HEADER.strip().split(","), own, items) is None
