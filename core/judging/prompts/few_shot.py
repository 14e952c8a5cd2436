"""Choose labelled examples for a judge: balanced, mixed, never the item itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.identity import seeded_random
from core.judging.near_duplicates import TextFingerprint, fingerprint_of, group_numbers
from core.judging.protocol import Example


class _Entry(NamedTuple):
    """An example, and the fingerprint of its text."""

    example: Example
    text: TextFingerprint

    @property
    def option(self) -> int:
        return self.example.option


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
        self._ranked = _shuffled_entries(criterion.name, labelled, seeded_random(*self._parts))
        self._prompts = frozenset(entry.example.item.prompt for entry in self._ranked)
        self._drawn: dict[str | None, tuple[tuple[_Entry, ...], tuple[Example, ...]]] = {}

    def for_item(self, item: Item) -> tuple[Example, ...]:
        """Return the examples for ``item``, excluding the item and its duplicates."""
        prompt = item.prompt if item.prompt in self._prompts else None
        if prompt not in self._drawn:
            entries = tuple(self._draw_entries(prompt))
            self._drawn[prompt] = entries, tuple(entry.example for entry in entries)
        entries, examples = self._drawn[prompt]
        text = fingerprint_of(item)
        if any(_gives_away(entry, item, text) for entry in entries):
            return tuple(self._without_leaks(entries, prompt, item, text))
        return examples

    def _draw_entries(self, prompt: str | None) -> list[_Entry]:
        """Return equal slots per option, the remaining slots by random options, all mixed."""
        rng = seeded_random(*self._parts, "slots")
        ranked = self._entries_for_prompt(prompt)
        queues: dict[int, list[_Entry]] = {}
        for entry in ranked:
            queues.setdefault(entry.option, []).append(entry)
        options = sorted(queues)
        rng.shuffle(options)
        chosen = list[_Entry]()
        for place, option in enumerate(options):
            slots = self._k // len(options) + (place < self._k % len(options))
            chosen += queues[option][:slots]
        used = {id(entry) for entry in chosen}
        unused = [entry for entry in ranked if id(entry) not in used]
        chosen += unused[: self._k - len(chosen)]
        return _spread_entries(chosen, rng)

    def _without_leaks(
        self, entries: Sequence[_Entry], prompt: str | None, item: Item, text: TextFingerprint
    ) -> Iterable[Example]:
        used = {id(entry) for entry in entries}
        spare = [
            entry
            for entry in self._entries_for_prompt(prompt)
            if id(entry) not in used and not _gives_away(entry, item, text)
        ]
        for entry in entries:
            if not _gives_away(entry, item, text):
                yield entry.example
            elif spare:
                same = (i for i, candidate in enumerate(spare) if candidate.option == entry.option)
                yield spare.pop(next(same, 0)).example

    def _entries_for_prompt(self, prompt: str | None) -> list[_Entry]:
        if prompt is None:
            return self._ranked
        return sorted(self._ranked, key=lambda entry: entry.example.item.prompt != prompt)


def _shuffled_entries(
    criterion: str, labelled: Sequence[tuple[Item, int, str]], rng: Random
) -> list[_Entry]:
    pool = sorted(labelled, key=lambda entry: entry[0].id)
    rng.shuffle(pool)
    ranked, groups = list[_Entry](), set[int]()
    numbers = group_numbers([item for item, _, _ in pool])
    for (item, option, reason), number in zip(pool, numbers, strict=True):
        if number not in groups:
            groups.add(number)
            ranked.append(_Entry(Example(item, criterion, option, reason), fingerprint_of(item)))
    return ranked


def _spread_entries(entries: list[_Entry], rng: Random) -> list[_Entry]:
    """Return a random order that separates equal options as far as possible."""
    counts = Counter(entry.option for entry in entries)
    mixable = len(counts) > 1 and len(entries) > len(counts)
    while True:
        rng.shuffle(entries)
        if not mixable or _stretch_count(entries) > len(counts):
            return entries


def _stretch_count(entries: Sequence[_Entry]) -> int:
    return 1 + sum(entry.option != following.option for entry, following in pairwise(entries))


def _gives_away(entry: _Entry, item: Item, text: TextFingerprint) -> bool:
    return entry.example.item.id == item.id or entry.text.is_near(text)
