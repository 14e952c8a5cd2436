"""The selection: run, reference, rater, criterion and items, all kept in the address."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from core.metrics.estimate import Confidence
from core.services.agreement import rating_sheet
from core.services.agreement.rating_sheet import Sheet, Slice, SliceChoices
from core.services.agreement.ratings import LABELS, PANEL, PEOPLE
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import remembered, shared_value
from pages.ui.text import label, one_line
from pages.ui.widgets import choose_one, chosen_confidence, interval_fields, level_words

# The keys of the Agreement page, beside those of `state` (used with `state.key`).

# URL parameters in addition to `run`.
REFERENCE = "reference"
RATER = "rater"
CELL = "cell"
CELLS = "cells"
FINDING = "finding"
ABOUT = "about"

# Families of session keys.
AGREEMENT_FIELD = "agreement_field"
AGREEMENT_CHART = "agreement_chart"


#: The available choices: the two raters that are compared; items and intervals.
PAIR, ITEMS = (RATER, REFERENCE), (state.TAG,)
WORDS = {
    LABELS: "Labels (gold)",
    PEOPLE: "The majority of people",
    PANEL: "The panel's verdicts",
}
SPLITS = {"calibration": "Calibration", "evaluation": "Evaluation"}


class RatedSelection(NamedTuple):
    """Which raters are compared, on which criterion, over which items.

    `whole` has all items of the run, `sheet` those of `part`. `about` changes whenever the figures
    of the sheet would, `run_about` whenever the ratings of the run would. `confidence` is the level
    and method of intervals.
    """

    run_id: int
    run_about: tuple[object, ...]
    about: tuple[object, ...]
    whole: Sheet
    sheet: Sheet
    part: Slice
    reference: str
    rater: str
    criterion: str
    confidence: Confidence

    @property
    def pair(self) -> tuple[object, ...]:
        """Return everything that figures of the pair depend on."""
        return (*self.about, self.reference, self.rater)


def chosen_ratings(
    run_id: int, cache_key: tuple[object, ...], whole: Sheet, asked: Collection[str]
) -> RatedSelection:
    """Return reference, rater, criterion and items from the URL; draw choices for those named in
    `asked`.

    Values in the address that do not fit are ignored.
    """
    reference = _valid_option(REFERENCE, whole.references)
    raters = whole.raters(reference)
    # A single judge cannot be compared if there are no labels and no people.
    rater = _valid_option(RATER, raters) if raters else ""
    names = [asked.name for asked in whole.criteria]
    criterion = _valid_option(state.CRITERION, names)
    options = remembered("agreement choices", cache_key, lambda: rating_sheet.slice_choices(whole))
    part, confidence = _chosen_part(options), chosen_confidence()
    pair = RATER in asked and raters
    if asked:
        text = _pair_words(rater, reference) if pair else "All items"
        parts = len(part.tags) + len(part.systems) + bool(part.split)
        text += f", {fmt.plural(parts, 'choice')}" if parts else ""
        with st.popover(f"{label(text)}, {level_words()}", icon=":material/filter_list:"):
            if pair:
                draw_select("Rater", RATER, raters, rater, rater_caption)
            if REFERENCE in asked and (raters or len(whole.references) > 1):
                draw_select(
                    "Against", REFERENCE, whole.references, reference, rater_caption, (RATER,)
                )
            _item_choices(options, part)
    sheet, these = whole, (*cache_key, part.tags, part.systems, part.split)
    if part:
        sheet = shared_value("agreement part", these, lambda: rating_sheet.sheet_slice(whole, part))
    chosen = (*cache_key, part.tags, part.systems, part.split, *confidence)
    sides_ = reference, rater, criterion
    return RatedSelection(run_id, cache_key, chosen, whole, sheet, part, *sides_, confidence)


def choose_criterion(chosen: RatedSelection) -> None:
    """Choose the criterion that a view shows."""
    names = [ratings.name for ratings in chosen.whole.criteria]
    draw_select(
        "Criterion", state.CRITERION, names, chosen.criterion, lambda name: one_line(name, 80)
    )


def _chosen_part(options: SliceChoices) -> Slice:
    """Return which items the address asks for."""
    return options.known(
        Slice(
            tags=state.addresses(state.TAG),
            systems=state.addresses(state.SYSTEM),
            split=state.address(state.SPLIT) or "",
        )
    )


def _item_choices(options: SliceChoices, part: Slice) -> None:
    """Draw the choice of items by system, tag and split, and the confidence of intervals."""
    _choice_of_several("Systems", state.SYSTEM, options.systems, part.systems)
    _choice_of_several("Tags", state.TAG, options.tags, part.tags)
    if options.splits:
        names = dict(options.splits)
        draw_select(
            "Split",
            state.SPLIT,
            ["", *names],
            part.split,
            lambda split: (
                f"{SPLITS.get(split, split)} ({fmt.count(names[split])})" if split else "All"
            ),
        )
    if options.tags or options.systems or options.splits:
        st.caption("An item must have one of the systems, one of the tags, and the split.")
    interval_fields()


def _choice_of_several(
    words: str, name: str, options: Sequence[tuple[str, int]], value: tuple[str, ...]
) -> None:
    if not options:
        return
    counts = dict(options)
    key = state.key(AGREEMENT_FIELD, name)
    state.put(key, list(value))
    st.multiselect(
        words,
        list(counts),
        key=key,
        format_func=lambda option: f"{one_line(option, 60)} ({fmt.count(counts[option])})",
        on_change=_on_choice,
        args=(name, key, ()),
    )


def rater_caption(column: str) -> str:
    """Return a rater's name in a list of choices."""
    return WORDS.get(column) or one_line(rating_sheet.name_of(column), 60)


