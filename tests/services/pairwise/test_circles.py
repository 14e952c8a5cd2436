"""A circle of majorities is a finding only where each of them is more than chance."""

from __future__ import annotations

import numpy as np
import pytest

from core.services.pairwise.leaderboard import DecidedContests, leaderboard_of


def circles(won: int, tasks: int, judges: int = 1) -> list[str]:
    """What is said of three systems, each of which beat the next on so many tasks by all judges."""
    pairs = [(0, 1), (1, 2), (2, 0)]
    rows = [
        (task, first, second, float(task < won))
        for first, second in pairs
        for task in range(tasks)
        for _ in range(judges)
    ]
    item, first, second, points = (np.array(column) for column in zip(*rows, strict=True))
    found = DecidedContests(
        *(item, first, second, points, np.ones(len(rows)), np.zeros((len(rows), 2))),
        *((), {}, {}),
    )
    board = leaderboard_of(found, ("rock", "paper", "shears"), resamples=50)
    return [note for note in board.notes if "circle" in note]


@pytest.mark.parametrize("judges", [1, 5])
def test_bare_majorities_are_called_so_however_many_judges_repeat_them(judges: int) -> None:
    assert circles(8, 15, judges) == [
        "A circle by bare majorities, which chance makes, too: rock beats paper beats shears beats "
        "rock."
    ]


def test_sure_majorities_make_a_circle() -> None:
    assert circles(13, 15) == [
        "A circle: rock beats paper beats shears beats rock. No order agrees with all of its "
        "majorities."
    ]
