"""Findings: biases of judges and faults of criteria, each in a sentence with its evidence."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.domain.runs import RunItemFilter
from core.services.agreement import confusion, rating_sheet
from core.services.agreement.ratings import PANEL
from core.services.diagnostics.diagnosis import Examination, look
from core.services.diagnostics.evidence import Chart
from core.services.diagnostics.evidence_charts import Among, ShownEvidence
from core.services.results import browsing
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, name_in_sentence, switch
from pages.agreement.words import ESTIMATES, FINDING_NAMES, section
from pages.ui import state
from pages.ui.places import work
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import table

PLAIN = {"displayModeBar": False}
#: Subjects that the comparison shows at most: the farthest from what is healthy.
MOST = 30
#: Causes that are listed before the findings.
MOST_CAUSES = 6


def show_evidence(chosen: RatedSelection, one: ShownEvidence) -> None:
    """Draw both plots of a finding, each with its table."""
    section(f"{FINDING_NAMES[one.finding.kind]}: {visible(one.finding.subject)}")
    key = (*chosen.run_about, one.finding.kind, one.finding.subject, one.finding.other)
    if one.chart is not None and one.chart.places:
        _chart(one.chart, state.key(keys.AGREEMENT_CHART, "plate", *key))
    if len(one.among) > 1 or one.chart is None:
        _among(one, state.key(keys.AGREEMENT_CHART, "among", *key))


def _chart(chart: Chart, key: str) -> None:
    st.plotly_chart(
        draw.series_plot(
            chart.places,
            [draw.Series(*series) for series in chart.series],
            chart.axes,
            kind=chart.kind,
            share=chart.share,
        ),
        key=key,
        config=PLAIN,
        alt=f"{chart.axes[1]} by {chart.axes[0]}; the table below has the numbers.",
    )
    form = fmt.percent if chart.share else fmt.score
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            (chart.axes[0], *(name for name, _ in chart.series), "Count"),
            (
                [
                    esc(place),
                    *(form(values[index]) for _, values in chart.series),
                    fmt.count(chart.counts[index]),
                ]
                for index, place in enumerate(chart.places)
            ),
            name="The evidence in numbers",
            numbers=range(1, len(chart.series) + 2),
        )


def _among(one: ShownEvidence, key: str) -> None:
    """Draw the same check for all judges or criteria, with the value of a healthy one."""
    subject = f"{one.finding.subject} and {one.finding.other}" if one.finding.other else ""
    subject = subject or one.finding.subject
    parts = sorted(one.among, key=lambda other: -abs((other.effect.estimate or 0.0) - one.bound))
    parts = parts[:MOST]
    words = ESTIMATES[one.finding.kind]
    st.caption(f"{words}, of all that were checked; the diamond is what a healthy one has.")
    dots = [_dot(other, one.bound) for other in parts]
    st.plotly_chart(
        draw.forest(dots, words, "Healthy", subject, whole=False),
        key=key,
        config=PLAIN,
        alt=f"{words} of all subjects of this check with 95% intervals; the table has them.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Subject", words, "95% interval", "Count"),
            (
                [
                    esc(other.subject),
                    other.effect.figure.words(fmt.score).value,
                    esc(other.effect.figure.words(fmt.score).below),
                    fmt.count(other.effect.n),
                ]
                for other in parts
            ),
            name=f"{words} of every subject",
            numbers=(1, 2, 3),
        )


def _dot(other: Among, bound: float) -> draw.Dot:
    effect = other.effect
    return draw.Dot(other.subject, effect.estimate, effect.low, effect.high, bound, effect.n)


def show(chosen: RatedSelection) -> None:
    """Draw the run's findings, serious ones first, next to the evidence of the chosen one."""
    if chosen.part:
        st.caption("All items of the run are examined, whatever is chosen above.")
    diagnosis = remembered("findings", chosen.run_about, lambda: look(store(), chosen.run_id))
    if diagnosis.findings:
        _findings(chosen, diagnosis)
    elif diagnosis.made:
        checks = fmt.plural(diagnosis.made, "check")
        st.html(f'<div class="rs-prose">Nothing found among {checks}.</div>')
    else:
        st.html('<div class="rs-prose">Too little is known for any check.</div>')
    st.caption(diagnosis.promise)
    _unmade(diagnosis)


