"""A door made of a script, and a judge behind it."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Call, Cell, Vote, VoteFailure
from core.judging.asking.llm_judge import LLMJudge
from core.judging.protocol import Question
from core.judging.providers.base import Completion, Request
from core.judging.rate_limits import ProviderGate

KEY = "sk-TOP-SECRET-0123456789"
CRITERION = Criterion(name="c", requirement="Names the capital.", weight=1)
QUESTION = Question(
    Cell("i", "c", "j"),
    Item(id="i", submission="It is Canberra."),
    Rubric(criteria=(CRITERION,)),
    CRITERION,
    (1, 0, 2),
    7,
)


def says(option: object = 1, **more: Any) -> Completion:
    text = json.dumps({"evidence": ["Canberra"], "reason": "It does.", "option": option})
    return Completion(**{"text": text, "tokens_in": 1000, "tokens_out": 100, **more})


@dataclass
class ScriptedProvider:
    """Answers from a script; keeps the requests."""

    script: deque[Completion | Exception]
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    closed: bool = False

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self.script.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


def ask(
    *script: Completion | Exception, key: str | None = KEY, **settings: Any
) -> tuple[Vote | VoteFailure, Call | None, ScriptedProvider, list[float]]:
    door, pauses = ScriptedProvider(deque(script)), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    spec = Judge(**{"name": "j", "model": "openai/x", **settings})
    gate = ProviderGate(sleep=sleep, clock=lambda: sum(pauses))

    async def go() -> AskedOutcome:
        judge = LLMJudge(spec, door, key, gate, sleep=sleep, clock=lambda: sum(pauses))
        outcome = await judge.ask(QUESTION)
        await judge.close()
        return outcome

    outcome = asyncio.run(go())
    (result,) = outcome.results
    return result, outcome.call, door, pauses
