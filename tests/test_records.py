"""Records are values, though nothing but the type checker keeps them from being changed."""

import pickle
from dataclasses import fields, replace

import pytest

from core.domain.votes import Cell, Segment, Vote
from core.judging.providers.base import Completion


def test_records_are_equal_hashed_and_sent_to_other_processes_by_what_they_hold() -> None:
    one, same = (Segment("user", "a", shared=shared) for shared in (True, False))
    assert one == same
    assert hash(one) == hash(same)
    assert one != replace(one, text="b")
    with pytest.raises(AttributeError):
        one.other = 1  # type: ignore[attr-defined]
    cell = Cell("i", "c", "j")
    for record in (Vote(cell, 1, False, order=(1, 0)), Completion("a", cost=0.5), one):
        copy = pickle.loads(pickle.dumps(record))
        assert [getattr(copy, f.name) for f in fields(copy)] == [
            getattr(record, f.name) for f in fields(record)
        ]
