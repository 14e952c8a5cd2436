"""LLMBar's 720 published figures, from its votes, by our own code.

Source: ../shared/data/llmbar (Zeng et al., ICLR 2024); 48 judges on five parts, each pair
asked in both orders. Conventions of the source: two empty answers are the same choice, and its
kappa merges empty answers with output 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from core.services.agreement.load_ratings import read_source
from core.services.pairwise.position_bias import OrderCheck, order_checks
from core.store.store import Store
from tests.places import SHARED

FOLDER = SHARED / "llmbar"
pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="../shared/data/llmbar is not here, so nothing is compared."
)
#: The published kappas are rounded to six places, so half of the sixth is the tolerance.
TOLERANCE = 5.1e-7


def no_store() -> Store:
    raise AssertionError("a folder needs no store")


@pytest.fixture(scope="module")
def checks() -> dict[tuple[str, str], OrderCheck]:
    found = order_checks(read_source(no_store, str(FOLDER)), part_by="subset")
    return {(one.part, one.rater): one for one in found}


def published() -> Iterator[tuple[str, str, str, float]]:
    for check in json.loads((FOLDER / "published_checks.json").read_text())["checks"]:
        part, rater, figure = re.fullmatch(r"(\S+) (\S+) (.*)", check["figure"]).groups()
        yield part, rater, figure.split(" ")[0], check["published"]


def test_all_720_published_figures_are_reproduced(
    checks: dict[tuple[str, str], OrderCheck],
) -> None:
    wrong, number = [], 0
    for part, rater, figure, value in published():
        number += 1
        check = checks[part, rater]
        ours = {
            "average": (check.accuracy, 100.0),
            "same": (check.agreement_as_published, 100.0),
            "Cohen": (check.kappa_as_published, 1.0),
        }[figure]
        found = ours[0].value
        if found is None or abs(ours[1] * found - value) > TOLERANCE * ours[1]:
            wrong.append((part, rater, figure, value, found))
    assert wrong == []
    assert number == 720


def test_the_headline_numbers_of_the_source_are_there(
    checks: dict[tuple[str, str], OrderCheck],
) -> None:
    # llmbar/README.md: GPT-4 with CoT on natural: 94.5% accuracy, 91% the same, kappa 0.816.
    check = checks["natural", "GPT-4/CoT"]
    assert check.accuracy.value == pytest.approx(0.945)
    assert check.agreement_as_published.value == pytest.approx(0.91)
    assert check.kappa_as_published.value == pytest.approx(0.816, abs=5e-4)
    assert check.empty == 0
