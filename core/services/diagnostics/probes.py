"""Probe a run's judges: grade some of its answers again, as originals and as edited copies.

A probe is a small hidden run over a hidden dataset. Its votes are separate, and do not affect
verdicts, scores or figures of the run. It does not use cached answers, so that originals and copies
are graded in the same hours, by the same version of a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain.dataset import Dataset, Item, Message, Pair, Sections, Submission, output_of
from core.domain.panel import Judge, Panel
from core.domain.runs import Run, RunPlan, RunRow
from core.errors import InputError
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.diagnostics.probe_edits import (
    AGAIN,
    BY_RULE,
    EDITS,
    NEUTRAL,
    ORIGINAL,
    WRITTEN,
    EditedText,
    edited_texts,
    with_last_line,
    word_count,
)
from core.services.results.scored_items import calibration_items, resolved_items
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import CostEstimate, estimate_planned
from core.services.runs.planning import Planned, RunRequest
from core.services.runs.questions import PROBE
from core.services.spot import trials
from core.services.spot.trials import HELP
from core.store.store import Store
from core.text.model_names import family_of

#: The number of answers that are probed by default, and at most.
ANSWERS, MOST = 100, 2000
_PLACE = "probes/"


@dataclass(frozen=True)
class ProbeRequest:
    """The settings of a probe: the run, the number of answers, the edits and the judges (all).

    ``written`` has texts written by a model, by item and edit; their edits are among ``edits``.
    ``earns`` has the edits that a criterion rightly rewards, as "at least 60 words" rewards longer
    answers; these are not faults.
    """

    run_id: int
    edits: tuple[str, ...] = BY_RULE
    answers: int = ANSWERS
    judges: tuple[str, ...] = ()
    seed: int = 0
    budget: float | None = None
    written: Mapping[tuple[str, str], str] = field(default_factory=dict)
    earns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def subjects(store: Store, run_id: int) -> tuple[tuple[Judge, ...], int]:
    """Return the judges of a run that can be probed, and the number of answers that can be edited.

    Raises ``NotFound``.
    """
    run = store.runs.get(run_id)
    return _callable_judges(run), len(_editable_items(store, run))


def estimate(store: Store, request: ProbeRequest) -> CostEstimate:
    """Return a probe's estimate without storing it. Raise ``InputError`` for an invalid request."""
    run = store.runs.get(request.run_id)
    panel = _panel(run, request)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    plan = RunPlan("", 0, 0, panel, seed=run.plan.seed, details=_run_details(request))
    # Until a model has written the texts, assume the length of the original answer.
    originals = {item.id: edited_part(item) for item in drawn_items(store, request)}
    texts = {(id_, edit): text for id_, text in originals.items() for edit in WRITTEN}
    items = _texts_with_copies(store, replace(request, written={**texts, **request.written}), panel)
    return estimate_planned(store, Planned(plan, rubric, items, calibration_items(store, run.plan)))


@allowed("write")
def start(store: Store, request: ProbeRequest) -> int:
    """Start a probe; return its run's id. Raises ``InputError``."""
    run = store.runs.get(request.run_id)
    panel = _panel(run, request)
    missing = set(request.edits) & set(WRITTEN) - {edit for _, edit in request.written}
    if missing:
        raise InputError(f"{', '.join(sorted(missing))}: let a model write these texts first.")
    _require_earned(store, run, request)
    dataset = Dataset(
        name=f"Probes of run {run.id}", items=_texts_with_copies(store, request, panel)
    )
    teaching = run.plan.calibration
    probe = lifecycle.start(
        store,
        RunRequest(
            rubric_version=run.rubric_version_id,
            dataset_version=trials.hidden_dataset(store, dataset, "probe"),
            panel=panel,
            name=f"Probes: {run.name}"[:200],
            seed=run.plan.seed,
            budget=request.budget,
            learn_from=teaching.get("dataset_version"),
            learn_items=tuple(teaching["items"]) if teaching else None,
            kind="spot",
            details=_run_details(request),
        ),
    )
    store.settings.add(f"{_PLACE}{run.id}", probe)
    return probe


