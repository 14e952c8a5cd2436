"""The numbers of a folder computed another way: from its files, with pandas and the libraries.

Nothing of ours is used. What scikit-learn computes of a table of counts is written out, because it
looks at what it is given for a hundred times as long as it computes; a test holds it to that.
Conventions are those that the folders of ``../shared/data`` write down in their
expected_metrics.json.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats

from tests.services.agreement.common_layout.making import value_of

Found = dict[str, float | None]
#: What two levels so far apart cost.
WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda gap: gap > 0,
    "linear": lambda gap: gap,
    "quadratic": lambda gap: gap**2,
}


def table_of(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """How often each of k levels met each, a's in rows."""
    return np.bincount(k * a + b, minlength=k * k).reshape(k, k)


def kappa(table: np.ndarray, weights: str) -> float:
    """Cohen's (1960, 1968), on all levels of the scale; NaN where it is undefined."""
    levels = np.arange(len(table))
    cost = WEIGHTS[weights](np.abs(np.subtract.outer(levels, levels)))
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    with np.errstate(all="ignore"):
        return float(1 - (cost * table).sum() / (cost * chance).sum())


def f1_macro(table: np.ndarray) -> float:
    """The mean F1 of all levels of the scale, 0 for one that nobody gave."""
    given = table.sum(axis=0) + table.sum(axis=1)
    return float(np.mean(2 * np.diag(table) / np.maximum(given, 1)))


class Folder:
    """A folder's files as tables of levels; NaN where there is none."""

    def __init__(self, path: Path, delimiter: str = ",") -> None:
        self.rubric = json.loads((path / "rubric.yaml").read_text())["criteria"]
        lines = (path / "items.jsonl").read_text().split("\n")
        self.items = [json.loads(line) for line in lines if line]
        self.votes = pd.read_csv(
            path / "votes.csv",
            sep=delimiter,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
        )
        votes = self.votes
        votes["column"] = votes.rater_id
        for extra in ("order", "replicate"):
            if extra in votes:
                votes["column"] = votes.column + "|" + votes[extra]

    def criterion(self, name: str) -> Criterion:
        """One criterion's ratings."""
        return Criterion(self, next(c for c in self.rubric if c["name"] == name))


