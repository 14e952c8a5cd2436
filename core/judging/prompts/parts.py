"""Parts of a prompt: a criterion with options, fenced texts, labelled examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.domain.dataset import Answer, Item, Pair, Sections
from core.domain.rubric import MET, UNMET, Criterion, Option
from core.identity import Same, canonical_json, seeded_random, text_hash
from core.judging.prompts import wording
from core.judging.protocol import Example
from core.text.names import fold

# Fences around judged texts, with a code that no such text contains.
#
# Each kind of material has its own code, which depends only on the seed and its texts. So material
# shared by many calls has the same bytes in all of them.

NONCE_LENGTH = 12


class Code(NamedTuple):
    """The code of fences, and the case-folded texts, which do not contain it."""

    nonce: str
    folded: str


def code_for(texts: Sequence[str], seed: int, skip: int = 0) -> Code:
    """Return the same code every time for ``texts``; ``skip`` gives a later one."""
    folded = "\n".join(texts).casefold()
    rng = seeded_random("nonce", seed, text_hash(canonical_json(list(texts))))
    while True:
        nonce = f"{rng.getrandbits(4 * NONCE_LENGTH):0{NONCE_LENGTH}x}"
        if nonce in folded:
            continue
        if not skip:
            return Code(nonce, folded)
        skip -= 1


def text_block(title: str, text: str, nonce: str) -> str:
    """Return ``text`` between a BEGIN and an END line with the code."""
    return f"<<<BEGIN {title} {nonce}>>>\n{sendable_text(text)}\n<<<END {title} {nonce}>>>"


def sendable_text(text: str) -> str:
    """Return ``text`` with every lone surrogate replaced.

    Lone surrogates come from JSON escapes and cannot be encoded as UTF-8.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str) -> str:
    """Return ``text`` on one line, ready to send."""
    return " ".join(sendable_text(text).split())


#: Cache size; a criterion is asked about item after item, in few option orders.
_ASKED_REMEMBERED = 512


def requirement_part(criterion: Criterion, name: str = "") -> str:
    """Return the requirement, the same for all items. ``name`` is the shown id."""
    return _requirement_part(Same(criterion), name)


@lru_cache(maxsize=_ASKED_REMEMBERED)
def _requirement_part(same: Same, name: str) -> str:
    criterion: Criterion = same.thing
    return f"{comparison_part(criterion, name)}\n\nKIND\n{_kind_text(criterion.weight)}"


def comparison_part(criterion: Criterion, name: str = "") -> str:
    """Return the requirement without its kind, for comparing two answers."""
    return f"{_title_with_name('CRITERION', name)}\n{sendable_text(criterion.requirement).strip()}"


def options_part(criterion: Criterion, order: tuple[int, ...], name: str = "") -> str:
    """Return the options, numbered from 1 in ``order``."""
    return _options_part(Same(criterion), order, name)


@lru_cache(maxsize=_ASKED_REMEMBERED)
def _options_part(same: Same, order: tuple[int, ...], name: str) -> str:
    criterion: Criterion = same.thing
    options = "\n".join(
        f"{shown}. {_option_text(criterion, criterion.choices[index])}"
        for shown, index in enumerate(order, start=1)
    )
    return f"{_title_with_name('OPTIONS', name and f'of {name}')}\n{options}"


def _title_with_name(title: str, name: str) -> str:
    return f"{title} {name}" if name else title


def _kind_text(weight: float) -> str:
    if weight < 0:
        return wording.PENALTY
    return wording.REWARD if weight > 0 else wording.NEUTRAL


def _option_text(criterion: Criterion, option: Option) -> str:
    label = one_line(option.label) + (" (abstention)" if option.na else "")
    meaning = sendable_text(option.description).strip() or _default_meaning(criterion, option)
    # Indent further lines, so that no line looks like an option.
    return f"{label}: {meaning}".replace("\n", "\n   ") if meaning else label


def _default_meaning(criterion: Criterion, option: Option) -> str:
    if option.na:
        return wording.ABSTENTION_MEANS
    if criterion.scale != "binary":
        return ""
    means = {fold(MET): wording.MET_MEANS, fold(UNMET): wording.UNMET_MEANS}
    return means[fold(option.label)][criterion.weight < 0]


