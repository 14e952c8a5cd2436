"""The answers of a contest: its tasks, and each system's answer to each task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.domain.base import hint_for
from core.domain.dataset import Dataset, Item, Pair, output_of
from core.domain.runs import Run
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import has_text
from core.services.datasets import item_columns
from core.services.datasets.item_columns import ItemColumns, Numbers
from core.services.results import run_columns, scored_items
from core.store.store import Store
from core.text.names import fold, skeletons

_SHOWN = 20


@dataclass(frozen=True)
class ContestField:
    """Each system's item by task, in the order of the data; ``systems`` in the requested order."""

    name: str
    tasks: Mapping[str, Mapping[str, Item]]
    systems: tuple[str, ...]
    notices: tuple[str, ...] = ()


def join_datasets(
    datasets: Sequence[Dataset], systems: Sequence[str] = (), note_key: str | None = None
) -> ContestField:
    """Join datasets into a field.

    One dataset: its items name their systems, and items with the same prompt (or the same
    ``meta[by]``) belong to one task. Several datasets: each has one system's answers (named by its
    items, or else by the dataset), and items with the same id (or ``meta[by]``) belong together.

    Raises:
        InputError: items without a system or a key, two answers of one system to a task, an unknown
            system, or no task that two systems answered.
    """
    finder = _Finder(len(datasets) > 1, note_key)
    for dataset in datasets:
        finder.add(dataset)
    finder.refuse()
    wanted = finder.requested_systems(systems)
    tasks = {task: items for task, items in finder.tasks(wanted).items() if len(items) > 1}
    if not tasks:
        raise InputError(_NO_TASK)
    return ContestField(
        ", ".join(dict.fromkeys(d.name for d in datasets)), tasks, wanted, finder.notices(wanted)
    )


