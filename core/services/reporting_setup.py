"""What was graded how, and how much of it there is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import CellResult, Run, RunItemRow
from core.identity import canonical_json
from core.services.fitted import fitted_of
from core.services.fitting import in_words
from core.services.grading import lost, spared
from core.services.reporting_values import Counts, JudgeFacts, Setup, Training
from core.services.twins import twins_of
from core.services.unvoted import unvoted
from core.store.store import Store

#: Told apart from settings: who it is, and where its key is found.
_NOT_SETTINGS = {"name", "kind", "model", "weight", "shadow", "key_env"}
_USER = re.compile(r"//[^/@]*@")
#: The rule that a person's decision leaves on a verdict.
ADJUDICATED = "adjudicated"


def setup_of(store: Store, run: Run, rubric: Rubric) -> Setup:
    """The plan of a run in words and hashes."""
    dataset = store.datasets.version(run.dataset_version_id)
    plan = run.plan
    return Setup(
        run=run.id,
        name=run.name,
        status=run.status,
        message=run.message,
        rubric=run.rubric_name,
        rubric_number=run.scored_number,
        rubric_hash=store.rubrics.version(run.scored_version_id).hash,
        asked_number=run.rubric_number,
        dataset=run.dataset_name,
        dataset_number=run.dataset_number,
        dataset_hash=dataset.hash,
        panel=run.panel.name,
        panel_hash=run.panel_hash,
        judges=tuple(
            judge_facts(judge, run.notes.get("training", {}).get(judge.name, {}))
            for judge in run.panel.judges
        ),
        rules=run.panel.rules.model_dump(),
        abstention=rubric.scoring.abstention,
        asking=_asking(run.panel),
        seed=plan.seed,
        replicates=plan.replicates,
        learned_from=len(plan.calibration.get("items", ())),
        twins=twins_of(plan.calibration).in_words(),
        fitted={name: in_words(found) for name, found in fitted_of(run).items()},
        versions=dict(plan.versions),
        imported=dict(plan.details.get("imported", {})),
        created=run.created,
        started=run.started,
        finished=run.finished,
    )


def rater_kind(judge: Judge) -> str:
    """Whether a judge is an llm, offline or human; imports and people are judges, too.

    >>> rater_kind(Judge(name="a", model="m"))
    'llm'
    """
    return judge.rater_kind


def judge_facts(judge: Judge, training: Mapping[str, Mapping[str, Any]]) -> JudgeFacts:
    """A judge with the settings that are not the default, and what it learned. Never a key."""
    given = judge.model_dump(exclude_defaults=True, exclude=_NOT_SETTINGS)
    return JudgeFacts(
        name=judge.name,
        kind=judge.kind,
        model=judge.model,
        weight=judge.weight,
        shadow=judge.shadow,
        settings={name: _words(value) for name, value in given.items()},
        training=tuple(
            Training(
                criterion=name,
                trained=bool(entry["trained"]),
                n=int(entry["n"]),
                accuracy=entry.get("accuracy"),
                majority=entry.get("majority"),
                reason=str(entry.get("reason") or ""),
            )
            for name, entry in training.items()
        ),
    )


def _words(value: Any) -> str:
    if isinstance(value, str):
        # An address may carry a name and a password.
        return _USER.sub("//", value)
    return canonical_json(value)


def _asking(panel: Panel) -> dict[str, str]:
    """How models were asked; empty where nobody was a model."""
    if not any(rater_kind(judge) == "llm" for judge in panel.judges):
        return {}
    asking: Asking = panel.asking
    found = {name: _words(value) for name, value in asking.model_dump().items()}
    if panel.cascade is not None:
        found["cascade"] = _words(panel.cascade.model_dump())
    return found


def counts_of(
    store: Store,
    run: Run,
    rows: Sequence[RunItemRow],
    cells: Sequence[tuple[str, CellResult]],
    asked: int,
) -> Counts:
    """The counts of a run; ``asked`` is how many (item, criterion) pairs it has."""
    return Counts(
        items=run.items,
        scored=sum(row.score is not None for row in rows),
        complete=sum(row.complete and row.score is not None for row in rows),
        cells=asked,
        missing=asked - len(cells),
        abstained=sum(cell.abstained for _, cell in cells),
        adjudicated=sum(cell.rule == ADJUDICATED for _, cell in cells),
        unvoted=sum(unvoted(cell) for _, cell in cells),
        planned=run.planned,
        spared=spared(run),
        votes=run.votes,
        abstentions=run.abstentions,
        failures={kind.kind: kind.times for kind in store.votes.failure_kinds(run.id)},
        calls=run.calls,
        lost_calls=lost(run),
        cached=run.cached,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        cost=run.cost,
        cost_unknown=run.cost_unknown,
        saved=run.saved,
        seconds=round(run.seconds, 3),
    )
