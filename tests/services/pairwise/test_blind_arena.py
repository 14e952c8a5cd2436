"""A person votes blind on the judges' contests, learns the names, and both are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.services.pairwise import blind_arena, contests
from core.services.pairwise.contest_votes import contests_of_runs
from tests.provider import Provider
from tests.services.pairwise.world import held, start

SYSTEMS = ["weak", "best"]


def worth(answer: object) -> int:
    return int(str(answer).rsplit(" ", 1)[1])


def test_ten_contests_by_hand_are_compared_with_the_judges(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 10, judges=("ada", "bob"))
    run_id = held(store, request)
    arena = blind_arena.start(store, run_id, "Ann")
    assert blind_arena.start(store, run_id, " Ann ") == arena
    shown_first = []
    for done in range(10):
        blind = blind_arena.next_blind(store, arena)
        assert blind is not None
        assert (blind.done, blind.total) == (done, 10)
        # Nothing that is shown names a system.
        assert "weak" not in f"{blind.a}{blind.b}{blind.prompt}{blind.requirement}{blind.item}"
        assert [c for c, _ in blind.choices] == ["A", "B", "tie", "none"]
        better = "A" if worth(blind.a) > worth(blind.b) else "B"
        shown_first.append(better)
        # Ann is right eight times, calls one a tie and cannot assess another.
        choice = "tie" if done == 8 else "none" if done == 9 else better
        told = blind_arena.vote(store, arena, blind.item, blind.question, choice)
        assert {told.a, told.b} == set(SYSTEMS)
        assert told.panel == "best"
        assert told.judges == {"ada": "best", "bob": "best"}
        assert told.chosen == (None if done >= 8 else "best")
    assert blind_arena.next_blind(store, arena) is None
    assert set(shown_first) == {"A", "B"}  # both orders occur
    agreement = blind_arena.people_judge_agreement(store, [arena])
    assert list(agreement) == ["", "ada", "bob"]
    same, _ = agreement[""]
    assert (same.n, same.hits) == (9, 8)
    assert same.value == pytest.approx(8 / 9)
    assert provider.count == 40  # nobody was asked anew
    assert [row.id for row in contests.contest_runs(store)] == [run_id]
    assert contests_of_runs(store, [arena]).judges[0].kind == "person"
    assert store.runs.row(arena).status == "done"


def test_a_vote_is_given_once_and_only_for_what_is_on_offer(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 2)
    arena = blind_arena.start(store, held(store, request), "Ann")
    blind = blind_arena.next_blind(store, arena)
    assert blind is not None
    with pytest.raises(InputError, match="not on offer"):
        blind_arena.vote(store, arena, blind.item, blind.question, "both_bad")
    blind_arena.vote(store, arena, blind.item, blind.question, "A")
    with pytest.raises(InputError, match="your vote already"):
        blind_arena.vote(store, arena, blind.item, blind.question, "B")


def test_without_a_common_contest_there_is_no_agreement(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 2)
    arena = blind_arena.start(store, held(store, request), "Ann")
    ((same, kappa),) = blind_arena.people_judge_agreement(store, [arena]).values()
    assert (same.n, same.value) == (0, None)
    assert kappa.value is None
