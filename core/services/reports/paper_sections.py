"""The sections of a report's paper: setup, criteria and raters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.blocks.blocks import (
    Block,
    NamedValues,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.estimates import estimate_cell
from core.identity import canonical_json
from core.metrics.estimate import USUAL
from core.metrics.intervals.bootstrap import SMALL
from core.services.agreement.calibration import PEOPLE_ARE, people_beaten_words
from core.services.reports.report_values import (
    JudgeFacts,
    RaterLine,
    RunReport,
    Setup,
    day_and_time,
    rater_kind,
    reported_number,
)
from core.services.reports.report_values import reported_number as counted
from core.services.runs.lifecycle import lost_calls_words
from core.text.numbers import (
    DASH,
    cost,
    count,
    level_words,
    number,
    percent,
    score,
    seconds,
    tokens,
)


def setup_section(report: RunReport) -> Section:
    """Return the setup: the graded items, the rubric, and the judges."""
    setup = report.setup
    rules = ", ".join(f"{scale} by {rule}" for scale, rule in setup.rules.items())
    times = setup.created, setup.started, setup.finished
    rows = [
        ("Rubric", TextCell(f"{setup.rubric}, {_version_words(setup)}", setup.rubric_hash)),
        (
            "Dataset",
            TextCell(f"{setup.dataset}, version {setup.dataset_number}", setup.dataset_hash),
        ),
        ("Panel", TextCell(setup.panel, setup.panel_hash)),
        ("Votes become a verdict", TextCell(rules)),
        ("Abstained criteria", TextCell(setup.abstention)),
        *(
            (f"Asked: {_fact_name(key)}", TextCell(value))
            for key, value in setup.asking.items()
            if value
        ),
        ("Replicates", TextCell(count(setup.replicates))),
        ("Seed", TextCell(str(setup.seed))),
        ("Learned from", TextCell(f"{count(setup.learned_from)} labelled items, left out here")),
        ("Imported", TextCell(_plain_facts(setup.imported))),
        ("Made, started, finished", TextCell(", ".join(map(day_and_time, times)))),
        (
            "Versions",
            TextCell(", ".join(f"{name} {version}" for name, version in setup.versions.items())),
        ),
    ]
    shown_facts = {
        "Imported": bool(setup.imported),
        "Versions": bool(setup.versions),
        "Learned from": bool(setup.learned_from),
    }
    facts = tuple(row for row in rows if shown_facts.get(row[0], True))
    blocks: list[Block] = [NamedValues("What was graded how", facts), _judge_table(report)]
    learned = _training_table(report)
    return Section("What was graded how", (*blocks, *((learned,) if learned.rows else ())))


def _fact_name(key: str) -> str:
    return key.replace("_", " ")


def _plain_facts(facts: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{_fact_name(key)}: {value if isinstance(value, str) else canonical_json(value)}"
        for key, value in facts.items()
    )


def _judge_table(report: RunReport) -> TableBlock:
    rows = tuple(map(_judge_row, report.setup.judges))
    headings = ("Judge", "Model", "Weight", "Settings that are not the default")
    return TableBlock("Judges", headings, rows, (2,))


def _judge_row(judge: JudgeFacts) -> tuple[TextCell, ...]:
    settings = ", ".join(f"{_fact_name(key)} {value}" for key, value in judge.settings.items())
    counts = "votes without counting" if judge.shadow else ""
    return (
        TextCell(judge.name, counts),
        TextCell(judge.model or DASH, rater_kind(judge.kind)),
        TextCell(number(judge.weight)),
        TextCell(settings or DASH),
    )


def _training_table(report: RunReport) -> TableBlock:
    rows = tuple(
        (
            TextCell(judge.name),
            TextCell(line.criterion, "" if line.trained else f"switched off: {line.reason}"),
            TextCell(count(line.n)),
            TextCell(percent(line.accuracy)),
            TextCell(percent(line.majority)),
        )
        for judge in report.setup.judges
        for line in judge.training
    )
    headings = ("Offline judge", "Criterion", "Labels", "Right", "Simple rule")
    note = (
        "Right: the share in cross-validation on the labelled items it learned from. Simple rule: "
        "the share that always giving the most common label, of all or of the prompt, gets right."
    )
    return TableBlock("What offline judges learned", headings, rows, (2, 3, 4), note)


def cost_section(report: RunReport) -> Section:
    """Return the number of calls and votes, failures, and the cost."""
    counts = report.counts
    rows = [
        ("Items", counted(counts.items)),
        ("With a score", counted(counts.scored)),
        ("With every criterion assessed", counted(counts.complete)),
        *((("Too little assessed for a grade", counted(counts.ungraded)),) * bool(counts.ungraded)),
        ("Votes planned", counted(counts.planned)),
        ("Votes", counted(counts.votes)),
        ("Abstentions among them", counted(counts.abstentions, {"only": "abstentions"})),
        *((f"Failed: {kind_}", counted(n, _FAILED)) for kind_, n in counts.failures.items()),
        *((("Not needed", counted(counts.spared)),) if counts.spared else ()),
        *((("Settled by a person", counted(counts.adjudicated)),) if counts.adjudicated else ()),
    ]
    if counts.calls or counts.cached:
        rows += _call_rows(report)
    return Section("Counts and cost", (NamedValues("Counts and cost", tuple(rows)),))


_FAILED = {"only": "failures"}


def _call_rows(report: RunReport) -> list[tuple[str, TextCell]]:
    counts = report.counts
    unknown = f"without {count(counts.cost_unknown)} calls without a known price"
    priced = counts.calls > counts.cost_unknown or not counts.calls
    rows = [
        ("Calls", counted(counts.calls)._replace(below=lost_calls_words(counts.lost_calls))),
        ("Tokens in", TextCell(tokens(counts.tokens_in))),
        ("Tokens out", TextCell(tokens(counts.tokens_out))),
        (
            "Cost",
            TextCell(cost(counts.cost if priced else None), unknown if counts.cost_unknown else ""),
        ),
        ("Time", TextCell(seconds(counts.seconds))),
    ]
    if counts.cached:
        saved = f"they cost {cost(counts.saved)} when they were made"
        rows.append(("Answers from earlier runs", TextCell(count(counts.cached), saved)))
    return rows


def method_section(report: RunReport) -> Section:
    """Return how intervals were made."""
    resampled = (
        f"BCa below {count(SMALL)} items (means of scores: Student's t), percentile from there on"
        if report.interval == "auto"
        else f"by the method “{report.interval}”, as was asked"
    )
    accuracy = "Accuracy: Wilson (1927) with t over items. " if report.interval == "auto" else ""
    decided = " What is trusted, limited or found is decided at 95% all the same."
    lines = (
        f"Every interval is a {level_words(report.level)} interval: of a hundred such intervals "
        f"about {100 * report.level:g} hold the true value, if the items are a fair sample of "
        f"those you care about.{decided if report.level != USUAL.level else ''}",
        f"Means, alpha and kappa: bootstrap, {count(report.resamples)} resamples of the items "
        f"(seed {report.seed}; an item's criteria and raters stay together), {resampled}. "
        f"{accuracy}Shares of outcomes: Wilson (1927).",
        "What is undefined is said to be, with its reason. Failures to answer are never counted "
        "as answers, abstentions never as wrong ones.",
    )
    return Section("How figures were made", (Sentences(lines),))


def _version_words(setup: Setup) -> str:
    if setup.asked_number == setup.rubric_number:
        return f"version {setup.rubric_number}"
    return f"scored under version {setup.rubric_number}; judges were asked {setup.asked_number}"


#: The meaning of raters' and criteria's alphas.
ALPHA = (
    "Alpha: agreement among all {whom} (Krippendorff), ordinal on ordinal criteria, else nominal; "
    "1 is perfect, 0 is what chance gives."
)


def raters_section(report: RunReport) -> list[Section]:
    """Return every rater's own scores and answers."""
    lines = [*report.raters, *((report.reference_scores,) if report.reference_scores else ())]
    if not report.raters:
        return []
    headings = ("Rater", "Answers", "Abstained", "Failed", "Items scored", "Own mean score")
    note = (
        "Own mean score: what the rater's answers alone give under the rubric, over the items on "
        "which it gave a verdict on every criterion: an answer, or that it cannot be assessed."
    )
    rows = tuple(map(_rater_row, lines))
    return [Section("Raters", (TableBlock("Raters", headings, rows, (1, 2, 3, 4, 5), note),))]


