"""Plan a run: its choices, the items to grade, and the items to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from core.clock import draw_seed
from core.domain.base import build_model
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
from core.domain.secrets import variable_names
from core.errors import InputError, Problem
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.datasets.twins import RepeatedTexts, group_texts_apart, twin_groups, whole_groups
from core.services.judges.panel_setup import PanelSetup, panel_data
from core.services.judges.registry import ensure_defaults, env_status, key_status
from core.services.results.scored_items import rubric_in_force
from core.services.results.verdicts import answers_per_cell
from core.services.runs.batches.lanes import BATCH, require_batches
from core.services.runs.candidates import Candidate, Candidates
from core.store.store import Store
from core.text.numbers import plural

LABEL_SHARE = 0.2


@dataclass(frozen=True)
class RunRequest:
    """The settings of a new run. ``seed=None`` draws a seed; ``items=None`` means all items.

    ``limit`` keeps this many of the items to grade: the first ones or, if ``drawn``, a sample by
    the seed, which represents the whole dataset.

    ``label_share`` is the share of labelled items that offline judges learn from, unless the
    dataset marks a calibration split. Items of the same text (twins) stay together. ``learn_from``
    is another dataset version to learn from, for spot checks. ``learn_items`` names the items to
    learn from instead of a share, so that several runs can share them. The plan keeps ``details``.
    ``batch``: models run through their providers' batch interface (half price, within a day).
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
    twins: RepeatedTexts = field(default_factory=RepeatedTexts)

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Return item ids with the number of votes planned for each."""
        answers = answers_per_cell(self.plan.panel, self.plan.replicates)
        return [(i.id, len(rubric_in_force(i, self.rubric).criteria) * answers) for i in self.items]


def plan_run(store: Store, request: RunRequest) -> Planned:
    """Return the plan for a request; raise ``InputError`` if the request is invalid."""
    plan = outline_run(store, request)
    items = plan.pool.read([candidate.id for candidate in plan.graded])
    return Planned(plan.plan, plan.rubric, items, plan.calibration(), plan.twins)


@dataclass(frozen=True)
class Outline:
    """A plan with the items to grade and to learn from, before their texts are read."""

    plan: RunPlan
    rubric: Rubric
    pool: Candidates
    graded: tuple[Candidate, ...]
    teaching: Candidates
    taught: tuple[Candidate, ...]
    twins: RepeatedTexts

    def calibration(self, most: int | None = None) -> tuple[Item, ...]:
        """Return the items to learn from; with ``most``, about that many, evenly spread."""
        step = 1 if most is None else max(1, len(self.taught) // most)
        return self.teaching.read([candidate.id for candidate in self.taught[::step]])


def outline_run(store: Store, request: RunRequest) -> Outline:
    """Return the same plan as ``plan_run``, without the items' texts."""
    rubric = store.rubrics.version(request.rubric_version).rubric
    head = store.datasets.version(request.dataset_version)
    # Read before planning, so that verdicts that are settled during planning are not part of this
    # run.
    last_event = store.settled.last_event()
    _refuse_imported(request.panel)
    _refuse_strange_checks(request.panel, rubric)
    if request.batch:
        require_batches(request.panel)
    pool = Candidates(store, head.id, rubric, upto=last_event)
    everything = pool.everyone
    seed = draw_seed() if request.seed is None else request.seed
    learned_from = request.learn_from or head.id
    teaching, taught, twins = pool, tuple[Candidate, ...](), RepeatedTexts()
    if _needs_teaching(request):
        if learned_from != head.id:
            teaching = Candidates(store, learned_from, rubric, upto=last_event)
        to_grade = _gradable_items(everything, request)
        taught, held_out, twins = _taught_items(teaching, to_grade, pool, request, seed)
        if teaching is pool:
            everything = [candidate for candidate in everything if candidate.id not in held_out]
    items = _to_grade(everything, request, seed)
    plan = RunPlan(
        name=request.name or " on ".join(dict.fromkeys((rubric.name, head.name))),
        rubric_version_id=request.rubric_version,
        dataset_version_id=head.id,
        panel=request.panel,
        kind=request.kind,
        seed=seed,
        replicates=request.replicates,
        budget=request.budget,
        calibration=_teaching_record(learned_from, taught, twins),
        versions=program_versions(request.panel),
        details={
            **request.details,
            **({"truth_upto": last_event} if last_event else {}),
            **({BATCH: True} if request.batch else {}),
        },
    )
    return Outline(plan, rubric, pool, items, teaching, taught, twins)


