"""The design of contests: which systems meet on which task, in which order, on which questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from typing import Annotated, Literal, NamedTuple

from pydantic import Field as Bounded
from pydantic import model_validator

from core.domain.base import Noun, build_model, defect
from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE, Criterion, Option, Rubric
from core.errors import InputError
from core.identity import seeded_random
from core.services.pairwise.system_answers import ContestField
from core.text.numbers import percent


class Design(Noun):
    """Which systems meet, and how.

    ``all`` pairs on every task; against a ``baseline``; ``sampled``: ``per_task`` pairs on every
    task, drawn so that all pairs meet about equally often; ``adaptive``: a sampled first round,
    then rounds of the most informative contests (``contests.next_round``). ``orders``: every two
    answers in both orders, or in ``one`` that is balanced over tasks. ``disagreement``: the outcome
    of a contest whose orders have different winners. ``summaries``: one more call per contest
    summarises the judge's reasons.
    """

    kind: Literal["all", "baseline", "sampled", "adaptive"] = "all"
    baseline: str = ""
    per_task: Annotated[int, Bounded(ge=1)] = 1
    orders: Literal["both", "one"] = "both"
    ties: bool = True
    both_bad: bool = False
    disagreement: Literal["tie", "inconclusive"] = "tie"
    summaries: bool = False

    @model_validator(mode="after")
    def _require_valid_design(self) -> Design:
        if self.kind == "baseline" and not self.baseline:
            raise defect("is empty.", "Name the system that all others meet.", "baseline")
        return self


class Bout(NamedTuple):
    """Two systems that meet on a task; ``first`` is the system listed earlier."""

    task: str
    first: str
    second: str


def bouts_of(field: ContestField, design: Design, seed: int) -> tuple[Bout, ...]:
    """Return the bouts of a design, task by task; equal arguments give equal bouts.

    Raises:
        InputError: the baseline is not one of the systems.
    """
    if design.kind == "baseline" and design.baseline not in field.systems:
        raise InputError(
            f"The baseline {design.baseline!r} is not one of the systems: "
            f"{', '.join(field.systems)}."
        )
    if design.kind in ("sampled", "adaptive"):
        return tuple(_sampled_bouts(field, design.per_task, seed))
    return tuple(
        Bout(task, a, b)
        for task, answers in field.tasks.items()
        for a, b in _system_pairs(field.systems, answers)
        if design.kind == "all" or design.baseline in (a, b)
    )


def bouts_swapped_first(bouts: Sequence[Bout], seed: int) -> list[bool]:
    """Return whether each bout shows its second system first, if only one order is shown.

    The orders of each pair alternate; the seed draws the first.
    """
    turn: dict[tuple[str, str], bool] = {}
    swapped = []
    for _, first, second in bouts:
        pair = (first, second)
        if pair not in turn:
            turn[pair] = seeded_random("order of answers", seed, first, second).random() < 0.5
        swapped.append(turn[pair])
        turn[pair] = not turn[pair]
    return swapped


def _sampled_bouts(field: ContestField, per_task: int, seed: int) -> Iterator[Bout]:
    """Yield, for every task, the pairs that met least so far; the seed breaks ties."""
    times_met: Counter[tuple[str, str]] = Counter()
    for task, answers in field.tasks.items():
        rng = seeded_random("pairs", seed, task)
        pairs = list(_system_pairs(field.systems, answers))
        drawn = sorted(pairs, key=lambda pair: (times_met[pair], rng.random()))[:per_task]
        times_met.update(drawn)
        yield from (Bout(task, *pair) for pair in pairs if pair in drawn)


def _system_pairs(systems: Sequence[str], answered: Container[str]) -> Iterator[tuple[str, str]]:
    present = [s for s in systems if s in answered]
    return combinations(present, 2)


#: A judge's possible answers about A and B; ``none`` is an abstention.
Choice = Literal["A", "B", "tie", "both_bad", "none"]

_CHOICES: dict[str, Choice] = {A_BETTER: "A", B_BETTER: "B", TIE: "tie", BOTH_BAD: "both_bad"}
OVERALL = "overall"


class ContestQuestion(NamedTuple):
    """A question on which answers are compared. ``weight`` counts when questions are combined."""

    name: str
    requirement: str
    weight: float = 10.0


def free_question(text: str) -> ContestQuestion:
    """Return a question in a person's words, ``NAME: WORDS`` or only words.

    >>> free_question("brevity: Which answer is shorter?").name
    'brevity'
    >>> free_question("Which answer is shorter?")[:2]
    ('Which answer is shorter?', 'Which answer is shorter?')
    """
    name, colon, requirement = text.partition(":")
    if colon and name.strip() and requirement.strip() and len(name) <= 60:
        return ContestQuestion(name.strip(), requirement.strip())
    return ContestQuestion(text.strip()[:200], text.strip())


def overall_question(rubric: Rubric | None = None) -> ContestQuestion:
    """Return one overall question; with a rubric, its criteria define "better"."""
    if rubric is None:
        requirement = "Which answer serves the one who set the task better, all things considered?"
        return ContestQuestion(OVERALL, requirement)
    lines = [f"- {_requirement_text(c)}{_importance_text(c, rubric)}" for c in rubric.criteria]
    return ContestQuestion(
        OVERALL,
        "Which answer is better, all of these taken together, each by its importance?\n"
        + "\n".join(lines),
    )


def question_of_criterion(criterion: Criterion) -> ContestQuestion:
    """Return a rubric's criterion as a question about two answers."""
    fault = criterion.weight < 0
    head = "Which answer has less of this fault?" if fault else "Which answer does better on this?"
    return ContestQuestion(
        criterion.name, f"{head}\n{_requirement_text(criterion)}", abs(criterion.weight)
    )


