"""Baselines: figures and answers stored in a file, and tests whether current figures fell.

A drop is tested against chance. Items are resampled, the same ones on both sides if both have them,
and a drop counts only if its 95% interval is above 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from core.errors import InputError
from core.metrics.agreement.known_figures import KNOWN, pair_measures
from core.metrics.drift import error_rate_spent
from core.metrics.estimate import Estimate, Interval
from core.metrics.intervals.bootstrap import percentile
from core.metrics.intervals.joint_draws import AnswerPairs, Figure, Resampled
from core.metrics.measure import Array, Measure
from core.services.agreement.overall import OVERALL

FORMAT = "rubric_studio_baseline"
RESAMPLES = 2000


class Baseline(NamedTuple):
    """The content of a file: the figures by path, their answers, and the number of checks with
    ``--watch``.
    """

    reference: str
    figures: Mapping[str, float | None]
    pairs: tuple[AnswerPairs, ...]
    looks: int = 0


class FigureFall(NamedTuple):
    """How far a figure fell; ``before`` and ``now`` are ``None`` if undefined."""

    before: float | None
    now: float | None
    drop: Estimate
    items: int
    paired: bool


def baseline_text(
    source: str,
    reference: str,
    figures: Mapping[str, float | None],
    pairs: Sequence[AnswerPairs],
    at: str,
) -> str:
    """Return the file's text."""
    stored = {
        answers.name: {
            "scale": "ordinal" if answers.ordinal else "nominal",
            "labels": list(answers.labels),
            "cells": {
                item: [int(ref), int(answer)]
                for item, ref, answer in zip(
                    answers.items, answers.reference.tolist(), answers.answers.tolist(), strict=True
                )
            },
        }
        for answers in pairs
    }
    content = {FORMAT: 1, "source": source, "written": at, "reference": reference}
    return (
        json.dumps({**content, "figures": figures, "criteria": stored}, ensure_ascii=False) + "\n"
    )


def with_check_counted(text: str) -> str:
    """Return the text of the baseline file with its number of checks increased by one."""
    data = json.loads(text)
    return json.dumps({**data, "looks": int(data.get("looks", 0)) + 1}, ensure_ascii=False) + "\n"


def read(text: str, name: str) -> Baseline:
    """Read a baseline file.

    Raises:
        InputError: it is not a baseline, or has a newer version.
    """
    try:
        data = json.loads(text)
        if data[FORMAT] != 1:
            raise InputError("This baseline is of a newer version of the program.", (), name)
        pairs = tuple(
            _read_pairs(criterion, stored) for criterion, stored in data["criteria"].items()
        )
        looks = int(data.get("looks", 0))
        return Baseline(str(data["reference"]), dict(data["figures"]), pairs, looks)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        advice = "Make one with --write-baseline FILE."
        raise InputError(f"This is not a baseline of the gate. {advice}", (), name) from None


def _read_pairs(name: str, stored: Mapping[str, Any]) -> AnswerPairs:
    labels, cells = tuple(map(str, stored["labels"])), stored["cells"]
    options = np.array([[int(a), int(b)] for a, b in cells.values()], np.int64).reshape(-1, 2)
    if options.size and not (options.min() >= 0 and options.max() < len(labels)):
        raise ValueError(name)
    return AnswerPairs(
        name, labels, stored["scale"] == "ordinal", tuple(cells), options[:, 0], options[:, 1]
    )


def figure_of(path: str, criteria: Sequence[str], key: str) -> tuple[str, Figure, float] | None:
    """Return the criterion (``""`` for all) and the figure of a path of the panel.

    The last value is -1 for a figure where less is better, else 1. ``None`` if answers of panel and
    reference do not determine it (groups, scores), or if neither direction is better.
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
            return criterion, _single_figure(measure), float(KNOWN[name].better)
    return None


def _single_figure(measure: Measure) -> Figure:
    return lambda tables, pairs: measure.many(tables[0])


def figure_fall(
    before: Sequence[AnswerPairs],
    now: Sequence[AnswerPairs],
    figure: Figure,
    *,
    criterion: str = "",
    sign: float = 1.0,
    seed: int = 0,
    look: int = 0,
) -> FigureFall:
    """Return how far a figure fell from one set of answers to another.

    It uses common cells if there are any, else each side's own. ``sign`` is -1 for a figure where
    less is better. ``look``: the interval is that of the k-th of many looks, so that all together
    are wrong as rarely as a single one (``core.metrics.drift``); 0: a single look.
    """
    old, new, paired = _common_cells(before, now, criterion)
    sides = (old, new)
    resampled = [Resampled([item for answers in side for item in answers.items]) for side in sides]
    first, second = (
        _or_none(float(figure(resamples.unweighted_tables(side), side)[0]))
        if resamples.items
        else None
        for resamples, side in zip(resampled, sides, strict=True)
    )
    counted = len(resampled[0].items)
    if first is None or second is None:
        return FigureFall(first, second, Estimate(None), counted, paired)
    if paired:
        # Both sides have the same items, so these are resampled together.
        drawn = resampled[0].values({"it": figure}, sides, RESAMPLES, seed)["it"]
    else:
        drawn = [
            resamples.values({"it": figure}, [side], RESAMPLES, seed + index)["it"][0]
            for index, (resamples, side) in enumerate(zip(resampled, sides, strict=True))
        ]
    drop, differences = sign * (first - second), sign * (drawn[0] - drawn[1])
    ends = _interval_over_looks(differences, drop, look) if look else percentile(differences)
    return FigureFall(first, second, Estimate(drop).with_interval(ends), counted, paired)


def _interval_over_looks(differences: Array, drop: float, look: int) -> Interval:
    """Return the normal interval of a drop, since few resamples reach the k-th look's limits."""
    ends = percentile(differences)
    if ends.low is None:
        return ends
    half_width = float(ndtri(1 - error_rate_spent(look, 1, 0.05) / 2)) * float(
        np.nanstd(differences)
    )
    return Interval(drop - half_width, drop + half_width, "basic")


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _common_cells(
    before: Sequence[AnswerPairs], now: Sequence[AnswerPairs], criterion: str
) -> tuple[list[AnswerPairs], list[AnswerPairs], bool]:
    """Return both sides of the criteria with equal options, limited to their common cells."""
    by_name = {answers.name: answers for answers in now if criterion in ("", answers.name)}
    earlier = [
        answers
        for answers in before
        if answers.name in by_name and answers.labels == by_name[answers.name].labels
    ]
    matching = [by_name[answers.name] for answers in earlier]
    common = [set(a.items) & set(b.items) for a, b in zip(earlier, matching, strict=True)]
    if not any(common):
        return earlier, matching, False
    return (
        [
            _limit_to_items(answers, common_cells)
            for answers, common_cells in zip(earlier, common, strict=True)
        ],
        [
            _limit_to_items(answers, common_cells)
            for answers, common_cells in zip(matching, common, strict=True)
        ],
        True,
    )


def _limit_to_items(answers: AnswerPairs, items: set[str]) -> AnswerPairs:
    rows = np.array([row for row, item in enumerate(answers.items) if item in items], np.int64)
    ids = tuple(answers.items[row] for row in rows)
    return AnswerPairs(
        answers.name,
        answers.labels,
        answers.ordinal,
        ids,
        answers.reference[rows],
        answers.answers[rows],
    )
