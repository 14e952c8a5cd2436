"""Documents of other tools with values of another type are read or refused with a sentence."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.rubrics.forms import read_rubrics
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.write_back import BackCell, BackItem, write_back
from tests.formats import foreign_shapes
from tests.formats.votes.foreign_files import KNOWN
from tests.formats.votes.tools import test_inspect_logs, test_promptfoo

DOCUMENTS: dict[str, Any] = {
    "prometheus": foreign_shapes.PROMETHEUS,
    "scoring criteria": yaml.safe_load(foreign_shapes.SCORING),
    "model-graded": yaml.safe_load(foreign_shapes.FACT),
    "model-graded, criteria": yaml.safe_load(foreign_shapes.CLOSED),
    "autorubric": foreign_shapes.AUTORUBRIC,
    "tasks": foreign_shapes.TASKS,
    "graded tree": foreign_shapes.GRADED,
    "prodigy": foreign_shapes.PRODIGY,
    "prodigy, choices": foreign_shapes.CHOICES,
    "promptfoo": test_promptfoo.DOCUMENT,
    "inspect": json.loads(test_inspect_logs.FORMS["log.json"]),
    "label studio": json.loads(KNOWN["label-studio.json"]),
    "argilla": json.loads(KNOWN["argilla-records.json"]),
}
ODD: tuple[Any, ...] = (None, True, -1, 1.5, "", [], {}, [1], {"a": 1}, "1e999", 10**20, [None])
CELLS = {"k": BackCell("MET", 1.0), "l": BackCell("2", 0.5, "kim")}
ITEMS = {id: BackItem(0.5, CELLS) for id in ("1", "2", "3", "11", "q1", "test 1, one")}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield from places(value[key], (*path, key))


def changed(document: Any, seed: str) -> bytes:
    """The document with one to three values replaced or taken out."""
    chance, value = random.Random(seed), copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 2, 3))):
        path = chance.choice([*places(value)] or [()])
        inner = value
        for key in path[:-1]:
            inner = inner[key]
        if not path:
            break  # everything was taken out
        if chance.random() < 0.25 and isinstance(inner, dict):
            inner.pop(path[-1])
        else:
            inner[path[-1]] = copy.deepcopy(chance.choice(ODD))
    return json.dumps(value).encode()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_changed_document_is_read_or_refused(name: str) -> None:
    for seed in range(60):
        data = changed(DOCUMENTS[name], f"{name} {seed}")
        with contextlib.suppress(InputError):
            read_rubrics(data, "x.json")
        with contextlib.suppress(InputError):
            source = open_bytes(data, "x.json")
            read_bundle(source, kind_of(source))
        with contextlib.suppress(InputError):
            write_back(data, "x.json", ITEMS, "run 1")


def test_what_a_tool_always_writes_is_missed_with_its_name() -> None:
    document = copy.deepcopy(test_promptfoo.DOCUMENT)
    del document["results"]["results"][1]["testIdx"]
    source = open_bytes(json.dumps(document).encode(), "out.json")
    with pytest.raises(InputError, match=r"file of promptfoo is damaged .* Export it again"):
        read_bundle(source, "promptfoo")
