"""Results of any tool: items, questions and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.text_columns import maps_for
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.parsed import ColumnRole, limited
from core.formats.votes.derived_rubric import criterion_data, lines_as_spelt
from core.formats.votes.imported import VoteBundle, VoteChecker, VoteLine
from core.formats.votes.scales import Bins, Scale, Value, scale_of

RaterKind = Literal["human", "llm", "offline"]


class ToolAnswer(NamedTuple):
    """A rater's answer to a question about an item. ``replicate`` counts from 0.

    ``number`` is the score behind a pass or fail, and the answer if bins are requested.
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
    """A question: its text, and options from worst to best if the tool names them.

    ``nominal``: the options have no order, whatever their values. ``weight``: 0 for a question
    whose answer follows from the others. ``levels``: numbers that could be given, seen or not.
    """

    requirement: str = ""
    options: tuple[tuple[str, float], ...] = ()
    nominal: bool = False
    weight: float = 1.0
    levels: tuple[int, ...] = ()


@dataclass
class ToolResults:
    """A reader's results: ``items`` has `Item` fields by id, ``truth`` labels.

    ``contest`` describes votes on pairs: the design, and the systems in order. ``rubric`` is the
    rubric given with the answers, if any. ``tool_name`` is the tool's name on screen. ``roles`` say
    where the fields of the file went.
    """

    tool: str
    title: str
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    questions: dict[str, ToolQuestion] = field(default_factory=dict)
    answers: list[ToolAnswer] = field(default_factory=list)
    truth: dict[str, dict[str, Value]] = field(default_factory=dict)
    notices: list[Problem] = field(default_factory=list)
    contest: dict[str, Any] | None = None
    rubric: Rubric | None = None
    tool_name: str = "pairs"
    roles: tuple[ColumnRole, ...] = ()

    def note(self, message: str, mend: str = "") -> None:
        """Add a notice about the import."""
        self.notices.append(Problem(message, mend))


def bundle(
    results: ToolResults,
    rubric: Rubric | None = None,
    dataset: Dataset | None = None,
    bins: Bins | None = None,
) -> VoteBundle:
    """Return an import: a rubric, the items, and every answer as a vote.

    Args:
        results: the results from the tool's reader.
        rubric: the rubric of the questions; ``None`` for a criterion per question.
        dataset: the judged items; ``None`` for the items of the file.
        bins: how many bins, or which edges, numbers get.

    Raises:
        InputError: there are no answers, or one is not an option of the rubric.
    """
    if bins is not None:
        results.answers = [_answer_as_number(answer, bins) for answer in results.answers]
    scales = _scales_of_questions(results, bins)
    rubric = rubric or results.rubric
    if not results.answers or (rubric is None and not scales):
        message = f"It is a file of {results.tool_name}, and holds no scores."
        raise InputError(message, tuple(results.notices), results.title)
    lines = list(_vote_lines(results, scales))
    if rubric is None:
        criteria = [_criterion_data(name, scale, results) for name, scale in scales.items()]
        data = {"name": results.title[:200], "criteria": criteria}
        rubric = build_model(Rubric, data, "rubric", results.title)
    else:
        lines = lines_as_spelt(rubric, lines)
    if dataset is None:
        dataset = _dataset_of(results, scales, {criterion.name for criterion in rubric.criteria})
    checker = VoteChecker(rubric, dataset.items, results.title)
    votes = checker.read(lines)
    notices = [*results.notices, *_scores_behind(results)]
    notices += [notice for scale in scales.values() for notice in scale.notices]
    notices += [*_numbers_as_labels(results, scales), *checker.notices]
    details = {} if results.contest is None else {"contest": results.contest}
    return VoteBundle(
        results.title,
        results.tool,
        rubric,
        dataset,
        votes,
        limited(notices),
        details=details,
        roles=results.roles,
    )


def _answer_as_number(answer: ToolAnswer, bins: Bins) -> ToolAnswer:
    """Return the answer as its number, if bins were requested for it."""
    if answer.number is None or bins.bins_of(answer.question) is None:
        return answer
    return answer._replace(value=answer.number)