def _findings(chosen: RatedSelection, found: Examination) -> None:
    roles = {evidence.finding.role for evidence in found.findings}
    shown = list(enumerate(found.findings))
    if len(roles) > 1:
        only = switch(
            "About",
            keys.ABOUT,
            {"all": "Everything", "judge": "Judges", "criterion": "Criteria"},
        )
        shown = [(at, evidence) for at, evidence in shown if only in ("all", evidence.finding.role)]
    order = [at for group in found.causes for at in group.places]
    shown.sort(key=lambda pair: order.index(pair[0]))
    places = [str(at) for at, _ in shown]
    _causes(found)
    at = state.address_in(keys.FINDING, places) or places[0]
    left, right = st.columns(2, gap="large")
    with left, st.container(height=680 if len(shown) > 8 else "content", border=False):
        _list(places, at, found)
    with right:
        evidence = found.findings[int(at)]
        show_evidence(chosen, evidence)
        if evidence.finding.false_alarms is None:
            st.button(
                "Is it the cause? Probes tell",
                key=state.key(keys.AGREEMENT_FIELD, "to probes"),
                icon=":material/science:",
                type="tertiary",
                on_click=lambda: state.set_address(**{state.VIEW: "probes"}),
            )
        _work(chosen, evidence)


def _causes(found: Examination) -> None:
    """Draw how many findings share a cause, such as one model, above the findings themselves."""
    if len(found.findings) < 2:
        return
    lines = "".join(
        f"<li><b>{esc(group.cause)}</b>: {esc(group.about)}, "
        f"{fmt.plural(len(group.places), 'finding')}</li>"
        for group in found.causes[:MOST_CAUSES]
    )
    more = len(found.causes) - MOST_CAUSES
    if more > 0:
        lines += f"<li>{fmt.plural(more, 'more cause')}</li>"
    st.html(f'<ul class="rs-list">{lines}</ul>')


def _work(chosen: RatedSelection, one: ShownEvidence) -> None:
    words, ids, criterion = about(chosen, one)
    if ids:
        st.caption(label(f"{words}: {fmt.plural(len(ids), 'item')}"))
        work.offer_work(chosen.run_id, ids, words, criterion=criterion)


def about(chosen: RatedSelection, one: ShownEvidence) -> tuple[str, tuple[str, ...], str | None]:
    """Return the items that a finding is about, in words, and its criterion.

    Of a criterion, these are the items on which judges disagree; of a judge, those on which it
    differs from the panel; of anything else, none.
    """
    finding, sheet = one.finding, chosen.whole
    key = (*chosen.run_about, finding.role, finding.subject)
    if finding.role == "criterion" and finding.subject in [c.name for c in sheet.criteria]:
        where = RunItemFilter(signs=(("split", finding.subject),))
        ids = remembered(
            "split",
            key,
            lambda: tuple(browsing.ids(store(), chosen.run_id, where, "position", False)),
        )
        return f"Judges disagree on {finding.subject}", ids, finding.subject
    column = next((c for c in sheet.judges if rating_sheet.name_of(c) == finding.subject), None)
    if column is None:
        return "", (), None
    ids = remembered("apart", key, lambda: confusion.items_apart(sheet, PANEL, column))
    return f"{finding.subject} against {name_in_sentence(PANEL)}", ids, None


def _list(places: list[str], at: str, found: Examination) -> None:
    key = state.key(keys.AGREEMENT_FIELD, keys.FINDING)
    state.put(key, at)
    st.radio(
        "Findings",
        places,
        key=key,
        format_func=lambda place: label(found.findings[int(place)].finding.sentence),
        captions=[_caption(found.findings[int(place)]) for place in places],
        label_visibility="collapsed",
        on_change=_on_choice,
        args=(key,),
    )


def _caption(one: ShownEvidence) -> str:
    weight = "only observed" if one.finding.false_alarms is None else one.finding.severity
    return f"{FINDING_NAMES[one.finding.kind]}, {weight}"


def _on_choice(key: str) -> None:
    state.set_address(**{keys.FINDING: state.get(key)})


def _unmade(found: Examination) -> None:
    if not found.unmade:
        return
    with st.expander("What could not be examined", icon=":material/help:"):
        table(
            ("What", "Why", "How many"),
            ([esc(FINDING_NAMES[kind]), esc(why), fmt.count(n)] for kind, why, n in found.unmade),
            name="What could not be examined",
            numbers=(2,),
        )