def join_answers(answers: Iterable[Answer]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the systems, and each task's item by system, for tasks that two or more answered.

    It works like ``join`` on one dataset, but without texts.

    Raises:
        InputError: as in ``join``.
    """
    finder = _Finder(False, None)
    for place, answer in enumerate(answers):
        finder.offer(answer, place)
    finder.refuse()
    wanted = finder.requested_systems()
    tasks = [{s: answer.id for s, answer in items.items()} for _, items in finder.answered(wanted)]
    tasks = [items for items in tasks if len(items) > 1]
    if not tasks:
        raise InputError(_NO_TASK)
    return wanted, tasks


class Answer(NamedTuple):
    """An item as a system's answer to the task ``key``.

    ``fit``: it has a text, and is not a pair of answers. ``item`` is set if its text is needed.
    """

    id: str
    system: str
    key: str
    fit: bool
    item: Item | None = None


class _Finder:
    def __init__(self, allows_several: bool, note_key: str | None) -> None:
        self._several, self._by = allows_several, note_key
        self._problems: list[Problem] = []
        self._wrongs = 0
        self._answers: dict[str, dict[str, Answer]] = {}
        self._without_text = 0
        self.systems: dict[str, None] = {}

    def add(self, dataset: Dataset) -> None:
        for place, item in enumerate(map(dataset.resolved, dataset.items)):
            system = item.system or (dataset.name if self._several else "")
            fit = has_text(item) and not isinstance(item.submission, Pair)
            self.offer(Answer(item.id, system, self._task_key(item), fit, item), place)

    def offer(self, answer: Answer, place: int) -> None:
        if not answer.system:
            self._raise_problem(place, "names no system.", "Say in `system` who wrote the answer.")
        elif not answer.key:
            advice = f"Give it a {self._by!r} in its meta." if self._by else _NO_PROMPT
            self._raise_problem(place, "belongs to no task.", advice)
        elif answer.system in self._answers.setdefault(answer.key, {}):
            earlier = self._answers[answer.key][answer.system].id
            advice = "Keep one of them, or join by a key that tells them apart."
            second = f"({answer.id!r}) is a second answer of {answer.system!r}"
            message = f"{second}; the first is {earlier!r}."
            self._raise_problem(place, message, advice)
        elif not answer.fit:
            self._without_text += 1
        else:
            self.systems[answer.system] = None
            self._answers[answer.key][answer.system] = answer

    def _task_key(self, item: Item) -> str:
        if self._by:
            value = item.meta.get(self._by)
            return "" if value is None else str(value)
        return item.id if self._several else item.prompt

    def _raise_problem(self, place: int, message: str, advice: str) -> None:
        self._wrongs += 1
        if self._wrongs <= _SHOWN:
            self._problems.append(Problem(message, advice, ("items", place)))

    def refuse(self) -> None:
        if self._problems:
            raise InputError(
                f"{self._wrongs} item{'s' if self._wrongs > 1 else ''} cannot be joined to a "
                "contest.",
                tuple(self._problems),
            )
        if not self.systems:
            raise InputError("There is no answer with a text to compare.")

    def requested_systems(self, systems: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the requested systems, or all; at least two."""
        answering = self.systems
        chosen = tuple(systems) or tuple(answering)
        unknown = [s for s in chosen if s not in answering]
        if unknown:
            raise InputError(
                f"There are no answers of {', '.join(map(repr, unknown))}.",
                tuple(
                    Problem(f"{s!r} is not a system of this contest.", _did_you_mean(s, answering))
                    for s in unknown
                ),
            )
        if len(set(chosen)) != len(chosen):
            raise InputError("A system is named twice. Name each system once.")
        if len(chosen) < 2:
            raise InputError(
                f"There is one system, {chosen[0]!r}. A contest needs answers of two or more: "
                "give items another `system`, or several files, one for each system."
            )
        return chosen

    def answered(self, wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, Answer]]]:
        """Yield every key that one of these systems answered, with the answers."""
        for key, answers in self._answers.items():
            wanted_answers = {s: answers[s] for s in wanted if s in answers}
            if wanted_answers:
                yield key, wanted_answers

    def tasks(self, wanted: Sequence[str]) -> dict[str, dict[str, Item]]:
        tasks: dict[str, dict[str, Item]] = {}
        for key, answers in self.answered(wanted):
            items = {s: answer.item for s, answer in answers.items() if answer.item is not None}
            # A prompt is too long for an id, so the task gets the id of its first item.
            name = key if self._by or self._several else next(iter(items.values())).id
            number = len(tasks) + 1
            name = name if len(name) <= 400 else f"{name[:380]} ({number})"
            while name in tasks:
                name = f"{name} ({number})"
            tasks[name] = items
        return tasks

    def notices(self, wanted: Sequence[str]) -> tuple[str, ...]:
        notices = list(_similar_name_notes(wanted))
        fields = [
            {s: first for s in wanted if s in answers and (first := answers[s].item) is not None}
            for answers in self._answers.values()
        ]
        short = sum(len(items) < len(wanted) for items in fields)
        if short:
            notices.append(f"{short} of {len(fields)} tasks lack an answer of some system.")
        if self._without_text:
            notices.append(f"{self._without_text} items without a text are left out.")
        differ = sum(len({item.prompt for item in answered.values()}) > 1 for answered in fields)
        if differ:
            notices.append(
                f"In {differ} tasks the systems were given different prompts; judges are shown the "
                "first system's."
            )
        same = sum(_same_texts(answered.values()) for answered in fields)
        if same:
            notices.append(
                f"In {same} of {len(fields)} tasks two systems gave the same answer. "
                "Judges are asked nevertheless; a fair one says that it is a tie."
            )
        return tuple(notices)


def _similar_name_notes(systems: Sequence[str]) -> Iterator[str]:
    """Yield notes on systems whose names are easily confused."""
    by_form: dict[str, str] = {}
    for name in systems:
        other, similar = (
            by_form.setdefault(form, name) for form in (fold(name), skeletons(name)[0])
        )
        if other != name:
            yield (
                f"{other!r} and {name!r} differ in case or spaces only and count as two systems. "
                "If they are one, give its items one name."
            )
        elif similar != name:
            yield (
                f"{similar!a} and {name!a} look the same and count as two systems. "
                "If they are one, give its items one name."
            )


