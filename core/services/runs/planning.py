"""Before a run: what it can be made of, what it will ask of whom, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from core.clock import draw_seed
from core.domain.base import build
from core.domain.dataset import Item
from core.domain.library import (
    DatasetRow,
    DatasetVersion,
    JudgeRow,
    PanelRow,
    RubricRow,
    RubricVersionInfo,
)
from core.domain.panel import Judge, Panel
from core.domain.rubric import SCALES, Rubric, Scale
from core.domain.runs import RunKind, RunPlan
from core.domain.secrets import variables
from core.errors import InputError, Problem
from core.identity import seeded
from core.services.access.allowing import allowed
from core.services.datasets.twins import Twins, apart, apart_texts, whole_groups
from core.services.judges.panel_setup import PanelSetup, panel_data
from core.services.judges.registry import ensure_defaults, env_status, key_status
from core.services.results.scored_items import effective
from core.services.results.verdicts import answers_per_cell
from core.services.runs.batches.lanes import BATCH, require_batches
from core.services.runs.candidates import Candidate, Candidates
from core.store.store import Store
from core.text.numbers import plural

LABEL_SHARE = 0.2


@dataclass(frozen=True)
class RunRequest:
    """What a person asks for. ``seed=None`` draws one; ``items=None`` means all items.

    ``limit`` keeps so many of the items that would be graded: the first, or with ``drawn`` those
    that the seed draws, so that a small run says something about the whole dataset.

    ``label_share`` is the share of labelled items that offline judges learn from, where the
    dataset does not mark a calibration part itself; twins (items of the same text) stay together.
    ``learn_from`` is another dataset version to learn from, for spot checks. ``learn_items`` names
    the items to learn from instead of a share, so that several runs can share them; ``details`` is
    remembered with the plan. ``batch``: models are asked through their providers' batch interface,
    for half the price and with answers within a day.
    """

    rubric_version: int
    dataset_version: int
    panel: Panel
    name: str = ""
    seed: int | None = None
    replicates: int = 1
    budget: float | None = None
    label_share: float = LABEL_SHARE
    items: tuple[str, ...] | None = None
    limit: int | None = None
    drawn: bool = False
    learn_from: int | None = None
    kind: RunKind = "run"
    learn_items: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    batch: bool = False


@dataclass(frozen=True)
class Planned:
    """A plan with the items to grade and those to learn from."""

    plan: RunPlan
    rubric: Rubric
    items: tuple[Item, ...]
    calibration: tuple[Item, ...]
    twins: Twins = field(default_factory=Twins)

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Item ids with the number of votes planned for each."""
        per_criterion = answers_per_cell(self.plan.panel, self.plan.replicates)
        return [(i.id, len(effective(i, self.rubric).criteria) * per_criterion) for i in self.items]


def plan_run(store: Store, request: RunRequest) -> Planned:
    """The plan for a request; an ``InputError`` says why there can be none."""
    found = outline(store, request)
    items = found.pool.read([one.id for one in found.graded])
    return Planned(found.plan, found.rubric, items, found.calibration(), found.taught.twins)


