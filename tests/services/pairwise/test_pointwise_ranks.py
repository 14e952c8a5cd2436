"""Systems ranked from pointwise scores, and the golden vectors of LLM Council's ADR-016.

Vectors: reference/council.md 1.1 and 6.7 (scores 1-10, weights .35/.10/.20/.15/.20, accuracy below
5 caps at 4.0, below 7 at 7.0). Here a level is an option worth level / 10.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.blocks.terminal import terminal_text
from core.domain.base import build_model
from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_tables import gather_ratings
from core.services.agreement.ratings import LABELS, Rated, RatedAnswer, Rater
from core.services.pairwise.leaderboard_parts import winner_differs
from core.services.pairwise.pointwise_ranks import ballots_of, compare_methods
from core.services.reports.rank_report import pointwise_report
from core.text.model_names import relation_of
from tests.scoring.test_ceiling_table import NAMES, TABLE, ceiling

Levels = tuple[int, ...]


def rated(
    marks: dict[str, dict[str, Levels]], kinds: str = "llm", rubric: Rubric | None = None
) -> Rated:
    """``marks[judge][system]`` are levels per criterion of one task; an empty tuple failed."""
    systems = list(dict.fromkeys(s for of in marks.values() for s in of))
    items = [Item(id=s, submission=f"by {s}", prompt="Q", system=s) for s in systems]
    names = NAMES if rubric is None else [c.name for c in rubric.criteria]
    answers = [
        RatedAnswer(
            system,
            name,
            Rater(judge, kinds),
            levels[at] if levels else None,
            State.ANSWERED if levels else State.FAILED,
        )
        for judge, of in marks.items()
        for system, levels in of.items()
        for at, name in enumerate(names)
    ]
    return gather_ratings(rubric or ceiling(), items, answers)


#: Accuracy 3, everything else perfect: base 7.55, capped at 4.0 (the ADR's hallucination).
HALLUCINATION = (3, 10, 10, 10, 10)
SOUND = (8, 7, 9, 6, 8)  # 7.80
POOR = (5, 5, 5, 5, 5)  # 5.00: below 7, so the cap of 7.0 does not bind


def test_a_hallucination_ranks_last_by_every_method() -> None:
    marks = {"smooth": HALLUCINATION, "sound": SOUND, "poor": POOR}
    found = compare_methods(ballots_of(rated({"j1": marks, "j2": marks})))
    for way in found.methods:
        ranks = dict(zip(found.ballots.systems, way.ranks, strict=True))
        assert ranks == {"sound": 1, "poor": 2, "smooth": 3}, way.name


@pytest.mark.parametrize("others", TABLE)
def test_the_golden_table_orders_the_accuracies_and_ties_nothing_that_differs(others: int) -> None:
    # All ten columns of a row as ten systems: the capped ones are level in score and ordered by
    # the base, so that the order is that of accuracy throughout.
    marks = {f"a{a:02}": (a, others, others, others, others) for a in range(1, 11)}
    ballots = ballots_of(rated({"judge": marks}))
    scores = dict(zip(ballots.systems, ballots.scores[0], strict=True))
    for accuracy in range(1, 11):
        assert 10 * scores[f"a{accuracy:02}"] == pytest.approx(TABLE[others][accuracy - 1])
    assert ballots.keys[0].tolist() == list(range(10))


def test_a_capped_tie_is_broken_by_the_score_before_the_cap() -> None:
    # council.md 1.1: 3/10/9/9/10 has base 7.2 and 2/10/8/10/10 has base 6.8; both come to 4.0.
    marks = {"low": (2, 10, 8, 10, 10), "high": (3, 10, 9, 9, 10)}
    ballots = ballots_of(rated({"judge": marks}))
    assert 10 * ballots.scores[0] == pytest.approx([4.0, 4.0])
    assert 10 * ballots.base[0] == pytest.approx([6.8, 7.2])
    assert compare_methods(ballots).methods[1].winners == ("high",)  # Borda
    # The mean score has them level: said, not hidden.
    assert compare_methods(ballots).methods[0].winners == ("low", "high")


def test_votes_for_oneself_are_left_out_and_the_rest_moves_together() -> None:
    # council.md 1.5: three models that each put themselves first. Gaps kept would give
    # .50/.25/.00; moved together it is 1.0/.5/0.
    top, high, low = (9,) * 5, (8,) * 5, (7,) * 5
    marks = {
        "x": {"x": top, "y": high, "z": low},
        "y": {"x": high, "y": top, "z": low},
        "z": {"x": high, "y": low, "z": top},
    }
    ballots = ballots_of(rated(marks))
    assert ballots.excluded == 3
    borda = dict(zip(ballots.systems, compare_methods(ballots).methods[1].values, strict=True))
    assert borda == {"x": 1.0, "y": 0.5, "z": 0.0}
    with_own = compare_methods(ballots_of(rated(marks), exclude=())).methods[1].values
    assert with_own[2] == pytest.approx(1 / 3)


def test_a_failed_cell_leaves_the_answer_out_and_the_rest_is_ranked() -> None:
    # council.md 6.7: a judge that gives no usable number is a cell's error; the rest completes.
    marks = {"j": {"a": (), "b": SOUND, "c": POOR}, "k": {"a": SOUND, "b": POOR, "c": POOR}}
    ballots = ballots_of(rated(marks))
    found = compare_methods(ballots)
    values = dict(zip(ballots.systems, found.methods[1].values, strict=True))
    # j ranks b before c (1, 0); k has a first and b, c level (1, .25, .25).
    assert values == {"a": 1.0, "b": 0.625, "c": 0.125}


def test_judges_that_rank_alike_but_differ_in_severity_show_as_that() -> None:
    kind = {"a": (9,) * 5, "b": (8,) * 5, "c": (7,) * 5}
    harsh = {"a": (8,) * 5, "b": (7,) * 5, "c": (7,) * 5}
    found = compare_methods(ballots_of(rated({"kind": kind, "harsh": harsh})))
    offsets = {view.judge: view.offset.value for view in found.judges}
    # Per system kind is .1, .1, 0 above harsh: a mean of .0667, and the reverse.
    assert offsets["kind"] == pytest.approx(0.2 / 3)
    assert offsets["harsh"] == pytest.approx(-0.2 / 3)
    ((_, _, spearman, _),) = found.likeness
    assert spearman.value == pytest.approx(0.866, abs=1e-3)  # ranks 1,2,3 and 1,2.5,2.5


def test_the_winner_that_depends_on_the_method_is_flagged() -> None:
    # a: once far ahead, twice just behind b. Mean: a (.9+.6+.6)/3 > b (.3+.65..)/3; Borda: b twice.
    rubric = build_model(
        Rubric,
        {
            "criteria": [
                {
                    "name": "q",
                    "requirement": "Good?",
                    "scale": "ordinal",
                    "options": [{"label": str(v), "value": v / 10} for v in range(11)],
                }
            ]
        },
        "rubric",
    )
    marks = {
        "j1": {"a": (10,), "b": (1,)},
        "j2": {"a": (6,), "b": (7,)},
        "j3": {"a": (6,), "b": (7,)},
    }
    found = compare_methods(ballots_of(rated(marks, rubric=rubric)))
    assert found.methods[0].winners == ("a",)
    assert found.methods[1].winners == ("b",)
    assert winner_differs(found.methods)
    assert any("depends on the method" in notice for notice in found.notices)


@pytest.mark.parametrize(
    ("judge", "system", "found"),
    [
        ("openai/gpt-4.1", "gpt-4.1", "self"),
        ("openai/gpt-4.1|0", "GPT-4.1", "self"),
        ("anthropic/claude-opus-4", "claude-haiku", "family"),
        ("gemini-pro", "gemma-3", "family"),
        ("gpt-4.1", "claude-haiku", ""),
        ("Ann", "Ben", ""),
        ("o3", "gpt-4.1-mini", "family"),
        ("metropolis", "llama-3", ""),
    ],
)
def test_kin_are_known_by_name(judge: str, system: str, found: str) -> None:
    assert relation_of(judge, system) == found


def test_a_report_is_plain_data_and_says_what_is_undefined() -> None:
    import json

    marks = {"a": SOUND, "b": POOR}
    report, sections = pointwise_report(rated({"j": marks}), None, (), {}, resamples=0)
    json.dumps(report, allow_nan=False)
    assert report["methods"]["z-mean"]["values"] == {"a": None, "b": None}
    assert any("z-mean" in note for note in report["notes"])
    assert report["strengths"]["standings"][0]["system"] == "a"
    # To be read are the ways that rank, and no agreement of which nothing can be told.
    text = terminal_text(sections[1:])
    assert "Borda" in text
    assert "z-mean" not in text
    assert "Kendall" not in text


def test_items_that_name_no_system_cannot_be_ranked() -> None:
    plain = rated({"j": {"a": SOUND, "b": POOR}})
    unnamed = tuple(item.model_copy(update={"system": ""}) for item in plain.items)
    with pytest.raises(InputError, match="cannot be joined"):
        ballots_of(replace(plain, of=replace(plain.of, read=lambda: unnamed)))


def test_ranks_by_votes_say_that_labels_have_no_say_in_them() -> None:
    source = rated({"j": {"a": SOUND, "b": POOR}})
    assert not [note for note in compare_methods(ballots_of(source)).notices if "labels" in note]
    first = source.criteria[0]
    columns = {**first.columns, LABELS: np.array([0, -1])}
    some = replace(source, criteria=(replace(first, columns=columns), *source.criteria[1:]))

    assert (
        "Ranks go by the votes; labels of 1 of 2 items have no say in them. Where labels are known "
        "to be drawn at random, the systems' means are corrected by them."
    ) in compare_methods(ballots_of(some)).notices


def test_of_two_systems_no_z_mean_is_missed() -> None:
    found = compare_methods(ballots_of(rated({"j": {"a": SOUND, "b": POOR}})))
    assert [note for note in found.notices if "z-mean" in note] == [
        "There is no z-mean: it needs three systems."
    ]
