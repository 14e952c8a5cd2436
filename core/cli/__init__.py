"""The command line: the app's actions without a browser. Heavy libraries load when needed.

Each command reads its options, calls one service and prints the result; it decides nothing itself.
Only ``python -m core.cli`` and the public package, `rubric_studio`, import this.
"""

from __future__ import annotations

from core.cli.main import main

__all__ = ["main"]