@dataclass(frozen=True)
class Outline:
    """A plan with who is graded and who teaches, before their texts are read."""

    plan: RunPlan
    rubric: Rubric
    pool: Candidates
    graded: tuple[Candidate, ...]
    taught: Taught

    def calibration(self, most: int | None = None) -> tuple[Item, ...]:
        """The items to learn from, or about so many of them, evenly."""
        pool, items = self.taught.pool, self.taught.items
        step = 1 if most is None else max(1, len(items) // most)
        return () if pool is None else pool.read([one.id for one in items[::step]])


def outline(store: Store, request: RunRequest) -> Outline:
    """The plan for a request, as ``plan_run`` makes it."""
    rubric = store.rubrics.version(request.rubric_version).rubric
    head = store.datasets.version(request.dataset_version)
    # Taken first: what is settled while we plan is not known to this run.
    known = store.settled.last_event()
    _refuse_imported(request.panel)
    _refuse_strange_checks(request.panel, rubric)
    if request.batch:
        require_batches(request.panel)
    pool = Candidates(store, head.id, rubric, upto=known)
    everything = pool.everyone
    seed = draw_seed() if request.seed is None else request.seed
    learned_from = request.learn_from or head.id
    same, taught = learned_from == head.id, Taught()
    if _teaches(request):
        teaching = pool if same else Candidates(store, learned_from, rubric, upto=known)
        taught = _taught(teaching, _wanted(everything, request), pool, request, seed)
    held_out = taught.held_out if same else frozenset()
    items = _to_grade([i for i in everything if i.id not in held_out], request, seed)
    plan = RunPlan(
        name=request.name or f"{rubric.name} on {head.name}",
        rubric_version_id=request.rubric_version,
        dataset_version_id=head.id,
        panel=request.panel,
        kind=request.kind,
        seed=seed,
        replicates=request.replicates,
        budget=request.budget,
        calibration=_remembered(learned_from, taught),
        versions=versions(request.panel),
        details={
            **request.details,
            **({"truth_upto": known} if known else {}),
            **({BATCH: True} if request.batch else {}),
        },
    )
    return Outline(plan, rubric, pool, items, taught)


class Taught(NamedTuple):
    """The items that teach, of ``pool``, those of their dataset that are not graded, and twins."""

    items: tuple[Candidate, ...] = ()
    held_out: frozenset[str] = frozenset()
    twins: Twins = Twins()
    pool: Candidates | None = None


def _remembered(version: int, taught: Taught) -> dict[str, Any]:
    """What a plan keeps of who taught."""
    if not taught.items:
        return {}
    twins = {"twins": taught.twins.to_dict()} if taught.twins else {}
    return {"dataset_version": version, "items": [i.id for i in taught.items], **twins}


def _refuse_imported(panel: Panel) -> None:
    imported = [judge.name for judge in panel.judges if not judge.askable]
    if imported:
        raise InputError(
            f"{', '.join(imported[:5])}: imported with votes, and cannot be asked here. Choose "
            "models, or offline judges."
        )


def _refuse_strange_checks(panel: Panel, rubric: Rubric) -> None:
    """Checks that answer no criterion of the rubric, or with what is none of its options."""
    problems = list[Problem]()
    for judge in panel.judges:
        known = [criterion for criterion in rubric.criteria if criterion.name in judge.checks]
        if judge.checks and not known:
            names = ", ".join(criterion.name for criterion in rubric.criteria)
            own = (judge.name, "checks")
            problems.append(Problem("has no check for this rubric.", f"Use {names}.", own))
        for criterion in known:
            for label in judge.checks[criterion.name].labels:
                if criterion.index_of(label) is None:
                    options = ", ".join(option.label for option in criterion.choices)
                    path = (judge.name, "checks", criterion.name)
                    problems.append(Problem(f"answers {label!r}.", f"Use one of {options}.", path))
    if problems:
        raise InputError("These checks do not fit the rubric.", tuple(problems))


def _learners(request: RunRequest) -> list[str]:
    return [judge.name for judge in request.panel.judges if judge.learns]


def _teaches(request: RunRequest) -> bool:
    """Whether a judge learns from labels, or is shown examples of them."""
    judges = request.panel.judges
    shown = bool(request.panel.asking.few_shot) and not all(judge.offline for judge in judges)
    return shown or bool(_learners(request))


def _taught(
    teaching: Candidates,
    wanted: Sequence[Candidate],
    graded: Candidates,
    request: RunRequest,
    seed: int,
) -> Taught:
    """The labelled items that teach, at least one; ``wanted`` are those that may be graded. None
    that teaches an offline judge has a twin that is graded. What a dataset marks as its calibration
    part is not graded, even if it does not teach.
    """
    pool, same = teaching.everyone, teaching is graded
    if request.kind == "spot" and request.items is not None:
        # One item is asked about, so all other labelled ones may teach.
        pool = [one for one in pool if one.id not in request.items]
    learners = ", ".join(_learners(request))
    found = _may_teach(pool, request)
    if not found:
        raise InputError(_NO_LABELS.format(names=learners) if learners else _NO_EXAMPLES)
    if same:
        groups, repeated = apart(found, wanted, teaching.twins, strict=bool(learners))
    else:
        texts = teaching.read([i.id for i in found]), graded.read([i.id for i in wanted])
        groups, repeated = apart_texts(found, *texts, strict=bool(learners))
    if not groups:
        raise InputError(_ALL_TWINS.format(count=plural(len(found), "labelled item")))
    drawn = not (_marked(found) or request.learn_items is not None)
    chosen = {i.id for i in _drawn(groups, request.label_share, seed, drawn=drawn)}
    held_out = chosen | ({i.id for i in found} if _marked(found) else set())
    items = tuple(i for i in found if i.id in chosen)
    return Taught(items, frozenset(held_out), repeated, teaching)


def _wanted(items: Sequence[Candidate], request: RunRequest) -> list[Candidate]:
    """The items that may be graded, were none learned from."""
    wanted = None if request.items is None else set(request.items)
    return [i for i in items if wanted is None or i.id in wanted]


def _to_grade(free: Sequence[Candidate], request: RunRequest, seed: int) -> tuple[Candidate, ...]:
    items = limited(_wanted(free, request), request, seed)
    texts = tuple(item for item in items if item.text)
    if items and not texts:
        raise InputError(
            f"None of the {len(items)} items has a text to judge: this dataset holds labels and "
            "votes only. Choose a dataset with submissions."
        )
    if not texts:
        raise InputError(
            "There is nothing to grade: the judges would learn from every chosen item. "
            "Choose other items or a smaller label share."
        )
    return texts


def _may_teach(pool: Sequence[Candidate], request: RunRequest) -> tuple[Candidate, ...]:
    """Those that the request names; else those that the dataset marks as its calibration part, if
    any are labelled; else all labelled ones that it does not mark.
    """
    found = teachers(pool)
    if request.learn_items is not None:
        named = set(request.learn_items)
        return tuple(i for i in found if i.id in named)
    return tuple(i for i in found if i.split == "calibration") or found


def _marked(found: Sequence[Candidate]) -> bool:
    return found[0].split == "calibration"


def _drawn(
    groups: Sequence[list[Candidate]], share: float, seed: int, *, drawn: bool
) -> Iterable[Candidate]:
    """All of the groups' items, or a share of them drawn by the seed, twins together."""
    everyone = [item for group in groups for item in group]
    if not drawn:
        return everyone
    count = max(1, round(share * len(everyone)))
    return whole_groups(groups, count, seeded("calibration", seed))


def teachers(items: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The items that may be learned from: labelled, and not marked for evaluation."""
    return tuple(i for i in items if i.teaches and i.split != "evaluation")


def limited(items: Sequence[Candidate], request: RunRequest, seed: int) -> tuple[Candidate, ...]:
    """Those of the items that the request's limit keeps, in their order."""
    if request.limit is None or request.limit >= len(items):
        return tuple(items)
    if not request.drawn:
        return tuple(items[: request.limit])
    chosen = {i.id for i in seeded("items", seed).sample(items, request.limit)}
    return tuple(i for i in items if i.id in chosen)


_NO_LABELS = (
    "The offline judges ({names}) learn from labelled items, and there are none whose labels fit "
    "this rubric. Label some items, choose a labelled dataset, or use a model as the judge."
)


_ALL_TWINS = (
    "The {count} that may be learned from all have the text of an item that is graded: judges "
    "would know its label beforehand. Label other texts, or choose fewer items to grade."
)


_NO_EXAMPLES = (
    "Few-shot examples are drawn from labelled items, and there are none whose labels fit this "
    "rubric. Label some items, choose a labelled dataset, or set few-shot to 0."
)


def versions(panel: Panel) -> dict[str, str]:
    """What ran: this program, the prompt, and the libraries that shape these judges' answers."""
    from core.judging.prompts.wording import PROMPT_VERSION

    names = ["rubric-studio"]
    if any(judge.learns for judge in panel.judges):
        names += ["scikit-learn", "numpy", "scipy"]
    if any(not judge.offline for judge in panel.judges):
        names += ["litellm", "aiohttp"]
    return {"prompt": PROMPT_VERSION, **{name: _version(name) for name in names}}


_version = cache(metadata.version)  # it reads files, and a form plans anew on every rerun


@dataclass(frozen=True)
class RunChoices:
    """Everything in use, newest first where there is an order; nothing archived."""

    rubrics: tuple[RubricRow, ...]
    datasets: tuple[DatasetRow, ...]
    panels: tuple[PanelRow, ...]
    judges: tuple[JudgeRow, ...]


@allowed("read")
def choices(store: Store) -> RunChoices:
    """What there is to choose from."""
    ensure_defaults(store)
    return RunChoices(
        tuple(store.rubrics.list()),
        tuple(store.datasets.list()),
        tuple(store.panels.list()),
        tuple(sorted(store.judges.list(), key=lambda row: row.judge.offline)),
    )


def rubric_versions(store: Store, rubric_id: int) -> list[RubricVersionInfo]:
    """The versions of a rubric, newest first."""
    return store.rubrics.versions(rubric_id)


def dataset_versions(store: Store, dataset_id: int) -> list[DatasetVersion]:
    """The versions of a dataset, newest first."""
    return store.datasets.versions(dataset_id)


def rubric_at(store: Store, version_id: int) -> Rubric:
    """One version of a rubric."""
    return store.rubrics.version(version_id).rubric


def scales_of(rubric: Rubric) -> list[Scale]:
    """The scales whose votes the panel's rules settle: those of criteria without an own rule."""
    used = {c.scale for c in rubric.criteria if c.aggregation is None}
    return [scale for scale in SCALES if scale in used]


def panel_of(
    name: str, judges: Sequence[Judge], rules: Mapping[Scale, str], setup: PanelSetup | None = None
) -> Panel:
    """A panel as chosen for one run. Raises ``InputError``, e.g. where nobody judges."""
    return build(Panel, panel_data(name, judges, rules, setup or PanelSetup()), "panel")


def missing_keys(judges: Sequence[Judge]) -> list[tuple[str, str]]:
    """Judges whose key, or another value, is not in the environment: (judge, the variable)."""
    found = [(judge.name, *key_status(judge)) for judge in judges]
    missing = [(name, variable) for name, variable, status in found if status == "not set"]
    return missing + [
        (judge.name, variable)
        for judge in judges
        for variable, there in env_status(variables(judge.params)).items()
        if not there
    ]
