"""Check imported votes, given in the columns of the common layout's votes.csv."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from core.domain.dataset import Dataset, Item
from core.domain.rubric import CANNOT_ASSESS, Criterion, Rubric
from core.domain.votes import LEAST_ON_OPTIONS, Cell
from core.errors import Problem
from core.formats.columns.absences import empty_answers_sentence
from core.formats.columns.label_words import holds_no_answer, option_named
from core.formats.source.parsed import ColumnRole, finite, refusal, too_many
from core.text.names import fold

KINDS = ("human", "llm", "offline")
#: The columns that a votes.csv must have.
REQUIRED = ("item_id", "criterion", "rater_id", "rater_kind", "label")
#: The prefix of columns with the probability of a label.
PROBABILITY = "p_"
#: The largest replicate; a column with a higher number has something else, such as ids.
MOST_REPLICATES = 100_000

#: A row in the columns of the common layout, with its line if there is one.
VoteLine = tuple[int | None, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ImportedVote:
    """A vote. ``failed`` is an empty label (``labels.holds_no_answer``).

    ``option`` indexes ``Criterion.choices``. It is ``None`` for a failure, and for an abstention on
    a criterion that forces a choice. ``order`` is the order in which options were shown, if the
    file has it. ``probabilities`` follow ``choices``, if the file gives one for every option that
    is not ``na``. ``confidence`` is the rater's confidence in the answer.
    """

    cell: Cell
    kind: str
    option: int | None
    abstained: bool
    failed: bool
    reason: str
    order: str = ""
    probabilities: tuple[float, ...] | None = None
    line: int | None = None
    confidence: float | None = None

    @property
    def criterion(self) -> str:
        """Return the criterion's name."""
        return self.cell.criterion

    @property
    def rater(self) -> str:
        """Return the rater's id."""
        return self.cell.judge

    @property
    def replicate(self) -> int:
        """Return the index of the rater's answer to this cell, from 0."""
        return self.cell.replicate


@dataclass(frozen=True)
class ImportedVotes:
    """All votes in the file's order, and the raters' weights if given."""

    rows: Sequence[ImportedVote]
    weights: Mapping[str, float]

    def votes_by_item(self) -> dict[str, list[ImportedVote]]:
        """Return the votes on each item."""
        votes: dict[str, list[ImportedVote]] = {}
        for row in self.rows:
            votes.setdefault(row.cell.item, []).append(row)
        return votes


