"""Choose labelled examples for a judge: balanced, mixed, never the item itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.identity import seeded_random
from core.judging.near_duplicates import TextFingerprint, fingerprint_of, group_numbers
from core.judging.protocol import Example


class ExampleBank:
    """The labelled items of a criterion in random order, with cached draws.

    Up to ``k`` examples are balanced over the options present: equal slots, remaining slots to
    options drawn by the seed, and slots that cannot be filled to any other labelled item. Options
    are mixed, not one after the other. Neither the graded item nor a duplicate of it
    (``core.judging.near_duplicates``) is ever an example, and no text appears twice. Within an
    option, items with the graded item's prompt come first. The draw depends on the seed and the
    criterion, so that items share their examples and provider caches hit; only an example that must
    not be shown with an item is replaced.

    Make one per criterion and run: ``for_item`` is then cheap, and items with the same examples
    share the same tuple.

    Args:
        criterion: the criterion to grade.
        labelled: items with the index of their true choice and the reason (may be empty), prompt
            and reference filled in. Their order does not matter.
        k: number of examples; fewer if fewer texts are labelled.
        seed: the run's seed.
    """

    def __init__(
        self,
        criterion: Criterion,
        labelled: Sequence[tuple[Item, int, str]],
        k: int,
        *,
        seed: int,
    ) -> None:
        self._parts = ("few_shot", seed, criterion.name)
        self._k = k
        self._ranked = _shuffled_examples(criterion.name, labelled, seeded_random(*self._parts))
        self._fingerprints = {e.item.id: fingerprint_of(e.item) for e in self._ranked}
        self._prompts = frozenset(example.item.prompt for example in self._ranked)
        self._drawn: dict[str | None, tuple[Example, ...]] = {}

    def for_item(self, item: Item) -> tuple[Example, ...]:
        """Return the examples for ``item``, excluding the item and its duplicates."""
        prompt = item.prompt if item.prompt in self._prompts else None
        if prompt not in self._drawn:
            self._drawn[prompt] = tuple(self._draw_examples(prompt))
        examples = self._drawn[prompt]
        text = fingerprint_of(item)
        if any(self._gives_away(example, item, text) for example in examples):
            return tuple(self._without_leaks(examples, prompt, item, text))
        return examples

    def _draw_examples(self, prompt: str | None) -> list[Example]:
        """Return equal slots per option, the remaining slots by random options, all mixed."""
        rng = seeded_random(*self._parts, "slots")
        ranked = self._examples_for_prompt(prompt)
        queues: dict[int, list[Example]] = {}
        for example in ranked:
            queues.setdefault(example.option, []).append(example)
        options = sorted(queues)
        rng.shuffle(options)
        chosen = list[Example]()
        for place, option in enumerate(options):
            slots = self._k // len(options) + (place < self._k % len(options))
            chosen += queues[option][:slots]
        used = {id(example) for example in chosen}
        unused = [example for example in ranked if id(example) not in used]
        chosen += unused[: self._k - len(chosen)]
        return _spread_examples(chosen, rng)

    def _without_leaks(
        self, examples: Sequence[Example], prompt: str | None, item: Item, text: TextFingerprint
    ) -> Iterable[Example]:
        used = {id(example) for example in examples}
        spare = [
            example
            for example in self._examples_for_prompt(prompt)
            if id(example) not in used and not self._gives_away(example, item, text)
        ]
        for example in examples:
            if not self._gives_away(example, item, text):
                yield example
            elif spare:
                same = (i for i, other in enumerate(spare) if other.option == example.option)
                yield spare.pop(next(same, 0))

    def _gives_away(self, example: Example, item: Item, text: TextFingerprint) -> bool:
        same = example.item.id == item.id
        return same or self._fingerprints[example.item.id].is_near(text)

    def _examples_for_prompt(self, prompt: str | None) -> list[Example]:
        if prompt is None:
            return self._ranked
        return sorted(self._ranked, key=lambda example: example.item.prompt != prompt)


def _shuffled_examples(
    criterion: str, labelled: Sequence[tuple[Item, int, str]], rng: Random
) -> list[Example]:
    pool = sorted(labelled, key=lambda example: example[0].id)
    rng.shuffle(pool)
    ranked, groups = list[Example](), set[int]()
    numbers = group_numbers([item for item, _, _ in pool])
    for (item, option, reason), number in zip(pool, numbers, strict=True):
        if number not in groups:
            groups.add(number)
            ranked.append(Example(item, criterion, option, reason))
    return ranked


def _spread_examples(examples: list[Example], rng: Random) -> list[Example]:
    """Return a random order that separates equal options as far as possible."""
    counts = Counter(example.option for example in examples)
    mixable = len(counts) > 1 and len(examples) > len(counts)
    while True:
        rng.shuffle(examples)
        if not mixable or _stretch_count(examples) > len(counts):
            return examples


def _stretch_count(examples: Sequence[Example]) -> int:
    return 1 + sum(example.option != following.option for example, following in pairwise(examples))