def _same_texts(items: Iterable[Item]) -> bool:
    texts = [_prompt_text(item) for item in items]
    return len(set(texts)) < len(texts)


def _prompt_text(item: Item) -> str:
    submission = item.submission
    return "" if isinstance(submission, Pair) else " ".join(output_of(submission).split())


_NO_TASK = (
    "No two systems answered the same task. Items of one task must share their prompt word for "
    "word, or a key of their meta to join them by (--join)."
)
_NO_PROMPT = "Give it its prompt, or name a key of its meta to join by (--join)."


def _did_you_mean(name: str, known_names: Iterable[str]) -> str:
    by_fold = {fold(k): k for k in known_names}
    if fold(name) in by_fold:
        return f"Did you mean {by_fold[fold(name)]!r}?"
    return hint_for(name, set(known_names)) or f"There are {', '.join(map(repr, known_names))}."


# The tasks that systems of one run share, from columns, without reading texts.


#: Each system's item, by task; a task has the id of its first item.
Tasks = Mapping[str, Mapping[str, str]]


class SharedTasks(NamedTuple):
    """The tasks that several systems answered; ``why`` says why items cannot be joined."""

    systems: tuple[str, ...]
    tasks: Tasks
    why: str = ""


def shared_tasks(store: Store, run: Run) -> SharedTasks:
    """Return the tasks of a run's items, joined by prompts as for the leaderboard."""
    columns = item_columns.columns_of_version(store, run.dataset_version_id)
    _, places = run_columns.items_of_run(store, run)
    rows = np.sort(places)
    if len({columns.kinds[kind][0] for kind in set(columns.kind[rows].tolist())} - {""}) < 2:
        return SharedTasks((), {})
    try:
        systems, tasks = join_answers(_answers_in(columns, rows))
    except InputError as error:
        return SharedTasks((), {}, error.message)
    return SharedTasks(systems, {next(iter(items.values())): items for items in tasks})


def _answers_in(columns: ItemColumns, rows: Numbers) -> Iterator[Answer]:
    """Yield the items as answers to their prompts, in the order of the dataset."""
    fit = (columns.texts & ~columns.pairs)[rows]
    parts = (rows, columns.kind[rows], columns.prompt[rows], fit)
    for row, kind, prompt, fits in zip(*(part.tolist() for part in parts), strict=True):
        key = str(prompt) if prompt >= 0 else ""
        yield Answer(columns.ids[row], columns.kinds[kind][0], key, fits)


def differing_tasks(
    store: Store, run: Run, shared: SharedTasks, pair: tuple[str, str]
) -> list[str]:
    """Return the ids of the tasks on which two systems' verdicts differ on some criterion.

    A verdict or abstention of only one system is also a difference. Tasks that one of the two did
    not answer are left out.
    """
    ids = run_columns.ids_of_run(store, run)
    answers: dict[str, set[tuple[str, int]]] = {}
    for column in run_columns.cell_columns(store, run):
        voted = ~np.isnan(column.option)
        options = column.option[voted].astype(int).tolist()
        for row, option in zip(column.rows[voted].tolist(), options, strict=True):
            answers.setdefault(ids[row], set()).add((column.criterion, option))
    first, second = pair
    return [
        task
        for task, items in shared.tasks.items()
        if first in items
        and second in items
        and answers.get(items[first]) != answers.get(items[second])
    ]


def prompts_of(store: Store, run: Run, tasks: Iterable[str]) -> dict[str, str]:
    """Return the prompts of these tasks, by the ids of their first items."""
    items = scored_items.resolved_items(store, run.dataset_version_id, list(tasks), upto=0)
    return {item.id: item.prompt for item in items}
