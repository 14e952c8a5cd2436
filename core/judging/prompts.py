"""A question as the exact messages that a model is sent.

Three segments: the fixed system text; the item part, which all criteria of an item share; the
criterion part. What calls share comes first, so that provider prompt caches hit. Weights, values,
labels, the system that wrote the submission and other criteria are never shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.domain.rubric import MET, UNMET, Criterion, Option, fold
from core.domain.votes import Segment
from core.judging import wording
from core.judging.item_part import item_part, one_line, sendable
from core.judging.protocol import Question
from core.judging.wording import PROMPT_VERSION as PROMPT_VERSION

Schema = dict[str, object]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Segments to send, the JSON schema of the reply, the wording's version, the fences' code."""

    segments: tuple[Segment, ...]
    schema: Schema
    version: str
    nonce: str


def build(question: Question) -> Prompt:
    """The prompt of a question: the same question gives the same bytes.

    The options are numbered from 1 in ``question.order``. The nonce depends on the seed and on
    the judged texts, not on the criterion, so that the item part is shared.
    """
    shared = item_part(question.rubric.guidelines, question.item, question.seed)
    segments = (
        Segment("system", wording.SYSTEM),
        shared.segment,
        Segment("user", _criterion_part(question.criterion, question.order)),
    )
    return Prompt(segments, reply_schema(len(question.order)), PROMPT_VERSION, shared.nonce)


def messages(segments: Iterable[Segment]) -> list[dict[str, str]]:
    r"""Chat messages: neighbours of the same role become one message, a blank line between.

    >>> messages([Segment("system", "S"), Segment("user", "a"), Segment("user", "b")])
    [{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': 'a\n\nb'}]
    """
    sent: list[dict[str, str]] = []
    for segment in segments:
        if sent and sent[-1]["role"] == segment.role:
            sent[-1]["content"] += f"\n\n{segment.text}"
        else:
            sent.append({"role": segment.role, "content": segment.text})
    return sent


def reply_schema(count: int) -> Schema:
    """The JSON schema of a reply to ``count`` options.

    The number is bounded by an enum and the quotes are not counted: strict modes of several
    providers refuse ``minimum``, ``maximum`` and ``maxItems``, and all of them take an enum.
    """
    return {
        "type": "object",
        "properties": {
            "evidence": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
            "option": {"type": "integer", "enum": list(range(1, count + 1))},
        },
        "required": ["evidence", "reason", "option"],
        "additionalProperties": False,
    }


def repair(problem: str, count: int) -> Segment:
    """The segment that is added when a reply could not be read. ``problem`` is a sentence."""
    return Segment("user", wording.REPAIR.format(problem=problem, count=count))


def _criterion_part(criterion: Criterion, order: tuple[int, ...]) -> str:
    options = "\n".join(
        f"{shown}. {_option(criterion, criterion.choices[index])}"
        for shown, index in enumerate(order, start=1)
    )
    return (
        f"CRITERION\n{sendable(criterion.requirement).strip()}\n\n"
        f"KIND\n{_kind(criterion.weight)}\n\n"
        f"OPTIONS\n{options}\n\n"
        f"{wording.ASK.format(count=len(order))}"
    )


def _kind(weight: float) -> str:
    if weight < 0:
        return wording.PENALTY
    return wording.REWARD if weight > 0 else wording.NEUTRAL


def _option(criterion: Criterion, option: Option) -> str:
    label = one_line(option.label) + (" (abstention)" if option.na else "")
    meaning = sendable(option.description).strip() or _plain_meaning(criterion, option)
    # Further lines are indented, so that none of them looks like an option of its own.
    return f"{label}: {meaning}".replace("\n", "\n   ") if meaning else label


def _plain_meaning(criterion: Criterion, option: Option) -> str:
    if option.na:
        return wording.ABSTENTION_MEANS
    if criterion.scale != "binary":
        return ""
    means = {fold(MET): wording.MET_MEANS, fold(UNMET): wording.UNMET_MEANS}
    return means[fold(option.label)][criterion.weight < 0]
