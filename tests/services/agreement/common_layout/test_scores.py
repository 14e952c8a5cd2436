"""`score` of folders of twenty shapes equals the rules of the design, written down another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cli.rescore import score_source
from tests.services.agreement.common_layout.making import SHAPES, Shape, write
from tests.services.agreement.common_layout.oracle import Folder


def _no_store() -> Any:
    raise AssertionError("a folder needs no data file")


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
            wanted = criterion.settled(item["id"])
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
