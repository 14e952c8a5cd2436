"""The judges of "Grade my texts": those of the last run, otherwise offline judges if there are
labels.

Adding a model asks only for what it needs; all other settings are on the Judges page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.errors import InputError
from core.judging.local import model_file
from core.judging.offline import LEAST_LABELS
from core.services.access.allowing import allowed
from core.services.judges import connection, readiness, registry
from core.services.judges.registry import JudgeEntry
from core.services.reports import worked_example
from core.services.runs.candidates import Candidates
from core.services.runs.planning import LABEL_SHARE, RunChoices
from core.store.store import Store

#: The share of labelled texts that offline judges learn from in "Grade my texts". The rest is
#: graded to measure the judges.
LEARN_FROM = 0.75
#: With fewer labels, judges learn from all labels, because a small rest shows nothing.
FEW = 40
#: If all texts are labelled, fewer labels than this leave too small a part to learn from.
LEAST = ceil(LEAST_LABELS / LEARN_FROM)
#: The detail that marks a run as a trial.
TRY = "try"
#: The number of newest runs that are searched for the last judges.
LOOKED_AT = 50

Why = Literal["last", "labels", "model", ""]


@dataclass(frozen=True)
class JudgeChoice:
    """The available judges and the proposed judges; ``why`` says why they are proposed."""

    known: tuple[JudgeEntry, ...]
    proposed: tuple[str, ...]
    why: Why

    @property
    def by_name(self) -> dict[str, JudgeEntry]:
        """Return the judges by name."""
        return {entry.name: entry for entry in self.known}

    @property
    def models(self) -> bool:
        """Return whether a model is among them."""
        return any(entry.judge.kind == "llm" for entry in self.known)


@allowed("read")
def judges(store: Store, labelled: int) -> JudgeChoice:
    """Return the available judges for texts with this number of usable labels.

    Without labels, judges that learn from labels are left out.
    """
    registry.ensure_defaults(store)
    askable = (e for e in registry.list_judges(store) if e.judge.askable)
    entries = tuple(e for e in askable if labelled or not e.judge.learns)
    callable_names = {e.name for e in entries}
    last = last_panel(store)
    names = tuple(judge.name for judge in last.judges) if last is not None else ()
    if names and set(names) <= callable_names:
        return JudgeChoice(entries, names, "last")
    if labelled:
        learners = tuple(e.name for e in entries if e.judge.learns)
        if learners:
            return JudgeChoice(entries, learners, "labels")
    ready = [entry.name for entry in entries if entry.ready_model]
    return JudgeChoice(entries, tuple(ready[:1]), "model" if ready else "")


@allowed("read")
def learners(store: Store) -> list[str]:
    """Return the names of the judges that learn from labels."""
    registry.ensure_defaults(store)
    return [entry.name for entry in registry.list_judges(store) if entry.judge.learns]


@allowed("read")
def planned(store: Store, choices: RunChoices, labelled: int) -> tuple[int | None, tuple[str, ...]]:
    """Return the id of a saved panel to propose for a run, if any, and the names of the judges:
    the last ones, otherwise those for the labelled items.
    """
    choice, named = judges(store, labelled), {entry.name for entry in choices.judges}
    names = choice.proposed if set(choice.proposed) <= named else ()
    # A saved panel is preferred, because a user saved it to be used. The offline panel does not
    # count, because it exists from the start.
    with_models = [p.id for p in choices.panels if not all(j.learns for j in p.panel.judges)]
    same = [p.id for p in choices.panels if {j.name for j in p.panel.judges} == set(names)]
    panels = same if choice.why == "last" or not with_models else with_models
    return next(iter(panels), None), names


def last_panel(store: Store) -> Panel | None:
    """Return the panel of the newest run, except the worked example and trials; or ``None``."""
    example = worked_example.example_run(store)
    for row in store.runs.list(kind="run", limit=LOOKED_AT):
        if row.id != example and row.panel.askable and not _is_trial(store, row.id):
            return row.panel
    return None


def _is_trial(store: Store, run_id: int) -> bool:
    return bool(store.runs.get(run_id).plan.details.get(TRY))


def panel_of(store: Store, names: Sequence[str]) -> Panel:
    """Return these judges as a panel, with their last common setup or the saved one.

    Raises:
        InputError: no judge is named.
    """
    if not names:
        raise InputError("No judge is chosen yet. Choose one, or add a model.")
    current = {entry.name: entry.judge for entry in registry.list_judges(store)}
    last = last_panel(store)
    saved = [row.panel for row in registry.list_panels(store)]
    for panel in [last, *saved] if last is not None else saved:
        if {judge.name for judge in panel.judges} == set(names):
            # Current settings of the judges, with the panel's setup.
            seats = [
                current.get(seat.name, seat).model_copy(
                    update={"stage": seat.stage, "shadow": seat.shadow}
                )
                for seat in panel.judges
            ]
            return panel.model_copy(update={"judges": tuple(seats)})
    return Panel(name=" and ".join(names)[:200], judges=tuple(current[name] for name in names))


@allowed("set judges")
def add_model(store: Store, model: str, api_base: str, key_env: str, name: str = "") -> Judge:
    """Save a model as a judge and start its connection test; equal settings are saved once.

    Raises:
        InputError: the settings are invalid. A value that could be a key is never repeated.
    """
    fields = {"kind": "llm", "model": model.strip(), "api_base": api_base, "key_env": key_env}
    existing = {entry.name: entry.judge for entry in registry.list_judges(store)}
    short_name, digits = fields["model"].rpartition("/")[2] or fields["model"], dict[str, Any]()
    if fields["model"].startswith(model_file.PREFIX):
        judge = readiness.judge_of_model_file(fields["model"].removeprefix(model_file.PREFIX))
        short_name, fields["model"] = judge.name, judge.model
        digits = {"concurrency": judge.concurrency, "max_tokens": judge.max_tokens}
    chosen_name = " ".join(name.split()) or short_name
    unused_name, number = chosen_name, 1
    while unused_name in existing:
        same = {
            field: getattr(existing[unused_name], field)
            for field in ("model", "api_base", "key_env")
        }
        if same == {field: fields[field].strip() for field in same}:
            connection.begin(store, existing[unused_name])
            return existing[unused_name]
        number += 1
        unused_name = f"{chosen_name} ({number})"
    judge = registry.save_judge(store, {**fields, **digits, "name": unused_name}).judge
    connection.begin(store, judge)
    return judge


def count_labelled(store: Store, dataset_version: int, rubric: Rubric) -> int:
    """Return how many texts have a label of the rubric that judges may learn from."""
    if not store.datasets.version(dataset_version).labelled and not store.settled.truth(
        dataset_version
    ):
        return 0
    return Candidates(store, dataset_version, rubric).teachers


def count_learnable(store: Store, dataset_version: int, rubric: Rubric) -> int:
    """Return how many labelled texts judges may learn from.

    It is 0 if all texts are labelled, but too few to both teach and test.
    """
    labels = count_labelled(store, dataset_version, rubric)
    too_few = labels < LEAST and labels == store.datasets.version(dataset_version).items
    return 0 if too_few else labels


def share_to_learn_from(store: Store, dataset_version: int, rubric: Rubric, panel: Panel) -> float:
    """Return the share of labelled texts that the panel's judges learn from: all, if there are
    few.
    """
    if not any(judge.learns for judge in panel.judges):
        return LABEL_SHARE
    texts = store.datasets.version(dataset_version).items
    return 1.0 if count_labelled(store, dataset_version, rubric) < min(FEW, texts) else LEARN_FROM
