"""Personal data in text: patterns, and the checks that tell a number from any digits."""

from __future__ import annotations

import re

#: The named group says what a match is. They are templates of ``phrases.compiled``: no spaces.
PERSONAL = (
    r"(?P<ssn>(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4})",
    r"(?P<card>\d(?:[\s-]?\d){12,18})",
    r"(?P<iban>[a-z]{2}\d{2}(?:\s?[a-z0-9]{4}){2,7}(?:\s?[a-z0-9]{1,3})?)",
    r"(?P<email>[a-z0-9_.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4})",
    r"(?P<phone>\+\d(?:[\s.()/-]?\d){7,14})",
    r"(?:password|passwd|passphrase|passcode|pwd|api[\s_-]?key|secret[\s_-]?key|access[\s_-]?token)"
    r"[\"']?\s{0,3}(?:is:?|=|:=|:|->)\s{0,3}(?P<quote>[\"'])?(?P<secret>[^\s\"',;]{4,80})",
    r"pin[\s_-]?(?:code|number)?\s{0,3}(?:is:?|=|:)\s{0,3}(?P<pin>\d{4,8})",
)
_NOBODYS = re.compile(r"@(?:[a-z0-9-]+\.)*(?:example|test|invalid|localhost|domain)(?:\.[a-z]+)?$")
_NOT_VALUES = frozenset(
    ("password", "passphrase", "required", "changeme", "secret", "optional", "unknown")
)


def is_personal(match: re.Match[str]) -> bool:
    """Whether the digits or words of a match can be what its pattern took them for."""
    kind = match.lastgroup
    given = match.groupdict()
    if given.get("card"):
        return _luhn(given["card"])
    if given.get("iban"):
        return _iban(given["iban"])
    if given.get("email"):
        return _NOBODYS.search(given["email"]) is None
    if given.get("secret"):
        return _is_secret(given["secret"], quoted=bool(given.get("quote")))
    return kind is not None


def _luhn(text: str) -> bool:
    """Whether a card number's last digit fits (Luhn, US patent 2950048, 1960).

    >>> _luhn("4111 1111 1111 1111"), _luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in text if c.isdecimal()]
    doubled = [d if at % 2 == 0 else sum(divmod(2 * d, 10)) for at, d in enumerate(digits[::-1])]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _iban(text: str) -> bool:
    """Whether an account number's check digits fit (ISO 13616, mod 97-10).

    >>> _iban("gb82 west 1234 5698 7654 32"), _iban("gb83 west 1234 5698 7654 32")
    (True, False)
    """
    plain = "".join(text.split())
    moved = plain[4:] + plain[:4]
    return len(plain) >= 15 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _is_secret(value: str, *, quoted: bool) -> bool:
    """Whether the text after ``password =`` is a value, and not code or a placeholder.

    >>> _is_secret("hunter2", quoted=False), _is_secret("os.environ[", quoted=False)
    (True, False)
    """
    value = value.rstrip(".!?)")
    if value in _NOT_VALUES or set(value) & set("()[]{}<>$%") or len(set(value)) < 3:
        return False
    has_digit = any(c.isdigit() for c in value)
    has_mark = any(not c.isalnum() and c not in "._-/" for c in value)
    return len(value) >= 4 and (quoted or has_digit or has_mark)
