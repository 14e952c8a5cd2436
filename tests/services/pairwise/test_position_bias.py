"""A judge planted to prefer the first answer: found, and both orders together are not misled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.metrics.ranking.contests import majority_winner
from core.services.pairwise.contest_votes import contests_of_runs, outcome_of_contest, winner_of
from core.services.pairwise.design import free_question
from core.services.pairwise.leaderboard import leaderboard
from core.services.pairwise.position_bias import position_figures
from tests.provider import Provider
from tests.services.pairwise.world import chance, held, honest, shown_worth, start, words_or

PLANTED = 0.6
#: The best is listed last, so that "as listed" it is always shown second.
SYSTEMS = ["weak", "middle", "best"]


def prefers_the_first(body: dict[str, Any]) -> int:
    """Knows the better answer, but in 60% of its calls takes the one shown first."""
    return 1 if chance(body) < PLANTED else honest(body)


def test_the_planted_preference_is_found_and_does_not_move_the_ranking(
    tmp_path: Path, provider: Provider
) -> None:
    provider.rule = words_or(prefers_the_first)
    store, request = start(tmp_path, provider, SYSTEMS, 80)
    found = contests_of_runs(store, [held(store, request)])
    (position,) = position_figures(found)
    assert position.biased
    assert position.shown_first.value is not None
    # Of two answers one is better: A is taken in 0.6 + 0.4 / 2 = 0.8 of the calls.
    assert position.shown_first.low is not None
    assert position.shown_first.high is not None
    assert position.shown_first.low <= 0.8 <= position.shown_first.high
    # The orders agree where the call with the better one second was honest: 0.4.
    assert position.rate.low is not None
    assert position.rate.high is not None
    assert position.rate.low <= 0.4 <= position.rate.high
    # Nobody ever took the last one for its own sake.
    assert position.last == 0

    both = leaderboard(found)
    assert [s.system for s in both.standings] == ["best", "middle", "weak"]
    assert [s.range for s in both.standings] == [(1, 1), (2, 2), (3, 3)]
    # One order alone: whoever is listed first wins 60% against a better one, and is ranked above.
    one = leaderboard(found, counted="listed")
    assert [s.system for s in one.standings] == ["weak", "middle", "best"]


def test_an_honest_judge_is_not_called_biased(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 20)
    found = contests_of_runs(store, [held(store, request)])
    (position,) = position_figures(found)
    assert not position.biased
    assert (position.rate.value, position.shown_first.value) == (1.0, 0.5)


def test_orders_that_disagree_are_a_tie_or_undecided_by_choice(
    tmp_path: Path, provider: Provider
) -> None:
    from dataclasses import replace

    from core.services.pairwise.design import Design

    provider.rule = words_or(lambda body: 1)
    store, request = start(tmp_path, provider, ["x", "y"], 2)
    tied = contests_of_runs(store, [held(store, request)])
    assert {outcome_of_contest(tied, h) for h in tied.held} == {("tie", "orders")}
    strict = replace(request, design=Design(disagreement="inconclusive"))
    open_ = contests_of_runs(store, [held(store, strict)])
    assert {outcome_of_contest(open_, h) for h in open_.held} == {(None, "orders")}
    board = leaderboard(open_)
    assert board.decided == 0
    assert board.undecided == {"orders": 2}
    assert [s.strength.value for s in board.standings] == [None, None]


def test_judges_that_split_evenly_are_a_tie_and_never_the_worse_option(
    tmp_path: Path, provider: Provider
) -> None:
    # The rule for votes breaks ties for the option of least value; of two answers none is that.
    provider.rule = words_or(
        lambda body: honest(body) if body["model"] == "ada" else 3 - honest(body)
    )
    store, request = start(tmp_path, provider, ["x", "y"], 2, judges=("ada", "contrary"))
    found = contests_of_runs(store, [held(store, request)])
    assert {outcome_of_contest(found, h) for h in found.held} == {("tie", "judges")}
    assert {outcome_of_contest(found, h, "ada").winner for h in found.held} == {"second"}
    assert {outcome_of_contest(found, h, "contrary").winner for h in found.held} == {"first"}


def test_a_circle_is_said_and_nobody_is_crowned(tmp_path: Path, provider: Provider) -> None:
    # Rock, paper, scissors: 0 beats 1, 1 beats 2, 2 beats 0. unitxt ranks all first and says
    # nothing; here they are level, too, and the circle is named.
    def circle(body: dict[str, Any]) -> int:
        a, b = shown_worth(body)
        return 1 if (b - a) % 3 == 1 else 2

    provider.rule = words_or(circle)
    store, request = start(tmp_path, provider, ["rock", "paper", "scissors"], 6)
    board = leaderboard(contests_of_runs(store, [held(store, request)]))
    assert [s.rank for s in board.standings] == [1, 1, 1]
    assert majority_winner(board.matrix) is None
    assert any(
        "A circle: rock beats paper beats scissors beats rock." in note for note in board.notes
    )


def test_who_wins_everything_has_no_finite_strength(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, ["weak", "best"], 10)
    board = leaderboard(contests_of_runs(store, [held(store, request)]))
    best = board.standings[0]
    assert best.system == "best"
    assert best.regularised
    assert any("no finite estimate" in note for note in board.notes)
    assert board.gaps[0].further.value is None


def test_questions_count_by_their_weight(tmp_path: Path, provider: Provider) -> None:
    def by_question(body: dict[str, Any]) -> int:
        text = body["messages"][-1]["content"]
        return honest(body) if re.search("Which is truer", text) else 3 - honest(body)

    provider.rule = words_or(by_question)
    questions = (
        free_question("true: Which is truer?")._replace(weight=30.0),
        free_question("short: Which is shorter?")._replace(weight=10.0),
    )
    store, request = start(tmp_path, provider, ["x", "y"], 8, questions=questions)
    found = contests_of_runs(store, [held(store, request)])
    # 30 of 40 parts for y, 10 for x.
    board = leaderboard(found)
    assert board.standings[0].system == "y"
    assert board.standings[0].win_rate.value == 0.75
    assert leaderboard(found, question="short").standings[0].system == "x"


def test_a_choice_of_a_letter_is_a_choice_of_a_system() -> None:
    assert winner_of("B", False).winner == "second"
    assert winner_of("B", True).winner == "first"
    assert winner_of("tie", True).winner == "tie"
    assert winner_of("none", False).winner is None
