"""Every known figure of agreement: its title, its measure and its properties.

The report of ``metrics``, the terminal, the pages and the gate all use this table, and
``docs/figures.md`` has a line per entry. The order is that of ``metrics --json``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from core.metrics.agreement import accuracy as right
from core.metrics.agreement import correlation_distance as apart
from core.metrics.agreement import kappa, reliability
from core.metrics.measure import GroupMeasure, Measure

#: The place of a figure in ``metrics --json``.
Place = Literal["pair", "more", "option", "group", "scores", "overall", "calibration"]
#: The properties of a figure. ``share``: written in percent. ``ordered``: needs ordered options.
#: ``lower`` is better, or ``neutral``; otherwise higher is better. The kind of interval, unless it
#: is simply resampled (docs/decisions/0018): ``items``, for a share of all items; ``sum``, over
#: items, which no rare option dominates; ``macro`` and ``chance``, withheld if options are too rare
#: for a mean over them, or for agreement beyond chance; a ``p value`` has none. For groups:
#: ``named``, it matters which rater gave an answer; ``rated twice``, items with one rating do not
#: count.
Trait = Literal["share", "ordered", "lower", "neutral"] | Literal["named", "rated twice"]
IntervalTrait = Literal["items", "sum", "macro", "chance", "p value"]


class KnownFigure(NamedTuple):
    """The properties of a figure. Its name is its key in ``KNOWN``.

    ``words``: title, meaning and source. ``short``: its name on a terminal. ``mean_level``: the
    figure of scores that compares its levels with a mean of levels. ``row``: the reference level
    whose share a rate is, 0 for the positive one. ``lean``: the sign gives the direction of a
    rater's bias; the unit with many options, and with two.
    """

    place: Place
    words: str
    measure: Measure | GroupMeasure | None
    traits: tuple[Trait | IntervalTrait, ...]
    short: str
    mean_level: str
    row: int | None
    lean: tuple[str, str] | None

    @property
    def title(self) -> str:
        """Return the title."""
        return self.words.split(" | ")[0]

    @property
    def meaning(self) -> str:
        """Return the meaning, in a few words."""
        return self.words.split(" | ")[1]

    @property
    def source(self) -> str:
        """Return author and year."""
        return self.words.split(" | ")[2]

    @property
    def share(self) -> bool:
        """Return whether the figure is a share."""
        return "share" in self.traits

    @property
    def ordered(self) -> bool:
        """Return whether the figure needs ordered options."""
        return "ordered" in self.traits

    @property
    def better(self) -> int:
        """Return 1 if higher is better, -1 if lower is, otherwise 0."""
        return 0 if "neutral" in self.traits else -1 if "lower" in self.traits else 1


def _figure_of(
    measure: Measure | GroupMeasure | None = None,
    *traits: Trait | IntervalTrait,
    short: str = "",
    mean_level: str = "",
    row: int | None = None,
    lean: tuple[str, str] | None = None,
) -> KnownFigure:
    return KnownFigure("pair", "", measure, traits, short, mean_level, row, lean)


Section = dict[str, tuple[str, KnownFigure]]
#: One rater, or the panel, against a reference.
_PAIR: Section = {
    "accuracy": (
        "Accuracy | share of items with the reference's answer | Cohen 1960",
        _figure_of(right.accuracy, "share", "items", short="accuracy"),
    ),
    "f1_macro": (
        "Macro F1 | mean F1 of the options | van Rijsbergen 1979",
        _figure_of(right.f1_macro, "macro", short="macro F1"),
    ),
    "cohen_kappa": (
        "Cohen's kappa | agreement beyond chance | Cohen 1960",
        _figure_of(kappa.kappa_unweighted, "chance", short="kappa"),
    ),
    "kappa_linear": (
        "Kappa, linear weights | agreement beyond chance, by distance | Cohen 1968",
        _figure_of(kappa.kappa_linear, "ordered", "chance"),
    ),
    "kappa_quadratic": (
        "Kappa, quadratic weights | beyond chance, by squared distance | Fleiss and Cohen 1973",
        _figure_of(kappa.kappa_quadratic, "ordered", "chance", short="quadratic kappa"),
    ),
    "adjacent_accuracy": (
        "Adjacent accuracy | share at most one option off | Landis and Koch 1977",
        _figure_of(right.adjacent_accuracy, "share", "ordered", "items"),
    ),
    "spearman": (
        "Spearman | correlation of ranks | Spearman 1904",
        _figure_of(apart.spearman, "ordered", "chance", mean_level="spearman"),
    ),
    "kendall_tau_b": (
        "Kendall's tau-b | pairs of items in the same order | Kendall 1945",
        _figure_of(apart.kendall_tau_b, "ordered", "chance", mean_level="kendall_tau_b"),
    ),
    "pearson": (
        "Pearson | linear correlation of levels | Pearson 1896",
        _figure_of(apart.pearson, "ordered", "chance", short="Pearson", mean_level="pearson"),
    ),
    "rmse_levels": (
        "Root mean square error | in options | Willmott and Matsuura 2005",
        _figure_of(
            apart.rmse, "ordered", "lower", "sum", short="RMSE in levels", mean_level="rmse"
        ),
    ),
    "mae_levels": (
        "Mean absolute error | in options | Willmott and Matsuura 2005",
        _figure_of(apart.mae, "ordered", "lower", "sum", mean_level="mae"),
    ),
    "bias_levels": (
        "Lean | whether the rater says one option more often | Bland and Altman 1986",
        _figure_of(
            apart.bias,
            "ordered",
            "neutral",
            short="lean",
            mean_level="bias",
            lean=("in options", "as a share of the items"),
        ),
    ),
    "emd_levels": (
        "Earth mover's distance | of how answers are spread, in options | Vallender 1974",
        _figure_of(apart.emd, "ordered", "lower"),
    ),
    "ks": (
        "Kolmogorov-Smirnov | largest gap of the cumulated spreads | Smirnov 1939",
        _figure_of(apart.ks, "ordered", "lower"),
    ),
    "ks_p": (
        "Kolmogorov-Smirnov, p | of no gap; an upper bound, as answers tie | Smirnov 1939",
        _figure_of(apart.ks_p, "ordered", "neutral", "p value"),
    ),
}
#: More figures of one rater, or the panel, in ``more``.
_MORE: Section = {
    "majority_share": (
        "Most common answer | what always giving it would reach | Holte 1993",
        _figure_of(right.majority_share, "share", "neutral", "sum"),
    ),
    "precision_macro": (
        "Macro precision | mean over options that were given | van Rijsbergen 1979",
        _figure_of(right.precision_macro, "macro"),
    ),
    "recall_macro": (
        "Macro recall | mean over the reference's options | Brodersen et al. 2010",
        _figure_of(right.recall_macro, "macro"),
    ),
    "phi": (
        "Phi | correlation of the answers (Matthews) | Gorodkin 2004",
        _figure_of(right.phi, "chance"),
    ),
    "false_positive_rate": (
        "False positives | share of the reference's UNMET called MET | Fleiss, Levin and Paik 2003",
        _figure_of(right.false_positive_rate, "share", "ordered", "lower", row=1),
    ),
    "false_negative_rate": (
        "False negatives | share of the reference's MET called UNMET | Fleiss, Levin and Paik 2003",
        _figure_of(right.false_negative_rate, "share", "ordered", "lower", row=0),
    ),
    "jensen_shannon": (
        "Jensen-Shannon | distance of how answers are spread | Lin 1991",
        _figure_of(apart.jensen_shannon, "lower"),
    ),
    "bias_effect_size": (
        "Bias, effect size | in standard deviations of the differences | Cohen 1988",
        _figure_of(
            apart.bias_effect_size,
            "ordered",
            "neutral",
            lean=("in standard deviations", "in standard deviations"),
        ),
    ),
    "bias_p": (
        "Bias, p | of no bias, paired t-test | Student 1908",
        _figure_of(apart.bias_p, "ordered", "neutral", "p value"),
    ),
}
#: For one option, in ``per_level``.
_OPTION: Section = {
    "precision": (
        "Precision | share of items given an option that have it | van Rijsbergen 1979",
        _figure_of(None, "share"),
    ),
    "recall": (
        "Recall | share of items with an option that were given it | van Rijsbergen 1979",
        _figure_of(None, "share"),
    ),
    "f1": ("F1 | harmonic mean of precision and recall | van Rijsbergen 1979", _figure_of()),
}
#: For raters of one kind among each other.
_GROUP: Section = {
    "percent_agreement": (
        "Percent agreement | share of pairs of raters who agree, by item | Fleiss 1971",
        _figure_of(reliability.item_agreement, "share", short="agree"),
    ),
    "krippendorff_alpha_nominal": (
        "Krippendorff's alpha | beyond chance, of any number of raters | Krippendorff 2011",
        _figure_of(reliability.alpha_nominal, "chance", "rated twice", short="alpha"),
    ),
    "krippendorff_alpha_ordinal": (
        "Krippendorff's alpha, ordinal | beyond chance, by ranks | Krippendorff 2011",
        _figure_of(
            reliability.alpha_ordinal, "ordered", "chance", "rated twice", short="ordinal alpha"
        ),
    ),
    "krippendorff_alpha_interval": (
        "Krippendorff's alpha, interval | beyond chance, by squared distance | Krippendorff 2011",
        _figure_of(reliability.alpha_interval, "ordered", "chance", "rated twice"),
    ),
    "fleiss_kappa": (
        "Fleiss' kappa | beyond chance, of equally many raters an item | Fleiss 1971",
        _figure_of(reliability.fleiss_kappa, "chance"),
    ),
    "gwet_ac1": (
        "Gwet's AC1 | beyond chance, steadier where one option is rare | Gwet 2008",
        _figure_of(reliability.gwet_ac1, short="AC1"),
    ),
    "gwet_ac2_quadratic": (
        "Gwet's AC2, quadratic | AC1 by squared distance | Gwet 2014",
        _figure_of(reliability.gwet_ac2, "ordered"),
    ),
    "mean_pairwise_cohen.none": (
        "Mean Cohen's kappa | of every pair of raters, beyond chance | Light 1971",
        _figure_of(kappa.mean_pairwise_cohen("none"), "chance", "named"),
    ),
    "mean_pairwise_cohen.linear": (
        "Mean kappa, linear weights | of every pair of raters, by distance | Light 1971",
        _figure_of(kappa.mean_pairwise_cohen("linear"), "ordered", "chance", "named"),
    ),
    "mean_pairwise_cohen.quadratic": (
        "Mean kappa, quadratic weights | of every pair of raters, by squared distance | Light 1971",
        _figure_of(kappa.mean_pairwise_cohen("quadratic"), "ordered", "chance", "named"),
    ),
    "icc_2_1": (
        "ICC(2,1) | absolute agreement of one rater's levels | Shrout and Fleiss 1979",
        _figure_of(reliability.icc_2_1, "ordered", "chance", "named", short="ICC(2,1)"),
    ),
    "icc_2_k": (
        "ICC(2,k) | absolute agreement of the mean of these raters | Shrout and Fleiss 1979",
        _figure_of(reliability.icc_2_k, "ordered", "chance", "named"),
    ),
    "kendall_w": (
        "Kendall's W | concordance of rankings of the items | Kendall and Babington Smith 1939",
        _figure_of(reliability.kendall_w, "ordered", "chance", "named"),
    ),
    "label_entropy": (
        "Entropy of labels | how evenly the options are used; 1: each as often | Shannon 1948",
        _figure_of(None, "neutral"),
    ),
}
#: For scores, which share some figures with a pair.
_SCORES: Section = {
    "rmse": (
        "Root mean square error | of scores | Willmott and Matsuura 2005",
        _figure_of(None, "lower"),
    ),
    "mae": (
        "Mean absolute error | of scores | Willmott and Matsuura 2005",
        _figure_of(None, "lower", short="MAE"),
    ),
    "bias": (
        "Bias | rater minus reference | Bland and Altman 1986",
        _figure_of(None, "neutral", short="bias"),
    ),
    "limit_low": (
        "Lower limit of agreement | bias − 1.96 standard deviations | Bland and Altman 1986",
        _figure_of(None, "neutral"),
    ),
    "limit_high": (
        "Upper limit of agreement | bias + 1.96 standard deviations | Bland and Altman 1986",
        _figure_of(None, "neutral"),
    ),
    "emd": (
        "Earth mover's distance | of how scores are spread | Vallender 1974",
        _figure_of(None, "lower"),
    ),
}
#: Over all criteria, next to accuracy.
_OVERALL: Section = {
    "mean_kappa": (
        "Mean kappa | mean of the criteria's kappas, quadratic on ordinal criteria | Cohen 1960",
        _figure_of(),
    ),
}
#: Confidence against correctness, next to accuracy.
_CALIBRATION: Section = {
    "confidence": (
        "Sure | mean of how sure the rater says it is | Guo et al. 2017",
        _figure_of(None, "neutral", short="sure"),
    ),
    "ece": (
        "ECE | expected calibration error, of ten bins | Guo et al. 2017",
        _figure_of(None, "lower", short="ECE"),
    ),
    "brier": (
        "Brier score | squared distance of the chances from the answer | Brier 1950",
        _figure_of(None, "lower", short="Brier score"),
    ),
}
_PLACES: dict[Place, Section] = {
    "pair": _PAIR,
    "more": _MORE,
    "option": _OPTION,
    "group": _GROUP,
    "scores": _SCORES,
    "overall": _OVERALL,
    "calibration": _CALIBRATION,
}
KNOWN: dict[str, KnownFigure] = {
    name: figure._replace(place=place, words=words)
    for place, section in _PLACES.items()
    for name, (words, figure) in section.items()
}


def pair_measures(*places: Place) -> dict[str, Measure]:
    """Return the measures of a pair of raters in these places, by name.

    >>> list(pair_measures("pair"))[:2]
    ['accuracy', 'f1_macro']
    """
    return {
        name: figure.measure
        for name, figure in KNOWN.items()
        if figure.place in places and isinstance(figure.measure, Measure)
    }


def group_measures() -> dict[str, GroupMeasure]:
    """Return the measures of a group of raters, by name.

    >>> len(group_measures())
    13
    """
    return {
        name: figure.measure
        for name, figure in KNOWN.items()
        if isinstance(figure.measure, GroupMeasure)
    }
