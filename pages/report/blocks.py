"""The report's controls: steps through a part of the items, and downloads."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.blocks.blocks import Block, TableBlock
from core.domain.runs import RunItemFilter
from core.services.exports import run_export
from core.services.reports.run_report import RunReport
from core.services.results import browsing
from pages.report.back import back_button
from pages.ui import state
from pages.ui.grades import grades_button
from pages.ui.places import work
from pages.ui.resources import make_later, store
from pages.ui.text import one_line
from pages.ui.widgets import chosen_confidence, interval_choice

# The keys of the Report page, beside those of `state` (used with `state.key`).

#: The containers that the style sheet knows by their keys.
REPORT, REPORT_FIRST = "rs_report", "rs_report_first"

REPORT_FIELD = "report_field"
REPORT_ACT = "report_act"


#: The only parameters of a link to a part of the items.
_PARTS = {"system", "tag", "split"}


def work_through(run_id: int, block: Block, place: str) -> None:
    """Draw, below a table, the links to step through a part of the items or have it reviewed."""
    if not isinstance(block, TableBlock):
        return
    parts = {
        row[0].text: dict(row[1].link)
        for row in block.rows
        if len(row) > 1 and row[1].link and set(row[1].link) <= _PARTS
    }
    if not parts:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Work through",
            list(parts),
            index=None,
            key=state.key(REPORT_FIELD, "part", run_id, place),
            placeholder=f"{block.heads[0]} …",
            format_func=lambda name: one_line(name, 60),
            width=260,
        )
        if chosen is not None:
            link = parts[chosen]
            where = RunItemFilter(
                system=link.get("system"), tag=link.get("tag"), split=link.get("split")
            )
            ids = browsing.item_ids(store(), run_id, where, "position", False)
            work.offer_work(run_id, ids, f"{block.heads[0]}: {one_line(chosen, 80)}")


_TYPES = {
    "html": "text/html",
    "md": "text/markdown",
    "zip": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def download_buttons(run_id: int, report: RunReport) -> None:
    """Draw a button per file, made on request, and a link to grades for students."""

    def offer_file(
        name: str, data: Callable[[], str | bytes], file: str, icon: str, help_text: str
    ) -> None:
        st.download_button(
            name,
            data=data,
            file_name=file,
            mime=_TYPES[file.rpartition(".")[2]],
            icon=f":material/{icon}:",
            key=state.key(REPORT_ACT, name),
            help=help_text,
            on_click="ignore",
            width="stretch",
        )

    confidence = chosen_confidence()
    with st.popover("Download", icon=":material/download:"):
        offer_file(
            "HTML, to print",
            make_later(lambda _: run_export.report_as_file(report, "html")),
            f"report-run-{run_id}.html",
            "description",
            "One file that opens anywhere, without network, and prints well.",
        )
        offer_file(
            "Markdown",
            make_later(lambda _: run_export.report_as_file(report, "markdown")),
            f"report-run-{run_id}.md",
            "notes",
            "The same text and tables as Markdown, for a wiki or a pull request.",
        )
        offer_file(
            "Excel",
            make_later(lambda held: run_export.grades_workbook(held, run_id)),
            f"scores-run-{run_id}.xlsx",
            "grid_on",
            "A workbook with every item's grade and grader, the judges' scores, and all verdicts.",
        )
        offer_file(
            "CSV of everything",
            make_later(
                lambda held: run_export.zip_archive(
                    run_export.export(held, run_id, "everything", confidence)
                )
            ),
            f"run-{run_id}.zip",
            "table",
            "Items, verdicts, votes, failures and calls as tables, and the report as JSON.",
        )
        grades_button(run_id)
        back_button(run_id)
    interval_choice()
