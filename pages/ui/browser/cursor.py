"""Put the cursor into a field that is still to be drawn: a function for other browser code."""

from __future__ import annotations

#: `cursorInto(find, gone)` waits for the field and puts the cursor into it until the cursor stays
#: there. It returns a function that stops this. It gives up if `gone(field)` reports that the
#: person has moved elsewhere, or if the page is complete and has no such field.
CURSOR = """
const cursorInto = (find, gone = () => false, block = "nearest") => {
  const rest = "[data-testid=stApp][data-test-script-state=notRunning]";
  let left = 240, kept = 0;
  const look = () => {
    const field = left > 0 && find();
    if (field && gone(field)) return;
    if (field && document.activeElement === field) kept += 1;
    else if (field) { field.focus(); field.scrollIntoView({ block }); }
    if (document.querySelector(rest)) left -= 1;
    if (kept < 6 && left > 0) setTimeout(look, 50);
  };
  setTimeout(look, 50);
  return () => { left = 0; };
};
"""
