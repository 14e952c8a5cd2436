"""Taking secrets out of what is kept and shown: the key, and values of variables in ``params``.

A provider may say what it was sent in another spelling, so a secret is also hidden as base64, in
hexadecimal and escaped for an address or for JSON.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

from core.domain.secrets import masked

#: The values that must not be seen, the longest first.
Hidden = tuple[str, ...]

#: Shorter "keys" are placeholders such as "none", and common words.
_SHORTEST_KEY = 6


def hidden_values(values: Iterable[str | None]) -> Hidden:
    """What of these values is to be hidden: each as it is, and what follows a word in it.

    >>> hidden_values(["Bearer topsecret", None, "none"])
    ('Bearer topsecret', 'topsecret')
    """
    known = [value.strip() for value in values if value]
    # A header's value is "Bearer KEY"; a server may tell the key alone.
    known += [value.split()[-1] for value in known if " " in value]
    long = {value for value in known if len(value) >= _SHORTEST_KEY}
    return tuple(sorted(long, key=lambda value: (-len(value), value)))


def redact(text: str, hidden: Hidden) -> str:
    """``text`` without what is hidden, without anything that looks like a key, and without logins.

    >>> redact("Incorrect API key: sk-abcdef123, sent to http://me:pw@host/v1", ())
    'Incorrect API key: [key], sent to http://[login]@host/v1'
    """
    return masked(hide(text, hidden))


def hide(text: str, hidden: Hidden) -> str:
    """``text`` without what is hidden, however it is spelt.

    >>> hide("I was sent topsecret, dG9wc2VjcmV0 and top%73ecret.", ("topsecret",))
    'I was sent [key], [key] and top%73ecret.'
    """
    return _spelt(hidden).sub("[key]", text) if hidden else text


def shows(text: str, hidden: Hidden) -> bool:
    """Whether anything of what is hidden stands in ``text``."""
    return bool(hidden) and _spelt(hidden).search(text) is not None


@lru_cache(maxsize=256)
def _spelt(hidden: Hidden) -> re.Pattern[str]:
    return re.compile("|".join(form for value in hidden for form in _forms(value)))


def _forms(value: str) -> list[str]:
    data = value.encode("utf-8", "surrogatepass")
    plain = {value, quote(value, safe=""), quote(value), json.dumps(value)[1:-1]}
    plain |= {data.hex(), data.hex().upper(), "".join(f"%{byte:02X}" for byte in data)}
    plain |= {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in plain}
    forms = [re.escape(form) for form in sorted(plain, key=lambda form: (-len(form), form))]
    return forms + [_in_base64(data, before) for before in range(3)]


def _in_base64(data: bytes, before: int) -> str:
    """The pattern of ``data`` in base64 where so many bytes (modulo 3) stand before it.

    The characters at its ends hold bits of its neighbours, too: they may be any.
    """
    spelt = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
    first = (0, 2, 3)[before]
    last = len(spelt) if (before + len(data)) % 3 == 0 else len(spelt) - 1
    core = re.sub(r"[+\-]", "[+-]", re.sub(r"[/_]", "[/_]", spelt[first:last]))
    edge = "[A-Za-z0-9+/_-]"
    return f"{edge if first else ''}{core}(?:{edge}{{0,1}}={{0,2}})?"
