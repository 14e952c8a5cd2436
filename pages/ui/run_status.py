"""The status of a run on every page: in words, its progress, and how to fix failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from core import clock
from core.domain.runs import RunRow
from core.domain.votes import BatchRow
from core.services.exports import run_export
from core.services.judges.readiness import code_elsewhere
from core.services.runs import lifecycle
from core.services.runs.lifecycle import RunLook, RunProgress, is_stalled, shown_status
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.asking_words import failure_advice
from pages.ui.items import FAILURE_WORDS
from pages.ui.resources import disabled_without, make_later, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    Tone,
    draw_row,
    draw_table,
    problem_list,
    show_figures,
    shown_errors,
    tag,
)

IMPORTED_EMPTY = "These cells are empty in the imported file, and do not count as votes."
#: The number of raters named in a line; others are counted.
NAMED = 4
SLOW = "Calls to your own slow server wait as long as the server can be reached."
NOBODY = "The process that worked on this run has ended, and no other has taken over."


def versions_line(row: RunRow) -> str:
    """Return the versions of the rubric and the dataset in a line."""
    return (
        f"{one_line(row.rubric_name, 70)}, {row.version_words}, on "
        f"{one_line(row.dataset_name, 70)}, version {row.dataset_number}"
    )


def raters_line(row: RunRow) -> str:
    """Return who judged, or rated elsewhere, in a line; further raters are counted."""
    names = [one_line(judge.name, 60) for judge in row.panel.judges]
    unlisted = f" and {fmt.count(len(names) - NAMED)} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{unlisted}"


def votes_words(row: RunRow) -> str:
    """Return the number of votes out of those planned; for an import, which has no plan, only the
    number.
    """
    if not row.panel.askable:
        return fmt.plural(row.votes, "vote")
    return f"{fmt.count(row.votes)} of {fmt.plural(row.planned, 'vote')}"


def cost_words(row: RunRow) -> str:
    """Return a run's cost, and whether a part of it is unknown."""
    if not row.calls:
        return "no calls"
    if row.cost_unknown == row.calls:
        return "cost unknown"
    return f"{spent_words(row)} (some prices unknown)" if row.cost_unknown else spent_words(row)


def spent_words(row: RunRow) -> str:
    """Return the cost of a run's calls as a figure; never $0.00 for an unknown cost."""
    if row.cost_unknown == row.calls:
        return "unknown"
    return fmt.cost(row.cost) + (" and more" if row.cost_unknown else "")


def known_words(row: RunRow) -> str:
    """Return how many answers came from earlier runs, and the savings if known."""
    saved = f", saved {fmt.cost(row.saved)}" if row.saved else ""
    return f"{fmt.plural(row.cached, 'answer')} from earlier runs{saved}"


STATUS: dict[str, tuple[str, Tone]] = {
    "queued": ("… Waiting to start", "neutral"),
    "running": ("▶ Grading", "info"),
    "done": ("✓ Done", "good"),
    "incomplete": ("◼ Incomplete", "warn"),
    "cancelled": ("◼ Cancelled", "warn"),
    "interrupted": ("◼ No process is working on this run", "warn"),
    "budget": ("◼ Budget spent", "warn"),
    "failed": ("✕ Failed", "bad"),
}
IMPORTED: tuple[str, Tone] = ("✓ Imported", "good")


def status_words(row: RunRow) -> tuple[str, Tone]:
    """Return the run's status in words with its number of failures, and its tone."""
    if not row.panel.askable:
        return IMPORTED
    if row.cancel and row.status == "running" and not is_stalled(row):
        return "◼ Stopping", "warn"
    text, tone = STATUS[shown_status(row)]
    if row.failures_open and not row.active:
        text = f"{text}, {fmt.plural(row.failures_open, 'failure')}"
    return text, tone


def status_tag(row: RunRow) -> str:
    """Return the HTML tag of a run's status, whose words mean the same as its colour."""
    return tag(*status_words(row))


RUN_ACT = "run_act"
RUN_LOOK = "run_look"

POLL_SECONDS = 1.0
#: Seconds between updates of the rest of the page during a run.
REDRAW_SECONDS = 6.0


def show_status(run_id: int, *, title: str = "", details: str = "") -> None:
    """Draw the status with its buttons; it refreshes only while a worker processes the run.

    `title` is for the head of the run's own page; `details` follows the votes (HTML).
    """
    row = lifecycle.run_progress(store(), run_id).row
    began = time.monotonic()
    st.fragment(_live_status, run_every=POLL_SECONDS if row.active else None)(
        run_id, row.active, row.votes, began, title=title, details=details
    )


