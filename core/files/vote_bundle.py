"""Votes with what gives them a meaning: the rubric they answer, the items they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import Problem
from core.files.votes import ImportedVotes

#: The shapes in which votes come.
VoteFormat = Literal["folder", "long", "wide", "autorubric", "gradescope"]


@dataclass(frozen=True)
class VoteBundle:
    """What one file or folder of votes holds, checked.

    ``notices`` say what was derived, left out or tolerated; ``mapping`` which column was taken for
    what, where that was a choice.
    """

    name: str
    format: VoteFormat
    rubric: Rubric
    dataset: Dataset
    votes: ImportedVotes
    notices: tuple[Problem, ...] = ()
    mapping: dict[str, object] = field(default_factory=dict)
