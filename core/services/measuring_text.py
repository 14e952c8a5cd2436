"""The report of ``metrics`` for reading: a few lines per criterion, every number with its n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.services.leaning import DIRECTED, lean
from core.services.numbers import percent, score

#: Below this many items a figure says little, and the text says so.
FEW = 30
_GROUP = {
    "percent_agreement": "agree",
    "krippendorff_alpha_nominal": "alpha",
    "gwet_ac1": "AC1",
    "icc_2_1": "ICC(2,1)",
}
_PAIR = {"accuracy": "accuracy", "f1_macro": "macro F1", "cohen_kappa": "kappa"}
_ORDERED = {"kappa_quadratic": "quadratic kappa", "bias_levels": "lean"}
_MEAN = {"pearson": "Pearson", "rmse_levels": "RMSE in levels", "bias_levels": "lean"}
_SCORE = {"pearson": "Pearson", "mae": "MAE", "bias": "bias"}
#: Written in percent, as on every page.
SHARES = frozenset({"accuracy", "percent_agreement"})
_WHOLE = (
    "Scores of whole items: those with a verdict on every criterion, an answer or cannot assess"
)
_REFERENCES = {
    "vs_human_majority": "human majority",
    "vs_human_mean_level": "human mean level",
    "vs_human_mean": "human mean",
    "vs_gold": "labels",
    "vs_reference": "reference",
}


def as_text(report: Mapping[str, Any]) -> str:
    """The report in lines. What is undefined is said with its reason."""
    lines = [line for name, c in report["criteria"].items() for line in _criterion(name, c)]
    lines += [_WHOLE]
    whole = {**report["score"]["raters"], "panel": report["score"]["panel"]}
    lines += [line for name, found in whole.items() for line in _versus(name, found, _SCORE)]
    if lines[-1] == _WHOLE:
        lines.append("  Nobody rated anything, so there is nothing to compare.")
    return "\n".join(lines)


def _criterion(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name} ({found['scale']}: {', '.join(found['levels'])})"
    ordered = found["scale"] != "nominal"
    group = {**_GROUP, "krippendorff_alpha_ordinal": "ordinal alpha"} if ordered else _GROUP
    pair = {**_PAIR, **_ORDERED} if ordered else _PAIR
    for kind, figures in found["groups"].items():
        yield (
            f"  {kind}: {figures['raters']} raters, {figures['items']} items, "
            f"{figures['ratings']} ratings, {figures['abstained']} abstained, "
            f"{figures['failed']} failed"
        )
        yield f"    {_figures(figures, group, figures['items_with_2plus'])}"
    if not found["groups"]:
        yield "  Nobody rated it."
    for rater, versus in {**found["raters"], "panel": found["panel"]}.items():
        yield from _versus(rater, versus, pair, found)
    yield ""


def _versus(
    name: str,
    found: Mapping[str, Any],
    wanted: Mapping[str, str],
    criterion: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    for key, figures in found.items():
        if figures["n"]:
            shown = _MEAN if key == "vs_human_mean_level" else wanted
            yield f"  {name} against the {_REFERENCES[key]}:"
            yield f"    {_figures(figures, shown, figures['n'], criterion)}"


def _figures(
    found: Mapping[str, Any],
    wanted: Mapping[str, str],
    n: int,
    criterion: Mapping[str, Any] | None = None,
) -> str:
    reasons = found.get("undefined", {})
    parts = [f"n = {n}" + (" (few)" if 0 < n < FEW else "")]
    missing: dict[str, list[str]] = {}
    for name, label in wanted.items():
        value = found.get(name)
        if value is None:
            missing.setdefault(reasons.get(name, ""), []).append(label)
            continue
        ends = found.get("ci", {}).get(name)
        if criterion is not None and name in DIRECTED:
            way = lean(name, criterion["scale"], criterion["levels"], value, *(ends or ()))
            label, value, ends = f"{way.words} by", way.value, ends and (way.low, way.high)
        form = percent if name in SHARES else score
        between = f" ({form(ends[0])} to {form(ends[1])})" if ends else ""
        parts.append(f"{label} {form(value)}{between}")
    for name, label in wanted.items():
        if found.get(name) is not None and (reason := reasons.get(f"ci.{name}")):
            missing.setdefault(reason, []).append(f"interval of {label}")
    gone = [f"no {', '.join(labels)}: {reason}" for reason, labels in missing.items()]
    return "; ".join([", ".join(parts), *gone])
