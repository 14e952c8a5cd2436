"""The command line: the actions of the app without a browser. Heavy libraries load when needed.

Each command reads its options, calls one service and prints; it decides nothing itself. Only
``python -m core.cli`` and the public package, `rubric_studio`, import this.
"""

from __future__ import annotations

from core.cli.main import main

__all__ = ["main"]
