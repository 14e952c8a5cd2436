"""Secrets that a judge's settings must not contain: keys, passwords, logins.

Settings with a possible secret are refused wherever they are read, before anything is stored.
Instead, ``{env: NAME}`` names an environment variable that is read for each call and never stored.
Files of earlier versions may contain secrets; ``without_secrets`` removes them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

#: Replaces a possible secret from files of earlier versions.
REMOVED = "[removed]"
#: How to refer to a variable in a setting.
HOW = "Put the value into an environment variable and name that: {env: NAME}."

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_DIGIT = re.compile(r"[0-9]")
#: Names of secret settings, in lower case and without separators.
_NEVER = re.compile(r"secret|passw|passphrase|pwd|credential|private|bearer|cookie|auth(?!or(?!i))")
_MAYBE = re.compile(r"key|token|signature|jwt|login")
_HARMLESS = re.compile(
    r"(promptcachekey|keywords?|keepalive|(eos|bos|pad|unk|mask|sep|cls|image|stop)token"
    r"|tokeni[sz]er\w*|tokentype\w*)\Z"
)
#: Smaller numbers are not secrets: they are limits (``max_tokens``), sizes, or token ids.
_LARGEST_LIMIT = 10_000_000

_KEYLIKE = re.compile(
    r"\b(?:(?:sk|pk|rk|xai|pplx)-[\w*.\-]{6,}|(?:gsk|hf|r8)_\w{6,}|AIza[\w\-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[pousr]_\w{20,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
#: The same prefixes within names, but only with longer keys, because names like ``sk-model`` would
#: match.
_KEY_AS_NAME = re.compile(r"\b(?:sk|gsk|hf|xai|pplx|r8)[-_][\w-]{16,}|\bAIza[\w-]{20,}")
_BEARER = re.compile(r"(?i)\bbearer\s+[^\s\"',]+")
_BASIC = re.compile(r"(?i)\Abasic\s+[a-z0-9+/=_-]{6,}\Z")
_PEM = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"']*?(?:-----END [A-Z ]*-----|(?=[\"']|\Z))"
)
_USERINFO = re.compile(r"(?<=://)[^/?#@\s]+@")
_PARAMETER = re.compile(r"(?<=[?&;#])([^=?&;#\s]+)=([^?&;#\s]+)")

Path = tuple[str | int, ...]


def names_a_variable(text: str) -> bool:
    """Return whether ``text`` can be a variable's name and does not look like a key itself.

    Many keys are spelt like names, but contain a long part with digits.

    >>> names_a_variable("OPENAI_API_KEY"), names_a_variable("gsk_a1B2c3D4e5F6g7H8i9")
    (True, False)
    """
    return _ENV_NAME.match(text) is not None and not _looks_random(text)


def _looks_random(text: str) -> bool:
    parts = re.split(r"[_\s]", text)
    return any(len(part) >= 16 and len(_DIGIT.findall(part)) >= 2 for part in parts)


def variable_of(value: object) -> str | None:
    """Return the name in a value ``{env: NAME}``; ``None`` for every other value.

    >>> variable_of({"env": "AWS_SECRET"}), variable_of({"env": "sk-12"}), variable_of("x")
    ('AWS_SECRET', None, None)
    """
    if not isinstance(value, dict) or value.keys() != {"env"}:
        return None
    name = value["env"]
    return name if isinstance(name, str) and names_a_variable(name) else None


def variable_names(value: object) -> list[str]:
    """Return the names of all variables in settings, without duplicates.

    >>> variable_names({"a": {"env": "X"}, "b": [{"env": "Y"}, {"env": "X"}]})
    ['X', 'Y']
    """
    return list(dict.fromkeys(_variable_names_in(value)))


def _variable_names_in(value: object) -> Iterator[str]:
    if (name := variable_of(value)) is not None:
        yield name
    elif isinstance(value, dict):
        yield from chain.from_iterable(map(_variable_names_in, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_variable_names_in, value))


def with_variables_filled(value: Any, variables: Mapping[str, str]) -> Any:
    """Return settings with variables replaced by their values; an unset one: ``KeyError``."""
    if (name := variable_of(value)) is not None:
        return variables[name]
    if isinstance(value, dict):
        return {key: with_variables_filled(part, variables) for key, part in value.items()}
    return (
        [with_variables_filled(part, variables) for part in value]
        if isinstance(value, list)
        else value
    )


def secrets_in(settings: Mapping[str, Any]) -> list[Path]:
    """Return the paths of possible secrets in a judge's ``params``.

    >>> secrets_in({"max_tokens": 9, "aws_secret_access_key": "x", "headers": {"Cookie": "a=b"}})
    [('aws_secret_access_key',), ('headers', 'Cookie')]
    >>> secrets_in({"aws_secret_access_key": {"env": "AWS_SECRET"}, "prompt_cache_key": "a"})
    []
    """
    paths = list[Path]()
    _clean_value(settings, (), lambda path, value: paths.append(path))
    return paths


def has_removed_secret(value: object) -> bool:
    """Return whether a file upgrade removed a value from these settings."""
    if isinstance(value, dict):
        return any(map(has_removed_secret, value.values()))
    return (
        any(map(has_removed_secret, value)) if isinstance(value, list | tuple) else value == REMOVED
    )


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same settings with possible secrets replaced by ``REMOVED``.

    >>> without_secrets({"seed": 1, "extra_headers": {"X-Api-Key": "k"}})
    {'seed': 1, 'extra_headers': {'X-Api-Key': '[removed]'}}
    """
    cleaned: dict[str, Any] = _clean_value(settings, (), lambda path, value: None)
    return cleaned


