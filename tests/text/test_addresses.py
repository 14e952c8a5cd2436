"""An e-mail address is written in one way, and one that only looks like it is named."""

from __future__ import annotations

import pytest

from core.text.addresses import why_not_address, why_not_domain

#: An address that looks like alice@example.org, and the character that tells it apart.
ALIKE = {
    "\u0430lice@example.org": "U+0430 CYRILLIC SMALL LETTER A",
    "alice@ex\u0430mple.org": "U+0430 CYRILLIC SMALL LETTER A",
    "alice\u200b@example.org": "U+200B ZERO WIDTH SPACE",
    "\ufeffalice@example.org": "U+FEFF ZERO WIDTH NO-BREAK SPACE",
    "\uff41lice@example.org": "U+FF41 FULLWIDTH LATIN SMALL LETTER A",
    "alice\uff20example.org": "U+FF20 FULLWIDTH COMMERCIAL AT",
    "alice@example\u3002org": "U+3002 IDEOGRAPHIC FULL STOP",
    "alice@example.org ": "U+0020 SPACE",
    " alice@example.org": "U+0020 SPACE",
    "alice@example.org\u00a0": "U+00A0 NO-BREAK SPACE",
    "alice@example.org\n": "U+000A",
    "alic\u0435\u0301@example.org": "U+0435 CYRILLIC SMALL LETTER IE",
}
#: What case folding makes equal to these letters: a Kelvin sign, a long s, a sharp s.
FOLDED = ["\u212aim@example.org", "\u017fam@example.org", "gro\u00df@example.org"]


@pytest.mark.parametrize("email", [*ALIKE, *FOLDED])
def test_a_character_that_only_looks_like_another_is_named(email: str) -> None:
    assert ALIKE.get(email, "U+") in why_not_address(email)


@pytest.mark.parametrize(
    "email", ["", "nobody", "@example.org", "a@", "a@b@example.org", "a@.org", "a@-b.org",
              "a@example.org.", "a@exa_mple.org", "x" * 250 + "@e.org"]
)  # fmt: skip
def test_what_has_not_the_form_of_an_address_is_none(email: str) -> None:
    assert why_not_address(email)


@pytest.mark.parametrize(
    "email", ["Alice@Example.org", "a+b.c_d-e@x.org", "=cmd@example.org", "a@localhost",
              "o'neil@sub.xn--bcher-kva.example", "a@10.0.0.1"]
)  # fmt: skip
def test_an_address_is_left_as_it_is(email: str) -> None:
    assert why_not_address(email) == ""


def test_a_domain_is_held_to_the_same() -> None:
    assert why_not_domain("Example.org") == ""
    assert "U+0430 CYRILLIC SMALL LETTER A" in why_not_domain("ex\u0430mple.org")
    assert why_not_domain("@example.org")
    assert why_not_domain("*.example.org")
