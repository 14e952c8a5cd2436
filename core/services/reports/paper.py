"""A report as a paper: the common content of page, HTML and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

from core.blocks.blocks import (
    Block,
    Forest,
    Histogram,
    IntervalCell,
    Paper,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.estimates import estimate_cell
from core.metrics.estimate import Estimate
from core.services.agreement.blocks.criteria import criteria_table
from core.services.agreement.blocks.headline import headline
from core.services.agreement.conclusion import Conclusion
from core.services.reports.paper_criteria import criteria_section
from core.services.reports.paper_reviews import reviews_section, reviews_summary
from core.services.reports.paper_sections import (
    cost_section,
    method_section,
    raters_section,
    setup_section,
    stand_in_section,
)
from core.services.reports.report_values import (
    OUTCOME,
    ItemLine,
    RunReport,
    ScoreSlice,
    day_and_time,
    reported_number,
    share_cell,
)
from core.text.numbers import DASH, count, level_words, percent, plural, score

#: The number of characters that identify a text.
BEGINS = 60
_LEADS = {name: {"outcome": name} for name in ("pass", "fail", "review")}


def report_as_paper(report: RunReport) -> Paper:
    """Return the report as a memo: the question, the result, its certainty, next steps; then
    figures.
    """
    setup = report.setup
    first = [
        Section("What was asked", (Sentences(_question_words(report)),)),
        Section("What came out", (Sentences(_result_sentences(report)),)),
        Section("How sure that is", _certainty_blocks(report)),
        Section("What it cannot say", (Sentences(report.limits, listed=True, first=2),)),
        Section("What to do", (_next_steps(report),)),
        *_item_sections(report),
    ]
    annexes = [
        _scores_section(report),
        *criteria_section(report),
        *raters_section(report),
        *stand_in_section(report),
        *reviews_section(report),
        *_gate_sections(report),
        _findings_section(report),
        *_repetition_sections(report),
        setup_section(report),
        cost_section(report),
        method_section(report),
    ]
    sections = [*first, *(replace(section, annex=True) for section in annexes)]
    return Paper(
        title=f"Report: {setup.name}",
        subtitle=f"Run {setup.run}, {_status_words(setup.status)}; {setup.rubric} (version "
        f"{setup.rubric_number}) on {setup.dataset} (version {setup.dataset_number})",
        sections=tuple(section for section in sections if _says_something(section)),
        made=f"Made by Rubric Studio, {day_and_time(report.made)}",
    )


def _status_words(status: str) -> str:
    return {"budget": "stopped at its budget"}.get(status, status)


def _says_something(section: Section) -> bool:
    return any(not isinstance(block, Sentences) or block.lines for block in section.blocks)


def _question_words(report: RunReport) -> tuple[str, ...]:
    setup, counts = report.setup, report.counts
    raters = plural(len(setup.judges), "rater" if setup.imported else "judge")
    criteria = len(report.criteria) + report.more_criteria
    return (
        f"{plural(counts.items, 'item')}, "
        f"{plural(criteria, 'criterion', 'criteria')}, {raters}: "
        f"{plural(counts.votes, 'vote')}.",
    )


def _certainty_blocks(report: RunReport) -> tuple[Block, ...]:
    """Return which criteria can be trusted, and what reviewers confirmed."""
    conclusion = report.conclusion
    blocks: list[Block] = [Sentences((headline(conclusion),))] if conclusion else []
    if conclusion:
        blocks.append(criteria_table(conclusion.criteria, conclusion))
    blocks.append(Sentences(tuple(reviews_summary(report))))
    return tuple(blocks)


def _next_steps(report: RunReport) -> Sentences:
    """Return what would help and where it is done; no lines if nothing is undecided."""
    steps: dict[str, Mapping[str, str]] = {}
    if report.conclusion and report.conclusion.advice:
        steps[report.conclusion.advice] = _addresses(report, report.conclusion)
    if report.findings:
        line = f"Look at the {plural(len(report.findings), 'finding')} of the checks."
        steps[line] = {"to": "agreement", "view": "findings"}
    if waiting := report.scores.waiting.hits:
        verb = "needs" if waiting == 1 else "need"
        line = f"Review the {plural(waiting, 'item')} that {verb} a person."
        steps[line] = {"only": "review"}
    return Sentences(tuple(steps), listed=True, links=tuple(steps.values()))


def _addresses(report: RunReport, conclusion: Conclusion) -> Mapping[str, str]:
    """Return the address of the differing items, or of the next texts to label."""
    doubtful = conclusion.of("not_trusted")
    if doubtful:
        view = "one" if conclusion.reference else "raters"
        return {"to": "agreement", "view": view, "criterion": doubtful[0].name}
    if any(line.labelled < report.counts.items for line in report.criteria):
        return {"to": "item", "rule": "random"}
    return {"to": "agreement", "view": "figures"}


def _result_sentences(report: RunReport) -> tuple[str, ...]:
    overall = report.scores
    lines = [report.trust["in_words"]] if report.trust else []
    if overall.mean.value is not None:
        mean = overall.mean.words(score)
        interval_words = (
            f"{level_words(report.level)} interval {mean.ends}" if mean.ends else mean.why
        )
        lines.append(
            f"The mean score is {mean.value} ({interval_words.removesuffix('.')}; "
            f"{plural(overall.scored, 'item')}), the median {score(report.median)}."
            f"{_contradicted_mean(report)}"
        )
    parts = {
        name: f"{percent(share.value)} {OUTCOME[name]}"
        for name, share in overall.outcomes.items()
        if share.hits and name != "review"
    }
    if parts.keys() & {"pass", "fail"}:
        lines.append(f"Of all items, {', '.join(parts.values())}.")
    if waiting := overall.waiting.hits:
        waiting_words = f"{percent(overall.waiting.value)} of the items need a person "
        waiting_words += f"({count(waiting)} of {count(overall.items)})."
        all_waiting = waiting == overall.items > 1
        lines.append(f"All {count(waiting)} items need a person." if all_waiting else waiting_words)
    if overall.mean.value is None:
        lines.append("No item has a score yet.")
    return tuple(lines)


def _contradicted_mean(report: RunReport) -> str:
    """Return the mean by people's labels, if it surely differs from the votes' mean."""
    for line in report.corrected[:1]:
        claimed, mean, votes = line.said, line.mean, report.scores.mean
        if claimed is None or mean.value is None or mean.low is None:
            continue
        if _interval_contains(mean, claimed) or _interval_contains(votes, mean.value):
            continue
        certain = mean.low == mean.high
        corrected = mean.words(score).value if certain else mean.words(score).inline
        contrast = "" if certain else ", the mean differs significantly"
        return (
            f" As people's labels have it{contrast}: {corrected}, by weight and before gates and "
            "penalties."
        )
    return ""


def _interval_contains(estimate: Estimate, value: float) -> bool:
    """Return whether a figure may have this value: its interval contains the value."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and estimate.low <= value <= estimate.high
    )


