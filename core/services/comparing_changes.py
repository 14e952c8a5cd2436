"""What changed from one run to another: rubric, dataset, panel, prompt, seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from core.domain.base import Noun
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.services.scored import scored_rubric
from core.store.store import Store

Area = Literal["rubric", "dataset", "panel", "run"]
#: Neither what was asked nor how it was scored depends on these.
_NO_MATTER = frozenset({"meta", "tags", "section", "concurrency", "timeout", "tries"})
_LONGEST = 200


class Change(NamedTuple):
    """One thing that is not the same. ``before`` and ``after`` are ``None`` where it is absent."""

    area: Area
    what: str
    before: str | None
    after: str | None


def changes(store: Store, first: Run, second: Run) -> tuple[Change, ...]:
    """All that differs between the plans of two runs, the rubric first."""
    found = [*_rubrics(store, first, second), *_datasets(store, first, second)]
    return (*found, *_panels(first, second), *_runs(first, second))


def _rubrics(store: Store, first: Run, second: Run) -> Iterator[Change]:
    ids = [(run.rubric_version_id, run.scored_version_id) for run in (first, second)]
    if ids[0] == ids[1]:
        return
    yield Change("rubric", "version", _rubric_words(first), _rubric_words(second))
    one, other = (scored_rubric(store, run) for run in (first, second))
    before, after = ({c.name: c for c in rubric.criteria} for rubric in (one, other))
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield Change("rubric", f"{name}: criterion", "asked", None)
        elif name not in before:
            yield Change("rubric", f"{name}: criterion", None, "asked")
        else:
            yield from _fields("rubric", before[name], after[name], f"{name}: ")
    yield from _fields("rubric", _rest(one), _rest(other))


def _rest(rubric: Rubric) -> dict[str, Any]:
    whole = rubric.model_dump(mode="json", exclude={"criteria", "name", "description", "meta"})
    return {**whole, **{f"scoring {k}": v for k, v in whole.pop("scoring").items()}}


def _rubric_words(run: Run) -> str:
    return f"{run.rubric_name}, {run.version_words}"


def _datasets(store: Store, first: Run, second: Run) -> Iterator[Change]:
    if first.dataset_version_id == second.dataset_version_id:
        return
    words = (f"{run.dataset_name}, version {run.dataset_number}" for run in (first, second))
    yield Change("dataset", "version", *words)
    heads = (store.datasets.version(run.dataset_version_id).head for run in (first, second))
    one, other = (
        {"prompt": h.prompt, **_contexts(h.context), "reference": h.reference} for h in heads
    )
    yield from _fields("dataset", one, other, "shared ")


def _contexts(context: Mapping[str, str]) -> dict[str, str]:
    return {f"context {name}": text for name, text in context.items()}


def _panels(first: Run, second: Run) -> Iterator[Change]:
    before, after = ({j.name: j for j in run.panel.judges} for run in (first, second))
    for name in dict.fromkeys([*before, *after]):
        if name in before and name in after:
            yield from _fields("panel", before[name], after[name], f"{name}: ")
        else:
            sides = (before.get(name), after.get(name))
            models = (None if j is None else j.model or j.kind for j in sides)
            yield Change("panel", f"{name}: judge", *models)
    yield from _fields("panel", first.panel.rules, second.panel.rules, "rule for ")
    yield from _fields("panel", first.panel.asking, second.panel.asking)
    rest = {"judges", "rules", "asking", "name"}
    one, other = (r.panel.model_dump(mode="json", exclude=rest) for r in (first, second))
    yield from _fields("panel", one, other)


def _runs(first: Run, second: Run) -> Iterator[Change]:
    one, other = (
        {
            "seed": run.plan.seed,
            "replicates": run.plan.replicates,
            "items to learn from": len(run.plan.calibration.get("items", ())),
            **{f"version of {name}": v for name, v in run.plan.versions.items()},
        }
        for run in (first, second)
    )
    yield from _fields("run", one, other)
    pools = [run.plan.calibration.get("items", []) for run in (first, second)]
    if pools[0] != pools[1] and len(pools[0]) == len(pools[1]):
        yield Change("run", "which items to learn from", "drawn otherwise", "drawn otherwise")


def _fields(
    area: Area, first: Noun | Mapping[str, Any], second: Noun | Mapping[str, Any], of: str = ""
) -> Iterator[Change]:
    before, after = (_plain(side) for side in (first, second))
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one != other and name not in _NO_MATTER:
            yield Change(area, of + name.replace("_", " "), _words(one), _words(other))


def _plain(side: Noun | Mapping[str, Any]) -> Mapping[str, Any]:
    return side.model_dump(mode="json") if isinstance(side, Noun) else side


def _words(value: Any) -> str | None:
    """A value in words, on one line.

    >>> _words([{"label": "Good", "value": 1.0}, {"label": "?", "value": None, "na": True}])
    'Good (1), ?'
    """
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | int):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, dict):
        value = (
            [_pair(value)] if "label" in value else [f"{k} {_words(v)}" for k, v in value.items()]
        )
    text = ", ".join(_words(v) or "" for v in value) if isinstance(value, list) else str(value)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _pair(option: Mapping[str, Any]) -> str:
    value = option.get("value")
    return f"{option['label']}" if value is None else f"{option['label']} ({value:g})"
