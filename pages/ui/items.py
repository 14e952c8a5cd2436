"""An item and its votes on screen: texts, options, verdicts, two texts side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.dataset import Answer, Item, Pair, Sections, output_of
from core.domain.rubric import Criterion
from core.domain.votes import Call, Verdict, Vote, VoteFailure
from core.rubric_diff.wording import Spans, word_diff
from core.services.results.item_view import Standing, VoteView, averaged_in_words
from core.text import numbers as fmt
from core.text.quotes import find_quote
from pages.ui.resources import remembered
from pages.ui.text import clamped_html, draw_prose, draw_raw, esc, label, marked
from pages.ui.widgets import draw_row, tag

FAILURE_WORDS = {
    "rate_limit": "rate limit",
    "timeout": "no answer before the timeout",
    "connection": "not reachable",
    "server": "provider's fault",
    "auth": "key refused",
    "refusal": "refused to judge",
    "internal": "defect",
    "code": "the judge's code failed",
    "not_found": "model not found",
    "bad_request": "request refused",
    "context_length": "too long for the model",
    "content_filter": "blocked by a content filter",
    "out_of_range": "chose an option that does not exist",
    "missing_key": "no key",
    "expired": "not answered before the deadline",
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
    """Return the HTML of a criterion's choices; the chosen one has a tick and a thick border.

    Args:
        criterion: the criterion whose `choices` are shown.
        chosen: an index into `choices`, or `None`.
        order: `order[shown position] = original index`; if given, the chips are in the order
            shown, each with its shown number and, in small, its place in the rubric.
        voted: whether any vote chose it; a verdict that is only nearest has no tick.
    """
    indices = list(order) if order is not None else range(len(criterion.choices))
    return "".join(
        _chip(criterion, index, index == chosen, shown if order is not None else None, voted)
        for shown, index in enumerate(indices, start=1)
    )


def verdict_chips(
    criterion: Criterion, verdict: Verdict | None, *, alone: bool = False
) -> list[str]:
    """Return the HTML of a criterion's choices with its verdict, or of the verdict `alone`; and
    how it was made, if no vote chose that option.
    """
    caption = averaged_in_words(criterion, verdict)
    chosen = None if verdict is None else verdict.option
    if alone and chosen is not None:
        chips = _chip(criterion, chosen, True, None, not caption)
    else:
        chips = option_chips(criterion, chosen, voted=not caption)
    return [chips, tag(caption, "warn")] if caption else [chips]


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
    caption = f"{tick}{number}<span>{esc(option.label)}</span><small>{value}{place}</small>"
    return f'<span class="{classes}">{caption}</span>'


def vote_card(
    criterion: Criterion,
    result: Vote | VoteFailure,
    call: Call | None = None,
    *,
    which: str | None = None,
    text: str | None = None,
    marks: str = "",
    brief: bool = False,
) -> str:
    """Return HTML of an answer with evidence, reason and cost; or of a failure and its kind.

    Args:
        criterion: the criterion asked.
        result: the answer, or the failure.
        call: the call's figures, if known.
        which: replaces "try 2" and the like, the answer's number (see `answer_label`).
        text: the submission; quotes that it does not contain are marked as missing.
        marks: HTML tags (`widgets.tag`) next to the name.
        brief: show a line of the reason, which a click opens.
    """
    if which is None:
        which = f"try {result.cell.replicate + 1}" if result.cell.replicate else ""
    details = " · ".join(part for part in (which, _shown_order_text(result)) if part)
    quiet = f'<span class="rs-quiet">{esc(details)}</span>' if details else ""
    head = f'<div class="rs-row"><b>{esc(result.cell.judge)}</b>{quiet}{marks}</div>'
    body = _vote(criterion, result, text, brief) if isinstance(result, Vote) else _failure(result)
    return f'<div class="rs-card">{head}{body}{_call_line(call)}</div>'


def answer_label(view: VoteView) -> str:
    """Return which of a judge's answers to a cell this is; empty for the first."""
    number = view.cell.replicate if view.repeats is None else view.repeats
    parts = [f"try {number + 1}"] if number else []
    parts += ["order reversed"] if view.repeats is not None else []
    return ", ".join(parts)


def standing_tags(view: VoteView) -> str:
    """Return the HTML of a vote's status, unless it simply counts."""
    caption = STANDINGS[view.standing]
    tags = tag(caption) if caption and view.vote is not None else ""
    orders_differ = view.apart and view.repeats is not None
    return tags + (tag("not the same answer", "warn") if orders_differ else "")


def _shown_order_text(result: Vote | VoteFailure) -> str:
    """Return how the options below a judge's name are ordered."""
    if isinstance(result, Vote) and result.order:
        return "options in the order shown"
    unseen = isinstance(result, Vote) and "method" in result.detail
    return "no options shown: this judge learned from labels" if unseen else ""


