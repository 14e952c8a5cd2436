const seen = new WeakMap();
export default function ({ data, parentElement, setTriggerValue }) {
  const mine = seen.get(parentElement) || { row: 0, column: 0, opened: null, from: null };
  seen.set(parentElement, mine);
  let frame = parentElement.querySelector(".rs-grid");
  const focused = frame && frame.contains(frame.getRootNode().activeElement);
  if (!frame) {
    frame = document.createElement("div");
    frame.className = "rs-grid";
    parentElement.appendChild(frame);
  }
  frame.style.maxHeight = data.height ? data.height + "px" : "";
  const make = (kind, into, words) => {
    const made = document.createElement(kind);
    if (words) made.textContent = words;
    into.appendChild(made);
    return made;
  };
  const table = document.createElement("table");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", data.name);
  const head = make("thead", table);
  if (data.groups.length) {
    const line = make("tr", head);
    line.className = "groups";
    for (const [words, span, note] of data.groups) {
      const over = make("th", line);
      over.colSpan = span;
      // Stays in sight as long as one of its columns does (grid.css).
      const heading = make("span", over, words);
      if (note) make("small", heading, note);
      over.title = words;
      over.scope = "colgroup";
    }
  }
  const line = make("tr", head);
  for (const one of data.heads) {
    const th = make("th", line);
    th.scope = "col";
    th.title = one.words;
    if (one.wide) th.style.minWidth = one.wide + "px";
    if (one.way) th.setAttribute("aria-sort", one.way);
    const arrow = one.way === "ascending" ? " ▲" : one.way === "descending" ? " ▼" : "";
    if (one.sort) {
      const button = make("button", th, one.words + arrow);
      button.type = "button";
      button.title = "Sort by " + one.words;
      button.onclick = () => setTriggerValue("sort", one.sort);
    } else th.append(one.words);
    if (one.note) make("small", th, one.note);
  }
  const put = ([words, tone, signs, tells, , note], c, tr) => {
    const cell = make(c ? "td" : "th", tr, signs ? "" : words);
    if (signs) {
      // Of a long text the end is cut, never the signs behind it.
      const text = make("span", cell, words);
      text.className = "cut";
      if (!data.heads[c].wide) text.style.maxWidth = `${6.7 - .78 * signs.length}rem`;
    }
    if (!c) cell.scope = "row";
    cell.setAttribute("role", c ? "gridcell" : "rowheader");
    if (tone !== "plain") cell.className = tone;
    if (data.heads[c].wide) cell.classList.add("wide");
    if (signs) make("span", cell, signs).className = "sign";
    if (note) make("small", cell, note);
    if (tells) { cell.title = tells; cell.setAttribute("aria-label", tells); }
    return cell;
  };
  const body = make("tbody", table);
  // Several cells of a row can open the same: the cursor stays on one of them, else it takes the first.
  let placed = data.opened && data.rows[mine.row]?.[mine.column]?.[4] === data.opened;
  const cells = data.rows.map((row, r) => {
    const tr = make("tr", body);
    return row.map((one, c) => {
      const opens = one[4], cell = put(one, c, tr);
      cell.tabIndex = -1;
      if (opens) cell.dataset.opens = opens;
      if (opens && opens === data.opened) {
        cell.classList.add("opened");
        cell.setAttribute("aria-selected", "true");
        if (!placed) [mine.row, mine.column] = [r, c];
        placed = true;
      }
      if (data.selected && data.selected.includes(opens)) {
        cell.classList.add("selected");
        cell.setAttribute("aria-selected", "true");
      }
      return cell;
    });
  });
  const foot = make("tfoot", table);
  for (const row of data.lines) {
    const tr = make("tr", foot);
    for (let c = 0; c < data.heads.length; c++) put(row[c] || ["", "plain", "", "", "", ""], c, tr);
  }
  const at = (r, c) => {
    r = Math.max(0, Math.min(cells.length - 1, r));
    c = Math.max(0, Math.min(data.heads.length - 1, c));
    return [r, c];
  };
  // Within the frame only: what else is read on the page stays where it is.
  const reveal = (cell) => {
    const [box, on] = [frame.getBoundingClientRect(), cell.getBoundingClientRect()];
    const top = box.top + head.offsetHeight, left = box.left + cells[0][0].offsetWidth;
    const bottom = box.bottom - foot.offsetHeight;
    if (on.top < top) frame.scrollTop -= top - on.top;
    else if (on.bottom > bottom) frame.scrollTop += on.bottom - bottom;
    if (on.left < left) frame.scrollLeft -= left - on.left;
    else if (on.right > box.right) frame.scrollLeft += on.right - box.right;
  };
  const move = (r, c, focus) => {
    if (!cells.length) return;
    [mine.row, mine.column] = at(mine.row, mine.column);
    cells[mine.row][mine.column].tabIndex = -1;
    [mine.row, mine.column] = at(r, c);
    const cell = cells[mine.row][mine.column];
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
    reveal(cell);
    if (focus) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const open = (cell) => cell.dataset.opens && setTriggerValue("open", cell.dataset.opens);
  // Only cells of criteria can be selected: their names are of an item and a criterion.
  const name = (r, c) => {
    const opens = (cells[r][c] && cells[r][c].dataset.opens) || "";
    return opens && JSON.parse(opens).length === 2 ? opens : "";
  };
  const toggle = (r, c) => {
    const now = new Set(data.selected);
    if (name(r, c)) now.delete(name(r, c)) || now.add(name(r, c));
    mine.from = [r, c];
    setTriggerValue("select", [...now]);
  };
  // From the cell that was selected last to this one, down its column.
  const reach = (r) => {
    const [from, column] = mine.from || [mine.row, mine.column];
    const now = new Set(data.selected);
    for (let at = Math.min(from, r); at <= Math.max(from, r); at++)
      if (cells[at] && name(at, column)) now.add(name(at, column));
    mine.from = [r, column];
    setTriggerValue("select", [...now]);
    return column;
  };
  body.onclick = (event) => {
    const cell = event.target.closest("td, th");
    const r = cells.findIndex((row) => row.includes(cell));
    if (r < 0) return;
    const c = cells[r].indexOf(cell);
    if (data.selected && event.shiftKey) return move(r, reach(r), true);
    move(r, c, true);
    if (data.selected && (event.ctrlKey || event.metaKey)) toggle(r, c);
    else open(cell);
  };
  // A press with Shift selects cells, not words.
  body.onmousedown = (event) => event.shiftKey && event.preventDefault();
  body.addEventListener("focusin", (event) => {
    const r = cells.findIndex((row) => row.includes(event.target));
    if (r >= 0) [mine.row, mine.column] = [r, cells[r].indexOf(event.target)];
  });
  body.onkeydown = (event) => {
    const { row, column } = mine;
    const last = data.heads.length - 1;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, last],
      PageUp: [row - 10, column], PageDown: [row + 10, column],
    }[event.key];
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (to && data.selected && event.shiftKey && event.key.startsWith("Arrow")) {
      if (!mine.from) mine.from = [row, column];
      const [r] = at(...to);
      move(r, reach(r), true);
    } else if (to) move(...to, true);
    else if (event.key === "Enter" || event.key === " ") open(cells[row][column]);
    else if (data.selected && event.key === "x") toggle(row, column);
    else if (data.selected && data.selected.length && event.key === "Escape")
      setTriggerValue("select", []);
    else if (data.selected && /^[0-9]$/.test(event.key) && name(row, column))
      setTriggerValue("digit", [name(row, column), Number(event.key)]);
    else return;
    // The page's own keys (the item before and after) are not meant.
    event.preventDefault();
    event.stopPropagation();
  };
  frame.replaceChildren(table);
  const corner = head.querySelector(".groups > :first-child");
  if (corner) frame.style.setProperty("--corner", corner.offsetWidth + "px");
  const news = mine.opened !== null && mine.opened !== data.opened;
  mine.opened = data.opened;
  // From the filter that was pressed to the cell it leads to, unless the person has gone elsewhere.
  const away = document.activeElement && document.activeElement.closest("input, textarea, [role=dialog]");
  const sought = mine.focus !== undefined && mine.focus !== data.focus && !away;
  mine.focus = data.focus;
  if (focused || sought || (news && cells.length)) move(mine.row, mine.column, focused || sought);
  else if (cells.length) {
    [mine.row, mine.column] = at(mine.row, mine.column);
    cells[mine.row][mine.column].tabIndex = 0;
    if (data.opened) reveal(cells[mine.row][mine.column]);
  }
  // The sheet of an open cell covers the foot of a narrow screen (grid.css): the cell goes above it.
  const sheet = frame.closest(".st-key-rs_split") && matchMedia("(max-width:900px)").matches;
  if (data.opened && !sought && cells.length && sheet) {
    const below = cells[mine.row][mine.column].getBoundingClientRect().bottom - innerHeight * 0.38;
    if (below > 0) frame.closest("[data-testid=stMain]")?.scrollBy(0, below);
  }
}
