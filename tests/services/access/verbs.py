"""Which services write: read off the source, so that a new one cannot be forgotten.

A method of the store writes where it opens a transaction (`self._files.write()`), or calls one
that does. A service writes where it calls such a method of a topic (`store.runs.create`), opens a
transaction itself, or calls a service that writes. What `store.kept` holds is worked out from the
rest of the file and changes nothing that anybody sees: keeping it is no act.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from core.text.parser import parsed
from tests.places import ROOT

SERVICES = ROOT / "core" / "services"
STORE = ROOT / "core" / "store"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function and method of a module, also within others."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def called(function: Function) -> Iterator[str]:
    """What a function calls or hands on, as dotted text: `store.runs.create`, `plan_run`."""
    nodes = list(ast.walk(function))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} - {"store", "self"}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name):
            dotted = ast.unparse(node)
            if dotted.partition(".")[0] not in own:
                yield dotted


@lru_cache(maxsize=1)
def writing_methods() -> frozenset[str]:
    """`topic.method` for every method of a topic of the store that writes."""
    topics = dict[str, str]()
    store = parsed(ast.parse, (STORE / "store.py").read_text())
    for node in ast.walk(store):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = ast.unparse(node.targets[0])
            if target.startswith("self.") and not target.startswith("self._"):
                topics[ast.unparse(node.value.func)] = target.removeprefix("self.")
    del topics["KeptAnswerStore"]
    found = set[str]()
    for path in STORE.rglob("*.py"):
        for node in ast.walk(parsed(ast.parse, path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name in topics:
                found |= {f"{topics[node.name]}.{name}" for name in _writing(node)}
    return frozenset(found)


def _writing(topic: ast.ClassDef) -> set[str]:
    methods = {m.name: set(called(m)) for m in topic.body if isinstance(m, Function)}
    opens = {"self._files.write", "self._files.set_archived"}
    writing = {name for name, calls in methods.items() if calls & opens}
    while True:
        more = {n for n, calls in methods.items() if {f"self.{w}" for w in writing} & calls}
        if more <= writing:
            return {name for name in writing if name != "__init__"}
        writing |= more


@lru_cache(maxsize=1)
def services() -> dict[str, Function]:
    """Every function of the services by its module and name, `runs.lifecycle.start`."""
    found = {}
    for path in sorted(SERVICES.rglob("*.py")):
        for function in functions(parsed(ast.parse, path.read_text())):
            found[f"{_module(path)}.{function.name}"] = function
    return found


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SERVICES).with_suffix("").parts)


@lru_cache(maxsize=1)
def writing_services() -> frozenset[str]:
    """The services that write, by module and name; those with `store` as first argument only."""
    known = services()
    names = dict[str, set[str]]()
    for path in sorted(SERVICES.rglob("*.py")):
        names[_module(path)] = _imported(parsed(ast.parse, path.read_text()))
    direct = {"store.write", "store.rehearsal"}
    calls = {name: set(called(function)) for name, function in known.items()}
    writing = {
        name
        for name, made in calls.items()
        if any(one in direct or one.removeprefix("store.") in _of_store(one) for one in made)
    }
    while True:
        more = {
            name
            for name, made in calls.items()
            if name not in writing and _reach(name, made, writing, names)
        }
        if not more:
            break
        writing |= more
    return frozenset(name for name in writing if _takes_store(known[name]))


def _of_store(call: str) -> frozenset[str]:
    return writing_methods() if call.startswith("store.") else frozenset()


def _reach(name: str, made: set[str], writing: set[str], names: dict[str, set[str]]) -> bool:
    module = name.rpartition(".")[0]
    for target in writing:
        home, _, short = target.rpartition(".")
        if home == module and short in made:
            return True
        if f"{home}.{short}" in names[module] and short in made:
            return True
        if home in names[module] and f"{home.rpartition('.')[2]}.{short}" in made:
            return True
    return False


def _imported(tree: ast.AST) -> set[str]:
    """What a module imports of the services: modules, and functions by module and name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core.services"):
            base = (node.module or "").removeprefix("core.services").removeprefix(".")
            found |= {f"{base}.{one.name}".removeprefix(".") for one in node.names}
    return found


def _takes_store(function: Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return bool(arguments) and arguments[0].arg == "store"


def asked_verb(function: Function) -> str | None:
    """The verb that a service asks for (`@allowed("write")`), or `None`."""
    for one in function.decorator_list:
        if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("allowed"):
            return str(ast.literal_eval(one.args[0]))
    return None
