"""A first draft of a rubric by a model, from a task description and optional labelled examples.

The reply opens as a draft, so that a person sees it before it is saved. A draft may be invalid, so
that every paid reply can be corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.runs import HelpTask
from core.errors import InputError, Problem
from core.identity import seeded_random
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing.prompts import draft_writing
from core.judging.writing.replies import read_rubric
from core.judging.writing.writer import writer_of
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, cost_estimate
from core.services.assist.task_context import TaskContext
from core.services.results.scored_items import resolved_items
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_from_data
from core.store.store import Store

KIND = "draft"
#: The subject of tasks that create a new rubric.
NEW = "new rubric"
EXAMPLES = 12
_STEP = "draft"
#: Typical tokens of a drafted rubric with eight criteria.
_TOKENS_OUT = 1500


@dataclass(frozen=True)
class DraftRequest:
    """The basis of a draft. ``dataset_version`` has labelled examples; ``None`` for no examples."""

    judge: Judge
    task: str
    wishes: str = ""
    dataset_version: int | None = None
    examples: int = EXAMPLES
    seed: int = 0
    budget: float | None = None


def estimate(store: Store, request: DraftRequest) -> TaskCost:
    """Return the expected cost of one call; an unreadable reply takes a second one."""
    return cost_estimate(
        request.judge, [_draft_request(request, _example_texts(store, request))], _TOKENS_OUT
    )


@allowed("write")
def begin(store: Store, request: DraftRequest) -> int:
    """Start drafting; return the task's id.

    Raises:
        InputError: task and examples are both missing, or the key is missing.
    """
    examples = _example_texts(store, request)
    if not request.task.strip() and not examples:
        raise InputError(
            "There is nothing to draft from.",
            (Problem("is empty.", "Describe the task, or choose labelled items.", ("task",)),),
        )
    data = {
        "judge": request.judge.model_dump(mode="json"),
        "task": request.task,
        "wishes": request.wishes,
        "seed": request.seed,
        "examples": [{"text": text, "said": labels} for text, labels in examples],
    }
    return help_tasks.begin(store, KIND, NEW, data, 1, request.budget)


async def work(context: TaskContext) -> None:
    """Request the rubric; the reply is the step's value."""
    request = context.request
    examples = [(example["text"], example["said"]) for example in request["examples"]]
    writing = draft_writing(request["task"], request["wishes"], examples, request["seed"])
    await context.write(_STEP, writer_of(help_tasks.writer_from(request)), writing, read_rubric)


def drafted_rubric(store: Store, task: HelpTask) -> RubricDraft | None:
    """Return the task's rubric, or ``None`` until it has one."""
    for step in help_tasks.steps_of_task(store, task.id):
        if step.failure is None:
            reply = read_rubric(step.value)
            return None if isinstance(reply, Unreadable) else draft_from_data(reply.value)
    return None


def _example_texts(store: Store, request: DraftRequest) -> list[tuple[str, str]]:
    if request.dataset_version is None:
        return []
    items = [i for i in resolved_items(store, request.dataset_version, None) if i.labels]
    return [(item.output, _labels_text(item)) for item in varied_items(items, request)]


def varied_items(items: Sequence[Item], request: DraftRequest) -> list[Item]:
    """Return the requested number of items, taken in turn from every combination of labels."""
    rng = seeded_random("draft", request.seed)
    kinds: dict[str, list[Item]] = {}
    for item in items:
        kinds.setdefault(_label_key(item), []).append(item)
    for group in kinds.values():
        rng.shuffle(group)
    groups, chosen = list(kinds.values()), list[Item]()
    while groups and len(chosen) < request.examples:
        groups = [group for group in groups if group]
        chosen += [group.pop() for group in groups][: request.examples - len(chosen)]
    return chosen


def _label_key(item: Item) -> str:
    return "\n".join(f"{name}: {label.label}" for name, label in sorted(item.labels.items()))


def _labels_text(item: Item) -> str:
    lines = [item.description] if item.description else []
    for name, label in item.labels.items():
        reason = f" ({label.reason})" if label.reason else ""
        lines.append(f"{name}: {label.label}{reason}")
    return "\n".join(lines)


def _draft_request(request: DraftRequest, examples: Sequence[tuple[str, str]]) -> Prompt:
    return draft_writing(request.task, request.wishes, examples, request.seed)
