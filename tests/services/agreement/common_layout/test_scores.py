"""`score` of folders of twenty shapes equals the rules of the design, written down another way."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.cli.rescore import score_source
from tests.services.agreement.common_layout.making import SHAPES, Shape, value_of, write
from tests.services.agreement.common_layout.oracle import Criterion, Folder


def _no_store() -> Any:
    raise AssertionError("a folder needs no data file")


def settled(criterion: Criterion, item: str) -> dict[str, Any] | None:
    """The verdict on one item by the default rules: majority, mean, mode; weights are positive."""
    rows = criterion.rows[criterion.rows.item_id == item]
    failed = int((rows.label == "").sum())
    levels = [int(level) for level in rows.level.dropna()]
    if len(rows) == failed:
        return None
    found: dict[str, Any] = {"votes": len(levels), "failures": failed}
    found["coverage"] = (len(rows) - failed) / len(rows)
    if not levels:
        return found | {"label": None, "abstained": True, "value": None, "agreement": None}
    values = [value_of(criterion.scale, criterion.labels, at) for at in range(criterion.k)]
    mean = math.fsum(values[level] for level in levels) / len(levels)
    heads = Counter(levels)
    if criterion.scale == "ordinal":
        near = min(abs(value - mean) for value in values)
        tied = [at for at, value in enumerate(values) if abs(value - mean) <= near + 1e-9]
    else:
        tied = [at for at, times in heads.items() if times == max(heads.values())]
    # The worst of those that tie; of equal ones the first.
    chosen = min(tied, key=lambda at: (values[at], at))
    return found | {
        "label": criterion.labels[chosen],
        "abstained": False,
        "value": values[chosen],
        "agreement": heads[chosen] / len(levels),
    }


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_verdicts_and_scores_are_those_of_the_design(shape: Shape, tmp_path: Path) -> None:
    folder = tmp_path / "rated"
    write(shape, folder, seed=len(shape.name) + 100)
    report, theirs = score_source(_no_store, str(folder)), Folder(folder, shape.delimiter)
    criteria = {c["name"]: (c["weight"], theirs.criterion(c["name"])) for c in theirs.rubric}
    agreements = []
    for item in report["items"]:
        weights, points = 0.0, 0.0
        for name, (weight, criterion) in criteria.items():
            wanted = settled(criterion, item["id"])
            found = item["verdicts"].get(name)
            if wanted is None:
                assert found is None or found["label"] is None
                continue
            assert {key: found[key] for key in wanted} == pytest.approx(wanted)
            if not wanted["abstained"]:
                weights, points = weights + weight, points + weight * wanted["value"]
                agreements.append(wanted["agreement"])
        # Abstentions and cells without a verdict leave both sums.
        assert item["score"] == (pytest.approx(points / weights) if weights else None)
        assert item["raw"] == (pytest.approx(points) if weights else None)
    mean = sum(agreements) / len(agreements) if agreements else None
    assert report["mean_agreement"] == (None if mean is None else pytest.approx(mean))
