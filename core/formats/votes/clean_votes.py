"""A votes.csv in which nothing needs a second look, read by whole columns.

Whatever is not plain (quotes, repetitions, an unknown word, probabilities) is left to the reader
that looks at every row and names the line of a problem (``vote_tables``).
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Option, Rubric
from core.domain.votes import Cell
from core.formats.source.parsed import MAX_ROWS
from core.formats.votes.imported import KINDS, PROBABILITY, REQUIRED, ImportedVote, Labels

Codes = npt.NDArray[Any]
#: With any of these filled, rows have to be told apart one by one.
_MORE = ("weight", "replicate", "order", "confidence")
#: What an import keeps besides.
KEPT_BESIDES = (*_MORE, "reason")


class CleanColumn(NamedTuple):
    """What one rater answered to one criterion.

    ``rows`` are places in the list of items; ``options`` index ``Criterion.choices``, -1 for an
    answer without one: an abstention, or where it ``failed`` none that can be used.
    """

    criterion: str
    rater: str
    kind: str
    rows: Codes
    options: Codes
    failed: npt.NDArray[np.bool_]


class CleanAnswers(Sequence[ImportedVote]):
    """The rows of such a file in its order, as columns: each is made when somebody asks for it.

    ``pair`` says which of the pairs of criterion and rater a row is of, ``row`` which item.
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
            return tuple(map(self._vote, range(*at.indices(len(self)))))
        return self._vote(range(len(self))[at])

    def __eq__(self, other: object) -> bool:
        """Whether the rows are the same, however they were read."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((len(self), self.items))

    def _vote(self, at: int) -> ImportedVote:
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
        """The columns in the order in which they begin."""
        by_pair = np.argsort(self.pair, kind="stable")
        groups = np.split(by_pair, np.flatnonzero(np.diff(self.pair[by_pair])) + 1)
        found = []
        for at in sorted(groups, key=lambda group: int(group[0])):
            of = self.pairs[int(self.pair[at[0]])]
            rows, options, failed = self.row[at], self.option[at], self.failed[at]
            found.append(CleanColumn(of.criterion, of.rater, of.kind, rows, options, failed))
        return found


class CleanPair(NamedTuple):
    """A criterion and a rater who answered it, and what could be answered."""

    criterion: str
    rater: str
    kind: str
    choices: tuple[Option, ...]


class CleanRows(NamedTuple):
    """By rows of the file the pair, the item, the option, and whether it is none to be used."""

    pair: Codes
    row: Codes
    option: Codes
    failed: npt.NDArray[np.bool_]


def read_clean(
    text: str,
    delimiter: str,
    columns: Sequence[str],
    rubric: Rubric,
    ids: Sequence[str],
    more: Sequence[str] = _MORE,
) -> CleanAnswers | None:
    """The answers to items of these ids, none of which has a rubric of its own; ``None`` where rows
    need a closer look.

    ``text`` is the file's, ``columns`` are those of its first line; with any of the columns
    ``more`` filled, a row says more than is read here.
    """
    if '"' in text or len(set(columns)) < len(columns):
        return None
    table = _table(text, delimiter, columns, more)
    if table is None or not 0 < len(table["item_id"][0]) <= MAX_ROWS:
        return None
    place = {item_id: row for row, item_id in enumerate(ids)}
    criteria = {one.name: Labels(one) for one in rubric.criteria}
    rows = _looked_up(*table["item_id"], place)
    names, raters = table["criterion"][1], _raters(table)
    if rows is None or raters is None or not set(names) <= criteria.keys():
        return None
    of_rater, known = raters
    options = _options(table, criteria)
    pair = table["criterion"][0] * np.int32(len(known)) + of_rater
    if options is None or _twice(pair.astype(np.int64) * len(ids) + rows):
        return None
    failed = np.array([not word.strip() for word in table["label"][1]])[table["label"][0]]
    pairs = [
        CleanPair(name, rater, kind, criteria[name].choices)
        for name in names
        for rater, kind in known
    ]
    return CleanAnswers(pairs, tuple(place), CleanRows(pair, rows, options, failed))


#: The place of each row's word among the distinct words of a column, and these words.
Words = tuple[Codes, list[str]]


def _table(
    text: str, delimiter: str, columns: Sequence[str], unread: Sequence[str]
) -> dict[str, Words] | None:
    """The columns that are needed; ``None`` where the file is no even table, or says more."""
    import pyarrow as pa
    from pyarrow import csv

    more = [c for c in columns if c in unread or c.startswith(PROBABILITY)]
    wanted = [*REQUIRED, *more]
    words = pa.dictionary(pa.int32(), pa.string())
    try:
        read = csv.read_csv(
            io.BytesIO(text.encode()),
            csv.ReadOptions(use_threads=False, column_names=list(columns), skip_rows=1),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, words),
                include_columns=wanted,
                strings_can_be_null=False,
            ),
            # What its own pool has once had it keeps.
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return None
    found = {name: _words(read[name]) for name in wanted} if read.num_rows else None
    if found is None or any(found[name][1] != [""] for name in more):
        return None
    return found


def _words(column: Any) -> Words:
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "chunk") else whole
    # As narrow as they come: of a million rows every column counts.
    return whole.indices.to_numpy(), whole.dictionary.to_pylist()


def _twice(codes: Codes) -> bool:
    """Whether any number is there twice; where they are not far apart, without sorting them."""
    if int(codes.max()) > 16 * len(codes):
        return len(np.unique(codes)) < len(codes)
    return bool((np.bincount(codes) > 1).any())


def _numbered(codes: Codes) -> tuple[list[int], Codes]:
    """The distinct numbers, rising, and which of them each is; they are small."""
    if int(codes.max()) > 16 * len(codes):
        distinct, place = np.unique(codes, return_inverse=True)
        return distinct.tolist(), place
    there = np.bincount(codes) > 0
    return np.flatnonzero(there).tolist(), (np.cumsum(there, dtype=np.int32) - 1)[codes]


def _looked_up(codes: Codes, words: Sequence[str], known: Mapping[str, int]) -> Codes | None:
    found = np.array([known.get(word, -1) for word in words], np.int32)
    return None if (found < 0).any() else found[codes]


def _raters(table: Mapping[str, Words]) -> tuple[Codes, list[tuple[str, str]]] | None:
    """Each row's rater among the distinct ones, and their names and kinds."""
    (who, names), (kind, words) = table["rater_id"], table["rater_kind"]
    kinds = [word.strip().lower() for word in words]
    if not set(kinds) <= set(KINDS) or not all(name.strip() for name in names):
        return None
    numbers = np.array([KINDS.index(one) for one in kinds], np.int64)
    distinct, of_row = _numbered(who.astype(np.int64) * len(KINDS) + numbers[kind])
    return of_row, [(names[at // len(KINDS)], KINDS[at % len(KINDS)]) for at in distinct]


def _options(table: Mapping[str, Words], criteria: Mapping[str, Labels]) -> Codes | None:
    """Each row's option; ``None`` where a word is no option."""
    (asked, names), (said, words) = table["criterion"], table["label"]
    distinct, of_row = _numbered(asked.astype(np.int64) * len(words) + said)
    codes = []
    for at in distinct:
        option, known = criteria[names[at // len(words)]].find(words[at % len(words)].strip())
        if not known:
            return None
        codes.append(-1 if option is None else option)
    return np.array(codes, np.int32)[of_row]
