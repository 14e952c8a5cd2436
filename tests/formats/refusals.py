"""What a refusal says, as (line, text) pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.rubrics.rubric_file import parse_rubric


def refused(call: Callable[[], Any]) -> list[tuple[int | None, str]]:
    """The lines and texts of the problems that ``call`` raises."""
    with pytest.raises(InputError) as caught:
        call()
    return [(p.line, str(p)) for p in caught.value.problems]


def rubric_refused(text: str | bytes, name: str = "r.yaml") -> list[tuple[int | None, str]]:
    return refused(lambda: parse_rubric(text, name))


def dataset_refused(
    data: str | bytes, name: str, rubric: str | None = None
) -> list[tuple[int | None, str]]:
    given = parse_rubric(rubric, "r.yaml").value if rubric else None
    return refused(lambda: parse_dataset(data, name, given))
