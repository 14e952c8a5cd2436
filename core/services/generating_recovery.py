"""How often judges find the option that a generated submission was written for."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.panel import Asking, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import CellRow, RunRow
from core.errors import InputError
from core.metrics.estimate import Share
from core.services import clock, grading
from core.services.estimating import Estimate
from core.services.estimating import estimate as estimate_run
from core.services.planning import RunRequest
from core.services.preparing import resolved_items
from core.store.content import noun_hash
from core.store.store import Store

#: The name under which a run's plan remembers that it measures recovery.
DETAIL = "recovery"


@dataclass(frozen=True)
class Aimed:
    """Submissions written for one option (or between two): what judges chose, by label.

    ``unanswered`` have no verdict: judges abstained or failed.
    """

    aimed: tuple[str, ...]
    found: Share
    chosen: dict[str, int]
    unanswered: int

    @property
    def between(self) -> bool:
        """Whether they lie between two options; then either of the two counts as found."""
        return len(self.aimed) > 1


@dataclass(frozen=True)
class Recovery:
    """``whole`` is over submissions written for one option; ``labels`` are the criterion's."""

    criterion: str
    labels: tuple[str, ...]
    rows: tuple[Aimed, ...]
    whole: Share
    misses: tuple[str, ...]


def request(
    store: Store, dataset_version: int, criterion: Criterion, guidelines: str, panel: Panel
) -> RunRequest:
    """The run that asks a panel for this one criterion of generated submissions."""
    rubric = Rubric(name=criterion.name, guidelines=guidelines, criteria=(criterion,))
    same = store.rubrics.find_by_hash(noun_hash(rubric))
    version = same or store.rubrics.create(rubric, now=clock.now(), hidden=True)
    return RunRequest(
        rubric_version=version.id,
        dataset_version=dataset_version,
        panel=panel.model_copy(update={"asking": Asking(**{**dict(panel.asking), "few_shot": 0})}),
        name=f"Recovery: {criterion.name}"[:200],
        details={DETAIL: criterion.name},
    )


def estimate(store: Store, wanted: RunRequest) -> Estimate:
    """What that run will take."""
    return estimate_run(store, wanted)


def start(store: Store, wanted: RunRequest) -> int:
    """Start that run; returns its id."""
    return grading.start(store, wanted)


def latest_run(store: Store, dataset_version: int) -> RunRow | None:
    """The newest run that measured recovery on that dataset version."""
    rows = store.runs.list(detail=DETAIL, limit=200)
    return next((row for row in rows if row.dataset_version_id == dataset_version), None)


def recovery(store: Store, run_id: int) -> Recovery:
    """The figure of a run over generated submissions; ``InputError`` for any other run."""
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    aims = {item.id: aim for item in items if (aim := aimed_of(item)) is not None}
    names = {name for name, _ in aims.values()}
    criterion = next((c for c in rubric.criteria if c.name in names), None)
    if criterion is None:
        raise InputError("No item of this run was written for an option of its rubric.")
    mine = {id_: options for id_, (name, options) in aims.items() if name == criterion.name}
    cells = {c.item_id: c for c in store.results.all_cells(run_id, criterion.name)}
    return _recovery(criterion, mine, cells)


def aimed_of(item: Item) -> tuple[str, tuple[str, ...]] | None:
    """The criterion and the labels that an item was written for, or ``None``."""
    aim = item.meta.get("aimed")
    if not isinstance(aim, dict) or not isinstance(aim.get("options"), list):
        return None
    return str(aim.get("criterion", "")), tuple(str(one) for one in aim["options"])


def _recovery(
    criterion: Criterion, mine: dict[str, tuple[str, ...]], cells: dict[str, CellRow]
) -> Recovery:
    groups: dict[tuple[str, ...], list[str]] = {}
    for id_, options in mine.items():
        groups.setdefault(options, []).append(id_)
    labels = tuple(option.label for option in criterion.choices)
    verdicts = {id_: _label(criterion, cells.get(id_)) for id_ in mine}
    rows = tuple(_row(options, ids, verdicts) for options, ids in groups.items())
    single = [row.found for row in rows if not row.between]
    misses = tuple(
        id_
        for id_, options in mine.items()
        if verdicts[id_] is not None and verdicts[id_] not in options
    )
    whole = Share.of(sum(one.hits for one in single), sum(one.n for one in single))
    return Recovery(criterion.name, labels, rows, whole, misses)


def _label(criterion: Criterion, cell: CellRow | None) -> str | None:
    option = None if cell is None else cell.judged
    return None if option is None else criterion.choices[option].label


def _row(options: tuple[str, ...], ids: list[str], verdicts: dict[str, str | None]) -> Aimed:
    chosen: dict[str, int] = {}
    for id_ in ids:
        label = verdicts[id_]
        if label is not None:
            chosen[label] = chosen.get(label, 0) + 1
    n = sum(chosen.values())
    hits = sum(chosen.get(option, 0) for option in options)
    return Aimed(options, Share.of(hits, n), chosen, len(ids) - n)