def _teaching_record(
    version: int, taught: Sequence[Candidate], twins: RepeatedTexts
) -> dict[str, Any]:
    """Return what the plan records about the items learned from."""
    if not taught:
        return {}
    repeated = {"twins": twins.to_dict()} if twins else {}
    return {"dataset_version": version, "items": [i.id for i in taught], **repeated}


def _refuse_imported(panel: Panel) -> None:
    imported = [judge.name for judge in panel.judges if not judge.askable]
    if imported:
        raise InputError(
            f"{', '.join(imported[:5])}: imported with votes, and cannot be asked here. Choose "
            "models, or offline judges."
        )


def _refuse_strange_checks(panel: Panel, rubric: Rubric) -> None:
    """Raise ``InputError`` if a check names no criterion of the rubric, or none of its options."""
    problems = list[Problem]()
    for judge in panel.judges:
        checked = [criterion for criterion in rubric.criteria if criterion.name in judge.checks]
        if judge.checks and not checked:
            names = ", ".join(criterion.name for criterion in rubric.criteria)
            field = (judge.name, "checks")
            problems.append(Problem("has no check for this rubric.", f"Use {names}.", field))
        for criterion in checked:
            for label in judge.checks[criterion.name].labels:
                if criterion.index_of(label) is None:
                    options = ", ".join(option.label for option in criterion.choices)
                    path = (judge.name, "checks", criterion.name)
                    problems.append(Problem(f"answers {label!r}.", f"Use one of {options}.", path))
    if problems:
        raise InputError("These checks do not fit the rubric.", tuple(problems))


def _learning_judges(request: RunRequest) -> list[str]:
    return [judge.name for judge in request.panel.judges if judge.learns]


def _needs_teaching(request: RunRequest) -> bool:
    """Return whether a judge learns from labels, or is shown labelled examples."""
    judges = request.panel.judges
    shown = bool(request.panel.asking.few_shot) and not all(judge.offline for judge in judges)
    return shown or bool(_learning_judges(request))


def _taught_items(
    teaching: Candidates,
    to_grade: Sequence[Candidate],
    graded: Candidates,
    request: RunRequest,
    seed: int,
) -> tuple[tuple[Candidate, ...], set[str], RepeatedTexts]:
    """Return the labelled items to learn from, at least one, the ids of all ungraded items of their
    dataset, and the numbers of twins; ``to_grade`` are the items to grade.

    An offline judge does not learn from a twin of a graded item. The calibration split of a dataset
    is not graded, even if no judge learns from it.
    """
    pool, same = teaching.everyone, teaching is graded
    if request.kind == "spot" and request.items is not None:
        # Only the named items are graded, so judges may learn from all other labelled items.
        pool = [candidate for candidate in pool if candidate.id not in request.items]
    learners = ", ".join(_learning_judges(request))
    labelled = _may_teach(pool, request)
    if not labelled:
        raise InputError(_NO_LABELS.format(names=learners) if learners else _NO_EXAMPLES)
    if same:
        groups, repeated = twin_groups(labelled, to_grade, teaching.twins, strict=bool(learners))
    else:
        texts = teaching.read([i.id for i in labelled]), graded.read([i.id for i in to_grade])
        groups, repeated = group_texts_apart(labelled, *texts, strict=bool(learners))
    if not groups:
        raise InputError(_ALL_TWINS.format(count=plural(len(labelled), "labelled item")))
    drawn = not (_has_labels(labelled) or request.learn_items is not None)
    chosen = {i.id for i in _draw_share(groups, request.label_share, seed, at_random=drawn)}
    held_out = chosen | ({i.id for i in labelled} if _has_labels(labelled) else set())
    items = tuple(i for i in labelled if i.id in chosen)
    return items, held_out, repeated


def _gradable_items(items: Sequence[Candidate], request: RunRequest) -> list[Candidate]:
    """Return the items that may be graded, before those learned from are removed."""
    ids = None if request.items is None else set(request.items)
    return [i for i in items if ids is None or i.id in ids]