class VoteChecker:
    """Checks votes against a rubric and items; collects ``problems``.

    An empty label, or a word for it (``NA``, ``-``), is a failure, counted in ``notices``. The
    label of an ``na`` option, or CANNOT_ASSESS, is an abstention. A rater who answers a cell
    several times without a ``replicate`` gets a replicate per answer. A notice reports this unless
    the orders of options differ.
    """

    def __init__(self, rubric: Rubric, items: Iterable[Item], where: str) -> None:
        self.problems: list[Problem] = []
        shared = {c.name: Labels(c) for c in rubric.criteria}
        self._criteria = {
            item.id: {c.name: Labels(c) for c in item.rubric.criteria} if item.rubric else shared
            for item in items
        }
        self._where = where
        self._answers: dict[tuple[str, str, str, str], int] = {}
        self._lines: dict[tuple[str, ...], int | None] = {}
        self._repeated = list[tuple[str, int | None]]()
        self._weights: dict[str, float] = {}
        #: How often each word meant an empty label.
        self.empty = Counter[str]()
        #: Votes whose probabilities were dropped, and the line of the first.
        self._meant_none = list[int | None]()
        #: Unknown words by criterion and its options, with their count and first line.
        self._strange: dict[tuple[str, str], dict[str, tuple[int, int | None]]] = {}

    def read(self, lines: Iterable[VoteLine]) -> ImportedVotes:
        """Return all votes, or raise ``InputError`` with every problem."""
        rows = list[ImportedVote]()
        for line, row in lines:
            vote = self._read_vote(row, line)
            if vote is not None:
                rows.append(vote)
            if too_many(self.problems):
                break
        self._report_unknown_words()
        if self.problems:
            raise refusal("file of votes", self.problems, self._where)
        return ImportedVotes(tuple(rows), self._weights)

    def _report_unknown_words(self) -> None:
        """Report unknown words, in one problem per criterion."""
        for (name, hint), counts in self._strange.items():
            shown = [f"{w!r}" + (f" ({n:,})" if n > 1 else "") for w, (n, _) in counts.items()]
            others = f" and {len(shown) - 20} more" if len(shown) > 20 else ""
            verb = "is not an option" if len(shown) == 1 else "are not options"
            self._add_problem(
                min((at for _, at in counts.values() if at), default=None),
                f"{', '.join(shown[:20])}{others} {verb} of {name!r}.",
                "label",
                f"{hint} Or say what each means: --map-label '{name}:{next(iter(counts))}=OPTION'.",
            )

    @property
    def notices(self) -> tuple[Problem, ...]:
        """Return notices about the rows that were read."""
        return (
            *empty_answers(self.empty),
            *self._repetition_notice(),
            *self._zero_probability_notice(),
        )

    def _repetition_notice(self) -> tuple[Problem, ...]:
        """Return the notice of repeated answers."""
        if not self._repeated:
            return ()
        names = sorted({rater for rater, _ in self._repeated})
        some = ", ".join(map(repr, names[:5])) + (" and others" if len(names) > 5 else "")
        times = len(self._repeated)
        subject = "1 answer repeats" if times == 1 else f"{times:,} answers repeat"
        message = f"{subject} a question that the same rater answered before ({some})."
        mend = (
            "They count as repetitions, each as a rater of its own. Leave out duplicates, or "
            "number repetitions in a column `replicate`."
        )
        return (Problem(message, mend, (), self._repeated[0][1]),)

    def _zero_probability_notice(self) -> tuple[Problem, ...]:
        """Return the notice about votes whose probabilities are on no option."""
        if not (times := len(self._meant_none)):
            return ()
        votes = "1 vote has" if times == 1 else f"{times:,} votes have"
        message = (
            f"{votes} less than half of the chance on the options, so the chances are left out."
        )
        return (Problem(message, "The votes themselves count.", (), self._meant_none[0]),)

    def _read_vote(self, row: Mapping[str, str], line: int | None) -> ImportedVote | None:
        labels = self._labels_of(row, line)
        if (
            labels is None
            or not self._accept_rater(row, line)
            or not self._accept_weight(row, line)
        ):
            return None
        label, name = row["label"].strip(), row["criterion"]
        option, valid = labels.find_option(label)
        if not valid:
            unknown = self._strange.setdefault((name, labels.valid_labels), {})
            unknown[label] = (
                unknown.get(label, (0, line))[0] + 1,
                unknown.get(label, (0, line))[1],
            )
            return None
        failed = labels.is_empty(label)
        if failed:
            self.empty[label] += 1
        away = not failed and (option is None or labels.choices[option].na)
        kind = _kind_of(row)
        cell = Cell(row["item_id"], name, row["rater_id"], self._read_replicate(row, kind, line))
        return ImportedVote(
            cell=cell,
            kind=kind,
            option=option,
            abstained=away,
            failed=failed,
            reason=row.get("reason") or "",
            order=row.get("order") or "",
            probabilities=self._read_probabilities(row, labels, line),
            line=line,
            confidence=self._read_share(row, "confidence", line),
        )

    def _read_share(self, row: Mapping[str, str], column: str, line: int | None) -> float | None:
        """Return a number from 0 to 1, or ``None``."""
        text = row.get(column)
        number = finite(text) if text else None
        if text and (number is None or not 0 <= number <= 1):
            self._add_problem(line, f"is {text!r}.", column, "Use a number from 0 to 1.")
            return None
        return number

    def _labels_of(self, row: Mapping[str, str], line: int | None) -> Labels | None:
        item, name = row["item_id"], row["criterion"]
        criteria = self._criteria.get(item)
        if criteria is None:
            alike = self._folded_names.get(fold(item)) or self._folded_names.get(
                fold(item.removesuffix(".0"))
            )
            # Spelt as code points, since different characters may look the same.
            mend = f"It is {item!a}; meant may be {alike!a}. Write both alike." if alike else ""
            self._add_problem(
                line, f"names the item {item!r}, which does not exist.", "item_id", mend
            )
            return None
        if name not in criteria:
            self._add_problem(
                line,
                f"names the criterion {name!r}, which does not exist.",
                "criterion",
                f"Use one of {', '.join(criteria)}.",
            )
            return None
        return criteria[name]

    @cached_property
    def _folded_names(self) -> dict[str, str]:
        return {fold(name): name for name in self._criteria}

    def _accept_rater(self, row: Mapping[str, str], line: int | None) -> bool:
        kind = _kind_of(row)
        if kind not in KINDS:
            self._add_problem(
                line, f"is {row['rater_kind']!r}.", "rater_kind", f"Use one of {', '.join(KINDS)}."
            )
        if not row["rater_id"].strip():
            self._add_problem(line, "is empty.", "rater_id", "Say who answered.")
        return kind in KINDS and bool(row["rater_id"].strip())

    def _accept_weight(self, row: Mapping[str, str], line: int | None) -> bool:
        text = row.get("weight")
        if not text:
            return True
        weight = finite(text)
        if weight is None or weight <= 0:
            self._add_problem(line, f"is {text!r}.", "weight", "Use a positive number.")
            return False
        self._weights[row["rater_id"]] = weight
        return True

    def _read_probabilities(
        self, row: Mapping[str, str], labels: Labels, line: int | None
    ) -> tuple[float, ...] | None:
        shares = {
            key: self._read_share(row, key, line) for key in labels.probabilities if row.get(key)
        }
        if not shares:
            return None
        if not all(key in shares for key in labels.needed):
            return None
        chances = tuple(shares.get(key) or 0.0 for key in labels.probabilities)
        if math.fsum(chances) < LEAST_ON_OPTIONS:
            self._meant_none.append(line)
            return None
        return chances

    def _read_replicate(self, row: Mapping[str, str], kind: str, line: int | None) -> int:
        text = row.get("replicate")
        cell = (row["item_id"], row["criterion"], row["rater_id"])
        if text:
            # Spreadsheets, and tables with gaps, write whole numbers as 0.0.
            text = text.removesuffix(".0")
            number = int(text.lstrip("0")[:9] or 0) if text.isascii() and text.isdigit() else -1
            if 0 <= number <= MOST_REPLICATES:
                self._require_distinct((*cell, kind, row.get("order") or "", str(number)), line)
                return number
            mend = f"Use a whole number from 0 to {MOST_REPLICATES:,}."
            self._add_problem(line, f"is {text!r}.", "replicate", mend)
        number = self._answers.get((*cell, kind), -1) + 1
        self._answers[*cell, kind] = number
        first = self._lines.setdefault((*cell, kind, row.get("order") or ""), line)
        if number and first != line:
            self._repeated.append((row["rater_id"], line))
        return number

    def _require_distinct(self, answer: tuple[str, ...], line: int | None) -> None:
        """Refuse a duplicate replicate, since one of the two answers would be lost."""
        if answer in self._lines:
            message = (
                f"repeats replicate {answer[-1]} of {answer[2]!r} for {answer[1]!r} of "
                f"{answer[0]!r} (line {self._lines[answer]})."
            )
            mend = "Leave one of them out, or give each a number of its own."
            self._add_problem(line, message, "replicate", mend)
        self._lines[answer] = line

    def _add_problem(self, line: int | None, message: str, column: str, mend: str = "") -> None:
        self.problems.append(Problem(message, mend, (column,) if column else (), line))


