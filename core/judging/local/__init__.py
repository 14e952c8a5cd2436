"""Models on machines of one's own: whose addresses these are, and a model file's own server."""

from __future__ import annotations

__all__ = ["model_file", "own_address"]
