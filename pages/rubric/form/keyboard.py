"""Keyboard shortcuts of the editor. They press its buttons, so every act also works by mouse.

Ctrl+S and the like work while typing: the field's text is saved first, and the cursor stays.
Ctrl+Z inside a field is the browser's own. All of this needs the browser.
"""

from __future__ import annotations

import streamlit as st

from pages.ui import drafts, state
from pages.ui.browser.cursor import CURSOR
from pages.ui.drafts import RUBRIC_ACT

# Keys of the editor's state, next to those of `state`.

#: The uid of the criterion added last, by rubric; the cursor goes into it.
FRESH = "editing_fresh"
#: The template used last, by rubric; one key adds another criterion like it.
TEMPLATE = "editing_template"
HANDS = "editing_hands"


_HANDS = (
    CURSOR
    + """
export default function({ data }) {
  const page = document;
  const mine = (page.rubricStudioEditor = page.rubricStudioEditor || {});
  mine.data = data;
  const plain = (key) => "st-key-" + key.replace(/[^a-zA-Z0-9_-]/g, "-");
  const named = (key) => "." + CSS.escape(plain(key));
  const shown = (key, what) => page.querySelector(named(key) + " " + what);
  const quiet = () =>
    page.querySelector("[data-testid=stApp][data-test-script-state=notRunning]");
  const cursor = (uid) => {
    const from = page.activeElement;
    const find = () => {
      const field = shown(mine.data.field + uid + "/requirement", "textarea");
      // The next key is about this card, though the server may not have said yet that it is open.
      if (field) mine.data = { ...mine.data, open: uid };
      return field;
    };
    // Whoever is in another field by now has gone there; what is typed there is not cut off.
    const gone = (field) => {
      const at = page.activeElement;
      if (!at || at === field || !/^(TEXTAREA|INPUT|SELECT)$/.test(at.tagName)) return false;
      return at !== from || !!at.closest(`[class*="${plain(mine.data.field + uid + "/")}"]`);
    };
    mine.stop?.();
    mine.stop = cursorInto(find, gone, "center");
  };
  // One after the other, each as soon as the server is ready: no key is lost to the next one.
  const work = () => {
    const next = mine.pending[0];
    const calm = quiet();
    const button = calm && shown(next.key, "button:not(:disabled)");
    // Given up where the button does not come, never because the server takes its time. What
    // cannot be pressed now, as there is nothing to take back, does not hold up the rest.
    if (calm) next.left -= mine.pending.length > 1 ? 21 : 1;
    if (button || next.left < 0) mine.pending.shift();
    if (button) {
      button.click();
      if (next.then && !next.pointed) setTimeout(next.then, 60);
    }
    if (mine.pending.length) setTimeout(work, 60);
  };
  const press = (key, then) => {
    mine.pending = mine.pending || [];
    mine.pending.push({ key, then, left: 200, pointed: false });
    if (mine.pending.length === 1) setTimeout(work, 60);
  };
  // A field gives what was typed to the server on a key of its own.
  const take = () => {
    const at = page.activeElement;
    const kinds = ["stTextArea", "stTextInput", "stNumberInput"];
    if (!at || !at.closest(kinds.map((kind) => `[data-testid=${kind}]`).join())) return;
    at.dispatchEvent(new KeyboardEvent("keydown", {
      key: "Enter", code: "Enter", keyCode: 13, bubbles: true, cancelable: true,
      ctrlKey: at.tagName === "TEXTAREA",
    }));
  };
  const step = (by) => {
    const at = mine.data.cards.indexOf(mine.data.open);
    const to = mine.data.cards[at < 0 ? (by > 0 ? 0 : mine.data.cards.length - 1) : at + by];
    if (to) press(mine.data.toggle + to, () => cursor(to));
  };
  const move = (by) => {
    const open = mine.data.open;
    if (!mine.data.cards.includes(open)) return;
    press(mine.data.act + (by < 0 ? "up/" : "down/") + open, () => cursor(open));
  };
  mine.key = (event) => {
    if (!shown(mine.data.act + "save", "button") || page.querySelector("[role=dialog]")) return;
    const at = page.activeElement;
    const typing = at && /^(TEXTAREA|INPUT|SELECT)$/.test(at.tagName);
    const ctrl = (event.ctrlKey || event.metaKey) && !event.altKey;
    const alt = event.altKey && !event.ctrlKey && !event.metaKey;
    const letter = event.key.toLowerCase();
    let act = null;
    if (ctrl && letter === "s") act = () => press(mine.data.act + "save");
    else if (ctrl && !typing && letter === "z")
      act = () => press(mine.data.act + (event.shiftKey ? "redo" : "undo"));
    else if (ctrl && !typing && letter === "y") act = () => press(mine.data.act + "redo");
    else if (!mine.data.form) return;
    else if (alt && event.key === "Enter")
      act = () => press(mine.data.act + "add/" + mine.data.template);
    else if (alt && /^Arrow(Up|Down)$/.test(event.key)) {
      const by = event.key === "ArrowUp" ? -1 : 1;
      act = () => (event.shiftKey ? move(by) : step(by));
    }
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    take();
    act();
  };
  if (!mine.listens) {
    mine.listens = true;
    page.addEventListener("keydown", (event) => mine.key(event), true);
    // Whoever points somewhere has gone there.
    page.addEventListener("pointerdown", () => {
      mine.stop?.();
      for (const one of mine.pending || []) one.pointed = true;
    }, true);
  }
  if (data.fresh && mine.fresh !== data.fresh)
    cursor(data.fresh.split(" ")[1]);
  mine.fresh = data.fresh;
}
"""
)
HELP = (
    ("Ctrl+S", "saves"),
    ("Alt+Enter", "adds another criterion like the last"),
    ("Alt+↑ ↓", "goes to the previous or next criterion"),
    ("Alt+Shift+↑ ↓", "moves it"),
    ("Ctrl+Z", "takes back the last change, outside a field"),
)


def show(name: str, *, form: bool) -> None:
    """Draw the browser's part; `form`: whether criteria can be added and opened."""
    new_uid = state.get(state.key(FRESH, name))
    component = st.components.v2.component("rubric_studio_editor_hands", js=_HANDS)
    component(
        key=state.key(HANDS, name),
        data={
            "act": state.key(RUBRIC_ACT, name, ""),
            "toggle": state.key(RUBRIC_ACT, name, "toggle", ""),
            "field": drafts.field_key(name, ""),
            "cards": [c["uid"] for c in drafts.draft(name)["criteria"]],
            "open": drafts.open_card(name),
            "template": state.get(state.key(TEMPLATE, name)) or "yes_no",
            "fresh": f"{name} {new_uid}" if new_uid else "",
            "form": form,
        },
        height=1,
    )


def show_help() -> None:
    """Show the keys in one quiet line, except on touch-only devices."""
    keys = " · ".join(f"<kbd>{key}</kbd> {caption}" for key, caption in HELP)
    st.html(f'<div class="rs-quiet rs-keys">{keys}</div>')


def focus_requirement(name: str, uid: str) -> None:
    """Put the cursor into the requirement of that criterion, once it is drawn."""
    state.put(state.key(FRESH, name), uid)