def of_run(store: Store, run_id: int) -> list[RunRow]:
    """Return the probes of a run, newest first."""
    ids = store.settings.get(f"{_PLACE}{run_id}", [])
    return [store.runs.row(probe) for probe in reversed(ids)]


def _run_details(request: ProbeRequest) -> dict[str, Mapping[str, object]]:
    facts = {
        "run": request.run_id,
        "edits": list(request.edits),
        "answers": request.answers,
        "seed": request.seed,
        "earns": {name: list(edits) for name, edits in request.earns.items()},
    }
    return {HELP: {PROBE: request.run_id}, PROBE: facts}


def _require_earned(store: Store, run: Run, request: ProbeRequest) -> None:
    """Raise ``InputError`` for criteria that the run lacks, and for edits outside the request."""
    names = {
        criterion.name for criterion in store.rubrics.version(run.rubric_version_id).rubric.criteria
    }
    unknown = sorted(set(request.earns) - names)
    if unknown:
        raise InputError(f"{', '.join(unknown)}: no criterion of run {run.id}.")
    edits = {edit for rewarded in request.earns.values() for edit in rewarded} - set(request.edits)
    if edits:
        raise InputError(f"{', '.join(sorted(edits))}: not among the edits that are asked.")


def _callable_judges(run: Run) -> tuple[Judge, ...]:
    """Return the judges that can be called here; functions exist only in their own program."""
    return tuple(j for j in run.panel.judges if j.askable and j.kind != "function")


def _panel(run: Run, request: ProbeRequest) -> Panel:
    """Return a panel that treats judges alike: no stages, no early stop, no cached answers."""
    unknown = [name for name in request.edits if name not in EDITS]
    if unknown or not request.edits:
        available = ", ".join(EDITS)
        raise InputError(
            f"There is no probe {', '.join(unknown) or 'chosen'}. There are {available}."
        )
    by_name = {judge.name: judge for judge in _callable_judges(run)}
    missing = [name for name in request.judges if name not in by_name]
    if missing:
        raise InputError(f"{', '.join(missing)}: no judge of run {run.id} that can be asked.")
    chosen = [by_name[name] for name in request.judges] or list(by_name.values())
    if not chosen:
        raise InputError(
            f"No judge of run {run.id} can be asked here: its votes came from elsewhere."
        )
    asking = run.panel.asking.model_copy(update={"flip": "off", "balanced": False, "cache": False})
    return trials.panel_of("Probes", tuple(chosen), asking, run.panel.rules)


def _editable_items(store: Store, run: Run) -> list[str]:
    """Return the items with a text to edit, in the dataset's order."""
    # Columns need numpy, which should not load only to list a run's probes.
    import numpy as np

    from core.services.datasets import item_columns
    from core.services.results.run_columns import items_of_run

    columns = item_columns.columns_of_version(store, run.dataset_version_id)
    _, rows = items_of_run(store, run)
    places = sorted(rows.tolist())
    fit = columns.plain & (columns.words > 0)
    # Conversations have to be loaded, because their last answer may be empty or missing.
    talks = np.flatnonzero(~columns.plain & ~columns.pairs & (columns.words > 0))
    if len(talks):
        ids = [columns.ids[index] for index in talks.tolist()]
        items = store.datasets.items(run.dataset_version_id, ids)
        editable = {item.id for item in items if edited_part(item).strip()}
        fit[talks] = [item_id in editable for item_id in ids]
    return [columns.ids[index] for index in places if fit[index]]


def edited_part(item: Item) -> str:
    """Return the text that edits change; in a conversation, the last turn that is judged.

    It is empty for a pair, and without such a turn.
    """
    submission = item.submission
    if isinstance(submission, tuple):
        return submission[turn].content if (turn := _last_turn(submission)) is not None else ""
    return "" if isinstance(submission, Pair) else item.output


