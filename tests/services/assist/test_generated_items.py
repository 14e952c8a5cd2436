"""Test data: written per option and between options, kept unverified, and found again or not."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest

from core.domain.runs import HelpTask
from core.errors import InputError
from core.metrics.estimate import Estimate, wilson
from core.services.assist import counterfactuals, generated_items, help_tasks
from core.services.assist.counterfactuals import EditRequest
from core.services.assist.generated_items import DataRequest
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import estimate_request as estimate_run
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Answer, Provider, malformed
from tests.services.assist.made import (
    DEPTH,
    NOW,
    RUBRIC,
    asked_to_write,
    choose,
    finished,
    limits,
    panel,
    reply,
    text_of,
    writer,
)

_NUMBER = itertools.count()


def request(provider: Provider, **changes: Any) -> DataRequest:
    asked = DataRequest(
        judge=writer(provider),
        criterion=DEPTH,
        counts={0: 2, 2: 3},
        borderline=2,
        tasks=("Why do tides rise?", "Why is the sky blue?"),
        subject="rubric/1/Depth",
    )
    return replace(asked, **changes)


def by_aim(body: dict[str, Any]) -> Answer:
    """Writes what was aimed at into the submission, so that the scripted judge can find it."""
    wanted = asked_to_write(body)
    if "tasks" in wanted:
        return reply({"tasks": ["Task A", "Task B", "Task C"]})
    if "submission" in wanted:
        asked = text_of(body)
        aim = "+".join(re.findall(r"option \d+ \(([^)]*)\)", asked.splitlines()[-1]))
        return reply({"submission": f"[{aim}] An answer, number {next(_NUMBER)}."})
    return judge(body)


def judge(body: dict[str, Any]) -> Answer:
    """Finds every option but Deep, which it takes for Some; of two it takes the first."""
    (aim,) = re.findall(r"\[([^\]]*)\] An answer", text_of(body)) or ["None"]
    return choose(body, {"Deep": "Some"}.get(aim, aim.split("+")[0]))


def run(store: Store, asked: DataRequest) -> HelpTask:
    return finished(store, generated_items.begin(store, asked))


def test_submissions_are_written_per_option_and_between_neighbours(
    store: Store, provider: Provider
) -> None:
    provider.rule = by_aim
    task = run(store, request(provider))
    assert (task.status, task.done, task.planned, task.calls) == ("done", 7, 7, 7)
    made = generated_items.written_so_far(store, task)
    assert [generated_items.aim_of_item(one)[1] for one in made] == [
        *[("None",)] * 2,
        *[("Deep",)] * 3,
        ("None", "Some"),
        ("Some", "Deep"),
    ]
    assert {one.prompt for one in made} == {"Why do tides rise?", "Why is the sky blue?"}
    assert len({one.output for one in made}) == 7


def test_the_option_aimed_at_is_kept_beside_the_item_and_is_never_its_label(
    store: Store, provider: Provider
) -> None:
    provider.rule = by_aim
    task = run(store, request(provider))
    version = generated_items.as_dataset(store, task, "Depth data")
    items = list(store.datasets.items(version.id))
    assert len(items) == 7
    assert all(not item.labels for item in items)
    assert items[0].meta["aimed"] == {
        "criterion": "Depth",
        "options": ["None"],
        "verified": False,
    }
    assert items[0].tags == ("generated", "aimed: None")
    assert items[-1].tags == ("generated", "borderline")
    assert generated_items.as_dataset(store, task, "Depth data").id == version.id


def test_tasks_are_invented_first_where_none_are_given(store: Store, provider: Provider) -> None:
    provider.rule = by_aim
    task = run(store, request(provider, tasks=(), invent=3))
    assert (task.status, task.done, task.planned) == ("done", 8, 8)
    assert {one.prompt for one in generated_items.written_so_far(store, task)} == {
        "Task A",
        "Task B",
        "Task C",
    }


def test_what_was_written_before_is_shown_so_that_the_next_one_differs(
    store: Store, provider: Provider
) -> None:
    provider.rule = by_aim
    run(store, request(provider, counts={0: 3}, borderline=0))
    last = text_of(provider.requests[-1].body)
    assert "EARLIER" in last
    assert last.count("- [None] An answer") == 2


def test_a_copy_of_an_earlier_submission_is_refused(store: Store, provider: Provider) -> None:
    provider.rule = lambda body: reply({"submission": "Always the same."})
    task = run(store, request(provider, counts={0: 2}, borderline=0))
    assert (task.status, task.done, task.failed) == ("failed", 1, 1)
    assert "same as an earlier one" in task.message


def test_one_malformed_reply_never_loses_the_batch(store: Store, provider: Provider) -> None:
    provider.rule = by_aim
    provider.say(malformed(), malformed())
    asked = request(provider, counts={0: 3}, borderline=0)
    task = run(store, asked)
    assert (task.status, task.done, task.failed) == ("failed", 2, 1)
    help_tasks.resume(store, task.id)
    task = finished(store, task.id)
    assert (task.status, task.done, task.failed) == ("done", 3, 0)


def test_nothing_and_too_much_are_refused(store: Store, provider: Provider) -> None:
    for counts in ({}, {0: 201}):
        with pytest.raises(InputError):
            generated_items.begin(store, request(provider, counts=counts, borderline=0))
    assert generated_items.estimate(request(provider)).calls == 7


def test_the_recovery_figure_counts_what_judges_find_with_its_interval(
    store: Store, provider: Provider
) -> None:
    provider.rule = by_aim
    task = run(store, request(provider))
    version = generated_items.as_dataset(store, task, "")
    wanted = generated_items.request(store, version.id, DEPTH, "", panel(provider))
    assert estimate_run(store, wanted).calls == 7
    run_id = generated_items.start(store, wanted)
    work_here(store, run_id)
    _, found = generated_items.recovery_of_run(store, run_id)
    whole = generated_items.found_share(found)
    # None is found 2 of 2, Deep 0 of 3 (the judge takes it for Some): 2 of 5.
    assert (whole.hits, whole.n) == (2, 5)
    assert whole[1:3] == wilson(2, 5)
    rows = {row.aimed: row for row in found}
    assert rows["Deep",].chosen == {"Some": 3}
    assert rows["Some", "Deep"].between
    assert (rows["Some", "Deep"].found.hits, rows["Some", "Deep"].found.n) == (1, 1)
    latest = lifecycle.newest_over(store, version.id, generated_items.DETAIL)
    assert latest is not None
    assert latest.id == run_id


def test_a_share_of_nothing_is_said_to_be_undefined() -> None:
    assert Estimate.share(0, 0)[:3] == (None, None, None)


def edit_request(store: Store, provider: Provider, *items: str) -> EditRequest:
    version = store.datasets.create(limits(6), now=NOW)
    return EditRequest(
        judge=writer(provider),
        rubric=RUBRIC,
        criterion="Limit",
        aimed=1,
        dataset_version=version.id,
        items=items or ("i00", "i01", "i02", "i03"),
    )


def editing(body: dict[str, Any]) -> Answer:
    """Takes the limit out; where it is in figures, the edit also spoils the depth."""
    if "submission" in asked_to_write(body):
        text = text_of(body)
        spoilt = " It is deep." if "30 days" in text else ""
        found = re.search(r"Number \d+", text)
        assert found is not None
        return reply({"what": "The limit is gone.", "submission": f"No word. {found[0]}.{spoilt}"})
    text = text_of(body)
    if "How deep is it?" in text:
        return choose(body, "Deep" if "It is deep." in text else "None")
    return choose(body, "MET" if "days" in text else "UNMET")


def test_edits_show_whether_judges_notice_and_whether_other_criteria_move(
    store: Store, provider: Provider
) -> None:
    provider.rule = editing
    task = finished(store, counterfactuals.begin(store, edit_request(store, provider)))
    assert (task.status, task.done) == ("done", 4)
    version = counterfactuals.as_dataset(store, task, "")
    items = list(store.datasets.items(version.id))
    assert [item.id for item in items[:2]] == ["i00", "i00~edited"]
    assert items[0].labels
    assert not items[1].labels
    assert items[1].meta["edit"]["verified"] is False

    run_id = lifecycle.start(
        store, counterfactuals.run_request(store, task, version.id, panel(provider))
    )
    work_here(store, run_id)
    pairs = counterfactuals.edit_pairs(store, run_id)
    noticed, still = counterfactuals.noticed_share(pairs), counterfactuals.still_share(pairs)
    # i00, i01 and i03 stated a limit and lost it; i02 had none, so nothing could be noticed.
    assert (noticed.hits, noticed.n) == (3, 3)
    # The depth of i00 and i03 (in figures) moved, that of i01 and i02 did not.
    assert (still.hits, still.n) == (2, 4)
    assert [list(pair.moved) for pair in pairs] == [["Depth"], [], [], ["Depth"]]
    first = pairs[0]
    assert (first.before, first.after, first.moved) == ("MET", "UNMET", {"Depth": ("None", "Deep")})


def test_an_edit_that_changes_nothing_is_a_failure(store: Store, provider: Provider) -> None:
    provider.rule = lambda body: reply({"what": "x", "submission": "You have 30 days. Number 0."})
    task = finished(store, counterfactuals.begin(store, edit_request(store, provider, "i00")))
    assert task.status == "failed"
    assert "unchanged" in task.message
    with pytest.raises(InputError, match="Nothing has been changed"):
        counterfactuals.as_dataset(store, task, "")


def test_no_items_are_refused(store: Store, provider: Provider) -> None:
    with pytest.raises(InputError):
        counterfactuals.begin(store, replace(edit_request(store, provider), items=()))
