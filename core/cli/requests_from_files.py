"""Runs and contests as a terminal asks for them: requests made from files, estimates, progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core import clock
from core.domain.base import build, near
from core.domain.dataset import Dataset
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.folder import parse_data, read_dataset_file, read_rubric_file
from core.judging.asking.call_costs import price_of
from core.services.datasets.splits import twins_of
from core.services.judges.registry import OFFLINE_JUDGES
from core.services.pairwise.contests import ContestRequest, estimate_contest, plan
from core.services.pairwise.design import ContestQuestion, Design, free, of_criterion, overall
from core.services.runs.cost_estimate import estimate
from core.services.runs.lifecycle import RunProgress, lost_words
from core.services.runs.planning import RunRequest
from core.store.store import Store
from core.text.names import fold

# What the command line needs beyond the app's verbs: runs from files, and saying how one goes.


@dataclass(frozen=True)
class RunFileRequest:
    """A request made from files, with what the files' readers remarked."""

    request: RunRequest
    notices: tuple[Problem, ...]


def request_from_files(
    store: Store,
    rubric: Path,
    dataset: Path,
    *,
    panel: Path | None,
    judges: Sequence[str],
    api_base: str,
    key_env: str,
    concurrency: int | None,
    asking: Mapping[str, Any],
    changes: Sequence[str] = (),
    **options: Any,
) -> RunFileRequest:
    """A request for a rubric file, a dataset file and judges; saves both files' content.

    ``asking`` holds the settings of ``Asking`` that were given; ``None`` leaves the panel's own.
    ``changes`` say which column of the dataset is what, as ``submission=messages[-1].content``.
    """
    read_rubric = read_rubric_file(rubric)
    read_dataset = read_dataset_file(dataset, read_rubric.value, changes)
    who = _asked(panel_from(panel, judges, api_base, key_env, concurrency), asking)
    request = RunRequest(
        rubric_version=_rubric_version(store, read_rubric.value, str(rubric.name)),
        dataset_version=_dataset_version(store, read_dataset.value, str(dataset.name)),
        panel=who,
        **options,
    )
    return RunFileRequest(request, (*read_rubric.notices, *read_dataset.notices))


def panel_from(
    panel: Path | None,
    judges: Sequence[str],
    api_base: str,
    key_env: str,
    concurrency: int | None,
) -> Panel:
    """The panel of a file, or of model names; ``offline`` stands for the offline judges."""
    if panel is not None and judges:
        raise InputError("Both --panel and --judge are given. Use one of them.")
    if panel is not None:
        found = build(Panel, parse_data(panel), "panel", str(panel))
    elif judges:
        found = Panel(
            name=", ".join(judges),
            judges=tuple(j for name in judges for j in _judges(name, api_base, key_env)),
        )
    else:
        raise InputError(
            "Nobody is named to judge. Use --judge MODEL, --judge offline, or --panel FILE."
        )
    if concurrency is None:
        return found
    bounded = tuple(j.model_copy(update={"concurrency": concurrency}) for j in found.judges)
    return found.model_copy(update={"judges": bounded})


def _asked(panel: Panel, settings: Mapping[str, Any]) -> Panel:
    given = {name: value for name, value in settings.items() if value is not None}
    asking = build(Asking, {**panel.asking.model_dump(), **given}, "way of asking")
    return panel.model_copy(update={"asking": asking})


def _judges(name: str, api_base: str, key_env: str) -> tuple[Judge, ...]:
    if fold(name) == "offline":
        return OFFLINE_JUDGES
    data = {"name": name, "model": name, "api_base": api_base, "key_env": key_env}
    return (build(Judge, data, "judge"),)


def _rubric_version(store: Store, rubric: Rubric, source: str) -> int:
    """The version with this content; else a new one of the rubric of that name, or a new rubric."""
    for row in store.rubrics.list():
        if fold(row.name) == fold(rubric.name):
            note = f"from {source}"
            return store.rubrics.add_version(
                row.id, rubric, parent=row.number, now=clock.now(), note=note
            ).id
    return store.rubrics.create(rubric, now=clock.now(), note=f"from {source}").id


def _dataset_version(store: Store, dataset: Dataset, source: str) -> int:
    for row in store.datasets.list():
        if fold(row.name) == fold(dataset.name):
            return store.datasets.add_version(
                row.id, dataset, parent=row.number, now=clock.now(), source=source
            ).id
    return store.datasets.create(dataset, now=clock.now(), source=source).id