def _live_status(
    run_id: int, was_active: bool, votes: int, began: float, *, title: str, details: str
) -> None:
    with shown_errors():
        key = state.key(RUN_LOOK, run_id)
        before = state.get(key)
        look = lifecycle.run_progress(store(), run_id, None if before is None else RunLook(*before))
        state.put(key, tuple(look.look))
        follows = look.row.votes != votes and time.monotonic() - began > REDRAW_SECONDS
        if look.row.active != was_active or follows:
            st.rerun()
        draw_status(look, title=title, details=details)


def draw_status(
    look: RunProgress, *, pace: bool = True, title: str = "", details: str = ""
) -> None:
    """Draw the current status with its buttons; `pace` adds the speed of a running run."""
    run = look.row
    waiting = run.status == "running" and _batches_out(look) and not run.cancel
    shown = tag("… Waiting for batches", "info") if waiting else status_tag(run)
    facts = facts_line(run) if run.active or not title else ""
    with status_line(run, title, shown, f"{facts} {details}"):
        _status_buttons(look, grades=bool(title))
    if run.active:
        text = f"{fmt.percent(look.share)} of the votes · {lifecycle.phase_words(run)}"
        st.progress(min(1.0, look.share), text=text)
        if waits := lifecycle.waiting_words(look):
            st.caption(f"{label(waits)}. {SLOW}")
        if pace and not _batches_out(look):
            _pace_words(look)
    _show_batches(look)
    if look.cells_not_needed:
        st.caption(
            f"{fmt.count(look.cells_not_needed)} of {fmt.plural(run.planned, 'vote')} "
            "were not needed: the "
            "verdicts were already settled."
        )
    if lost_calls := lifecycle.unrecorded_calls(run):
        st.caption(lifecycle.lost_calls_words(lost_calls))
    if look.stalled:
        st.warning(f"{NOBODY} Press Resume to continue the run; no finished vote is lost.")
    if not run.active or look.stalled:
        _show_elsewhere(look)
    if run.message:
        st.warning(label(run.message), icon=":material/info:")
    show_failures(look)


@contextmanager
def status_line(run: RunRow, title: str, shown: str, details: str) -> Iterator[None]:
    """Draw the row of a run's name, status and votes. The contents of the `with` block are drawn at
    its end.
    """
    key = "rs_head" if title else None
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key):
        if title:
            st.title(label(title), anchor=False, width="content")
        votes = f'<span class="rs-num">{esc(votes_words(run))}</span>'
        draw_row([shown, votes, details], width="content")
        st.space("stretch")
        yield
        if title:
            routes.about_this_page()


def facts_line(run: RunRow) -> str:
    """Return abstentions, calls, cost and time of a run as one quiet line of HTML."""
    facts = [fmt.plural(run.abstentions, "abstention")]
    if run.calls:
        facts += [fmt.plural(run.calls, "call"), cost_words(run)]
        facts.append(f"{fmt.tokens(run.tokens_in)} in, {fmt.tokens(run.tokens_out)} out")
    if run.cached:
        facts.append(known_words(run))
    if run.seconds and not run.active:
        facts.append(fmt.seconds(run.seconds))
    return f'<span class="rs-quiet rs-num">{esc(" · ".join(facts))}</span>'


def _pace_words(look: RunProgress) -> None:
    if look.stalled:
        return
    waiting = look.row.status == "queued"
    rate = "waiting" if waiting else "measuring" if look.rate is None else fmt.pace(look.rate)
    remaining = fmt.seconds(look.seconds_left) if look.seconds_left is not None else fmt.DASH
    spent = spent_words(look.row) if look.row.calls else fmt.DASH
    show_figures(
        [
            LabelledFigure("Pace", rate, "Votes by the second, the minute or the hour."),
            LabelledFigure("Time left", remaining, "At the pace of the last seconds."),
            LabelledFigure("Spent so far", spent),
            LabelledFigure("Failures", fmt.count(look.row.failures_open)),
        ]
    )


def _batches_out(look: RunProgress) -> list[BatchRow]:
    """Return the batches that a provider processes."""
    return [batch for batch in look.batches if batch.at_provider]


def _show_batches(look: RunProgress) -> None:
    """Draw the state of batches at the provider, their age, and the time of the next check."""
    batches_out = _batches_out(look)
    if batches_out:
        draw_table(
            ("Batch of", "Answered", "Sent", "At the provider", "Next look"),
            (_batch_row(batch, look.row.active) for batch in batches_out),
            name="Batches at the provider",
            numbers=(1,),
        )
    received = len(look.batches) - len(batches_out)
    if received:
        st.caption(f"{fmt.plural(received, 'batch', 'batches')} finished.")
    if batches_out and not look.row.active:
        st.caption(
            "This app is not waiting for these, but the provider still processes them. Resume "
            "records their answers; Cancel stops them."
        )
    for message in dict.fromkeys(batch.message for batch in batches_out if batch.message):
        st.warning(label(message), icon=":material/cloud_off:")


