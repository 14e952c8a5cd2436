"""Findings: biases of judges and faults of criteria, each in a sentence with its evidence."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from core import figures as draw
from core.domain.runs import RunItemFilter
from core.services.agreement import confusion, rating_sheet
from core.services.agreement.ratings import PANEL
from core.services.diagnostics.diagnosis import Diagnosis, examination_of_run
from core.services.diagnostics.evidence import Chart
from core.services.diagnostics.evidence_charts import ShownEvidence
from core.services.results import browsing
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, draw_switch, name_in_sentence
from pages.agreement.words import ESTIMATES, FINDING_NAMES, show_section
from pages.ui import state
from pages.ui.places import work
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import draw_table

PLAIN = {"displayModeBar": False}
#: The most subjects in the comparison: those farthest from the healthy value.
MOST = 30
#: The most causes listed before the findings.
MOST_CAUSES = 6


def show_evidence(chosen: RatedSelection, evidence: ShownEvidence) -> None:
    """Draw both plots of a finding, each with its table."""
    show_section(f"{FINDING_NAMES[evidence.finding.kind]}: {visible(evidence.finding.subject)}")
    key = (
        *chosen.run_about,
        evidence.finding.kind,
        evidence.finding.subject,
        evidence.finding.other,
    )
    if evidence.chart is not None and evidence.chart.places:
        _draw_chart(evidence.chart, state.key(keys.AGREEMENT_CHART, "plate", *key))
    if len(evidence.among) > 1 or evidence.chart is None:
        _comparison_chart(evidence, state.key(keys.AGREEMENT_CHART, "among", *key))


def _draw_chart(chart: Chart, key: str) -> None:
    st.plotly_chart(
        draw.series_plot(
            chart.places,
            chart.series,
            chart.axes,
            kind=chart.kind,
            share=chart.share,
        ),
        key=key,
        config=PLAIN,
        alt=f"{chart.axes[1]} by {chart.axes[0]}; the table below has the numbers.",
    )
    form = fmt.percent if chart.share else fmt.score
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
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


def _comparison_chart(evidence: ShownEvidence, key: str) -> None:
    """Draw this finding's check for all judges or criteria, with the healthy value."""
    subject = (
        f"{evidence.finding.subject} and {evidence.finding.other}" if evidence.finding.other else ""
    )
    subject = subject or evidence.finding.subject
    parts = sorted(
        evidence.among, key=lambda other: -abs((other.effect.estimate or 0.0) - evidence.bound)
    )
    parts = parts[:MOST]
    words = ESTIMATES[evidence.finding.kind]
    st.caption(f"{words}, of all that were checked; the diamond marks the healthy value.")
    dots = [(other.subjects, other.effect.figure) for other in parts]
    healthy = [evidence.bound] * len(dots)
    st.plotly_chart(
        draw.forest(dots, words, "Healthy", healthy, subject, full_scale=False),
        key=key,
        config=PLAIN,
        alt=f"{words} of all subjects of this check with 95% intervals, as in the table.",
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            ("Subject", words, "95% interval", "Count"),
            (
                [
                    esc(other.subjects),
                    other.effect.figure.words(fmt.score).value,
                    esc(other.effect.figure.words(fmt.score).below),
                    fmt.count(other.effect.n),
                ]
                for other in parts
            ),
            name=f"{words} of every subject",
            numbers=(1, 2, 3),
        )


def show(chosen: RatedSelection) -> None:
    """Draw the run's findings, serious ones first, next to the evidence of the chosen one."""
    if chosen.part:
        st.caption("All items of the run are examined, regardless of the choice above.")
    diagnosis = remembered(
        "findings", chosen.run_about, lambda: examination_of_run(store(), chosen.run_id)
    )
    if diagnosis.findings:
        _findings_view(chosen, diagnosis)
    elif diagnosis.check_count:
        checks = fmt.plural(diagnosis.check_count, "check")
        st.html(f'<div class="rs-prose">Nothing found among {checks}.</div>')
    else:
        st.html('<div class="rs-prose">Too little is known for any check.</div>')
    st.caption(diagnosis.summary)
    _missing_checks(diagnosis)