def unpriced(request: RunRequest) -> list[str]:
    """The judges whose calls the request's budget cannot count; none without a budget."""
    if request.budget is None:
        return []
    return [j.name for j in request.panel.judges if not j.offline and price_of(j) is None]


def estimate_figures(store: Store, request: RunRequest) -> dict[str, Any]:
    """The estimate as plain data."""
    found = estimate(store, request)
    return {
        "items": found.items,
        "calibration_items": found.calibration,
        "twins": found.twins.to_dict(),
        "twins_in_words": found.twins.in_words(),
        "votes": found.votes,
        "calls": found.calls,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "cost_usd": found.cost,
        "judges": [
            {
                "name": j.name,
                "votes": j.votes,
                "calls": j.calls,
                "tokens_in": j.tokens_in,
                "tokens_out": j.tokens_out,
                "cost_usd": j.cost,
            }
            for j in found.judges
        ],
    }


def twins_in_words(store: Store, run_id: int) -> str:
    """What is said of items that repeat the text of another; nothing where nobody learns."""
    return twins_of(store.runs.get(run_id).plan.calibration).in_words()


def progress_line(look: RunProgress) -> str:
    """One line on how far a run is."""
    row = look.row
    parts = [f"{look.settled}/{row.planned} votes ({look.share:.0%})"]
    if look.rate:
        parts.append(f"{look.rate:.0f}/s")
    if look.seconds_left is not None and look.share < 1:
        parts.append(f"{look.seconds_left:.0f} s left")
    if row.failures_open:
        parts.append(f"{row.failures_open} failed")
    if row.calls:
        parts.append("cost unknown" if row.cost_unknown else f"${row.cost:.4f}")
    if row.cached:
        parts.append(f"{row.cached} known already")
    return f"run {row.id}: " + ", ".join(parts)


def summary_as_text(figures: dict[str, Any]) -> str:
    """How a run ended, in a few lines."""
    cost = figures["cost_usd"]
    failed = ", ".join(f"{n} {kind}" for kind, n in figures["failures"].items())
    lines = [
        f"Run {figures['run']}: {_status(figures)}. {figures['votes']} of {figures['planned']} "
        f"votes ({figures['abstentions']} abstentions), {figures['calls']} calls{_known(figures)}, "
        f"{'cost unknown' if cost is None else f'${cost:.4f}'}, {figures['seconds']:.1f} s."
    ]
    if figures["lost_calls"]:
        lines.append(lost_words(figures["lost_calls"]))
    if failed:
        lines.append(f"Failed: {failed}. `rubric-studio retry {figures['run']}` asks them again.")
        lines += [f"  {kind}: {why}" for kind, why in figures["reasons"].items() if why]
    elif figures["status"] == "budget":
        lines.append(
            "Its budget is spent. Ask the same with a higher --budget and the --seed that "
            f"`rubric-studio show {figures['run']}` says: a new run pays only for what is left."
        )
    elif figures["status"] != "done":
        lines.append(f"`rubric-studio resume {figures['run']}` goes on with the rest.")
    lines.append(f"`rubric-studio show {figures['run']}` says more.")
    return "\n".join(lines)


def _status(figures: dict[str, Any]) -> str:
    done = figures["status"] == "done"
    return "incomplete" if done and not figures["complete"] else str(figures["status"])


def _known(figures: dict[str, Any]) -> str:
    """How many answers were kept from earlier runs, and what that saved where it is known."""
    if not figures["cached"]:
        return ""
    saved = figures["saved_usd"]
    return f" and {figures['cached']} answers from earlier runs" + (
        f" (saved ${saved:.4f})" if saved else ""
    )


# What the command line needs to hold a contest: a request made from files, and its estimate.


class ContestFileRequest(NamedTuple):
    """A request made from files, with what the readers and the joining remarked."""

    request: ContestRequest
    notices: tuple[str, ...]