class Criterion:
    """The levels of one criterion."""

    def __init__(self, folder: Folder, criterion: dict[str, Any]) -> None:
        self.scale = criterion["scale_type"]
        self.labels = [o["label"] for o in criterion["options"] if not o["na"]]
        self.k = len(self.labels)
        self.ids = [item["id"] for item in folder.items]
        rows = folder.votes[folder.votes.criterion == criterion["name"]].copy()
        rows["level"] = [self.level(label) for label in rows.label]
        self.rows = rows
        judged = (folder.votes.rater_kind != "human").any()
        self.counting = rows[rows.rater_kind != "human"] if judged else rows
        golds = [item["labels"].get(criterion["name"], "") for item in folder.items]
        self.gold = pd.Series([self.level(g) for g in golds], index=self.ids, dtype=float)

    def level(self, label: Any) -> float:
        """0-based place among the options that are not na."""
        word = str(label).lower().removesuffix(".0")
        word = {"true": "met", "false": "unmet"}.get(word, word)
        places = {one.lower(): at for at, one in enumerate(self.labels)}
        return places.get(word, np.nan)

    def matrix(self, kind: str) -> pd.DataFrame:
        """Items by columns of raters of a kind."""
        rows = self.rows[self.rows.rater_kind == kind]
        table = rows.pivot(index="item_id", columns="column", values="level")
        order = list(dict.fromkeys(rows.column))
        return table.reindex(index=self.ids, columns=order)

    def group(self, kind: str) -> dict[str, Any]:
        """GROUP of the contract."""
        rows, levels = self.rows[self.rows.rater_kind == kind], self.matrix(kind)
        given = [[int(x) for x in row if x == x] for row in levels.to_numpy()]
        away = rows[rows.level.isna()].label
        spread = Counter(x for row in given for x in row)
        found: dict[str, Any] = {
            "items": sum(bool(row) for row in given),
            "raters": levels.shape[1],
            "ratings": sum(map(len, given)),
            "items_with_2plus": sum(len(row) >= 2 for row in given),
            "abstained": int((away != "").sum()),
            "failed": int((away == "").sum()),
            "label_distribution": {name: spread[i] for i, name in enumerate(self.labels)},
        }
        if spread:
            counts = [spread[level] for level in range(self.k)]
            found["label_entropy"] = float(stats.entropy(counts, base=self.k))
        shared = [row for row in given if len(row) >= 2]
        if shared:
            found["percent_agreement"] = np.mean(
                [np.mean([a == b for a, b in combinations(row, 2)]) for row in shared]
            )
            found |= self._beyond_chance(levels, given, shared)
        return found

    def _beyond_chance(
        self, levels: pd.DataFrame, given: list[list[int]], shared: list[list[int]]
    ) -> Found:
        ordered = self.scale != "nominal"
        found: Found = {"gwet_ac1": self._gwet(given, np.eye(self.k))}
        found["fleiss_kappa"] = self._fleiss(shared)
        gap = np.abs(np.subtract.outer(np.arange(self.k), np.arange(self.k)))
        if ordered:
            found["gwet_ac2_quadratic"] = self._gwet(given, 1 - (gap / (self.k - 1)) ** 2)
        for metric in ("nominal", "ordinal", "interval") if ordered else ("nominal",):
            if len({x for row in shared for x in row}) > 1:
                found[f"krippendorff_alpha_{metric}"] = krippendorff.alpha(
                    reliability_data=levels.to_numpy().T,
                    value_domain=list(range(self.k)),
                    level_of_measurement=metric,
                )
        for name in WEIGHTS if ordered else ("none",):
            found[f"mean_pairwise_cohen.{name}"] = self._pairwise(levels, name)
        block = levels.dropna().to_numpy()
        if ordered and block.shape[0] >= 2 and block.shape[1] >= 2 and len(np.unique(block)) > 1:
            found["icc_2_1"], found["icc_2_k"] = _icc(block)
            found["kendall_w"] = _kendall_w(block)
        return found

    def _gwet(self, given: list[list[int]], credit: np.ndarray) -> float:
        used = np.mean(
            [np.bincount(row, minlength=self.k) / len(row) for row in given if row], axis=0
        )
        alike = np.mean(
            [
                np.mean([credit[a, b] for a, b in permutations(row, 2)])
                for row in given
                if len(row) >= 2
            ]
        )
        chance = credit.sum() / (self.k * (self.k - 1)) * (used * (1 - used)).sum()
        return (alike - chance) / (1 - chance)

    def _fleiss(self, shared: list[list[int]]) -> float | None:
        sizes = Counter(map(len, shared))
        most = max(sizes.values())
        size = max(n for n, times in sizes.items() if times == most)
        table = np.array([np.bincount(r, minlength=self.k) for r in shared if len(r) == size])
        share = table.sum(axis=0) / table.sum()
        observed = (((table**2).sum(axis=1) - size) / (size * (size - 1))).mean()
        chance = (share**2).sum()
        return None if chance == 1 else (observed - chance) / (1 - chance)

    def _pairwise(self, levels: pd.DataFrame, weights: str) -> float | None:
        kappas = []
        for a, b in combinations(levels.columns, 2):
            both = levels[[a, b]].dropna().to_numpy(dtype=int)
            if len(both) >= 2:
                kappas.append(kappa(table_of(both[:, 0], both[:, 1], self.k), weights))
        known = [kappa for kappa in kappas if kappa == kappa]
        return float(np.mean(known)) if known else None

    def majority(self, levels: pd.DataFrame) -> pd.Series:
        """The unique mode of each item; NaN where tied or empty."""
        given = levels.to_numpy()
        counts = np.stack([(given == level).sum(axis=1) for level in range(self.k)], axis=1)
        most = counts.max(axis=1, keepdims=True)
        unique = ((counts == most).sum(axis=1) == 1) & (most[:, 0] > 0)
        return pd.Series(np.where(unique, counts.argmax(axis=1), np.nan), index=levels.index)

    def settled(self, item: str) -> dict[str, Any] | None:
        """The verdict on an item by the default rules: majority, mean, mode; weights are positive.

        People's votes count only where nobody else rated anything in the folder.
        """
        rows = self.counting[self.counting.item_id == item]
        failed = int((rows.label == "").sum())
        levels = [int(level) for level in rows.level.dropna()]
        if len(rows) == failed:
            return None
        found: dict[str, Any] = {"votes": len(levels), "failures": failed}
        found["coverage"] = (len(rows) - failed) / len(rows)
        if not levels:
            return found | {"label": None, "abstained": True, "value": None, "agreement": None}
        values = [value_of(self.scale, self.labels, at) for at in range(self.k)]
        mean = math.fsum(values[level] for level in levels) / len(levels)
        heads = Counter(levels)
        if self.scale == "ordinal":
            near = min(abs(value - mean) for value in values)
            tied = [at for at, value in enumerate(values) if abs(value - mean) <= near + 1e-9]
        else:
            tied = [at for at, times in heads.items() if times == max(heads.values())]
        # The worst of those that tie; of equal ones the first.
        chosen = min(tied, key=lambda at: (values[at], at))
        return found | {
            "label": self.labels[chosen],
            "abstained": False,
            "value": values[chosen],
            "agreement": heads[chosen] / len(levels),
        }

    def verdicts(self) -> pd.Series:
        """The level of every item's verdict; NaN where there is none."""
        settled = [self.settled(item) for item in self.ids]
        levels = [self.level(one["label"] if one else "") for one in settled]
        return pd.Series(levels, index=self.ids, dtype=float)

    def pair(self, reference: pd.Series, rated: pd.Series) -> Found:
        """PAIR of the contract."""
        both = pd.DataFrame({"r": reference, "j": rated}).dropna()
        n = len(both)
        found: Found = {"n": n}
        if not n:
            return found
        r, j = both.r.astype(int), both.j.astype(int)
        table = table_of(r.to_numpy(), j.to_numpy(), self.k)
        found["accuracy"] = float((r == j).mean())
        found["f1_macro"] = f1_macro(table)
        found["cohen_kappa"] = kappa(table, "none")
        found["confusion"] = table.tolist()
        if self.scale != "nominal":
            found["kappa_linear"] = kappa(table, "linear")
            found["kappa_quadratic"] = kappa(table, "quadratic")
            found["mae_levels"] = float(abs(r - j).mean())
            found["emd_levels"] = stats.wasserstein_distance(r, j)
            found["ks"] = max(abs((r <= x).mean() - (j <= x).mean()) for x in range(self.k))
            # The law of the gap of two samples of n each, in the limit of many.
            found["ks_p"] = stats.kstwobign.sf(found["ks"] * np.sqrt(n / 2))
            if self.k > 2:
                found["adjacent_accuracy"] = float((abs(r - j) <= 1).mean())
            found |= _linear(r, j)
        return found


