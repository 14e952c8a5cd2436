"""Bounds on figures: whether they are met, and whether the figures have enough labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from core.errors import InputError
from core.metrics.estimate import USUAL, Estimate
from core.services.agreement.ratings import LABELS, Rated
from core.services.gate.figures import COUNTED, NamedFigure
from core.text import numbers as fmt

#: A check with fewer labelled observations, or a smaller share of decided cells, fails.
MIN_N, MIN_DECIDED = 20, 0.5


class GateBound(NamedTuple):
    """A figure and its minimum (``min``) or maximum (``max``)."""

    name: str
    kind: str
    value: float


@dataclass(frozen=True)
class GateRequest:
    """The checks on a source. ``baseline`` is the text of a stored file, ``named`` its name.

    ``min_n`` labelled observations and a share ``min_decided`` of decided cells are enough for a
    check. ``lower``: test the end of the interval on the bad side, instead of the figure.
    ``watch``: the source is checked repeatedly, and the looks are counted.
    """

    bounds: tuple[GateBound, ...] = ()
    reference: str | None = None
    per_criterion: bool = False
    baseline: str | None = None
    named: str = "baseline"
    max_drop: float = 0.0
    watch: bool = False
    seed: int = 0
    min_n: int = MIN_N
    min_decided: float = MIN_DECIDED
    lower: bool = False


def parse_bound(words: str, kind: str) -> GateBound:
    """Parse ``NAME=VALUE`` as a bound, split at the last equals sign.

    >>> parse_bound("accuracy=0.8", "min")
    GateBound(name='accuracy', kind='min', value=0.8)

    Raises:
        InputError: it does not have that form.
    """
    name, equals, value = words.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not equals or not name.strip() or number != number:
        raise InputError(f"--{kind} {words!r} is not NAME=VALUE, as in accuracy=0.8.")
    return GateBound(name.strip(), kind, number)


class GateLabels:
    """Which labelled cells may represent the panel, and how many cells are decided."""

    def __init__(self, rated: Rated, column: str, reference: str) -> None:
        self._rated, self._column = rated, column
        items = len(rated.of.ids)
        labelled = [criterion.column(column, items) >= 0 for criterion in rated.criteria]
        self.missing = ""
        if not rated.raters:
            self.missing = "There are no votes."
        elif not any(flags.any() for flags in labelled):
            noun = {"gold": "labels", "human": "ratings by people"}.get(reference, "answers of it")
            self.missing = f"There are no {noun} to compare with."
        draw = rated.sample(USUAL.level) if column == LABELS else None
        self._even = draw is not None and draw.audited is not None and not draw.picked
        self._unlike = {} if draw is None else draw.unlike

    def unlike(self, path: str) -> str:
        """Return why labels are not a fair sample for a figure; empty without evidence."""
        criteria = [c.name for c in self._rated.criteria if path.startswith(f"criteria.{c.name}.")]
        names = [*criteria, ""] if criteria else self._unlike
        return next((self._unlike[name] for name in names if name in self._unlike), "")

    def of(self, path: str) -> tuple[float | None, int, bool]:
        """Return the decided share of cells, the reviewed cells, and whether they are doubtful.

        The share is ``None`` for figures other than a panel's. The second value counts cells of
        the figure that were settled in review; the last says whether so many of these were picked
        as doubtful that the figure does not represent others.
        """
        parts = path.split(".")
        if path in COUNTED or ("panel" not in parts and parts[0] != "trust"):
            return None, 0, False
        criteria = [c for c in self._rated.criteria if path.startswith(f"criteria.{c.name}.")]
        items, chosen = len(self._rated.of.ids), criteria or self._rated.criteria
        cells = items if criteria else self._rated.of.cells
        decided = (
            criteria[0].decided if criteria else sum(criterion.decided for criterion in chosen)
        )
        if parts[0] == "trust":
            return decided / cells if cells else None, 0, False
        picked = sum(criterion.reviewed(self._column, items) for criterion in chosen)
        labels = (
            criterion.panel[criterion.column(self._column, items) >= 0] for criterion in chosen
        )
        labelled = sum(int((verdicts >= 0).sum()) for verdicts in labels)
        voted = sum(int((criterion.panel >= 0).sum()) for criterion in chosen)
        few_picked = picked * 10 <= labelled or labelled == voted
        return decided / cells if cells else None, picked, not (self._even or few_picked)


def check_bound(
    bound: GateBound, path: str, figure: NamedFigure, request: GateRequest, labels: GateLabels
) -> dict[str, Any]:
    """Return a check: whether the figure is within the bound, with enough labels and cells."""
    decided, picked, doubtful = labels.of(path)
    least = bound.kind == "min"
    tested = figure.value
    if request.lower:
        tested = figure.low if least else figure.high
    is_met = tested is not None and (tested >= bound.value if least else tested <= bound.value)
    short = _too_few_reason(figure, decided, request)
    unlike = "" if figure.value is None or decided is None else labels.unlike(path)
    if unlike:
        short = f"labels are not a fair sample: {unlike}"
    elif figure.value is not None and doubtful:
        short = (
            f"{fmt.count(picked)} of {fmt.count(figure.n or 0)} labels come from a review, which "
            "picks doubtful cells; --min before=… speaks of the votes on all cells"
        )
    return {
        "name": path,
        "kind": bound.kind,
        "asked": bound.value,
        "value": figure.value,
        "ci": None if figure.low is None else [figure.low, figure.high],
        "n": figure.n,
        "decided": decided,
        "ok": is_met and not short,
        "why": _bound_in_words(bound, figure, request, short, decided, picked, labels.missing),
    }


def _too_few_reason(figure: NamedFigure, decided: float | None, request: GateRequest) -> str:
    """Return why the figure has too few labels or cells; empty if it has enough."""
    if figure.value is None:
        return ""
    if figure.n is not None and figure.n < request.min_n:
        return f"n = {fmt.count(figure.n)}; at least {fmt.count(request.min_n)} are asked (--min-n)"
    if decided is not None and decided < request.min_decided:
        required = f"at least {fmt.percent(request.min_decided)} are asked (--min-decided)"
        share = fmt.distinguishable_text(decided, request.min_decided, fmt.percent, 0)
        return f"{share} of cells are decided; {required}"
    return ""


def _bound_in_words(
    bound: GateBound,
    figure: NamedFigure,
    request: GateRequest,
    short: str,
    decided: float | None,
    n_picked: int,
    missing: str,
) -> str:
    end = (
        ""
        if not request.lower
        else "a lower end of "
        if bound.kind == "min"
        else "an upper end of "
    )
    required = (
        f"{end}at {'least' if bound.kind == 'min' else 'most'} {fmt.number(bound.value)} is asked"
    )
    estimate = Estimate(figure.value, figure.low, figure.high, missing or figure.why)
    described = estimate.words(
        lambda number: fmt.distinguishable_text(number, bound.value, fmt.number, 3)
    )
    if figure.value is None:
        return f"{described.inline}, {required}"
    details = [described.ends] if described.ends else []
    if figure.n is not None:
        details.append(f"n = {fmt.count(figure.n)}")
        if n_picked and not short:
            details.append(f"{fmt.count(n_picked)} of them settled in review")
    if decided is not None:
        details.append(
            f"{fmt.distinguishable_text(decided, request.min_decided, fmt.percent, 0)} decided"
        )
    text = described.value + (f" ({', '.join(details)})" if details else "")
    return f"{text}, not enough to tell: {short}" if short else f"{text}, {required}"
