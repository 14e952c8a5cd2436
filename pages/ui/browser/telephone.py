"""On a telephone, show at once what was asked for: a chosen page, or a panel below a long form."""

from __future__ import annotations

import streamlit as st

from pages.ui.state import TELEPHONE

# Streamlit (1.67) leaves its side menu open over the page that was chosen in it, and puts the
# columns of a narrow page below each other.

_JS = """
export default function() {
  const page = document;
  if (page.rubricStudioTelephone) return;
  page.rubricStudioTelephone = true;
  const narrow = (width) => matchMedia(`(max-width:${width}px)`).matches;
  // Wait for the panel, because its content decides how far the page can scroll.
  const bring = (panel, calm = 0, left = 200) => {
    const rest = page.querySelector("[data-testid=stApp][data-test-script-state=notRunning]");
    if (calm >= 6) page.querySelector(panel)?.scrollIntoView({ block: "start" });
    else if (left) setTimeout(() => bring(panel, rest ? calm + 1 : 0, left - 1), 50);
  };
  page.addEventListener("click", (event) => {
    if (narrow(768) && event.target.closest("[data-testid=stSidebarNavLink]"))
      page.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  });
  // A row of choices stops click events, so listen to pointerup.
  page.addEventListener("pointerup", (event) => {
    if (narrow(640) && event.target.closest("[class*=st-key-rubric_side] button"))
      bring(".st-key-rs_beside");
  }, true);
}
"""


def show_what_was_asked() -> None:
    """Draw the browser code, once for every page."""
    component = st.components.v2.component("rubric_studio_telephone", js=_JS)
    component(key=TELEPHONE, height=1)
