"""Agreement of raters: ratings, confusion, pairs, groups, scores, the report of ``metrics``.

May import review and spot and the layers below. Judges, people, labels and the panel are all
columns. Each undefined figure has a reason.
"""

__all__ = [
    "blocks",
    "calibration",
    "conclusion",
    "confusion",
    "group_figures",
    "load_ratings",
    "metrics_report",
    "overall",
    "pair_figures",
    "rater_pairs",
    "rating_sheet",
    "rating_tables",
    "ratings",
    "reliability",
    "score_agreement",
]
