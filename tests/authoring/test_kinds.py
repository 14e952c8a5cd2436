"""Every kind of help task is worked on by the module that begins it."""

from __future__ import annotations

from inspect import iscoroutinefunction

from core.services import drafting, generating, generating_edits, improving, improving_loop
from core.services.helping_work import MODULES, work_of


def test_each_kind_has_its_work() -> None:
    begun = {m.KIND for m in (drafting, generating, generating_edits, improving, improving_loop)}
    assert set(MODULES) == begun
    assert all(iscoroutinefunction(work_of(kind)) for kind in MODULES)
    for module in (drafting, generating, generating_edits, improving):
        assert MODULES[module.KIND] == module.__name__