def _scores_behind(results: ToolResults) -> list[Problem]:
    """Return the notice that answers are passed or not, although scores stand behind them."""
    judged = [a for a in results.answers if isinstance(a.value, bool)]
    names = [*dict.fromkeys(a.question for a in judged if a.number not in (None, 0, 1))]
    if not names:
        return []
    listed = ", ".join(map(repr, names[:20]))
    message = f"Passed or not is the answer of {listed}; the scores are in the reasons."
    return [Problem(message, "To read the scores: --bins 5, or the steps on the page.")]


def _numbers_as_labels(results: ToolResults, scales: Mapping[str, Scale]) -> list[Problem]:
    """Return how to read the numbers in steps as labels, if each question is a column."""
    columns = {role.column: role.role for role in results.roles}
    texts = [column for column, role in columns.items() if role == "text"]
    binned = [name for name, scale in scales.items() if scale.edges]
    if not binned or len(texts) != 1 or not {*binned} <= columns.keys():
        return []
    maps = maps_for("submission", texts) + " " + maps_for("labels", [",".join(binned)])
    message = "The numbers can be labels of the texts instead, exactly, without a rater"
    return [Problem(f"{message}: {maps}.")]


def _scales_of_questions(results: ToolResults, bins: Bins | None) -> dict[str, Scale]:
    values: dict[str, list[Value]] = {name: [] for name in results.questions}
    for answer in results.answers:
        values.setdefault(answer.question, []).append(answer.value)
    for labels in results.truth.values():
        for name, value in labels.items():
            values.setdefault(name, []).append(value)
    unknown = bins.unknown(values) if bins else []
    if unknown:
        names = ", ".join(map(repr, values))
        raise InputError(f"--bins names {unknown[0]!r}. The file has {names}.", (), results.title)
    asked = {name: results.questions.get(name, ToolQuestion()) for name in values}
    return {
        name: scale_of(name, [*labels, *asked[name].levels], asked[name].options, bins)
        for name, labels in values.items()
        if any(value is not None for value in labels)
    }


def _vote_lines(results: ToolResults, scales: Mapping[str, Scale]) -> Iterable[VoteLine]:
    for answer in results.answers:
        scale = scales.get(answer.question)
        if scale is None and results.rubric is None:
            continue
        number = answer.value if answer.number is None else answer.number
        exact = scale.exact_number(answer.value, number) if scale else ""
        reason = " ".join(filter(None, (exact, answer.reason)))
        row = {
            "item_id": answer.item,
            "criterion": answer.question,
            "rater_id": answer.rater,
            "rater_kind": answer.kind,
            "label": scale.label_of(answer.value) if scale else "",
            "reason": reason,
        }
        if answer.replicate is not None:
            row["replicate"] = str(answer.replicate)
        yield None, row


def _criterion_data(name: str, scale: Scale, results: ToolResults) -> dict[str, Any]:
    question = results.questions.get(name, ToolQuestion())
    kind = "nominal" if question.nominal else scale.kind
    options = [{"label": label, "value": value} for label, value in scale.options]
    data = criterion_data(name, kind, options, question.requirement.strip())
    return data | {"weight": question.weight}


def items_without_answers(results: ToolResults) -> Dataset:
    """Return the items to grade again, without the tool's answers."""
    return _dataset_of(results, {}, set())


def _dataset_of(results: ToolResults, scales: Mapping[str, Scale], criteria: set[str]) -> Dataset:
    items = list[dict[str, Any]]()
    textless = 0
    for key, fields in results.items.items():
        item = {"id": key, "submission": ""} | fields
        if "submission" not in fields:
            textless += 1
            item["meta"] = {**item.get("meta", {}), TEXT_AVAILABLE: False}
        item["labels"] = {
            name: {"label": scales[name].label_of(value)}
            for name, value in results.truth.get(key, {}).items()
            if value is not None and name in criteria and name in scales
        }
        items.append(item)
    if textless:
        mend = "Their votes can be measured; they cannot be graded again."
        results.note(f"{textless:,} items come without their text.", mend)
    data = {"name": results.title[:200], "items": items}
    return build_model(Dataset, data, "dataset", results.title)
