"""The length penalty: points taken for text beyond a free budget."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.domain.rubric import LengthPenalty

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Texts(NamedTuple):
    """The two sections of a submission. ``thinking`` is empty where there is none.

    ``own`` is what pre-checks read, where that is not all of the output: of a conversation, the
    turns of the one who is judged.
    """

    output: str
    thinking: str = ""
    own: str | None = None

    @property
    def screened(self) -> str:
        """What pre-checks read."""
        return self.output if self.own is None else self.own


def length_of(policy: LengthPenalty, texts: Texts) -> int:
    """The count that ``policy`` asks for.

    ``words`` are what white space separates. ``tokens`` is a simple count that needs no model: each
    run of letters, digits and underscores is one, and so is each other mark; providers' tokenizers
    give more for long words. ``all`` is the thinking and the output as one text.

    >>> length_of(LengthPenalty(count="tokens"), Texts("It's 3.5 kg."))
    8
    """
    if policy.of == "output":
        chosen = [texts.output]
    elif policy.of == "thinking":
        chosen = [texts.thinking]
    else:
        chosen = [texts.thinking, texts.output]
    if policy.count == "words":
        return sum(len(text.split()) for text in chosen)
    return sum(sum(1 for _ in _TOKEN.finditer(text)) for text in chosen)


def penalty_for(policy: LengthPenalty, n: int) -> float:
    """What ``n`` words or tokens cost: 0 up to the budget, ``penalty_at_cap`` from the cap on.

    Between them ``penalty_at_cap * ((n - free) / (max - free)) ** exponent`` (DESIGN section 4).

    >>> penalty_for(LengthPenalty(free_budget=10, max_cap=20, exponent=1.0), 15)
    0.25
    """
    if n <= policy.free_budget:
        return 0.0
    if n >= policy.max_cap:
        return policy.penalty_at_cap
    share = (n - policy.free_budget) / (policy.max_cap - policy.free_budget)
    return float(policy.penalty_at_cap * share**policy.exponent)
