"""A leader that judges like for its length alone is called so."""

from __future__ import annotations

import numpy as np

from core.services.pairwise.leaderboard import DecidedContests, Leaderboard, leaderboard_of


def board(slope: float, lead: float) -> Leaderboard:
    """Two systems over 200 tasks; the second writes half as long again, and is better by ``lead``
    log odds. Judges like length by ``slope``.
    """
    rng, n = np.random.default_rng(4), 600
    lengths = np.stack([rng.normal(100, 30, n), rng.normal(150, 30, n)], axis=1).round()
    gap = lengths[:, 0] - lengths[:, 1]
    chance = 1 / (1 + np.exp(-slope * np.tanh(gap / gap.std()) + lead))
    found = DecidedContests(
        item=np.arange(n) % 200,
        first=np.zeros(n, np.int64),
        second=np.ones(n, np.int64),
        points=(rng.random(n) < chance) * 1.0,
        weight=np.ones(n),
        lengths=lengths,
        held=(),
        undecided={},
        tied_for={},
    )
    return leaderboard_of(found, ("brief", "wordy"), seed=1, resamples=300)


def said(found: Leaderboard) -> list[str]:
    return [note for note in found.notes if "length alone" in note]


def test_who_leads_by_length_alone_is_said_to() -> None:
    found = board(slope=1.5, lead=0.0)
    assert [s.system for s in found.standings if s.rank == 1] == ["wordy"]
    assert said(found) == [
        "wordy may be first by length alone: longer answers win significantly more, and at equal "
        "length its lead over brief is not sure."
    ]


def test_who_leads_at_equal_length_too_or_is_not_helped_by_length_is_not() -> None:
    assert said(board(slope=1.5, lead=3.0)) == []
    assert said(board(slope=0.0, lead=1.5)) == []
