"""Files changed at random are read or refused with a sentence; nothing else comes of them."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import pytest

from core.errors import InputError
from tests import mutations
from tests.mutated_files import Form, forms


def changed(form: Form, count: int) -> Iterator[bytes]:
    for seed in range(count):
        yield mutations.file(form.data, random.Random(f"{form.name} {seed}"))


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.name)
def test_a_good_file_is_read(form: Form) -> None:
    assert form.read(form.data, form.name)


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.name)
def test_a_changed_file_is_read_or_refused(form: Form) -> None:
    for data in changed(form, 100):
        with contextlib.suppress(InputError):
            form.read(data, form.name)