def empty_answers(counts: Mapping[str, int]) -> tuple[Problem, ...]:
    """Return the notice of empty answers, with their number and spellings."""
    mend = "If one of these is an answer, import with a rubric that has an option of that name."
    return (Problem(empty_answers_sentence("answer", counts), mend),) if counts else ()


class Labels:
    """The labels of a criterion; each spelling is looked up once."""

    def __init__(self, criterion: Criterion) -> None:
        self.choices = criterion.choices
        self.probabilities = tuple(PROBABILITY + o.label for o in criterion.choices)
        self.needed = tuple(PROBABILITY + o.label for o in criterion.choices if not o.na)
        self._criterion = criterion
        self._found: dict[str, tuple[int | None, bool]] = {}
        self._empty: dict[str, bool] = {}

    @property
    def valid_labels(self) -> str:
        """Return the valid labels, as a hint."""
        return f"Use one of {', '.join(o.label for o in self.choices)}."

    def find_option(self, label: str) -> tuple[int | None, bool]:
        """Return the option of a label, and whether the label is valid here."""
        if label not in self._found:
            option = option_named(self._criterion, label)
            valid = option is not None or fold(label) == fold(CANNOT_ASSESS)
            self._found[label] = option, valid or self.is_empty(label)
        return self._found[label]

    def is_empty(self, label: str) -> bool:
        """Return whether a cell is empty, or a word for empty that is not an option."""
        if label not in self._empty:
            self._empty[label] = holds_no_answer(self._criterion, label)
        return self._empty[label]


def _kind_of(row: Mapping[str, str]) -> str:
    return row["rater_kind"].strip().lower()


#: The layouts of tables of votes.
TableFormat = Literal["long", "wide", "criteria", "pairs"]


@dataclass(frozen=True)
class VoteBundle:
    """The checked content of a file or folder of votes.

    ``format`` names the layout or format in which it was read. ``notices`` report what was derived,
    left out or tolerated. ``mapping`` and ``roles`` say how columns were used. ``details`` are kept
    with the run, for example that pairs are contests.
    """

    name: str
    format: str
    rubric: Rubric
    dataset: Dataset
    votes: ImportedVotes
    notices: tuple[Problem, ...] = ()
    mapping: dict[str, object] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    roles: tuple[ColumnRole, ...] = ()
