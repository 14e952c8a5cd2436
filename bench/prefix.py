"""How much of a run's prompts sits in a beginning that another call of the run has too.

    python -m bench.prefix

6 criteria (3 binary, 2 ordinal, 1 nominal) x 50 items with submissions of 1,500 tokens, options
shuffled per item, one judge. Tokens are counted as 4 characters each. ``shared``: the share of all
prompt tokens in a beginning that some other call has, too. ``seen before``: that an earlier call
had, which is what a provider's cache can save. ``without system``: shared, the system text left out
on both sides. ``auto`` is the layout that is chosen by estimated cost.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from bench.calls import WORDS, rubric
from core.domain.dataset import Item
from core.domain.votes import Cell, Segment
from core.judging.prompts.assembly import build_prompt
from core.judging.prompts.few_shot import ExampleBank
from core.judging.prompts.layouts import CHARACTERS_PER_TOKEN, chat_messages, layout_for
from core.judging.prompts.parts import shown_order
from core.judging.protocol import Ask, Question

ITEMS, TOKENS, SEED = 50, 1_500, 7
TASK = "Why are summers warmer than winters?"


def items(name: str, count: int) -> list[Item]:
    dice, words = random.Random(name), WORDS.split()
    return [
        Item(id=f"{name}-{i}", prompt=TASK, submission=_text(dice, words)) for i in range(count)
    ]


def _text(dice: random.Random, words: Sequence[str]) -> str:
    return " ".join(dice.choices(words, k=TOKENS))[: TOKENS * CHARACTERS_PER_TOKEN]


def questions(mode: Any, layout: Any, shots: int) -> Iterator[Question]:
    asked, teachers = rubric(), items("teacher", 30)
    banks = {
        c.name: ExampleBank(
            c, [(t, i % len(c.options), "") for i, t in enumerate(teachers)], shots, seed=SEED
        )
        for c in asked.criteria
    }
    for item in items("item", ITEMS):
        asks = [
            Ask(
                Cell(item.id, c.name, "judge"),
                c,
                shown_order(c, seed=SEED, item=item.id, judge="judge", replicate=0),
            )
            for c in asked.criteria
        ]
        for first, *more in [asks] if mode == "rubric" else [[ask] for ask in asks]:
            examples = tuple(
                e for ask in (first, *more) for e in banks[ask.criterion.name].for_item(item)
            )
            yield Question(
                first.cell,
                item,
                asked,
                first.criterion,
                first.order,
                SEED,
                tuple(more),
                examples,
                mode,
                layout,
            )


class PromptSharing(NamedTuple):
    """Character counts of a run's prompts: total, in a shared beginning, and cacheable.

    Cacheable characters are in a beginning that an earlier call also had.
    """

    all: int
    shared: int
    seen_before: int

    @property
    def share(self) -> float:
        """Return the share in a beginning shared with another call, in [0, 1]."""
        return self.shared / self.all if self.all else 0.0


def prompt_sharing(prompts: Iterable[Iterable[Segment]]) -> PromptSharing:
    """Return how much of these prompts, in this order, is shared."""
    sent = [_joined_text(segments) for segments in prompts]
    earlier, seen_before = list[str](), 0
    for text in sent:
        place = bisect_left(earlier, text)
        seen_before += _longest_shared(text, earlier[max(0, place - 1) : place + 1])
        earlier.insert(place, text)
    shared = sum(
        # In sorted order, the text with the longest common beginning is a neighbour.
        _longest_shared(text, earlier[max(0, place - 1) : place] + earlier[place + 1 : place + 2])
        for place, text in enumerate(earlier)
    )
    return PromptSharing(sum(map(len, sent)), shared, seen_before)


def _joined_text(segments: Iterable[Segment]) -> str:
    return "\n".join(
        f"{message['role']}\n{message['content']}" for message in chat_messages(segments)
    )


def _longest_shared(text: str, other_texts: Iterable[str]) -> int:
    return max((_shared_start_length(text, other) for other in other_texts), default=0)


def _shared_start_length(a: str, b: str) -> int:
    """Return the length of the common beginning of two texts, by bisection."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.startswith(b[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def main() -> None:
    print(f"{'':44}{'tokens per call':>16}{'shared':>9}{'seen before':>13}{'without system':>16}")
    for mode in ("criterion", "rubric"):
        for shots in (0, 3):
            asked = list(questions(mode, "item_first", shots))
            chosen = layout_for(asked[:24], ITEMS, shuffled=True)
            for layout in ("item_first", "criterion_first"):
                prompts = [build_prompt(q).segments for q in questions(mode, layout, shots)]
                found, rest = prompt_sharing(prompts), prompt_sharing([p[1:] for p in prompts])
                name = f"{mode}, {shots} examples, {layout}{' (auto)' * (layout == chosen)}"
                print(
                    f"{name:44}{found.all / len(prompts) / CHARACTERS_PER_TOKEN:16,.0f}"
                    f"{found.share:9.1%}{found.seen_before / found.all:13.1%}{rest.share:16.1%}"
                )


if __name__ == "__main__":
    main()
