"""Table 5 of the Autorubric paper (CHARM-100) comes out of our code, from the label pairs."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from core.metrics.agreement.accuracy import accuracy, adjacent_accuracy, confusion
from core.metrics.agreement.correlation_distance import spearman
from core.metrics.agreement.kappa import cohen_kappa
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import percentile
from core.metrics.intervals.draws import resample_patterns
from tests.places import SHARED

TABLES = SHARED / "paper_tables"
pytestmark = pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data/paper_tables not here")


def _rows(name):
    with (TABLES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _confusions():
    """The table of each criterion, from the list of label pairs."""
    levels, pairs = defaultdict(list), defaultdict(list)
    for row in _rows("table20_charm100_schema.csv"):
        if row["na"] != "True":
            levels[row["criterion"]].append(row["label"])
    for row in _rows("label_pairs.csv"):
        pairs[row["criterion"]].append((row["ground_truth"], row["predicted"]))
    return {
        name: confusion(
            *zip(*[(levels[name].index(a), levels[name].index(b)) for a, b in found], strict=True),
            len(levels[name]),
        )
        for name, found in pairs.items()
    }


def test_all_twenty_figures_of_table_5():
    tables, compared = _confusions(), 0
    for row in _rows("table05_charm100_per_criterion.csv"):
        counts = tables[row["criterion"]]
        ours: dict[str, Estimate] = {
            "exact_accuracy_percent": accuracy(counts),
            "adjacent_accuracy_percent": adjacent_accuracy(counts),
            "kappa": cohen_kappa(counts, row["kappa_weights"]),
            "spearman": spearman(counts),
        }
        for name, figure in ours.items():
            if row[name]:
                shown = figure.value * 100 if name.endswith("percent") else figure.value
                digits = 1 if name.endswith("percent") else 3
                assert round(shown, digits) == float(row[name]), (row["criterion"], name)
                compared += 1
    assert compared == 20


def test_the_mean_kappa_and_the_accuracy_interval_of_table_31():
    # Printed: mean kappa .623; accuracy of the binary criterion 87% with interval [80, 93].
    tables = _confusions()
    rows = _rows("table05_charm100_per_criterion.csv")
    kappas = [cohen_kappa(tables[r["criterion"]], r["kappa_weights"]).value for r in rows]
    assert round(sum(kappas) / len(kappas), 3) == 0.623
    counts = tables["factual_accuracy"]
    draws = resample_patterns(counts.ravel(), 20_000, np.random.default_rng(5))
    found = percentile(accuracy.many(draws.reshape(2, 2, -1)))
    assert (round(found.low, 2), round(found.high, 2)) == (0.80, 0.93)
