"""What is typed into a long text reaches the server while one types, not only on leaving it."""

from __future__ import annotations

import streamlit as st

from pages.ui.state import TYPING

# A text area of Streamlit (1.67) gives its text away on Ctrl+Enter or when it loses the cursor; a
# tab that is closed or reloaded before then takes the text along. So whoever pauses, or turns
# away, is taken to have left the field and come back: the cursor stays, and what is typed
# meanwhile is not touched. No key is pressed for anybody, because Ctrl+Enter may be a button's
# shortcut as well and start what costs money.
#
# Fields of an `st.form` are left alone: nothing shall leave it before it is submitted.

#: Milliseconds without a key after which a text is taken over.
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
    // Half a sign of a script that is composed from several keys is no text yet.
    if (!event.isComposing) mine.waits = setTimeout(take, data.pause);
  }, true);
  page.addEventListener("compositionend", () => {
    if (mine.field) mine.waits = setTimeout(take, data.pause);
  }, true);
  page.addEventListener("focusout", (event) => {
    // Leaving a field gives its text away by itself.
    if (event.target === mine.field) { clearTimeout(mine.waits); mine.field = null; }
  }, true);
  page.addEventListener("visibilitychange", () => page.hidden && take());
  addEventListener("pagehide", take);
}
"""


def keep_what_is_typed() -> None:
    """The part in the browser, once for every page."""
    component = st.components.v2.component("rubric_studio_typing", js=_TYPING)
    component(key=TYPING, data={"pause": PAUSE}, height=1)