def _findings_view(chosen: RatedSelection, examination: Diagnosis) -> None:
    roles = {evidence.finding.role for evidence in examination.evidence}
    shown = list(enumerate(examination.evidence))
    if len(roles) > 1:
        serious_only = draw_switch(
            "About",
            keys.ABOUT,
            {"all": "Everything", "judge": "Judges", "criterion": "Criteria"},
        )
        shown = [
            (at, evidence)
            for at, evidence in shown
            if serious_only in ("all", evidence.finding.role)
        ]
    order = [at for places in examination.causes.values() for at in places]
    shown.sort(key=lambda pair: order.index(pair[0]))
    places = [str(at) for at, _ in shown]
    _common_causes(examination)
    at = state.address_in(keys.FINDING, places) or places[0]
    left, right = st.columns(2, gap="large")
    with left, st.container(height=680 if len(shown) > 8 else "content", border=False):
        _finding_list(places, at, examination)
    with right:
        evidence = examination.evidence[int(at)]
        show_evidence(chosen, evidence)
        if evidence.finding.false_alarms is None:
            st.button(
                "Test the cause with a probe",
                key=state.key(keys.AGREEMENT_FIELD, "to probes"),
                icon=":material/science:",
                type="tertiary",
                on_click=lambda: state.set_address(**{state.VIEW: "probes"}),
            )
        _link_to_fix(chosen, evidence)


def _common_causes(examination: Diagnosis) -> None:
    """Draw how many findings share a cause, such as one model, above the findings themselves."""
    if len(examination.evidence) < 2:
        return
    lines = "".join(
        f"<li><b>{esc(cause)}</b>: {esc(about)}, {fmt.plural(len(places), 'finding')}</li>"
        for (cause, about), places in islice(examination.causes.items(), MOST_CAUSES)
    )
    more = len(examination.causes) - MOST_CAUSES
    if more > 0:
        lines += f"<li>{fmt.plural(more, 'more cause')}</li>"
    st.html(f'<ul class="rs-list">{lines}</ul>')


def _link_to_fix(chosen: RatedSelection, evidence: ShownEvidence) -> None:
    words, ids, criterion = finding_items(chosen, evidence)
    if ids:
        st.caption(label(f"{words}: {fmt.plural(len(ids), 'item')}"))
        work.offer_work(chosen.run_id, ids, words, criterion=criterion)


def finding_items(
    chosen: RatedSelection, evidence: ShownEvidence
) -> tuple[str, tuple[str, ...], str | None]:
    """Return a phrase for the items that a finding is about, their ids, and its criterion.

    For a criterion, these are the items on which judges disagree; for a judge, those on which it
    differs from the panel; for any other finding none.
    """
    finding, sheet = evidence.finding, chosen.whole
    key = (*chosen.run_about, finding.role, finding.subject)
    if finding.role == "criterion" and finding.subject in [c.name for c in sheet.criteria]:
        where = RunItemFilter(signs=(("split", finding.subject),))
        ids = remembered(
            "split",
            key,
            lambda: tuple(browsing.item_ids(store(), chosen.run_id, where, "position", False)),
        )
        return f"Judges disagree on {finding.subject}", ids, finding.subject
    column = next((c for c in sheet.judges if rating_sheet.name_of(c) == finding.subject), None)
    if column is None:
        return "", (), None
    ids = remembered("apart", key, lambda: confusion.items_that_differ(sheet, PANEL, column))
    return f"{finding.subject} against {name_in_sentence(PANEL)}", ids, None


def _finding_list(places: list[str], at: str, examination: Diagnosis) -> None:
    key = state.key(keys.AGREEMENT_FIELD, keys.FINDING)
    state.put(key, at)
    st.radio(
        "Findings",
        places,
        key=key,
        format_func=lambda place: label(examination.evidence[int(place)].finding.sentence),
        captions=[_chart_caption(examination.evidence[int(place)]) for place in places],
        label_visibility="collapsed",
        on_change=_on_choice,
        args=(key,),
    )


def _chart_caption(evidence: ShownEvidence) -> str:
    weight = "only observed" if evidence.finding.false_alarms is None else evidence.finding.severity
    return f"{FINDING_NAMES[evidence.finding.kind]}, {weight}"


def _on_choice(key: str) -> None:
    state.set_address(**{keys.FINDING: state.get(key)})


def _missing_checks(examination: Diagnosis) -> None:
    if not examination.unmade:
        return
    with st.expander("What could not be examined", icon=":material/help:"):
        draw_table(
            ("What", "Why", "How many"),
            (
                [esc(FINDING_NAMES[kind]), esc(reason), fmt.count(n)]
                for (kind, reason), n in examination.unmade.items()
            ),
            name="What could not be examined",
            numbers=(2,),
        )
