"""Where the numbers of an expected_metrics.json stand in our report.

``NOT_IN_THE_CONTRACT`` lists every number there that `metrics --json` has no place for, with the
reason. Nothing else is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from core.services.agreement.metrics_report import MOST, metrics_source
from tests.places import SHARED

NOT_IN_THE_CONTRACT = {
    "labels_in_items": "a property of the dataset, not of raters",
    "ratings_per_item": "min, mean and max of ratings per item; the contract has their total",
    "emd_norm": "emd_levels divided by (levels - 1)",
    "brennan_prediger": "not asked for",
    "conger": "not asked for",
    "fleiss": "irrCAC's Fleiss on all items; the contract's is on items with the modal number",
    "krippendorff": "irrCAC's alpha; compared as krippendorff_alpha_* from a finer source",
    "irrcac_linear": "AC2 with linear weights; the contract has quadratic",
    "irrcac_ordinal": "AC2 with ordinal weights; the contract has quadratic",
    "icc1_1": "one-way ICC; the contract has ICC(2,1) and ICC(2,k)",
    "icc1_k": "one-way ICC",
    "icc3_1": "consistency ICC",
    "icc3_k": "consistency ICC",
    "pairs": "how many pairs a mean is over",
    "ratings_per_item_of_fleiss": "how many ratings the items of Fleiss have",
}
RENAMED = {
    "cohen_kappa_statsmodels": "cohen_kappa",
    "confusion_rows_reference_cols_predicted": "confusion",
    "bias_levels_pred_minus_ref": "bias_levels",
}
Comparison = tuple[tuple[str, ...], Any, Any]


@cache
def of_folder(name: str) -> dict[str, Any]:
    """What `metrics` says of a folder of rated data; several tests look at the same one."""
    return metrics_source(no_store, str(SHARED / name))


def no_store() -> Any:
    raise AssertionError("a folder needs no data file")


def comparisons(expected: dict[str, Any], ours: dict[str, Any]) -> Iterator[Comparison]:
    """(path, expected number, our number) for everything that both name."""
    for name, theirs in expected["criteria"].items():
        mine = ours["criteria"][name]
        yield (name, "scale"), theirs["scale_type"], mine["scale"]
        yield (name, "levels"), theirs["levels"], mine["levels"]
        for key, value in theirs.items():
            if key in ("human", "llm", "offline"):
                yield from _group((name, key), value, mine["groups"][key], mine["raters"])
            elif key == "each_llm_vs_humans":
                yield from _against_people((name, key), value, mine)
            elif key == "llm_majority_vs_human_majority":
                # Where the verdicts are not what most said, the majority is a rater of its own.
                most = mine["raters"].get(MOST, mine["panel"])
                yield from _pair((name, key), value, most["vs_human_majority"])
            elif key not in ("scale_type", "levels"):
                assert key in NOT_IN_THE_CONTRACT, (name, key)


def _against_people(
    path: tuple[str, ...], theirs: dict[str, Any], mine: dict[str, Any]
) -> Iterator[Comparison]:
    for rater, found in theirs.items():
        own = mine["raters"][rater]
        yield (*path, rater, "n"), found["n"], own["vs_human_mean_level"]["n"]
        for key in found.keys() - {"n"}:
            yield from _pair((*path, rater, key), found[key], own[key])


def _pair(
    path: tuple[str, ...], theirs: dict[str, Any], mine: dict[str, Any]
) -> Iterator[Comparison]:
    for key, value in theirs.items():
        if key == "precision_recall_f1_per_label":
            for label, numbers in value.items():
                own = mine["more"]["per_level"][label]
                named = zip(("precision", "recall", "f1"), numbers, strict=True)
                yield from (((*path, label, name), x, own[name]) for name, x in named)
        elif RENAMED.get(key, key) in mine:
            yield (*path, key), value, mine[RENAMED.get(key, key)]
        else:
            assert key in NOT_IN_THE_CONTRACT, (path, key)


def _group(
    path: tuple[str, ...], theirs: dict[str, Any], mine: dict[str, Any], raters: dict[str, Any]
) -> Iterator[Comparison]:
    for key, value in theirs.items():
        at = (*path, key)
        if key in _COEFFICIENTS:
            yield from (((*at, k), x, y) for k, x, y in _COEFFICIENTS[key](value, mine))
        elif key == "majority_vs_item_label":
            yield from _pair(at, value, mine["majority"]["vs_gold"])
        elif key == "each_rater_vs_item_label":
            for rater, found in value.items():
                yield from _pair((*at, rater), found, raters[rater]["vs_gold"])
        elif key in mine:
            yield at, value, mine[key]
        else:
            assert key in NOT_IN_THE_CONTRACT, at


#: Keys of a group that are built differently: (what, expected, ours) of each number in them.
_COEFFICIENTS: dict[str, Callable[[Any, dict[str, Any]], list[tuple[str, Any, Any]]]] = {
    "fleiss_kappa": lambda v, mine: [("value", v["value"], mine["fleiss_kappa"])],
    "irrcac_identity": lambda v, mine: [("gwet_ac1", v["gwet_ac1"], mine["gwet_ac1"])],
    "irrcac_quadratic": lambda v, mine: [("gwet_ac2", v["gwet_ac2"], mine["gwet_ac2_quadratic"])],
    "mean_pairwise_cohen": lambda v, mine: [
        (w, found["value"], mine["mean_pairwise_cohen"][w]) for w, found in v.items()
    ],
    "icc_complete_block": lambda v, mine: [(k, v[f"icc2_{k}"], mine[f"icc_2_{k}"]) for k in "1k"],
    "kendall_w_complete_block": lambda v, mine: [("", v, mine["kendall_w"])],
    "label_distribution": lambda v, mine: [
        ("", _without_zeros(v), _without_zeros(mine["label_distribution"]))
    ],
    "na_or_empty": lambda v, mine: [("", v, mine["abstained"] + mine["failed"])],
    "majority": lambda v, mine: [
        ("items", v["items_with_unique_mode"], mine["majority"]["items"]),
        (
            "distribution",
            _without_zeros(v["distribution"]),
            _without_zeros(mine["majority"]["label_distribution"]),
        ),
    ],
}


def _without_zeros(counts: dict[str, int]) -> dict[str, int]:
    return {label: n for label, n in counts.items() if n}