def _vote(criterion: Criterion, vote: Vote, text: str | None, brief: bool) -> str:
    chips = f'<div class="rs-row">{option_chips(criterion, vote.option, vote.order)}</div>'
    if vote.option is None:
        chips = tag("Abstained") + chips
    notes = [f"confidence {fmt.score(vote.confidence)}"] if vote.confidence is not None else []
    notes += [f"chances: {_chances(criterion, vote.probabilities)}"] if vote.probabilities else []
    if other := vote.detail.get("other_chance"):
        notes.append(f"other replies {fmt.score(float(str(other)))}")
    if method := vote.detail.get("method"):
        notes.append(f"by {method}")
    if no_chances := vote.detail.get("no_chances"):
        notes.append(f"no chances: {no_chances}")
    quiet = f'<div class="rs-quiet rs-num">{esc("; ".join(notes))}</div>' if notes else ""
    quotes = "".join(_quote_html(quote, text) for quote in vote.evidence)
    reason = f'<div class="rs-prose">{esc(vote.reason)}</div>' if vote.reason else ""
    if brief and (parts := [part for part in (reason, quotes, quiet) if part]):
        return chips + clamped_html(parts[0], "".join(parts[1:]))
    return chips + quiet + quotes + reason


def _chances(criterion: Criterion, probabilities: Sequence[float]) -> str:
    pairs = zip(criterion.choices, probabilities, strict=False)
    return ", ".join(f"{option.label} {fmt.score(p)}" for option, p in pairs if not option.na)


def _quote_html(quote: str, text: str | None) -> str:
    is_missing = text is not None and find_quote(text, quote) is None
    mark = f" {tag('quote not found in the submission', 'warn')}" if is_missing else ""
    return f'<div class="rs-quote">{esc(quote)}{mark}</div>'


def _failure(failure: VoteFailure) -> str:
    caption = FAILURE_WORDS.get(failure.kind, failure.kind)
    return (
        f"<div>{tag(f'✕ No vote: {caption}', 'bad')}</div>"
        f'<div class="rs-prose">{esc(failure.message)}</div>'
    )


def _call_line(call: Call | None) -> str:
    if call is None:
        return ""
    total = None
    if call.tokens_in is not None and call.tokens_out is not None:
        total = call.tokens_in + call.tokens_out
    parts = [fmt.tokens(total), *call_facts(call)]
    return f'<div class="rs-quiet rs-num">{" · ".join(map(esc, parts))}</div>'


def call_facts(call: Call) -> list[str]:
    """Return a call's cost, time and tries, or that an earlier answer was reused."""
    if call.cached:
        cost_then = "" if call.first_cost is None else f", cost {fmt.cost(call.first_cost)} then"
        return [f"answer from an earlier run{cost_then}, nothing now"]
    tries = fmt.plural(call.tries, "try", "tries")
    return [f"cost {fmt.cost(call.cost)}", fmt.seconds(call.seconds), tries]


# An item on screen: its submission, its task, and its labels.
#
# Everything here was written by others and goes through the functions of `text`.

#: Longer texts scroll within this height, in pixels.
TALL = 420
LONG = 1800


def show_texts(item: Item, words: str = "Submission") -> None:
    """Draw what a judge would see, without facts about its author, below the heading `words`."""
    if item.prompt:
        show_headed("Prompt", item.prompt)
    show_contexts(item.context)
    with st.container(gap="xsmall"):
        st.html(f'<div class="rs-section">{esc(words)}</div>')
        show_submission(item)
    if item.reference:
        show_headed("Reference", item.reference)


def show_item(item: Item) -> None:
    """Draw the whole item: tags, prompt, context, submission, reference, labels, notes."""
    show_tags(item)
    show_texts(item)
    if item.description:
        show_headed("Description", item.description)
    show_labels(item)
    _further_texts(item)


def show_tags(item: Item) -> None:
    """Draw system, split and tags as small tags, if the item has any."""
    parts = [tag(f"system {item.system}", "info")] if item.system else []
    parts += [tag(item.split)] if item.split else []
    parts += [tag(word) for word in item.tags]
    parts += [tag("its own rubric", "info")] if item.rubric else []
    if parts:
        draw_row(parts)


def show_submission(item: Item) -> None:
    """Draw the submission as written: chat turns, thinking apart from output, or plain text."""
    handed_in = item.submission
    if isinstance(handed_in, Pair):
        for name, answer in (("Answer A", handed_in.first), ("Answer B", handed_in.second)):
            st.html(f'<div class="rs-section">{name}</div>')
            _show_answer(answer)
    else:
        _show_answer(handed_in, missing=item.meta.get("text_available") is False)


