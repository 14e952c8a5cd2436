"""What the rows say: agreement with what is expected, and flips, each with n and interval."""

from __future__ import annotations

from core.metrics.estimate import Share
from core.services import numbers as fmt
from core.services.workbench_figures import Figures, figures
from core.services.workbench_standing import Standing
from pages.ui.text import esc
from pages.ui.widgets import row, table, tag

_NOTHING = '<span class="rs-quiet">nothing</span>'


def show(now: Standing, criterion: str | None) -> None:
    """Figures of the chosen criterion, or a line for each."""
    if not now.judges or not now.cells:
        return
    found = figures(now, None if criterion is None else [criterion])
    if criterion is None:
        _all(now, found)
    elif found:
        _one(now, found[0])


def _one(now: Standing, of: Figures) -> None:
    agreed = f"<b>Agreement</b> <span>{share(of.agreement)}</span>"
    parts = [agreed]
    if of.agreement.n:
        always = f"always the commonest expected option: {of.always.hits} of {of.always.n}"
        parts.append(f'<span class="rs-quiet">{esc(always)}</span>')
    if now.bench["flip"] or of.flips.n:
        parts.append(f'<b style="margin-left:1rem">Flips</b> <span>{share(of.flips)}</span>')
    row([*parts, *missing(of)])
    if len(of.by_judge) > 1:
        row(
            f'<span class="rs-quiet rs-num">{esc(name)}: {share(one)}</span>'
            for name, one in of.by_judge
        )


def _all(now: Standing, found: list[Figures]) -> None:
    flips = now.bench["flip"] or any(of.flips.n for of in found)
    heads = ["Criterion", "Agreement", *(["Flips"] if flips else []), "Not counted"]
    table(
        heads,
        [
            [
                f"<b>{esc(of.criterion)}</b>",
                share(of.agreement),
                *([share(of.flips)] if flips else []),
                f'<div class="rs-row">{"".join(missing(of))}</div>' if missing(of) else _NOTHING,
            ]
            for of in found
        ],
        name="Agreement by criterion",
    )


def share(of: Share) -> str:
    """`3 of 4 (75%, 30 to 95%)` as our own HTML; a dash where nothing is counted."""
    if not of.n:
        return f'<span class="rs-num">{fmt.DASH}</span> <span class="rs-quiet">none to count</span>'
    low, high = of.bounds
    between = f"{fmt.percent(low)} to {fmt.percent(high)}"
    return (
        f'<span class="rs-num">{of.hits} of {of.n}</span> '
        f'<span class="rs-quiet rs-num">{fmt.percent(of.value)}, 95% interval {between}</span>'
    )


def missing(of: Figures) -> list[str]:
    """What is in no figure, as tags."""
    parts = list[str]()
    if of.stale:
        parts.append(tag(f"{of.stale} stale", "warn"))
    if of.failed:
        parts.append(tag(f"✕ {of.failed} failed", "bad"))
    if of.unasked:
        parts.append(tag(f"{of.unasked} not asked"))
    if of.unlabelled:
        parts.append(tag(f"{of.unlabelled} without an expected option"))
    return parts
