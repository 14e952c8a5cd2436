"""Model calls on screen: the common parts of every help task, and connection tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.panel import Judge, Panel
from core.domain.runs import HelpStep, HelpTask
from core.domain.votes import FailureKind
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost
from core.services.judges import connection, registry
from core.services.judges.connection import ConnectionResult
from core.services.judges.registry import JudgeEntry
from core.services.runs.cost_estimate import CostEstimate
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.items import FAILURE_WORDS
from pages.ui.resources import store
from pages.ui.text import draw_raw, esc, label, one_line
from pages.ui.widgets import Tone, draw_row, shown_errors, tag

# Keys of a model's help, next to those of `state` (used with `state.key`).

# Families of session keys.
HELP_VIEW = "help_view"
HELP_FIELD = "help_field"
HELP_ACT = "help_act"


POLL_SECONDS = 1.0
STATUS: dict[str, tuple[str, Tone]] = {
    "queued": ("Waiting", "info"),
    "running": ("Working", "info"),
    "done": ("✓ Done", "good"),
    "cancelled": ("Cancelled", "warn"),
    "interrupted": ("Interrupted", "warn"),
    "budget": ("Budget spent", "warn"),
    "failed": ("Not finished", "bad"),
}


def model_ready() -> bool:
    """Return whether a model can be called; otherwise show what is missing, with a link to it."""
    lack = help_tasks.why_no_model(store())
    if lack:
        st.info(label(lack), icon=":material/key_off:")
        routes.draw_link(routes.JUDGES, "Set up a model on the Judges page")
    return not lack


def chosen_writer(*ids: str) -> Judge:
    """Return the chosen model that writes; call it after `model_ready`."""
    entries = {entry.name: entry for entry in help_tasks.writing_models(store())}
    usable = [name for name, entry in entries.items() if entry.key != "not set"]
    name: str = st.selectbox(
        "Model that writes",
        usable,
        key=state.key(HELP_FIELD, *ids, "writer"),
        format_func=lambda value: one_line(f"{value} ({entries[value].judge.model})", 80),
        persist_state="session",
    )
    return entries[name].judge


def chosen_panel(words: str, *ids: str) -> Panel | None:
    """Return the chosen panel of models or single model; `None` if there is neither."""
    panels: dict[str, Panel] = {
        f"Panel {saved.name}": saved.panel
        for saved in registry.list_panels(store())
        if all(judge.kind == "llm" for judge in saved.panel.judges)
    }
    for entry in help_tasks.writing_models(store()):
        if entry.key != "not set":
            panels[f"{entry.name} alone"] = Panel(name=entry.name, judges=(entry.judge,))
    if not panels:
        return None
    chosen: str = st.selectbox(
        words,
        list(panels),
        key=state.key(HELP_FIELD, *ids, "panel"),
        format_func=lambda value: one_line(value, 80),
        persist_state="session",
    )
    return panels[chosen]


def chosen_budget(*ids: str) -> float | None:
    """Return the most to spend in US dollars; `None` for no limit."""
    amount: float | None = st.number_input(
        "Budget in US dollars (optional)",
        min_value=0.0,
        value=None,
        step=0.1,
        format="%.4g",
        key=state.key(HELP_FIELD, *ids, "budget"),
        placeholder="No limit",
        persist_state="session",
    )
    return amount or None


def cost_line(estimate: TaskCost | CostEstimate) -> None:
    """Draw one line on the expected cost."""
    cost = "price unknown" if estimate.cost is None else f"about {fmt.cost(estimate.cost)}"
    tokens = fmt.tokens(estimate.tokens_in + estimate.tokens_out)
    st.caption(label(f"{fmt.plural(estimate.calls, 'call')}, {tokens}, {cost} (estimated)"))


def show_progress(task: HelpTask, *, more_cost: float = 0.0) -> None:
    """Draw a task's progress, live; the page is drawn again when it ends."""
    st.fragment(_live_task, run_every=POLL_SECONDS if task.active else None)(
        task.id, task.active, more_cost
    )


def _live_task(task_id: int, was_active: bool, more_cost: float) -> None:
    with shown_errors():
        task = help_tasks.look(store(), task_id)
        if task.active != was_active:
            st.rerun()
        _draw_task(task, more_cost)


