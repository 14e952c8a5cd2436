"""A model as a writer's help: one request in, one strictly read piece of writing out, or why not.

It goes through the same doors, gates and retries as a judge's question, and is accounted for in the
same way. A reply that cannot be read as a whole gets one repair. What is good of it is kept and
what was left out is said; where nothing is good it is a failure: nothing is guessed.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache as once
from functools import partial
from typing import Generic, TypeVar

from core.domain.panel import Judge
from core.domain.votes import Call, Cell, FailureKind, Segment
from core.identity import seeded
from core.judging.authoring_words import REPAIR
from core.judging.calling import Caller
from core.judging.doors import CallError, Completion, Door
from core.judging.gate import Clock, ProviderGate, Sleep
from core.judging.hiding import hidden_values, redact
from core.judging.parsing import Unreadable
from core.judging.schemas import Schema
from core.judging.tally import CallAccount

ValueT = TypeVar("ValueT")

#: A verdict is short, and a judge may be held to that; a piece of writing gets at least so much.
LEAST_TOKENS, LEAST_SECONDS = 4000, 180.0
_CUT_OFF = "The reply was cut off at the limit of tokens (max_tokens)."
_FILTERED = frozenset({"content_filter", "refusal", "safety"})


@dataclass(frozen=True, slots=True)
class Writing:
    """What a model is asked to write: the messages, the reply's JSON schema, the wording's name."""

    segments: tuple[Segment, ...]
    schema: Schema
    version: str


@dataclass(frozen=True)
class Partial:
    """What could be read of a reply; ``dropped`` says in sentences what was not, and why."""

    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no writing. ``message`` is fit to show and holds no key."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Written(Generic[ValueT]):
    """What came of a request, and the call with its cost; ``None`` where none was made.

    ``reply`` is the text that the value was read from, which need not be the last one.
    """

    value: ValueT | Failed
    call: Call | None
    reply: str = ""


def writer_of(judge: Judge, *, varied: bool = False) -> Judge:
    """The judge's settings for writing: room for more than a verdict.

    ``varied`` lifts a temperature that was set low, for texts that shall differ.

    >>> writer_of(Judge(name="j", model="m", max_tokens=300, temperature=0), varied=True).max_tokens
    4000
    """
    changed: dict[str, object] = {"timeout": max(judge.timeout, LEAST_SECONDS)}
    if judge.max_tokens is not None:
        changed["max_tokens"] = max(judge.max_tokens, LEAST_TOKENS)
    if varied and judge.temperature is not None:
        changed["temperature"] = max(judge.temperature, 1.0)
    return judge.model_copy(update=changed)


class Writer:
    """A model that can be asked to write. The door and the gate may be shared with judges."""

    def __init__(
        self,
        spec: Judge,
        door: Door,
        key: str | None,
        gate: ProviderGate,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        known: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self._key = (key or "").strip() or None
        self._door = door.name
        self._hidden = hidden_values([self._key, *(known or {}).values()])
        self._caller = Caller(spec, door, self._key, gate, sleep, clock, known=known)

    async def write(
        self, name: str, writing: Writing, read: Callable[[str | None], ValueT | Unreadable]
    ) -> Written[ValueT]:
        """The writing as ``read`` makes it of the reply; never raises for trouble with the call.

        ``name`` tells this request from others; pauses are drawn from it.
        """
        if self.spec.key_env and not self._key:
            words = f"The environment variable {self.spec.key_env} is not set. Put the key into it."
            return Written(Failed("missing_key", words), None)
        tally = CallAccount(self.spec, Cell(name, "", self.spec.name))
        rng = once(partial(seeded, "backoff", name, self.spec.name))
        value: ValueT | Failed
        reply: str | None = None
        try:
            segments = writing.segments
            said = await self._caller.complete(segments, writing.schema, tally, rng)
            found, reply = self._read(said, read), said.text
            problem = _problem(found)
            if problem and tally.spent < self.spec.tries:
                more = Segment("user", REPAIR.format(problem=problem))
                found, reply = await self._repaired(
                    (found, reply), (*segments, more), writing.schema, tally, rng, read
                )
            value = Failed(found.kind, found.message) if isinstance(found, Unreadable) else found
        except CallError as error:
            value = Failed(error.kind, error.message)
        return Written(value, tally.call(self._params(writing)), reply or "")

    async def _repaired(
        self,
        first: tuple[ValueT | Unreadable, str | None],
        segments: tuple[Segment, ...],
        schema: Schema,
        tally: CallAccount,
        rng: Callable[[], random.Random],
        read: Callable[[str | None], ValueT | Unreadable],
    ) -> tuple[ValueT | Unreadable, str | None]:
        """The better of the first reply and another one; what was good of the first is not lost."""
        usable = not isinstance(first[0], Unreadable)
        try:
            said = await self._caller.complete(segments, schema, tally, rng)
            found = self._read(said, read, again=True)
        except CallError:
            if usable:
                return first
            raise
        if usable and _lacks(found) > _lacks(first[0]):
            return first
        return found, said.text

    def close(self) -> None:
        """Its limits bind nobody any more; the door stays open."""
        self._caller.close()

    def _read(
        self,
        completion: Completion,
        read: Callable[[str | None], ValueT | Unreadable],
        *,
        again: bool = False,
    ) -> ValueT | Unreadable:
        if completion.refusal:
            raise CallError("refusal", f"The model refused: {completion.refusal[:300]}")
        if completion.finish in _FILTERED:
            raise CallError("content_filter", "The provider's content filter stopped the reply.")
        if completion.finish == "length":
            return Unreadable("malformed", _CUT_OFF)
        found = read(completion.text)
        if again and isinstance(found, Unreadable):
            return Unreadable(found.kind, f"{found.message} A second request did not help.")
        return found

    def _params(self, writing: Writing) -> dict[str, object]:
        spec = self.spec
        sent = {
            "door": self._door,
            "prompt": writing.version,
            "model": spec.model,
            "api_base": spec.api_base or None,
            "temperature": spec.temperature,
            "max_tokens": spec.max_tokens,
            "thinking": spec.thinking,
            "params": spec.params or None,
        }
        given = {name: value for name, value in sent.items() if value is not None}
        shown: dict[str, object] = json.loads(redact(json.dumps(given, default=str), self._hidden))
        return shown


def _problem(found: object) -> str:
    """What the model is told was wrong with its reply; empty where nothing was."""
    if isinstance(found, Unreadable):
        return found.message
    return " ".join(found.dropped) if isinstance(found, Partial) else ""


def _lacks(found: object) -> float:
    """How much of a reply could not be read: all of it is the most."""
    if isinstance(found, Unreadable):
        return math.inf
    return len(found.dropped) if isinstance(found, Partial) else 0
