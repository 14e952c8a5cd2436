"""The field of a contest: tasks, and what each system answered to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.domain.base import near
from core.domain.dataset import Dataset, Item, Pair, output_of
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import has_text
from core.text.names import fold, skeletons

_SHOWN = 20


class ContestTask(NamedTuple):
    """What several systems were asked, and the item that holds each one's answer."""

    id: str
    prompt: str
    context: Mapping[str, str]
    reference: str
    answers: Mapping[str, Item]


@dataclass(frozen=True)
class ContestField:
    """Tasks in the order of the data; ``systems`` in the order that was asked for."""

    name: str
    tasks: tuple[ContestTask, ...]
    systems: tuple[str, ...]
    notices: tuple[str, ...] = ()


def join(
    datasets: Sequence[Dataset], systems: Sequence[str] = (), by: str | None = None
) -> ContestField:
    """Datasets as a field.

    One dataset: its items name their systems, and items with the same prompt (or the same
    ``meta[by]``) belong to one task. Several: each is one system's answers (named by its items, or
    else by the dataset) and items with the same id (or ``meta[by]``) belong together.

    Raises:
        InputError: items without a system or a key, two answers of one system to a task, a system
            that is not there, or no task that two systems answered.
    """
    found = _Finder(len(datasets) > 1, by)
    for dataset in datasets:
        found.add(dataset)
    found.refuse()
    known = found.systems
    wanted = tuple(systems) or tuple(known)
    unknown = [s for s in wanted if s not in known]
    if unknown:
        raise InputError(
            f"There are no answers of {', '.join(map(repr, unknown))}.",
            tuple(Problem(f"{s!r} is no system here.", _did_you_mean(s, known)) for s in unknown),
        )
    if len(set(wanted)) != len(wanted):
        raise InputError("A system is named twice. Name each system once.")
    if len(wanted) < 2:
        raise InputError(
            f"There is one system, {wanted[0]!r}. A contest needs answers of two or more: give "
            "items another `system`, or several files, one for each system."
        )
    tasks = tuple(t for t in found.tasks(wanted) if len(t.answers) > 1)
    if not tasks:
        raise InputError(
            "No two systems answered the same task. Items of one task must share their prompt "
            "word for word, or a key of their meta to join them by (--join)."
        )
    return ContestField(
        ", ".join(dict.fromkeys(d.name for d in datasets)), tasks, wanted, found.notices(wanted)
    )


class _Finder:
    def __init__(self, several: bool, by: str | None) -> None:
        self._several, self._by = several, by
        self._problems: list[Problem] = []
        self._answers: dict[str, dict[str, Item]] = {}
        self._without_text = 0
        self.systems: dict[str, None] = {}

    def add(self, dataset: Dataset) -> None:
        items = [dataset.resolved(item) for item in dataset.items]
        for place, item in enumerate(items):
            system = item.system or (dataset.name if self._several else "")
            key = self._key(item)
            where: tuple[str | int, ...] = ("items", place)
            if not system:
                self._wrong("names no system.", "Say in `system` who wrote the answer.", where)
            elif not key:
                mend = f"Give it a {self._by!r} in its meta." if self._by else _NO_PROMPT
                self._wrong("belongs to no task.", mend, where)
            elif system in self._answers.setdefault(key, {}):
                other = self._answers[key][system].id
                mend = "Keep one of them, or join by a key that tells them apart."
                message = f"({item.id!r}) is a second answer of {system!r}, beside {other!r}."
                self._wrong(message, mend, where)
            elif not has_text(item) or isinstance(item.submission, Pair):
                self._without_text += 1
            else:
                self.systems[system] = None
                self._answers[key][system] = item

    def _key(self, item: Item) -> str:
        if self._by:
            found = item.meta.get(self._by)
            return "" if found is None else str(found)
        return item.id if self._several else item.prompt

    def _wrong(self, message: str, mend: str, where: tuple[str | int, ...]) -> None:
        self._problems.append(Problem(message, mend, where))

    def refuse(self) -> None:
        if self._problems:
            count = len(self._problems)
            raise InputError(
                f"{count} item{'s' if count > 1 else ''} cannot be joined to a contest.",
                tuple(self._problems[:_SHOWN]),
            )
        if not self.systems:
            raise InputError("There is no answer with a text to compare.")

    def tasks(self, wanted: Sequence[str]) -> list[ContestTask]:
        found = []
        for key, answers in self._answers.items():
            there = {s: answers[s] for s in wanted if s in answers}
            if not there:
                continue
            first = next(iter(there.values()))
            # A prompt is no id that anybody can read; its first item's id is.
            name = key if self._by or self._several else first.id
            found.append(ContestTask(name, first.prompt, first.context, first.reference, there))
        return _named_apart(found)

    def notices(self, wanted: Sequence[str]) -> tuple[str, ...]:
        said = list(_alike_names(wanted))
        fields = [
            {s: answers[s] for s in wanted if s in answers} for answers in self._answers.values()
        ]
        short = sum(len(there) < len(wanted) for there in fields)
        if short:
            said.append(f"{short} of {len(fields)} tasks lack an answer of some system.")
        if self._without_text:
            said.append(f"{self._without_text} items without a text are left out.")
        differ = sum(len({item.prompt for item in there.values()}) > 1 for there in fields)
        if differ:
            said.append(
                f"In {differ} tasks the systems were given different prompts; judges are shown the "
                "first system's."
            )
        same = sum(_same_texts(there.values()) for there in fields)
        if same:
            said.append(
                f"In {same} of {len(fields)} tasks two systems gave the same answer. "
                "Judges are asked nevertheless; a fair one says that it is a tie."
            )
        return tuple(said)


def _alike_names(systems: Sequence[str]) -> Iterator[str]:
    """Systems whose names one would take for one another."""
    known: dict[str, str] = {}
    for name in systems:
        other, like = (known.setdefault(form, name) for form in (fold(name), skeletons(name)[0]))
        if other != name:
            yield (
                f"{other!r} and {name!r} differ in case or spaces only and count as two systems. "
                "If they are one, give its items one name."
            )
        elif like != name:
            yield (
                f"{like!a} and {name!a} look the same and count as two systems. "
                "If they are one, give its items one name."
            )


def _same_texts(items: Iterable[Item]) -> bool:
    texts = [_text(item) for item in items]
    return len(set(texts)) < len(texts)


def _text(item: Item) -> str:
    submission = item.submission
    return "" if isinstance(submission, Pair) else " ".join(output_of(submission).split())


_NO_PROMPT = "Give it its prompt, or name a key of its meta to join by (--join)."


def _named_apart(tasks: Iterable[ContestTask]) -> list[ContestTask]:
    seen: set[str] = set()
    found = []
    for number, task in enumerate(tasks):
        name = task.id if len(task.id) <= 400 else f"{task.id[:380]} ({number + 1})"
        while name in seen:
            name = f"{name} ({number + 1})"
        seen.add(name)
        found.append(task._replace(id=name))
    return found


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    by_fold = {fold(k): k for k in known}
    if fold(name) in by_fold:
        return f"Did you mean {by_fold[fold(name)]!r}?"
    return near(name, set(known)) or f"There are {', '.join(map(repr, known))}."
