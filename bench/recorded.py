"""Recorded votes with their truth, for the measurements that replay them (prints nothing).

Reads ``../shared/data``; ``found()`` says whether it is there.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.domain.base import build_model
from core.domain.rubric import Criterion
from core.scoring.verdict import Ballot
from core.services.results.weight_fit_kinds import LabelledCell

DATA = Path(__file__).parents[2] / "shared" / "data"
PAIR: list[dict[str, object]] = [
    {"label": "output_1", "value": 0},
    {"label": "output_2", "value": 1},
]
FIVE_MODELS = ("GPT-4", "ChatGPT", "PaLM2", "LLaMA2", "Falcon")


class Recorded(NamedTuple):
    """One criterion, and its cells: votes and truth per item."""

    name: str
    criterion: Criterion
    cells: tuple[LabelledCell, ...]


def found() -> bool:
    """Whether the recorded votes are there."""
    return (DATA / "llmbar" / "votes.csv").exists()


def llmbar(prompt: str, *, orders: Sequence[str] = ("original",), name: str = "") -> Recorded:
    """What five models answered under one prompt; without an answer there is no vote."""
    raters = {f"{model}/{prompt}" for model in FIVE_MODELS}
    rows = [
        row
        for row in _rows("llmbar")
        if row["rater_id"] in raters and row["order"] in orders and row["label"]
    ]
    return _recorded("llmbar", name or f"LLMBar, five models, {prompt}", PAIR, rows)


def dices(raters: Sequence[int]) -> Recorded:
    """What these people of 123 said; the truth is the expert's."""
    wanted = {f"r{number:03}" for number in raters}
    options: list[dict[str, object]] = [
        {"label": "safe", "value": 1},
        {"label": "unsure", "value": 0.5},
        {"label": "unsafe", "value": 0},
    ]
    rows = [row for row in _rows("dices350") if row["rater_id"] in wanted]
    return _recorded("dices350", f"DICES-350, {len(wanted)} raters", options, rows)


def hanna(aspect: str, prompt: str) -> Recorded:
    """How five models rated stories under one prompt, 1 to 5; the truth is the median of three
    people. The votes are means of repeats, as their label rounds them.
    """
    rows = [row for row in _rows("hanna") if row["criterion"] == aspect]
    people: dict[str, list[int]] = {}
    for row in rows:
        if row["rater_kind"] == "human":
            people.setdefault(row["item_id"], []).append(int(row["label"]))
    truth = {item: str(sorted(said)[len(said) // 2]) for item, said in people.items()}
    asked = [row for row in rows if row["rater_id"].endswith(f"/{prompt}") and row["label"]]
    return _graded(f"HANNA {aspect}, five models, {prompt}", asked, truth, 5)


def llm_rubric(criterion: str) -> Recorded:
    """How one model rated conversations, 1 to 4; the truth is what the one person said."""
    rows = [
        row
        for row in _rows("llm_rubric_real")
        if row["criterion"] == criterion and row["label"].isdigit()
    ]
    truth = {row["item_id"]: row["label"] for row in rows if row["rater_kind"] == "human"}
    asked = [row for row in rows if row["rater_kind"] == "llm"]
    return _graded(f"LLM-Rubric {criterion}, one model", asked, truth, 4)


def _graded(name: str, rows: list[dict[str, str]], truth: dict[str, str], levels: int) -> Recorded:
    options = [{"label": str(level + 1), "value": level / (levels - 1)} for level in range(levels)]
    data = {"name": "c", "requirement": "r", "scale": "ordinal", "weight": 1, "options": options}
    votes: dict[str, list[Ballot]] = {}
    for row in rows:
        ballot = Ballot(int(row["label"]) - 1, False, 1.0, row["rater_id"])
        votes.setdefault(row["item_id"], []).append(ballot)
    cells = tuple(
        LabelledCell(item, votes[item], int(label) - 1)
        for item, label in truth.items()
        if item in votes
    )
    return Recorded(name, build_model(Criterion, data, "criterion"), cells)


@cache
def _rows(folder: str) -> list[dict[str, str]]:
    with (DATA / folder / "votes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _recorded(
    folder: str, name: str, options: list[dict[str, object]], rows: list[dict[str, str]]
) -> Recorded:
    key = rows[0]["criterion"]
    criterion = build_model(
        Criterion,
        {"name": key, "requirement": "r", "scale": "nominal", "weight": 1, "options": options},
        "criterion",
    )
    place = {option.label: index for index, option in enumerate(criterion.choices)}
    votes: dict[str, list[Ballot]] = {}
    for row in rows:
        ballot = Ballot(place[row["label"]], False, 1.0, row["rater_id"])
        votes.setdefault(row["item_id"], []).append(ballot)
    with (DATA / folder / "items.jsonl").open(encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    cells = tuple(
        LabelledCell(item["id"], votes.get(item["id"], []), place[item["labels"][key]])
        for item in items
    )
    return Recorded(name, criterion, cells)


def gpt4() -> Recorded:
    """What one model answered under eight prompts, each in both orders."""
    rows = [r for r in _rows("llmbar") if r["rater_id"].startswith("GPT-4/") and r["label"]]
    apart = [{**row, "rater_id": f"{row['rater_id']} {row['order']}"} for row in rows]
    return _recorded("llmbar", "LLMBar, GPT-4, 8 prompts x 2 orders", PAIR, apart)