def _spent_words(task: HelpTask, more_cost: float) -> str:
    if task.cost_unknown == task.calls and not more_cost:
        return "cost unknown"
    unknown = " and calls of unknown price" if task.cost_unknown else ""
    return f"{fmt.cost(task.cost + more_cost)}{unknown}"


def _draw_task(task: HelpTask, more_cost: float) -> None:
    caption, tone = STATUS[task.status]
    ended = task.status == "done"
    steps = fmt.plural(task.planned, "step")
    facts = [fmt.plural(task.done, "step") if ended else f"{fmt.count(task.done)} of {steps}"]
    facts += [fmt.plural(task.calls, "call")] if task.calls else []
    facts += [_spent_words(task, more_cost)] if task.calls else []
    facts.append(fmt.time_ago(task.updated))
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_row(
            [tag(caption, tone), f'<span class="rs-quiet rs-num">{esc(" · ".join(facts))}</span>']
        )
        _task_button(task)
    if task.active:
        st.progress(min(1.0, task.done / max(1, task.planned)))
    if task.message:
        st.warning(label(task.message, 600), icon=":material/info:")
    for reason in help_tasks.omitted_parts(store(), task.id):
        st.warning(
            label(f"Part of a reply could not be used. {reason}", 900), icon=":material/rule:"
        )
    _show_calls(task)


def _task_button(task: HelpTask) -> None:
    key = state.key(HELP_ACT, "task", task.id)
    if task.active:
        st.button(
            "Cancel",
            key=f"{key}/cancel",
            icon=":material/stop_circle:",
            disabled=task.cancel,
            help="Stops the calls. Finished parts are kept.",
            on_click=_on_task(help_tasks.cancel),
            args=(task.id,),
        )
    elif task.status not in ("done", "budget"):
        st.button(
            "Go on",
            key=f"{key}/resume",
            icon=":material/play_arrow:",
            help="Asks for the missing parts. Finished parts are not asked again.",
            on_click=_on_task(help_tasks.resume),
            args=(task.id,),
        )


def _on_task(action: Callable[..., object]) -> Callable[[int], None]:
    def act_on_task(task_id: int) -> None:
        with shown_errors():
            action(store(), task_id)

    return act_on_task


def _show_calls(task: HelpTask) -> None:
    """Draw every call: its request, its reply, its cost."""
    if task.active or not task.calls:
        return
    with st.expander("Requests and replies", icon=":material/receipt_long:"):
        steps = [
            step for step in help_tasks.steps_of_task(store(), task.id) if step.call is not None
        ]
        chosen = st.selectbox(
            "Call",
            range(len(steps)),
            format_func=lambda at: one_line(_step_words(steps, at), 90),
            key=state.key(HELP_ACT, "call", task.id),
            label_visibility="collapsed",
        )
        call = steps[chosen].call or {}
        if steps[chosen].message:
            st.caption(label(steps[chosen].message, 400))
        draw_raw("\n\n".join(str(part["text"]) for part in call["prompt"]), height=240)
        draw_raw(str(call["reply"]), height=160)


def _step_words(steps: Sequence[HelpStep], index: int) -> str:
    step = steps[index]
    result = "answered" if step.failure is None else FAILURE_WORDS.get(step.failure, step.failure)
    cost = "price unknown" if step.cost is None else fmt.cost(step.cost)
    return f"{index + 1}. {step.name}: {result}, {cost}"


# Whether a model can be reached: the last test of its connection, in words.

TEST_SECONDS = 0.5

MENDS: dict[FailureKind, str] = {
    "rate_limit": "Wait a little and test again. In a run, such calls wait automatically.",
    "timeout": "Check that the address is right and the server is up, or raise the timeout.",
    "connection": "No server answers at this address. Check the address, and that the server is "
    "running.",
    "server": "The provider has an internal error, or the address is not a chat endpoint. "
    "Test again later, or check the address.",
    "auth": "The key was refused. Check that the variable holds the right key for this provider.",
    "not_found": "Check the model's name as the provider spells it, and the address.",
    "bad_request": "The provider did not accept a setting. Test without temperature, thinking "
    "and a token limit.",
    "context_length": "The model's context is too short for grading. Choose another model.",
    "refusal": "The model declined a harmless question. Choose another model.",
    "content_filter": "A filter stopped a harmless question. Check the account's filter settings.",
    "empty": "The model's reply was empty. Raise the token limit of a reply, or lower thinking.",
    "malformed": "The model answers in another format than requested. Small models often do; "
    "choose a larger model, or raise the token limit of a reply.",
    "too_large": "The address sends far more than an answer. Check that the address is a chat "
    "endpoint.",
    "out_of_range": "The model answers with options that do not exist. Choose a larger model.",
    "missing_key": "Set the variable, then restart the app.",
    "code": "The judge's own code failed. Fix it and test again.",
    "internal": "This looks like a defect of the program. The server's log has details.",
}


