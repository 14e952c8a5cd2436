"""The settings of a judge, and how a panel asks its judges together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from core.domain.base import build_model
from core.domain.panel import CODE_KINDS, Asking, Cascade, Judge, Panel
from core.domain.rubric import Scale
from core.domain.secrets import address_has_secret, looks_like_key, names_a_variable, variable_names
from core.errors import InputError, Problem
from core.judging.keys import key_names
from core.judging.providers.base import RESERVED_PARAMS
from core.judging.providers.choice import key_variables


def checked_judge(settings: Mapping[str, Any]) -> Judge:
    """Return the judge with these settings. Blank texts and ``None`` mean the default.

    Raises:
        InputError: lists every problem. A value that could be a key is never repeated.
    """
    data = {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in settings.items()
    }
    if isinstance(data.get("replicas"), str):
        # People separate addresses by spaces or commas.
        data["replicas"] = tuple(data["replicas"].replace(",", " ").split())
    filled = {name: value for name, value in data.items() if value is not None and value != ""}
    problems = _name_problems(filled)
    try:
        judge = build_model(Judge, {**filled, "name": filled.get("name") or "Judge"}, "judge")
    except InputError as error:
        raise InputError(_REFUSED, tuple(dict.fromkeys((*problems, *error.problems)))) from None
    if not judge.askable:
        problems.append(
            Problem("is a rater who was imported with votes.", "Choose one to ask.", ("kind",))
        )
    if judge.kind in CODE_KINDS:
        advice = "Name it in a panel file, for `rubric-studio grade` or Python."
        problems.append(Problem("is code of yours, which no page runs.", advice, ("kind",)))
    for address in (judge.api_base, *judge.replicas):
        problems += _address_problems(address)
    problems += _param_problems(judge.params)
    if problems:
        raise InputError(_REFUSED, tuple(problems))
    return judge


_REFUSED = "This judge cannot be saved."


def _name_problems(settings: Mapping[str, Any]) -> list[Problem]:
    problems = [
        Problem("looks like a key.", "Never enter a key here.", (field,))
        for field in ("name", "model")
        if looks_like_key(str(settings.get(field, "")))
    ]
    if "name" not in settings:
        problems.append(Problem("is empty.", "Give the judge a name.", ("name",)))
    return problems


def _address_problems(address: str) -> list[Problem]:
    if not address:
        return []
    try:
        parts = urlsplit(address)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        port_fits, parts = False, None
    if parts is None or not port_fits or not parts.hostname:
        return [Problem("is not a web address.", "Write e.g. http://localhost:8000/v1.", _BASE)]
    return []


_BASE = ("api_base",)


def _param_problems(params: Mapping[str, Any]) -> list[Problem]:
    return [
        Problem("is set elsewhere.", "Take it out.", ("params", name))
        for name in sorted(RESERVED_PARAMS & params.keys())
    ]


def could_be_secret(field: str, text: str) -> bool:
    """Return whether the text of a judge's field could be, or contain, a key.

    >>> could_be_secret("key_env", "OPENAI_API_KEY"), could_be_secret("key_env", "sk-1234")
    (False, True)
    """
    if field == "key_env":
        return bool(text) and not names_a_variable(text.strip())
    if field == "replicas":
        return any(map(address_has_secret, text.replace(",", " ").split())) or looks_like_key(text)
    return looks_like_key(text) or (field == "api_base" and address_has_secret(text))


def values_of_secrets(judge: Judge) -> dict[str, str]:
    """Return the values of the variables with a judge's secrets, if they are set.

    These are the variables that its ``params`` name, and those that may hold its key.
    """
    names = (*variable_names(judge.params), *key_names(judge))
    values = {name: os.environ.get(name, "").strip() for name in names}
    return {name: value for name, value in values.items() if value}


def key_of(judge: Judge) -> str | None:
    """Return the judge's key, from its own variable or, if called directly, its provider's; or
    ``None``.

    litellm looks for keys itself, and can sign in without a key.
    """
    names = (judge.key_env,) if judge.key_env else key_variables(judge)
    return next((value for name in names if (value := os.environ.get(name))), None)


# A panel's setup: how its judges are asked, in which stages, and who is a shadow.
#
# Stage and shadow are set for each panel, not for the judge: it may come first in one panel and be
# a shadow in another.


@dataclass(frozen=True)
class PanelSetup:
    """Everything in a panel except its name, judges and rules.

    ``stages`` maps judges to their stage (from 0, the default), and only matters with a
    ``cascade``. ``shadows`` names the judges whose votes do not count.
    """

    asking: Asking = field(default_factory=Asking)
    cascade: Cascade | None = None
    early_stop: bool = False
    stages: Mapping[str, int] = field(default_factory=dict)
    shadows: frozenset[str] = frozenset()


def setup_of(panel: Panel) -> PanelSetup:
    """Return the setup of an existing panel."""
    return PanelSetup(
        panel.asking,
        panel.cascade,
        panel.early_stop,
        {j.name: j.stage for j in panel.judges if j.stage},
        frozenset(j.name for j in panel.judges if j.shadow),
    )


def panel_data(
    name: str,
    judges: Sequence[Judge],
    rules: Mapping[Scale, str] | Mapping[str, str],
    setup: PanelSetup,
) -> dict[str, Any]:
    """Return a panel as plain data, for ``build`` to check, without settings that have no
    effect.
    """
    seats = [
        judge.model_dump()
        | {
            "stage": setup.stages.get(judge.name, 0) if setup.cascade else 0,
            "shadow": judge.name in setup.shadows,
        }
        for judge in judges
    ]
    return {
        "name": name,
        "judges": seats,
        "rules": {str(scale): rule for scale, rule in rules.items()},
        "asking": setup.asking.model_dump(),
        "cascade": None if setup.cascade is None else setup.cascade.model_dump(),
        "early_stop": setup.early_stop,
    }
