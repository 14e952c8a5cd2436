"""`metrics` and `score` of folders of twenty shapes equal an independent computation to 1e-5."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from core.services.agreement.metrics_report import metrics_source
from tests.services.agreement.common_layout.making import SHAPES, Shape, write
from tests.services.agreement.common_layout.oracle import (
    WEIGHTS,
    Criterion,
    Folder,
    f1_macro,
    kappa,
    mean_level,
    table_of,
)

JUDGES = ("llm", "offline")


def _no_store() -> Any:
    raise AssertionError("a folder needs no data file")


def differing(theirs: Mapping[str, Any], ours: Mapping[str, Any], at: str) -> Iterator[str]:
    """What differs by more than 1e-5, and what is defined on one side only."""
    flat = dict(ours)
    for name, value in (ours.get("mean_pairwise_cohen") or {}).items():
        flat[f"mean_pairwise_cohen.{name}"] = value
    for name in {*theirs, *(n for n, v in flat.items() if isinstance(v, int | float))}:
        wanted, found = theirs.get(name), flat.get(name)
        if isinstance(wanted, float) and math.isnan(wanted):
            wanted = None
        if isinstance(wanted, int | float) and isinstance(found, int | float):
            if abs(wanted - found) > 1e-5:
                yield f"{at} {name}: {found}, not {wanted}"
        elif wanted != found:
            yield f"{at} {name}: {found}, not {wanted}"


def compared(ours: dict[str, Any], theirs: Criterion, name: str) -> Iterator[str]:
    """Groups, raters and panel of one criterion."""
    assert ours["levels"] == theirs.labels
    people = theirs.matrix("human")
    assert set(ours["groups"]) == set(theirs.rows.rater_kind)
    for kind, group in ours["groups"].items():
        yield from differing(theirs.group(kind), group, f"{name} {kind}")
        members = theirs.matrix(kind)
        yield from differing(
            theirs.pair(theirs.gold, theirs.majority(members)),
            group["majority"]["vs_gold"],
            f"{name} {kind} majority",
        )
        for rater in members:
            # A person is compared with the other people.
            others = people.drop(columns=rater) if kind == "human" else people
            found, place = ours["raters"][str(rater)], f"{name} {rater}"
            rated = members[rater]
            wanted = {
                "vs_gold": theirs.pair(theirs.gold, rated),
                "vs_human_majority": theirs.pair(theirs.majority(others), rated),
            }
            if theirs.scale != "nominal":
                wanted["vs_human_mean_level"] = mean_level(others.mean(axis=1), rated)
            for what, numbers in wanted.items():
                yield from differing(numbers, found[what], f"{place} {what}")
    panel, majority = theirs.verdicts(), theirs.majority(people)
    if (theirs.counting.rater_kind == "human").any():
        # People who are the panel are no reference for it.
        majority = pd.Series(float("nan"), theirs.ids)
    for what, reference in (("vs_gold", theirs.gold), ("vs_human_majority", majority)):
        yield from differing(
            theirs.pair(reference, panel), ours["panel"][what], f"{name} panel {what}"
        )


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_number_of_metrics_is_the_independent_one(shape: Shape, tmp_path: Path) -> None:
    folder = tmp_path / "rated"
    write(shape, folder, seed=len(shape.name))
    ours, theirs = metrics_source(_no_store, str(folder)), Folder(folder, shape.delimiter)
    assert list(ours["criteria"]) == [c["name"] for c in theirs.rubric]
    wrong = [
        one
        for name, found in ours["criteria"].items()
        for one in compared(found, theirs.criterion(name), name)
    ]
    assert wrong == []


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 4, 60])
def test_what_is_written_out_of_a_table_of_counts_is_what_scikit_learn_computes(
    k: int, n: int
) -> None:
    # One pair is no agreement beyond chance to speak of (0 / 0); of four some level is missing.
    dice = np.random.default_rng(10 * k + n)
    a, b, names = dice.integers(0, k, n), dice.integers(0, k, n), list(range(k))
    table = table_of(a, b, k)
    assert table.tolist() == sk.confusion_matrix(a, b, labels=names).tolist()
    f1 = sk.f1_score(a, b, labels=names, average="macro", zero_division=0)
    assert f1_macro(table) == pytest.approx(f1, abs=1e-12)
    for name in WEIGHTS:
        weights = None if name == "none" else name
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = sk.cohen_kappa_score(a, b, labels=names, weights=weights)
        assert kappa(table, name) == pytest.approx(theirs, abs=1e-12, nan_ok=True)
