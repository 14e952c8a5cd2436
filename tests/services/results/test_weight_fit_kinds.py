"""Rules that votes teach beside labels: severity taken off, and who agrees with whom.

Strict raters give two levels less, mild ones two more; each item is seen by two of four.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.weight_fit import Weights
from core.scoring.verdict import Ballot, settle
from core.services.results import weight_fit_cells
from core.services.results.weight_fit import fit_criterion
from core.services.results.weight_fit_cells import cells_of_run
from core.services.results.weight_fit_kinds import LabelledCell, LearnedCells
from core.services.results.weight_fit_words import fit_effect
from core.store.store import Store
from tests.services.comparison.world import ONE, TWO, dataset, run_with

RULES = Rules(ordinal="mean")
LEVELS = build_model(
    Criterion,
    {
        "name": "level",
        "requirement": "How good?",
        "scale": "ordinal",
        "options": [{"label": str(at), "value": at / 8} for at in range(9)],
    },
    "criterion",
)
LEANS = {"strict": -2, "stern": -2, "mild": 2, "kind": 2}
_rng = np.random.default_rng(4)
TRUE = _rng.integers(2, 7, 120)


def seen(at: int) -> list[Ballot]:
    """The two who saw an item: both strict, both mild, or one of each."""
    names = (("strict", "stern"), ("mild", "kind"), ("strict", "mild"), ("stern", "kind"))[at % 4]
    return [Ballot(int(TRUE[at]) + LEANS[name], False, 1.0, name) for name in names]


KNOWN = [LabelledCell(f"i{at:03}", seen(at), int(TRUE[at])) for at in range(40)]
OTHERS = [seen(at) for at in range(40, 120)]


def test_what_a_rater_gives_less_than_others_is_added_where_raters_saw_other_items() -> None:
    lesson = LearnedCells(LEVELS, KNOWN, OTHERS)
    assert "severity" in lesson.kinds
    fitted = fit_criterion(LEVELS, KNOWN, RULES, OTHERS)
    assert not isinstance(fitted, str)
    assert (fitted.kind, fitted.better) == ("severity", True)
    assert "less what each judge gives more than others" in fit_effect(fitted)
    # Without a label, seen by the two strict alone: their mean is two too low.
    at = next(n for n in range(40, 120) if n % 4 == 0)
    plain = settle(LEVELS, seen(at), RULES)
    fair = settle(LEVELS, seen(at), RULES, weights=fitted.weights)
    assert plain is not None
    assert fair is not None
    assert plain.option == TRUE[at] - 2
    assert abs((fair.option or 0) - TRUE[at]) <= 1


def test_where_everybody_saw_everything_no_verdict_hangs_on_severity() -> None:
    whole = [
        c._replace(ballots=[Ballot(c.truth + lean, False, 1.0, n) for n, lean in LEANS.items()])
        for c in KNOWN
    ]
    assert "severity" not in LearnedCells(LEVELS, whole).kinds


def votes(at: int, hits: tuple[bool, ...]) -> list[Ballot]:
    """MET on even items in truth; of four judges these are right."""
    return [Ballot((at + (not hit)) % 2, False, 1.0, f"j{n}") for n, hit in enumerate(hits)]


def right(cells: list[LabelledCell], weights: Weights) -> int:
    """How many verdicts of a rule are the truth."""
    settled = [settle(CLEAR, cell.ballots, Rules(), weights=weights) for cell in cells]
    return sum(v is not None and v.option == c.truth for v, c in zip(settled, cells, strict=True))


CLEAR = Criterion(name="clear", requirement="It is clear.")


def test_who_agrees_with_whom_is_learnt_from_votes_and_no_label() -> None:
    # Two know, two guess: the majority errs or is split where both guessers do.
    hits = [(True, n % 10 > 0, n % 3 > 0, n % 2 > 0) for n in range(90)]
    cells = [LabelledCell(f"i{n}", votes(n, hits[n]), n % 2) for n in range(30)]
    others = [votes(n, hits[n]) for n in range(30, 90)]
    lesson = LearnedCells(CLEAR, cells, others)
    found = lesson.fit("latent", np.arange(30))
    turned = LearnedCells(CLEAR, [c._replace(truth=1 - c.truth) for c in cells], others)
    assert turned.fit("latent", np.arange(9)) == found
    assert right(cells, found) >= 29


def test_judges_who_err_together_are_not_followed_where_labels_tell() -> None:
    # Three are wrong on the same half of the items and agree perfectly; one is right nearly always.
    hits = [(n % 10 > 0, n % 4 < 2, n % 4 < 2, n % 4 < 2) for n in range(80)]
    cells = [LabelledCell(f"i{n}", votes(n, hits[n]), n % 2) for n in range(40)]
    others = [votes(n, hits[n]) for n in range(40, 80)]
    lesson = LearnedCells(CLEAR, cells, others)
    assert "latent" in lesson.kinds
    assert right(cells, lesson.fit("latent", np.arange(40))) <= 24
    fitted = fit_criterion(CLEAR, cells, Rules(), others)
    assert not isinstance(fitted, str)
    assert fitted.better
    assert fitted.kind != "latent"


def test_a_run_teaches_by_its_votes_without_labels_too(store: Store) -> None:
    labels = {"clear": ["MET", "UNMET"] * 10 + [""] * 20, "tone": [""] * 40}
    answers = {j: {"clear": [0, 1] * 20, "tone": [0] * 40} for j in ("one", "two")}
    run_id = run_with(store, dataset(labels), answers, judges=(ONE, TWO))
    cells = cells_of_run(store, run_id)
    assert [len(part) for part in cells["clear"]] == [20, 20]
    assert cells["tone"][0] == []


def test_cells_read_as_columns_are_those_read_vote_by_vote(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Labels of either criterion alone, of both, of none; votes, abstentions, and nobody asked.
    labels = {"clear": ["MET", "UNMET", ""] * 20, "tone": ["", "", "", "Fair"] * 15}
    said = ([0, 1, None, 2, 0], [1, 0, 2, None, None])
    answers = {
        judge: {"clear": of * 12, "tone": of[::-1] * 12}
        for judge, of in zip(("two", "one"), said, strict=True)
    }
    run = run_with(store, dataset(labels), answers, judges=(ONE, TWO))
    by_columns = cells_of_run(store, run)
    monkeypatch.setattr(
        weight_fit_cells._VotesOfCells,
        "of",
        lambda self, of, rows, counting: self._cells_one_by_one(of.name, rows, counting),
    )
    assert cells_of_run(store, run) == by_columns
    known, _ = by_columns["clear"]
    assert any(ballot.abstained for cell in known for ballot in cell.ballots)
    # Of equal votes there is one object, which is looked at once.
    assert len({id(cell.ballots) for cell in known}) == len({tuple(c.ballots) for c in known})
