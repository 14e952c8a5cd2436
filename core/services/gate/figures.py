"""Figures by name, as in ``metrics --json``: a path, or a short name for the panel's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from core.errors import InputError

#: The key of each reference that has its own pair. Any other reference is a rater.
PAIR_KEYS = {"gold": "vs_gold", "human": "vs_human_majority"}
_PARTS = ("ci", "undefined", "confusion", "label_distribution", "levels")
#: The keys that may hold the number of observations behind the figures next to them; the first one
#: present counts.
_COUNTS = ("n", "labels", "cells", "items_with_2plus")
#: The figures over all cells, with or without labels.
COUNTED = ("trust.decided", "trust.cells", "trust.settled", "trust.labels")
_NO_REASON = "The figure is undefined."


class NamedFigure(NamedTuple):
    """A number of the report, or ``None`` with the reason; its interval, and its observations."""

    value: float | None
    why: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None


def named_figures(report: Mapping[str, Any]) -> dict[str, NamedFigure]:
    """Return every number of a metrics report by its path: its keys, joined with dots.

    >>> named_figures({"score": {"n": 2, "x": None, "undefined": {"x": "Too few."}}})["score.x"].why
    'Too few.'
    """
    return dict(_named_figures(report, (), {}))


def _named_figures(
    part: Mapping[str, Any], path: tuple[str, ...], reasons: Mapping[str, str]
) -> Iterator[tuple[str, NamedFigure]]:
    own_reasons, ends = part.get("undefined"), part.get("ci") or {}
    ends = ends if isinstance(ends, Mapping) else {"value": ends}
    reasons = own_reasons if isinstance(own_reasons, Mapping) else reasons
    n = next((part[name] for name in _COUNTS if name in part), None)
    for key, value in part.items():
        full_path = (*path, str(key))
        if key in _PARTS or isinstance(value, bool | str | list):
            continue
        if isinstance(value, Mapping):
            yield from _named_figures(value, full_path, reasons)
        elif value is None:
            yield ".".join(full_path), NamedFigure(None, str(reasons.get(str(key)) or _NO_REASON))
        else:
            low, high = ends.get(key) or (None, None)
            name = ".".join(full_path)
            yield name, NamedFigure(float(value), "", low, high, None if name in COUNTED else n)


def paths_of(
    name: str,
    figures: Mapping[str, NamedFigure],
    criteria: Sequence[str],
    reference: str,
    *,
    per_criterion: bool = False,
) -> list[str]:
    """Return the paths that a name means.

    A path means itself; with ``*`` for a criterion, it means each of them. A short name is the
    panel's figure against the reference: over all criteria or, with ``per_criterion``, of each. The
    names ``right``, ``before`` and ``decided`` are figures of the trust statement.

    Raises:
        InputError: the figure is unknown; lists the known ones.
    """
    if name in figures:
        return [name]
    if f"trust.{name}" in figures:
        return [f"trust.{name}"]
    key = PAIR_KEYS.get(reference, "vs_reference")
    pattern = f"criteria.*.panel.{key}.{name}" if per_criterion and "." not in name else name
    if "*" in pattern:
        paths = [
            path
            for criterion in criteria
            if (path := pattern.replace("*", criterion, 1)) in figures
        ]
    else:
        paths = [path for path in (f"overall.panel.{key}.{name}",) if path in figures]
    if not paths:
        raise InputError(_unknown_figure_message(name, figures, criteria, key, per_criterion))
    return paths


def _unknown_figure_message(
    name: str,
    figures: Mapping[str, NamedFigure],
    criteria: Sequence[str],
    key: str,
    per_criterion: bool,
) -> str:
    overall = f"overall.panel.{key}."
    prefix = f"criteria.{criteria[0]}.panel.{key}." if criteria else ""
    short = [p.removeprefix(overall) for p in figures if p.startswith(overall)]
    of_each = [p.removeprefix(prefix) for p in figures if prefix and p.startswith(prefix)]
    plain = [path for path in of_each if "." not in path]
    close = get_close_matches(name, [*short, *of_each, *figures], n=1, cutoff=0.75)
    unknown = f"{name!r} is not a figure of this source."
    if name in of_each and not per_criterion:
        path = f"criteria.*.panel.{key}.{name}"
        return f"{unknown} It is one of each criterion: add --per-criterion, or say {path}."
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"{unknown}{hint} Over all criteria there are {', '.join(short)}, and right, before and "
        f"decided of the trust statement; with --per-criterion "
        f"{', '.join(plain)}. Others by their path in `metrics --json`, e.g. "
        f"criteria.NAME.groups.llm.krippendorff_alpha_nominal."
    )
