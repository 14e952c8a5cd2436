"""Messages between a run's owner and the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome
from core.judging.protocol import Question


@dataclass(frozen=True)
class WorkOrder:
    """A run as a worker sees it. ``token`` identifies this attempt of the owner.

    ``judges`` are models only, with names of variables and never a key. ``keeps``: workers send
    answers along, to be cached for later runs. ``topic`` is the topic where the owner listens.
    """

    token: str
    topic: str
    judges: tuple[Judge, ...]
    keeps: bool

    def judge(self, name: str, share: int) -> Judge:
        """Return a judge with its limits divided among ``share`` workers."""
        return judge_share(next(judge for judge in self.judges if judge.name == name), share)


def judge_share(judge: Judge, share: int) -> Judge:
    """Return the judge for one of ``share`` workers: its part of every limit, at least 1.

    >>> part = judge_share(Judge(name="j", model="m", concurrency=10, requests_per_minute=90), 4)
    >>> part.concurrency, part.requests_per_minute, part.tokens_per_minute
    (3, 22, None)
    """
    limits = {
        name: None if limit is None else max(1, limit // share)
        for name, limit in (
            ("requests_per_minute", judge.requests_per_minute),
            ("tokens_per_minute", judge.tokens_per_minute),
        )
    }
    return judge.model_copy(update={"concurrency": -(-judge.concurrency // share), **limits})


@dataclass(frozen=True)
class Chunk:
    """Questions for one judge, sent to one of ``share`` workers."""

    number: int
    judge: str
    share: int
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class WorkerMessage:
    """A worker's message about a chunk: new outcomes, and how many calls it made.

    ``state`` identifies the worker's state of the run.
    """

    token: str
    state: str
    chunk: int
    outcomes: tuple[AskedOutcome, ...]
    went_out: int = 0


class Versions(NamedTuple):
    """Versions that must be the same on all machines of a cluster."""

    program: str
    prompts: str
    python: str
    dask: str

    @property
    def words(self) -> str:
        """Return the versions as one line."""
        return f"Rubric Studio {self.program}, Python {self.python}, Dask {self.dask}"