def _show_answer(handed_in: Answer, *, missing: bool = False) -> None:
    if isinstance(handed_in, str):
        _show_text(handed_in, missing=missing)
    elif isinstance(handed_in, Sections):
        if handed_in.thinking:
            caption = fmt.plural(len(handed_in.thinking.split()), "word")
            with st.expander(f"Thinking, {caption}", icon=":material/psychology:"):
                _show_text(handed_in.thinking)
        _show_text(handed_in.output)
    else:
        turns = "".join(
            f'<div class="rs-card"><b>{esc(turn.role)}</b>'
            f'<div class="rs-prose">{esc(turn.content)}</div></div>'
            for turn in handed_in
        )
        height = TALL if sum(len(turn.content) for turn in handed_in) > LONG else None
        style = f"max-height:{height}px;overflow:auto;" if height else ""
        st.html(f'<div style="{style}display:grid;gap:.5rem">{turns}</div>')


def _show_text(text: str, *, missing: bool = False) -> None:
    if text.strip():
        draw_prose(text, height=TALL if len(text) > LONG else None)
    elif missing:
        draw_row([tag("The text is missing", "warn"), "The item is kept for its labels and votes."])
    else:
        draw_row([tag("Empty answer", "warn")])


def show_headed(words: str, text: str) -> None:
    """Draw a text under a small heading."""
    with st.container(gap="xsmall"):
        st.html(f'<div class="rs-section">{esc(words)}</div>')
        _show_text(text)


def context_words(name: str) -> str:
    """Return the heading of a context; an unnamed one has none."""
    return "Context" if name == "context" else f"Context: {name}"


def show_contexts(context: Mapping[str, str]) -> None:
    """Draw every named text under its heading."""
    for name, text in context.items():
        show_headed(context_words(name), text)


def show_labels(item: Item) -> None:
    """Draw people's labels of the item, by criterion, with their reasons."""
    lines = "".join(
        f"<li>{esc(name)}: {tag(label.label)} "
        f'<span class="rs-quiet">{esc(label.reason)}</span></li>'
        for name, label in item.labels.items()
    )
    labels = f'<ul class="rs-list">{lines}</ul>' if lines else '<span class="rs-quiet">None.</span>'
    st.html(f'<div class="rs-section">Labels</div>{labels}')


def _further_texts(item: Item) -> None:
    if item.rubric is not None:
        with st.expander(
            f"Its own rubric: {fmt.plural(len(item.rubric.criteria), 'criterion', 'criteria')}"
        ):
            lines = "".join(
                f"<li><b>{esc(c.name)}</b> {esc(c.requirement)}</li>" for c in item.rubric.criteria
            )
            st.html(f'<ul class="rs-list">{lines}</ul>')
    notes = {name: value for name, value in item.meta.items() if name != "text_available"}
    if notes:
        with st.expander(fmt.plural(len(notes), "note")):
            draw_raw(json.dumps(notes, indent=2, ensure_ascii=False))


#: With a smaller share of common words nearly everything would be marked, so no marks are drawn.
ALIKE = 0.25
SIDE_HEIGHT = 460


def side_by_side(headings: tuple[str, str], answers: tuple[Answer, Answer], *, mark: bool) -> None:
    """Draw both answers side by side, or one below the other on a narrow screen.

    Args:
        headings: our own HTML above each answer.
        answers: the answers as written.
        mark: whether to mark words that the other answer lacks.
    """
    texts = output_of(answers[0]), output_of(answers[1])
    spans = _marks_between(*texts) if mark else ((), ())
    with st.grid(2, min_column_width=300):
        for index in (0, 1):
            with st.container(border=True, gap="xsmall"):
                st.html(headings[index])
                _side_text(texts[index], spans[index])
                _show_thinking(answers[index])


def _marks_between(first: str, second: str) -> tuple[Spans, Spans]:
    """Return what to mark in each; nothing, after showing why, if marks would not help."""
    *spans, common = remembered("words", (first, second), lambda: word_diff(first, second))
    if common is None:
        st.caption("The answers are too long to mark differences.")
    elif common < ALIKE:
        share = fmt.percent(common)
        st.caption(f"Only {share} of the words are common to both, so nothing is marked.")
        return (), ()
    elif not any(spans):
        st.caption("Both answers have the same words.")
    return spans[0], spans[1]


def _side_text(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    if text.strip():
        style = f"max-height:{SIDE_HEIGHT}px;overflow:auto"
        st.html(f'<div class="rs-prose" style="{style}" tabindex="0">{marked(text, spans)}</div>')
    else:
        st.html('<span class="rs-quiet">Empty answer.</span>')


def _show_thinking(answer: Answer) -> None:
    if isinstance(answer, Sections) and answer.thinking:
        with st.expander("Thinking", icon=":material/psychology:"):
            draw_prose(answer.thinking, height=SIDE_HEIGHT)


def show_folded(words: str, text: str, *, opened: bool = False) -> None:
    """Draw a text that both answers refer to in an expander, unless it is empty."""
    if text:
        with st.expander(label(words), expanded=opened):
            st.html(
                f'<div class="rs-prose" style="max-height:300px;overflow:auto">{esc(text)}</div>'
            )
