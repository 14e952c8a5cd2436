"""A first draft from a task description or from labelled items."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError, StoreError, WriteBlocked
from core.services.assist import help_tasks, rubric_draft, task_context
from core.services.assist.rubric_draft import DraftRequest
from core.services.rubrics.drafts import problems_of, rubric_from
from core.store.runs.help_tasks import Helps
from core.store.runs.leases import Leases
from core.store.store import Store
from tests.judging.test_writing_replies import DRAFT
from tests.provider import Answer, Provider, html, malformed, said, status, truncated
from tests.services.assist.made import NOW, finished, limits, reply, text_of, writer


def test_a_task_description_gives_a_rubric_with_every_option_it_names(
    store: Store, provider: Provider
) -> None:
    provider.say(reply(DRAFT))
    asked = DraftRequest(writer(provider), "Answer refund questions.", "Be strict.")
    task = finished(store, rubric_draft.begin(store, asked))
    draft = rubric_draft.drafted_rubric(store, task)
    assert task.status == "done"
    assert draft is not None
    assert [c.name for c in rubric_from(draft).criteria] == ["Limit", "Tone"]
    assert "Answer refund questions." in text_of(provider.requests[0].body)


def test_labelled_items_are_shown_with_what_people_said_evenly_over_labels(
    store: Store, provider: Provider
) -> None:
    version = store.datasets.create(limits(30), now=NOW)
    provider.say(reply(DRAFT))
    asked = DraftRequest(writer(provider), "", dataset_version=version.id, examples=4)
    assert rubric_draft.estimate(store, asked).calls == 1
    finished(store, rubric_draft.begin(store, asked))
    told = text_of(provider.requests[0].body)
    # 20 are MET and 10 UNMET; four examples take two of each.
    assert (told.count("\nLimit: MET"), told.count("\nLimit: UNMET")) == (2, 2)


def test_a_draft_that_is_no_rubric_is_repaired_once_and_else_a_failure(
    store: Store, provider: Provider
) -> None:
    provider.say(reply({**DRAFT, "criteria": [{"name": "a"}]}), reply(DRAFT))
    asked = DraftRequest(writer(provider), "Refunds.")
    task = finished(store, rubric_draft.begin(store, asked))
    assert task.status == "done"
    assert "requirement" in provider.requests[1].body["messages"][-1]["content"]
    assert help_tasks.omitted_parts(store, task.id) == []
    provider.say(malformed(), malformed())
    task = finished(store, rubric_draft.begin(store, asked))
    assert task.status == "failed"
    assert rubric_draft.drafted_rubric(store, task) is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (html(), "it answered with a web page"),
        (status(402, "Top up."), "Top up."),
        (malformed(), "exactly one complete JSON object"),
        (truncated(), "cut off at the limit of tokens"),
        (said(""), "empty"),
        (reply({"kriterien": []}), "exactly one complete JSON object"),
    ],
    ids=["a gateway's page", "no money left", "words", "cut off", "nothing", "keys in German"],
)
def test_what_came_instead_of_a_draft_is_said(
    store: Store, provider: Provider, answer: Answer, words: str
) -> None:
    provider.rule = lambda body: answer
    asked = DraftRequest(writer(provider, tries=1), "Refunds.")
    task = finished(store, rubric_draft.begin(store, asked))
    assert task.status == "failed"
    assert words in task.message


def test_a_draft_that_stays_invalid_opens_with_its_problems_and_is_not_thrown_away(
    store: Store, provider: Provider
) -> None:
    bad = {**DRAFT, "criteria": [*DRAFT["criteria"], {"name": "Odd", "scale": "likert"}]}
    provider.say(reply(bad), malformed())
    task = finished(store, rubric_draft.begin(store, DraftRequest(writer(provider), "Refunds.")))
    assert task.status == "done"
    # The repair was worse, so the first reply stays.
    draft = rubric_draft.drafted_rubric(store, task)
    assert draft is not None
    assert [c["name"] for c in draft["criteria"]] == ["Limit", "Tone", "Odd"]
    assert problems_of(draft)
    (said,) = help_tasks.omitted_parts(store, task.id)
    assert "likert" in said
    # Both calls were paid: two at 1 dollar per million tokens each way.
    (step,) = help_tasks.steps_of_task(store, task.id)
    assert step.call is not None
    assert step.call["tries"] == 2


def test_a_reply_that_cannot_be_kept_yet_waits_and_is_not_paid_twice(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_context, "AGAIN", 0.01)
    full, kept = iter([True, True]), Helps.keep

    def keep(self: Helps, *args: Any, **more: Any) -> None:
        if next(full, False):
            raise WriteBlocked("The disk is full.")
        kept(self, *args, **more)

    monkeypatch.setattr(Helps, "keep", keep)
    provider.say(reply(DRAFT))
    task = finished(store, rubric_draft.begin(store, DraftRequest(writer(provider), "Refunds.")))
    assert (task.status, provider.count) == ("done", 1)
    assert rubric_draft.drafted_rubric(store, task) is not None


def test_a_task_whose_data_file_was_gone_for_a_beat_ends_with_that_reason(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> bool:
        raise StoreError("The data file is gone.")

    monkeypatch.setattr(help_tasks, "BEAT_EVERY", 0.0)
    monkeypatch.setattr(Leases, "heartbeat", gone)
    provider.say(reply(DRAFT))
    task = finished(store, rubric_draft.begin(store, DraftRequest(writer(provider), "Refunds.")))
    assert (task.status, task.message) == ("failed", "The data file is gone.")


def test_nothing_to_draft_from_is_refused(store: Store, provider: Provider) -> None:
    with pytest.raises(InputError, match="nothing to draft from"):
        rubric_draft.begin(store, DraftRequest(writer(provider), "  "))
