"""Numbers that are none, are too large, or that nothing has: every verb refuses them in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from core.cli.main import main
from core.services.review import queues
from core.store.store import Store
from tests.command_line import cli
from tests.services import reviewed

#: More than SQLite's 64 bits hold.
HUGE = 10**22


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[click.Command]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield command


def test_no_option_takes_a_number_that_is_none_or_has_no_end() -> None:
    fractions = [
        (command.name, option)
        for command in commands()
        for option in command.params
        if isinstance(option.type, click.FloatRange | type(click.FLOAT))
    ]
    # grade, contest, probe, drift and impression have a budget, five verbs a level, and others.
    assert len(fractions) > 10
    for name, option in fractions:
        for text in ("nan", "inf", "-inf"):
            with pytest.raises(click.BadParameter, match=r"finite|range"):
                option.type.convert(text, option, click.Context(main, info_name=name))


def test_budgets_that_are_no_number_are_refused_before_anything_is_made(store: Store) -> None:
    for budget in ("nan", "inf"):
        done = cli("drift", 1, "--budget", budget, "--db", store.path)
        assert (done.returncode, "is no finite number" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("number", [7, HUGE])
def test_a_run_that_is_not_there_is_named_also_by_verbs_that_list(
    store: Store, tmp_path: Path, number: int
) -> None:
    words = [
        ("queue", "list", number),
        ("queue", "make", number),
        ("queue", "plan", number),
        ("regrade", "list", number),
        ("regrade", "list", number, "--csv"),
        ("regrade", "queue", number),
        ("regrade", "withdraw", number, 1),
        ("regrade", "add", number, "i1", "--note", "Look.", "--from", "Tom"),
        ("export", number, "--format", "events", "--out", tmp_path / "events.jsonl"),
        ("show", number),
        ("score", number),
    ]
    for each in words:
        done = cli(*each, "--db", store.path)
        assert (done.returncode, done.stdout) == (2, ""), each
        assert f"There is no run {number}." in done.stderr, each
    assert list(tmp_path.glob("events*")) == []


def test_numbers_that_a_data_file_cannot_hold_are_refused_in_words(store: Store) -> None:
    reviewed.graded(store, 4)
    for words in (
        ("runs", "--limit", HUGE),
        ("queue", "refresh", HUGE),
        ("queue", "make", 1, "--seed", HUGE),
        ("convert", HUGE, "--to", "yaml"),
    ):
        done = cli(*words, "--db", store.path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "A number is too large: at most 9,223,372,036,854,775,807" in done.stderr
    capped = cli("queue", "make", 1, "--most", 1_000_001, "--db", store.path)
    assert (capped.returncode, "1<=x<=1000000" in capped.stderr) == (2, True), capped.stderr
    ranked = cli("rank", 1, "--bootstrap", HUGE, "--db", store.path)
    assert (ranked.returncode, "0<=x<=1000000" in ranked.stderr) == (2, True), ranked.stderr
    assert queues.queues_of_run(store) == []


def test_a_queues_name_is_as_long_as_a_rubrics_at_most(store: Store) -> None:
    reviewed.graded(store, 4)
    done = cli("queue", "make", 1, "--name", "x" * 201, "--db", store.path)
    assert done.returncode == 2
    assert "has 201 characters; 200 are the limit" in done.stderr
    assert queues.queues_of_run(store) == []
