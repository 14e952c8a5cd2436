"""Help from a model, in verbs: begin, look, cancel, go on. The work never holds up a page.

It is done in a thread of this process on a loop of its own, and kept in the data file step by step:
closing the tab loses nothing, and what a killed process left is gone on with by ``resume``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.base import build
from core.domain.dataset import Dataset
from core.domain.library import DatasetVersion
from core.domain.panel import Judge
from core.domain.runs import HelpStep, HelpTask
from core.errors import Conflict, InputError
from core.services import clock
from core.services.helping_runner import start, wait, work_here
from core.services.helping_tasks import look
from core.services.registry import JudgeEntry, key_status, list_judges
from core.store.store import Store

__all__ = [
    "HelpStep",
    "HelpTask",
    "Wish",
    "begin",
    "cancel",
    "keep_dataset",
    "kept_dataset",
    "latest",
    "left_out",
    "look",
    "missing",
    "resume",
    "steps",
    "wait",
    "work_here",
    "writer_from",
    "writers",
]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. ``subject`` is what it is about, ``planned`` its steps at most.

    ``request`` is plain JSON data; ``budget`` is in US dollars, ``None`` for no limit.
    """

    kind: str
    subject: str
    request: Mapping[str, Any]
    planned: int
    budget: float | None = None


def writers(store: Store) -> list[JudgeEntry]:
    """The models that can be asked to write, by name: those of the registry."""
    return [entry for entry in list_judges(store) if entry.judge.kind == "llm"]


def missing(store: Store) -> str:
    """What keeps every model from being asked, in a sentence; empty where one can be.

    A model whose key cannot be known to be there (``unknown``) is taken to be ready.
    """
    found = writers(store)
    if not found:
        return (
            "This needs a model, and none is set up. Add one on the Judges page: a provider's "
            "model with the name of the variable that holds its key, or an address of your own."
        )
    if all(entry.key == "not set" for entry in found):
        names = ", ".join(dict.fromkeys(entry.key_env for entry in found))
        return f"This needs a model's key. Put it into {names}, and start the program again."
    return ""


def writer_from(request: Mapping[str, Any]) -> Judge:
    """The model that a request names, with the settings it had then."""
    return build(Judge, request["judge"], "judge")


def begin(store: Store, wish: Wish) -> int:
    """Keep a task and start on it in the background; returns its id."""
    _check_key(wish.request)
    task_id = store.helps.create(
        wish.kind,
        wish.subject,
        wish.request,
        planned=wish.planned,
        budget=wish.budget,
        now=clock.now(),
    )
    start(store, task_id)
    return task_id


def resume(store: Store, task_id: int) -> None:
    """Go on with a task that stopped; finished steps are not asked again."""
    task = look(store, task_id)
    if task.status == "done" and not task.failed:
        raise Conflict("This task is finished: there is nothing left to ask.")
    store.helps.requeue(task_id, now=clock.now())
    start(store, task_id)


def cancel(store: Store, task_id: int) -> None:
    """Ask for a task to stop; its finished steps stay."""
    store.helps.request_cancel(task_id, now=clock.now())


def latest(store: Store, kind: str, subject: str) -> HelpTask | None:
    """The newest task of that kind about that subject, or ``None``."""
    found = store.helps.list(kind=kind, subject=subject, limit=1)
    return look(store, found[0].id) if found else None


def steps(store: Store, task_id: int) -> Sequence[HelpStep]:
    """Every step of a task, its failures among them, in the order made."""
    return store.helps.steps(task_id)


def left_out(store: Store, task_id: int) -> list[str]:
    """What was left out of replies that could be used in part, a text for each, in their order."""
    return [s.message for s in steps(store, task_id) if s.failure is None and s.message]


def keep_dataset(store: Store, task: HelpTask, dataset: Dataset) -> DatasetVersion:
    """Keep what a task wrote as a dataset, and remember that it is this task's."""
    source = f"help task {task.id}"
    found = store.datasets.create(dataset, now=clock.now(), source=source)
    store.settings.put(_dataset_place(task), found.id)
    return found


def kept_dataset(store: Store, task: HelpTask) -> int | None:
    """The dataset version that the task's writings were kept as last, or ``None``."""
    found = store.settings.get(_dataset_place(task))
    return None if found is None else int(found)


def _dataset_place(task: HelpTask) -> str:
    return f"help/{task.id}/dataset"


def _check_key(request: Mapping[str, Any]) -> None:
    judge = writer_from(request)
    name, state = key_status(judge)
    if state == "not set":
        raise InputError(f"{judge.name} needs a key. Put it into {name}, and start again.")
