"""The gate: bounds on figures, and drops from a baseline; its report as data, text and JUnit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from core import clock
from core.errors import InputError
from core.metrics.intervals.joint_draws import AnswerPairs
from core.services.agreement.load_ratings import Tell, ignore_remark, read_source
from core.services.agreement.metrics_report import metrics_report
from core.services.agreement.overall import answer_pairs
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.ratings import LABELS, PEOPLE, Rated, columns_of
from core.services.gate import baseline as kept
from core.services.gate.bounds import GateBound, GateLabels, GateRequest, check_bound
from core.services.gate.figures import PAIR_KEYS, NamedFigure, named_figures, paths_of
from core.store.store import Store
from core.text import numbers as fmt

#: The figures watched for drops by default.
WATCHED = ("accuracy", "mean_kappa")
WATCHED_EACH = ("accuracy", "cohen_kappa")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


@dataclass(frozen=True)
class GateReport:
    """The result: one check per line, with the figures and answers to store as a baseline."""

    source: str
    reference: str
    checks: tuple[dict[str, Any], ...]
    trust: str = ""
    figures: Mapping[str, NamedFigure] = field(repr=False, default_factory=dict)
    pairs: tuple[AnswerPairs, ...] = field(repr=False, default=())

    @property
    def ok(self) -> bool:
        """Return whether every check passes."""
        return all(check["ok"] for check in self.checks)

    def data(self) -> dict[str, Any]:
        """Return the data of ``check --json``."""
        return {
            "ok": self.ok,
            "source": self.source,
            "reference": self.reference,
            "trust": self.trust,
            "checks": list(self.checks),
        }

    def baseline(self) -> str:
        """Return the text of a file with today's figures."""
        values = {path: figure.value for path, figure in self.figures.items()}
        return kept.baseline_text(self.source, self.reference, values, self.pairs, clock.now())


def check_source(
    open_store: Callable[[], Store], source: str, request: GateRequest, tell: Tell = ignore_remark
) -> GateReport:
    """Check a run or a folder.

    Raises:
        InputError: the source, a name or the baseline is invalid.
        NotFound: unknown run.
    """
    rated = read_source(open_store, source, tell)
    reference = request.reference or _default_reference(rated)
    metrics = metrics_report(rated, reference, RESAMPLES, SEED, models=False)
    figures = named_figures(metrics)
    criteria = [criterion.name for criterion in rated.criteria]
    pairs = tuple(answer_pairs(rated, _reference_column(rated, reference)))
    paths = [
        (bound, path)
        for bound in request.bounds
        for path in paths_of(
            bound.name, figures, criteria, reference, per_criterion=request.per_criterion
        )
    ]
    about = GateLabels(rated, _reference_column(rated, reference), reference)
    checks = [check_bound(bound, path, figures[path], request, about) for bound, path in paths]
    if request.baseline is not None:
        before = kept.read(request.baseline, request.named)
        if before.reference != reference:
            raise InputError(
                f"The baseline compares with {before.reference!r}, this with {reference!r}. Say "
                f"--reference {before.reference}.",
                (),
                request.named,
            )
        watched = _watched_figures(request, paths, figures, criteria, reference)
        checks += _drop_checks(before, pairs, watched, criteria, reference, request, tell)
    trust = metrics.get("trust", {}).get("in_words", "")
    return GateReport(source, reference, tuple(checks), trust, figures, pairs)


def with_check_counted(text: str) -> str:
    """Return the text of a baseline with its number of checks increased by one."""
    return kept.with_check_counted(text)


def is_baseline(text: str) -> bool:
    """Return whether a file's text is a stored baseline."""
    try:
        kept.read(text, "")
    except InputError:
        return False
    return True


def _default_reference(rated: Rated) -> str:
    """Return the labels as reference if there are any, else people."""
    labelled = any((criterion.gold >= 0).any() for criterion in rated.criteria)
    return "gold" if labelled or not any(r.kind == "human" for r in rated.raters) else "human"


def _reference_column(rated: Rated, reference: str) -> str:
    special = {"gold": LABELS, "human": PEOPLE}
    named = {rater.name: column for rater, column in columns_of(rated.raters).items()}
    return special.get(reference) or named.get(reference, LABELS)


def _watched_figures(
    request: GateRequest,
    paths: Sequence[tuple[GateBound, str]],
    figures: Mapping[str, NamedFigure],
    criteria: Sequence[str],
    reference: str,
) -> list[str]:
    """Return the figures that must not fall: those with a lower bound, else the defaults."""
    named = [path for bound, path in paths if bound.kind == "min"]
    if named:
        return list(dict.fromkeys(named))
    watched = [p for name in WATCHED for p in paths_of(name, figures, criteria, reference)]
    if request.per_criterion:
        for name in WATCHED_EACH:
            watched += paths_of(name, figures, criteria, reference, per_criterion=True)
    return watched


