from __future__ import annotations

from core.text.names import kept_if_short


def test_the_form_of_a_long_text_is_not_kept() -> None:
    formed = list[str]()

    @kept_if_short
    def form(text: str) -> str:
        formed.append(text)
        return text.upper()

    heading, attack = "Rater", "R" * 100_000
    assert [form(text) for text in (heading, heading)] == ["RATER"] * 2
    assert [form(text) for text in (attack, attack)] == [attack] * 2
    assert formed == [heading, attack, attack]
