"""Options and votes as a person sees them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Criterion
from core.domain.runs import CellResult
from core.domain.votes import Call, CallRow, Vote, VoteFailure
from core.services import numbers as fmt
from core.services.quoting import find_quote
from core.services.unvoted import between
from core.services.viewing import Standing, VoteView
from pages.ui.text import esc
from pages.ui.widgets import tag

FAILURE_WORDS = {
    "rate_limit": "rate limit",
    "timeout": "no answer in time",
    "connection": "not reachable",
    "server": "provider's fault",
    "auth": "key refused",
    "refusal": "refused to judge",
    "internal": "defect",
    "not_found": "model not found",
    "bad_request": "request refused",
    "context_length": "too long for the model",
    "content_filter": "blocked by a content filter",
    "out_of_range": "answered an option that does not exist",
    "missing_key": "no key",
    "malformed": "unreadable answer",
    "too_large": "answer too large",
    "empty": "empty answer",
}
STANDINGS: dict[Standing, str] = {
    "counts": "",
    "shadow": "shadow: does not count",
    "superseded": "superseded by a later stage",
    "reversed": "",
}


def option_chips(
    criterion: Criterion,
    chosen: int | None = None,
    order: Sequence[int] | None = None,
    *,
    voted: bool = True,
) -> str:
    """The HTML of a criterion's choices; the chosen one has a tick, weight and a thick border.

    Args:
        criterion: whose `choices` are shown.
        chosen: an index into `choices`, or `None`.
        order: `order[shown position] = original index`; where it is given the chips stand as they
            were shown, each with its shown number and, in small, its place in the rubric.
        voted: whether anybody chose it; a verdict that is only nearest has no tick.
    """
    indices = list(order) if order is not None else range(len(criterion.choices))
    return "".join(
        _chip(criterion, index, index == chosen, shown if order is not None else None, voted)
        for shown, index in enumerate(indices, start=1)
    )


def verdict_chips(criterion: Criterion, verdict: CellResult | None) -> list[str]:
    """The HTML of a criterion's choices with its verdict; and, where no vote chose that, what the
    verdict is.
    """
    words = between(criterion, verdict)
    chosen = None if verdict is None else verdict.option
    chips = option_chips(criterion, chosen, voted=not words)
    return [chips, tag(words, "warn")] if words else [chips]


def _chip(criterion: Criterion, index: int, chosen: bool, shown: int | None, voted: bool) -> str:
    option = criterion.choices[index]
    classes = "rs-chip" + (" rs-chosen" if chosen else "") + (" rs-na" if option.na else "")
    number = f"<small>{shown}</small>" if shown is not None else ""
    value = "no score" if option.na else fmt.score(option.value)
    place = f" · option {index + 1}" if shown is not None else ""
    mark = '<span aria-label="chosen">✓</span>'
    if not voted:
        mark = '<span aria-label="nearest, chosen by nobody">≈</span>'
    tick = mark if chosen else ""
    words = f"{tick}{number}<span>{esc(option.label)}</span><small>{value}{place}</small>"
    return f'<span class="{classes}">{words}</span>'


def vote_card(
    criterion: Criterion,
    result: Vote | VoteFailure,
    call: Call | None = None,
    *,
    who: str = "",
    which: str | None = None,
    text: str | None = None,
    marks: str = "",
) -> None:
    """One rater's answer with evidence, reason and what it cost; or the failure, and its kind.

    Args:
        criterion: what was asked.
        result: the answer, or the failure.
        call: what asking took, where it is at hand.
        who: replaces the judge's name (e.g. "Judge A" where judging is blind).
        which: replaces "try 2" and the like, which of its answers this is (see `which_answer`).
        text: the submission; quotes that are not in it are said to be missing.
        marks: HTML tags (`widgets.tag`) to stand beside the name.
    """
    name = who or result.cell.judge
    if which is None:
        which = f"try {result.cell.replicate + 1}" if result.cell.replicate else ""
    said = f'<span class="rs-quiet">{esc(which)}</span>' if which else ""
    head = f'<div class="rs-row"><b>{esc(name)}</b>{said}{marks}</div>'
    body = _vote(criterion, result, text) if isinstance(result, Vote) else _failure(result)
    st.html(f'<div class="rs-card">{head}{body}{_call_line(call)}</div>')


def which_answer(view: VoteView) -> str:
    """Which of a judge's answers to a cell this is; empty for the first one."""
    number = view.cell.replicate if view.repeats is None else view.repeats
    parts = [f"try {number + 1}"] if number else []
    parts += ["order reversed"] if view.repeats is not None else []
    return ", ".join(parts)


def standing_tags(view: VoteView) -> str:
    """The HTML of what becomes of a vote, where it does not simply count."""
    words = STANDINGS[view.standing]
    tags = tag(words) if words and view.vote is not None else ""
    apart = view.apart and view.repeats is not None
    return tags + (tag("not the same answer", "warn") if apart else "")


def _vote(criterion: Criterion, vote: Vote, text: str | None) -> str:
    chips = f'<div class="rs-row">{option_chips(criterion, vote.option, vote.order)}</div>'
    if vote.option is None:
        chips = tag("Abstained") + chips
    sure = [f"confidence {fmt.score(vote.confidence)}"] if vote.confidence is not None else []
    sure += [f"chances: {_chances(criterion, vote.probabilities)}"] if vote.probabilities else []
    quiet = f'<div class="rs-quiet rs-num">{esc("; ".join(sure))}</div>' if sure else ""
    quotes = "".join(_quote(quote, text) for quote in vote.evidence)
    reason = f'<div class="rs-prose">{esc(vote.reason)}</div>' if vote.reason else ""
    return chips + quiet + quotes + reason


def _chances(criterion: Criterion, probabilities: Sequence[float]) -> str:
    pairs = zip(criterion.choices, probabilities, strict=False)
    return ", ".join(f"{o.label} {fmt.score(p)}" for o, p in pairs if not o.na)


def _quote(quote: str, text: str | None) -> str:
    lost = text is not None and find_quote(text, quote) is None
    mark = f" {tag('quote not found in the submission', 'warn')}" if lost else ""
    return f'<div class="rs-quote">{esc(quote)}{mark}</div>'


def _failure(failure: VoteFailure) -> str:
    words = FAILURE_WORDS.get(failure.kind, failure.kind)
    return (
        f"<div>{tag(f'✕ No vote: {words}', 'bad')}</div>"
        f'<div class="rs-prose">{esc(failure.message)}</div>'
    )


def _call_line(call: Call | None) -> str:
    if call is None:
        return ""
    total = None
    if call.tokens_in is not None and call.tokens_out is not None:
        total = call.tokens_in + call.tokens_out
    parts = [fmt.tokens(total), *spent(call)]
    return f'<div class="rs-quiet rs-num">{" · ".join(map(esc, parts))}</div>'


def spent(call: Call | CallRow) -> list[str]:
    """What a call cost in money, time and tries, or that an earlier answer was used again."""
    if call.cached:
        then = "" if call.first_cost is None else f", cost {fmt.cost(call.first_cost)} then"
        return [f"answer from an earlier run{then}, nothing now"]
    tries = fmt.plural(call.tries, "try", "tries")
    return [f"cost {fmt.cost(call.cost)}", fmt.seconds(call.seconds), tries]
