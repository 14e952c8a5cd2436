"""A label plan as sentences, as lines for a terminal, and as plain data."""

from __future__ import annotations

from typing import Any

from core.metrics.estimate import reversed_sign
from core.services.labelling.label_plan import DRAWS, THIN, LabelPlan
from core.text.names import visible
from core.text.numbers import about_minutes, count, percent, plural, score


def plan_in_words(plan: LabelPlan) -> str:
    """Return the expected difference from people, and how many labels tell two systems apart."""
    basis = (
        f"by {plan.known} random labels"
        if plan.measured
        else "guessed from how far votes agree; ten labels known to be drawn at random would tell"
    )
    sentence = (
        f"People's answers are expected to lie {score(plan.off)} from the votes' (root mean "
        f"square, {basis})."
    )
    if not plan.left and plan.known:
        sentence = f"Labels lie {score(plan.off)} from the votes (root mean square)."
    if plan.reason:
        return f"{sentence} {plan.reason}"
    if plan.pair is None or plan.gap is None:
        return sentence
    if plan.told:
        return f"{sentence} {_lead_words(plan)}"
    guess = "" if plan.measured else "By this guess, "
    find = f"{guess}{'to' if guess else 'To'} find that in 80 of 100 cases"
    if plan.needed is not None:
        ends = f"takes about {plural(plan.needed, 'label')}."
    else:
        most = percent(plan.most_power)
        ends = f"is beyond these tasks: with every cell labelled the chance is {most}."
        ends += "" if guess else " More tasks would help, more labels would not."
    return f"{sentence} {_lead_words(plan)} {find} {ends}{_thin_groups_words(plan)}"


def _lead_words(plan: LabelPlan) -> str:
    """Return which system is ahead, by how much, and by which evidence."""
    (first, second), gap = plan.pair or ("", ""), plan.gap or 0.0
    better, size = (second if gap > 0 else first), score(abs(gap))
    if plan.voted is None:
        return f"{better} is taken to be ahead by {size}."
    votes = _lead_by_votes(plan.voted, first, second)
    if plan.shown is None:
        return f"People are expected to find {better} ahead by {size} ({votes})."
    shown = (plan.shown if gap > 0 else reversed_sign(plan.shown)).words(score).inline
    certainty = "is more than chance" if plan.told else "may be chance"
    basis = f"By {count(plan.known)} random labels"
    return f"{basis} {better} is ahead by {shown}, which {certainty}; {votes}."


def _lead_by_votes(gap: float, first: str, second: str) -> str:
    """Return which system is ahead by the votes; people may see it differently."""
    if not round(gap, 2):
        return "the votes have them level"
    return f"the votes have {second if gap > 0 else first} ahead by {score(abs(gap))}"


def _thin_groups_words(plan: LabelPlan) -> str:
    """Return which draws would show nothing about the two systems, since groups have few labels."""
    return "".join(
        f" Drawn with {DRAWS[draw]}, {plural(number, 'group')} of one system's cells would get "
        f"fewer than {THIN} of this many labels: too few to show a difference."
        for draw, number in plan.thin.items()
        if draw != "even"
    )


def plan_as_text(plan: LabelPlan) -> str:
    """Return the plan as lines for a terminal."""
    lines = [plan_in_words(plan), *([_columns_words(plan)] if plan.steps else [])]
    for step in plan.steps:
        widths = ", ".join(
            f"{draw} ±{score(width, 3)}" for draw, width in step.width.items() if width is not None
        )
        parts = [f"{count(step.labels):>6} more labels: {widths or 'too few'}"]
        if step.power is not None:
            parts.append(f"power {percent(step.power)}")
        if step.minutes is not None:
            parts.append(about_minutes(step.minutes))
        if step.money is not None:
            parts.append(f"{step.money:.2f} in wages")
        lines.append("; ".join(parts))
    return "\n".join(lines)


def _columns_words(plan: LabelPlan) -> str:
    """Return a line that explains the columns."""
    mean = f"mean of {visible(plan.criterion)}" if plan.criterion else "mean score"
    draws = "; ".join(f"{draw}, {meaning}" for draw, meaning in DRAWS.items())
    text = (
        f"± is half the 95% interval of the corrected {mean} after this many more labels: {draws}."
    )
    if plan.pair is None or plan.gap is None:
        return text
    first, second = map(visible, plan.pair)
    return f"{text} Power is the chance to find {first} and {second} apart; ± is of all systems."


def as_data(plan: LabelPlan) -> dict[str, Any]:
    """Return the report of ``queue plan --json``."""
    data: dict[str, Any] = {
        "criterion": plan.criterion or None,
        "cells_without_label": plan.left,
        "random_labels": plan.known,
        "off": plan.off,
        "measured": plan.measured,
        "steps": [
            {
                "labels": step.labels,
                "half_width": dict(step.width),
                "power": step.power,
                "finds": step.finds,
                "minutes": step.minutes,
                "money": step.money,
            }
            for step in plan.steps
        ],
    }
    if plan.pair is not None:
        data["between"] = list(plan.pair)
        data["gap"], data["power_with_all"] = plan.gap, plan.most_power
        data["gap_of_votes"] = plan.voted
        if plan.shown is not None:
            data["gap_of_labels"] = {"value": plan.shown.value, "ci": [*plan.shown[1:3]]}
        data["labels_needed"] = plan.needed
        data["thin_groups"] = dict(plan.thin)
    return {**data, "undefined": {"plan": plan.reason}} if plan.reason else data
