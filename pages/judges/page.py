"""Judges: the list (`?judge=ID`), panels of judges (`?panel=ID`), which keys are set."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.access import allow
from core.domain.library import PanelRow
from core.domain.panel import Judge
from core.services.access import providers
from core.services.guided import judging
from core.services.judges import connection, registry
from core.services.judges.registry import JudgeEntry
from core.text import numbers as fmt
from pages.judges import judge, panel
from pages.judges.fields import JUDGES_ACT, JUDGES_ARCHIVED, JUDGES_VIEW, OFFLINE
from pages.judges.panel import PANEL_ACT
from pages.ui import state
from pages.ui.asking_words import panel_line, rule_label
from pages.ui.model_help import last_test_tag, show_connection
from pages.ui.resources import actor, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    choose_one,
    draw_row,
    empty_state,
    page_header,
    quiet_html,
    show_flash,
    shown_errors,
    tag,
)

VIEWS = {"judges": "Judges", "panels": "Panels", "keys": "Keys"}
TEST, ARCHIVE, RESTORE, ALLOW = "Test connection", "Archive", "Restore", "Allow"


def show() -> None:
    """Draw the whole overview, one view at a time."""
    registry.ensure_defaults(store())
    page_header(
        "Judges",
        (
            "The judges that can grade: models, rules that you write, and judges that learn "
            "from labels."
        ),
    )
    show_flash()
    views = VIEWS if _may_change_judges() else {name: VIEWS[name] for name in ("judges", "panels")}
    view = choose_one("Show", views, default="judges", key=JUDGES_VIEW, bind="query-params")
    {"judges": _judges_view, "panels": _panels_view, "keys": _keys_view}[view or "judges"]()


def _may_change_judges() -> bool:
    """Return whether the current user may change judges, and so may see which keys are set."""
    return actor().may("set judges")


def _judges_view() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "New judge",
            key=state.key(JUDGES_ACT, "new"),
            type="primary",
            icon=":material/add:",
            on_click=_open_screen,
            args=(state.JUDGE, state.NEW),
            disabled=not _may_change_judges(),
            help=None if _may_change_judges() else "An admin of this server sets up the judges.",
        )
        if _may_change_judges():
            _model_file()
        st.toggle("Archived", key=JUDGES_ARCHIVED)
    if state.get(JUDGES_ARCHIVED):
        _archived_judges()
        return
    testing = connection.tested_now(store())  # Read before the results, which may change meanwhile.
    entries = registry.list_judges(store())
    if not any(not e.judge.offline for e in entries):
        st.caption(
            "No language model yet. Add one to grade open-ended work; the judges below learn from "
            "labelled items and need no key."
        )
    for entry in entries:
        _judge_card(entry, entry.name in testing)
        if entry.name in testing:
            show_connection(entry.name, waiting=True)


def _model_file() -> None:
    """Draw the form that creates a judge from a model file."""
    with st.popover("Use a model file on this machine", icon=":material/memory:"):
        st.text_input(
            "Path of a GGUF file on this machine",
            key=state.key(JUDGES_ACT, "file"),
            placeholder="/models/small.gguf",
            max_chars=1000,
        )
        st.caption("Starts llama.cpp's server for it, tests it, and ends it with the app.")
        st.button(
            "Start and test",
            key=state.key(JUDGES_ACT, "start_file"),
            type="primary",
            on_click=_on_model_file,
        )


def _on_model_file() -> None:
    with shown_errors():
        path = state.get(state.key(JUDGES_ACT, "file")) or ""
        judging.add_model(store(), f"file:{path.strip()}", "", "")


def _judge_card(entry: JudgeEntry, testing: bool) -> None:
    offline = entry.judge.offline
    with _card_container():
        st.button(
            label(entry.name, 60),
            key=state.key(JUDGES_ACT, "open", entry.row.id),
            type="tertiary",
            icon=_judge_icon(entry.judge),
            on_click=_open_screen,
            args=(state.JUDGE, entry.row.id),
            disabled=not _may_change_judges(),
        )
        draw_row(
            [
                _model_words(entry),
                *_key_tags(entry),
                last_test_tag(entry, testing),
                _seat_words(entry),
            ]
        )
        if not _may_change_judges():
            return
        st.space("stretch")
        key = state.key(JUDGES_ACT, "menu", entry.row.id)
        st.menu_button(
            "Actions",
            [ARCHIVE]
            if offline
            else [*([ALLOW] if entry.secrets_not_allowed else []), TEST, ARCHIVE],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_judge_act,
            args=(entry.name, key),
        )


def _judge_icon(judge: Judge) -> str:
    if judge.kind == "check":
        return ":material/rule:"
    return ":material/school:" if judge.offline else ":material/neurology:"


def _model_words(entry: JudgeEntry) -> str:
    if entry.judge.kind == "check":
        criteria = fmt.plural(len(entry.judge.checks), "criterion", "criteria")
        return tag(f"checks on {criteria}")
    if entry.judge.offline:
        return tag(f"offline: {OFFLINE[entry.judge.kind][0].lower()}")
    address_words = f" at {entry.judge.api_base}" if entry.judge.api_base else ""
    more = len(entry.judge.replicas)
    others = f" and {fmt.plural(more, 'further address', 'further addresses')}" if more else ""
    return quiet_html(one_line(entry.judge.model + address_words, 70) + others)


def _key_tags(entry: JudgeEntry) -> list[str]:
    if not _may_change_judges():
        return []
    match entry.key:
        case _ if not_allowed := entry.secrets_not_allowed:
            advice = quiet_html("Allow this under Actions, if you trust the address with it.")
            return [*(tag(f"✕ {one_line(problem, 160)}", "bad") for problem in not_allowed), advice]
        case "set":
            return [tag(f"✓ {entry.key_env} is set", "good")]
        case "not set":
            return [tag(f"✕ {entry.key_env} is not set", "bad")]
        case "unknown":
            return [tag("key by the provider's own rules")]
        case "not needed":
            return [] if entry.judge.offline else [tag("no key sent")]


def _seat_words(entry: JudgeEntry) -> str:
    panels = fmt.plural(len(entry.panels), "panel")
    return quiet_html(f"on {panels}") if entry.panels else quiet_html("on no panel")


def _on_judge_act(name: str, key: str) -> None:
    with shown_errors():
        match state.get(key):
            case "Test connection":
                connection.begin(store(), registry.get_judge(store(), name).judge)
            case "Allow":
                registry.allow_judge(store(), name)
                state.flash("Allowed on this machine.")
            case "Archive":
                registry.archive_judge(store(), name)
                state.flash("Archived. Runs and panels keep their copies.")
            case _:
                pass


def _archived_judges() -> None:
    entries = registry.list_judges(store(), archived=True)
    if not entries:
        empty_state("Nothing archived", "Judges that you archive are listed here.")
    for entry in entries:
        with _card_container():
            st.html(f"<b>{esc(entry.name)}</b>")
            draw_row(
                [
                    _model_words(entry),
                    quiet_html(f"archived {fmt.time_ago(entry.row.archived or '')}"),
                ]
            )
            st.space("stretch")
            st.button(
                RESTORE,
                key=state.key(JUDGES_ACT, "restore", entry.row.id),
                on_click=_on_restore,
                args=(entry.row.id,),
            )


def _on_restore(judge_id: int) -> None:
    with shown_errors():
        registry.restore_judge(store(), judge_id)
        state.flash("Restored.")


def _panels_view() -> None:
    st.button(
        "New panel",
        key=state.key(JUDGES_ACT, "new_panel"),
        type="primary",
        icon=":material/add:",
        on_click=_open_screen,
        args=(state.PANEL, state.NEW),
    )
    panels = registry.list_panels(store())
    if not panels:
        empty_state(
            "No panels yet",
            "A panel is judges that grade together, and how their votes become one verdict.",
        )
    for panel_row in panels:
        _panel_card(panel_row)


def _panel_card(panel_row: PanelRow) -> None:
    with _card_container():
        st.button(
            label(panel_row.name, 60),
            key=state.key(PANEL_ACT, "open", panel_row.id),
            type="tertiary",
            icon=":material/groups:",
            on_click=_open_screen,
            args=(state.PANEL, panel_row.id),
        )
        rules = panel_row.panel.rules
        caption = ", ".join(map(rule_label, (rules.binary, rules.ordinal, rules.nominal))).lower()
        draw_row(
            [
                *(tag(one_line(judge.name, 40)) for judge in panel_row.panel.judges),
                quiet_html(f"settled by {caption}; {panel_line(panel_row.panel) or 'all at once'}"),
            ]
        )
        st.space("stretch")
        key = state.key(PANEL_ACT, "menu", panel_row.id)
        st.menu_button(
            "Actions",
            [ARCHIVE],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_panel,
            args=(panel_row.id,),
        )


def _on_panel(panel_id: int) -> None:
    with shown_errors():
        registry.archive_panel(store(), panel_id)
        state.flash("Archived. Runs keep their copies.")


def _keys_view() -> None:
    st.caption(
        "A key is read from the environment at the moment of a call. It is never stored, shown, "
        "logged or exported; here you see names only."
    )
    named = {e.key_env for e in registry.list_judges(store()) if e.key_env}
    listed = providers.usable_providers(store())
    providers_by_key = {name: provider for provider, name in registry.KNOWN_KEYS}
    if listed is not None:
        providers_by_key = {
            provider.key_env: provider.name for provider in listed if provider.key_env
        }
    status = registry.env_status([*providers_by_key, *sorted(named - providers_by_key.keys())])
    lines = "".join(
        f"<tr><td>{tag('✓ set', 'good') if is_set else tag('not set')}</td>"
        f'<td><code style="font-size:.86rem">{esc(name)}</code></td>'
        f'<td class="rs-quiet">{esc(providers_by_key.get(name, "named by a judge"))}</td></tr>'
        for name, is_set in sorted(status.items(), key=lambda pair: not pair[1])
    )
    st.html(
        '<table aria-label="Keys in the environment" style="border-spacing:.8rem .35rem;'
        f'border-collapse:separate"><tbody>{lines}</tbody></table>'
    )
    st.caption("To set a key, start the app like this:")
    st.code("export OPENAI_API_KEY=...\nrubric-studio app", language="bash")


def _open_screen(parameter: str, reference: object) -> None:
    state.set_address(**{parameter: reference})


def _card_container() -> Any:
    return st.container(border=True, horizontal=True, vertical_alignment="center")


_judge = state.address(state.JUDGE)
_panel = state.address(state.PANEL)
if _judge is not None or _panel is not None:
    allow(actor(), "set judges")
if _judge is not None:
    judge.show(_judge)
elif _panel is not None:
    panel.show(_panel)
else:
    show()