def _scores_section(report: RunReport) -> Section:
    if not report.scores.scored:
        return Section("Scores", (Sentences(("No item has a score yet.",)),))
    blocks: list[Block] = [
        Histogram("How the scores are distributed", report.bins, report.scores.mean.value),
        _bin_table(report),
    ]
    if report.scores.outcomes or report.scores.waiting.hits:
        blocks.append(_outcome_table(report.scores, report.level))
    for title, heading, parts in (
        ("By system", "System", report.systems),
        ("By tag", "Tag", report.tags),
        ("By split", "Split", report.splits),
    ):
        if parts:
            blocks += _slice_blocks(title, heading, parts, report.scores)
    return Section("Scores", tuple(blocks))


def _bin_table(report: RunReport) -> TableBlock:
    rows = [
        (
            TextCell(f"{score(low)} to {score(high)}"),
            reported_number(
                n, {"min": f"{low:.6g}", "max": f"{high - _bin_edge_margin(report, high):.6g}"}
            ),
        )
        for low, high, n in report.bins
        if n
    ]
    return TableBlock("Distribution of scores", ("Score", "Items"), tuple(rows), (1,))


def _bin_edge_margin(report: RunReport, high: float) -> float:
    """Return what to take off a bin's upper end, which only the last bin includes."""
    return 0.0 if high == report.bins[-1][1] else 1e-6


def _outcome_table(scores: ScoreSlice, level: float) -> TableBlock:
    shares = {**scores.outcomes, "review": scores.waiting}
    rows = [
        (TextCell(OUTCOME[name].capitalize()), share_cell(share, _LEADS.get(name)))
        for name, share in shares.items()
        if share.hits or name != "none"
    ]
    return TableBlock(
        "Outcomes",
        ("Outcome", "Share of items"),
        tuple(rows),
        (1,),
        "An item may need a person whatever its outcome. Below each share: its count, and its "
        f"{level_words(level)} interval (Wilson 1927).",
    )


