"""The worked example: being graded now, or its figures, the unflattering ones included."""

from __future__ import annotations

import streamlit as st

from core.services.reports import worked_example
from core.services.reports.worked_example import CriterionReport
from core.services.runs import lifecycle
from core.services.runs.lifecycle import RunProgress
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors, table, tag

LOOK_EVERY = 0.7
HEADS = ("Criterion", "Answered", "Right", "Most common label", "Kappa", "What that means")


def show() -> None:
    """The example, looked up again and again while it is being graded."""
    run_id = worked_example.example_run(store())
    if run_id is None:
        return
    active = lifecycle.progress(store(), run_id).row.active
    with st.container(border=True):
        st.fragment(_live, run_every=LOOK_EVERY if active else None)(run_id, active)


def _live(run_id: int, polled: bool) -> None:
    with shown_errors():
        look = lifecycle.progress(store(), run_id)
        if polled and not look.row.active:
            st.rerun()
        st.subheader("A worked example, really graded", anchor=False)
        if look.row.active:
            _running(look)
        elif look.row.votes:
            _figures(look)
        else:
            message = look.row.message or f"It is {look.row.status} and has no votes."
            st.warning(label(f"The example has not been graded. {message}"))
        _links(run_id, look)


def _running(look: RunProgress) -> None:
    st.html(
        '<div class="rs-prose">Two judges that need no model and no key are learning from short '
        "science answers with labels, and then grade others. It takes some seconds."
        "</div>"
    )
    done = f"{fmt.count(look.settled)} of {fmt.plural(look.row.planned, 'vote')}"
    phase = "waiting to be taken up" if look.row.status == "queued" else "learning and grading"
    st.progress(min(1.0, look.share), text=f"{done} · {phase}")


def _figures(look: RunProgress) -> None:
    run_id = look.row.id
    reports = worked_example.against_labels(store(), run_id)
    learned = worked_example.learned_from(store(), run_id)
    st.html(f'<div class="rs-prose">{esc(_what(look, learned))} {esc(_verdict(reports))}</div>')
    with st.expander("Criterion by criterion", icon=":material/table_rows:"):
        table(
            HEADS,
            map(_row, reports),
            name="The offline panel against the labels",
            numbers=(1, 2, 3, 4),
        )
        st.caption(
            "Answered: where the panel gave a verdict, out of the labelled answers. Right: the "
            "share of those that is the label. Most common label: the share that always giving the "
            "most common label would get right; a judge must beat it. Kappa: agreement beyond "
            "chance (weighted by distance where options are levels), 1 is perfect."
        )


def _what(look: RunProgress, learned: int) -> str:
    return (
        f"Two offline judges learned from {learned} labelled short science answers "
        f"and graded {look.row.items} others in {fmt.seconds(look.row.seconds)}: no model, no key."
    )


def _verdict(reports: list[CriterionReport]) -> str:
    """One plain sentence on the whole, with the criteria on which nobody should rely on it."""
    good = [r for r in reports if _beats(r)]
    off = [r.name for r in reports if r.switched_off]
    bad = [r.name for r in reports if not _beats(r) and not r.switched_off]
    of = fmt.plural(len(reports), "criterion", "criteria")
    sentence = f"They beat the most common label on {len(good)} of {of}."
    if bad:
        sentence += f" On {_listed(bad)} they do not, so their verdicts there say nothing."
    if off:
        sentence += (
            f" On {_listed(off)} both judges switched themselves off, because they had found that "
            "they do no better; there is no verdict there rather than a guess."
        )
    return sentence


def _beats(report: CriterionReport) -> bool:
    if report.accuracy is None or report.majority is None:
        return False
    return report.accuracy > report.majority and (report.kappa or 0.0) > 0.0


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _row(report: CriterionReport) -> list[str]:
    total = report.n + report.abstained
    return [
        esc(report.name),
        f"{report.n} of {total}",
        fmt.percent(report.accuracy),
        fmt.percent(report.majority),
        fmt.score(report.kappa),
        _meaning(report),
    ]


def _meaning(report: CriterionReport) -> str:
    if report.switched_off:
        return tag("switched off", "neutral")
    if report.accuracy is None or report.majority is None:
        return tag("no verdict", "neutral")
    points = round(100 * (report.accuracy - report.majority))
    if _beats(report):
        return tag(f"✓ {points} points better", "good")
    return tag("✕ no better", "warn")


def _links(run_id: int, look: RunProgress) -> None:
    if not look.row.votes:
        return
    with st.container(horizontal=True):
        routes.link(routes.RUN, "Open the run", {state.RUN: run_id})
        telling = None if look.row.active else worked_example.telling_item(store(), run_id)
        if telling is not None:
            routes.link(
                routes.RUN,
                f"See an answer they got wrong ({telling.wrong} of {telling.labelled})",
                {state.RUN: run_id, state.ITEM: telling.item_id},
                icon="search",
            )
        if not look.row.active:
            work.settle(run_id)
