"""Verdicts, agreement and scores, recomputed from stored votes under any rules without calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import RULES, Rubric, rules_in_words
from core.domain.runs import Derive, ItemResult, Run
from core.domain.votes import BallotRow, ItemBallots, Verdict
from core.errors import InputError
from core.formats.folder import read_folder
from core.formats.votes.imported import ImportedVote
from core.formats.votes.vote_tables import read_votes
from core.scoring import Trace, assessed_words
from core.scoring.explanation import ungraded_words
from core.scoring.trace import coverage_of
from core.services.agreement.load_ratings import Tell, ignore_remark, run_number_of
from core.services.results.scored_items import (
    fitted_of,
    resolved_items,
    scored_rubric,
    settled_lookup,
)
from core.services.results.verdicts import (
    NOTHING_FITTED,
    RubricOf,
    VoteCounting,
    counting_of,
    result_deriver,
    rubric_lookup,
    texts_lookup,
)
from core.store.store import Store
from core.text import numbers as say

#: The raters whose votes count, if the user chose some.
RaterGroup = Literal["all", "judges", "people"]


def score_source(
    open_store: Callable[[], Store],
    source: str,
    rules: Sequence[str] = (),
    abstain: str | None = None,
    raters: RaterGroup | None = None,
    on_remark: Tell = ignore_remark,
) -> dict[str, Any]:
    """Return the report of ``score --json`` for a run's number or a folder in the common layout.

    Args:
        open_store: opens the data file; only called for a run.
        source: a run's number, or a folder.
        rules: words like ``ordinal=median`` that replace the run's (or the default) rules,
            including all fitted ones.
        abstain: replaces the rubric's strategy.
        raters: the raters whose votes count. ``None``: in a run, the raters that count in it (no
            shadows), in
            a folder the judges, or people if only people rated.
        on_remark: called with remarks about the source.
    """
    run_id = run_number_of(source)
    if run_id is None:
        return _score_folder(Path(source), rules, abstain, raters, on_remark)
    return _score_run(open_store(), run_id, rules, abstain, raters, on_remark)


def _score_run(
    store: Store,
    run_id: int,
    rules: Sequence[str],
    abstain: str | None,
    raters: RaterGroup | None,
    on_remark: Tell,
) -> dict[str, Any]:
    run = store.runs.get(run_id)
    rubric = with_abstention(scored_rubric(store, run), abstain)
    items = [
        i.model_copy(update={"rubric": with_abstention(i.rubric, abstain)}) if i.rubric else i
        for i in resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    ]
    chosen = rules_from(rules, run.panel.rules)
    fitted = fitted_of(run)
    if rules and fitted:
        on_remark(f"--rule leaves the fitted rules out ({', '.join(fitted)}).")
    lookup = rubric_lookup(rubric, items)
    derive = result_deriver(
        chosen,
        _counting_votes(run, raters),
        lookup,
        texts_lookup(items),
        settled_lookup(store, run_id),
        NOTHING_FITTED if rules else fitted,
    )
    by_item = {b.item_id: b for b in store.votes.ballots(run_id)}
    return _score_report([i.id for i in items], by_item, derive, lookup, chosen)


def _counting_votes(run: Run, raters: RaterGroup | None) -> VoteCounting:
    """Return which of the run's votes count; ``raters`` may make other raters shadows."""
    if raters is None:
        return counting_of(run.plan)
    panel = run.plan.panel
    judges = [
        j.model_copy(update={"shadow": not _vote_counts(j.rater_kind, raters)})
        for j in panel.judges
    ]
    if all(j.shadow for j in judges):
        raise InputError(f"--raters {raters}: run {run.id} has none of them.")
    with_shadows = panel.model_copy(update={"judges": tuple(judges)})
    return counting_of(replace(run.plan, panel=with_shadows))


def _vote_counts(kind: str, raters: RaterGroup) -> bool:
    return raters == "all" or (kind == "human") == (raters == "people")


def _score_folder(
    path: Path,
    rules: Sequence[str],
    abstain: str | None,
    raters: RaterGroup | None,
    on_remark: Tell,
) -> dict[str, Any]:
    parsed_rubric, dataset = read_folder(path)
    rubric = with_abstention(parsed_rubric.value, abstain)
    items = dataset.value.items
    loaded = read_votes(path, rubric, items)
    for notice in loaded.notices:
        on_remark(str(notice))
    chosen = rules_from(rules, Rules())
    if raters is None and len({v.kind == "human" for v in loaded.value.rows}) == 2:
        on_remark("Only judges' votes count here. --raters all counts people's, too.")
        raters = "judges"
    by_item = {
        item_id: _ballots_of_item(item_id, rows, raters or "all")
        for item_id, rows in loaded.value.votes_by_item().items()
    }
    lookup = rubric_lookup(rubric, items)
    derive = result_deriver(chosen, VoteCounting(loaded.value.weights), lookup, texts_lookup(items))
    return _score_report([i.id for i in items], by_item, derive, lookup, chosen)


