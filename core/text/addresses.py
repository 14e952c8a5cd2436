"""E-mail addresses: a single spelling of each, so that none can be mistaken for another.

An address consists of visible ASCII characters and is compared exactly, in lower case. Folding
other letters would make different addresses equal (a Kelvin sign and k, ß and ss), and other
alphabets have letters that look the same. A domain with other letters is spelt as in DNS
(``xn--``).
"""

from __future__ import annotations

import re
import unicodedata

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MEND = "Write it with letters A to Z, digits and signs of the keyboard, without blanks."


def why_not_address(email: str) -> str:
    r"""Return a sentence on why this is not an e-mail address; empty if it is.

    >>> "U+0430 CYRILLIC SMALL LETTER A" in why_not_address("\u0430nn@example.org")
    True
    >>> why_not_address("ann@example.org")
    ''
    """
    problem = _invalid_character(email, "an e-mail address")
    name, _, domain = email.rpartition("@")
    if problem or (name and "@" not in name and len(email) <= 254 and _DOMAIN.fullmatch(domain)):
        return problem
    return f"{email!a} is not an e-mail address."


def why_not_domain(domain: str) -> str:
    """Return a sentence on why this is not an e-mail domain; empty if it is.

    >>> why_not_domain("example.org"), why_not_domain("@example.org")
    ('', "'@example.org' is not a domain.")
    """
    problem = _invalid_character(domain, "a domain")
    return problem or ("" if _DOMAIN.fullmatch(domain) else f"{domain!a} is not a domain.")


def _invalid_character(text: str, kind: str) -> str:
    """Return a sentence that names the first invalid character; empty if there is none."""
    for char in text:
        if not "!" <= char <= "~":
            character = f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()
            return f"{text!a} is not {kind}: it has the character {character}. {_MEND}"
    return ""
