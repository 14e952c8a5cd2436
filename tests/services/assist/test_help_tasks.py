"""Every kind of help task is worked on by the module that begins it."""

from __future__ import annotations

from inspect import iscoroutinefunction

from core.services.assist import (
    counterfactuals,
    generated_items,
    improvement_loop,
    proposals,
    rubric_draft,
    written_twins,
)
from core.services.assist.help_tasks import MODULES, work_of


def test_each_kind_has_its_work() -> None:
    begun = {
        m.KIND
        for m in (
            *(rubric_draft, generated_items, counterfactuals, proposals, improvement_loop),
            written_twins,
        )
    }
    assert set(MODULES) == begun
    assert all(iscoroutinefunction(work_of(kind)) for kind in MODULES)
    for module in (rubric_draft, generated_items, counterfactuals, proposals, written_twins):
        assert MODULES[module.KIND] == module.__name__
