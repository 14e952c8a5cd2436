"""One criterion of a rubric file to the shape that ``Criterion`` is built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.domain.base import Path
from core.domain.names import fold
from core.domain.rubric import MET, UNMET
from core.errors import Problem
from core.files.document import kind_of
from core.files.rubric_keys import (
    CRITERION_KEYS,
    KEEP_ONE,
    OPTION_KEYS,
    TWICE,
    join_notes,
    kept,
    sort_keys,
    tidied,
)

#: More options than this are refused: no judge chooses well among so many.
MAX_OPTIONS = 1000


@dataclass
class Shaped:
    """A criterion's data, with what was wrong; ``renamed`` maps its keys to source places."""

    data: dict[str, Any] = field(default_factory=dict)
    renamed: dict[str, Path] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)


def shape_criterion(given: dict[str, Any], path: Path, section: str | None) -> Shaped:
    """``given`` in our keys: foreign keys under meta, the scale settled, options cleaned.

    ``section`` is the section it stands in, unless the criterion names one itself. A key that is
    null counts as not given.
    """
    known, foreign, problems = sort_keys(given, CRITERION_KEYS, path, "a criterion")
    shaped = Shaped(problems=problems)
    data = {key: value for key, value in known.items() if value is not None}
    data = tidied(data, path, problems)
    shaped.data = data
    if isinstance(data.get("name"), str) and not data["name"].strip():
        del data["name"]
    if section is not None:
        data.setdefault("section", section)
    if isinstance(data.get("tags"), str):
        data["tags"] = [data["tags"]]
    _settle_scale(shaped, path)
    if "options" in data:
        _clean_options(shaped, path)
    _keep_foreign(shaped, foreign, path)
    return shaped


def _settle_scale(shaped: Shaped, path: Path) -> None:
    """Our `scale` or the peer's `scale_type`. Without either: binary where there are no options or
    they are MET and UNMET, else ordinal.

    The peer stores scale_type "ordinal" on criteria without options, so there it says nothing. Our
    own key, written by hand, does.
    """
    data = shaped.data
    peer = data.pop("scale_type", None)
    if peer is not None and "scale" not in data:
        shaped.renamed["scale"] = (*path, "scale_type")
        data["scale"] = peer if "options" in data else "binary"
    elif peer is not None and peer != data["scale"]:
        message = f"is {peer!r}, but scale is {data['scale']!r}."
        shaped.problems.append(Problem(message, "Keep scale only.", (*path, "scale_type")))
    elif "options" not in data and data.get("scale") in ("ordinal", "nominal"):
        message = f"is {data['scale']}, but there are no options."
        mend = "List its options, or set scale: binary."
        shaped.problems.append(Problem(message, mend, (*path, "scale")))
    if "options" in data:
        data.setdefault("scale", "binary" if _is_binary(data["options"]) else "ordinal")


def _is_binary(options: object) -> bool:
    """Whether these are MET (1) and UNMET (0), in any order, with or without a way out."""
    if not isinstance(options, list) or not all(isinstance(one, dict) for one in options):
        return False
    given = [(fold(str(one.get("label"))), one.get("value")) for one in options if not _is_na(one)]
    # `true` is equal to 1, but no value of an option.
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for _, v in given)
    return numbers and len(given) == 2 and dict(given) == {fold(MET): 1, fold(UNMET): 0}


def _is_na(option: dict[str, Any]) -> bool:
    return str(option.get("na")).lower() in ("true", "yes", "on")


def _clean_options(shaped: Shaped, path: Path) -> None:
    options, here = shaped.data["options"], (*path, "options")
    cleaned: list[Any] = []
    if not isinstance(options, list):
        shaped.problems.append(Problem(f"is {kind_of(options)}.", "Use a list of options.", here))
        shaped.data["options"] = []
        return
    if len(options) > MAX_OPTIONS:
        message = f"lists {len(options):,} options; {MAX_OPTIONS:,} is the limit."
        shaped.problems.append(Problem(message, "Leave some out.", here))
        options = []
    for index, option in enumerate(options):
        if isinstance(option, dict):
            cleaned.append(_clean_option(option, (*here, index), shaped))
        else:
            mend = "Write a mapping with label and value."
            message = f"is {kind_of(option)}, not an option."
            shaped.problems.append(Problem(message, mend, (*here, index)))
    shaped.data["options"] = cleaned


def _clean_option(option: dict[str, Any], path: Path, shaped: Shaped) -> dict[str, Any]:
    known, foreign, problems = sort_keys(option, OPTION_KEYS, path, "an option")
    shaped.problems += problems
    cleaned = {key: value for key, value in known.items() if value is not None}
    if _is_na(cleaned):
        # The peer demands a value there; it never counts.
        cleaned["na"] = True
        cleaned.pop("value", None)
    if foreign:
        # An option has no meta of its own, so its notes go to the criterion's.
        notes = shaped.data.setdefault("meta", {})
        if isinstance(notes, dict):
            notes = shaped.data["meta"] = dict(notes)
            label = str(cleaned.get("label", ""))
            shaped.problems += join_notes(notes, "options", label, foreign, path)
        shaped.notices += [kept(key, path) for key in foreign]
    return cleaned


def _keep_foreign(shaped: Shaped, foreign: dict[str, Any], path: Path) -> None:
    meta = shaped.data.get("meta", {})
    if not foreign or not isinstance(meta, dict):
        return
    for key in foreign:
        if key in meta:
            shaped.problems.append(Problem(TWICE, KEEP_ONE, (*path, key)))
        shaped.notices.append(kept(key, path))
    shaped.data["meta"] = {**foreign, **meta}
