"""A folder of votes whose every figure can be followed by hand."""

import csv
import json

from core.services.agreement.metrics_report import metrics_source

RUBRIC = """\
name: Answers
criteria:
- {name: right, requirement: Is right., weight: 3}
- name: depth
  requirement: How deep?
  weight: 1
  scale: ordinal
  options:
  - {label: low, value: 0}
  - {label: mid, value: 0.5}
  - {label: high, value: 1}
  - {label: n/a, na: true}
"""


#: item, criterion, rater, kind, label: ragged, with an abstention (n/a) and a failure (empty).
VOTES = [
    ("a", "right", "ann", "human", "MET"),
    ("a", "right", "bob", "human", "MET"),
    ("a", "right", "J", "llm", "MET"),
    ("b", "right", "ann", "human", "UNMET"),
    ("b", "right", "bob", "human", "MET"),
    ("b", "right", "J", "llm", "MET"),
    ("c", "right", "ann", "human", "UNMET"),
    ("c", "right", "J", "llm", ""),
    ("d", "right", "ann", "human", "UNMET"),
    ("d", "right", "bob", "human", "UNMET"),
    ("d", "right", "J", "llm", "MET"),
    ("a", "depth", "ann", "human", "high"),
    ("a", "depth", "bob", "human", "mid"),
    ("a", "depth", "J", "llm", "high"),
    ("b", "depth", "ann", "human", "n/a"),
    ("b", "depth", "J", "llm", "CANNOT_ASSESS"),
    ("c", "depth", "ann", "human", "low"),
    ("c", "depth", "J", "llm", "mid"),
    ("d", "depth", "ann", "human", "low"),
    ("d", "depth", "bob", "human", "low"),
    ("d", "depth", "J", "llm", "high"),
]


LABELS = {"a": {"right": "MET", "depth": "high"}, "b": {"right": "UNMET"}, "d": {"right": "UNMET"}}


GROUP = {
    "items",
    "raters",
    "ratings",
    "items_with_2plus",
    "percent_agreement",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    "mean_pairwise_cohen",
    "icc_2_1",
    "icc_2_k",
    "kendall_w",
    "label_distribution",
    "label_entropy",
    "abstained",
    "failed",
}


PAIR = {
    "n",
    "accuracy",
    "f1_macro",
    "cohen_kappa",
    "kappa_linear",
    "kappa_quadratic",
    "adjacent_accuracy",
    "spearman",
    "kendall_tau_b",
    "pearson",
    "rmse_levels",
    "mae_levels",
    "bias_levels",
    "emd_levels",
    "ks",
    "ks_p",
    "confusion",
}


def written(path, votes, extra=()):
    path.mkdir()
    (path / "rubric.yaml").write_text(RUBRIC)
    items = [{"id": i, "submission": f"Text {i}.", "labels": LABELS.get(i, {})} for i in "abcd"]
    (path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    with (path / "votes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "criterion", "rater_id", "rater_kind", "label", *extra])
        writer.writerows(votes)
    return path


def no_store():
    raise AssertionError("a folder needs no data file")


def measured(folder, *more, **named):
    return metrics_source(no_store, str(folder), *more, **named)
