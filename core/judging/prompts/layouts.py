"""Choose the cheaper prompt layout, and build a chat's messages from segments.

Providers bill a prompt's beginning that they have just seen at a tenth to a half of the price, if
it is long enough (often 1,024 tokens; the system text alone has about as many). ``item_first``
shares the submission between the criteria of an item, ``criterion_first`` the requirement and its
examples between the items of a criterion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from core.domain.votes import Segment
from core.judging.prompts.parts import (
    background_part,
    background_texts,
    examples_part,
    options_part,
    requirement_part,
    submission_part,
)
from core.judging.protocol import Question

#: The separator between the pieces of a message.
JOINT = "\n\n"


def chat_messages(segments: Iterable[Segment]) -> list[dict[str, str]]:
    r"""Return chat messages; neighbours of the same role are joined.

    >>> chat_messages([Segment("system", "S"), Segment("user", "a"), Segment("user", "b")])
    [{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': 'a\n\nb'}]
    """
    parts: list[tuple[str, list[str]]] = []
    for segment in segments:
        if parts and parts[-1][0] == segment.role:
            parts[-1][1].append(segment.text)
        else:
            parts.append((segment.role, [segment.text]))
    return [{"role": role, "content": JOINT.join(texts)} for role, texts in parts]


def shared_ends(segments: Iterable[Segment]) -> tuple[tuple[int, int], ...]:
    """Return the ends of shared pieces: (index of the message, characters into it).

    >>> shared_ends([Segment("user", "ab", shared=True), Segment("user", "c")])
    ((0, 2),)
    """
    ends: list[tuple[int, int]] = []
    role, index, length = "", -1, 0
    for segment in segments:
        if segment.role == role:
            length += len(JOINT) + len(segment.text)
        else:
            role, index, length = segment.role, index + 1, len(segment.text)
        if segment.shared:
            ends.append((index, length))
    return tuple(ends)


Layout = Literal["item_first", "criterion_first"]

#: Characters per token, the usual rule of thumb for English.
CHARACTERS_PER_TOKEN = 4


def cheaper_layout(
    criterion_tokens: float,
    item_tokens: float,
    n_criteria: float,
    n_items: int,
    shuffled: bool,
    option_tokens: float = 0.0,
) -> Layout:
    """Return the layout that repeats more tokens of an earlier call's beginning.

    Args:
        criterion_tokens: mean per call of what all items share: requirement and examples.
        item_tokens: mean per item of what belongs to that item alone.
        n_criteria: calls per item: its criteria, or 1 if one call covers the whole rubric.
        n_items: items.
        shuffled: whether each item has its own option order; then lists of options are hardly
            ever shared.
        option_tokens: mean per call of the options.

    If both are equal, returns ``item_first``.

    >>> cheaper_layout(60, 1500, 6, 50, True)
    'item_first'
    >>> cheaper_layout(60 + 3 * 1500, 1500, 6, 50, True)  # three examples per criterion
    'criterion_first'
    """
    joint_tokens = criterion_tokens + (0.0 if shuffled else option_tokens)
    by_item = n_items * (n_criteria - 1) * item_tokens
    by_criterion = n_criteria * (n_items - 1) * joint_tokens
    return "criterion_first" if by_criterion > by_item else "item_first"


def layout_for(sample: Sequence[Question], n_items: int, *, shuffled: bool) -> Layout:
    """Return the cheaper layout for a run of ``n_items``, judged by a sample of its questions.

    The sample needs several items, to show whether task and reference differ between items.
    """
    if not sample:
        return "item_first"
    n = len(sample)
    per_rubric = sample[0].mode == "rubric"
    backgrounds = {tuple(background_texts(q.item)) for q in sample}
    differ = len(backgrounds) > 1
    options = sum(len(options_part(a.criterion, a.order)) for q in sample for a in q.asks)
    return cheaper_layout(
        criterion_tokens=sum(_shared_length(q) for q in sample) / n / CHARACTERS_PER_TOKEN,
        item_tokens=sum(_item_length(q, differ) for q in sample) / n / CHARACTERS_PER_TOKEN,
        n_criteria=1 if per_rubric else sum(len(q.rubric.criteria) for q in sample) / n,
        n_items=n_items,
        shuffled=shuffled,
        option_tokens=options / n / CHARACTERS_PER_TOKEN,
    )


def _shared_length(question: Question) -> int:
    shown = (question.examples, question.item)
    return sum(
        len(requirement_part(ask.criterion))
        + len(examples_part(ask.criterion, *shown, order=None, nonce=""))
        for ask in question.asks
    )


def _item_length(question: Question, background_too: bool) -> int:
    item, seed = question.item, question.seed
    length = len(submission_part(item, seed).text)
    return length + background_too * len(background_part(item, seed).text)
