"""Compare two runs: their setups, flipped verdicts, and the difference of every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.domain.base import Noun
from core.domain.rubric import Rubric
from core.domain.runs import Run, RunRow
from core.errors import InputError
from core.metrics.estimate import USUAL, Confidence
from core.services.agreement.metrics_report import METHOD
from core.services.agreement.overall import Trust, trust_of
from core.services.comparison import rightness
from core.services.comparison.costs import RunSpending, spending_of_run
from core.services.comparison.differences import CriterionDelta, Deltas, FigureDelta, run_deltas
from core.services.comparison.paired_runs import (
    CriterionPair,
    MatchedItems,
    PairOf,
    VerdictFlip,
    pair_runs,
    verdict_flips,
)
from core.services.comparison.rightness import CorrectedAccuracy
from core.services.results.scored_items import scored_rubric
from core.store.store import Store

Area = Literal["rubric", "dataset", "panel", "run"]
#: These fields influence neither prompts nor scores.
_NO_MATTER = frozenset({"meta", "tags", "section", "concurrency", "timeout", "tries"})
_LONGEST = 200


class RunChange(NamedTuple):
    """A difference of two runs. ``before`` or ``after`` is ``None`` if that run lacks it."""

    area: Area
    what: str
    before: str | None
    after: str | None


def plan_changes(store: Store, first: Run, second: Run) -> tuple[RunChange, ...]:
    """Return all differences between the plans of two runs, the rubric first."""
    changed = [*_rubric_changes(store, first, second), *_dataset_changes(store, first, second)]
    return (*changed, *_panel_changes(first, second), *_run_changes(first, second))


def _rubric_changes(store: Store, first: Run, second: Run) -> Iterator[RunChange]:
    ids = [(run.rubric_version_id, run.scored_version_id) for run in (first, second)]
    if ids[0] == ids[1]:
        return
    yield RunChange("rubric", "version", _rubric_words(first), _rubric_words(second))
    old, new = (scored_rubric(store, run) for run in (first, second))
    before, after = ({c.name: c for c in rubric.criteria} for rubric in (old, new))
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield RunChange("rubric", f"{name}: criterion", "asked", None)
        elif name not in before:
            yield RunChange("rubric", f"{name}: criterion", None, "asked")
        else:
            yield from _changes_of("rubric", before[name], after[name], f"{name}: ")
    yield from _changes_of("rubric", _other_fields(old), _other_fields(new))


def _other_fields(rubric: Rubric) -> dict[str, Any]:
    fields = rubric.model_dump(mode="json", exclude={"criteria", "name", "description", "meta"})
    return {**fields, **{f"scoring {k}": v for k, v in fields.pop("scoring").items()}}


def _rubric_words(run: Run) -> str:
    return f"{run.rubric_name}, {run.version_words}"


def _dataset_changes(store: Store, first: Run, second: Run) -> Iterator[RunChange]:
    if first.dataset_version_id == second.dataset_version_id:
        return
    labels = (f"{run.dataset_name}, version {run.dataset_number}" for run in (first, second))
    yield RunChange("dataset", "version", *labels)
    heads = (store.datasets.version(run.dataset_version_id).head for run in (first, second))
    before, after = (
        {
            "prompt": h.prompt,
            **{f"context {name}": text for name, text in h.context.items()},
            "reference": h.reference,
        }
        for h in heads
    )
    yield from _changes_of("dataset", before, after, "shared ")


def _panel_changes(first: Run, second: Run) -> Iterator[RunChange]:
    before, after = ({j.name: j for j in run.panel.judges} for run in (first, second))
    for name in dict.fromkeys([*before, *after]):
        if name in before and name in after:
            yield from _changes_of("panel", before[name], after[name], f"{name}: ")
        else:
            sides = (before.get(name), after.get(name))
            models = (None if j is None else j.model or j.kind for j in sides)
            yield RunChange("panel", f"{name}: judge", *models)
    yield from _changes_of("panel", first.panel.rules, second.panel.rules, "rule for ")
    yield from _changes_of("panel", first.panel.asking, second.panel.asking)
    rest = {"judges", "rules", "asking", "name"}
    old, new = (r.panel.model_dump(mode="json", exclude=rest) for r in (first, second))
    yield from _changes_of("panel", old, new)


def _run_changes(first: Run, second: Run) -> Iterator[RunChange]:
    before, after = (
        {
            "seed": run.plan.seed,
            "replicates": run.plan.replicates,
            "items to learn from": len(run.plan.calibration.get("items", ())),
            **{f"version of {name}": v for name, v in run.plan.versions.items()},
        }
        for run in (first, second)
    )
    yield from _changes_of("run", before, after)
    pools = [run.plan.calibration.get("items", []) for run in (first, second)]
    if pools[0] != pools[1] and len(pools[0]) == len(pools[1]):
        yield RunChange("run", "which items to learn from", "drawn otherwise", "drawn otherwise")


def _changes_of(
    area: Area, first: Noun | Mapping[str, Any], second: Noun | Mapping[str, Any], subject: str = ""
) -> Iterator[RunChange]:
    before, after = (
        side.model_dump(mode="json") if isinstance(side, Noun) else side for side in (first, second)
    )
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new and name not in _NO_MATTER:
            yield RunChange(area, subject + name.replace("_", " "), _text(old), _text(new))


def _text(value: Any) -> str | None:
    """Return a value as text, on one line.

    >>> _text([{"label": "Good", "value": 1.0}, {"label": "?", "value": None, "na": True}])
    'Good (1), ?'
    """
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | int):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, dict):
        value = (
            [_option(value)] if "label" in value else [f"{k} {_text(v)}" for k, v in value.items()]
        )
    text = ", ".join(_text(v) or "" for v in value) if isinstance(value, list) else str(value)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _option(option: Mapping[str, Any]) -> str:
    value = option.get("value")
    return f"{option['label']}" if value is None else f"{option['label']} ({value:g})"


RESAMPLES = 1000
#: With fewer items every figure is uncertain, and the page says so.
FEW = 50


@dataclass(frozen=True)
class RunComparison:
    """Two runs compared. ``criteria`` are those of ``deltas.criteria``, in order."""

    runs: tuple[Run, Run]
    changed: tuple[RunChange, ...]
    match: MatchedItems
    criteria: tuple[CriterionPair, ...]
    apart: dict[str, str]
    flips: tuple[VerdictFlip, ...]
    deltas: Deltas
    corrected: CorrectedAccuracy
    stand_in: tuple[dict[str, Any] | None, dict[str, Any] | None]
    spent: tuple[RunSpending, RunSpending]
    trust: tuple[Trust, Trust]
    ungraded: tuple[int, int]  # Items of each run without a grade, which no mean includes.
    resamples: int
    seed: int
    confidence: Confidence = USUAL


def compare_runs(
    store: Store,
    first: int,
    second: int,
    *,
    bootstrap: int = RESAMPLES,
    seed: int = 0,
    confidence: Confidence = USUAL,
    pair: PairOf | None = None,
) -> RunComparison:
    """Return the comparison; differences are second minus first. ``pair`` loads both runs, e.g.
    from a cache. ``confidence`` affects intervals only: p at 0.05 decides which run is better.

    Raises:
        InputError: the runs have nothing in common, or are the same run.
        NotFound: unknown run.
    """
    paired = pair(first, second) if pair else pair_runs(store, first, second)
    first_trust, second_trust = (trust_of(rated, level=confidence.level) for rated in paired.rated)
    return RunComparison(
        runs=paired.runs,
        changed=plan_changes(store, *paired.runs),
        match=paired.match,
        criteria=paired.criteria,
        apart=paired.apart,
        flips=verdict_flips(paired),
        deltas=run_deltas(paired, bootstrap, seed, confidence),
        corrected=rightness.compare_accuracy(store, paired, confidence.level),
        stand_in=paired.stand_in,
        spent=(spending_of_run(paired.runs[0]), spending_of_run(paired.runs[1])),
        trust=(first_trust, second_trust),
        ungraded=(store.results.means(first)[2], store.results.means(second)[2]),
        resamples=bootstrap,
        seed=seed,
        confidence=confidence,
    )


def run_number(text: str) -> int:
    """Return the run number of a command line word; raise ``InputError`` if it is not one."""
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise InputError(
            f"{text!r} is not the number of a run. `rubric-studio runs` lists them; a folder of "
            "votes becomes a run with `rubric-studio import`."
        )
    return int(text)


def comparison_data(comparison: RunComparison) -> dict[str, Any]:
    """Return the report of ``compare --json``; ``docs/compare.md`` explains its keys."""
    decided, (level, method) = comparison.deltas.decided, comparison.confidence
    report: dict[str, Any] = {
        "runs": {side: _run_data(run) for side, run in zip("ab", comparison.runs, strict=True)},
        "changed": [change._asdict() for change in comparison.changed],
        "items": {
            "both": len(comparison.match.both),
            "only_a": list(comparison.match.only_first),
            "only_b": list(comparison.match.only_second),
            "reworded": list(comparison.match.reworded),
            "relabelled": list(comparison.match.relabelled),
        },
        "criteria": {
            sides.name: _criterion_data(sides, delta, comparison.flips)
            for sides, delta in zip(comparison.criteria, comparison.deltas.criteria, strict=True)
        },
        "not_comparable": comparison.apart,
        "overall": {
            "accuracy": _delta_data(comparison.deltas.accuracy),
            "mean_score": _delta_data(comparison.deltas.score),
        },
        "decided": decided._asdict(),
        "trust": {"a": comparison.trust[0].as_data(), "b": comparison.trust[1].as_data()},
        "ungraded": dict(zip("ab", comparison.ungraded, strict=True)),
        "corrected": rightness.accuracy_data(comparison.corrected),
        "alt_test": _stand_in_data(comparison),
        "cost": _cost_data(*comparison.spent),
    }
    if comparison.resamples:
        report["bootstrap"] = {
            "resamples": comparison.resamples,
            "seed": comparison.seed,
            "level": level,
            "method": METHOD if method == "auto" else method,
        }
    return report


NO_PEOPLE = "No people rated, only judges."


def _stand_in_data(comparison: RunComparison) -> dict[str, Any]:
    sides = dict(zip("ab", comparison.stand_in, strict=True))
    missing = {side: NO_PEOPLE for side, panel in sides.items() if panel is None}
    return {**sides, **({"undefined": missing} if missing else {})}


def stand_in_words(comparison: RunComparison) -> list[str]:
    """Return whether each panel may stand in for a person; empty if no people rated."""
    if not any(comparison.stand_in):
        return []
    return [
        f"{side}: {NO_PEOPLE if panel is None else panel['in_words']}"
        for side, panel in zip("AB", comparison.stand_in, strict=True)
    ]


def _run_data(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "name": run.name,
        "status": run.status,
        "rubric": run.rubric_name,
        "rubric_version": run.scored_number,
        "asked_version": run.rubric_number,
        "dataset": run.dataset_name,
        "dataset_version": run.dataset_number,
        "items": run.items,
        "judges": [judge.name for judge in run.panel.judges],
        "seed": run.plan.seed,
    }


def _criterion_data(
    sides: CriterionPair, delta: CriterionDelta, all_of: tuple[VerdictFlip, ...]
) -> dict[str, Any]:
    return {
        "scale": sides.scale,
        "levels": list(sides.labels),
        "decided": delta.decided,
        "same": delta.same,
        "flips": [
            {**flip._asdict(), "items": list(flip.items)}
            for flip in all_of
            if flip.criterion == sides.name
        ],
        "only_a_right": delta.only_first,
        "only_b_right": delta.only_second,
        "accuracy": _delta_data(delta.accuracy),
        "kappa": {"weights": sides.weights, **_delta_data(delta.kappa)},
        "agreement": _delta_data(delta.agreement),
    }


def _delta_data(delta: FigureDelta) -> dict[str, Any]:
    figures = {"a": delta.first, "b": delta.second, "difference": delta.difference, "p": delta.p}
    data: dict[str, Any] = {name: figure.value for name, figure in figures.items()}
    data |= {"n": delta.n, "test": delta.test}
    if delta.p_holm is not None:
        data["p_holm"] = delta.p_holm
    data["ci"] = delta.difference.ci
    reasons = {name: figure.reason for name, figure in figures.items() if figure.value is None}
    if data["ci"] is None and delta.difference.reason:
        reasons["ci"] = delta.difference.reason
    return {**data, "undefined": reasons} if reasons else data


def _cost_data(first: RunSpending, second: RunSpending) -> dict[str, Any]:
    def difference_or_none(before: float | None, after: float | None) -> float | None:
        return None if before is None or after is None else after - before

    return {
        "a": _spending_data(first),
        "b": _spending_data(second),
        "difference": {
            "cost_usd": difference_or_none(first.now, second.now),
            "whole_usd": difference_or_none(first.whole, second.whole),
            "calls": second.calls - first.calls,
        },
    }


def _spending_data(run: RunSpending) -> dict[str, Any]:
    data = {
        "cost_usd": run.now,
        "saved_usd": run.saved,
        "whole_usd": run.whole,
        "calls": run.calls,
        "cached": run.cached,
        "seconds": round(run.seconds, 3),
    }
    return {**data, "undefined": {"whole_usd": run.reason}} if run.reason else data


#: The number of newest runs that are searched for two over the same items.
NEWEST = 30


def latest_pair(store: Store, newest: Sequence[RunRow]) -> list[int]:
    """Return the newest two runs over the same items of a dataset, the older first.

    Otherwise return the two runs over one dataset that share the most items, for example a trial on
    three items and the full run; else the newest run alone, so that a person chooses the other.
    ``newest`` is sorted newest first.
    """
    rows, ids = newest[:NEWEST], dict[int, frozenset[str]]()
    best, most = [row.id for row in rows[:1]], 0.0
    for index, row in enumerate(rows):
        for older in rows[index + 1 :]:
            if older.dataset_id != row.dataset_id:
                continue
            for candidate in (row, older):
                if candidate.id not in ids:
                    ids[candidate.id] = frozenset(store.runs.item_ids(candidate.id))
            shared = len(ids[row.id] & ids[older.id]) / len(ids[row.id] | ids[older.id])
            if shared == 1:
                return [older.id, row.id]
            if shared > most:
                best, most = [older.id, row.id], shared
    return best