def _batch_row(batch: BatchRow, active: bool) -> list[str]:
    until_check = None if batch.due is None or not active else batch.due - clock.seconds_now()
    look = (
        fmt.DASH
        if until_check is None
        else "soon"
        if until_check < 60
        else f"in {fmt.about_minutes(until_check / 60)}"
    )
    answered = f"{fmt.count(batch.answered)} of {fmt.plural(batch.lines, 'question')}"
    return [
        esc(batch.judge),
        answered,
        fmt.time_ago(batch.created),
        esc(batch.said.replace("_", " ")),
        look,
    ]


def _status_buttons(look: RunProgress, *, grades: bool) -> None:
    run = look.row
    if grades and run.votes and not run.active:
        grades_download(run.id)
    called_off = not run.active and any(batch.is_pending for batch in look.batches)
    if (run.active and not look.stalled) or called_off:
        st.button(
            "Cancel",
            key=state.key(RUN_ACT, "cancel", run.id),
            icon=":material/stop_circle:",
            on_click=_on_act,
            args=(lifecycle.cancel, run.id),
            **{
                "disabled": run.cancel and run.active,
                "help": "Stops the calls. Finished votes are kept, and the run can be resumed.",
                **disabled_without("write"),
            },
        )
    if code_elsewhere(run.panel.judges):
        return
    remaining = run.planned - look.settled - look.cells_not_needed
    if look.stalled or (not run.active and remaining > 0):
        st.button(
            f"Resume ({fmt.plural(remaining, 'vote')} left)",
            key=state.key(RUN_ACT, "resume", run.id),
            type="primary",
            icon=":material/play_arrow:",
            on_click=_on_act,
            args=(lifecycle.resume, run.id),
            **disabled_without("write"),
        )
    if run.failures_open and not run.active and run.panel.askable:
        st.button(
            f"Retry {fmt.plural(run.failures_open, 'failure')}",
            key=state.key(RUN_ACT, "retry", run.id),
            icon=":material/replay:",
            on_click=_on_act,
            args=(lifecycle.retry, run.id),
            **disabled_without("write"),
        )


def grades_download(run_id: int) -> None:
    """Draw the download of the workbook of grades; other formats are on the Report page."""
    st.download_button(
        "Grades (Excel)",
        data=make_later(lambda held: run_export.grades_workbook(held, run_id)),
        file_name=f"scores-run-{run_id}.xlsx",
        icon=":material/download:",
        key=state.key(RUN_ACT, "grades", run_id),
        type="tertiary",
        help="A workbook with every item's grade and grader, the judges' scores, and all verdicts.",
        on_click="ignore",
    )


def _show_elsewhere(look: RunProgress) -> None:
    """Show where a run continues if its judges are code that pages cannot run."""
    programs = code_elsewhere(look.row.panel.judges)
    remaining = look.row.planned - look.row.votes - look.cells_not_needed
    if programs and remaining > 0:
        st.caption(
            f"Remaining votes ({fmt.plural(remaining, 'vote')}) cannot be requested from here:"
        )
        problem_list(programs)


def show_failures(look: RunProgress) -> None:
    """Draw failures by kind, if any: their number, judges, last message, and fix."""
    if not look.failures:
        return
    judges, askable = {j.name: j for j in look.row.panel.judges}, look.row.panel.askable
    lines = []
    for kind in look.failures:
        failed = [judges[name] for name in kind.judges if name in judges]
        fix = failure_advice(kind.kind, failed) if askable else IMPORTED_EMPTY
        lines.append(
            f"<div>{tag(f'✕ {kind.times} × {FAILURE_WORDS.get(kind.kind, kind.kind)}', 'bad')} "
            f"<span class='rs-quiet'>{esc(', '.join(kind.judges))}</span></div>"
            f"<div>{esc(fix)}</div>"
            f"<div class='rs-quiet'>Last message: {esc(kind.message[:400])}</div>"
        )
    kinds = ", ".join(FAILURE_WORDS.get(failure.kind, failure.kind) for failure in look.failures)
    # If there are votes, this is a single line, so that the results are on the first screen.
    with st.expander(
        label(f"{fmt.plural(look.row.failures_open, 'question')} got no vote: {kinds}"),
        expanded=not look.row.votes,
        icon=":material/error:",
        type="compact",
    ):
        st.html(f'<div class="rs-card">{"".join(lines)}</div>')


def _on_act(action: Callable[..., str], run_id: int) -> None:
    with shown_errors():
        action(store(), run_id)
