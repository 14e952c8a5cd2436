"""What a tool's results hold, whatever the tool: items, questions, and who answered what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from core.domain.base import build
from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.parsed import shortened
from core.formats.votes.derived_rubric import spelt_as
from core.formats.votes.imported import (
    TOOL_NAMES,
    ToolKind,
    VoteBundle,
    VoteChecker,
    VoteLine,
)
from core.formats.votes.tools.scales import Bins, Scale, Value, scale_of

RaterKind = Literal["human", "llm", "offline"]


class ToolAnswer(NamedTuple):
    """What one rater said to one question about one item. ``replicate`` counts from 0.

    ``number`` is the score behind a pass or fail; it is the answer where somebody asks for steps.
    """

    item: str
    question: str
    rater: str
    kind: RaterKind
    value: Value
    reason: str = ""
    replicate: int | None = None
    number: float | None = None


class ToolQuestion(NamedTuple):
    """What was asked: its words, and its options from worst to best where the tool names them.

    ``nominal``: they have no order, whatever they are worth.
    """

    requirement: str = ""
    options: tuple[tuple[str, float], ...] = ()
    nominal: bool = False


@dataclass
class ToolResults:
    """What a reader found. ``items`` holds fields of `Item` by id, ``truth`` labels by item.

    ``contest`` says of votes on pairs how they were made: the design, and the systems in order.
    """

    tool: ToolKind
    title: str
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    questions: dict[str, ToolQuestion] = field(default_factory=dict)
    answers: list[ToolAnswer] = field(default_factory=list)
    truth: dict[str, dict[str, Value]] = field(default_factory=dict)
    notices: list[Problem] = field(default_factory=list)
    contest: dict[str, Any] | None = None

    def note(self, message: str, mend: str = "") -> None:
        """Say something that a person should know of the reading."""
        self.notices.append(Problem(message, mend))


def bundle(
    found: ToolResults,
    rubric: Rubric | None = None,
    dataset: Dataset | None = None,
    bins: Bins | None = None,
) -> VoteBundle:
    """What is imported: a rubric from the questions, the items, and every answer as a vote.

    Args:
        found: what the tool's reader made of its file.
        rubric: what was asked; where ``None``, a criterion for each question.
        dataset: what was judged; where ``None``, the items of the file.
        bins: into how many steps, or at which edges, numbers are cut.

    Raises:
        InputError: there are no answers, or one is no option of the rubric.
    """
    if bins is not None:
        found.answers = [_numbered(answer, bins) for answer in found.answers]
    scales = _scales(found, bins)
    if not found.answers or (rubric is None and not scales):
        message = f"It is a file of {TOOL_NAMES[found.tool]}, and holds no scores."
        raise InputError(message, tuple(found.notices), found.title)
    lines = list(_lines(found, scales))
    if rubric is None:
        criteria = [_criterion(name, scale, found) for name, scale in scales.items()]
        data = {"name": found.title[:200], "criteria": criteria}
        rubric = build(Rubric, data, "rubric", found.title)
    else:
        lines = spelt_as(rubric, lines)
    if dataset is None:
        dataset = _dataset(found, scales, {criterion.name for criterion in rubric.criteria})
    checker = VoteChecker(rubric, dataset.items, found.title)
    votes = checker.read(lines)
    notices = [Problem(f"Read as results of {TOOL_NAMES[found.tool]}."), *found.notices]
    notices += [notice for scale in scales.values() for notice in scale.notices]
    notices += checker.notices
    details = {} if found.contest is None else {"contest": found.contest}
    return VoteBundle(
        found.title, found.tool, rubric, dataset, votes, shortened(notices), details=details
    )


def _numbered(answer: ToolAnswer, bins: Bins) -> ToolAnswer:
    """The answer as its number, where steps were asked for it."""
    if answer.number is None or bins.for_(answer.question) is None:
        return answer
    return answer._replace(value=answer.number)


def _scales(found: ToolResults, bins: Bins | None) -> dict[str, Scale]:
    values: dict[str, list[Value]] = {name: [] for name in found.questions}
    for answer in found.answers:
        values.setdefault(answer.question, []).append(answer.value)
    for given in found.truth.values():
        for name, value in given.items():
            values.setdefault(name, []).append(value)
    unknown = bins.unknown(values) if bins else []
    if unknown:
        names = ", ".join(map(repr, values))
        raise InputError(f"--bins names {unknown[0]!r}. The file has {names}.", (), found.title)
    empty = ToolQuestion()
    return {
        name: scale_of(name, given, found.questions.get(name, empty).options, bins)
        for name, given in values.items()
        if any(value is not None for value in given)
    }


def _lines(found: ToolResults, scales: Mapping[str, Scale]) -> Iterable[VoteLine]:
    for answer in found.answers:
        scale = scales.get(answer.question)
        if scale is None:
            continue
        number = answer.value if answer.number is None else answer.number
        reason = " ".join(filter(None, (scale.exact(answer.value, number), answer.reason)))
        row = {
            "item_id": answer.item,
            "criterion": answer.question,
            "rater_id": answer.rater,
            "rater_kind": answer.kind,
            "label": scale.label(answer.value),
            "reason": reason,
        }
        if answer.replicate is not None:
            row["replicate"] = str(answer.replicate)
        yield None, row


def _criterion(name: str, scale: Scale, found: ToolResults) -> dict[str, Any]:
    asked = found.questions.get(name, ToolQuestion()).requirement.strip()
    kind = "nominal" if found.questions.get(name, ToolQuestion()).nominal else scale.kind
    data: dict[str, Any] = {
        "name": name,
        "requirement": asked or f"{name} (the question itself was not part of the file)",
        "weight": 1.0,
        "scale": kind,
    }
    options = [{"label": label, "value": value} for label, value in scale.options]
    return data if kind == "binary" else data | {"options": options}


def items_alone(found: ToolResults) -> Dataset:
    """The items, to be judged anew; what the tool said of them is left out."""
    return _dataset(found, {}, set())


def _dataset(found: ToolResults, scales: Mapping[str, Scale], known: set[str]) -> Dataset:
    items = list[dict[str, Any]]()
    textless = 0
    for key, given in found.items.items():
        item = {"id": key, "submission": ""} | given
        if "submission" not in given:
            textless += 1
            item["meta"] = {**item.get("meta", {}), TEXT_AVAILABLE: False}
        item["labels"] = {
            name: {"label": scales[name].label(value)}
            for name, value in found.truth.get(key, {}).items()
            if value is not None and name in known and name in scales
        }
        items.append(item)
    if textless:
        mend = "Their votes can be measured; they cannot be graded again."
        found.note(f"{textless:,} items come without their text.", mend)
    data = {"name": found.title[:200], "items": items}
    return build(Dataset, data, "dataset", found.title)
