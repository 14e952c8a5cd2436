"""Abstentions and failures, kept apart: who would not say, and who could not be read."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """What became of a question to a rater."""

    NOT_ASKED = -1
    ANSWERED = 0
    ABSTAINED = 1
    FAILED = 2