def name_in_sentence(column: str) -> str:
    """Return a rater's name within a sentence."""
    text = rater_caption(column)
    return text[0].lower() + text[1:] if column in WORDS else text


def _pair_words(rater: str, reference: str) -> str:
    """Return the names of both raters, short enough for a button."""
    short = {LABELS: "labels", PEOPLE: "people", PANEL: "panel"}
    rater_name, against = (
        short.get(column) or rater_caption(column) for column in (rater, reference)
    )
    return f"{rater_name.capitalize() if rater in short else rater_name} against {against}"


def versus_words(chosen: RatedSelection) -> str:
    """Return the names of both raters as the beginning of a sentence."""
    return f"{rater_caption(chosen.rater)} against {name_in_sentence(chosen.reference)}"


def _valid_option(name: str, options: Sequence[str]) -> str:
    return state.address_in(name, options) or options[0]


def draw_select(
    title: str,
    name: str,
    options: Sequence[str],
    value: str,
    format_func: Callable[[str], str],
    drops: tuple[str, ...] = (),
) -> None:
    """Draw a select that writes its choice into the address as `name` and removes `drops`."""
    key = state.key(AGREEMENT_FIELD, name)
    state.put(key, value)
    st.selectbox(
        title,
        list(options),
        key=key,
        # The title is inside the field, because a title above it would take a line of the screen.
        format_func=lambda option: f"{title}: {format_func(option)}",
        label_visibility="collapsed",
        width=200,
        on_change=_on_choice,
        args=(name, key, drops),
    )


def draw_switch(title: str, name: str, options: Mapping[str, str], value: str = "") -> str:
    """Draw a row of choices, kept in the address as `name`; return the chosen one."""
    value = value or state.address_in(name, options) or next(iter(options))
    key = state.key(AGREEMENT_FIELD, name, title)
    state.put(key, value)
    choose_one(title, options, key=key, on_change=_on_switch, args=(name, key))
    return value


def _on_switch(name: str, key: str) -> None:
    state.set_address(**{name: state.get(key)})


def _on_choice(name: str, key: str, drops: tuple[str, ...]) -> None:
    dropped = dict.fromkeys((*drops, CELL, state.PAGE, FINDING))
    state.set_address(**{**dropped, name: state.get(key) or None})


def chosen_judge(title: str, names: Iterable[str]) -> str:
    """Return the judge whose ``title`` is shown; draw a choice if there are several."""
    judges = list(dict.fromkeys(names))
    if len(judges) == 1:
        return judges[0]
    chosen: str = st.selectbox(
        "Judge",
        judges,
        key=state.key(AGREEMENT_FIELD, title, "judge"),
        format_func=lambda name: one_line(name, 60),
    )
    return chosen
