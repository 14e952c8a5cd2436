"""One hostile answer in twenty, twelve ways of it, and a text without an end: each takes one cell.

Over real HTTP and processes; `python -m bench.faults --row poison` tries each way by itself.
"""

import pytest

from bench.faults import poison


@pytest.mark.parametrize("how", poison.HOW)
def test_each_poison_takes_its_own_cell_and_the_run_beside_goes_on(how: str) -> None:
    # 60 texts x 2 criteria x 2 judges, one answer of 20 hostile: each of the twelve ways once.
    row, kinds = poison.lived_through(how, *poison.WAYS, items=60, one_of=20)

    assert row.wrong == []
    # What can be read is a vote; the check that hung, and of the twelve at most one cell each.
    assert kinds["code"] == 1
    assert 0 < kinds.total() <= 13
