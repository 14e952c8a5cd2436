"""Labelled examples as text. They are judged texts like the submission, and fenced like it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.judging import phrases
from core.judging.fences import Code, Same, block, code_for, one_line
from core.judging.item_part import background_texts, submission_text, submission_texts
from core.judging.protocol import Example

#: Every criterion has its examples, and items with other prompts or texts may have others.
_EXAMPLES_REMEMBERED = 256


def examples_code(examples: Sequence[Example], seed: int, skip: int = 0) -> Code:
    """The code for these examples: it depends on nothing that differs between items."""
    return _code(tuple(map(Same, examples)), seed, skip)


@lru_cache(maxsize=_EXAMPLES_REMEMBERED)
def _code(same: tuple[Same, ...], seed: int, skip: int) -> Code:
    return code_for([text for one in same for text in _example_texts(one.thing)], seed, skip)


def _example_texts(example: Example) -> list[str]:
    item = example.item
    context = [part for pair in item.context.items() for part in pair]
    return [item.prompt, *context, item.reference, *submission_texts(item), example.reason]


def examples_part(
    criterion: Criterion,
    examples: Sequence[Example],
    item: Item,
    *,
    order: tuple[int, ...] | None,
    nonce: str,
    prefix: str = "",
) -> str:
    """The examples of one criterion, or the empty string.

    ``order`` numbers the options as they are shown in this call; without it they go by their
    labels, so that calls with other orders share the text. Prompt, context and reference of an
    example are shown where they are not those of ``item``. ``prefix`` goes before the examples'
    numbers.
    """
    own = [example for example in examples if example.criterion == criterion.name]
    if not own:
        return ""
    shown = [
        _example(f"{prefix}{number}", criterion, example, item, order, nonce)
        for number, example in enumerate(own, start=1)
    ]
    return "\n\n".join([f"EXAMPLES\n{phrases.EXAMPLES}", *shown])


def _example(
    name: str,
    criterion: Criterion,
    example: Example,
    item: Item,
    order: tuple[int, ...] | None,
    nonce: str,
) -> str:
    other = example.item
    theirs, ours = ({t: text.strip() for t, text in background_texts(i)} for i in (other, item))
    blocks = [
        block(f"EXAMPLE {name} {title}", theirs.get(title) or phrases.NOTHING_GIVEN, nonce)
        for title in sorted({**theirs, **ours}, key="REFERENCE".__eq__)
        if theirs.get(title, "") != ours.get(title, "")
    ]
    blocks.append(block(f"EXAMPLE {name} SUBMISSION", submission_text(other, nonce), nonce))
    if example.reason.strip():
        blocks.append(block(f"EXAMPLE {name} REASON", example.reason.strip(), nonce))
    label = one_line(criterion.choices[example.option].label)
    option = label if order is None else f"{order.index(example.option) + 1} ({label})"
    return "\n".join([*blocks, phrases.EXAMPLE_CHOICE.format(name=name, option=option)])
