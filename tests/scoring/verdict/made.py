"""Criteria and ballots for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.votes import Verdict
from core.scoring.verdict import Ballot, settle


def criterion(scale: str = "binary", values: Sequence[float] = (), **rest: Any) -> Criterion:
    """A criterion; its options are labelled L0, L1, ... A number in ``values`` is an option's."""
    data: dict[str, Any] = {"name": "c", "requirement": "r", "scale": scale, **rest}
    if values:
        data["options"] = [{"label": f"L{i}", "value": v} for i, v in enumerate(values)]
        data["options"] += rest.get("extra", [])
    data.pop("extra", None)
    return build_model(Criterion, data, "criterion")


def ballots(
    made: Criterion, options: Sequence[int | None], weights: Sequence[float] = ()
) -> list[Ballot]:
    """One ballot per option, abstaining where the option has no value."""
    away = [o is None or made.values[o] is None for o in options]
    given = weights or [1.0] * len(options)
    return [Ballot(*each) for each in zip(options, away, given, strict=True)]


def settled(
    made: Criterion,
    options: Sequence[int | None],
    weights: Sequence[float] = (),
    **rest: Any,
) -> Verdict:
    """The verdict under the criterion's own rule, or its scale's default."""
    verdict = settle(made, ballots(made, options, weights), Rules(), **rest)
    assert verdict is not None
    return verdict
