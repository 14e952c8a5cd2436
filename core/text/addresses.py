"""E-mail addresses: one way of writing each, so that none can be taken for another.

An address is of visible ASCII characters and compared in small letters, exactly. Folding of other
letters would make different addresses equal (a Kelvin sign and k, ß and ss), and other alphabets
have letters that look the same. A domain with other letters is written as DNS has it (``xn--``).
"""

from __future__ import annotations

import re
import unicodedata

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MEND = "Write it with letters A to Z, digits and signs of the keyboard, without blanks."


def why_not_address(email: str) -> str:
    r"""Why this is no e-mail address, as a sentence; empty where it is one.

    >>> "U+0430 CYRILLIC SMALL LETTER A" in why_not_address("\u0430nn@example.org")
    True
    >>> why_not_address("ann@example.org")
    ''
    """
    said = _odd(email, "e-mail address")
    name, _, domain = email.rpartition("@")
    if said or (name and "@" not in name and len(email) <= 254 and _DOMAIN.fullmatch(domain)):
        return said
    return f"{email!a} is no e-mail address."


def why_not_domain(domain: str) -> str:
    """Why this is no domain of addresses, as a sentence; empty where it is one.

    >>> why_not_domain("example.org"), why_not_domain("@example.org")
    ('', "'@example.org' is no domain.")
    """
    said = _odd(domain, "domain")
    return said or ("" if _DOMAIN.fullmatch(domain) else f"{domain!a} is no domain.")


def _odd(text: str, kind: str) -> str:
    """A sentence that names the first character that does not belong there; empty without one."""
    for char in text:
        if not "!" <= char <= "~":
            what = f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()
            return f"{text!a} is no {kind}: it has the character {what}. {_MEND}"
    return ""
