"""One judge: its settings, each with an explanation."""

from __future__ import annotations

import streamlit as st

from core.domain.access import ListedProvider
from core.services.access import providers
from core.services.judges import connection, registry
from core.services.judges.registry import JudgeEntry
from pages.judges import checks, fields, try_out
from pages.judges.fields import (
    API_BASE,
    BUDGET,
    CONCURRENCY,
    DOORS,
    EXAMPLES,
    INSTRUCTIONS,
    JUDGE_ACT,
    KEY_ENV,
    LABELS,
    MAX_TOKENS,
    MODEL,
    NAME,
    OFFLINE,
    OFFLINE_NEEDS,
    PRICE_IN,
    PRICE_OUT,
    REPLICAS,
    REQUESTS,
    SHUFFLE_SAYS,
    TEMPERATURE,
    THINKING,
    THINKING_SAYS,
    TIMEOUT,
    TOKENS,
    TRIES,
    WEIGHT,
    JudgeField,
)
from pages.ui import routes, state
from pages.ui.asking_words import DECIDES_SAYS, LOGPROBS_SAYS, TEMPLATES
from pages.ui.model_help import show_connection
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    draw_row,
    empty_state,
    page_header,
    problem_list,
    show_flash,
    tag,
)

KINDS = {
    "llm": "A language model",
    "check": "Checks",
    "classifier": "Text classifier",
    "neighbours": "Neighbours",
}


def show(reference: str) -> None:
    """Draw the screen of the judge with that id, or of a new one."""
    routes.draw_back_link(routes.JUDGES, "All judges")
    entry = fields.judge_entry(reference)
    if entry is None and reference != state.NEW:
        page_header("Judges")
        empty_state("No such judge", "It may have been archived or renamed.")
        return
    page_header(entry.name if entry else "New judge", own_words=entry is None)
    show_flash()
    fields.seed_fields(reference, entry)
    kind = _kind_choice(reference, entry)
    if kind == "check":
        _check_rules(reference, entry)
        return
    # In a form, typed text reaches this server only with Save: a key pasted by mistake does not
    # arrive with another click.
    with st.form(state.key(JUDGE_ACT, reference, "form"), border=False):
        if kind == "llm":
            _model_fields(reference)
        else:
            _offline_fields(reference, kind)
        _show_problems(reference)
        _act_buttons(reference, kind)
    if entry is not None and not entry.judge.offline:
        st.subheader("Connection", anchor=False)
        show_connection(entry.name, connection.is_running(store(), entry.name))


def _kind_choice(reference: str, entry: JudgeEntry | None) -> str:
    if entry is not None:
        return entry.judge.kind
    chosen = st.segmented_control(
        "Kind",
        list(KINDS),
        format_func=KINDS.__getitem__,
        key=fields.field_key(reference, "kind"),
        required=True,
    )
    return chosen or "llm"


def _offline_fields(reference: str, kind: str) -> None:
    _about_kind(kind, OFFLINE_NEEDS)
    _field_grid(reference, NAME, WEIGHT)


def _about_kind(kind: str, needs: str = "") -> None:
    name, does = OFFLINE[kind]
    st.html(
        f'<div class="rs-card"><b>{esc(name)}</b><div>{esc(does)}</div>'
        f"<div>{esc(needs)}</div></div>"
    )


def _check_rules(reference: str, entry: JudgeEntry | None) -> None:
    """Draw the rules: they change and are tried before saving, which a form does not allow."""
    _about_kind("check")
    _field_grid(reference, NAME, WEIGHT)
    checks.seed_rules(reference, entry)
    checks.show(reference)
    _show_problems(reference)
    st.button(
        "Save",
        key=state.key(JUDGE_ACT, reference, "save"),
        type="primary",
        icon=":material/save:",
        on_click=checks.on_save,
        args=(reference,),
    )
    try_out.show(reference)


def _model_fields(reference: str) -> None:
    _section_heading("Who is asked")
    _field_grid(reference, NAME, MODEL)
    with st.expander("Examples of model names"):
        lines = "".join(
            f'<li><code>{esc(model)}</code> <span class="rs-quiet">{esc(source)}</span></li>'
            for model, source in EXAMPLES
        )
        st.html(f'<ul class="rs-list">{lines}</ul>')
    listed = providers.usable_providers(store())
    if listed is None:
        _field_grid(reference, API_BASE, KEY_ENV)
        _input_field(reference, REPLICAS)
        _key_help(reference)
    else:
        _provider_choice(reference, listed)
    st.radio(
        "Connection",
        list(DOORS),
        format_func=lambda door: DOORS[door][0],
        captions=[caption for _, caption in DOORS.values()],
        key=fields.field_key(reference, "door"),
        persist_state="page",
        index=list(DOORS).index(fields.current_value(reference, "door")),
        horizontal=True,
    )
    _section_heading("How the judge is asked")
    left, right = st.columns(2)
    with left:
        _input_field(reference, TEMPERATURE)
    with right:
        _thinking_fields(reference)
    with left:
        _input_field(reference, MAX_TOKENS)
    with right:
        _input_field(reference, BUDGET)
    _switch_field(reference, "shuffle", SHUFFLE_SAYS)
    _switch_field(reference, "logprobs", LOGPROBS_SAYS)
    _switch_field(reference, "decides", DECIDES_SAYS)
    st.selectbox(
        LABELS["template"],
        list(TEMPLATES),
        format_func=TEMPLATES.__getitem__,
        key=fields.field_key(reference, "template"),
        persist_state="page",
        index=list(TEMPLATES).index(fields.current_value(reference, "template")),
        help="Only for judges that answer in one word.",
        width=320,
    )
    _input_field(reference, INSTRUCTIONS)
    _section_heading("When calls go wrong, and how many at once")
    _field_grid(reference, TIMEOUT, TRIES)
    _field_grid(reference, CONCURRENCY, REQUESTS, TOKENS)
    _section_heading("Price and weight")
    _field_grid(reference, PRICE_IN, PRICE_OUT, WEIGHT)


