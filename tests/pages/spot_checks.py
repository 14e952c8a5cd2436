"""A small rubric, a registered model on loopback, and the Runner's work done in the test itself."""

from __future__ import annotations

from core.domain.rubric import Criterion, Option, Rubric
from core.services.judges import registry
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.services.runs.runner import work_here
from core.store.store import Store

RUBRIC = Rubric(
    name="Tide answers",
    criteria=(
        Criterion(name="Cause", requirement="Names the Moon.", weight=6),
        Criterion(
            name="Depth",
            requirement="How deep is it?",
            weight=4,
            scale="ordinal",
            options=(
                Option(label="Shallow", value=0.0),
                Option(label="Deep", value=1.0),
            ),
        ),
    ),
)


def saved_rubric(store: Store, rubric: Rubric = RUBRIC) -> str:
    """The rubric in the library; its id as text."""
    return str(library.save(store, "new-x", draft_from(rubric)).rubric_id)


def model(store: Store, url: str, name: str = "Ann", **more: object) -> str:
    """A registered judge behind ``url``, asked once per cell, without shuffling; its name."""
    settings = {"name": name, "model": "scripted", "api_base": url, "door": "openai"}
    registry.save_judge(store, {**settings, "tries": 1, "shuffle": False, **more})
    return name


def worked_off(store: Store, run_id: int) -> None:
    """Do what the Runner does, here and now."""
    work_here(store, run_id, tick=0.02)
