"""Figures and answers kept in a file, and whether what is measured now has fallen against them.

A drop is tested against chance: the items are resampled, the same ones on both sides where both
have them, and a drop counts only where the 95% interval of it lies above nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from core.errors import InputError
from core.metrics.agreement.known_figures import KNOWN, pair_measures
from core.metrics.drift import spent
from core.metrics.estimate import Estimate, Interval
from core.metrics.intervals.bootstrap import percentile
from core.metrics.intervals.joint_draws import AnswerPairs, Figure, Resampled
from core.metrics.measure import Array, Measure
from core.services.agreement.overall import OVERALL

FORMAT = "rubric_studio_baseline"
RESAMPLES = 2000


class Baseline(NamedTuple):
    """What a file keeps: the figures by path, the answers they were made of, and how often it was
    looked at with ``--watch``.
    """

    reference: str
    figures: Mapping[str, float | None]
    pairs: tuple[AnswerPairs, ...]
    looks: int = 0


class Fall(NamedTuple):
    """How far a figure fell; ``before`` and ``now`` are ``None`` where undefined."""

    before: float | None
    now: float | None
    drop: Estimate
    items: int
    paired: bool


def written(
    source: str,
    reference: str,
    figures: Mapping[str, float | None],
    pairs: Sequence[AnswerPairs],
    at: str,
) -> str:
    """The file's text."""
    kept = {
        one.name: {
            "scale": "ordinal" if one.ordinal else "nominal",
            "labels": list(one.labels),
            "cells": {
                item: [int(ref), int(answer)]
                for item, ref, answer in zip(
                    one.items, one.reference.tolist(), one.answers.tolist(), strict=True
                )
            },
        }
        for one in pairs
    }
    whole = {FORMAT: 1, "source": source, "written": at, "reference": reference}
    return json.dumps({**whole, "figures": figures, "criteria": kept}, ensure_ascii=False) + "\n"


def looked_at(text: str) -> str:
    """The file's text with one look more."""
    data = json.loads(text)
    return json.dumps({**data, "looks": int(data.get("looks", 0)) + 1}, ensure_ascii=False) + "\n"


def read(text: str, name: str) -> Baseline:
    """What a file keeps.

    Raises:
        InputError: it is no baseline, or one of a newer version.
    """
    try:
        data = json.loads(text)
        if data[FORMAT] != 1:
            raise InputError("This baseline is of a newer version of the program.", (), name)
        pairs = tuple(_pairs(one, kept) for one, kept in data["criteria"].items())
        looks = int(data.get("looks", 0))
        return Baseline(str(data["reference"]), dict(data["figures"]), pairs, looks)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        mend = "Make one with --write-baseline FILE."
        raise InputError(f"This is no baseline of the gate. {mend}", (), name) from None


def _pairs(name: str, kept: Mapping[str, Any]) -> AnswerPairs:
    labels, cells = tuple(map(str, kept["labels"])), kept["cells"]
    both = np.array([[int(a), int(b)] for a, b in cells.values()], np.int64).reshape(-1, 2)
    if both.size and not (both.min() >= 0 and both.max() < len(labels)):
        raise ValueError(name)
    return AnswerPairs(
        name, labels, kept["scale"] == "ordinal", tuple(cells), both[:, 0], both[:, 1]
    )


def figure_of(path: str, criteria: Sequence[str], key: str) -> tuple[str, Figure, float] | None:
    """The criterion and the figure that a path of the panel names; ``""`` for all criteria.

    The last is -1 for a figure of which less is better, else 1. ``None`` where the answers of the
    panel and the reference do not tell it (groups, scores), or it has no better and worse.
    """
    overall = f"overall.panel.{key}."
    if path.startswith(overall) and path.removeprefix(overall) in OVERALL:
        return "", OVERALL[path.removeprefix(overall)], 1.0
    for criterion in criteria:
        start = f"criteria.{criterion}.panel.{key}."
        if not path.startswith(start):
            continue
        name = path.removeprefix(start).removeprefix("more.")
        measure = pair_measures("pair", "more").get(name)
        if measure is not None and KNOWN[name].better:
            return criterion, _alone(measure), float(KNOWN[name].better)
    return None


def _alone(measure: Measure) -> Figure:
    return lambda tables, pairs: measure.many(tables[0])


def fall(
    before: Sequence[AnswerPairs],
    now: Sequence[AnswerPairs],
    figure: Figure,
    *,
    criterion: str = "",
    sign: float = 1.0,
    seed: int = 0,
    look: int = 0,
) -> Fall:
    """How far a figure fell from one set of answers to another.

    On the cells that both have where there are any, else each on its own; ``sign`` is -1 for a
    figure of which less is better. ``look``: the interval is that of the k-th of many looks, so
    that all together are wrong as seldom as one alone (``core.metrics.drift``); 0: of one.
    """
    old, new, paired = _matched(before, now, criterion)
    sides = (old, new)
    own = [Resampled([item for one in side for item in one.items]) for side in sides]
    first, second = (
        _or_none(float(figure(whole.once(side), side)[0])) if whole.items else None
        for whole, side in zip(own, sides, strict=True)
    )
    counted = len(own[0].items)
    if first is None or second is None:
        return Fall(first, second, Estimate(None), counted, paired)
    if paired:
        # The same items on both sides, drawn together.
        drawn = own[0].values({"it": figure}, sides, RESAMPLES, seed)["it"]
    else:
        drawn = [
            whole.values({"it": figure}, [side], RESAMPLES, seed + at)["it"][0]
            for at, (whole, side) in enumerate(zip(own, sides, strict=True))
        ]
    drop, differences = sign * (first - second), sign * (drawn[0] - drawn[1])
    ends = _over_looks(differences, drop, look) if look else percentile(differences)
    return Fall(first, second, Estimate(drop).within(ends), counted, paired)


def _over_looks(differences: Array, drop: float, look: int) -> Interval:
    """The normal interval of a drop: so few resamples lie as far out as the k-th look asks for."""
    known = percentile(differences)
    if known.low is None:
        return known
    reach = float(ndtri(1 - spent(look, 1, 0.05) / 2)) * float(np.nanstd(differences))
    return Interval(drop - reach, drop + reach, "basic")


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _matched(
    before: Sequence[AnswerPairs], now: Sequence[AnswerPairs], criterion: str
) -> tuple[list[AnswerPairs], list[AnswerPairs], bool]:
    """Both sides of the criteria that both have with the same options; their common cells."""
    there = {one.name: one for one in now if criterion in ("", one.name)}
    known = [one for one in before if one.name in there and one.labels == there[one.name].labels]
    others = [there[one.name] for one in known]
    common = [set(a.items) & set(b.items) for a, b in zip(known, others, strict=True)]
    if not any(common):
        return known, others, False
    return (
        [_only(one, both) for one, both in zip(known, common, strict=True)],
        [_only(one, both) for one, both in zip(others, common, strict=True)],
        True,
    )


def _only(one: AnswerPairs, items: set[str]) -> AnswerPairs:
    rows = np.array([row for row, item in enumerate(one.items) if item in items], np.int64)
    kept = tuple(one.items[row] for row in rows)
    return AnswerPairs(
        one.name, one.labels, one.ordinal, kept, one.reference[rows], one.answers[rows]
    )
