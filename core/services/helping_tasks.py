"""A task of a model's help as it stands, whoever works on it."""

from __future__ import annotations

from core.domain.runs import HelpTask
from core.services import clock
from core.store.store import Store


def look(store: Store, task_id: int) -> HelpTask:
    """A task as it stands; one whose process is gone is found ``interrupted``."""
    task = store.helps.get(task_id)
    if task.status == "running" and task.owner is not None:
        silent = (task.until or 0.0) < clock.at()
        if silent or clock.is_gone(task.owner):
            store.helps.expire(task_id, task.owner)
            return store.helps.get(task_id)
    return task
