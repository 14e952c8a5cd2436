"""Whether a judge can be reached: the last test of its connection, in words."""

from __future__ import annotations

import streamlit as st

from core.domain.votes import FailureKind
from core.services.judges import connection, registry
from core.services.judges.connection import ConnectionResult
from core.services.judges.registry import JudgeEntry
from core.text import numbers as fmt
from pages.ui.items import FAILURE_WORDS
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import row, shown_errors, tag

POLL_SECONDS = 0.5

WORDS = FAILURE_WORDS | {
    "auth": "key refused",
    "connection": "nobody reached",
    "server": "trouble at the other end",
    "timeout": "no answer in time",
    "refusal": "declined to answer",
    "internal": "a defect of the program",
}
MENDS: dict[FailureKind, str] = {
    "rate_limit": "Wait a little and test again. In a run such calls wait by themselves.",
    "timeout": "Check that the address is right and the server is up, or raise the timeout.",
    "connection": "Nobody answers there. Check the address, and that the server is running.",
    "server": "The provider has trouble of its own, or the address is not a chat endpoint. "
    "Test again later, or check the address.",
    "auth": "The key was refused. Check that the variable holds the right key for this provider.",
    "not_found": "Check the model's name as the provider spells it, and the address.",
    "bad_request": "The provider did not accept a setting. Try it without temperature, thinking "
    "and a token limit.",
    "context_length": "The model takes too little text for grading. Choose another.",
    "refusal": "The model declined a harmless question. Choose another model.",
    "content_filter": "A filter stopped a harmless question. Check the account's filter settings.",
    "empty": "It answered with nothing. Raise the most tokens in a reply, or lower thinking.",
    "malformed": "It answers, but not in the form asked for. Small models often cannot; choose a "
    "larger one, or raise the most tokens in a reply.",
    "too_large": "It sends far more than an answer. Check that the address is a chat endpoint.",
    "out_of_range": "It answers, but names options that do not exist. Choose a larger model.",
    "missing_key": "Set the variable before starting the app, then start it again.",
    "code": "The judge's own code failed. Mend it and test again.",
    "internal": "This looks like a defect of the program. The server's log says more.",
}


def last_test_tag(entry: JudgeEntry) -> str:
    """The HTML of a small tag on the last test."""
    result = entry.last_test
    if entry.judge.offline:
        return tag(f"{'needs labels' if entry.judge.learns else 'rules'}, no connection")
    if connection.is_running(store(), entry.name):
        return tag("testing …", "info")
    if result is None:
        return tag("not tested")
    when = fmt.ago(result.when)
    if not entry.test_holds:
        return tag(f"changed since its test {when}", "warn")
    if not result.ok:
        return tag(f"✕ {_error_kind(result)}, {when}", "bad")
    if not result.right:
        return tag(f"answered wrongly, {when}", "warn")
    return tag(f"✓ answered, {when}", "good")


def _error_kind(result: ConnectionResult) -> str:
    return WORDS.get(result.failure or "", result.failure or "")


def show_connection(name: str) -> None:
    """The last test's result; while one is under way, this looks again by itself."""
    waiting = connection.is_running(store(), name)
    st.fragment(_look, run_every=POLL_SECONDS if waiting else None)(name, waiting)


def _look(name: str, was_waiting: bool) -> None:
    with shown_errors():
        # In this order: a result is kept before its test counts as over.
        if connection.is_running(store(), name):
            row([tag("testing …", "info"), "Asking one small question, at most 20 seconds."])
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
        st.html(_card(entry.last_test, entry))


def _card(result: ConnectionResult, entry: JudgeEntry) -> str:
    head = _answered(result) if result.ok else _failed(result, entry)
    return f'<div class="rs-card">{head}<div class="rs-quiet rs-num">{_spent(result)}</div></div>'


def _answered(result: ConnectionResult) -> str:
    if result.right:
        verdict = tag("✓ It works", "good")
        words = "It was asked whether a text names the capital of France, and got it right."
    else:
        verdict = tag("It answers, but wrongly", "warn")
        words = (
            f"It answered {result.answer} where MET is right. "
            "A judge that misses this is too weak to grade with."
        )
    reason = f'<div class="rs-quote">{esc(result.reason)}</div>' if result.reason else ""
    return f"<div>{verdict}</div><div>{esc(words)}</div>{reason}"


def _failed(result: ConnectionResult, entry: JudgeEntry) -> str:
    mend = MENDS.get(result.failure, "") if result.failure else ""
    if result.failure == "auth" and entry.key == "not set":
        mend = f"{entry.key_env} is not set. {MENDS['missing_key']}"
    return (
        f"<div>{tag(f'✕ No answer: {_error_kind(result)}', 'bad')}</div>"
        f'<div class="rs-prose">{esc(result.message)}</div><div><b>{esc(mend)}</b></div>'
    )


def _spent(result: ConnectionResult) -> str:
    parts = [f"tested {fmt.ago(result.when)}"]
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
