"""The frozen base of every noun, and its translation of pydantic's errors into ours."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from core.domain.secrets import masked
from core.errors import InputError, Problem

Path = tuple[str | int, ...]


class Noun(BaseModel):
    """Frozen, strict about unknown keys; NaN and infinity are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with ``update`` applied (not validated) and nothing cached from the original."""
        # What pydantic does, in a third of its time, and without cached properties, which would
        # speak of the old fields.
        kind, changed = type(self), dict(update or {})
        mine = deepcopy(self.__dict__) if deep else self.__dict__
        copied = kind.__new__(kind)
        fields = {name: mine[name] for name in kind.__pydantic_fields__ if name in mine}
        object.__setattr__(copied, "__dict__", fields | changed)
        object.__setattr__(
            copied, "__pydantic_fields_set__", self.__pydantic_fields_set__ | changed.keys()
        )
        object.__setattr__(copied, "__pydantic_extra__", None)
        object.__setattr__(copied, "__pydantic_private__", self.__pydantic_private__)
        return copied


ModelT = TypeVar("ModelT", bound=BaseModel)


def broken(message: str, mend: str = "", *at: str | int) -> PydanticCustomError:
    """The error a validator raises: what is wrong, how to mend it, and where below the model.

    Braces are doubled because pydantic formats the template.
    """
    text = message.replace("{", "{{").replace("}", "}}")
    return PydanticCustomError("rubric_studio", text, {"mend": mend, "at": list(at)})


def build(model: type[ModelT], data: Any, what: str, where: str = "") -> ModelT:
    """``model`` made from ``data``; raises one ``InputError`` with every problem found.

    ``what`` names the thing in the message ("rubric"); ``where`` is the file, if any.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = tuple(_problem(detail, model) for detail in error.errors(include_url=False))
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InputError(f"This {what} is not valid ({count}).", problems, where) from None


def _problem(detail: ErrorDetails, model: type[BaseModel]) -> Problem:
    context = detail.get("ctx") or {}
    path: Path = tuple(detail["loc"]) + tuple(context.get("at", ()))
    kind = detail["type"]
    if kind == "rubric_studio":
        return Problem(detail["msg"], str(context.get("mend", "")), path)
    if kind == "missing":
        return Problem("is missing.", "Add it.", path)
    if kind == "extra_forbidden":
        return Problem("is not a known key.", near(str(path[-1]), _all_keys(model)), path)
    if kind == "literal_error":
        return Problem(f"is {_short(detail['input'])}.", f"Use {context.get('expected')}.", path)
    if kind == "finite_number":
        return Problem(f"is {_short(detail['input'])}.", "Use a finite number.", path)
    if kind == "string_too_long":
        most = f"{context['max_length']:,} is the limit."
        return Problem(f"has {len(detail['input']):,} characters; {most}", "Shorten it.", path)
    if kind == "submission_form":
        mend = "Use text, a list of {role, content}, or {thinking, output}."
        return Problem(f"is {_short(detail['input'])}, no submission.", mend, path)
    if (form := kind.partition("_")[0]) in _FORMS and kind.endswith(_NOT_THAT):
        return Problem(f"is {_short(detail['input'])}.", _FORMS[form], path)
    return Problem(f"is {_short(detail['input'])}: {_lower(detail['msg'])}.", "", path)


#: How pydantic calls a thing of another form, and what is to stand there by the form it wants.
_NOT_THAT = ("_type", "_parsing", "_from_float")
_FORMS = {
    "float": "Use a number, like 1.5 (a point, no comma).",
    "int": "Use a whole number.",
    "bool": "Use true or false.",
    "string": "Use text; in quotes, where it looks like a number or a date.",
    "list": "Use a list.",
    "tuple": "Use a list.",
    "dict": "Use names, each with a value.",
    "model": "Use names, each with a value.",
}


def near(word: str, known: set[str]) -> str:
    """The question ``Did you mean ...?`` for a misspelt word, or the empty string.

    >>> near("weigth", {"weight", "name"})
    "Did you mean 'weight'?"
    """
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.7)
    return f"Did you mean {close[0]!r}?" if close else ""


def _all_keys(model: type[BaseModel]) -> set[str]:
    keys, todo, seen = set[str](), [model], set[type[BaseModel]]()
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        keys |= set(current.model_fields)
        todo += [t for f in current.model_fields.values() for t in _models_in(f.annotation)]
    return keys


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for part in getattr(annotation, "__args__", ()) for m in _models_in(part)]


def _short(value: Any) -> str:
    # Somebody may have written a key where something else was meant.
    text = masked(repr(value))
    return text if len(text) <= 60 else text[:57] + "..."


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).rstrip(".")
