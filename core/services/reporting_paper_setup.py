"""How a report came about: plan, judges, counts, cost and method, as sections of its paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.files.paper import Block, Facts, PaperTable, Section, Sentences, Words
from core.identity import canonical_json
from core.metrics.bootstrap import SMALL
from core.services.grading import lost_words
from core.services.numbers import DASH, cost, count, number, percent, seconds, tokens
from core.services.reporting_values import JudgeFacts, Report, Setup
from core.services.reporting_words import day_and_time, kind
from core.services.reporting_words import number as counted


def setup_section(report: Report) -> Section:
    """What was graded how."""
    setup = report.setup
    rules = ", ".join(f"{scale} by {rule}" for scale, rule in setup.rules.items())
    rows = [
        ("Rubric", Words(f"{setup.rubric}, {_version(setup)}", setup.rubric_hash)),
        ("Dataset", Words(f"{setup.dataset}, version {setup.dataset_number}", setup.dataset_hash)),
        ("Panel", Words(setup.panel, setup.panel_hash)),
        ("Votes become a verdict", Words(rules)),
        ("Abstained criteria", Words(setup.abstention)),
        *((f"Asked: {_name(key)}", Words(value)) for key, value in setup.asking.items()),
        ("Replicates", Words(count(setup.replicates))),
        ("Seed", Words(str(setup.seed))),
        ("Learned from", Words(f"{count(setup.learned_from)} labelled items, left out here")),
        ("Imported", Words(_plain(setup.imported))),
        ("Made, started, finished", Words(", ".join(map(day_and_time, _times(report))))),
        ("Versions", Words(", ".join(f"{name} {one}" for name, one in setup.versions.items()))),
    ]
    known = {
        "Imported": bool(setup.imported),
        "Versions": bool(setup.versions),
        "Learned from": bool(setup.learned_from),
    }
    kept = tuple(row for row in rows if known.get(row[0], True))
    blocks: list[Block] = [Facts("What was graded how", kept), _judges(report)]
    learned = _training(report)
    return Section("What was graded how", (*blocks, *((learned,) if learned.rows else ())))


def _times(report: Report) -> tuple[str | None, ...]:
    return report.setup.created, report.setup.started, report.setup.finished


def _name(key: str) -> str:
    return key.replace("_", " ")


def _plain(found: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{_name(key)}: {one if isinstance(one, str) else canonical_json(one)}"
        for key, one in found.items()
    )


def _judges(report: Report) -> PaperTable:
    rows = tuple(map(_judge, report.setup.judges))
    heads = ("Judge", "Model", "Weight", "Settings that are not the default")
    return PaperTable("Judges", heads, rows, (2,))


def _judge(judge: JudgeFacts) -> tuple[Words, ...]:
    settings = ", ".join(f"{_name(key)} {one}" for key, one in judge.settings.items())
    counts = "votes without counting" if judge.shadow else ""
    return (
        Words(judge.name, counts),
        Words(judge.model or DASH, kind(judge.kind)),
        Words(number(judge.weight)),
        Words(settings or DASH),
    )


def _training(report: Report) -> PaperTable:
    rows = tuple(
        (
            Words(judge.name),
            Words(line.criterion, "" if line.trained else f"switched off: {line.reason}"),
            Words(count(line.n)),
            Words(percent(line.accuracy)),
            Words(percent(line.majority)),
        )
        for judge in report.setup.judges
        for line in judge.training
    )
    heads = ("Offline judge", "Criterion", "Labels", "Right", "Simple rule")
    note = (
        "Right: the share in cross-validation on the labelled items it learned from. Simple rule: "
        "the share that always giving the commonest label, of all or of the prompt, gets right."
    )
    return PaperTable("What offline judges learned", heads, rows, (2, 3, 4), note)


def cost_section(report: Report) -> Section:
    """How much was done, what failed, and what it cost."""
    counts = report.counts
    rows = [
        ("Items", counted(counts.items)),
        ("With a score", counted(counts.scored)),
        ("With a verdict on every criterion", counted(counts.complete)),
        ("Votes planned", counted(counts.planned)),
        ("Votes", counted(counts.votes)),
        ("Abstentions among them", counted(counts.abstentions, {"only": "abstentions"})),
        *((f"Failed: {kind_}", counted(n, _FAILED)) for kind_, n in counts.failures.items()),
        *((("Not needed", counted(counts.spared)),) if counts.spared else ()),
        *((("Settled by a person", counted(counts.adjudicated)),) if counts.adjudicated else ()),
    ]
    if counts.calls or counts.cached:
        rows += _calls(report)
    return Section("Counts and cost", (Facts("Counts and cost", tuple(rows)),))


_FAILED = {"only": "failures"}


def _calls(report: Report) -> list[tuple[str, Words]]:
    counts = report.counts
    unknown = f"without {count(counts.cost_unknown)} calls whose price is not known"
    priced = counts.calls > counts.cost_unknown or not counts.calls
    rows = [
        ("Calls", counted(counts.calls)._replace(below=lost_words(counts.lost_calls))),
        ("Tokens in", Words(tokens(counts.tokens_in))),
        ("Tokens out", Words(tokens(counts.tokens_out))),
        (
            "Cost",
            Words(cost(counts.cost if priced else None), unknown if counts.cost_unknown else ""),
        ),
        ("Time", Words(seconds(counts.seconds))),
    ]
    if counts.cached:
        saved = f"they cost {cost(counts.saved)} when they were made"
        rows.append(("Answers from earlier runs", Words(count(counts.cached), saved)))
    return rows


def method_section(report: Report) -> Section:
    """How intervals were made."""
    lines = (
        "Every interval is a 95 % interval: of a hundred such intervals about 95 hold the true "
        "value, if the items are a fair sample of those you care about.",
        f"Means, accuracy, alpha and kappa: bootstrap, {count(report.resamples)} resamples of the "
        f"items (seed {report.seed}; an item's criteria and raters stay together), BCa below "
        f"{count(SMALL)} items, percentile from there on; Clopper and Pearson (1934) for an "
        "accuracy of 0 or 1. Shares of outcomes: Wilson (1927).",
        "What is undefined is said to be, with its reason. Failures to answer are never counted "
        "as answers, abstentions never as wrong ones.",
    )
    return Section("How figures were made", (Sentences(lines),))


def _version(setup: Setup) -> str:
    if setup.asked_number == setup.rubric_number:
        return f"version {setup.rubric_number}"
    return f"scored under version {setup.rubric_number}; judges were asked {setup.asked_number}"
