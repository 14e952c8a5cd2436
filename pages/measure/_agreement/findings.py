"""What to look at: what ails judges and criteria, as plain sentences, and how sure that is."""

from __future__ import annotations

import streamlit as st

from core.metrics.ailments.findings import Finding
from core.services.diagnosing import diagnose
from pages.measure._agreement.choosing import Chosen
from pages.ui import format as fmt
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import Tone, tag


def show(chosen: Chosen) -> None:
    """The findings of the run, the serious first; or that nothing was found."""
    found, made, promise = remembered("ailments", chosen.run_about, lambda: _looked(chosen.run_id))
    if found:
        st.html(f'<ul class="rs-list">{"".join(map(_line, found))}</ul>')
    elif made:
        st.html(f'<div class="rs-prose">Nothing found among {fmt.plural(made, "check")}.</div>')
    else:
        st.html('<div class="rs-prose">Too little is known for any check.</div>')
    st.caption(promise)


def _looked(run_id: int) -> tuple[tuple[Finding, ...], int, str]:
    diagnosis = diagnose(store(), run_id)
    return diagnosis.findings, diagnosis.made, diagnosis.promise


def _line(one: Finding) -> str:
    tone: Tone = "bad" if one.severity == "serious" else "warn"
    return f"<li>{tag(one.severity, tone)} {esc(one.sentence)}</li>"