def _linear(r: pd.Series, j: pd.Series) -> Found:
    found: Found = {
        "rmse_levels": float(np.sqrt(((j - r) ** 2).mean())),
        "bias_levels": float((j - r).mean()),
    }
    if len(r) >= 3 and r.nunique() > 1 and j.nunique() > 1:
        found["spearman"] = stats.spearmanr(r, j).statistic
        found["kendall_tau_b"] = stats.kendalltau(r, j).statistic
        found["pearson"] = stats.pearsonr(r, j).statistic
    return found


def mean_level(reference: pd.Series, rated: pd.Series) -> Found:
    """What PAIR has against a mean level."""
    # Means of the same levels must tie, however they were added up.
    both = pd.DataFrame({"r": reference.round(9), "j": rated}).dropna()
    found: Found = {"n": len(both)}
    if len(both):
        found |= _linear(both.r, both.j) | {"mae_levels": float(abs(both.r - both.j).mean())}
    return found


def _icc(block: np.ndarray) -> tuple[float | None, float | None]:
    """Shrout and Fleiss (1979) from the sums of squares of a two-way layout."""
    n, k = block.shape
    rows, columns, grand = block.mean(axis=1), block.mean(axis=0), block.mean()
    bms = k * ((rows - grand) ** 2).sum() / (n - 1)
    jms = n * ((columns - grand) ** 2).sum() / (k - 1)
    rest = block - rows[:, None] - columns + grand
    ems = (rest**2).sum() / ((n - 1) * (k - 1))
    wholes = bms + (k - 1) * ems + k * (jms - ems) / n, bms + (jms - ems) / n
    one, mean = (None if whole < 1e-9 else (bms - ems) / whole for whole in wholes)
    return one, mean


def _kendall_w(block: np.ndarray) -> float:
    n, m = block.shape
    ranks = np.apply_along_axis(stats.rankdata, 0, block)
    ties = sum((c**3 - c).sum() for c in (np.unique(x, return_counts=True)[1] for x in block.T))
    spread = ((ranks.sum(axis=1) - m * (n + 1) / 2) ** 2).sum()
    return 12 * spread / (m**2 * (n**3 - n) - m * ties)
