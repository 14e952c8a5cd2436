"""Who is asked: models, offline judges, functions of Python; alone or seated in a panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from pydantic import PrivateAttr

from core.domain.base import build_model
from core.domain.panel import Asking, Judge, Panel
from core.errors import InputError
from core.text.names import fold

__all__ = ["FunctionCheck", "Judge", "Panel", "check", "functions_of", "panel_of"]


class FunctionCheck(Judge):
    """A Python function as a judge; made by ``check``."""

    _function: Callable[..., Any] = PrivateAttr()

    @property
    def function(self) -> Callable[..., Any]:
        """What is asked."""
        return self._function


def check(
    function: Callable[..., Any],
    name: str = "",
    *,
    weight: float = 1.0,
    shadow: bool = False,
    stage: int = 0,
    concurrency: int | None = None,
) -> FunctionCheck:
    """A Python function as a judge. Its answers are votes like any others.

    ``function(item)`` or ``function(item, criterion)`` returns an option's label, ``None`` to
    abstain, of a yes/no criterion also ``True`` or ``False``; with ``(answer, reason)`` the reason
    is kept. What it raises is a failure, which is counted and shown, and stops nothing. It may be
    ``async``; then up to 16 are asked at once, else one after the other, unless ``concurrency``
    says how many.

    >>> check(lambda item: "thank" in item.output.lower(), "thanks").kind
    'function'
    """
    if not callable(function):
        raise InputError(f"A {type(function).__name__} is no function to check with.")
    called = name or getattr(function, "__name__", type(function).__name__)
    data = {
        "name": "check" if called == "<lambda>" else called,
        "kind": "function",
        "weight": weight,
        "shadow": shadow,
        "stage": stage,
        "concurrency": concurrency or (16 if iscoroutinefunction(function) else 1),
    }
    made = build_model(FunctionCheck, data, "check")
    made._function = function  # noqa: SLF001 - of the class above
    return made


def panel_of(judges: Any, asking: Mapping[str, Any]) -> Panel:
    """The panel of a ``Panel``, or of judges in a list: names, dicts, ``Judge``, functions."""
    if isinstance(judges, Panel):
        panel = judges
    else:
        alone = isinstance(judges, str | Mapping | Judge) or not isinstance(judges, Iterable)
        seated = [seat for one in ([judges] if alone else judges) for seat in _seats(one)]
        name = ", ".join(judge.name for judge in seated)[:200] or "Panel"
        panel = build_model(Panel, {"name": name, "judges": tuple(seated)}, "panel")
    if not asking:
        return panel
    settings = build_model(Asking, {**panel.asking.model_dump(), **asking}, "way of asking")
    return panel.model_copy(update={"asking": settings})


def _seats(one: Any) -> tuple[Judge, ...]:
    from core.services.judges.registry import OFFLINE_JUDGES

    if isinstance(one, Judge):
        return (one,)
    if isinstance(one, str):
        if fold(one) == "offline":
            return OFFLINE_JUDGES
        return (build_model(Judge, {"name": one, "model": one}, "judge"),)
    if isinstance(one, Mapping):
        return (build_model(Judge, {"name": one.get("model", ""), **one}, "judge"),)
    return (check(one),)


def functions_of(panel: Panel, trust: bool) -> dict[str, Callable[..., Any]]:
    """The functions and programs among a panel's judges, by name; ``trust`` allows programs, and
    what calls send where.
    """
    from core.services.judges.programs import programs_of

    own = {j.name: j.function for j in panel.judges if isinstance(j, FunctionCheck)}
    return {**programs_of(panel.judges, trust=trust), **own}