def contest_rubric(
    questions: Sequence[ContestQuestion], design: Design, guidelines: str = ""
) -> Rubric:
    """Return the rubric of the questions. Raise ``InputError`` for an invalid name or
    requirement.
    """
    criteria = [
        {
            "name": q.name,
            "requirement": q.requirement,
            "weight": q.weight,
            "scale": "nominal",
            "options": _contest_options(design),
        }
        for q in questions
    ]
    name = f"Which is better: {', '.join(q.name for q in questions)}"[:200]
    return build_model(
        Rubric, {"name": name, "guidelines": guidelines, "criteria": criteria}, "contest"
    )


def choice_of(criterion: Criterion, option: int | None) -> Choice:
    """Return the choice that an option of a contest's criterion means."""
    if option is None or criterion.choices[option].na:
        return "none"
    return _CHOICES[criterion.choices[option].label]


def _contest_options(design: Design) -> list[Option]:
    options = [Option(label=A_BETTER, value=1.0), Option(label=B_BETTER, value=0.0)]
    if design.ties:
        means = "There is no difference that the criterion is about."
        options.append(Option(label=TIE, description=means, value=0.5))
    if design.both_bad:
        means = "Both answers fail the criterion outright."
        options.append(Option(label=BOTH_BAD, description=means, value=0.5))
    return options


def _requirement_text(criterion: Criterion) -> str:
    """Return the requirement and, for a scale, its options from worst to best."""
    text = criterion.requirement.strip()
    if criterion.scale == "binary":
        return text
    ladder = sorted(
        (scored_option for scored_option in criterion.options if scored_option.value is not None),
        key=lambda scored_option: scored_option.value or 0.0,
    )
    steps = "; ".join(
        f"{scored_option.label} ({scored_option.description})"
        if scored_option.description
        else scored_option.label
        for scored_option in ladder
    )
    return f"{text}\nFrom worst to best: {steps}."


def _importance_text(criterion: Criterion, rubric: Rubric) -> str:
    total = sum(abs(c.weight) for c in rubric.criteria)
    share = abs(criterion.weight) / total if total else 0.0
    fault = "a fault; " if criterion.weight < 0 else ""
    return f" ({fault}importance {percent(share)})"