def _provider_choice(reference: str, listed: list[ListedProvider]) -> None:
    """On a team's server, draw the choice of a provider that its admin listed, with its own key."""
    names = [provider.name for provider in listed]
    held = fields.current_value(reference, "provider")
    st.selectbox(
        "Provider",
        names,
        index=names.index(held) if held in names else None,
        key=fields.field_key(reference, "provider"),
        placeholder="Choose a provider" if names else "No provider is listed",
        persist_state="page",
    )
    st.caption("Each address gets only its own key; the server's configuration lists both.")


def _switch_field(reference: str, name: str, caption: str) -> None:
    with st.container(gap="xxsmall"):
        st.toggle(
            LABELS[name],
            key=fields.field_key(reference, name),
            value=fields.current_value(reference, name),
            persist_state="page",
        )
        st.caption(caption)


def _key_help(reference: str) -> None:
    named = str(state.get(fields.field_key(reference, "key_env")) or "").strip()
    names = [name for _, name in registry.KNOWN_KEYS]
    set_variables = [name for name, is_set in registry.env_status(names).items() if is_set]
    parts = [
        f"Set in this environment: {', '.join(set_variables)}."
        if set_variables
        else "None of the usual variables is set in this environment."
    ]
    parts.append(
        "If you leave this empty, litellm uses the provider's usual variable, and your own "
        "server gets no key."
    )
    tags = []
    if named:
        is_set = registry.env_status([named])[named]
        tags = [tag(f"✓ {named} is set", "good") if is_set else tag(f"✕ {named} is not set", "bad")]
    draw_row([*tags, f'<span class="rs-quiet">{esc(" ".join(parts))}</span>'])


def _thinking_fields(reference: str) -> None:
    with st.container(gap="xxsmall"):
        st.selectbox(
            "Thinking",
            list(THINKING),
            format_func=THINKING.__getitem__,
            key=fields.field_key(reference, "thinking"),
            persist_state="page",
            index=list(THINKING).index(fields.current_value(reference, "thinking")),
        )
        st.caption(THINKING_SAYS)


def _field_grid(reference: str, *fields: JudgeField) -> None:
    for column, judge_field in zip(st.columns(len(fields)), fields, strict=True):
        with column:
            _input_field(reference, judge_field)


def _input_field(reference: str, judge_field: JudgeField) -> None:
    with st.container(gap="xxsmall"):
        if judge_field.kind == "text":
            _text_field(judge_field, fields.field_key(reference, judge_field.name))
        elif judge_field.kind == "long":
            _long_text_field(judge_field, fields.field_key(reference, judge_field.name))
        else:
            _number_field(judge_field, fields.field_key(reference, judge_field.name))
        st.caption(judge_field.says)


def _text_field(judge_field: JudgeField, key: str) -> None:
    st.text_input(
        judge_field.label,
        value=state.get(key),
        key=key,
        persist_state="page",
        placeholder=judge_field.placeholder,
        autocomplete="off",
        max_chars=500,
    )


def _long_text_field(judge_field: JudgeField, key: str) -> None:
    st.text_area(
        judge_field.label,
        value=state.get(key),
        key=key,
        max_chars=20_000,
        height=100,
        persist_state="page",
    )


def _number_field(judge_field: JudgeField, key: str) -> None:
    if judge_field.kind == "whole":
        st.number_input(
            judge_field.label,
            value=state.get(key),
            min_value=None if judge_field.low is None else int(judge_field.low),
            max_value=None if judge_field.high is None else int(judge_field.high),
            step=int(judge_field.step or 1),
            key=key,
            persist_state="page",
        )
    else:
        st.number_input(
            judge_field.label,
            value=state.get(key),
            min_value=judge_field.low,
            max_value=judge_field.high,
            step=judge_field.step,
            format="%g",
            key=key,
            persist_state="page",
        )


def _section_heading(caption: str) -> None:
    st.html(f'<div class="rs-section">{esc(caption)}</div>')


def _show_problems(reference: str) -> None:
    refused = fields.save_problems(reference)
    if refused:
        st.error(label("This judge was not saved."), icon=":material/error:")
        problem_list(refused)


def _act_buttons(reference: str, kind: str) -> None:
    with st.container(horizontal=True):
        st.form_submit_button(
            "Save",
            key=state.key(JUDGE_ACT, reference, "save"),
            type="primary",
            icon=":material/save:",
            on_click=fields.on_save,
            args=(reference, kind, False),
        )
        if kind == "llm":
            st.form_submit_button(
                "Save and test connection",
                key=state.key(JUDGE_ACT, reference, "test"),
                icon=":material/cable:",
                on_click=fields.on_save,
                args=(reference, kind, True),
            )
