"""Who judges on the path: what was used last, else offline judges where there are labels.

A model is added with what it needs and no more; everything else of a judge has its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.judges import connection, registry
from core.services.judges.registry import JudgeEntry
from core.services.reports import worked_example
from core.services.runs.candidates import Candidates
from core.services.runs.planning import LABEL_SHARE, RunChoices
from core.store.store import Store

#: The share of labelled texts that offline judges learn from on the path: most of them, so that
#: they learn something, and the rest is graded to show how well.
LEARN_FROM = 0.75
#: With fewer labels all teach, because a part of so few shows nothing.
FEW = 40
#: The detail of runs that try a few texts before all are graded.
TRY = "try"
#: So many of the newest runs are looked at for who judged last.
LOOKED_AT = 50

Why = Literal["last", "labels", "model", ""]


@dataclass(frozen=True)
class JudgeChoice:
    """Who can be asked, and who is proposed; ``why`` says how they were found."""

    known: tuple[JudgeEntry, ...]
    proposed: tuple[str, ...]
    why: Why

    @property
    def by_name(self) -> dict[str, JudgeEntry]:
        """The judges by their names."""
        return {entry.name: entry for entry in self.known}

    @property
    def models(self) -> bool:
        """Whether there is a model among them."""
        return any(entry.judge.kind == "llm" for entry in self.known)


@allowed("read")
def judges(store: Store, labelled: int) -> JudgeChoice:
    """Who can be asked about texts of which so many have fitting labels.

    Without labels those that learn from them are not among the known: they would have nothing to
    learn from.
    """
    registry.ensure_defaults(store)
    askable = (e for e in registry.list_judges(store) if e.judge.askable)
    known = tuple(e for e in askable if labelled or not e.judge.learns)
    able = {e.name for e in known}
    last = last_panel(store)
    names = tuple(judge.name for judge in last.judges) if last is not None else ()
    if names and set(names) <= able:
        return JudgeChoice(known, names, "last")
    if labelled:
        learners = tuple(e.name for e in known if e.judge.learns)
        if learners:
            return JudgeChoice(known, learners, "labels")
    ready = [entry.name for entry in known if entry.ready_model]
    return JudgeChoice(known, tuple(ready[:1]), "model" if ready else "")


@allowed("read")
def learners(store: Store) -> list[str]:
    """Return the names of the judges that learn from labels."""
    registry.ensure_defaults(store)
    return [entry.name for entry in registry.list_judges(store) if entry.judge.learns]


class Proposal(NamedTuple):
    """Who is proposed where a run is planned: a saved panel by its id, or judges by their names."""

    panel: int | None
    judges: tuple[str, ...]


@allowed("read")
def planned(store: Store, found: RunChoices, labelled: int) -> Proposal:
    """Who judged last, else a saved panel, else who can judge so many labelled items."""
    choice, known = judges(store, labelled), {one.name for one in found.judges}
    names = choice.proposed if set(choice.proposed) <= known else ()
    panels = {one.id: {judge.name for judge in one.panel.judges} for one in found.panels}
    # Whoever saved a panel means to use it; the one of offline judges is there from the start.
    made = [one.id for one in found.panels if not all(j.learns for j in one.panel.judges)]
    same = [one for one, seats in panels.items() if seats == set(names)]
    return Proposal(next(iter(same if choice.why == "last" or not made else made), None), names)


def last_panel(store: Store) -> Panel | None:
    """The panel of the newest run that somebody had graded here; the worked example is nobody's."""
    example = worked_example.example_run(store)
    for row in store.runs.list(kind="run", limit=LOOKED_AT):
        if row.id != example and row.panel.askable and not _is_trial(store, row.id):
            return row.panel
    return None


def _is_trial(store: Store, run_id: int) -> bool:
    return bool(store.runs.get(run_id).plan.details.get(TRY))


def panel_of(store: Store, names: Sequence[str]) -> Panel:
    """The judges of these names as a panel: set up as they last were together, or as saved.

    Raises:
        InputError: nobody is named.
    """
    if not names:
        raise InputError("Nobody judges yet. Choose a judge, or add a model.")
    now = {entry.name: entry.judge for entry in registry.list_judges(store)}
    last = last_panel(store)
    saved = [row.panel for row in registry.list_panels(store)]
    for panel in [last, *saved] if last is not None else saved:
        if {judge.name for judge in panel.judges} == set(names):
            # As the judges are now, in the seats that they have in it.
            seats = [
                now.get(seat.name, seat).model_copy(
                    update={"stage": seat.stage, "shadow": seat.shadow}
                )
                for seat in panel.judges
            ]
            return panel.model_copy(update={"judges": tuple(seats)})
    return Panel(name=" and ".join(names)[:200], judges=tuple(now[name] for name in names))


@allowed("set judges")
def add_model(store: Store, model: str, api_base: str, key_env: str, name: str = "") -> Judge:
    """Keep a model as a judge and begin to test it; one with the same settings is kept once.

    Raises:
        InputError: what was given is no judge. It never repeats a value that could be a key.
    """
    given = {"kind": "llm", "model": model, "api_base": api_base, "key_env": key_env}
    taken = {entry.name: entry.judge for entry in registry.list_judges(store)}
    wanted = " ".join(name.split()) or model.strip().rpartition("/")[2] or model.strip()
    free, number = wanted, 1
    while free in taken:
        same = {field: getattr(taken[free], field) for field in ("model", "api_base", "key_env")}
        if same == {field: given[field].strip() for field in same}:
            connection.begin(store, taken[free])
            return taken[free]
        number += 1
        free = f"{wanted} ({number})"
    judge = registry.save_judge(store, {**given, "name": free}).judge
    connection.begin(store, judge)
    return judge


def labelled(store: Store, dataset_version: int, rubric: Rubric) -> int:
    """How many texts have a label that fits the rubric and may be learned from."""
    if not store.datasets.version(dataset_version).labelled:
        return 0
    return Candidates(store, dataset_version, rubric).teachers


def share(store: Store, dataset_version: int, rubric: Rubric, panel: Panel) -> float:
    """The share of labelled texts that the panel's judges learn from: with few labels, all."""
    if not any(judge.learns for judge in panel.judges):
        return LABEL_SHARE
    texts = store.datasets.version(dataset_version).items
    return 1.0 if labelled(store, dataset_version, rubric) < min(FEW, texts) else LEARN_FROM
