"""The command line: the same verbs as the app, headless. Heavy libraries load when needed.

Each command reads its options, calls one service and prints; nothing is decided here. Nobody
imports this package but ``python -m core.cli`` and the public face, `rubric_studio`.
"""

from __future__ import annotations

from core.cli.main import main

__all__ = ["main"]
