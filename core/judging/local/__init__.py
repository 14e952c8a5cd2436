"""Models on the user's own machines: their addresses, and a server for a model file."""

from __future__ import annotations

__all__ = ["model_file", "own_address"]
