"""A noun, and for every field of every noun in it a second one that differs in that field.

Fields come from the models and values from their types, so a new field is walked by itself.
``ALONG`` holds what must change along with a field for the noun to stay valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from types import UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from core.domain.dataset import Dataset, Item
from core.domain.gates import Condition, Precheck
from core.domain.rubric import Rubric

Path = tuple[str | int, ...]
LEVELS = [
    {"label": "Low", "value": 0},
    {"label": "Mid", "value": 0.5},
    {"label": "High", "value": 1},
    {"label": "Blank", "na": True},
]
#: Holds one of every noun; the walk goes to the first of each list.
BASE = Rubric.model_validate(
    {
        "name": "Essays",
        "criteria": [
            {"name": "Depth", "requirement": "How deep?", "scale": "ordinal", "options": LEVELS},
            {"name": "Right", "requirement": "Is right.", "tags": ["facts"]},
            {"name": "Short", "requirement": "Is short."},
        ],
        "scoring": {"length_penalty": {}},
        "gates": [
            {"name": "wrong", "when": {"criterion": "Right", "is": "UNMET"}, "then": {"cap": 0.4}}
        ],
        "prechecks": [{"name": "bombs", "patterns": ["bomb*"], "unless_near": {"terms": ["film"]}}],
        "decision": {"pass_at": 0.5},
    }
)
ALONG: dict[tuple[type[BaseModel], str], dict[str, Any]] = {
    **{
        (Condition, name): {"is": None}
        for name in ("below", "at_most", "above", "at_least", "in_", "abstained")
    },
    (Condition, "tag"): {"criterion": None, "count_at_least": 1},
    (Condition, "count_at_least"): {"criterion": None, "tag": "facts"},
    (Precheck, "cap"): {"action": "cap"},
    (Precheck, "action"): {"cap": 0.25},
}


Whole = TypeVar("Whole", bound=BaseModel)


class Changed(NamedTuple, Generic[Whole]):
    """A whole that differs from another one in one field of the noun at ``place``."""

    noun: type[BaseModel]
    field: str
    place: Path
    whole: Whole

    @property
    def top(self) -> str:
        """The field of the whole that holds this one."""
        return str((*self.place, self.field)[0])

    def of(self, whole: Whole) -> Any:
        """The value in a whole; the number of criteria or options, as forms may change those."""
        value = at(whole.model_dump(by_alias=True), self.place)[key_of(self.noun, self.field)]
        return len(value) if self.field in ("criteria", "options") else value

    def __str__(self) -> str:
        return f"{self.noun.__name__}.{self.field}"


def changed_fields(base: Whole) -> list[Changed[Whole]]:
    """One changed whole for every field of every noun in ``base``."""
    return [_changed(base, *where) for where in _fields(type(base), ())]


def _fields(noun: type[BaseModel], place: Path) -> Iterator[tuple[type[BaseModel], str, Path]]:
    for name, field in noun.model_fields.items():
        if field.annotation not in _nouns(field.annotation):  # Else its own fields cover it.
            yield noun, name, place
        if issubclass(noun, Dataset | Item) and field.annotation != tuple[Item, ...]:
            continue  # Rubrics are walked alone; labels and submissions have many shapes.
        for inner in _nouns(field.annotation):
            many = get_origin(_core(field.annotation)) is tuple
            yield from _fields(inner, (*place, key_of(noun, name), *([0] if many else [])))


def key_of(noun: type[BaseModel], name: str) -> str:
    """The name of a field in files and drafts."""
    return noun.model_fields[name].alias or name


def _core(annotation: Any) -> Any:
    """The annotation without ``Annotated`` and ``None``."""
    if get_origin(annotation) is Annotated:
        return _core(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        some = [part for part in get_args(annotation) if part is not type(None)]
        return _core(some[0])
    return annotation


def _nouns(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [noun for part in get_args(annotation) for noun in _nouns(part)]


def _changed(base: Whole, noun: type[BaseModel], name: str, place: Path) -> Changed[Whole]:
    field, key = noun.model_fields[name], key_of(noun, name)
    plain = base.model_dump(by_alias=True)
    for value in _values(field, at(plain, place).get(key)):
        data = deepcopy(plain)
        at(data, place).update({key: value, **ALONG.get((noun, name), {})})
        try:
            whole = type(base).model_validate(data)
        except ValidationError:
            continue
        if at(whole.model_dump(by_alias=True), place)[key] != at(plain, place)[key]:
            return Changed(noun, name, place, whole)
    raise AssertionError(f"No other value of {noun.__name__}.{name} is valid: extend ALONG.")


def at(data: Any, place: Path) -> Any:
    """The value at a place in plain data."""
    for step in place:
        data = data[step]
    return data


def _values(field: FieldInfo, now: Any) -> Iterator[Any]:
    """Candidates of the field's type; the caller takes the first valid one."""
    kind = _core(field.annotation)
    inner = _core((get_args(kind) or (None,))[0])
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    elif get_origin(kind) is tuple and now and not isinstance(now[0], str):
        yield now[:-1]
    elif get_origin(kind) is tuple and get_origin(inner) is Literal:
        yield get_args(inner)[:1]
    elif get_origin(kind) is tuple:
        yield from (("Other words",), ("MET",))
    elif kind is bool:
        yield from (True, False)
    elif kind in (int, float):
        yield from (1, 0.25, 7, 7000)
    elif get_origin(kind) is dict:
        yield from ({"note": ["mine"]}, {"note": "mine"}, {"Depth": {"label": "Low"}})
    elif kind is Rubric:
        yield BASE
    elif kind is str:
        yield from ("Other words", "median", "MET", "Short", "facts")
    yield None
