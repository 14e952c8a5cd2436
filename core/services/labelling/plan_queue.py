"""The queue of a plan of labels: what it draws, and what it is called."""

from __future__ import annotations

from core.domain.review import DrawKind, QueueRule
from core.services.labelling.label_plan import LabelPlan


def queue_rule(plan: LabelPlan, labels: int, draw: DrawKind) -> QueueRule:
    """The rule of a queue that draws about so many of the cells that have no label."""
    return QueueRule.only(
        criteria=(plan.criterion,) if plan.criterion else None,
        audit_share=min(1.0, labels / plan.left),
        draw=draw,
    )


def queue_name(plan: LabelPlan, labels: int) -> str:
    """What the queue of a plan is called."""
    return f"{labels} random labels{f' of {plan.criterion}' if plan.criterion else ''}"[:100]
