"""Abstentions and failures, kept apart: who would not say, and who could not be read."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from core.metrics.accuracy import confusion
from core.metrics.agreement import cohen_kappa, percent_agreement
from core.metrics.figure import Figure
from core.metrics.measure import Ratings


class State(IntEnum):
    """What became of a question to a rater."""

    NOT_ASKED = -1
    ANSWERED = 0
    ABSTAINED = 1
    FAILED = 2


def coverage(states: npt.ArrayLike) -> Figure:
    """The share of questions that got an answer, in [0, 1]; n counts the questions.

    ``states`` holds ``State`` values of any shape. Abstentions and failures both lower it. The
    coverage of El-Yaniv and Wiener (2010), definition 2. Undefined where nothing was asked.

    >>> coverage([State.ANSWERED, State.ANSWERED, State.ABSTAINED, State.FAILED]).value
    0.5
    """
    given = np.asarray(states)
    asked = int((given != State.NOT_ASKED).sum())
    if not asked:
        return Figure.undefined("Nothing was asked.")
    return Figure.defined((given == State.ANSWERED).sum() / asked, asked)


def abstention_rate(states: npt.ArrayLike) -> Figure:
    """The share of readable replies that are abstentions, in [0, 1]; failures are no replies.

    The rejection rate of Chow (1970). Undefined without a readable reply.

    >>> abstention_rate([State.ANSWERED, State.ABSTAINED, State.FAILED]).value
    0.5
    """
    given = np.asarray(states)
    away, there = int((given == State.ABSTAINED).sum()), int((given == State.ANSWERED).sum())
    if not away + there:
        return Figure.undefined("There is no readable reply.")
    return Figure.defined(away / (away + there), away + there)


def _abstained(states: npt.ArrayLike) -> Ratings:
    """1 abstained, 0 answered, -1 neither."""
    given = np.asarray(states, dtype=np.int64)
    return np.where((given == State.ANSWERED) | (given == State.ABSTAINED), given, -1)


def abstention_agreement(first: npt.ArrayLike, second: npt.ArrayLike) -> Figure:
    """How often two raters answer or abstain alike, in [0, 1]; shape (items,) each.

    The observed agreement of Cohen (1960) on whether they abstained; failures are left out.

    >>> A, N = State.ANSWERED, State.ABSTAINED
    >>> abstention_agreement([A, N, A, N], [A, N, N, State.FAILED]).n
    3
    """
    return percent_agreement(confusion(_abstained(first), _abstained(second), 2))


def abstention_kappa(first: npt.ArrayLike, second: npt.ArrayLike) -> Figure:
    """Agreement beyond chance on whether to abstain, in [-1, 1] (Cohen 1960, equation 1).

    Undefined where both only answered, or both only abstained.

    >>> A, N = State.ANSWERED, State.ABSTAINED
    >>> abstention_kappa([A, N, A, N], [A, N, A, N]).value
    1.0
    """
    return cohen_kappa(confusion(_abstained(first), _abstained(second), 2))
