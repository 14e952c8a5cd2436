"""A criterion as text: what it requires, its kind, and its options in the order shown."""

from __future__ import annotations

from core.domain.names import fold
from core.domain.rubric import MET, UNMET, Criterion, Option
from core.judging import phrases
from core.judging.fences import one_line, sendable


def requirement_part(criterion: Criterion, name: str = "") -> str:
    """What all items are asked, whatever the order of options. ``name`` is the shown id."""
    return f"{comparison_part(criterion, name)}\n\nKIND\n{_kind(criterion.weight)}"


def comparison_part(criterion: Criterion, name: str = "") -> str:
    """The same without its kind: of two answers the better one is asked for, whatever the kind."""
    return f"{_titled('CRITERION', name)}\n{sendable(criterion.requirement).strip()}"


def options_part(criterion: Criterion, order: tuple[int, ...], name: str = "") -> str:
    """The options, numbered from 1 in ``order``."""
    options = "\n".join(
        f"{shown}. {_option(criterion, criterion.choices[index])}"
        for shown, index in enumerate(order, start=1)
    )
    return f"{_titled('OPTIONS', name and f'of {name}')}\n{options}"


def _titled(title: str, name: str) -> str:
    return f"{title} {name}" if name else title


def _kind(weight: float) -> str:
    if weight < 0:
        return phrases.PENALTY
    return phrases.REWARD if weight > 0 else phrases.NEUTRAL


def _option(criterion: Criterion, option: Option) -> str:
    label = one_line(option.label) + (" (abstention)" if option.na else "")
    meaning = sendable(option.description).strip() or _plain_meaning(criterion, option)
    # Further lines are indented, so that none of them looks like an option of its own.
    return f"{label}: {meaning}".replace("\n", "\n   ") if meaning else label


def _plain_meaning(criterion: Criterion, option: Option) -> str:
    if option.na:
        return phrases.ABSTENTION_MEANS
    if criterion.scale != "binary":
        return ""
    means = {fold(MET): phrases.MET_MEANS, fold(UNMET): phrases.UNMET_MEANS}
    return means[fold(option.label)][criterion.weight < 0]