# Parts with judged material: fenced texts, built once and then shared.
#
# A submission is fenced once per item, not per question: a long one would otherwise be hashed,
# searched and copied for every criterion and judge. The texts around it (guidelines, task,
# reference) are often the same for all items and have a code of their own.

#: Cache size; judges work on a few items at a time.
_REMEMBERED = 64
#: The beginning of a context text's title.
CONTEXT = "CONTEXT"


class FencedPart(NamedTuple):
    """A fenced text, possibly empty, and the code of its fences."""

    text: str
    code: Code


def submission_part(item: Item, seed: int, skip: int = 0) -> FencedPart:
    """Return the item's submission in its fence, always the same bytes."""
    return _submission_part(Same(item), seed, skip)


@lru_cache(maxsize=_REMEMBERED)
def _submission_part(same: Same, seed: int, skip: int) -> FencedPart:
    item: Item = same.thing
    code = code_for(submission_texts(item), seed, skip)
    if isinstance(item.submission, Pair):
        answers = (("ANSWER A", item.submission.first), ("ANSWER B", item.submission.second))
        blocks = (
            text_block(name, _text_of_answer(part, code.nonce), code.nonce)
            for name, part in answers
        )
        return FencedPart("\n\n".join(blocks), code)
    return FencedPart(
        text_block("SUBMISSION", _text_of_answer(item.submission, code.nonce), code.nonce), code
    )


def guidelines_part(guidelines: str, seed: int, skip: int = 0) -> FencedPart:
    """Return the rubric's guidelines in their fence."""
    return _texts_part((("GUIDELINES", guidelines),), seed, skip)


def background_part(item: Item, seed: int, skip: int = 0) -> FencedPart:
    """Return the task, the context and the reference."""
    return _texts_part(tuple(background_texts(item)), seed, skip)


def background_texts(item: Item) -> Iterator[tuple[str, str]]:
    """Return the background's texts with their titles, empty ones included."""
    yield "TASK", item.prompt
    for name, text in item.context.items():
        yield f"{CONTEXT} ({one_line(name)})", text
    yield "REFERENCE", item.reference


@lru_cache(maxsize=_REMEMBERED)
def _texts_part(titled: tuple[tuple[str, str], ...], seed: int, skip: int) -> FencedPart:
    # Names of context texts are also untrusted.
    named = [title for title, _ in titled if title.startswith(CONTEXT)]
    code = code_for([*(text for _, text in titled), *named], seed, skip)
    blocks = [text_block(title, text, code.nonce) for title, text in titled if text.strip()]
    return FencedPart("\n\n".join(blocks), code)


def submission_texts(item: Item) -> list[str]:
    """Return all untrusted texts of a submission."""
    if isinstance(item.submission, Pair):
        return [*_texts_of_answer(item.submission.first), *_texts_of_answer(item.submission.second)]
    return _texts_of_answer(item.submission)


def submission_text(item: Item, nonce: str) -> str:
    """Return a submission as text; answers, sections or turns become blocks."""
    if isinstance(item.submission, Pair):
        answers = (("ANSWER A", item.submission.first), ("ANSWER B", item.submission.second))
        return "\n".join(
            text_block(name, _text_of_answer(part, nonce), nonce) for name, part in answers
        )
    return _text_of_answer(item.submission, nonce)


def _texts_of_answer(answer: Answer) -> list[str]:
    if isinstance(answer, str):
        return [answer]
    if isinstance(answer, Sections):
        return [answer.thinking, answer.output]
    return [text for turn in answer for text in (turn.role, turn.content)]


def _text_of_answer(answer: Answer, nonce: str) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Sections):
        parts = (("THINKING", answer.thinking), ("OUTPUT", answer.output))
        return "\n".join(text_block(title, text, nonce) for title, text in parts if text)
    return "\n".join(
        text_block(f"TURN {number} ({one_line(turn.role)})", turn.content, nonce)
        for number, turn in enumerate(answer, start=1)
    )