def _slice_blocks(
    title: str, noun: str, parts: Sequence[ScoreSlice], whole: ScoreSlice
) -> list[Block]:
    outcomes = _shown_outcomes(whole)
    headings = (
        noun,
        "Items",
        "With a score",
        "Mean score",
        *(OUTCOME[name].capitalize() for name in outcomes),
    )
    rows = tuple(
        (
            TextCell(part.name),
            reported_number(part.items, lead),
            reported_number(part.scored),
            estimate_cell(part.mean),
            *(
                share_cell(
                    part.waiting if name == "review" else part.outcomes.get(name),
                    {**lead, **_LEADS[name]},
                )
                for name in outcomes
            ),
        )
        for part in (*parts, whole)
        for lead in ({} if part is whole else {noun.lower(): part.name},)
    )
    reaches = tuple(
        IntervalCell(part.name, part.mean.value, part.mean.low, part.mean.high)
        for part in (*parts, whole)
        if part.mean.value is not None
    )
    low = min(0.0, *(r.value if r.low is None else r.low for r in reaches), 0.0)
    high = max(1.0, *(r.value if r.high is None else r.high for r in reaches), 1.0)
    note = "An item with several tags is in several rows." if noun == "Tag" else ""
    return [
        Forest(f"Mean score {title[0].lower()}{title[1:]}", reaches, low, high, axis="Mean score"),
        TableBlock(
            f"Scores {title[0].lower()}{title[1:]}",
            headings,
            rows,
            tuple(range(1, 6))[: len(headings) - 1],
            note,
        ),
    ]


def _shown_outcomes(overall: ScoreSlice) -> tuple[str, ...]:
    """Return the outcomes for comparing slices: passes or, without a decision, items that wait."""
    decided = (
        sum(overall.outcomes[name].hits or 0 for name in ("pass", "fail"))
        if overall.outcomes
        else 0
    )
    return ("pass",) if decided else ("review",) if overall.waiting.hits else ()


def _item_sections(report: RunReport) -> list[Section]:
    if not report.worst:
        return []
    all_listed = not report.best
    # An outcome that all items share is stated once above, in the result.
    outcomes = len({_outcome_words(item) for item in (*report.worst, *report.best)}) > 1
    head = "All items, the worst first" if all_listed else "The worst"
    blocks: list[Block] = [_item_table(head, report.worst, outcomes)]
    if not all_listed:
        blocks.append(_item_table("The best", report.best, outcomes))
    return [Section("Items" if all_listed else "Worst and best items", tuple(blocks))]


def _item_table(name: str, items: Sequence[ItemLine], outcomes: bool) -> TableBlock:
    rows = tuple(
        (
            TextCell(item.id, item.system, {"item": item.id}),
            TextCell(score(item.score), _sureness_words(item)),
            *([TextCell(_outcome_words(item))] if outcomes else []),
            TextCell(shorten(item.preview, BEGINS, placeholder="…")),
        )
        for item in items
    )
    headings = ("Item", "Score", *(["Outcome"] if outcomes else []), "Begins")
    return TableBlock(name, headings, rows, (1,))


def _outcome_words(item: ItemLine) -> str:
    ends = [OUTCOME[item.outcome]] if item.outcome in ("pass", "fail") else []
    return ", ".join([*ends, *["needs a person"] * item.review]) or DASH


def _sureness_words(item: ItemLine) -> str:
    if item.low is not None and item.high is not None and item.low != item.high:
        return f"{score(item.low)} to {score(item.high)}: a gate is undecided"
    if item.complete:
        return ""
    return "incomplete" if item.coverage is None else f"{percent(item.coverage)} assessed"


def _gate_sections(report: RunReport) -> list[Section]:
    if not report.gates:
        return []
    rows = tuple(
        (
            TextCell(gate.name, gate.kind),
            reported_number(gate.fired),
            reported_number(gate.moved),
            reported_number(gate.undecided, {"only": "review"}),
        )
        for gate in report.gates
    )
    headings = ("Gate or pre-check", "Fired", "Moved the score", "Undecided")
    table = TableBlock("Gates and pre-checks", headings, rows, (1, 2, 3), "Numbers of items.")
    return [Section("Gates and pre-checks", (table,))]


def _repetition_sections(report: RunReport) -> list[Section]:
    """Return what edited copies and repeated runs show about the judges; empty without them."""
    if not report.asked_again:
        return []
    return [Section("What asking again found", (Sentences(report.asked_again, listed=True),))]


def _findings_section(report: RunReport) -> Section:
    none = "The checks of these judges and criteria found nothing."
    lines = report.findings or (none if report.checks else "Too little is known for any check.",)
    checks = (Sentences((report.checks,)),) if report.checks else ()
    return Section(
        "What the checks found",
        (Sentences(lines, listed=bool(report.findings)), *checks),
    )
