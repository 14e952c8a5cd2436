"""Votes that were read by whole columns, imported without making a row of each.

What comes of them is what comes of the rows: the same judges, the same hash, the same run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from core.domain.runs import Derive, Lease
from core.domain.votes import BroughtVote, Cell
from core.formats.votes.clean_votes import CleanAnswers
from core.identity import canonical_json
from core.store.store import Store

#: Items recorded at a time.
_BATCH = 1_000
#: Answers hashed at a time.
_HASHED = 100_000
STATES = ("answered", "abstained", "failed")


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
        """Whether no two raters get one name."""
        found = {(self._of.pairs[at].criterion, self._names[at]) for at in self._pairs}
        return len(found) == len(self._pairs)

    @property
    def raters(self) -> dict[str, tuple[str, str]]:
        """By the judge's name its kind and the rater's id, in the order in which they begin."""
        found: dict[str, tuple[str, str]] = {}
        for at in self._pairs:
            found.setdefault(self._names[at], (self._of.pairs[at].kind, self._of.pairs[at].rater))
        return found

    @cached_property
    def _state(self) -> Any:
        return np.where(self._of.failed, 2, np.where(self._of.away, 1, 0))

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """How many answers each judge gave in each state."""
        found = Counter[tuple[str, str]]()
        numbers = np.bincount(self._of.pair * 3 + self._state, minlength=3 * len(self._names))
        for at, number in enumerate(numbers.tolist()):
            if number:
                found[self._names[at // 3], STATES[at % 3]] += number
        return found

    def digest(self, head: Sequence[Any]) -> str:
        """The hash of ``[*head, votes]``, with every vote as the row by row import writes it."""
        hashed = hashlib.sha256(canonical_json([*head, []])[:-2].encode())
        items = np.array([f"[{canonical_json(item)}," for item in self._of.items], object)
        wide = int(self._of.option.max()) + 2
        kind = (self._of.pair * wide + self._of.option + 1) * len(STATES) + self._state
        there, of_row = np.unique(kind, return_inverse=True)
        tails = np.array([self._tail(one, wide) for one in there.tolist()], object)
        for start in range(0, len(self._of), _HASHED):
            part = slice(start, start + _HASHED)
            whole = items[self._of.row[part]] + tails[of_row[part]]
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
        """How many answers each item has."""
        numbers = np.bincount(self._of.row, minlength=len(items)).tolist()
        return list(zip(items, numbers, strict=True))

    def keep(self, store: Store, lease: Lease, now: str, derive: Derive, reason: str) -> None:
        """Record them in a run that is held, item by item in the order of the dataset."""
        for votes, failed in self._batches():
            store.votes.bring(
                lease,
                votes,
                [(cell, reason) for cell in failed],
                now=now,
                derive=derive,
            )

    def _batches(self) -> Iterator[tuple[list[BroughtVote], list[Cell]]]:
        of = self._of
        order = np.argsort(of.row, kind="stable")
        ends = np.searchsorted(of.row[order], np.arange(0, len(of.items) + _BATCH, _BATCH))
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            at = order[start:end]
            parts = (of.row[at], of.pair[at], of.option[at], self._state[at])
            votes, failed = list[BroughtVote](), list[Cell]()
            for row, pair, option, state in zip(*(part.tolist() for part in parts), strict=True):
                cell = Cell(of.items[row], of.pairs[pair].criterion, self._names[pair])
                if state == 2:
                    failed.append(cell)
                else:
                    chosen = None if option < 0 else option
                    votes.append(BroughtVote(*cell, chosen, state == 1))
            if votes or failed:
                yield votes, failed
