"""Import votes that were read by whole columns, without making a row of each.

The result equals an import row by row: the same judges, the same hash, the same run.
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

from core.domain.runs import ImportedData, ImportedItem, ItemResult, Lease, VoteColumns
from core.domain.votes import BallotRow, Cell, Verdict
from core.formats.votes.clean_votes import CleanAnswers
from core.identity import canonical_json
from core.metrics.agreement.ratings import patterns
from core.scoring import MeasuredTexts, measured_texts, needs_texts
from core.services.results.verdicts import (
    DerivedFrom,
    EqualVotesCache,
    counting_of,
    item_result,
    texts_of_item,
)
from core.store.database.content import to_json
from core.store.store import Store

#: The number of votes, or of items, recorded at a time.
_BATCH = 10_000
#: The number of answers hashed at a time.
_HASHED = 50_000
STATES = ("answered", "abstained", "failed")
FAILED = STATES.index("failed")

Codes = npt.NDArray[np.integer[Any]]


class CleanJudgeVotes:
    """Clean answers, and the judge's name for each pair of criterion and rater."""

    def __init__(self, answers: CleanAnswers) -> None:
        self._of = answers
        _, first = np.unique(answers.pair, return_index=True)
        #: The pairs with answers, ordered by their first answer.
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
        """Return whether every rater gets a different name."""
        distinct = {(self._of.pairs[pair].criterion, self._names[pair]) for pair in self._pairs}
        return len(distinct) == len(self._pairs)

    @property
    def raters(self) -> dict[str, tuple[str, str]]:
        """Return, by the judge's name, its kind and the rater's id, ordered by first answer."""
        by_name: dict[str, tuple[str, str]] = {}
        for pair in self._pairs:
            by_name.setdefault(
                self._names[pair], (self._of.pairs[pair].kind, self._of.pairs[pair].rater)
            )
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

    def digest(self, prefix: Sequence[Any]) -> str:
        """Return the hash of ``[*head, votes]``, with every vote as the import row by row writes
        it.
        """
        hashed = hashlib.sha256(canonical_json([*prefix, []])[:-2].encode())
        items = np.array([f"[{canonical_json(item)}," for item in self._of.items], object)
        wide = int(self._of.option.max()) + 2
        tail = cache(self._tail)
        for start in range(0, len(self._of), _HASHED):
            part = slice(start, start + _HASHED)
            answer = self._of.pair[part].astype(np.int64) * wide + self._of.option[part] + 1
            kind = answer * len(STATES) + self._state[part]
            distinct, of_row = np.unique(kind, return_inverse=True)
            tails = np.array([tail(number, wide) for number in distinct.tolist()], object)
            rows = items[self._of.row[part]] + tails[of_row]
            hashed.update(
                (b"," if start else b"") + ",".join(rows).encode("utf-8", "surrogatepass")
            )
        hashed.update(b"]]")
        return "sha256:" + hashed.hexdigest()

    def _tail(self, kind: int, wide: int) -> str:
        kind, state = divmod(kind, len(STATES))
        pair, option = divmod(kind, wide)
        answers, chosen = self._of.pairs[pair], option - 1 if option else None
        fields = [
            answers.criterion,
            answers.rater,
            0,
            answers.kind,
            chosen,
            STATES[state],
            "",
            "",
            None,
        ]
        return canonical_json(fields)[1:]

    def planned(self, items: Sequence[str]) -> list[tuple[str, int]]:
        """Return how many answers each item has."""
        numbers = np.bincount(self._of.row, minlength=len(items)).tolist()
        return list(zip(items, numbers, strict=True))

    def keep(self, store: Store, lease: Lease, now: str, run: DerivedFrom, reason: str) -> None:
        """Record the answers in a leased run, item by item in the order of the dataset."""
        order = np.argsort(self._of.row, kind="stable").astype(np.int32)
        failed = map(self._cell, order[self._state[order] == FAILED].tolist())
        settled = _Settled(self, run)
        brought = ImportedData(self._votes(order), failed, reason, settled.items(), settled.cells())
        store.votes.bring(lease, brought, now=now)

    def _votes(self, order: Codes) -> Iterator[VoteColumns]:
        answers = self._of
        items: Any = np.array(answers.items, object)
        names: Any = np.array(self._names, object)
        criteria: Any = np.array([pair.criterion for pair in answers.pairs], object)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            part = part[self._state[part] != FAILED]
            pair, option = answers.pair[part], answers.option[part]
            chosen: Any = np.where(option < 0, None, option.astype(object))
            yield (
                items[answers.row[part]].tolist(),
                criteria[pair].tolist(),
                names[pair].tolist(),
                chosen.tolist(),
                answers.away[part].tolist(),
            )

    def _cell(self, index: int) -> Cell:
        pair = int(self._of.pair[index])
        return Cell(
            self._of.items[int(self._of.row[index])],
            self._of.pairs[pair].criterion,
            self._names[pair],
        )

    def ballots(self, criterion: str) -> Iterator[tuple[Codes, list[BallotRow], int]]:
        """Yield the items with equal answers to a criterion, their ballots, and the number of
        failures.

        Items without any answer to the criterion are left out.
        """
        answers = self._of
        pairs = sorted(
            (pair for pair in self._pairs if answers.pairs[pair].criterion == criterion),
            key=lambda pair: self._names[pair],
        )
        column = np.full(len(answers.pairs), -1)
        column[pairs] = np.arange(len(pairs))
        judged = np.flatnonzero(column[answers.pair] >= 0)
        # 0 is no answer, 1 a failure, 2 an abstention without an option; options follow.
        codes = np.zeros((len(answers.items), len(pairs)), np.int64)
        code = np.where(answers.failed[judged], 1, answers.option[judged] + 3)
        codes[answers.row[judged], column[answers.pair[judged]]] = code
        distinct = patterns(codes)
        order = np.argsort(distinct.of_item, kind="stable")
        for rows, row in zip(
            np.split(order, np.cumsum(distinct.times)[:-1]), distinct.rows.tolist(), strict=True
        ):
            if any(row):
                yield rows, self._ballots(pairs, row), row.count(1)

    def _ballots(self, pairs: Sequence[int], row: Sequence[int]) -> list[BallotRow]:
        ballots = list[BallotRow]()
        for at, code in zip(pairs, row, strict=True):
            if code > 1:
                pair, option = self._of.pairs[at], code - 3 if code > 2 else None
                abstained = option is None or pair.choices[option].na
                ballots.append(BallotRow("", pair.criterion, self._names[at], 0, option, abstained))
        return ballots