def _rater_row(line: RaterLine) -> tuple[TextCell, ...]:
    return (
        TextCell(line.name, rater_kind(line.kind)),
        reported_number(line.answers),
        reported_number(line.abstained, {"only": "abstentions"}),
        reported_number(line.failed, {"only": "failures"}),
        reported_number(line.scored),
        estimate_cell(line.mean),
    )


def stand_in_section(report: RunReport) -> list[Section]:
    """Return whether judges may replace people; empty unless people also rated."""
    stand_in = report.stand_in
    if stand_in is None:
        return []
    tests = {
        f"{rater}, {_lower_first(name)}": test
        for name, part in {ALL: stand_in["overall"], **stand_in["criteria"]}.items()
        for rater, test in _test_rows(part)
        if test["advantage"] is not None and not (name != ALL and len(stand_in["criteria"]) == 1)
    }
    lines = Sentences((stand_in["in_words"],))
    if not tests:
        return [Section(STAND_IN, (lines,))]
    headings = (
        "Judge",
        "As near or nearer",
        *(f"Beats {people}" for people in PEOPLE_ARE.values()),
    )
    rows = tuple(
        (
            TextCell(name),
            TextCell(score(test["advantage"])),
            *(TextCell(people_beaten_words(test, kind)) for kind in PEOPLE_ARE),
        )
        for name, test in tests.items()
    )
    table = TableBlock("The alternative annotator test", headings, rows, (1, 2, 3, 4), _STAND_IN)
    return [Section(STAND_IN, (lines, table))]


STAND_IN, ALL = "May a judge stand in for a person?", "All criteria"
_STAND_IN = (
    "Calderon, Reichart and Dror (2025). As near or nearer: on what "
    "share of items the judge is as near to the other people as one of them, or nearer. Beats: "
    "how many people it is surely as near as, or less far behind than people of their kind are "
    "dearer (experts 0.20, trained people 0.15, crowd workers 0.10); half of them make it pass."
)


def _test_rows(part: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    panel = [("Panel", part["panel"])] if len(part["raters"]) > 1 else []
    return [*panel, *part["raters"].items()]


def _lower_first(name: str) -> str:
    return name.lower() if name == ALL else name