def item_with_text(item: Item) -> Item:
    """Return the item with this text as its submission, for a model that rewrites it; earlier turns
    become a context.
    """
    submission = item.submission
    if not isinstance(submission, tuple):
        return item
    before = output_of(submission[: _last_turn(submission)])
    context = {**item.context, "What was said before": before} if before else item.context
    return item.model_copy(update={"submission": edited_part(item), "context": context})


def _last_turn(turns: Sequence[Message]) -> int | None:
    places = [index for index, turn in enumerate(turns) if turn.judged and turn.content.strip()]
    return places[-1] if places else None


PAIRS = (
    "a pair has two answers of which one is chosen, so that no edit makes it earn more or less. "
    "Whether the answer shown first is preferred is told by Compare systems, which shows both "
    "orders; probe a run that grades the same answers one by one for what edits do."
)


def drawn_items(store: Store, request: ProbeRequest) -> list[Item]:
    """Return the answers that a probe draws. Raises ``InputError`` if none can be probed."""
    run = store.runs.get(request.run_id)
    fit = _editable_items(store, run)
    if not fit:
        raise InputError(
            "Probes change one text at a time, and this run has none: of a conversation the last "
            f"answer is edited; {PAIRS}"
        )
    count = min(request.answers, len(fit), MOST)
    chosen = set(seeded_random(PROBE, request.seed).sample(fit, count))
    ids = [item_id for item_id in fit if item_id in chosen]
    return list(resolved_items(store, run.dataset_version_id, ids))


def _texts_with_copies(store: Store, request: ProbeRequest, panel: Panel) -> tuple[Item, ...]:
    """Return the drawn answers, each with its copies."""
    houses = houses_of(panel.judges)
    return tuple(
        twin
        for item in drawn_items(store, request)
        for twin in _edited_copies(item, request, houses)
    )


def houses_of(judges: Sequence[Judge]) -> list[str]:
    """Return the makers whose names are put above texts: the judges' makers, and one other."""
    makers = sorted({family_of(judge.model or judge.name) for judge in judges} - {""})
    if len(makers) == 1:
        makers.append("anthropic" if makers[0] == "openai" else "openai")
    return makers


def _edited_copies(item: Item, request: ProbeRequest, houses: Sequence[str]) -> Iterator[Item]:
    rng, original = seeded_random(PROBE, request.seed, item.id), edited_part(item)
    yield _edited_copy(item, EditedText(ORIGINAL, original))
    yield _edited_copy(item, EditedText(AGAIN, original))
    yield _edited_copy(item, EditedText(NEUTRAL, with_last_line(original, NEUTRAL)))
    for edited in edited_texts(original, request.edits, houses, rng):
        yield _edited_copy(item, edited)
    for name in request.edits:
        text = request.written.get((item.id, name))
        if text is not None:
            yield _edited_copy(
                item, EditedText(name, text, word_count(text) / max(1, word_count(original)) - 1)
            )


def _edited_copy(item: Item, edited: EditedText) -> Item:
    submission = item.submission
    changed: Submission
    if isinstance(submission, Sections):
        changed = submission.model_copy(update={"output": edited.text})
    elif isinstance(submission, tuple) and (at := _last_turn(submission)) is not None:
        turn = submission[at].model_copy(update={"content": edited.text})
        changed = (*submission[:at], turn, *submission[at + 1 :])
    else:
        changed = edited.text
    facts = {
        "of": item.id,
        "text": edited.key,
        "grown": edited.grown,
        "reversed": edited.key == "order",
    }
    return Item(
        id=f"{item.id[:400]}~{edited.key}",
        submission=changed,
        prompt=item.prompt,
        context=item.context,
        reference=item.reference,
        description=item.description,
        rubric=item.rubric,
        meta={**item.meta, PROBE: facts},
    )
