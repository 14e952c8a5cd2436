"""The command line: the same verbs as the app, headless. Heavy libraries load when needed."""

from __future__ import annotations

from core.cli.main import main

__all__ = ["main"]
