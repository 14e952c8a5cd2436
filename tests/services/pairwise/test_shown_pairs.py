"""What is read of a contest's pairs in bulk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.domain.dataset import Message, Sections
from core.services.pairwise import contest_votes, contests
from tests.provider import Provider
from tests.services.pairwise.world import start


def test_lengths_are_words_of_each_answer_without_its_thinking(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, ("a", "b", "c"), 1)
    data = store.datasets.load(request.datasets[0])
    answers = (
        "two words",
        Sections(thinking="not to be counted at all", output="these are four words"),
        (Message(role="user", content="Why?"), Message(role="assistant", content="So.")),
    )
    items = tuple(
        item.model_copy(update={"submission": answer})
        for item, answer in zip(data.items, answers, strict=True)
    )
    made = store.datasets.create(data.model_copy(update={"items": items}), now="2026-01-01")
    run_id = contests.start(store, replace(request, datasets=(made.id,)))

    found = contest_votes.contests_of_runs(store, [run_id]).held

    # The chat is counted as it is shown: "user: Why?" and "assistant: So.".
    assert [(one.first, one.second, one.lengths) for one in found] == [
        ("a", "b", (2, 4)),
        ("a", "c", (2, 4)),
        ("b", "c", (4, 4)),
    ]
    assert [one.sources for one in found] == [
        ("000-0", "000-1"),
        ("000-0", "000-2"),
        ("000-1", "000-2"),
    ]


def test_some_of_the_contests_are_read_as_all_are(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, ("a", "b"), 3)
    run_id = contests.start(store, request)
    every = contest_votes.contests_of_runs(store, [run_id]).held
    items = {shown.item_id for shown in every[1].shown}
    assert contest_votes.contests_of_runs(store, [run_id], items).held == (every[1],)