def _ballots_of_item(item_id: str, rows: Sequence[ImportedVote], raters: RaterGroup) -> ItemBallots:
    ballots, failures = list[BallotRow](), dict[str, int]()
    for v in rows:
        if not _vote_counts(v.kind, raters):
            continue
        if v.failed:
            failures[v.criterion] = failures.get(v.criterion, 0) + 1
        else:
            ballots.append(
                BallotRow(
                    *(item_id, v.criterion, v.rater, v.replicate, v.option, v.abstained),
                    chances=v.probabilities,
                )
            )
    return ItemBallots(item_id, tuple(ballots), failures)


def rules_from(words: Sequence[str], base: Rules) -> Rules:
    """Return ``base`` with the rules that words like ``ordinal=median`` choose."""
    fields = base.model_dump()
    for word in words:
        scale, _, rule = word.partition("=")
        if scale not in RULES or not rule:
            raise InputError(
                f"--rule {word!r} is not understood. Write SCALE=RULE with binary, ordinal or "
                f"nominal; for example ordinal=median. {rules_in_words('ordinal')}"
            )
        fields[scale] = rule
    return build_model(Rules, fields, "set of rules", "--rule")


def with_abstention(rubric: Rubric, abstain: str | None) -> Rubric:
    """Return the rubric with another abstention strategy; unchanged for ``None``."""
    if abstain is None:
        return rubric
    policy = {**rubric.scoring.model_dump(), "abstention": abstain}
    scoring = build_model(type(rubric.scoring), policy, "scoring policy")
    return rubric.model_copy(update={"scoring": scoring})


def _score_report(
    ids: Sequence[str],
    by_item: dict[str, ItemBallots],
    derive: Derive,
    rubric_of: RubricOf,
    rules: Rules,
) -> dict[str, Any]:
    results = derive([by_item.get(i, ItemBallots(i, (), {})) for i in ids])
    agreements = [
        c.agreement for result in results for c in result.cells if c.agreement is not None
    ]
    return {
        "items": [_item_data(result, rubric_of(result.item_id)) for result in results],
        "rules": rules.model_dump(),
        "mean_agreement": fmean(agreements) if agreements else None,
    }


def _item_data(result: ItemResult, rubric: Rubric) -> dict[str, Any]:
    return {
        "id": result.item_id,
        "score": result.score,
        "raw": result.raw,
        **coverage_of(result.trace),
        "needs_a_person": result.review,
        "trace": result.trace,
        "verdicts": {c.criterion: _verdict_data(c, rubric) for c in result.cells},
    }


def _verdict_data(cell: Verdict, rubric: Rubric) -> dict[str, Any]:
    label = None
    if not cell.abstained and cell.option is not None:
        label = rubric.criterion(cell.criterion).choices[cell.option].label
    return {
        "label": label,
        "abstained": cell.abstained,
        "value": cell.value,
        "continuous": cell.continuous,
        "agreement": cell.agreement,
        "entropy": cell.entropy,
        "coverage": cell.coverage,
        "votes": cell.votes,
        "failures": cell.failures,
    }


def scores_as_text(report: dict[str, Any]) -> str:
    """Return the report as text, a line per item."""
    lines = []
    for item in report["items"]:
        score = "no grade" if item["score"] is None else say.score(item["score"])
        trace = Trace.from_dict(item["trace"])
        covered = "" if trace.complete else f" (assessed {assessed_words(trace.criteria)})"
        verdicts = ", ".join(
            f"{name}={v['label'] or 'abstained'}" for name, v in item["verdicts"].items()
        )
        lines.append(f"{item['id']}  {score}{covered}  {verdicts}")
    unscored = sum(item["score"] is None and bool(item["verdicts"]) for item in report["items"])
    if ungraded := ungraded_words(unscored):
        lines.append(ungraded)
    mean = report["mean_agreement"]
    lines.append(f"mean agreement: {'undefined (no votes)' if mean is None else say.score(mean)}")
    return "\n".join(lines)