def _to_grade(pool: Sequence[Candidate], request: RunRequest, seed: int) -> tuple[Candidate, ...]:
    items = take_items(_gradable_items(pool, request), request, seed)
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
    """Return the request's labelled items, else the calibration split's, else all labelled ones."""
    labelled = teaching_candidates(pool)
    if request.learn_items is not None:
        named = set(request.learn_items)
        return tuple(i for i in labelled if i.id in named)
    return tuple(i for i in labelled if i.split == "calibration") or labelled


def _has_labels(labelled: Sequence[Candidate]) -> bool:
    return labelled[0].split == "calibration"


def _draw_share(
    groups: Sequence[list[Candidate]], share: float, seed: int, *, at_random: bool
) -> Iterable[Candidate]:
    """Return all of the groups' items, or a share drawn by the seed that keeps twins together."""
    everyone = [item for group in groups for item in group]
    if not at_random:
        return everyone
    count = max(1, round(share * len(everyone)))
    return whole_groups(groups, count, seeded_random("calibration", seed))


def teaching_candidates(items: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the items to learn from: labelled, and not in the evaluation split."""
    return tuple(i for i in items if i.teaches and i.split != "evaluation")


def take_items(items: Sequence[Candidate], request: RunRequest, seed: int) -> tuple[Candidate, ...]:
    """Return the items that the request's limit keeps, in dataset order."""
    if request.limit is None or request.limit >= len(items):
        return tuple(items)
    if not request.drawn:
        return tuple(items[: request.limit])
    chosen = {i.id for i in seeded_random("items", seed).sample(items, request.limit)}
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


def program_versions(panel: Panel) -> dict[str, str]:
    """Return the versions of this program, its prompt, and the libraries that affect answers."""
    from core.judging.prompts.wording import PROMPT_VERSION

    names = ["rubric-studio"]
    if any(judge.learns for judge in panel.judges):
        names += ["scikit-learn", "numpy", "scipy"]
    if any(not judge.offline for judge in panel.judges):
        names += ["litellm", "aiohttp"]
    return {"prompt": PROMPT_VERSION, **{name: _version(name) for name in names}}


# Reading a version opens files, and a form plans again on every rerun.
_version = cache(metadata.version)


@dataclass(frozen=True)
class RunChoices:
    """Everything that is not archived; lists with an order have the newest first."""

    rubrics: tuple[RubricRow, ...]
    datasets: tuple[DatasetRow, ...]
    panels: tuple[PanelRow, ...]
    judges: tuple[JudgeRow, ...]


@allowed("read")
def choices(store: Store) -> RunChoices:
    """Return what a new run may choose from."""
    ensure_defaults(store)
    return RunChoices(
        tuple(store.rubrics.list()),
        tuple(store.datasets.list()),
        tuple(store.panels.list()),
        tuple(sorted(store.judges.list(), key=lambda row: row.judge.offline)),
    )


def rubric_versions(store: Store, rubric_id: int) -> list[RubricVersionInfo]:
    """Return the versions of a rubric, newest first."""
    return store.rubrics.versions(rubric_id)


def dataset_versions(store: Store, dataset_id: int) -> list[DatasetVersion]:
    """Return the versions of a dataset, newest first."""
    return store.datasets.versions(dataset_id)


def rubric_at(store: Store, version_id: int) -> Rubric:
    """Return one version of a rubric."""
    return store.rubrics.version(version_id).rubric


def scales_of(rubric: Rubric) -> list[Scale]:
    """Return the scales that need the panel's rules: scales of criteria without their own rule."""
    used = {c.scale for c in rubric.criteria if c.aggregation is None}
    return [scale for scale in SCALES if scale in used]


def panel_of(
    name: str, judges: Sequence[Judge], rules: Mapping[Scale, str], setup: PanelSetup | None = None
) -> Panel:
    """Return a panel for one run. Raise ``InputError`` if it is invalid, e.g. has no judges."""
    return build_model(Panel, panel_data(name, judges, rules, setup or PanelSetup()), "panel")


def missing_keys(judges: Sequence[Judge]) -> list[tuple[str, str]]:
    """Return (judge, variable) for each key or value missing from the environment."""
    keys = [(judge.name, *key_status(judge)) for judge in judges]
    missing = [(name, variable) for name, variable, status in keys if status == "not set"]
    return missing + [
        (judge.name, variable)
        for judge in judges
        for variable, present in env_status(variable_names(judge.params)).items()
        if not present
    ]
