"""Where things lie: the program, its tests, the recorded files they are held to, shared data."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
GOLDEN = TESTS / "golden"
SHARED = ROOT.parent / "shared" / "data"
