"""Every folder of rated data gives the numbers of its independent oracle (issue Trust, 1)."""

import json

import pytest

from core.cli.reports_as_text import metrics_as_text
from core.services.agreement.metrics_report import metrics_source
from tests.metrics.expected import NOT_IN_THE_CONTRACT, comparisons, no_store, of_folder
from tests.places import SHARED

DATA = SHARED
FOLDERS = (
    *("dices350", "hanna", "llm_rubric_real", "llm_rubric_synth"),
    *("llmbar", "mohler", "roscoe", "saf_en"),
)
HERE = sorted(path.parent.name for path in DATA.glob("*/expected_metrics.json"))

#: (folder, path) of a number that differs on purpose, and why. There is none.
EXCEPTIONS: dict[tuple[str, tuple[str, ...]], str] = {}


def _close(theirs, mine):
    if isinstance(theirs, int | float) and not isinstance(theirs, bool):
        return mine == pytest.approx(theirs, abs=1e-5)
    return mine == theirs


@pytest.mark.skipif(not HERE, reason="../shared/data is not here")
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_gives_the_oracles_numbers(folder):
    expected = json.loads((DATA / folder / "expected_metrics.json").read_text())
    ours = of_folder(folder)
    json.dumps(ours, allow_nan=False)  # undefined is null, never NaN
    compared, wrong, only_theirs = 0, [], []
    for path, theirs, mine in comparisons(expected, ours):
        if theirs is not None and mine is None:
            only_theirs.append(path)
        elif theirs is not None and (folder, path) not in EXCEPTIONS:
            compared += 1
            if not _close(theirs, mine):
                wrong.append((path, theirs, mine))
    assert wrong == []
    assert only_theirs == []
    assert compared >= 2 * len(expected["criteria"])


def test_every_folder_that_is_there_is_measured():
    assert set(HERE) <= set(FOLDERS)


def test_what_is_left_out_has_its_reason():
    assert all(NOT_IN_THE_CONTRACT.values())


@pytest.mark.skipif(not HERE, reason="../shared/data is not here")
def test_every_number_that_is_missing_says_why():
    ours = metrics_source(no_store, str(DATA / "llm_rubric_real"), None, 50, 1)
    seen = 0

    def look(found):
        nonlocal seen
        reasons = found.get("undefined", {})
        for key, value in found.items():
            if value is None:
                seen += 1
                assert reasons[key]
            elif key == "ci" and isinstance(value, dict):
                missing = [name for name, interval in value.items() if interval is None]
                assert all(reasons[f"ci.{name}"] for name in missing)
            elif key == "mean_pairwise_cohen":
                gone = [name for name, kappa in value.items() if kappa is None]
                assert all(reasons[f"{key}.{name}"] for name in gone)
            elif isinstance(value, dict) and key != "undefined":
                look(value)

    look(ours)
    assert seen > 100
    assert "few" in metrics_as_text(ours)


@pytest.mark.skipif(not HERE, reason="../shared/data is not here")
def test_a_judge_asked_in_two_orders_is_two_raters():
    ours = of_folder("llmbar")
    raters = ours["criteria"]["better_output"]["raters"]
    # And the majority of all, which ties leave out.
    assert len(raters) == 96 + 1
    assert raters["GPT-4/CoT|swapped"]["vs_gold"]["n"] > 400
