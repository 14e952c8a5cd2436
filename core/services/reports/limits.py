"""Limits of what a report can conclude: only sentences that follow from its facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.metrics.estimate import surely_below
from core.scoring.explanation import ungraded_words
from core.services.agreement.rating_sheet import FEW
from core.services.reports.report_values import CriterionLine, JudgeFacts, RunReport
from core.text.numbers import count, percent, plural, score

#: Slices with fewer items say almost nothing.
TINY = 10
#: With fewer items the bootstrap's intervals are too narrow (simulated in tests/metrics).
ROUGH = 20
#: Abstentions of at least this share change the meaning of a mean.
MANY_AWAY = 0.05
_REST = {
    "queued": "has not started",
    "running": "is still running",
    "cancelled": "was cancelled",
    "interrupted": "was interrupted",
    "budget": "stopped because its budget was spent",
    "failed": "broke off",
}


def limits_of(report: RunReport) -> tuple[str, ...]:
    """Return every limit that applies to this report; ignores its own ``limits``."""
    parts = (
        _progress_limits,
        _size_limits,
        _failure_limits,
        _abstention_limits,
        _unvoted_limits,
        _tied_cells,
        _label_limits,
        _accuracy_limits,
        _judge_limits,
        _gate_limits,
        _multiplicity_limits,
    )
    return tuple(sentence for part in parts for sentence in part(report))


def _progress_limits(report: RunReport) -> Iterator[str]:
    status, counts = report.setup.status, report.counts
    if status in _REST:
        yield (
            f"The run {_REST[status]}: {count(counts.votes)} of {count(counts.planned)} planned "
            "votes are there."
        )


def _size_limits(report: RunReport) -> Iterator[str]:
    mean, n = report.scores.mean, report.scores.scored
    if not n:
        yield "No item has a score, so there is nothing to conclude about scores."
    elif n == 1:
        yield "Only one item has a score. It says nothing about others."
    elif n < FEW:
        interval_words = (
            ""
            if mean.low is None or mean.high is None
            else f": the interval of their mean reaches from {mean.words(score).ends}"
            f"{', and is itself rough with so few' if n < ROUGH else ''}"
        )
        yield f"Only {count(n)} items have a score{interval_words}."
    small = [
        part.name for part in (*report.systems, *report.tags, *report.splits) if part.scored < TINY
    ]
    if small:
        yield (
            f"Fewer than {TINY} scores are behind {_names_in_words(small)}; "
            "do not rank by their means."
        )
    if report.more_criteria:
        yield (
            f"Items ask so many different questions that {plural(report.more_criteria, 'more')} "
            f"criteria are in no table here; the first {len(report.criteria)} are."
        )


def _unvoted_limits(report: RunReport) -> Iterator[str]:
    n = report.counts.unvoted
    if n:
        yield (
            f"{plural(n, 'verdict')} of {count(report.counts.cells)} {'is' if n == 1 else 'are'} "
            "an option that got no vote: the result of the votes lies between options, and the "
            "nearest is shown."
        )


def _tied_cells(report: RunReport) -> Iterator[str]:
    n = report.counts.tied
    if n:
        yield (
            f"On {plural(n, 'cell')} of {count(report.counts.cells)} no option has the most votes; "
            f"the panel's rules decide {'it' if n == 1 else 'them'}, not a majority."
        )


def _failure_limits(report: RunReport) -> Iterator[str]:
    counts = report.counts
    failed = sum(counts.failures.values())
    if failed:
        reason = "the file holds none" if report.setup.imported else "a judge failed to give one"
        kinds = ", ".join(f"{count(n)} {kind}" for kind, n in counts.failures.items())
        yield (
            f"{_capitalised(plural(failed, 'answer'))} of {count(counts.planned)} "
            f"{'is' if failed == 1 else 'are'} missing because {reason} "
            f"({kinds}). Failures are left out, never guessed."
        )
    partial = counts.scored - counts.complete
    if partial:
        yield (
            f"{plural(partial, 'item')} with a score {'was' if partial == 1 else 'were'} assessed "
            f"only in part; grade sheets mark {'it' if partial == 1 else 'them'} for a person, "
            f"whatever {'its' if partial == 1 else 'their'} outcome."
        )
    if ungraded := ungraded_words(counts.ungraded):
        yield f"{ungraded}. Means and ranks leave such items out."
    unscored = counts.items - counts.scored - counts.ungraded
    if unscored and counts.scored:
        result = "has no score and is" if unscored == 1 else "have no score and are"
        yield f"{plural(unscored, 'item')} of {count(counts.items)} {result} left out."


def _abstention_limits(report: RunReport) -> Iterator[str]:
    counts = report.counts
    verdicts = counts.cells - counts.missing
    if verdicts and counts.abstained / verdicts >= MANY_AWAY:
        effect = {
            "skip": "Such criteria are left out of an item's score",
            "zero": "They count as zero points",
            "partial": "They count as part of the points",
            "fail": "They count as the worst answer",
        }[report.setup.abstention]
        yield (
            f"{percent(counts.abstained / verdicts)} of the verdicts are abstentions "
            f"({count(counts.abstained)} of {count(verdicts)}). {effect}."
        )


def _label_limits(report: RunReport) -> Iterator[str]:
    labelled, items = report.labelled_items, report.counts.items
    if not report.counts.votes:
        return
    if not report.reference:
        people = bool(report.raters) and all(rater.kind == "human" for rater in report.raters)
        yield (
            "No item has a label. Nothing here says how often verdicts are right: "
            f"{'people' if people else 'judges'} can agree and be wrong together."
        )
        return
    if report.reference == "people":
        yield (
            "There are no labels; verdicts are compared with the majority of the people's votes, "
            "and not at all where people tie. What most people say may itself be wrong."
        )
    elif labelled < items:
        yield (
            f"Only {count(labelled)} of {count(items)} items have a label. Accuracy and kappa are "
            f"of these, {_fairness_words(report)}."
        )
    if report.reference == "labels":
        yield f"Labels are taken as the truth{_label_doubt(report.trust)}."
    sparse = [c.name for c in report.criteria if 0 < c.labelled < FEW]
    if sparse:
        yield f"Accuracy rests on fewer than {FEW} items for {_names_in_words(sparse)}."
    none = [c.name for c in report.criteria if not c.labelled]
    if none:
        yield f"Nothing is known about the accuracy on {_names_in_words(none)}."
    if report.counts.adjudicated:
        yield (
            f"{plural(report.counts.adjudicated, 'verdict')} "
            f"{'was' if report.counts.adjudicated == 1 else 'were'} settled by a person. Scores "
            "and counts of verdicts follow the person; accuracy and kappa are of what the votes "
            "had said. Cells sent to people tend to be the hard ones, and do not speak for the "
            "rest."
        )


def _fairness_words(report: RunReport) -> str:
    """Return how far the labelled items represent the others."""
    if report.labels_declared:
        return "which were drawn at random, so that they speak of the others, too"
    if "unlike" in report.trust:
        return f"and tell nothing of the others: {report.trust['unlike']}"
    return "and hold for the others only if the labelled ones were picked at random"


def _label_doubt(trust: Mapping[str, Any]) -> str:
    """Return how far reviewers of labelled cells agree with the labels."""
    if "differ" not in trust:
        return ". How far people would agree on them is not known from labels alone"
    looked = plural(trust["rechecked"], "cell")
    return (
        f"; people who settled {looked} with a label differ from it on {percent(trust['differ'])}"
    )


def _accuracy_limits(report: RunReport) -> Iterator[str]:
    worse = [line for line in report.criteria if _is_below_baseline(line)]
    if worse:
        yield (
            "Verdicts are less often right than always giving the most common answer would be, on "
            f"{_names_in_words([_baseline_words(line) for line in worse])}."
        )
    doubtful = [
        line.name for line in report.criteria if _not_surely_better(line) and line not in worse
    ]
    if doubtful:
        yield (
            "It is not sure that verdicts are more often right than always giving the most common "
            f"answer would be, on {_names_in_words(doubtful)}."
        )


def _is_below_baseline(line: CriterionLine) -> bool:
    high, commonest = line.accuracy.high, line.commonest.value
    if high is None or commonest is None or not line.labelled:
        return False
    return surely_below(high, commonest, line.labelled)


def _baseline_words(line: CriterionLine) -> str:
    right = line.accuracy.words(percent)
    return (
        f"{line.name} ({right.value}, 95% interval {right.ends}, against "
        f"{percent(line.commonest.value)})"
    )


def _not_surely_better(line: CriterionLine) -> bool:
    accuracy, commonest = line.accuracy, line.commonest.value
    if accuracy.value is None or commonest is None:
        return False
    return (accuracy.value if accuracy.low is None else accuracy.low) <= commonest


def _judge_limits(report: RunReport) -> Iterator[str]:
    setup = report.setup
    counting = [judge for judge in setup.judges if not judge.shadow]
    people = [rater for rater in report.raters if rater.kind == "human"]
    if len(setup.judges) == 1 and report.counts.votes:
        replaced = "person" if people else "judge"
        yield f"Only one {replaced} voted, so there is no agreement to look at."
    models = {judge.model for judge in counting}
    if len(counting) > 1 and len(models) == 1 and next(iter(models)):
        yield (
            f"All judges are the same model ({models.pop()}). They may share its mistakes, so "
            "their agreement says less than that of different ones."
        )
    yield from _offline_limits(setup.judges, setup.learned_from)
    if setup.twins:
        yield setup.twins
    for name, sentence in setup.fitted.items():
        yield f"{name}: verdicts are settled by a rule fitted on labels. {sentence}"
    llm_raters = [rater for rater in report.raters if rater.kind == "llm"]
    single_order = setup.replicates == 1 and setup.asking.get("flip", "off") == "off"
    if llm_raters and single_order and not setup.imported:
        yield (
            "Every judge was asked each question once, so it is not known how far a judge would "
            "repeat its own answer."
        )


def _offline_limits(judges: Sequence[JudgeFacts], learned_from: int) -> Iterator[str]:
    trained = [judge for judge in judges if judge.training]
    if trained and learned_from:
        yield (
            f"{_names_in_words([j.name for j in trained])} {'is' if len(trained) == 1 else 'are'} "
            f"no language model: trained on the words of {plural(learned_from, 'labelled item')}, "
            "which are in no figure here."
        )
    for judge in trained:
        if judge.switched_off:
            yield (
                f"{judge.name} switched itself off on {_names_in_words(judge.switched_off)}, where "
                "it promised no more than a simple rule, and gives no vote there."
            )


def _gate_limits(report: RunReport) -> Iterator[str]:
    for gate in report.gates:
        if gate.undecided:
            yield (
                f"The gate {gate.name!r} could not be decided on {plural(gate.undecided, 'item')}; "
                "the score there is the best one possible."
            )


def _multiplicity_limits(report: RunReport) -> Iterator[str]:
    shown = [
        report.scores.mean,
        *(part.mean for part in (*report.systems, *report.tags, *report.splits)),
        *(
            e
            for line in report.criteria
            for e in (line.mean, line.alpha, line.accuracy, line.kappa)
        ),
        *(rater.mean for rater in report.raters),
    ]
    number = sum(part.low is not None for part in shown)
    if number >= 20:
        yield (
            f"{count(number)} intervals are shown, each right in {100 * report.level:g} of 100 "
            f"cases; expect about {count(round(number * (1 - report.level)))} to miss."
        )


def _names_in_words(names: Sequence[str], most: int = 6) -> str:
    """Return names as a list in words, at most ``most`` of them.

    >>> _names_in_words(["a"]), _names_in_words(["a", "b", "c"]), _names_in_words(list("abcd"), 2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
