"""Whatever was rated, the report holds: finite numbers, a reason for each gap, ends in order."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from core.cli.reports_as_text import metrics_as_text
from core.domain.base import build_model
from core.domain.dataset import Item, Label
from core.domain.rubric import Rubric
from core.metrics.agreement.ratings import State
from core.services.agreement.metrics_report import metrics_report
from core.services.agreement.rating_tables import gather_ratings
from core.services.agreement.ratings import RatedAnswer, Rater

THREE = [{"label": label, "value": value} for label, value in (("x", 0), ("y", 0.5), ("z", 1))]
RUBRIC = build_model(
    Rubric,
    {
        "criteria": [
            {"name": "binary", "requirement": "r"},
            {"name": "ordinal", "requirement": "r", "scale": "ordinal", "options": THREE},
            {"name": "nominal", "requirement": "r", "scale": "nominal", "options": THREE},
        ]
    },
    "rubric",
)
RATERS = [Rater("A", "human"), Rater("B", "human"), Rater("J", "llm"), Rater("K", "offline")]

#: Per cell: -1 not asked, -2 failed, otherwise a choice (the last one abstains).
cells = st.lists(st.integers(-2, 3), min_size=12, max_size=12)
labels = st.lists(st.integers(-1, 2), min_size=3, max_size=3)


def _rated(rows):
    answers, items = [], []
    for at, (given_by, truth) in enumerate(rows):
        found = {}
        for c, criterion in enumerate(RUBRIC.criteria):
            last = len(criterion.choices) - 1
            if truth[c] >= 0:
                found[criterion.name] = Label(label=criterion.choices[min(truth[c], last)].label)
            for r, rater in enumerate(RATERS):
                code = given_by[c * 4 + r]
                if code == -1:
                    continue
                option = None if code == -2 else min(code, last)
                state = State.ANSWERED if option != last else State.ABSTAINED
                state = State.FAILED if code == -2 else state
                answers.append(RatedAnswer(str(at), criterion.name, rater, option, state))
        items.append(Item(id=str(at), submission="t", labels=found))
    return gather_ratings(RUBRIC, items, answers)


def _gaps(found, path=()):
    """(path, reason) of every number that is missing."""
    reasons = found.get("undefined", {})
    for key, value in found.items():
        if key == "ci":
            for name, ends in value.items():
                if ends is None:
                    yield (*path, "ci", name), reasons.get(f"ci.{name}")
                else:
                    assert ends[0] <= ends[1], (path, name)
        elif isinstance(value, dict) and key != "undefined":
            if key == "mean_pairwise_cohen":
                yield from (
                    ((*path, w), reasons[f"{key}.{w}"]) for w, k in value.items() if k is None
                )
            else:
                yield from _gaps(value, (*path, key))
        elif value is None:
            yield (*path, key), reasons.get(key)


@given(
    st.lists(st.tuples(cells, labels), min_size=1, max_size=8),
    st.sampled_from([0, 30]),
    st.sampled_from([None, "human", "gold", *(rater.name for rater in RATERS)]),
)
def test_whatever_was_rated_every_gap_has_its_reason(rows, bootstrap, reference):
    rated = _rated(rows)
    # Who rated nothing at all is no rater there.
    there = {None, "human", "gold", *(rater.name for rater in rated.raters)}
    found = metrics_report(rated, reference if reference in there else None, bootstrap, 1)
    json.dumps(found, allow_nan=False)
    assert all(reason for _, reason in _gaps(found))
    assert metrics_as_text(found)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(cells, labels), min_size=2, max_size=8), st.randoms())
def test_the_order_of_items_changes_nothing(rows, random):
    other = list(rows)
    random.shuffle(other)
    one, two = (json.dumps(_rounded(metrics_report(_rated(r)))) for r in (rows, other))
    assert one == two


def _rounded(found):
    """Numbers to nine digits; raters by name, since files may list them in another order."""
    if isinstance(found, dict):
        return {key: _rounded(found[key]) for key in sorted(found)}
    return round(found, 9) + 0.0 if isinstance(found, float) else found
