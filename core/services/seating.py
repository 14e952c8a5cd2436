"""How the judges of a panel sit together: how they are asked, in which stages, who is a shadow.

Stage and shadow belong to a judge's seat in a panel, not to the judge in the registry: the same
judge may come first in one panel and be a shadow in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain.panel import Asking, Cascade, Judge, Panel
from core.domain.rules import Scale


@dataclass(frozen=True)
class Seating:
    """All of a panel but its name, its judges and its rules.

    ``stages`` maps judges to their stage (from 0; 0 where absent) and matters with a ``cascade``
    only; ``shadows`` names the judges whose votes do not count.
    """

    asking: Asking = field(default_factory=Asking)
    cascade: Cascade | None = None
    early_stop: bool = False
    stages: Mapping[str, int] = field(default_factory=dict)
    shadows: frozenset[str] = frozenset()


def seating_of(panel: Panel) -> Seating:
    """The seating of a panel that is there."""
    return Seating(
        panel.asking,
        panel.cascade,
        panel.early_stop,
        {j.name: j.stage for j in panel.judges if j.stage},
        frozenset(j.name for j in panel.judges if j.shadow),
    )


def panel_data(
    name: str,
    judges: Sequence[Judge],
    rules: Mapping[Scale, str] | Mapping[str, str],
    seating: Seating,
) -> dict[str, Any]:
    """A panel as plain data, to be checked by ``build``. What concerns nobody here is left out."""
    seats = [
        judge.model_dump()
        | {
            "stage": seating.stages.get(judge.name, 0) if seating.cascade else 0,
            "shadow": judge.name in seating.shadows,
        }
        for judge in judges
    ]
    return {
        "name": name,
        "judges": seats,
        "rules": {str(scale): rule for scale, rule in rules.items()},
        "asking": seating.asking.model_dump(),
        "cascade": None if seating.cascade is None else seating.cascade.model_dump(),
        "early_stop": seating.early_stop,
    }
