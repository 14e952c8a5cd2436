"""The target of picked criteria, a new or existing rubric; and one criterion shown in full."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Criterion, Option
from core.errors import InputError
from core.services.rubrics import criterion_packs, library, prompt_preview
from core.services.rubrics.criterion_packs import Entry, Pack
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.text import numbers as fmt
from pages.ui import drafts, routes, state
from pages.ui.asking_words import SCALE_NAMES
from pages.ui.resources import store
from pages.ui.state import NEW
from pages.ui.text import draw_prose, draw_raw, esc, label, one_line
from pages.ui.widgets import draw_row, shown_errors, tag


def criterion_tags(criterion: Criterion) -> str:
    """Return the HTML of its weight, its effect and its kind of answer."""
    scored = sum(not option.na for option in criterion.options)
    caption = {
        "binary": SCALE_NAMES["binary"],
        "ordinal": f"{scored} levels",
        "nominal": f"{scored} categories",
    }[criterion.scale]
    penalty = tag("− Penalty", "bad") if criterion.weight < 0 else ""
    return f'<b class="rs-num">{fmt.weight(criterion.weight)}</b>{penalty}{tag(caption)}'


def show_entry(entry: Entry) -> None:
    """Draw the requirement, every option with its anchor, the example, the exact prompt."""
    criterion, example = entry.criterion, entry.example
    with st.container(border=True):
        st.html(f"<b>{esc(criterion.name)}</b>")
        draw_row([criterion_tags(criterion)])
        draw_prose(criterion.requirement)
        known_as = ", ".join(entry.known_as)
        st.html(f'<div class="rs-quiet">Elsewhere called: {esc(known_as)}</div>')
        st.html(
            "".join(
                _option_html(option, option.label == entry.option) for option in criterion.options
            )
        )
    with st.container(border=True, gap="xsmall"):
        st.html('<div class="rs-section">Worked example</div>')
        for caption, text in (
            ("Task", example.prompt),
            ("Reference", example.reference),
            ("Submission", example.output),
        ):
            if text:
                st.caption(caption)
                draw_prose(text)
        st.html(
            f'<div class="rs-row"><span class="rs-chip rs-chosen">✓ {esc(entry.option)}</span>'
            f"<span>{esc(entry.why)}</span></div>"
        )
    with st.expander("The exact prompt"):
        _show_prompt(entry)


def _option_html(option: Option, is_best: bool) -> str:
    value = "abstains" if option.na else f"value {fmt.score(option.value)}"
    chip = "rs-chip" + (" rs-na" if option.na else "") + (" rs-chosen" if is_best else "")
    tick = "✓ " if is_best else ""
    return (
        f'<div style="margin:.75rem 0 0"><span class="{chip}">{tick}{esc(option.label)} '
        f"<small>{value}</small></span>"
        f'<div class="rs-quiet" style="margin-top:.15rem">{esc(option.description)}</div></div>'
    )


def _show_prompt(entry: Entry) -> None:
    guidelines = next(p.guidelines for p in criterion_packs.all_packs() if p.name == entry.pack)
    _, prompt = prompt_preview.preview_prompt(
        entry.criterion, guidelines, entry.example, seed=0, shuffle=True
    )
    for segment in prompt.segments:
        st.caption(label(segment.role))
        draw_raw(segment.text, height=320)


# Keys of the Library page, next to those of `state` (used with `state.key`).

LIBRARY_VIEW = "library_view"
LIBRARY_SEARCH = "library_search"
LIBRARY_PACK = "library_pack"
LIBRARY_SCALE = "library_scale"
LIBRARY_PICK = "library_pick"
LIBRARY_LOOK = "library_look"
LIBRARY_TARGET = "library_target"
LIBRARY_ACT = "library_act"
LIBRARY_GUIDELINES = "library_guidelines"


def adding_bar(chosen_keys: list[str], shown_entry: Entry | None) -> None:
    """Draw the target and the button that adds the ticked criteria, or else the open one."""
    titles = _draft_titles()
    rubric_name = state.address(state.RUBRIC)
    state.seed(LIBRARY_TARGET, rubric_name if rubric_name in titles else NEW)
    if state.get(LIBRARY_TARGET) not in titles:
        state.put(LIBRARY_TARGET, NEW)
    with st.container(horizontal=True, vertical_alignment="center"):
        target = st.selectbox(
            "Put them into",
            list(titles),
            key=LIBRARY_TARGET,
            format_func=lambda name: one_line(titles[name], 60),
            label_visibility="collapsed",
            width=300,
        )
        caption = fmt.plural(len(chosen_keys), "criterion", "criteria")
        if not chosen_keys and shown_entry is not None:
            caption = f"“{shown_entry.criterion.name}”"
        pressed = st.button(
            label(f"Add {caption}", 60),
            key=state.key(LIBRARY_ACT, "add"),
            type="primary",
            icon=":material/add:",
            disabled=not chosen_keys and shown_entry is None,
            help=None if chosen_keys else "Or tick several criteria in the list.",
        )
        if chosen_keys:
            st.button(
                "Clear",
                key=state.key(LIBRARY_ACT, "clear"),
                type="tertiary",
                on_click=state.drop,
                args=(LIBRARY_PICK,),
            )
    chosen = chosen_keys or ([shown_entry.key] if shown_entry else [])
    coming = _missing_guidelines(
        criterion_packs.missing_guidelines(_draft_of_target(target), chosen)
    )
    if pressed and chosen:
        add_criteria(target, chosen, coming)


def _draft_of_target(target: str) -> RubricDraft:
    if target == NEW:
        return new_draft()
    saved = library.unsaved_work(store(), target)
    return saved.draft if saved else library.draft_of(store(), int(target))


def _missing_guidelines(missing: tuple[Pack, ...]) -> tuple[Pack, ...]:
    """Return the guidelines that the target lacks; the person may leave them out."""
    if not missing:
        return ()
    state.seed(LIBRARY_GUIDELINES, True)
    with st.container(horizontal=True, vertical_alignment="center"):
        wanted = st.toggle(
            label(f"Add the guidelines of {_pack_titles(missing)}", 200),
            key=LIBRARY_GUIDELINES,
            help="These guidelines are added below the existing ones. Judges read them before "
            "every criterion of the rubric, including your own criteria.",
        )
        with st.popover("What they say", icon=":material/visibility:"):
            for pack in missing:
                st.html(f'<div class="rs-section">{esc(pack.title)}</div>')
                draw_prose(pack.guidelines)
    return missing if wanted else ()


def _pack_titles(packs: tuple[Pack, ...]) -> str:
    *first, last = (f"“{pack.title}”" for pack in packs)
    return f"{', '.join(first)} and {last}" if first else last


def add_criteria(target: str, chosen_keys: list[str], guidelines: tuple[Pack, ...]) -> None:
    """Add the criteria, and the guidelines of these packs, to the target's draft; edit it."""
    with shown_errors():
        guided = bool(guidelines)
        has_guidelines = bool(_draft_of_target(target)["guidelines"].strip())
        if target == NEW:
            name = _new_draft(criterion_packs.draft_from_entries(chosen_keys, guided=guided))
        else:
            name = _grown_draft(target, chosen_keys, guided)
        added = drafts.draft(name)["criteria"][-len(chosen_keys)]
        drafts.set_open_card(name, added["uid"])
        state.drop(LIBRARY_PICK)
        state.drop(LIBRARY_TARGET)
        added_too = f", and the guidelines of {_pack_titles(guidelines)}" if guided else ""
        below = " below yours" if guided and has_guidelines else ""
        undo = "" if target == NEW or not guided else " Undo removes both."
        count = fmt.plural(len(chosen_keys), "criterion", "criteria")
        state.flash(f"Added {count}{added_too}{below}. Review them, then save.{undo}")
        routes.go_to(routes.RUBRICS, {state.RUBRIC: name})


