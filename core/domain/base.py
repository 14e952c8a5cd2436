"""The frozen base of all nouns, descriptions of their fields, and translated pydantic errors."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from core.domain.secrets import masked_text
from core.errors import InputError, Problem

Path = tuple[str | int, ...]

#: What a changed field means for votes (in words: ``core.rubric_diff.edits.KINDS``).
Kind = Literal["words", "score", "question", "options", "added", "removed", "renamed"]


class FieldSpec(NamedTuple):
    """How one field of a noun is described, labelled and compared: a row of ``Noun.ABOUT``.

    ``schema`` describes the field in the JSON Schema. ``kind`` is what a change means for votes,
    or ``None`` if the field's parts are compared one by one. ``label`` names the field on screen
    (default: its own name). ``lost`` begins the sentence of a loss (default: the label). Fields of
    the same ``group`` are merged together (default: each alone).
    """

    schema: str
    kind: Kind | None
    label: str = ""
    lost: str = ""
    group: str = ""


class Noun(BaseModel):
    """The base of all nouns: frozen; refuses unknown keys, NaN and infinity.

    ``ABOUT`` has a row for every field of nouns that are shown and compared field by field.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    ABOUT: ClassVar[Mapping[str, FieldSpec]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Let Python share field names among all objects of a class, which makes ``sharing``
        effective.

        Python learns them from the first thirty objects of the class only.
        """
        first = cls.__new__(cls)
        for name in cls.model_fields:
            object.__setattr__(first, name, None)

    @classmethod
    def field_row(cls, name: str) -> FieldSpec:
        """Return the row of a field in ``ABOUT``, with its defaults filled in.

        >>> from core.domain.rubric import Criterion
        >>> Criterion.field_row("tags").lost, Criterion.field_row("scale").group
        ('The tags', 'answers')
        """
        schema, kind, label, loss, group = cls.ABOUT[name]
        label = label or name.replace("_", " ")
        return FieldSpec(schema, kind, label, loss or f"The {label}", group or label)

    def given(self) -> list[str]:
        """Return the names of the fields that differ from their default; empty text is no value.

        >>> from core.domain.rubric import Option
        >>> Option(label="Low", value=0.0).given()
        ['label', 'value']
        """
        fields = type(self).model_fields
        defaults = {name: f.get_default(call_default_factory=True) for name, f in fields.items()}
        return [name for name in fields if getattr(self, name) not in (defaults[name], "")]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with ``update`` applied, without validation or cached properties."""
        # Like pydantic's, but three times as fast, and without cached properties of old fields.
        kind, changed = type(self), dict(update or {})
        values = deepcopy(self.__dict__) if deep else self.__dict__
        copied = kind.__new__(kind)
        fields = {name: values[name] for name in kind.__pydantic_fields__ if name in values}
        object.__setattr__(copied, "__dict__", fields | changed)
        object.__setattr__(
            copied, "__pydantic_fields_set__", self.__pydantic_fields_set__ | changed.keys()
        )
        object.__setattr__(copied, "__pydantic_extra__", None)
        object.__setattr__(copied, "__pydantic_private__", self.__pydantic_private__)
        return copied

    def sharing(self, shared_parts: dict[Any, Any]) -> Self:
        """Return a copy that shares small parts with others, which saves two thirds of its memory.

        ``shared_parts`` stores the sets of set fields, and equal mappings, for later calls.
        """
        set_fields, put = self.__pydantic_fields_set__, object.__setattr__
        copied = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            if type(value) is dict:
                key = (*value, *map(id, value.values())) if value else ()
                has_room = len(shared_parts) < _MOST_SHARED
                value = (shared_parts.setdefault if has_room else shared_parts.get)(key, value)
            # Names that are set one by one are stored once per class.
            put(copied, name, value)
        put(
            copied,
            "__pydantic_fields_set__",
            shared_parts.setdefault(frozenset(set_fields), set_fields),
        )
        put(copied, "__pydantic_extra__", None)
        put(copied, "__pydantic_private__", self.__pydantic_private__)
        return copied


#: The most distinct parts to share.
_MOST_SHARED = 1000
ModelT = TypeVar("ModelT", bound=BaseModel)


def defect(message: str, mend: str = "", *at: str | int) -> PydanticCustomError:
    """Return the error that a validator raises: the problem, its fix, and its place in the model.

    Braces are doubled because pydantic formats the template.
    """
    text = message.replace("{", "{{").replace("}", "}}")
    return PydanticCustomError("rubric_studio", text, {"mend": mend, "at": list(at)})


def build_model(model: type[ModelT], data: Any, what: str, where: str = "") -> ModelT:
    """Build ``model`` from ``data``; raises one ``InputError`` with all problems.

    ``what`` names the thing in the message ("rubric"); ``where`` is the file, if any.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = tuple(
            _problem_of_detail(detail, model) for detail in error.errors(include_url=False)
        )
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InputError(f"This {what} is not valid ({count}).", problems, where) from None


def _problem_of_detail(detail: ErrorDetails, model: type[BaseModel]) -> Problem:
    context = detail.get("ctx") or {}
    path: Path = tuple(detail["loc"]) + tuple(context.get("at", ()))
    kind = detail["type"]
    if kind == "rubric_studio":
        return Problem(detail["msg"], str(context.get("mend", "")), path)
    if kind == "missing":
        return Problem("is missing.", "Add it.", path)
    if kind == "extra_forbidden":
        return Problem("is not a known key.", hint_for(str(path[-1]), _keys_inside(model)), path)
    if kind == "literal_error":
        return Problem(
            f"is {_short_text(detail['input'])}.", f"Use {context.get('expected')}.", path
        )
    if kind == "finite_number":
        return Problem(f"is {_short_text(detail['input'])}.", "Use a finite number.", path)
    if kind == "string_too_long":
        most = f"{context['max_length']:,} is the limit."
        return Problem(f"has {len(detail['input']):,} characters; {most}", "Shorten it.", path)
    if kind == "submission_form":
        advice = "Use text, a list of {role, content}, or {thinking, output}."
        return Problem(f"is {_short_text(detail['input'])}, no submission.", advice, path)
    if (form := kind.partition("_")[0]) in _FORMS and kind.endswith(_NOT_THAT):
        return Problem(f"is {_short_text(detail['input'])}.", _FORMS[form], path)
    return Problem(f"is {_short_text(detail['input'])}: {_lower_first(detail['msg'])}.", "", path)


#: Endings of pydantic's error types for a wrong type, each with the expected type in words.
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


def hint_for(word: str, known_words: set[str]) -> str:
    """Return ``Did you mean ...?`` for a misspelt word; empty for a known or unrelated word.

    >>> hint_for("weigth", {"weight", "name"})
    "Did you mean 'weight'?"
    """
    close = difflib.get_close_matches(word.lower(), sorted(known_words), n=1, cutoff=0.7)
    return f"Did you mean {close[0]!r}?" if close and word not in known_words else ""


def _keys_inside(model: type[BaseModel]) -> set[str]:
    return {key for noun in nouns_of(model) for key in noun.model_fields}


def types_in(annotation: Any) -> set[Any]:
    """Return every type in an annotation.

    >>> types_in(dict[str, int] | None) == {str, int, type(None)}
    True
    """
    parts = get_args(annotation)
    return set().union(*map(types_in, parts)) if parts else {annotation}


def nouns_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the nouns in an annotation."""
    kinds = types_in(annotation)
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def nouns_of(noun: type[BaseModel]) -> set[type[BaseModel]]:
    """Return a noun and all nouns inside it, at any depth."""
    nouns, todo = set[type[BaseModel]](), [noun]
    while todo:
        kind = todo.pop()
        if kind not in nouns:
            nouns.add(kind)
            todo += [
                nested for f in kind.model_fields.values() for nested in nouns_in(f.annotation)
            ]
    return nouns


def _short_text(value: Any) -> str:
    # The value may be a key that was put into the wrong field.
    text = masked_text(repr(value))
    return text if len(text) <= 60 else text[:57] + "..."


def _lower_first(text: str) -> str:
    return (text[:1].lower() + text[1:]).rstrip(".")
