"""Votes on pairs become contests, whose leaderboard a person can count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.dataset import Pair
from core.formats.known import kind_of
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools.known_tools import read_items
from core.services.imports import import_files
from core.services.pairwise import contests
from tests.command_line import cli
from tests.formats.votes.foreign_files import lines
from tests.new_store import new_store


def battle(number: int, a: str, b: str, winner: str, **more: Any) -> dict[str, Any]:
    def talk(said: str) -> list[dict[str, str]]:
        return [
            {"role": "user", "content": f"Question {number}?"},
            {"role": "assistant", "content": said},
        ]

    return {
        "question_id": f"q{number}", "model_a": a, "model_b": b, "winner": winner,
        "judge": "arena_user_1", "conversation_a": talk(f"{a} says"),
        "conversation_b": talk(f"{b} says"), "turn": 1, "anony": True, "tstamp": 1.0,
    } | more  # fmt: skip


#: x beats y twice (once shown second), ties once; y beats z; both were bad once.
BATTLES = [
    battle(1, "x", "y", "model_a"),
    battle(2, "y", "x", "model_b"),
    battle(3, "x", "y", "tie"),
    battle(4, "y", "z", "model_a"),
    battle(5, "x", "z", "tie (bothbad)"),
]


def test_a_battle_is_an_item_of_two_answers_as_they_were_shown() -> None:
    source = open_bytes(lines(BATTLES).encode(), "battles.jsonl")
    assert kind_of(source) == "arena"

    found = read_bundle(source, "arena")

    second = found.dataset.items[1]
    assert isinstance(second.submission, Pair)
    assert (second.submission.first, second.submission.second) == ("y says", "x says")
    assert (second.prompt, second.meta["swapped"]) == ("Question 2?", True)
    (criterion,) = found.rubric.criteria
    assert (criterion.scale, [o.label for o in criterion.options]) == (
        "nominal", ["A is better", "B is better", "Tie", "Both bad"])  # fmt: skip
    labels = [criterion.choices[v.option or 0].label for v in found.votes.rows]
    assert labels == ["A is better", "B is better", "Tie", "A is better", "Both bad"]


@pytest.mark.parametrize("kind", ["arena", "pairs"])
def test_turns_that_both_conversations_share_are_the_prompt_and_none_is_lost(kind: str) -> None:
    def talk(who: str) -> list[dict[str, str]]:
        said = ("system", "Be kind."), ("user", "Why?"), ("assistant", f"{who} one")
        said += ("user", "More?"), ("assistant", f"{who} two")
        return [{"role": role, "content": content} for role, content in said]

    own = {
        "arena": {"conversation_a": talk("x"), "conversation_b": talk("y")},
        "pairs": {"chosen": talk("x"), "rejected": talk("y"), "prompt": "Why?"},
    }[kind]
    rows = [battle(n, "x", "y", "model_a") | own for n in range(3)] if kind == "arena" else [own]
    found = read_bundle(open_bytes(lines(rows).encode(), "b.jsonl"), kind)

    item = found.dataset.items[0]
    assert isinstance(item.submission, Pair)
    assert item.prompt == "system: Be kind.\n\nuser: Why?"
    answer = "assistant: {0} one\n\nuser: More?\n\nassistant: {0} two"
    assert item.submission.first == answer.format("x")
    assert item.submission.second == answer.format("y")


def test_the_leaderboard_counts_what_was_voted(tmp_path: Path) -> None:
    file = tmp_path / "battles.jsonl"
    file.write_text(lines(BATTLES))
    store = new_store(tmp_path / "x.db")

    run = import_files.import_path(store, file)["run"]

    assert contests.is_contest(store, run)
    assert [row.id for row in contests.contest_runs(store)] == [run]
    done = cli("rank", str(run), "--db", str(store.path), "--json")
    ranked = json.loads(done.stdout)["overall"]["standings"]
    # x: two wins, a tie, and both bad; y: a win, a tie, two losses; z: both bad, and a loss.
    counted = {r["system"]: (r["wins"], r["ties"], r["losses"]) for r in ranked}
    assert counted == {"x": (2, 2, 0), "y": (1, 1, 2), "z": (0, 1, 1)}


def test_mt_benchs_judge_saw_both_orders() -> None:
    rows = [
        {"question_id": 81, "model_1": "x", "model_2": "y", "g1_winner": g1, "g2_winner": g2,
         "judge": ["gpt-4", "pair-v2"], "g1_judgment": "[[A]]", "g2_judgment": "[[B]]",
         "turn": turn, "tstamp": 1.0}
        for turn, g1, g2 in ((1, "model_1", "model_1"), (2, "tie", "error"))
    ]  # fmt: skip
    source = open_bytes(lines(rows).encode(), "gpt-4_pair.jsonl")
    assert kind_of(source) == "mt_bench"

    found = read_bundle(source, "mt_bench")

    (criterion,) = found.rubric.criteria
    assert [
        (v.cell.item, None if v.option is None else criterion.choices[v.option].label)
        for v in found.votes.rows
    ] == [
        ("question 81, turn 1 · 0-1", "A is better"),
        ("question 81, turn 1 · 1-0", "B is better"),  # model 1 again, shown second
        ("question 81, turn 2 · 0-1", "Tie"),
        ("question 81, turn 2 · 1-0", None),
    ]
    assert found.details == {"contest": {"design": {}, "systems": ["x", "y"], "datasets": []}}
    assert found.dataset.items[0].meta["text_available"] is False


@pytest.mark.parametrize("heads", [("answer_1", "answer_2"), ("Reply A", "Reply B"), ("", "")])
def test_texts_beside_mt_benchs_pairs_are_read_in_both_orders(heads: tuple[str, str]) -> None:
    def said(who: str, n: int) -> str:
        return f"River {n} is long, says {who}, and it is deep, too."

    rows = [
        {"question_id": n, "model_1": "x", "model_2": "y", "g1_winner": "model_1", "turn": 1,
         "g2_winner": "tie", "judge": ["gpt-4", "pair-v2"], "g1_judgment": f"{n} is clear to me.",
         "g2_judgment": f"I cannot tell which of {n} it is.", "prompt": f"How long is river {n}?"}
        | ({heads[1]: said("y", n), heads[0]: said("x", n)} if heads[0] else {})
        for n in range(6)
    ]  # fmt: skip
    found = read_bundle(open_bytes(lines(rows).encode(), "gpt-4_pair.jsonl"), "mt_bench")

    items = {item.id: item for item in found.dataset.items}
    assert len(items) == 12
    assert {item.prompt for item in items.values()} == {row["prompt"] for row in rows}
    for id, order in (("question 3, turn 1 · 0-1", "xy"), ("question 3, turn 1 · 1-0", "yx")):
        texts = items[id].submission
        assert isinstance(texts, Pair)
        told = [said(who, 3) for who in order] if heads[0] else ["", ""]
        assert [texts.first, texts.second] == told
        assert ("text_available" in items[id].meta) is (not heads[0])
    assert not [n for n in found.notices if "left out" in n.message or "--map" in n.mend]
    unread = {role.column for role in found.roles if role.role == "ignored"}
    assert not unread & {*heads, "prompt"}


def test_more_people_than_can_be_told_apart_are_one_rater() -> None:
    rows = [battle(n, "x", "y", "model_a", judge=f"arena_user_{n}") for n in range(250)]

    found = read_bundle(open_bytes(lines(rows).encode(), "b.jsonl"), "arena")

    assert {v.rater for v in found.votes.rows} == {"people"}
    assert any("250 people voted" in str(notice) for notice in found.notices)


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.csv"])
def test_ids_that_begin_at_0_are_ids(name: str) -> None:
    heads = ("item", "response_a", "response_b", "model_a", "model_b", "rater", "preference")
    texts = [f"The sun rises over hill number {n} in the morning." for n in range(6)]
    rows = [
        (item, texts[2 * item], texts[2 * item + 1], "x", "y", rater, "ab"[rater])
        for item in range(3)
        for rater in range(2)
    ]
    data = lines([dict(zip(heads, row, strict=True)) for row in rows])
    if name.endswith("csv"):
        data = "\n".join(",".join(map(str, row)) for row in (heads, *rows))
    found = read_bundle(open_bytes(data.encode(), name), "pairs")

    assert [item.id for item in found.dataset.items] == [f"{n} · 0-1" for n in range(3)]
    assert {row.rater for row in found.votes.rows} == {"0", "1"}


def test_battles_of_question_0_are_one_task() -> None:
    battles = [battle(0, "x", "y", "tie", question_id=0, judge=judge) for judge in ("kim", "lee")]
    found = read_bundle(open_bytes(lines(battles).encode(), "battles.jsonl"), "arena")
    assert [item.id for item in found.dataset.items] == ["0, turn 1 · 0-1"]


def test_long_texts_that_are_left_out_are_named_without_a_map_that_loses_the_votes() -> None:
    told = "The first is right about the river, the second only about the sea."
    rows = [battle(n, "x", "y", "tie") | {"judge_notes": f"{told} {n}"} for n in range(6)]
    source = open_bytes(lines(rows).encode(), "battles.jsonl")

    (left_out,) = [n for n in read_bundle(source, "arena").notices if "left out" in n.message]

    assert left_out.message == "Texts that are left out: 'judge_notes'."
    assert left_out.mend == ""
    items = read_items(lines(rows), "battles.jsonl", changes=["submission=judge_notes"])
    assert items.value.items[0].text == f"{told} 0"


def test_the_prompt_beside_a_conversation_is_the_prompt() -> None:
    rows = [battle(n, "x", "y", "tie") | {"prompt": f"Lamp {n}?"} for n in range(2)]
    for row in rows:
        for side in "ab":
            del row[f"conversation_{side}"][0]
    source = open_bytes(lines(rows).encode(), "battles.jsonl")
    assert read_bundle(source, "arena").dataset.items[1].prompt == "Lamp 1?"


def test_how_much_better_an_answer_is_is_said_to_be_lost() -> None:
    rows = [{"a": f"River {n} carries sand.", "b": f"Lamp {n} gives light."} for n in range(4)]
    words = ("A much better", "B much better", "A slightly better", "about the same")
    rows = [
        {"answer_a": row["a"], "answer_b": row["b"], "preference": word}
        for row, word in zip(rows, words, strict=True)
    ]
    source = open_bytes(lines(rows).encode(), "pairs.jsonl")
    said = [notice.message for notice in read_bundle(source, "pairs").notices]
    assert "How much better is not kept: 'A much better'." in said


def test_preferences_between_the_sides_are_counted_and_said(tmp_path: Path) -> None:
    """Of 1, 2, 1.5, 1.22, 1.9 and 1.73, four times each, three lean to a side."""
    heads = "instruction,output_1,generator_1,output_2,generator_2,annotator,preference"
    texts = (
        "How deep is lake {n}?,It is {n} metres deep.,m-one,Nobody has measured lake {n} yet.,m-two"
    )
    cells = (1, 2, 1.5, 1.22, 1.9, 1.73) * 4
    rows = [f"{texts.format(n=n)},judge-x,{cell}" for n, cell in enumerate(cells)]
    file = tmp_path / "annotations.csv"
    file.write_text("\n".join([heads, *rows]))
    said = str(import_files.import_path(new_store(tmp_path / "x.db"), file)["notices"])
    assert "12 preferences in 'preference' lie between the sides, as '1.22'" in said
    assert "'A is better' 4, 'B is better' 8." in said
