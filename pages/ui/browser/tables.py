"""Copy every table of a page, or download it as CSV, exactly as shown; keep its links in the app.

A table's two buttons are part of its HTML. They work in the browser on the table as shown, so no
figure is computed again or can differ. A link in a table or a list opens its page within the app;
otherwise the browser would load the whole app again.
"""

from __future__ import annotations

import streamlit as st

from pages.ui import state
from pages.ui.text import esc

_JS = r"""
export default function() {
  const page = document;
  if (page.rubricStudioTables) return;
  page.rubricStudioTables = true;
  // A text that a spreadsheet would evaluate gets an apostrophe; numbers stay.
  const formula = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
  const number = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)%?$/;
  const plain = (cell) => {
    const text = cell.innerText.replace(/\s*\n\s*/g, " ").trim();
    return formula.test(text) && !number.test(text) ? "'" + text : text;
  };
  const rows = (table) =>
    [...table.rows].map((row) => [...row.cells].map(plain));
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const done = (button, words) => {
    const usual = button.textContent;
    button.textContent = words;
    setTimeout(() => { button.textContent = usual; }, 1500);
  };
  page.addEventListener("click", (event) => {
    const link = event.target.closest?.(".rs-table a[href], .rs-leads a[href]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.origin !== location.origin) return;
    event.preventDefault();
    history.pushState({}, "", link.href);
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  });
  page.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-take]");
    const table = button?.closest(".rs-tabled")?.querySelector("table");
    if (!table) return;
    const name = table.getAttribute("aria-label") || "Table";
    if (button.dataset.take === "csv") {
      const text = rows(table).map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
      const link = page.createElement("a");
      link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
      link.download = name.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase() + ".csv";
      link.click();
      URL.revokeObjectURL(link.href);
      return;
    }
    const text = rows(table).map((row) => row.join("\t")).join("\n");
    if (!navigator.clipboard) return done(button, "Needs https");
    navigator.clipboard.writeText(text).then(
      () => done(button, "Copied"),
      () => done(button, "Not allowed"),
    );
  });
}
"""


def table_buttons(name: str) -> str:
    """Return the HTML of a table's two buttons."""
    return (
        '<span class="rs-take">'
        f'<button data-take="copy" aria-label="Copy the table {esc(name)}">Copy</button>'
        f'<button data-take="csv" aria-label="Download the table {esc(name)} as CSV">CSV</button>'
        "</span>"
    )


def add_table_buttons() -> None:
    """Draw the browser code, once for every page."""
    component = st.components.v2.component("rubric_studio_tables", js=_JS)
    component(key=state.TABLES, height=1)
