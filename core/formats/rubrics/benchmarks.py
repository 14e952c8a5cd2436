"""Convert per-item rubrics of HealthBench and PaperBench to our keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.errors import InputError, Problem
from core.formats.source.parsed import MAX_DEPTH

#: The total weight of all leaves of a tree.
WHOLE = 100.0


def converted(value: Any) -> Any:
    """Return a benchmark's rubric in our keys, and anything else unchanged.

    HealthBench: a list of ``criterion`` and ``points``, with ``tags``. PaperBench: a tree of
    ``requirements``, ``weight`` and ``sub_tasks``.

    >>> converted([{"criterion": "Says to rest.", "points": -2, "tags": []}])
    {'criteria': [{'requirement': 'Says to rest.', 'weight': -2, 'tags': []}]}
    """
    if _is_healthbench(value):
        return {"criteria": [_criterion(entry) for entry in value]}
    return _tree(value) if _is_tree(value) else value


def _is_healthbench(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(entry, Mapping)
            and {"criterion", "points"} <= entry.keys() <= {"criterion", "points", "tags"}
            for entry in value
        )
    )


def _criterion(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "requirement": entry["criterion"],
        "weight": entry["points"],
        "tags": entry.get("tags") or [],
    }


def _is_tree(value: Any) -> bool:
    return isinstance(value, Mapping) and {"requirements", "weight", "sub_tasks"} <= value.keys()


class _Leaf(NamedTuple):
    node: Mapping[str, Any]
    share: float
    above: tuple[str, ...]


def _tree(root: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves as criteria in sections, weighted by their path.

    A node's score is the mean of its parts by weight. So the shares of all leaves add up to one,
    here to 100 points.
    """
    leaves = list(_leaves(root, 1.0, (), 0))
    return {
        "name": _short(root["requirements"]),
        "description": str(root["requirements"]),
        "criteria": [_of_leaf(leaf) for leaf in leaves],
    }


def _leaves(
    node: Mapping[str, Any], share: float, above: tuple[str, ...], depth: int
) -> Iterator[_Leaf]:
    parts = node["sub_tasks"]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or depth > MAX_DEPTH:
        raise _wrong(node, "has sub_tasks that are no list.", "Write [] at a leaf.")
    if not parts:
        yield _Leaf(node, share, above)
        return
    for part in parts:
        if not _is_tree(part):
            raise _wrong(
                node, "has a part that is no task.", "Give requirements, weight, sub_tasks."
            )
    weights = [_weight(part) for part in parts]
    whole = sum(weights)
    here = (*above, str(node["requirements"])) if depth else ()
    for part, weight in zip(parts, weights, strict=True):
        yield from _leaves(part, share * weight / whole if whole else 0.0, here, depth + 1)


def _weight(node: Mapping[str, Any]) -> float:
    weight = node["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e12:
        raise _wrong(node, f"has the weight {weight!r}.", "Use a number from 0 on.")
    return float(weight)


def _of_leaf(leaf: _Leaf) -> dict[str, Any]:
    node, category = leaf.node, leaf.node.get("task_category")
    criterion: dict[str, Any] = {
        "requirement": node["requirements"],
        "weight": round(leaf.share * WHOLE, 9),
        "tags": [str(category)] if category else [],
        "meta": {"above": list(leaf.above[1:])} if leaf.above[1:] else {},
    }
    if leaf.above:
        criterion["section"] = _short(leaf.above[0])
    return criterion


def _short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else line[:199].rsplit(" ", 1)[0] + "…"


def _wrong(node: Mapping[str, Any], message: str, mend: str) -> InputError:
    about = f"The task {_short(node['requirements'])[:80]!r} {message}"
    return InputError("This tree of tasks is not valid.", (Problem(about, mend),))
