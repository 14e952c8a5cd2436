"""People and judges on one matrix; words that differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rubric_diff.wording import MOST_WORDS, word_diff
from core.services.pairwise import arena_people, blind_arena
from core.services.pairwise.arena_people import PANEL
from tests.provider import Provider
from tests.services.pairwise.world import held, start

SYSTEMS = ["weak", "best"]


def test_two_people_and_two_judges_are_compared_pair_by_pair(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 6, judges=("ada", "bob"))
    run_id = held(store, request)
    # Ann is right on all six; Ben says on his first four that it is a tie.
    for person, number in (("Ann", 6), ("Ben", 4)):
        arena = blind_arena.start(store, run_id, person)
        for _ in range(number):
            blind = blind_arena.next_blind(store, arena)
            assert blind is not None
            worth = [int(str(answer).rsplit(" ", 1)[1]) for answer in (blind.a, blind.b)]
            right = "A" if worth[0] > worth[1] else "B"
            choice = right if person == "Ann" else "tie"
            blind_arena.vote(store, arena, blind.item, blind.question, choice)
    raters, pairs = arena_people.rater_agreement(store, [run_id])
    names = [rater.name for rater in raters]
    assert names == ["Ben", "Ann", PANEL, "ada", "bob"]  # the newest arena first
    assert [rater.contests for rater in raters] == [4, 6, 6, 6, 6]
    assert raters[1].rates == {"weak": 0.0, "best": 1.0}
    assert raters[0].rates == {"weak": 0.5, "best": 0.5}
    (same, kappa), (ben_ada, _) = pairs[1, 3], pairs[0, 3]
    assert (same.n, same.hits, same.value) == (6, 6, 1.0)
    assert kappa.value is None  # both name one winner throughout: nothing to correct for
    assert (ben_ada.n, ben_ada.hits) == (4, 0)
    assert pairs[0, 1][0].n == 4  # what both have voted on


def test_a_vote_can_be_taken_back_once(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 2)
    run_id = held(store, request)
    arena = blind_arena.start(store, run_id, "Ann")
    blind = blind_arena.next_blind(store, arena)
    assert blind is not None
    assert not arena_people.withdraw(store, arena, blind.item, blind.question)
    blind_arena.vote(store, arena, blind.item, blind.question, "A", ms=1200)
    assert arena_people.votes_so_far(store, arena) == (1, 0, 4)
    assert arena_people.withdraw(store, arena, blind.item, blind.question)
    assert not arena_people.withdraw(store, arena, blind.item, blind.question)
    assert arena_people.votes_so_far(store, arena) == (1, 1, 4)
    (vote,) = store.votes.for_item(arena, blind.item)
    assert vote.detail == {"ms": 1200}  # kept as it was given
    following = blind_arena.next_blind(store, arena)
    assert following is not None
    assert following.item != blind.item


def test_without_a_person_the_judges_are_compared_alone(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, SYSTEMS, 2)
    raters, pairs = arena_people.rater_agreement(store, [held(store, request)])
    assert [rater.kind for rater in raters] == ["judge"]
    assert pairs == {}


@pytest.mark.parametrize(
    ("first", "second", "marks"),
    [
        ("the cat sat", "the cat sat", ((), ())),
        # "cat" becomes "dog": words 4 to 7 of each.
        ("the cat sat", "the dog sat", (((4, 7),), ((4, 7),))),
        # Only the second has more: ", too" from 3 on.
        ("yes", "yes, too", ((), ((3, 8),))),
        # White space alone is no difference.
        ("a  b\n", "a b", ((), ())),
        ("", "x", ((), ((0, 1),))),
    ],
)
def test_words_that_differ_are_found(
    first: str, second: str, marks: tuple[tuple[tuple[int, int], ...], ...]
) -> None:
    assert word_diff(first, second)[:2] == marks


def test_texts_too_long_to_compare_say_so() -> None:
    assert word_diff("a " * (MOST_WORDS + 1), "b") == ((), (), None)


@given(st.text("ab c.", max_size=60), st.text("ab c.", max_size=60))
def test_what_is_left_without_the_marks_is_the_same_in_both(first: str, second: str) -> None:
    first_spans, second_spans, _ = word_diff(first, second)

    def rest(text: str, spans: tuple[tuple[int, int], ...]) -> str:
        inside = {at for start, end in spans for at in range(start, end)}
        return "".join(c for at, c in enumerate(text) if at not in inside and not c.isspace())

    assert rest(first, first_spans) == rest(second, second_spans)
