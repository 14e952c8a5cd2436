"""A comparison of two runs for reading on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.runs import Run
from core.services import numbers as say
from core.services.comparing import FEW, Comparison
from core.services.comparing_costs import Spent
from core.services.comparing_figures import CriterionDelta, Delta

#: So many changes, flips and ids are written out; ``--json`` has all.
MOST = 12


def as_text(found: Comparison) -> str:
    """The comparison in lines; what is undefined is said with its reason."""
    first, second = found.runs
    lines = [f"A: {_run(first)}", f"B: {_run(second)}", "", "What changed"]
    lines += _some([_change(c.area, c.what, c.before, c.after) for c in found.changed], "changes")
    lines += [
        f"  Not finished: run {run.id} ({run.status}); figures hold for the votes there are."
        for run in found.runs
        if run.status != "done"
    ]
    lines += ["", "Items", *_items(found), "", "Differences (B minus A)"]
    lines += [f"  mean score: {_delta(found.deltas.score)}"]
    lines += [f"  accuracy over all cells: {_delta(found.deltas.accuracy, share=True)}"]
    for delta in found.deltas.criteria:
        lines += _criterion(delta)
    lines += [f"  {name}: not comparable. {why}" for name, why in found.apart.items()]
    lines += ["", "Verdicts that flipped"]
    flips = [
        f"  {f.criterion}: {f.before} -> {f.after}: {say.plural(len(f.items), 'item')} "
        f"({_ids(f.items)})" + _worth(f.mended, f.broken)
        for f in found.flips
    ]
    lines += _some(flips, "directions") or ["  none"]
    lines += ["", "Cost", *(_spent(side, one) for side, one in zip("AB", found.spent, strict=True))]
    if found.resamples:
        lines += ["", f"Intervals: 95 %, {say.count(found.resamples)} resamples of the items."]
    return "\n".join(lines)


def _run(run: Run) -> str:
    judges = ", ".join(judge.name for judge in run.panel.judges)
    return (
        f"run {run.id}, {run.name} ({run.rubric_name} {run.version_words} on "
        f"{run.dataset_name} version {run.dataset_number}; {judges})"
    )


def _some(lines: list[str], what: str) -> list[str]:
    rest = len(lines) - MOST
    return [*lines[:MOST], f"  and {rest} more {what} (--json has all)"] if rest > 0 else lines


def _change(area: str, what: str, before: str | None, after: str | None) -> str:
    return f"  {area}, {what}: {before or 'nothing'} -> {after or 'nothing'}"


def _items(found: Comparison) -> Iterator[str]:
    match = found.match
    yield f"  both: {say.count(len(match.both))}" + (
        " (few: figures are uncertain)" if len(match.both) < FEW else ""
    )
    for words, items in (
        ("only in A", match.only_first),
        ("only in B", match.only_second),
        ("left out, since their text changed", match.reworded),
        ("with another label in B, which counts for both", match.relabelled),
    ):
        if items:
            yield f"  {words}: {say.count(len(items))} ({_ids(items)})"


def _ids(items: tuple[str, ...]) -> str:
    return ", ".join(items[:3]) + (", ..." if len(items) > 3 else "")


def _criterion(delta: CriterionDelta) -> Iterator[str]:
    yield f"  {delta.name}: {delta.same} of {delta.decided} verdicts are the same"
    yield f"    accuracy: {_delta(delta.accuracy, share=True)}"
    if delta.accuracy.difference.value is not None:
        yield f"    right in A alone: {delta.only_first}, in B alone: {delta.only_second}"
    yield f"    kappa: {_delta(delta.kappa)}"
    yield f"    judges' agreement (alpha): {_delta(delta.agreement)}"


def _delta(delta: Delta, *, share: bool = False) -> str:
    if delta.difference.value is None:
        return f"undefined. {delta.difference.reason}"
    form = say.percent if share else say.score
    text = f"{form(delta.first.value)} -> {form(delta.second.value)}, "
    text += say.points(delta.difference.value, share=share)
    if delta.interval.low is not None and delta.interval.high is not None:
        ends = (say.points(end, share=share) for end in (delta.interval.low, delta.interval.high))
        text += f" [{', '.join(ends)}]"
    text += f", n = {say.count(delta.n)}"
    if delta.p.value is not None:
        text += f", p = {say.number(delta.p.value, 2)}"
        text += f" (Holm {say.number(delta.p_holm, 2)})" if delta.p_holm is not None else ""
    return text


def _worth(mended: int, broken: int) -> str:
    parts = [f"{mended} right now"] if mended else []
    parts += [f"{broken} right before"] if broken else []
    return f"; {', '.join(parts)}" if parts else ""


def _spent(side: str, one: Spent) -> str:
    text = f"  {side}: {say.cost(one.now)} in {say.plural(one.calls, 'call')}"
    if one.cached:
        text += f", {say.plural(one.cached, 'answer')} kept from earlier runs"
        text += f" (worth {say.cost(one.saved)})" if one.saved else ""
    return text + (f". {one.reason}" if one.reason else "")
