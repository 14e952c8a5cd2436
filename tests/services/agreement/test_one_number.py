"""One statistic, one value, one interval and one format, on every surface of a run (issue 12, A9).

Two judges, a binary and an ordinal criterion, sixty labelled items; every surface is asked for what
it tells, and each statistic must be the same everywhere it is told.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.cli import main
from core.cli.reports_as_text import metrics_as_text
from core.services.agreement import (
    load_ratings,
    rater_pairs,
    rating_sheet,
    reliability,
    score_agreement,
)
from core.services.agreement.ratings import LABELS, PANEL
from core.services.diagnostics.criterion_faults import criterion_candidates
from core.services.diagnostics.diagnosis import diagnose
from core.services.diagnostics.evidence import evidence_of
from core.services.reports import worked_example
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.store.store import Store
from core.text.numbers import interval, percent, score
from tests.new_store import new_store
from tests.pages.agreement.test_views import imported

ONE, TWO = "judge:one", "judge:two"
Told = tuple[float | None, float | None, float | None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "studio.db")
    yield opened
    opened.close()


@pytest.fixture
def run(store: Store) -> int:
    return imported(store, {"one": "imported", "two": "imported"}, labelled=True)


def asked(store: Store, *command: str) -> Any:
    """What the command line says, as plain data."""
    found = CliRunner().invoke(main, [*command, "--json", "--db", str(store.path)])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def measured(store: Store, run: int) -> dict[str, Any]:
    return asked(store, "metrics", str(run), "--bootstrap", "1000", "--seed", "0")  # type: ignore[no-any-return]


def in_json(figures: dict[str, Any], name: str) -> Told:
    low, high = figures["ci"].get(name) or (None, None)
    return figures[name], low, high


def told(one: Any) -> Told:
    return one.value, one.low, one.high


def test_accuracy_and_kappa_of_the_panel_are_one_number_with_one_interval(
    store: Store, run: int
) -> None:
    pair = measured(store, run)["criteria"]["Tone"]["panel"]["vs_gold"]
    sheet = load_ratings.sheet_of_run(store, run)
    (line,) = [one for one in rater_pairs.compare_pair(sheet, LABELS, PANEL) if one.name == "Tone"]
    close = rater_pairs.pair_details(sheet, "Tone", LABELS, PANEL)
    near = dict((*close.first, *close.rest))
    (written,) = [one for one in report_run(store, run).criteria if one.name == "Tone"]
    lines = worked_example.panel_against_labels(store, run)
    (beside,) = [one for one, _ in lines if one.name == "Tone"]

    wanted = in_json(pair, "accuracy")
    assert told(line.accuracy) == told(near["accuracy"]) == told(written.accuracy) == wanted
    assert told(beside.accuracy) == wanted
    wanted = in_json(pair, "kappa_quadratic")
    assert told(line.kappa) == told(near["kappa_quadratic"]) == told(written.kappa) == wanted
    assert beside.kappa.value == wanted[0]
    for name, one in near.items():
        if name in pair and pair[name] is not None:
            assert told(one) == in_json(pair, name), name


@pytest.mark.parametrize("criterion", ["Tone", "Cites *it*"])
def test_alpha_of_two_judges_is_one_number_with_one_interval(
    store: Store, run: int, criterion: str
) -> None:
    """Of all judges, of the pair either way round, in the report, in metrics and as a finding."""
    ordinal = criterion == "Tone"
    group = measured(store, run)["criteria"][criterion]["groups"]["llm"]
    sheet = load_ratings.sheet_of_run(store, run)
    at = [one.name for one in sheet.criteria].index(criterion)
    pairs = [rater_pairs.pair_details(sheet, criterion, *two) for two in ((ONE, TWO), (TWO, ONE))]
    checks = criterion_candidates(evidence_of(store, run))
    (check,) = [c for c in checks if (c.kind, c.subject) == ("agreement", criterion)]

    name = f"krippendorff_alpha_{'ordinal' if ordinal else 'nominal'}"
    every = [
        told(reliability.alphas_of_kind(sheet)[at]),
        told(report_run(store, run).criteria[at].alpha),
        *(told(dict((*one.first, *one.rest))[name]) for one in pairs),
        (check.effect.estimate, check.effect.low, check.effect.high),
    ]
    for one in every:
        assert one == pytest.approx(in_json(group, name), abs=1e-12)


def test_a_judge_has_one_kappa_with_one_interval_alone_among_all_and_in_metrics(
    store: Store,
) -> None:
    kinds = {"ann": "person", "ben": "person", "cat": "person", "one": "imported"}
    run = imported(store, kinds)
    sheet = load_ratings.sheet_of_run(store, run)
    criteria = measured(store, run)["criteria"]
    for criterion in sheet.criteria:
        kappa = "kappa_quadratic" if criterion.scale == "ordinal" else "cohen_kappa"
        for column, figure in reliability.closeness_to_majority(sheet, criterion.name)[0].items():
            close = rater_pairs.pair_details(sheet, criterion.name, "people", column)
            name = rating_sheet.name_of(column)
            pair = criteria[criterion.name]["raters"][name]["vs_human_majority"]
            alone = dict((*close.first, *close.rest))[kappa]
            assert told(figure) == told(alone) == in_json(pair, kappa)


def test_scores_of_a_pair_are_one_number_with_one_interval(store: Store, run: int) -> None:
    sheet = load_ratings.sheet_of_run(store, run)
    scores = score_agreement.scores_of(store, run, sheet)
    pair = score_agreement.score_pair(scores, sheet, ONE, TWO)
    found = asked(store, "metrics", str(run), "--reference", "one", "--bootstrap", "1000")
    json_pair = found["score"]["raters"]["two"]["vs_reference"]

    for name, one in pair.figures.items():
        if name in json_pair and json_pair[name] is not None:
            assert told(one) == pytest.approx(in_json(json_pair, name), abs=1e-12), name


def test_the_mean_score_is_that_of_the_verdicts_and_the_judges_mean_has_its_own_name(
    store: Store, run: int
) -> None:
    items = [one["score"] for one in asked(store, "score", str(run))["items"]]
    mean = pytest.approx(sum(items) / len(items))
    written = report_run(store, run)

    assert written.scores.mean.value == mean
    assert store.results.means(run)[0] == mean
    ranked = asked(store, "rank", str(run))
    assert "judges' mean score" in json.dumps(ranked) or not ranked["matched"]
    assert '"mean score"' not in json.dumps(ranked)
    text = CliRunner().invoke(main, ["rank", str(run), "--db", str(store.path)]).stdout
    assert text.count("mean score") == text.count("judges' mean score")


def test_every_text_writes_a_figure_as_the_pages_do(store: Store, run: int) -> None:
    """0.83 and 83%, an interval as 'low to high': never 0.834 here and 0.83 there."""
    found = measured(store, run)
    pair = found["criteria"]["Tone"]["panel"]["vs_gold"]
    text = metrics_as_text(found)
    low, high = pair["ci"]["accuracy"]
    assert f"accuracy {percent(pair['accuracy'])} ({percent(low)} to {percent(high)})" in text
    group = found["criteria"]["Tone"]["groups"]["llm"]
    alpha = group["krippendorff_alpha_ordinal"]
    ends = interval(*group["ci"]["krippendorff_alpha_ordinal"])
    assert f"ordinal alpha {score(alpha)} ({ends})" in text
    words = [html.unescape(one) for one in report_as_paper(report_run(store, run)).texts()]
    assert score(alpha) in words
    assert ends in words
    for finding in diagnose(store, run).findings:
        assert " 0." not in finding.sentence
