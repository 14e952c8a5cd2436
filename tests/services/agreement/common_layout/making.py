"""Folders of the common layout in many shapes, made from a seed."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BINARY = ("binary", ["MET", "UNMET"])
FIVE = ("ordinal", ["1", "2", "3", "4", "5"])
THREE = ("ordinal", ["poor", "fair", "good"])
FALLING = ("ordinal", ["best", "middling", "worst"])
TWO = ("ordinal", ["low", "high"])
WORDS = ("nominal", ["red", "green", "blue", "grey"])
SIDES = ("nominal", ["first", "second"])


@dataclass(frozen=True)
class Shape:
    """What a folder looks like. Shares are in [0, 1]; ``raters`` counts people, models, offline."""

    name: str
    scales: tuple[tuple[str, list[str]], ...] = (BINARY, FIVE, WORDS)
    items: int = 24
    raters: tuple[int, int, int] = (3, 2, 0)
    asked: float = 1.0
    abstain: float = 0.0
    fail: float = 0.0
    gold: float = 0.0
    na: bool = False
    orders: bool = False
    replicates: int = 0
    weights: bool = False
    noise: float = 0.5
    #: Labels as other programs write them: 3.0, true, met.
    spelling: str = ""
    names: tuple[str, ...] = ("c1", "c2", "c3", "c4")
    delimiter: str = ","
    bom: bool = False
    #: Criteria on which everybody abstains, or chooses the first option.
    silent: frozenset[int] = frozenset()
    constant: frozenset[int] = frozenset()


SHAPES = (
    Shape("plain", gold=1.0),
    Shape("ragged", asked=0.5, gold=0.4),
    Shape("many people", raters=(9, 0, 0), asked=0.4, items=30),
    Shape("judges only", raters=(0, 4, 0), gold=0.7),
    Shape("one person", raters=(1, 0, 0), gold=1.0),
    Shape("one of each kind", raters=(1, 1, 1), fail=0.1, gold=0.5),
    Shape("offline only", raters=(2, 0, 3), abstain=0.3),
    Shape("abstaining", abstain=0.35, na=True, gold=0.5),
    Shape("failing", fail=0.4, raters=(2, 3, 0), gold=0.3),
    Shape("silent and constant", silent=frozenset({0}), constant=frozenset({1}), gold=1.0),
    Shape("falling and two levels", scales=(FALLING, TWO, SIDES), gold=0.8, raters=(4, 3, 0)),
    Shape("two orders", raters=(0, 3, 0), orders=True, scales=(SIDES, THREE), fail=0.1, gold=1.0),
    Shape("replicates", raters=(2, 2, 0), replicates=3, abstain=0.1, gold=0.5),
    Shape("weights", weights=True, raters=(3, 3, 0), gold=0.5),
    Shape("perfect", noise=0.0, gold=1.0),
    Shape("one item", items=1, gold=1.0),
    Shape("two items", items=2, gold=1.0, raters=(3, 3, 0)),
    Shape("nobody", raters=(0, 0, 0), gold=1.0),
    Shape("spreadsheet", spelling="spreadsheet", gold=1.0, delimiter=";", bom=True, fail=0.1),
    Shape("odd names", names=("a, b", 'say "so"', "Größe\n😀"), gold=0.5, na=True, abstain=0.1),
)


def value_of(scale: str, labels: list[str], at: int) -> float:
    """The value of an option: even steps, falling where the first option is the best."""
    step = at / (len(labels) - 1)
    return 1 - step if scale == "binary" or labels[0] == "best" else step


def write(shape: Shape, folder: Path, seed: int) -> None:
    """The three files of the folder."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    criteria = [
        {
            "name": name,
            "requirement": "R",
            "weight": 1.0 + at,
            "scale_type": scale,
            "options": [
                {"label": label, "value": value_of(scale, labels, i), "na": False}
                for i, label in enumerate(labels)
            ]
            + ([{"label": "N/A", "value": None, "na": True}] if shape.na else []),
        }
        for at, (name, (scale, labels)) in enumerate(zip(shape.names, shape.scales, strict=False))
    ]
    # JSON is YAML.
    (folder / "rubric.yaml").write_text(json.dumps({"name": shape.name, "criteria": criteria}))
    truth = {
        (i, c): int(rng.integers(len(labels)))
        for i in range(shape.items)
        for c, (_, labels) in enumerate(shape.scales)
    }
    _write_items(shape, folder, rng, truth)
    _write_votes(shape, folder, rng, truth)


def _write_items(
    shape: Shape, folder: Path, rng: np.random.Generator, truth: dict[tuple[int, int], int]
) -> None:
    lines = []
    for i in range(shape.items):
        labels = {}
        for c, (scale, words) in enumerate(shape.scales):
            if rng.random() < shape.gold:
                away = rng.random() < shape.abstain
                label = "CANNOT_ASSESS" if away else words[truth[i, c]]
                labels[shape.names[c]] = _spelt_gold(shape, scale, label)
        lines.append(json.dumps({"id": _id(i), "submission": f"text {i}", "labels": labels}))
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")


def _id(i: int) -> str:
    return f"{i:03d}-9{i}00000000000000000007"


def _spelt_gold(shape: Shape, scale: str, label: str) -> object:
    if shape.spelling and scale == "binary":
        return label == "MET"
    return int(label) if shape.spelling and label.isdigit() else label


def _spelt(shape: Shape, scale: str, label: str) -> str:
    if not shape.spelling or not label:
        return label
    if scale == "binary":
        return {"MET": "True", "UNMET": "false"}.get(label, label)
    return f"{label}.0" if label.isdigit() else label.upper()


def _write_votes(
    shape: Shape, folder: Path, rng: np.random.Generator, truth: dict[tuple[int, int], int]
) -> None:
    head = ["item_id", "criterion", "rater_id", "rater_kind", "label"]
    more = ["order"] * shape.orders + ["replicate"] * bool(shape.replicates)
    more += ["weight"] * shape.weights + ["score"]
    rows = []
    kinds = ("human", "llm", "offline")
    raters = [(f"{k[0]}{n}", k) for k, m in zip(kinds, shape.raters, strict=True) for n in range(m)]
    for i in range(shape.items):
        for at, (rater, kind) in enumerate(raters):
            for c, (scale, labels) in enumerate(shape.scales):
                for again in range(shape.replicates or 1):
                    for order in ("as is", "swapped") if shape.orders else ("",):
                        if rng.random() >= shape.asked:
                            continue
                        label = _answer(shape, rng, c, labels, truth[i, c])
                        extra = {
                            "order": order,
                            "replicate": str(again),
                            "weight": str(at + 1),
                            "score": "4.2",
                        }
                        row = [_id(i), shape.names[c], rater, kind, _spelt(shape, scale, label)]
                        rows.append(row + [extra[m] for m in more])
    mark = "\ufeff" if shape.bom else ""
    with (folder / "votes.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(mark)
        csv.writer(file, delimiter=shape.delimiter).writerows([head + more, *rows])


def _answer(
    shape: Shape, rng: np.random.Generator, criterion: int, labels: list[str], truth: int
) -> str:
    if criterion in shape.silent:
        return "CANNOT_ASSESS"
    if rng.random() < shape.fail:
        return ""
    if rng.random() < shape.abstain:
        return "N/A" if shape.na and rng.random() < 0.5 else "CANNOT_ASSESS"
    if criterion in shape.constant:
        return labels[0]
    return labels[int(rng.integers(len(labels))) if rng.random() < shape.noise else truth]
