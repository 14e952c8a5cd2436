"""Which texts of the pages reach a widget that reads them as Markdown, and where they come from.

A text is safe that is written in the code, is a number made readable, or went through `label`. A
name is followed to everything it is given in its function, a parameter to every call of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from core.text.parser import parsed
from tests.places import ROOT

PAGES = ROOT / "pages"
#: Streamlit reads the first argument of these as Markdown, and `READ` of any of its calls.
FIRST = {
    *("badge", "button", "caption", "checkbox", "date_input", "download_button", "error"),
    *("expander", "file_uploader", "form_submit_button", "header", "info", "link_button"),
    *("markdown", "menu_button", "metric", "multiselect", "number_input", "pills", "popover"),
    *("radio", "segmented_control", "selectbox", "slider", "spinner", "status", "subheader"),
    *("success", "tabs", "text_area", "text_input", "title", "toast", "toggle", "warning", "write"),
}
READ = {"label", "body", "help", "captions"}
#: What gives a text of ours, a number, or a text that Markdown cannot read.
SAFE_CALLS = {"label", "level_words", "len", "int", "round", "abs", "min", "max", "sum", "float"}
SAFE_MODULES = {"fmt"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Walk:
    """All pages, and whether an expression of theirs is safe."""

    def __init__(self) -> None:
        self.trees = {
            path: parsed(ast.parse, path.read_text()) for path in sorted(PAGES.rglob("*.py"))
        }
        self.functions: dict[str, list[Function]] = {}
        self.calls: dict[str, list[tuple[ast.Call, Function | None]]] = {}
        self.within: dict[ast.AST, Function | None] = {}
        for tree in self.trees.values():
            self.read(tree)
        self._asked = set[tuple[str, str]]()

    def read(self, node: ast.AST, within: Function | None = None) -> None:
        """Note every call, and the function that each part stands in."""
        for child in ast.iter_child_nodes(node):
            self.within[child] = within
            if isinstance(child, ast.Call):
                self.calls.setdefault(_last(child.func), []).append((child, within))
            inner = child if isinstance(child, Function) else within
            if isinstance(child, Function):
                self.functions.setdefault(child.name, []).append(child)
            self.read(child, inner)

    def sinks(self) -> Iterator[tuple[str, ast.expr, Function | None]]:
        """Every text that is read as Markdown: its place, and the function that it stands in."""
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and _is_widget(node):
                    place = path.relative_to(PAGES.parent).as_posix()
                    texts = [*node.args[:1], *(k.value for k in node.keywords if k.arg in READ)]
                    yield from ((place, text, self.within[node]) for text in texts)

    def doubts(self, text: ast.expr, within: Function | None) -> Iterator[ast.expr]:
        """The parts of a text that could be somebody else's words."""
        parts = _parts(text)
        if parts is not None:
            for part in parts:
                yield from self.doubts(part, within)
        elif not self._safe_alone(text, within):
            yield text

    def _safe(self, text: ast.expr, within: Function | None) -> bool:
        return not any(True for _ in self.doubts(text, within))

    def _safe_alone(self, text: ast.expr, within: Function | None) -> bool:
        if isinstance(text, ast.Call):
            return self._safe_call(text, within)
        if isinstance(text, ast.Attribute | ast.Subscript):
            return _root(text).isupper()
        return isinstance(text, ast.Name) and self._safe_name(text.id, within)

    def _safe_call(self, call: ast.Call, within: Function | None) -> bool:
        name, root = _last(call.func), _root(call.func)
        if name in SAFE_CALLS or root in SAFE_MODULES:
            return True
        if name == "join" and call.args:
            return self._safe(call.args[0], within)
        if name in ("lower", "upper", "strip", "capitalize") and isinstance(
            call.func, ast.Attribute
        ):
            return self._safe(call.func.value, within)
        found = self.functions.get(name, []) if name.startswith("_") else []
        results = [
            (node.value, one)
            for one in found
            for node in ast.walk(one)
            if isinstance(node, ast.Return) and node.value is not None
        ]
        return bool(results) and all(
            self._once(f"{name}()", one.name, value, one) for value, one in results
        )

    def _safe_name(self, name: str, within: Function | None) -> bool:
        if name.isupper():
            return True
        if within is None:
            return False
        given = list(_given(name, within))
        if name in _parameters(within) and not self._safe_parameter(name, within):
            return False
        if name in _parameters(within):
            return all(self._once(name, within.name, one, within) for one in given)
        return bool(given) and all(self._once(name, within.name, one, within) for one in given)

    def _safe_parameter(self, name: str, within: Function) -> bool:
        at = _parameters(within).index(name)
        for call, caller in self.calls.get(within.name, []):
            named = [k.value for k in call.keywords if k.arg == name]
            placed = call.args[at : at + 1]
            for text in named or placed:
                if not self._once(name, within.name, text, caller):
                    return False
        return bool(self.calls.get(within.name))

    def _once(self, name: str, place: str, text: ast.expr, within: Function | None) -> bool:
        about = (name, f"{place} {id(text)}")
        if about in self._asked:
            return True  # asked already, further out
        self._asked.add(about)
        try:
            return self._safe(text, within)
        finally:
            self._asked.discard(about)


def _parts(text: ast.expr) -> list[ast.expr] | None:
    """What a text is put together from; `None` where it is one piece."""
    match text:
        case ast.Constant():
            return []
        case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts):
            return parts
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return parts
        case ast.FormattedValue(value=value, format_spec=spec):
            return [] if spec is not None else [value]  # only numbers have a format
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.Starred(value=one) | ast.NamedExpr(value=one):
            return [one]
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one):
            return [one]
    return None


def _parameters(function: Function) -> list[str]:
    found = function.args
    return [one.arg for one in (*found.posonlyargs, *found.args, *found.kwonlyargs)]


def _given(name: str, within: Function) -> Iterator[ast.expr]:
    for node in ast.walk(within):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = [node.target]
        for target in targets:
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and target.id == name and value is not None:
                yield value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(target.elts, value.elts, strict=False)
                yield from (v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple | ast.List):
            yield from _items(name, node.target, node.iter.elts)


def _items(name: str, target: ast.expr, rows: list[ast.expr]) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield from rows
    if isinstance(target, ast.Tuple):
        for at, one in enumerate(target.elts):
            if isinstance(one, ast.Name) and one.id == name:
                yield from (row.elts[at] for row in rows if isinstance(row, ast.Tuple))


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def _is_widget(call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in FIRST:
        return False
    return isinstance(func.value, ast.Name) and not func.value.id[0].isupper()