def _drop_checks(
    before: kept.Baseline,
    pairs: Sequence[AnswerPairs],
    watched: Sequence[str],
    criteria: Sequence[str],
    reference: str,
    request: GateRequest,
    tell: Tell,
) -> Iterator[dict[str, Any]]:
    key = PAIR_KEYS.get(reference, "vs_reference")
    for path in watched:
        target = kept.figure_of(path, criteria, key)
        if target is None:
            tell(f"{path} is not watched for drops: answers of panel and reference do not tell it.")
            continue
        criterion, figure, sign = target
        fallen = kept.figure_fall(
            before.pairs,
            pairs,
            figure,
            criterion=criterion,
            sign=sign,
            seed=request.seed,
            look=before.looks + 1 if request.watch else 0,
        )
        yield _drop_check(path, fallen, request.max_drop)


def _drop_check(path: str, fallen: kept.FigureFall, most: float) -> dict[str, Any]:
    """Return a check that fails if the drop is surely larger than allowed, by its whole interval.

    A figure that became undefined fails; a figure that was undefined before cannot fall.
    """
    drop = fallen.drop
    surely_dropped = drop.low is not None and drop.low > most
    larger = drop.value is not None and drop.value > most
    became_undefined = fallen.now is None and fallen.before is not None
    unknown = became_undefined or (larger and drop.low is None)
    return {
        "name": path,
        "kind": "drop",
        "asked": most,
        "value": fallen.now,
        "before": fallen.before,
        "drop": drop.value,
        "ci": drop.ci,
        "items": fallen.items,
        "paired": fallen.paired,
        "ok": not unknown and not surely_dropped,
        "why": _drop_in_words(fallen, most, surely_dropped),
    }


def _drop_in_words(fallen: kept.FigureFall, most: float, is_certain: bool) -> str:
    if fallen.now is None:
        was = "undefined before, too" if fallen.before is None else fmt.number(fallen.before, 3)
        return f"undefined now, {was} before" if fallen.before is not None else f"undefined, {was}"
    drop = fallen.drop
    if drop.value is None:
        return f"undefined before, {fmt.number(fallen.now, 3)} now"
    items_compared = (
        f"{fmt.plural(fallen.items, 'common item')}" if fallen.paired else "no common items"
    )
    change_words = (
        f"{fmt.number(fallen.before, 3)} before, {fmt.number(fallen.now, 3)} now ({items_compared})"
    )
    if drop.value <= 0:
        return f"{change_words}: no drop"
    size = f"{change_words}: a drop of {fmt.number(drop.value, 3)}"
    if drop.value <= most:
        return f"{size}, {fmt.number(most)} is allowed"
    if drop.ci is None:
        return f"{size}; whether it is chance is unknown: {drop.reason}"
    ends = f"95% interval {drop.words(partial(fmt.number, digits=3)).ends}"
    if is_certain:
        return f"{size}, significantly more than {fmt.number(most)} ({ends})"
    return f"{size}, not significantly more than {fmt.number(most)} ({ends})"


def as_text(result: GateReport) -> str:
    """Return one line per check, and the result."""
    lines = [
        f"{'ok  ' if check['ok'] else 'FAIL'}  {check['name']}: {check['why']}"
        for check in result.checks
    ]
    failed = sum(not check["ok"] for check in result.checks)
    ended = f"Failed: {failed} of {len(result.checks)}." if failed else "All hold."
    trust = [result.trust] if result.trust else []
    return "\n".join([*trust, *lines, ended] if result.checks else [*trust, "Nothing was checked."])


def as_junit(result: GateReport) -> bytes:
    """Return the report as JUnit XML, which CI servers display."""
    failed = sum(not check["ok"] for check in result.checks)
    counts = {"tests": str(len(result.checks)), "failures": str(failed), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": _xml_safe(f"rubric-studio check {result.source}"), **counts}
    )
    for check in result.checks:
        name = _xml_safe(f"{check['name']} ({check['kind']})")
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml_safe(Path(result.source).name), "name": name}
        )
        if check["ok"]:
            ElementTree.SubElement(case, "system-out").text = _xml_safe(check["why"])
        else:
            ElementTree.SubElement(case, "failure", {"message": _xml_safe(check["why"])})
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _xml_safe(text: str) -> str:
    return _NO_XML.sub("?", text)
