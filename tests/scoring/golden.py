"""The recorded outputs of a peer, read from beside the repository; tests skip where absent."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tests.places import SHARED

GOLDEN = SHARED / "parity" / "autorubric_golden.json"


@cache
def _read() -> dict[str, Any]:
    return dict(json.loads(GOLDEN.read_text("utf-8")))


def golden(key: str) -> Any:
    """One section of the recorded outputs."""
    if not GOLDEN.exists():
        pytest.skip("the recorded outputs are not beside the repository (shared/data/parity)")
    return _read()[key]
