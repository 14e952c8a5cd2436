"""Rows of calls and of failures."""

from __future__ import annotations

from collections.abc import Iterator

from core.services.exports.judgement_rows import Graded, Row

FAILURE = (
    "item_id",
    "criterion",
    "judge",
    "replicate",
    "attempt",
    "kind",
    "message",
    "open",
    "created",
)
CALL = (
    *("call", "item_id", "judge", "model", "finish", "tokens_in", "tokens_cached", "tokens_out"),
    *("tokens_thinking", "cost_usd", "seconds", "tries", "cached", "first_cost_usd", "created"),
)


def failure_rows(data: Graded) -> Iterator[Row]:
    """Yield one row per failure, including resolved failures."""
    for item in data.items:
        for failure in data.store.votes.failures_of(data.run.id, item.id):
            yield {
                "item_id": item.id,
                "criterion": failure.cell.criterion,
                "judge": failure.cell.judge,
                "replicate": failure.cell.replicate,
                "attempt": failure.attempt,
                "kind": failure.kind,
                "message": failure.message,
                "open": failure.open,
                "created": failure.created,
            }


def call_rows(data: Graded) -> Iterator[Row]:
    """Yield one row per call with tokens and cost, but without prompts and replies."""
    seen = set[int]()
    for item in data.items:
        ids = [vote.call_id for vote in data.votes(item.id)]
        ids += [failure.call_id for failure in data.failures(item.id)]
        for call_id in ids:
            if call_id is None or call_id in seen:
                continue
            seen.add(call_id)
            call = data.store.votes.call(call_id)
            yield {
                "call": call.id,
                "item_id": item.id,
                "judge": call.judge,
                "model": call.model,
                "finish": call.finish,
                "tokens_in": call.tokens_in,
                "tokens_cached": call.tokens_cached,
                "tokens_out": call.tokens_out,
                "tokens_thinking": call.tokens_thinking,
                "cost_usd": call.cost,
                "seconds": call.seconds,
                "tries": call.tries,
                "cached": call.cached,
                "first_cost_usd": call.first_cost,
                "created": call.created,
            }
