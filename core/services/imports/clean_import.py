"""Votes that were read by whole columns, imported without making a row of each.

What comes of them is what comes of the rows: the same judges, the same hash, the same run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.runs import Brought, BroughtItem, BroughtVotes, ItemResult, Lease
from core.domain.votes import BallotRow, Cell, Verdict
from core.formats.votes.clean_votes import CleanAnswers
from core.identity import canonical_json
from core.metrics.agreement.ratings import patterns
from core.scoring import MeasuredTexts, looks_at_texts, measure
from core.services.results.verdicts import (
    Alike,
    DerivedFrom,
    counting_of,
    item_result,
    texts_from,
)
from core.store.database.content import to_json
from core.store.store import Store

#: Votes, or items, recorded at a time.
_BATCH = 10_000
#: Answers hashed at a time.
_HASHED = 50_000
STATES = ("answered", "abstained", "failed")
FAILED = STATES.index("failed")

Codes = npt.NDArray[np.integer[Any]]


class CleanSeats:
    """Clean answers, and the name of the judge that each pair of criterion and rater is of."""

    def __init__(self, answers: CleanAnswers) -> None:
        self._of = answers
        _, first = np.unique(answers.pair, return_index=True)
        #: The pairs that are there, in the order in which they begin.
        self._pairs: list[int] = answers.pair[np.sort(first)].tolist()
        kinds: dict[str, set[str]] = {}
        for at in self._pairs:
            kinds.setdefault(answers.pairs[at].rater, set()).add(answers.pairs[at].kind)
        self._names = [
            pair.rater if len(kinds.get(pair.rater, ())) < 2 else f"{pair.rater} ({pair.kind})"
            for pair in answers.pairs
        ]

    def __bool__(self) -> bool:
        return bool(len(self._of))

    @property
    def told_apart(self) -> bool:
        """Return whether no two raters get one name."""
        distinct = {(self._of.pairs[at].criterion, self._names[at]) for at in self._pairs}
        return len(distinct) == len(self._pairs)

    @property
    def raters(self) -> dict[str, tuple[str, str]]:
        """Return, by the judge's name its kind and the rater's id, in the order in which they
        begin.
        """
        by_name: dict[str, tuple[str, str]] = {}
        for at in self._pairs:
            by_name.setdefault(self._names[at], (self._of.pairs[at].kind, self._of.pairs[at].rater))
        return by_name

    @cached_property
    def _state(self) -> Any:
        return np.where(self._of.failed, FAILED, self._of.away.astype(np.int8))

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return how many answers each judge gave in each state."""
        totals = Counter[tuple[str, str]]()
        numbers = np.bincount(self._of.pair * 3 + self._state, minlength=3 * len(self._names))
        for index, number in enumerate(numbers.tolist()):
            if number:
                totals[self._names[index // 3], STATES[index % 3]] += number
        return totals

    def digest(self, head: Sequence[Any]) -> str:
        """Return the hash of ``[*head, votes]``, with every vote as the row by row import writes
        it.
        """
        hashed = hashlib.sha256(canonical_json([*head, []])[:-2].encode())
        items = np.array([f"[{canonical_json(item)}," for item in self._of.items], object)
        wide = int(self._of.option.max()) + 2
        tail = cache(self._tail)
        for start in range(0, len(self._of), _HASHED):
            part = slice(start, start + _HASHED)
            answer = self._of.pair[part].astype(np.int64) * wide + self._of.option[part] + 1
            kind = answer * len(STATES) + self._state[part]
            there, of_row = np.unique(kind, return_inverse=True)
            tails = np.array([tail(number, wide) for number in there.tolist()], object)
            whole = items[self._of.row[part]] + tails[of_row]
            hashed.update(
                (b"," if start else b"") + ",".join(whole).encode("utf-8", "surrogatepass")
            )
        hashed.update(b"]]")
        return "sha256:" + hashed.hexdigest()

    def _tail(self, kind: int, wide: int) -> str:
        kind, state = divmod(kind, len(STATES))
        pair, option = divmod(kind, wide)
        of, chosen = self._of.pairs[pair], option - 1 if option else None
        rest = [of.criterion, of.rater, 0, of.kind, chosen, STATES[state], "", "", None]
        return canonical_json(rest)[1:]

    def planned(self, items: Sequence[str]) -> list[tuple[str, int]]:
        """Return how many answers each item has."""
        numbers = np.bincount(self._of.row, minlength=len(items)).tolist()
        return list(zip(items, numbers, strict=True))

    def keep(self, store: Store, lease: Lease, now: str, run: DerivedFrom, reason: str) -> None:
        """Record them in a run that is held, item by item in the order of the dataset."""
        order = np.argsort(self._of.row, kind="stable").astype(np.int32)
        failed = map(self._cell, order[self._state[order] == FAILED].tolist())
        settled = _Settled(self, run)
        brought = Brought(self._votes(order), failed, reason, settled.items(), settled.cells())
        store.votes.bring(lease, brought, now=now)

    def _votes(self, order: Codes) -> Iterator[BroughtVotes]:
        of = self._of
        items: Any = np.array(of.items, object)
        names: Any = np.array(self._names, object)
        asked: Any = np.array([pair.criterion for pair in of.pairs], object)
        for start in range(0, len(order), _BATCH):
            at = order[start : start + _BATCH]
            at = at[self._state[at] != FAILED]
            pair, option = of.pair[at], of.option[at]
            chosen: Any = np.where(option < 0, None, option.astype(object))
            yield BroughtVotes(
                items[of.row[at]].tolist(),
                asked[pair].tolist(),
                names[pair].tolist(),
                chosen.tolist(),
                of.away[at].tolist(),
            )

    def _cell(self, at: int) -> Cell:
        pair = int(self._of.pair[at])
        return Cell(
            self._of.items[int(self._of.row[at])], self._of.pairs[pair].criterion, self._names[pair]
        )

    def ballots(self, criterion: str) -> Iterator[tuple[Codes, list[BallotRow], int]]:
        """Who answered alike about a criterion: which items, their ballots, and how many failed.

        Items about which nobody was asked are in none.
        """
        of = self._of
        pairs = sorted(
            (at for at in self._pairs if of.pairs[at].criterion == criterion),
            key=lambda at: self._names[at],
        )
        column = np.full(len(of.pairs), -1)
        column[pairs] = np.arange(len(pairs))
        mine = np.flatnonzero(column[of.pair] >= 0)
        # Nothing, a failure, an abstention without an option, then the options.
        codes = np.zeros((len(of.items), len(pairs)), np.int64)
        code = np.where(of.failed[mine], 1, of.option[mine] + 3)
        codes[of.row[mine], column[of.pair[mine]]] = code
        seen = patterns(codes)
        order = np.argsort(seen.of_item, kind="stable")
        for rows, row in zip(
            np.split(order, np.cumsum(seen.times)[:-1]), seen.rows.tolist(), strict=True
        ):
            if any(row):
                yield rows, self._ballots(pairs, row), row.count(1)

    def _ballots(self, pairs: Sequence[int], said: Sequence[int]) -> list[BallotRow]:
        ballots = list[BallotRow]()
        for at, code in zip(pairs, said, strict=True):
            if code > 1:
                pair, option = self._of.pairs[at], code - 3 if code > 2 else None
                away = option is None or pair.choices[option].na
                ballots.append(BallotRow("", pair.criterion, self._names[at], 0, option, away))
        return ballots


class _Settled:
    """The verdicts and scores of clean answers: what is equal is settled once, for all items."""

    def __init__(self, seats: CleanSeats, run: DerivedFrom) -> None:
        self._run, self._ids = run, [item.id for item in run.items]
        self._alike = Alike(run.plan.panel.rules, counting_of(run.plan), {})
        number = len(self._ids)
        self._votes, self._away, self._failed = np.zeros((3, number), np.int64)
        #: By criterion the distinct verdicts, and which of them each item has (0: none).
        self._verdicts: list[list[Verdict | None]] = []
        self._which: list[Codes] = []
        for criterion in run.rubric.criteria:
            which, verdicts = np.zeros(number, np.int64), list[Verdict | None]([None])
            for rows, ballots, failures in seats.ballots(criterion.name):
                self._votes[rows] += len(ballots)
                self._away[rows] += sum(ballot.abstained for ballot in ballots)
                self._failed[rows] += failures
                if ballots:
                    which[rows] = len(verdicts)
                    verdicts.append(self._alike.settled(criterion, ballots, failures))
            self._verdicts.append(verdicts)
            self._which.append(which)

    def items(self) -> Iterator[BroughtItem]:
        """Counts and results of all items that anybody was asked about."""
        counts = np.stack([self._votes, self._away, self._failed], axis=1)
        agreement = self._agreement()
        scored: dict[object, tuple[ItemResult, str]] = {}
        for at, key, texts in self._answers():
            if key not in scored:
                item_result = self._scored(at, texts)
                scored[key] = item_result, to_json(item_result.trace)
            (score, trace), (votes, away, failed) = scored[key], counts[at].tolist()
            result = score._replace(item_id=self._ids[at], agreement=agreement[at])
            yield BroughtItem(votes, away, failed, result, trace)

    def _answers(self) -> Iterator[tuple[int, object, MeasuredTexts | None]]:
        """Yield the items with what their score hangs on: options, and texts where these count."""
        options = [
            np.array([_option(verdict) for verdict in verdicts])[which]
            for verdicts, which in zip(self._verdicts, self._which, strict=True)
        ]
        alike = patterns(np.column_stack(options)).of_item.tolist()
        rubric = self._run.rubric
        for index in np.flatnonzero(self._votes + self._failed).tolist():
            texts = None
            if looks_at_texts(rubric):
                texts = measure(rubric, texts_from(self._run.items[index]))
            yield index, (alike[index], texts), texts

    def _scored(self, at: int, texts: MeasuredTexts | None) -> ItemResult:
        verdicts = [
            of[int(which[at])] for of, which in zip(self._verdicts, self._which, strict=True)
        ]
        return item_result("", self._run.rubric, verdicts, texts, self._alike)

    def _agreement(self) -> list[float | None]:
        """Return the mean over an item's criteria, as exactly as of each item alone."""
        values = [[None if v is None else v.agreement for v in of] for of in self._verdicts]
        places = []
        distinct = sorted({verdict for of in values for verdict in of if verdict is not None})
        number = {None: -1} | {verdict: index for index, verdict in enumerate(distinct)}
        for of, which in zip(values, self._which, strict=True):
            places.append(np.array([number[verdict] for verdict in of])[which])
        seen = patterns(np.column_stack(places))
        means = []
        for row in seen.rows.tolist():
            there = [distinct[index] for index in row if index >= 0]
            means.append(fmean(there) if there else None)
        return [means[index] for index in seen.of_item.tolist()]

    def cells(self) -> Iterator[tuple[str, Verdict]]:
        """Yield every cell that has a verdict, item by item."""
        for start in range(0, len(self._ids), _BATCH):
            part = slice(start, start + _BATCH)
            rows = zip(*(which[part].tolist() for which in self._which), strict=True)
            for item_id, row in zip(self._ids[part], rows, strict=True):
                for of, at in zip(self._verdicts, row, strict=True):
                    cell = of[at]
                    if cell is not None:
                        yield item_id, cell


def _option(verdict: Verdict | None) -> int:
    """Return a number for each option; no verdict and a verdict without option have their own."""
    if verdict is None:
        return -2
    return -1 if verdict.option is None else verdict.option
