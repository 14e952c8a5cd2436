"""Read a regular votes.csv as columns.

The row reader (``vote_tables``) handles everything else (quotes, repetitions, unknown labels,
probabilities) and reports problems with their lines.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Option, Rubric
from core.domain.votes import Cell
from core.formats.source.csv_reader import DELIMITERS
from core.formats.source.parsed import MAX_DATASET_BYTES, MAX_ROWS
from core.formats.votes.imported import KINDS, PROBABILITY, REQUIRED, ImportedVote, Labels

Codes = npt.NDArray[Any]
#: If any of these is filled, rows are read one by one.
_MORE = ("weight", "replicate", "order", "confidence")
#: Further columns that an import stores.
KEPT_BESIDES = (*_MORE, "reason")
#: Bytes of the file parsed at a time; a longer first line has no column names.
_BLOCK, _LONGEST_HEAD = 2**20, 2**16


class CleanColumn(NamedTuple):
    """A rater's answers to a criterion.

    ``rows`` are indexes into the list of items. ``options`` index ``Criterion.choices``, -1 for an
    answer without one: an abstention, or an unusable answer that ``failed``.
    """

    criterion: str
    rater: str
    kind: str
    rows: Codes
    options: Codes
    failed: npt.NDArray[np.bool_]


class CleanAnswers(Sequence[ImportedVote]):
    """The rows of the file in order, as columns that are computed on demand.

    ``pair`` gives each row's pair of criterion and rater, ``row`` its item.
    """

    def __init__(self, pairs: Sequence[CleanPair], items: Sequence[str], rows: CleanRows) -> None:
        self.pairs, self.items = pairs, items
        self.pair, self.row, self.option, self.failed = rows
        self.away = (self.option < 0) & ~self.failed
        for at, pair in enumerate(pairs):
            na = [place for place, choice in enumerate(pair.choices) if choice.na]
            if na:
                self.away |= (self.pair == at) & np.isin(self.option, na)

    def __len__(self) -> int:
        return len(self.pair)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(map(self._vote_at, range(*at.indices(len(self)))))
        return self._vote_at(range(len(self))[at])

    def __eq__(self, other: object) -> bool:
        """Return whether the rows are equal, whichever reader read them."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((len(self), self.items))

    def _vote_at(self, at: int) -> ImportedVote:
        pair, option = self.pairs[int(self.pair[at])], int(self.option[at])
        return ImportedVote(
            cell=Cell(self.items[int(self.row[at])], pair.criterion, pair.rater, 0),
            kind=pair.kind,
            option=None if option < 0 else option,
            abstained=bool(self.away[at]),
            failed=bool(self.failed[at]),
            reason="",
            line=at + 2,
        )

    def columns(self) -> list[CleanColumn]:
        """Return the columns in order of their first row."""
        by_pair = np.argsort(self.pair, kind="stable")
        groups = np.split(by_pair, np.flatnonzero(np.diff(self.pair[by_pair])) + 1)
        columns = []
        for at in sorted(groups, key=lambda group: int(group[0])):
            pair_here = self.pairs[int(self.pair[at[0]])]
            rows, options, failed = self.row[at], self.option[at], self.failed[at]
            columns.append(
                CleanColumn(
                    pair_here.criterion, pair_here.rater, pair_here.kind, rows, options, failed
                )
            )
        return columns


class CleanPair(NamedTuple):
    """A criterion, one of its raters, and the choices."""

    criterion: str
    rater: str
    kind: str
    choices: tuple[Option, ...]


class CleanRows(NamedTuple):
    """Columns by row: pair, item, option, and whether the answer is unusable."""

    pair: Codes
    row: Codes
    option: Codes
    failed: npt.NDArray[np.bool_]


def read_clean_votes(
    data: bytes, rubric: Rubric, ids: Sequence[str], *, whole: bool = False
) -> CleanAnswers | None:
    """Return the answers in a votes.csv, or ``None`` if the row reader is needed.

    The items of the run have these ``ids``, and no rubrics of their own. ``whole``: also return
    ``None`` for a file with reasons, which only an import stores.
    """
    head = _read_header(data)
    # The row reader distinguishes lines in its messages.
    if head is None or (whole and (b"\n\n" in data or b"\n\r" in data or b"\r\r" in data)):
        return None
    columns, delimiter = head
    unread = KEPT_BESIDES if whole else _MORE
    empty = [name for name in columns if name in unread or name.startswith(PROBABILITY)]
    rows = _Rows(rubric, ids)
    for block in _row_blocks(data, columns, delimiter, [*REQUIRED, *empty]):
        if block is None or any(block[name][1] != [""] for name in empty) or not rows.add(block):
            return None
    return rows.answers()


def _read_header(data: bytes) -> tuple[list[str], str] | None:
    """Return the columns and the delimiter of a regular file."""
    try:
        first = data[:_LONGEST_HEAD].partition(b"\n")[0].decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError:
        return None
    if b'"' in data or b"\0" in data or len(data) > MAX_DATASET_BYTES or not _is_utf8(data):
        return None
    for delimiter in DELIMITERS:
        columns = first.split(delimiter)
        if set(REQUIRED) <= set(columns) and len(set(columns)) == len(columns):
            return (columns, delimiter) if columns == [cell.strip() for cell in columns] else None
    return None


