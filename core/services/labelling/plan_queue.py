"""The queue of a label plan: its rule and its name."""

from __future__ import annotations

from core.domain.review import DrawKind, QueueRule
from core.services.labelling.label_plan import LabelPlan


def queue_rule(plan: LabelPlan, labels: int, draw: DrawKind) -> QueueRule:
    """Return the rule of a queue that draws about this many cells without a label."""
    return QueueRule.only(
        criteria=(plan.criterion,) if plan.criterion else None,
        audit_share=min(1.0, labels / plan.left),
        draw=draw,
    )


def queue_name(plan: LabelPlan, labels: int) -> str:
    """Return the name of a plan's queue."""
    return f"{labels} random labels{f' of {plan.criterion}' if plan.criterion else ''}"[:100]