#: Cache size; each criterion has its examples, and items with another prompt or text may differ.
_EXAMPLES_REMEMBERED = 256


def examples_code(examples: Sequence[Example], seed: int, skip: int = 0) -> Code:
    """Return the code for these examples, the same for all items."""
    return _code_of_examples(tuple(map(Same, examples)), seed, skip)


@lru_cache(maxsize=_EXAMPLES_REMEMBERED)
def _code_of_examples(same: tuple[Same, ...], seed: int, skip: int) -> Code:
    return code_for(
        [text for example in same for text in _example_texts(example.thing)], seed, skip
    )


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
    """Return the examples of a criterion, or the empty string.

    ``order`` numbers the options as this call shows them; without it, options are named by label,
    so that calls with other orders share the text. Prompt, context and reference of an example are
    shown if they differ from those of ``item``. ``prefix`` precedes the examples' numbers.
    """
    own_examples = [example for example in examples if example.criterion == criterion.name]
    if not own_examples:
        return ""
    shown = [
        _example_text(f"{prefix}{number}", criterion, example, item, order, nonce)
        for number, example in enumerate(own_examples, start=1)
    ]
    return "\n\n".join([f"EXAMPLES\n{wording.EXAMPLES}", *shown])


def _example_text(
    name: str,
    criterion: Criterion,
    example: Example,
    item: Item,
    order: tuple[int, ...] | None,
    nonce: str,
) -> str:
    shown = example.item
    example_texts, item_texts = (
        {t: text.strip() for t, text in background_texts(i)} for i in (shown, item)
    )
    blocks = [
        text_block(
            f"EXAMPLE {name} {title}", example_texts.get(title) or wording.NOTHING_GIVEN, nonce
        )
        for title in sorted({**example_texts, **item_texts}, key="REFERENCE".__eq__)
        if example_texts.get(title, "") != item_texts.get(title, "")
    ]
    blocks.append(text_block(f"EXAMPLE {name} SUBMISSION", submission_text(shown, nonce), nonce))
    if example.reason.strip():
        blocks.append(text_block(f"EXAMPLE {name} REASON", example.reason.strip(), nonce))
    label = one_line(criterion.choices[example.option].label)
    option = label if order is None else f"{order.index(example.option) + 1} ({label})"
    return "\n".join([*blocks, wording.EXAMPLE_CHOICE.format(name=name, option=option)])


def shown_order(
    criterion: Criterion, *, seed: int, item: str, judge: str, replicate: int, shuffle: bool = True
) -> tuple[int, ...]:
    """Return the shown option order, drawn from the cell, with abstentions last.

    The same arguments give the same order on every machine. Without ``shuffle`` it is the author's
    order.

    >>> from core.domain.rubric import Criterion
    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> shown_order(both, seed=7, item="i1", judge="j", replicate=0, shuffle=False)
    (0, 1, 2)
    >>> shown_order(both, seed=7, item="i1", judge="j", replicate=0)[-1]  # Cannot assess
    2
    """
    if not shuffle:
        return tuple(range(len(criterion.choices)))
    scored = list(criterion.scored)
    seeded_random("order", seed, item, criterion.name, judge, replicate).shuffle(scored)
    return (*scored, *criterion.unscored)


def balanced_order(criterion: Criterion, *, seed: int, judge: str, turn: int) -> tuple[int, ...]:
    """Return an option order that moves each option through every position as ``turn`` increases.

    The order to rotate is drawn from the criterion and the judge; abstentions stay last.

    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> {balanced_order(both, seed=7, judge="j", turn=turn)[0] for turn in (0, 1)}
    {0, 1}
    """
    base = shown_order(criterion, seed=seed, item="", judge=judge, replicate=0)
    scored = len(criterion.scored)
    at = turn % scored
    return (*base[at:scored], *base[:at], *base[scored:])


def reversed_order(criterion: Criterion, order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the order with its options reversed; abstentions stay last.

    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> reversed_order(both, (0, 1, 2))
    (1, 0, 2)
    """
    scored = len(criterion.scored)
    return (*reversed(order[:scored]), *order[scored:])
