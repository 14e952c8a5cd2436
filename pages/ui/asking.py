"""The fields for how judges are asked, shared by panels, runs and spot checks.

The caller says under which keys the values stand (`Keys`), so that they come and go with its
form. `fields` draws, `read` gives what stands in the fields, also from a callback.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import streamlit as st

from core.domain.base import build
from core.domain.panel import Asking
from pages.ui import asking_words as words
from pages.ui import state

NAMES = tuple(Asking.model_fields)
MOST_EXAMPLES = 20


class Keys(NamedTuple):
    """Where the values stand, and what each widget does: `of` gives a name its key.

    `lasting` keeps values while their widgets are not drawn; `changed` is called after a change.
    """

    of: Callable[[str], str]
    lasting: bool = False
    changed: Callable[[], None] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that every widget takes."""
        lasting: dict[str, Literal["session"]] = {"persist_state": "session"}
        return {**(lasting if self.lasting else {}), "on_change": self.changed}


def read(keys: Keys, start: Asking) -> Asking:
    """What stands in the fields; where one was never drawn, what `start` has."""
    values = {name: state.get(keys.of(name), getattr(start, name)) for name in NAMES}
    values["few_shot"] = values["few_shot"] or 0
    return build(Asking, values, "asking")


def fields(keys: Keys, start: Asking, examples_from: str = words.EXAMPLES_FROM) -> Asking:
    """Draw every field with its sentence; returns what stands in them.

    `examples_from` says where few-shot examples come from.
    """
    for name in NAMES:
        state.seed(keys.of(name), getattr(start, name))
    _choice(keys, "mode", "Each question", words.MODES)
    _few_shot(keys, examples_from)
    _choice(keys, "flip", "Reversed order", words.FLIPS)
    _toggle(keys, "balanced", "Balance the orders of options", words.BALANCED_SAYS)
    with st.container(gap="xxsmall"):
        st.selectbox(
            "First in the prompt",
            list(words.LAYOUTS),
            format_func=words.LAYOUTS.__getitem__,
            key=keys.of("layout"),
            width=280,
            **keys.options,
        )
        st.caption(words.LAYOUT_SAYS)
    _toggle(keys, "cache", "Use kept answers again", words.CACHE_SAYS)
    return read(keys, start)


def _choice(keys: Keys, name: str, head: str, choices: dict[str, tuple[str, str]]) -> None:
    st.radio(
        head,
        list(choices),
        format_func=lambda one: choices[one][0],
        captions=[says for _, says in choices.values()],
        key=keys.of(name),
        **keys.options,
    )


def _few_shot(keys: Keys, examples_from: str) -> None:
    with st.container(gap="xxsmall"):
        st.number_input(
            "Examples for every criterion (few-shot)",
            0,
            MOST_EXAMPLES,
            step=1,
            key=keys.of("few_shot"),
            width=280,
            **keys.options,
        )
        st.caption(words.FEW_SHOT_SAYS)
        if state.get(keys.of("few_shot")):
            st.caption(examples_from)
            _toggle(keys, "few_shot_reasons", "With the reasons of labels", words.REASONS_SAYS)


def _toggle(keys: Keys, name: str, head: str, says: str) -> None:
    with st.container(gap="xxsmall"):
        st.toggle(head, key=keys.of(name), **keys.options)
        st.caption(says)
