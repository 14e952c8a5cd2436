"""What two answers are compared on, as criteria whose options are A, B, tie, both bad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from core.domain.base import build
from core.domain.rubric import Criterion, Option, Rubric
from core.services.contest_designs import Design

#: What a judge can say of A and B; ``none`` is an abstention.
Choice = Literal["A", "B", "tie", "both_bad", "none"]

A_BETTER, B_BETTER, TIE, BOTH_BAD = "A is better", "B is better", "Tie", "Both bad"
_CHOICES: dict[str, Choice] = {A_BETTER: "A", B_BETTER: "B", TIE: "tie", BOTH_BAD: "both_bad"}
OVERALL = "overall"


class Question(NamedTuple):
    """One thing to compare answers on. ``weight`` counts where questions are taken together."""

    name: str
    requirement: str
    weight: float = 10.0


def free(text: str) -> Question:
    """A question in a person's own words, ``NAME: WORDS`` or only words.

    >>> free("brevity: Which answer is shorter?").name
    'brevity'
    >>> free("Which answer is shorter?")[:2]
    ('Which answer is shorter?', 'Which answer is shorter?')
    """
    name, colon, words = text.partition(":")
    if colon and name.strip() and words.strip() and len(name) <= 60:
        return Question(name.strip(), words.strip())
    return Question(text.strip()[:200], text.strip())


def overall(rubric: Rubric | None = None) -> Question:
    """All in one question; with a rubric, its criteria are what "better" means."""
    if rubric is None:
        words = "Which answer serves the one who set the task better, all things considered?"
        return Question(OVERALL, words)
    lines = [f"- {_plain(c)}{_importance(c, rubric)}" for c in rubric.criteria]
    return Question(
        OVERALL,
        "Which answer is better, all of these taken together, each by its importance?\n"
        + "\n".join(lines),
    )


def of_criterion(criterion: Criterion) -> Question:
    """A criterion of a rubric as a question about two answers."""
    fault = criterion.weight < 0
    head = "Which answer has less of this fault?" if fault else "Which answer does better on this?"
    return Question(criterion.name, f"{head}\n{_plain(criterion)}", abs(criterion.weight))


def contest_rubric(questions: Sequence[Question], design: Design, guidelines: str = "") -> Rubric:
    """The rubric that asks the questions. Refuses what is no valid name or requirement."""
    criteria = [
        {
            "name": q.name,
            "requirement": q.requirement,
            "weight": q.weight,
            "scale": "nominal",
            "options": _options(design),
        }
        for q in questions
    ]
    name = f"Which is better: {', '.join(q.name for q in questions)}"[:200]
    return build(Rubric, {"name": name, "guidelines": guidelines, "criteria": criteria}, "contest")


def choice_of(criterion: Criterion, option: int | None) -> Choice:
    """What an option of a contest's criterion says."""
    if option is None or criterion.choices[option].na:
        return "none"
    return _CHOICES[criterion.choices[option].label]


def _options(design: Design) -> list[Option]:
    options = [Option(label=A_BETTER, value=1.0), Option(label=B_BETTER, value=0.0)]
    if design.ties:
        means = "There is no difference that the criterion is about."
        options.append(Option(label=TIE, description=means, value=0.5))
    if design.both_bad:
        means = "Both answers fail the criterion outright."
        options.append(Option(label=BOTH_BAD, description=means, value=0.5))
    return options


def _plain(criterion: Criterion) -> str:
    """The requirement, and for a scale what its ends mean."""
    text = criterion.requirement.strip()
    if criterion.scale == "binary":
        return text
    ladder = sorted(
        (o for o in criterion.options if o.value is not None), key=lambda o: o.value or 0.0
    )
    steps = "; ".join(f"{o.label} ({o.description})" if o.description else o.label for o in ladder)
    return f"{text}\nFrom worst to best: {steps}."


def _importance(criterion: Criterion, rubric: Rubric) -> str:
    total = sum(abs(c.weight) for c in rubric.criteria)
    share = abs(criterion.weight) / total if total else 0.0
    fault = "a fault; " if criterion.weight < 0 else ""
    return f" ({fault}importance {share:.0%})"
