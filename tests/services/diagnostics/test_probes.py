"""Probes of a run from its judges to the sentence, with judges whose faults are rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.dataset import Dataset, Item, Message, Pair
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.votes import Cell
from core.errors import InputError, NotFound
from core.services.assist import help_tasks, written_twins
from core.services.diagnostics import probe_results, probes
from core.services.diagnostics.probes import ProbeRequest
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Answer, Provider, ok, said

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric.model_validate(
    {
        "name": "Answers",
        "criteria": [
            {"name": "right", "requirement": "Is it right?", "weight": 3},
            {"name": "thorough", "requirement": "Is it thorough?", "weight": 1},
        ],
    }
)
#: Twelve words each; the even ones name the river, which makes them right.
ITEMS = tuple(
    Item(
        id=f"i{at:02}",
        submission=f"Answer {at} says that the town lies on the {place} since long.",
    )
    for at, place in zip(range(24), ("river", "hill") * 12, strict=True)
)


LONG = ", as has been said" * 6


def checks(name: str, thorough: dict[str, object]) -> Judge:
    """A judge that is right about the river, and thinks that thorough is what is given."""
    return build_model(
        Judge,
        {
            "name": name,
            "kind": "check",
            "checks": {"right": {"contains": "river"}, "thorough": thorough},
        },
        "judge",
    )


#: One that takes long texts for thorough ones, and one that does not look at anything edited.
LONGISH = checks("longish", {"words": {"min": 20}})
FAIR = checks("fair", {"contains": "river"})


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


def made(store: Store, *judges: Judge, items: tuple[Item, ...] = ITEMS) -> int:
    """A finished run."""
    request = RunRequest(
        rubric_version=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(Dataset(items=items), now=NOW).id,
        panel=Panel(judges=judges),
        seed=1,
    )
    run = lifecycle.start(store, request)
    work_here(store, run)
    return run


def probed(store: Store, request: ProbeRequest) -> probe_results.ProbeResult:
    probe = probes.start(store, request)
    work_here(store, probe)
    return probe_results.result(store, probe)


def test_a_judge_that_rewards_length_is_found_and_a_fair_one_is_not(store: Store) -> None:
    run = made(store, LONGISH, FAIR)
    before = store.votes.all_ballots(run), store.results.verdicts(run), store.runs.row(run)

    found = probed(store, ProbeRequest(run, answers=24))

    # Padding of 11 words or more makes 12 words 20 or more, at every dose: 1 of one criterion, 0 of
    # the other. Per doubling that is less, since texts more than doubled: sum x / sum x^2.
    assert found.findings == [
        "longish rewards length: made twice as long by words that say nothing, the same answers "
        "earn 0.45 more of 1 (95% interval 0.43 to 0.47, 24 answers). By criterion: thorough "
        "0.89. By how much longer: 25% 0.50, 50% 0.50, 100% 0.50."
    ]
    # Nothing of it is in the run.
    after = store.votes.all_ballots(run), store.results.verdicts(run), store.runs.row(run)
    assert after == before
    assert [row.id for row in probes.of_run(store, run)] == [found.run.id]
    assert found.run.id not in [row.id for row in store.runs.list()]
    # The report says it, in a part of its own.
    (part,) = [
        one
        for one in report_as_paper(report_run(store, run)).sections
        if "asking again" in one.title
    ]
    assert part.title == "What asking again found"
    assert report_run(store, run).asked_again == tuple(found.findings)


def test_a_judge_is_not_accused_of_what_a_criterion_earns(store: Store) -> None:
    run = made(store, LONGISH, FAIR)
    earns = {"thorough": ("longer",)}
    found = probed(store, ProbeRequest(run, answers=24, earns=earns))
    # "Thorough" asks for 20 words: longer answers earn it. On "right" nothing moves.
    assert found.findings == []
    longer = [one for one in found.single if one.edit.name == "longer" and one.judge == "longish"]
    assert {one.criterion: (one.earned, one.accused) for one in longer} == {
        "right": (False, False),
        "thorough": (True, False),
    }
    assert longer[1].effect.estimate == pytest.approx(0.89, abs=0.01)
    (whole,) = [o for o in found.whole if o.edit.name == "longer" and o.judge == "longish"]
    assert (whole.earned, whole.effect.estimate) == (False, 0.0)
    with pytest.raises(InputError, match="thorouh: no criterion"):
        probes.start(store, ProbeRequest(run, earns={"thorouh": ("longer",)}))
    with pytest.raises(InputError, match="shorter: not among the edits"):
        probes.start(store, ProbeRequest(run, edits=("longer",), earns={"right": ("shorter",)}))


def test_of_a_conversation_the_last_answer_is_edited_and_of_a_pair_it_is_said_why_not(
    store: Store,
) -> None:
    talks = tuple(
        item.model_copy(
            update={
                "submission": (
                    Message(role="user", content="Where?"),
                    Message(role="assistant", content=item.output),
                    Message(role="Customer", content="Ah."),
                )
            }
        )
        for item in ITEMS
    )
    long = checks("longish", {"words": {"min": 26}})
    run = made(store, long, FAIR, items=talks)
    assert probes.edited_part(talks[0]) == ITEMS[0].output
    # Whoever writes the answer again sees what was said before.
    assert probes.item_with_text(talks[0]).context == {"What was said before": "user: Where?"}
    found = probed(store, ProbeRequest(run, answers=24))
    # 17 words with the other turns, 28 with what a dose adds to an answer of 12 at the least.
    assert [said.partition(":")[0] for said in found.findings] == ["longish rewards length"]
    longer = next(
        item
        for item in store.datasets.items(found.run.dataset_version_id)
        if item.id == "i00~longer:25"
    )
    assert isinstance(longer.submission, tuple)
    first, answer, last = longer.submission
    assert (first.content, last.content) == ("Where?", "Ah.")
    assert answer.content.startswith(f"{ITEMS[0].output}\n\n")

    pairs = (ITEMS[0].model_copy(update={"submission": Pair(first="A", second="B")}),)
    with pytest.raises(InputError, match="a pair has two answers of which one is chosen"):
        probes.start(store, ProbeRequest(made(store, FAIR, items=pairs)))


def test_every_judge_is_asked_twice_as_it_was_and_once_under_each_edit(
    store: Store, provider: Provider
) -> None:
    model = Judge(name="m", model="gpt-4o", api_base=provider.url, price_in=1, price_out=1)
    run = made(store, model, items=ITEMS[:4])
    asked = provider.count
    request = ProbeRequest(run, edits=("authority", "name", "order"), answers=3)

    outlook = probes.estimate(store, request)
    found = probed(store, request)

    # 3 answers of 2 criteria: original, again, a neutral line, authority, two makers' names,
    # reversed.
    assert (outlook.calls, provider.count - asked) == (42, 42)
    assert outlook.cost is not None
    assert found.answers == 3
    # Nothing is taken from kept answers: a second time everything is asked anew.
    probed(store, request)
    assert provider.count - asked == 84


def test_twins_are_shown_options_as_their_original_and_the_reversed_one_in_reverse(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: ok(1)
    model = Judge(name="m", model="gpt-4o", api_base=provider.url)
    run = made(store, model, items=ITEMS[:6])
    probe = probes.start(store, ProbeRequest(run, edits=("longer", "order"), answers=6))
    work_here(store, probe)

    orders = {
        vote.cell: vote.order
        for item in store.runs.item_ids(probe)
        for vote in store.votes.for_item(probe, item)
    }
    for item in ITEMS[:6]:
        for criterion in ("right", "thorough"):
            shown = orders[Cell(f"{item.id}~original", criterion, "m")]
            assert orders[Cell(f"{item.id}~longer:50", criterion, "m")] == shown
            assert shown is not None
            turned = orders[Cell(f"{item.id}~order", criterion, "m")]
            # The abstention stays last.
            assert turned == (*reversed(shown[:-1]), shown[-1])
    assert set(orders.values()) == {(0, 1, 2), (1, 0, 2)}


def test_a_model_writes_what_no_rule_can_and_nothing_is_promised_of_it(
    store: Store, provider: Provider
) -> None:
    def write(body: dict[str, Any]) -> Answer:
        place = "river" if "river" in json.dumps(body) else "hill"
        return said(json.dumps({"what": "Words.", "submission": f"It lies on the {place}{LONG}"}))

    provider.rule = write
    run = made(store, LONGISH)
    model = Judge(name="w", model="gpt-4o", api_base=provider.url, price_in=1, price_out=1)
    request = ProbeRequest(run, edits=("longer-written",), answers=24)
    with pytest.raises(InputError, match="longer-written: let a model write these texts first"):
        probes.start(store, request)

    assert written_twins.estimate(store, model, request).calls == 24
    task = help_tasks.wait_for_task(store, written_twins.begin(store, model, request))
    assert (task.status, provider.count) == ("done", 24)
    found = probed(store, written_twins.probe_of(store, task))

    assert found.findings == [
        "longish rewards length: written again at about twice the length, the same answers earn "
        "0.50 more of 1 (the same on all of 24 answers). By criterion: thorough 1.00. "
        "Earned only if the model's words say more."
    ]


def test_what_cannot_be_probed_says_why(store: Store) -> None:
    run = made(store, FAIR)
    with pytest.raises(InputError, match="There is no probe louder"):
        probes.estimate(store, ProbeRequest(run, edits=("louder",)))
    with pytest.raises(InputError, match="nobody: no judge of run"):
        probes.start(store, ProbeRequest(run, judges=("nobody",)))
    with pytest.raises(NotFound, match="is not a probe"):
        probe_results.result(store, run)
    few = probed(store, ProbeRequest(run, answers=5))
    assert "Only 5 items can be compared" in probe_results.as_text(few)