class _Settled:
    """The verdicts and scores of clean answers; equal answers are settled once, for all items."""

    def __init__(self, seats: CleanJudgeVotes, run: DerivedFrom) -> None:
        self._run, self._ids = run, [item.id for item in run.items]
        self._alike = EqualVotesCache(run.plan.panel.rules, counting_of(run.plan), {})
        number = len(self._ids)
        self._votes, self._away, self._failed = np.zeros((3, number), np.int64)
        #: By criterion, the distinct verdicts and the index of each item's verdict (0: none).
        self._verdicts: list[list[Verdict | None]] = []
        self._which: list[Codes] = []
        for criterion in run.rubric.criteria:
            index, verdicts = np.zeros(number, np.int64), list[Verdict | None]([None])
            for rows, ballots, failures in seats.ballots(criterion.name):
                self._votes[rows] += len(ballots)
                self._away[rows] += sum(ballot.abstained for ballot in ballots)
                self._failed[rows] += failures
                if ballots:
                    index[rows] = len(verdicts)
                    verdicts.append(self._alike.settled(criterion, ballots, failures))
            self._verdicts.append(verdicts)
            self._which.append(index)

    def items(self) -> Iterator[ImportedItem]:
        """Yield counts and results of all items with any answer."""
        counts = np.stack([self._votes, self._away, self._failed], axis=1)
        agreement = self._agreement()
        scored: dict[object, tuple[ItemResult, str]] = {}
        for row, key, texts in self._answers():
            if key not in scored:
                item_result = self._scored(row, texts)
                scored[key] = item_result, to_json(item_result.trace)
            (score, trace), (votes, abstentions, failed) = scored[key], counts[row].tolist()
            result = score._replace(item_id=self._ids[row], agreement=agreement[row])
            yield (votes, abstentions, failed), result, trace

    def _answers(self) -> Iterator[tuple[int, object, MeasuredTexts | None]]:
        """Yield each item with everything its score depends on: options, and texts if these
        count.
        """
        options = [
            np.array([_option(verdict) for verdict in verdicts])[which]
            for verdicts, which in zip(self._verdicts, self._which, strict=True)
        ]
        pattern_of_item = patterns(np.column_stack(options)).of_item.tolist()
        rubric = self._run.rubric
        for index in np.flatnonzero(self._votes + self._failed).tolist():
            texts = None
            if needs_texts(rubric):
                texts = measured_texts(rubric, texts_of_item(self._run.items[index]))
            yield index, (pattern_of_item[index], texts), texts

    def _scored(self, row: int, texts: MeasuredTexts | None) -> ItemResult:
        verdicts = [
            of[int(indexes[row])] for of, indexes in zip(self._verdicts, self._which, strict=True)
        ]
        return item_result("", self._run.rubric, verdicts, texts, self._alike)

    def _agreement(self) -> list[float | None]:
        """Return the mean over an item's criteria, exactly equal to that of each item alone."""
        values = [[None if v is None else v.agreement for v in of] for of in self._verdicts]
        places = []
        distinct = sorted({verdict for of in values for verdict in of if verdict is not None})
        number = {None: -1} | {verdict: index for index, verdict in enumerate(distinct)}
        for of, indexes in zip(values, self._which, strict=True):
            places.append(np.array([number[verdict] for verdict in of])[indexes])
        combinations = patterns(np.column_stack(places))
        means = []
        for row in combinations.rows.tolist():
            present = [distinct[index] for index in row if index >= 0]
            means.append(fmean(present) if present else None)
        return [means[index] for index in combinations.of_item.tolist()]

    def cells(self) -> Iterator[tuple[str, Verdict]]:
        """Yield every cell that has a verdict, item by item."""
        for start in range(0, len(self._ids), _BATCH):
            part = slice(start, start + _BATCH)
            rows = zip(*(indexes[part].tolist() for indexes in self._which), strict=True)
            for item_id, row in zip(self._ids[part], rows, strict=True):
                for of, index in zip(self._verdicts, row, strict=True):
                    cell = of[index]
                    if cell is not None:
                        yield item_id, cell


def _option(verdict: Verdict | None) -> int:
    """Return a number for each option; a missing verdict and a verdict without option have their
    own.
    """
    if verdict is None:
        return -2
    return -1 if verdict.option is None else verdict.option
