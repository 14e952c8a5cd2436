"""Edited answers for probes, written by a model: the same content in more words, in fewer words, or
in a more confident tone.

Rules cannot shorten a text or change its tone throughout. A model's text may add or lose content,
so results with these texts have no guarantee, and the texts are kept for inspection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.runs import HelpTask
from core.errors import InputError
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing.prompts import twin_writing
from core.judging.writing.replies import read_edit
from core.judging.writing.writer import writer_of
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, cost_estimate
from core.services.assist.task_context import TaskContext
from core.services.diagnostics.probe_edits import WRITTEN
from core.services.diagnostics.probes import ProbeRequest, drawn_items, item_with_text
from core.store.store import Store

KIND = "twins"


def estimate(store: Store, judge: Judge, probe: ProbeRequest) -> TaskCost:
    """Return the expected cost of writing the ``WRITTEN`` edits of a probe's drawn answers: one
    call per answer and edit, without the probe.
    """
    pairs = list(_texts_to_write(store, probe))
    longest = max((len(item.output) // 2 for item, _ in pairs), default=0)
    return cost_estimate(judge, [_twin_request(item, edit) for item, edit in pairs], longest + 50)


@allowed("write")
def begin(store: Store, judge: Judge, probe: ProbeRequest, budget: float | None = None) -> int:
    """Let the judge's model start writing; return the task's id. Raise ``InputError`` if the probe
    has no such edit.
    """
    steps = sum(1 for _ in _texts_to_write(store, probe))
    if not steps:
        raise InputError(f"Name what the model shall write: {', '.join(WRITTEN)}.")
    data = {
        "judge": judge.model_dump(mode="json"),
        "run": probe.run_id,
        "edits": list(probe.edits),
        "answers": probe.answers,
        "judges": list(probe.judges),
        "seed": probe.seed,
    }
    return help_tasks.begin(store, KIND, probe_subject(probe.run_id), data, steps, budget)


def probe_subject(run_id: int) -> str:
    """Return the subject of tasks for a run's probes."""
    return f"probes/{run_id}"


async def work(context: TaskContext) -> None:
    """Request every text, in parallel."""
    request = context.task.request
    judge = writer_of(help_tasks.writer_from(request))

    async def write_text(item: Item, edit: str) -> None:
        def read(text: str | None) -> object:
            return read_edit(text, item.output)

        await context.write(_step_name(item, edit), judge, _twin_request(item, edit), read)

    pairs = await context.io(
        lambda: list(_texts_to_write(context.store, _probe_of_task(context.task)))
    )
    await context.all(write_text(item, edit) for item, edit in pairs)


def probe_of(store: Store, task: HelpTask) -> ProbeRequest:
    """Return the probe for which a task was begun, with the texts written so far."""
    probe = _probe_of_task(task)
    values = {
        s.name: s.value for s in help_tasks.steps_of_task(store, task.id) if s.failure is None
    }
    written = dict[tuple[str, str], str]()
    for item, edit in _texts_to_write(store, probe):
        edited_text = read_edit(values.get(_step_name(item, edit)), item.output)
        if not isinstance(edited_text, Unreadable):
            written[item.id, edit], _ = edited_text
    return replace(probe, written=written)


def _probe_of_task(task: HelpTask) -> ProbeRequest:
    request = task.request
    edits, judges = tuple(request["edits"]), tuple(request["judges"])
    return ProbeRequest(request["run"], edits, request["answers"], judges, request["seed"])


def _texts_to_write(store: Store, probe: ProbeRequest) -> Iterator[tuple[Item, str]]:
    edits = [name for name in probe.edits if name in WRITTEN]
    texts = [item_with_text(item) for item in drawn_items(store, probe)] if edits else []
    return ((item, edit) for item in texts for edit in edits)


def _twin_request(item: Item, edit: str) -> Prompt:
    return twin_writing(item, edit.removesuffix("-written"), 0)


def _step_name(item: Item, edit: str) -> str:
    return f"{edit}/{item.id}"