def _clean_value(value: Any, path: Path, tell: Callable[[Path, object], None]) -> Any:
    """Return ``value`` without secrets, calling ``tell`` for each of them."""
    if variable_of(value) is not None or value is None or value in ("", REMOVED):
        return value
    if _is_secret(value, path):
        tell(path, value)
        return REMOVED
    if isinstance(value, dict):
        return {key: _clean_value(part, (*path, str(key)), tell) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(part, (*path, at), tell) for at, part in enumerate(value)]
    return value


def _is_secret(value: object, path: Path) -> bool:
    name = next((_plain_name(part) for part in reversed(path) if isinstance(part, str)), "")
    if _NEVER.search(name):
        return not isinstance(value, bool)
    if _MAYBE.search(name) and not _HARMLESS.match(name) and not _counts_tokens(value):
        return True
    if not isinstance(value, str):
        return False
    in_header = any(isinstance(part, str) and "header" in _plain_name(part) for part in path[:-1])
    return looks_secret(value) or (in_header and _looks_random(value)) or _hides_secret(value)


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKC", name).casefold())


def _counts_tokens(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_counts_tokens, value))
    if isinstance(value, dict):
        # Keys of the mapping matter, as in logit_bias: {token: -100}.
        return all(isinstance(number, int | float) for number in value.values())
    return isinstance(value, int | float) and abs(value) <= _LARGEST_LIMIT


def _hides_secret(text: str) -> bool:
    """Return whether a text is JSON with names that suggest a secret."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        return bool(secrets_in({"": json.loads(text)}))
    except (ValueError, RecursionError):
        return False


def looks_secret(text: str) -> bool:
    """Return whether a text looks like a key, a login or an address with one.

    >>> looks_secret("Bearer abc123"), looks_secret("http://me:pw@host"), looks_secret("gpt-4.1")
    (True, True, False)
    """
    forms = (_KEYLIKE, _BEARER, _BASIC, _PEM)
    return any(form.search(text) for form in forms) or ("://" in text and address_has_secret(text))


def address_has_secret(address: str) -> bool:
    """Return whether an address has a login, or a parameter named like a secret.

    >>> address_has_secret("http://h/v1?api-key=1"), address_has_secret("https://h:8000/v1?api-version=2")
    (True, False)
    """
    return cleaned_address(address) != address


def cleaned_address(address: str) -> str:
    """Return an address without its login and the values of parameters named like secrets.

    >>> cleaned_address("http://me:pw@host/v1?key=abc&a=b")
    'http://host/v1?key=[removed]&a=b'
    """
    return _KEY_AS_NAME.sub(REMOVED, _PARAMETER.sub(_masked_parameter, _USERINFO.sub("", address)))


def _masked_parameter(match: re.Match[str]) -> str:
    name = _plain_name(match[1])
    named = re.search(r"key|token|sig\b|secret|passw|pwd|credential|auth", name)
    return f"{match[1]}={REMOVED}" if named and match[2] != REMOVED else match[0]


def looks_like_key(text: str) -> bool:
    """Return whether a text looks like a key, not like a name.

    >>> looks_like_key("sk-proj-abc123def456ghi789"), looks_like_key("openai/gpt-4.1-mini")
    (True, False)
    """
    return _KEY_AS_NAME.search(text) is not None


def masked_text(text: str) -> str:
    """Return ``text`` without logins and strings that look like keys.

    >>> masked_text("Incorrect API key: sk-abcdef123, sent to http://me:pw@host/v1")
    'Incorrect API key: [key], sent to http://[login]@host/v1'
    """
    text = _PEM.sub("[key]", _BEARER.sub("Bearer [key]", _KEYLIKE.sub("[key]", text)))
    return _USERINFO.sub("[login]@", text)