def _is_utf8(data: bytes) -> bool:
    # Unused columns count, too. Decoding the whole file would put the text next to the bytes.
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, 0 if data.isascii() else len(data), _BLOCK):
            decoder.decode(data[start : start + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


#: The index of each row's word among the distinct words of a column, and these words.
Words = tuple[Codes, list[str]]


def _row_blocks(
    data: bytes, columns: Sequence[str], delimiter: str, wanted: Sequence[str]
) -> Iterator[dict[str, Words] | None]:
    """Yield the wanted columns in blocks of rows; ``None`` for ragged rows."""
    import pyarrow as pa
    from pyarrow import csv

    word_type = pa.dictionary(pa.int32(), pa.string())
    try:
        read = csv.open_csv(
            pa.BufferReader(data),
            csv.ReadOptions(
                use_threads=False, column_names=list(columns), skip_rows=1, block_size=_BLOCK
            ),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, word_type),
                include_columns=list(wanted),
                strings_can_be_null=False,
            ),
            # Arrow's own memory pool never releases memory.
            memory_pool=pa.system_memory_pool(),
        )
        for block in read:
            if block.num_rows:
                yield {
                    # Arrow's own conversion to numpy imports pandas.
                    name: (np.from_dlpack(column.indices), column.dictionary.to_pylist())
                    for name, column in zip(wanted, block.columns, strict=True)
                }
    except pa.ArrowInvalid:
        yield None


class _Rows:
    """The rows so far, looked up by distinct words."""

    def __init__(self, rubric: Rubric, ids: Sequence[str]) -> None:
        self._place = {item_id: row for row, item_id in enumerate(ids)}
        self._criteria = {criterion.name: Labels(criterion) for criterion in rubric.criteria}
        self._pairs: dict[tuple[str, str, str], int] = {}
        #: The columns of ``CleanRows``, block by block.
        self._found: list[tuple[Codes, ...]] = []

    def add(self, block: Mapping[str, Words]) -> bool:
        """Add the rows of a block; return whether they are regular."""
        item, item_ids = block["item_id"]
        place = np.array([self._place.get(word, -1) for word in item_ids], np.int32)
        (criterion_codes, names), (rater_codes, raters) = block["criterion"], block["rater_id"]
        (kind, kinds), (label_codes, labels) = block["rater_kind"], block["label"]
        kinds = [word.strip().lower() for word in kinds]
        if (place < 0).any() or not set(names) <= self._criteria.keys():
            return False
        if not set(kinds) <= set(KINDS) or not all(name.strip() for name in raters):
            return False
        shape = len(names), len(raters), len(kinds), len(labels)
        distinct, of_row = _distinct_codes(
            np.ravel_multi_index((criterion_codes, rater_codes, kind, label_codes), shape)
        )
        distinct_votes = []
        for codes in zip(*np.unravel_index(distinct, shape), strict=True):
            name, rater, of_kind, label = (int(at) for at in codes)
            word, criterion = labels[label].strip(), self._criteria[names[name]]
            option, usable = criterion.find_option(word)
            # The row reader counts the words that mean "no answer".
            if not usable or (word and criterion.is_empty(word)):
                return False
            pair = names[name], raters[rater], kinds[of_kind]
            number = self._pairs.setdefault(pair, len(self._pairs))
            distinct_votes.append((number, -1 if option is None else option, not word))
        pairs, options, failed = np.array(distinct_votes, np.int32).T
        self._found.append(
            (pairs[of_row], place[item], options[of_row], failed.astype(np.bool_)[of_row])
        )
        return sum(len(rows) for rows, *_ in self._found) <= MAX_ROWS

    def answers(self) -> CleanAnswers | None:
        """Return all answers, or ``None`` if there are none or one is repeated."""
        if not self._found:
            return None
        rows = CleanRows(*(np.concatenate(parts) for parts in zip(*self._found, strict=True)))
        self._found.clear()
        if _has_repeats(rows.pair.astype(np.int64) * len(self._place) + rows.row):
            return None
        pairs = [CleanPair(*pair, self._criteria[pair[0]].choices) for pair in self._pairs]
        return CleanAnswers(pairs, tuple(self._place), rows)


def _has_repeats(codes: Codes) -> bool:
    """Return whether a number repeats, without sorting if they are dense."""
    if int(codes.max()) > 16 * len(codes):
        return len(np.unique(codes)) < len(codes)
    present = np.zeros(int(codes.max()) + 1, np.bool_)
    present[codes] = True
    return int(present.sum()) < len(codes)


def _distinct_codes(codes: Codes) -> tuple[Codes, Codes]:
    """Return the distinct small numbers in order, and the index of each."""
    if int(codes.max()) > 16 * len(codes):
        return np.unique(codes, return_inverse=True)
    present = np.bincount(codes) > 0
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1)[codes]
