"""A server for a team as tests configure it, and members of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.access import Actor, TeamAccess, TeamRole
from core.settings import load_settings

CONFIG = """
[access]
login = "required"
allowed_domains = ["example.org"]
admins = ["Alice@Example.org"]
session_hours = 12

[[provider]]
name = "vllm"
address = "http://10.0.0.5:8000/v1"
key_env = "VLLM_KEY"
roles = ["author", "lead"]
monthly_usd = 2.0
person_usd = 1.5

[[provider]]
name = "openai"
models = ["openai/"]
"""


def team(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str = CONFIG) -> TeamAccess:
    """The configuration, in force for this test."""
    file = folder / "studio.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("RUBRIC_STUDIO_CONFIG", str(file))
    found = load_settings().access
    assert found is not None
    return found


def member(role: TeamRole, name: str = "") -> Actor:
    """Somebody with this role, signed in on a page."""
    return Actor(name or f"{role}@example.org", role)