def start_draft(draft: RubricDraft) -> None:
    """Store a new draft and open it in its editor."""
    with shown_errors():
        name = _new_draft(draft)
        routes.go_to(routes.RUBRICS, {state.RUBRIC: name})


def _new_draft(draft: RubricDraft) -> str:
    name = library.new_name()
    library.keep(store(), name, draft, **drafts.draft_owner())
    drafts.load_work(name)
    return name


def _grown_draft(name: str, chosen_keys: list[str], guided: bool) -> str:
    drafts.load_work(name)
    refused = drafts.refused_text(name)
    if refused is not None:
        raise InputError(
            "This rubric has YAML that is not applied yet. Fix it in the editor first.",
            refused.problems,
        )
    drafts.change_draft(
        name,
        criterion_packs.with_entries(drafts.draft(name), chosen_keys, guided=guided),
        redraw=True,
    )
    return name


def _draft_titles() -> dict[str, str]:
    """Return the names of drafts and rubrics, unsaved ones first, with their titles."""
    titles = {NEW: "Into a new rubric"}
    for draft_row in library.all_kept_drafts(store()):
        if draft_row.draft["rubric_id"] is None:
            titles[draft_row.name] = (
                f"Into {draft_row.draft['name'] or 'Untitled rubric'} (never saved)"
            )
    for rubric in library.rubric_rows(store()):
        titles[str(rubric.id)] = f"Into {rubric.name}"
    return titles