def last_test_tag(entry: JudgeEntry, testing: bool) -> str:
    """Return the HTML tag of the last test; ``testing``: a test was running when the result was
    read.
    """
    result = entry.last_test
    if entry.judge.offline:
        return tag(f"{'needs labels' if entry.judge.learns else 'rules'}, no connection")
    if testing:
        return tag("testing …", "info")
    if result is None:
        return tag("not tested")
    time = fmt.time_ago(result.when)
    if not entry.test_holds:
        return tag(f"changed since the test {time}", "warn")
    if not result.ok:
        return tag(f"✕ {_error_kind(result)}, {time}", "bad")
    if not result.right:
        return tag(f"answered wrongly, {time}", "warn")
    return tag(f"✓ answered, {time}", "good")


def _error_kind(result: ConnectionResult) -> str:
    return FAILURE_WORDS.get(result.failure or "", result.failure or "")


def show_connection(name: str, waiting: bool) -> None:
    """Draw the last test's result; ``waiting``: check again until the pending test is done.

    Then the whole page is drawn again.
    """
    st.fragment(_show_tested, run_every=TEST_SECONDS if waiting else None)(name, waiting)


def _show_tested(name: str, was_waiting: bool) -> None:
    with shown_errors():
        # The order matters: a result is stored before its test counts as finished.
        if progress := connection.test_progress(store(), name):
            draw_row([tag(f"… {progress}", "info"), "Asking a small question."])
            return
        if was_waiting:
            st.rerun()
        entry = registry.get_judge(store(), name)
        if entry.last_test is None:
            st.caption(
                "Not tested yet. A test asks one small real question and costs a fraction of a "
                "cent."
            )
            return
        if not entry.test_holds:
            st.caption("The settings changed since this test.")
        st.html(_test_card(entry.last_test, entry))


def _test_card(result: ConnectionResult, entry: JudgeEntry) -> str:
    head = _answer_html(result) if result.ok else _failed_words(result, entry)
    return (
        f'<div class="rs-card">{head}<div class="rs-quiet rs-num">{_test_spent(result)}</div></div>'
    )


def _answer_html(result: ConnectionResult) -> str:
    if result.right:
        verdict = tag("✓ It works", "good")
        caption = "Asked whether a text names the capital of France, the judge answered correctly."
    else:
        verdict = tag("The judge answers, but wrongly", "warn")
        caption = (
            f"The judge answered {result.answer}, but MET is right. "
            "A judge that misses this is too weak to grade with."
        )
    reason = f'<div class="rs-quote">{esc(result.reason)}</div>' if result.reason else ""
    return f"<div>{verdict}</div><div>{esc(caption)}</div>{reason}"


def _failed_words(result: ConnectionResult, entry: JudgeEntry) -> str:
    advice = MENDS.get(result.failure, "") if result.failure else ""
    if result.failure == "auth" and entry.key == "not set":
        advice = f"{entry.key_env} is not set. {MENDS['missing_key']}"
    return (
        f"<div>{tag(f'✕ No answer: {_error_kind(result)}', 'bad')}</div>"
        f'<div class="rs-prose">{esc(result.message)}</div><div><b>{esc(advice)}</b></div>'
    )


def _test_spent(result: ConnectionResult) -> str:
    parts = [f"tested {fmt.time_ago(result.when)}"]
    if result.tries:
        total = None
        if result.tokens_in is not None and result.tokens_out is not None:
            total = result.tokens_in + result.tokens_out
        parts += [
            fmt.seconds(result.seconds),
            fmt.tokens(total),
            f"cost {fmt.cost(result.cost)}",
            fmt.plural(result.tries, "try", "tries"),
        ]
    if result.model:
        parts.append(f"answered by {result.model}")
    return esc(" · ".join(parts))