def contest_from_files(
    store: Store,
    *,
    datasets: Sequence[Path],
    systems: Sequence[str],
    criteria: Sequence[str],
    rubric: Path | None,
    each: bool,
    join_by: str | None,
    design: Mapping[str, Any],
    panel: Path | None,
    judges: Sequence[str],
    api_base: str,
    key_env: str,
    concurrency: int | None,
    mode: str | None,
    cache: bool | None,
    **options: Any,
) -> ContestFileRequest:
    """A request for dataset files and judges. Files are kept as datasets of their content.

    ``design`` has the fields of ``Design``.
    """
    source = read_rubric_file(rubric).value if rubric else None
    read = [_dataset(path, source) for path in datasets]
    notices = [str(problem) for _, found in read for problem in found]
    who = panel_from(panel, judges, api_base, key_env, concurrency)
    given = {"mode": mode, "cache": cache}
    asking = build(
        Asking,
        {**who.asking.model_dump(), **{k: v for k, v in given.items() if v is not None}},
        "way of asking",
    )
    versions = tuple(
        store.datasets.create(dataset, now=clock.now(), source=path.name).id
        for path, (dataset, _) in zip(datasets, read, strict=True)
    )
    request = ContestRequest(
        datasets=versions,
        panel=who.model_copy(update={"asking": asking}),
        systems=_split(systems, [dataset for dataset, _ in read]),
        questions=questions_from(criteria, source, each),
        design=_design(design),
        guidelines=source.guidelines if source else "",
        join=join_by,
        **options,
    )
    return ContestFileRequest(request, (*notices, *plan(store, request).notices))


def questions_from(
    criteria: Sequence[str], rubric: Rubric | None, each: bool
) -> tuple[ContestQuestion, ...]:
    """The questions that words ask for: criteria of the rubric by name, or one's own words."""
    if each and rubric is None:
        raise InputError("--each asks the criteria of a rubric. Give one with --rubric FILE.")
    if each and rubric is not None and not criteria:
        return tuple(of_criterion(c) for c in rubric.criteria)
    if not criteria:
        return (overall(rubric),)
    known = {fold(c.name): c for c in rubric.criteria} if rubric else {}
    found = []
    for word in criteria:
        if fold(word) in known:
            found.append(of_criterion(known[fold(word)]))
        elif known and " " not in word.strip():
            names = {c.name for c in known.values()}
            mend = near(word, names) or f"There are {', '.join(sorted(names))}."
            problem = Problem(f"{word!r} is no criterion of {rubric and rubric.name!r}.", mend)
            raise InputError("A criterion is not there.", (problem,), "--criterion")
        else:
            found.append(free(word))
    return tuple(found)


def contest_estimate_figures(
    store: Store, request: ContestRequest, more_rounds: int, per_round: int
) -> dict[str, Any]:
    """The estimate as plain data; with further rounds ``calls_at_most`` holds them, too."""
    found = estimate_contest(store, request)
    made = plan(store, request)
    contests = len(made.bouts)
    share = found.calls / contests if contests else 0.0
    tasks = {task.id: task for task in made.joined.tasks}
    pairs = sum(len(t.answers) * (len(t.answers) - 1) // 2 for t in tasks.values())
    left = min(more_rounds * per_round, pairs - contests)
    return {
        "systems": list(made.joined.systems),
        "tasks": len(tasks),
        "contests": contests,
        "votes": found.votes,
        "calls": found.calls,
        "calls_at_most": found.calls + round(share * left),
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "cost_usd": found.cost,
    }


def estimate_line(figures: dict[str, Any]) -> str:
    """The estimate in one line."""
    cost = figures["cost_usd"]
    more = figures["calls_at_most"]
    return (
        f"{len(figures['systems'])} systems, {figures['tasks']} tasks, {figures['contests']} "
        f"contests: {figures['calls']} calls"
        + (f" ({more} at most with all rounds)" if more > figures["calls"] else "")
        + f", about {figures['tokens_in']:,} tokens in and {figures['tokens_out']:,} out, "
        + ("cost unknown" if cost is None else f"${cost:.4f}")
    )


def _dataset(path: Path, rubric: Rubric | None) -> tuple[Dataset, tuple[Problem, ...]]:
    read = read_dataset_file(path, rubric)
    unnamed = read.value.name == Dataset.model_fields["name"].default
    value = read.value.model_copy(update={"name": path.stem}) if unnamed else read.value
    return value, read.notices


def _split(systems: Sequence[str], datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Names as given; one that is no system but a list of them, with commas, is taken apart."""
    there = {item.system for dataset in datasets for item in dataset.items}
    there |= {dataset.name for dataset in datasets}
    found: list[str] = []
    for name in systems:
        parts = [part.strip() for part in name.split(",")]
        found += parts if name not in there and len(parts) > 1 else [name]
    return tuple(found)


def _design(words: Mapping[str, Any]) -> Design:
    if words["kind"] == "baseline" and not words["baseline"]:
        raise InputError("--design baseline needs to know whom all others meet: --baseline NAME.")
    return build(Design, words, "design")
