"""Contests of systems: pairs, votes, the blind arena, leaderboards, ranks.

May import agreement and the layers below. A contest run is a run over pairs; people and judges get
the same questions.
"""

__all__ = [
    "arena_people",
    "blind_arena",
    "contest_votes",
    "contests",
    "design",
    "leaderboard",
    "leaderboard_parts",
    "pointwise_contests",
    "pointwise_ranks",
    "position_bias",
    "system_answers",
    "system_gaps",
    "unmatched_tasks",
]
