"""Report long texts to the server while a person types, not only when they leave the field."""

from __future__ import annotations

import streamlit as st

from pages.ui.state import TYPING

# Streamlit's text area (1.67) reports its text on Ctrl+Enter or on losing the cursor; closing or
# reloading the tab before then loses the text. So a pause, or leaving the tab, counts as leaving
# the field and coming back: the cursor stays, and text typed meanwhile is untouched. No key press
# is simulated, because Ctrl+Enter may also be a button's shortcut and start something that costs
# money.
#
# Fields of an `st.form` are excluded: their text may not leave before the submit.

#: Milliseconds without a key press before a text is reported.
PAUSE = 800

_TYPING = """
export default function({ data }) {
  const page = document;
  if (page.rubricStudioTyping) return;
  const mine = (page.rubricStudioTyping = { field: null, waits: 0 });
  const take = () => {
    clearTimeout(mine.waits);
    const field = mine.field;
    mine.field = null;
    if (!field || !field.isConnected) return;
    for (const kind of ["focusout", "focusin"]) {
      field.dispatchEvent(new FocusEvent(kind, { bubbles: true }));
    }
  };
  page.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.matches || !field.matches("[data-testid=stTextArea] textarea")) return;
    if (field.closest("[data-testid=stForm]")) return;
    mine.field = field;
    clearTimeout(mine.waits);
    // While an input method composes a character, the text is not final.
    if (!event.isComposing) mine.waits = setTimeout(take, data.pause);
  }, true);
  page.addEventListener("compositionend", () => {
    if (mine.field) mine.waits = setTimeout(take, data.pause);
  }, true);
  page.addEventListener("focusout", (event) => {
    // Leaving a field sends its text anyway.
    if (event.target === mine.field) { clearTimeout(mine.waits); mine.field = null; }
  }, true);
  page.addEventListener("visibilitychange", () => page.hidden && take());
  addEventListener("pagehide", take);
}
"""


def keep_what_is_typed() -> None:
    """Draw the browser code, once for every page."""
    component = st.components.v2.component("rubric_studio_typing", js=_TYPING)
    component(key=TYPING, data={"pause": PAUSE}, height=1)
