"""Contests for the command line: build a request from files, and estimate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core import clock
from core.cli.requests_from_files import panel_from
from core.domain.base import build_model, hint_for
from core.domain.dataset import Dataset
from core.domain.panel import Asking
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.folder import read_rubric_file
from core.formats.votes.tools.known_tools import read_items_file
from core.services.pairwise.contests import ContestRequest, estimate_contest, plan_contest
from core.services.pairwise.design import (
    ContestQuestion,
    Design,
    free_question,
    overall_question,
    question_of_criterion,
)
from core.store.store import Store
from core.text.names import fold


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
) -> tuple[ContestRequest, tuple[str, ...]]:
    """Return a request for dataset files and judges, with the remarks of file readers and of the
    join; saves the files' content as datasets.

    ``design`` has the fields of ``Design``.
    """
    source = read_rubric_file(rubric).value if rubric else None
    loaded = [_read_dataset(path, source) for path in datasets]
    notices = [str(problem) for _, problems in loaded for problem in problems]
    panel_read = panel_from(panel, judges, api_base, key_env, concurrency)
    settings = {"mode": mode, "cache": cache}
    asking = build_model(
        Asking,
        {**panel_read.asking.model_dump(), **{k: v for k, v in settings.items() if v is not None}},
        "way of asking",
    )
    versions = tuple(
        store.datasets.create(dataset, now=clock.now(), source=path.name).id
        for path, (dataset, _) in zip(datasets, loaded, strict=True)
    )
    request = ContestRequest(
        datasets=versions,
        panel=panel_read.model_copy(update={"asking": asking}),
        systems=_system_names(systems, [dataset for dataset, _ in loaded]),
        questions=questions_from(criteria, source, each),
        design=_contest_design(design),
        guidelines=source.guidelines if source else "",
        join=join_by,
        **options,
    )
    return request, (*notices, *plan_contest(store, request).notices)


def questions_from(
    criteria: Sequence[str], rubric: Rubric | None, each: bool
) -> tuple[ContestQuestion, ...]:
    """Return the questions of a request: criteria of the rubric by name, or free text."""
    if each and rubric is None:
        raise InputError("--each asks the criteria of a rubric. Give one with --rubric FILE.")
    if each and rubric is not None and not criteria:
        return tuple(question_of_criterion(c) for c in rubric.criteria)
    if not criteria:
        return (overall_question(rubric),)
    by_name = {fold(c.name): c for c in rubric.criteria} if rubric else {}
    questions = []
    for word in criteria:
        if fold(word) in by_name:
            questions.append(question_of_criterion(by_name[fold(word)]))
        elif by_name and " " not in word.strip():
            names = {c.name for c in by_name.values()}
            advice = hint_for(word, names) or f"There are {', '.join(sorted(names))}."
            problem = Problem(f"{word!r} is not a criterion of {rubric and rubric.name!r}.", advice)
            raise InputError("A criterion is not there.", (problem,), "--criterion")
        else:
            questions.append(free_question(word))
    return tuple(questions)


def contest_estimate_figures(
    store: Store, request: ContestRequest, more_rounds: int, per_round: int
) -> dict[str, Any]:
    """Return the estimate as plain data; ``calls_at_most`` includes further rounds."""
    expected = estimate_contest(store, request)
    planned = plan_contest(store, request)
    contests = len(planned.bouts)
    share = expected.calls / contests if contests else 0.0
    tasks = planned.joined.tasks
    pairs = sum(len(items) * (len(items) - 1) // 2 for items in tasks.values())
    further = min(more_rounds * per_round, pairs - contests)
    return {
        "systems": list(planned.joined.systems),
        "tasks": len(tasks),
        "contests": contests,
        "votes": expected.votes,
        "calls": expected.calls,
        "calls_at_most": expected.calls + round(share * further),
        "tokens_in": expected.tokens_in,
        "tokens_out": expected.tokens_out,
        "cost_usd": expected.cost,
    }


def estimate_line(figures: dict[str, Any]) -> str:
    """Return the estimate as one line."""
    cost = figures["cost_usd"]
    at_most = figures["calls_at_most"]
    return (
        f"{len(figures['systems'])} systems, {figures['tasks']} tasks, {figures['contests']} "
        f"contests: {figures['calls']} calls"
        + (f" ({at_most} at most with all rounds)" if at_most > figures["calls"] else "")
        + f", about {figures['tokens_in']:,} tokens in and {figures['tokens_out']:,} out, "
        + ("cost unknown" if cost is None else f"${cost:.4f}")
    )


def _read_dataset(path: Path, rubric: Rubric | None) -> tuple[Dataset, tuple[Problem, ...]]:
    loaded = read_items_file(path, rubric)
    unnamed = loaded.value.name == Dataset.model_fields["name"].default
    value = loaded.value.model_copy(update={"name": path.stem}) if unnamed else loaded.value
    return value, loaded.notices


def _system_names(systems: Sequence[str], datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Return the systems' names; a name that is no system but a comma-separated list is split."""
    system_names = {item.system for dataset in datasets for item in dataset.items}
    system_names |= {dataset.name for dataset in datasets}
    names: list[str] = []
    for name in systems:
        parts = [part.strip() for part in name.split(",")]
        names += parts if name not in system_names and len(parts) > 1 else [name]
    return tuple(names)


def _contest_design(words: Mapping[str, Any]) -> Design:
    if words["kind"] == "baseline" and not words["baseline"]:
        raise InputError("--design baseline needs to know whom all others meet: --baseline NAME.")
    return build_model(Design, words, "design")
