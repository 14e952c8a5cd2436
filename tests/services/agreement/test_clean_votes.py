"""A folder's votes read by whole columns are what reading row by row makes of them."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.formats.votes import clean_votes, sources, vote_tables
from core.formats.votes.clean_votes import CleanAnswers, read_clean_votes
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_path
from core.services.agreement import load_ratings
from core.services.agreement.ratings import Rated
from core.services.imports import vote_import
from core.store.store import Store
from tests.new_store import new_store

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


@given(rows(), st.sampled_from([2**6, 2**20]))
def test_clean_votes_are_read_as_row_by_row(folder: Path, lines: list[str], block: int) -> None:
    (folder / "votes.csv").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean_votes, "_BLOCK", block)  # two rows, or all of them
        patch.setattr(load_ratings, "parse_rows", None)  # it must not be needed
        clean = load_ratings.folder_ratings(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_ratings, "read_clean_votes", lambda *_: None)
        careful = load_ratings.folder_ratings(folder)
    assert _told(clean) == _told(careful)


NUMBERS = count()
TABLES = ("run", "run_item", "vote", "failure", "cell")
#: Named by the clock, or by how often verdicts were derived on the way.
APART = {"created", "started", "finished", "seconds", "derived"}


def _kept(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Everything that an import leaves of votes and of what follows from them."""
    found = {}
    with store.write() as db:
        for table in TABLES:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            columns = ", ".join(name for name in names if name not in APART)
            order = "run_id, item_id, criterion" if table == "cell" else "id"
            order = "run_id, position" if table == "run_item" else order
            found[table] = db.execute(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()
    return found


@settings(max_examples=10)
@given(rows())
def test_an_import_by_columns_leaves_what_one_row_by_row_leaves(
    folder: Path, lines: list[str]
) -> None:
    (folder / "votes.csv").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    clean = read_bundle(open_path(folder), "folder")
    assert isinstance(clean.votes.rows, CleanAnswers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vote_tables, "read_clean_votes", lambda *_, **__: None)
        careful = read_bundle(open_path(folder), "folder")
    assert isinstance(careful.votes.rows, tuple)
    assert tuple(clean.votes.rows) == careful.votes.rows
    assert clean.votes.rows[:2] == careful.votes.rows[:2]
    told = []
    for name, bundle in (("clean", clean), ("careful", careful)):
        store = new_store(folder / f"{name}-{next(NUMBERS)}.db")
        before = vote_import.preview(store, bundle)
        done = vote_import.bring_in(store, bundle, source="votes")
        # The same votes again are the same run, whichever way they are read.
        assert vote_import.bring_in(store, careful).run == done.run
        told.append((before, done, _kept(store)))
        store.close()
    assert told[0] == told[1]


@pytest.mark.parametrize("text", ["\n", "\r\n"])
def test_a_reason_or_an_empty_line_is_read_row_by_row(folder: Path, text: str) -> None:
    for content in (
        f"item_id,criterion,rater_id,rater_kind,label,reason{text}a,Right,ann,llm,MET,So.{text}",
        f"{HEADER.strip()}{text}a,Right,ann,llm,MET{text}{text}b,Right,ann,llm,MET{text}",
    ):
        (folder / "votes.csv").write_text(content, encoding="utf-8", newline="")
        found = read_bundle(open_path(folder), "folder").votes.rows
        assert isinstance(found, tuple)
        assert found[0].reason in ("So.", "")


@pytest.mark.parametrize("ends", ["\n\n", "\r\n\r\n", "\r\r\n", "\n\r", "\r\r"])
def test_a_vote_below_an_empty_line_is_told_by_its_own_line(folder: Path, ends: str) -> None:
    # An empty line comes also of line ends that were written twice, or of two kinds.
    content = f"{HEADER}a,Right,ann,llm,MET{ends}b,Right,ann,llm,MET\n"
    (folder / "votes.csv").write_text(content, encoding="utf-8", newline="")
    found = read_bundle(open_path(folder), "folder").votes.rows
    # Below the header, and below the empty line 3.
    assert [vote.line for vote in found] == [2, 4]


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
        "a,Right,ann,human,M\0ET",  # a NUL
        "a,Right,ann,human,M\udcffET",  # no UTF-8
    ],
)
def test_what_is_not_plain_is_left_to_the_reader_of_rows(row: str) -> None:
    rubric = Rubric(criteria=(Criterion(name="Right", requirement="It is right."),))
    text = f"{HEADER}b,Right,bob,human,MET\n{row}\n"
    assert read_clean_votes(text.encode(errors="surrogateescape"), rubric, "ab") is None


def test_bytes_that_are_no_text_are_refused_in_a_column_that_nobody_reads_too(
    folder: Path,
) -> None:
    text = f"{HEADER.strip()},note\na,Right,bob,human,MET,\N{EURO SIGN}\n"
    (folder / "votes.csv").write_bytes(text.encode() + b"b,Right,bob,human,MET,\xe9\n")
    for reading in (
        load_ratings.folder_ratings,
        lambda path: read_bundle(open_path(path), "folder"),
    ):
        with pytest.raises(InputError) as refused:
            reading(folder)
        assert str(refused.value.problems[0]).startswith("line 3: is not UTF-8: byte 0xe9")


def test_a_file_that_is_too_large_is_refused_before_any_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "votes.csv").write_text(HEADER * 20, encoding="utf-8")
    monkeypatch.setattr(sources, "MAX_DATASET_BYTES", 500)
    with pytest.raises(InputError, match="larger than 0 MB"):
        open_path(folder)


def test_an_import_by_columns_does_not_load_pandas(folder: Path, tmp_path: Path) -> None:
    # It is 40 MB that nothing here needs; what a block of columns gives of itself loads it.
    # (Who makes a new data file loads it, too.)
    new_store(tmp_path / "new.db").close()
    (folder / "votes.csv").write_text(f"{HEADER}a,Right,ann,human,MET\n", encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from core.store.store import Store\n"
        "from core.services.imports.import_files import import_path\n"
        f"import_path(Store(Path({str(tmp_path / 'new.db')!r})), Path({str(folder)!r}))\n"
        "print('pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True False\n", "")


@pytest.mark.parametrize("column", ["weight", "replicate", "order", "confidence", "p_MET"])
def test_rows_that_say_more_are_read_one_by_one(column: str) -> None:
    rubric = Rubric(criteria=(Criterion(name="Right", requirement="It is right."),))
    items = ["a"]
    head = f"{HEADER.strip()},{column}\n"
    plain = read_clean_votes(f"{head}a,Right,bob,human,MET,\n".encode(), rubric, items)
    assert plain is not None
    assert plain.option.tolist() == [0]
    assert read_clean_votes(f"{head}a,Right,bob,human,MET,1\n".encode(), rubric, items) is None


def test_items_with_rubrics_of_their_own_are_read_one_by_one() -> None:
    options = (Option(label="MET", value=1.0), Option(label="UNMET", value=0.0))
    own = Rubric(criteria=(Criterion(name="Right", requirement="Is it?", options=options),))
    items = [Item(id="a", submission="x", rubric=own)]
    text = f"{HEADER}a,Right,bob,human,MET\n"
    assert isinstance(vote_tables.parse_votes(text, "votes.csv", own, items).value.rows, tuple)
