"""Runs for the terminal: build requests from files; print estimates, progress and summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core import clock
from core.cli.common import read_stdin
from core.domain.base import build_model
from core.domain.panel import Asking, Judge, Panel
from core.domain.votes import BatchRow
from core.errors import InputError, Problem
from core.formats.datasets.labels import WORD
from core.formats.datasets.roles import roles_as_text
from core.formats.folder import only_rubric, parse_data, read_rubric_file
from core.formats.source.parsed import ColumnRole
from core.formats.votes.tools.known_tools import read_items, read_items_file
from core.judging.asking.call_costs import price_of
from core.judging.local import model_file
from core.services.datasets.catalog import dataset_version, rubric_version
from core.services.datasets.twins import twins_of
from core.services.judges.registry import OFFLINE_JUDGES
from core.services.runs.cost_estimate import BRIEF_SUITS, brief_suits, estimate_request
from core.services.runs.lifecycle import RunProgress, lost_calls_words, waiting_words
from core.services.runs.planning import RunRequest
from core.store.store import Store
from core.text.names import fold
from core.text.numbers import pace, percent, plural, seconds

#: Limits that apply to every judge; others apply only to models.
OF_ALL = ("concurrency", "timeout")
#: The path that stands for standard input, and its name in messages.
STDIN, PIPED = Path("-"), "standard input"


def request_from_files(
    store: Store,
    rubric: Path,
    dataset: Path,
    *,
    panel: Path | None,
    judges: Sequence[str],
    api_base: str,
    key_env: str,
    concurrency: int | None,
    asking: Mapping[str, Any],
    limits: Mapping[str, Any],
    changes: Sequence[str] = (),
    words: Sequence[str] = (),
    sheet: str | None = None,
    **options: Any,
) -> tuple[RunRequest, tuple[Problem, ...], tuple[ColumnRole, ...]]:
    """Return a request for a rubric file, a dataset file and judges, with the remarks of the files'
    readers and the roles of columns; saves both files' content.

    ``asking`` holds the given settings of ``Asking``, ``limits`` those of every judge; ``None``
    keeps the panel's. ``changes`` map columns of the dataset, as in
    ``submission=messages[-1].content``, ``words`` labels to options, as in ``tone:kind=MET``;
    ``sheet`` names the sheet of a workbook. Either file may be ``-`` (standard input).
    """
    if rubric == dataset == STDIN:
        raise InputError("Standard input can be read once: name a file for one of the two.")
    read_rubric = only_rubric(read_stdin(), PIPED) if rubric == STDIN else read_rubric_file(rubric)
    changes = [*changes, *(WORD + word for word in words)]
    read_dataset = (
        read_items(read_stdin(), PIPED, read_rubric.value, changes, sheet)
        if dataset == STDIN
        else read_items_file(dataset, read_rubric.value, changes, sheet)
    )
    read_panel = panel_from(panel, judges, api_base, key_env, concurrency, limits)
    panel_asked = _with_run_settings(read_panel, asking)
    request = RunRequest(
        rubric_version=rubric_version(store, read_rubric.value, str(rubric.name)),
        dataset_version=dataset_version(store, read_dataset.value, str(dataset.name)),
        panel=panel_asked,
        **options,
    )
    notices = (*read_rubric.notices, *read_dataset.notices)
    return request, notices, read_dataset.roles


def panel_from(
    panel: Path | None,
    judges: Sequence[str],
    api_base: str,
    key_env: str,
    concurrency: int | None,
    limits: Mapping[str, Any] | None = None,
) -> Panel:
    """Return the panel of a file, or of model names; ``offline`` stands for the offline judges.

    ``api_base`` is an address, or several of the same model, separated by spaces. ``limits`` are
    judge fields that apply to all: ``timeout``, and for models ``max_tokens`` and others.

    Raises:
        InputError: a limit for models, but no judge is a model.
    """
    if panel is not None and judges:
        raise InputError("Both --panel and --judge are given. Use one of them.")
    if panel is not None:
        panel_made = build_model(Panel, with_offline(parse_data(panel)), "panel", str(panel))
    elif judges:
        panel_made = Panel(
            name=", ".join(judges),
            judges=tuple(j for name in judges for j in _named_judges(name, api_base, key_env)),
        )
    else:
        raise InputError(
            "Nobody is named to judge. Use --judge MODEL, --judge offline, or --panel FILE."
        )
    fields = {"concurrency": concurrency, **(limits or {})}
    fields = {name: value for name, value in fields.items() if value not in (None, False)}
    of_models = [name for name in fields if name not in OF_ALL]
    if of_models and all(judge.kind != "llm" for judge in panel_made.judges):
        option = of_models[0].replace("_", "-")
        raise InputError(f"--{option} is for models, and none of the judges is one.")
    bounded = tuple(
        judge.model_copy(
            update={n: v for n, v in fields.items() if n in OF_ALL or judge.kind == "llm"}
        )
        for judge in panel_made.judges
    )
    return panel_made.model_copy(update={"judges": bounded})


def with_offline(data: Any) -> Any:
    """Return a panel's data with each judge of kind ``offline`` replaced by both offline judges.

    ``--judge offline`` means this. The other settings of such a judge apply to both; its name
    becomes the prefix of theirs.

    >>> [j["name"] for j in with_offline({"judges": [{"kind": "offline", "stage": 0}]})["judges"]]
    ['Text classifier', 'Nearest neighbours']
    """
    judges = data.get("judges") if isinstance(data, dict) else None
    if not isinstance(judges, list):
        return data
    replaced = list[Any]()
    for judge in judges:
        if not isinstance(judge, dict) or judge.get("kind") != "offline":
            replaced.append(judge)
            continue
        before = f"{judge['name']}: " if judge.get("name") else ""
        for offline in OFFLINE_JUDGES:
            replaced.append({**judge, "kind": offline.kind, "name": before + offline.name})
    return {**data, "judges": replaced}


def _with_run_settings(panel: Panel, settings: Mapping[str, Any]) -> Panel:
    set_values = {name: value for name, value in settings.items() if value is not None}
    asking = build_model(Asking, {**panel.asking.model_dump(), **set_values}, "way of asking")
    return panel.model_copy(update={"asking": asking})


def _named_judges(name: str, api_base: str, key_env: str) -> tuple[Judge, ...]:
    if fold(name) == "offline":
        return OFFLINE_JUDGES
    if name.startswith(model_file.PREFIX):
        return (model_file.judge_of_file(name.removeprefix(model_file.PREFIX)),)
    first, *replicas = api_base.split() or [""]
    data = {
        "name": name,
        "model": name,
        "api_base": first,
        "replicas": replicas,
        "key_env": key_env,
    }
    return (build_model(Judge, data, "judge"),)


def request_warnings(request: RunRequest) -> list[str]:
    """Return warnings about judges that no budget limits, and about wordings for small models."""
    texts = [f"{BRIEF_SUITS} Say --style brief."] if brief_suits(request.panel) else []
    if request.budget is None:
        return texts
    unpriced = [j.name for j in request.panel.judges if not j.offline and price_of(j) is None]
    return texts + [
        f"No price is known for {n}: --budget does not stop its calls." for n in unpriced
    ]


def estimate_figures(store: Store, request: RunRequest) -> dict[str, Any]:
    """Return the estimate as plain data."""
    expected = estimate_request(store, request)
    return {
        "items": expected.items,
        "calibration_items": expected.calibration,
        "twins": expected.twins.to_dict(),
        "twins_in_words": expected.twins.in_words(),
        "votes": expected.votes,
        "calls": expected.calls,
        "tokens_in": expected.tokens_in,
        "tokens_out": expected.tokens_out,
        "cost_usd": expected.cost,
        "batch": expected.batch,
        "cost_direct_usd": expected.direct,
        "judges": [
            {
                "name": j.name,
                "votes": j.votes,
                "calls": j.calls,
                "tokens_in": j.tokens_in,
                "tokens_out": j.tokens_out,
                "cost_usd": j.cost,
            }
            for j in expected.judges
        ],
    }


def twins_sentence(store: Store, run_id: int) -> str:
    """Return a sentence about items that share a text; empty if no judge learns."""
    return twins_of(store.runs.get(run_id).plan.calibration).in_words()


def progress_line(look: RunProgress) -> str:
    """Return a line about a run's progress."""
    row = look.row
    parts = [f"{look.settled}/{row.planned} votes ({percent(look.share)})"]
    if look.rate:
        parts.append(pace(look.rate))
    if look.seconds_left is not None and look.share < 1:
        parts.append(f"{seconds(look.seconds_left)} left")
    if waits := waiting_words(look):
        parts.append(waits)
    if row.failures_open:
        kinds = ", ".join(f"{kind.times} {kind.kind}" for kind in look.failures)
        parts.append(f"{row.failures_open} failed ({kinds})")
    if row.calls:
        parts.append("cost unknown" if row.cost_unknown else f"${row.cost:.4f}")
    if row.cached:
        parts.append(f"{row.cached} known already")
    parts += batches_as_text(look.batches)
    return f"run {row.id}: " + ", ".join(parts)


def batches_note(figures: dict[str, Any]) -> str:
    """Return a sentence about batches in progress whose run has no worker."""
    if not figures["batches_out"]:
        return ""
    count = plural(figures["batches_out"], "batch", "batches")
    return (
        f"{count} out; the provider is still working. `rubric-studio resume {figures['run']}` "
        f"takes the answers, `rubric-studio cancel {figures['run']}` stops it."
    )


def batches_as_text(batches: Sequence[BatchRow], *, looking: bool = True) -> list[str]:
    """Return lines about the progress of the provider's batches; empty if there are none.

    ``looking``: a process will check them.
    """
    out = [batch for batch in batches if batch.at_provider]
    if not out:
        return []
    answered = sum(batch.answered for batch in out)
    lines = sum(batch.lines for batch in out)
    next_check = min((batch.due for batch in out if batch.due is not None), default=None)
    then = (
        ""
        if next_check is None or not looking
        else f", next look in {max(0.0, next_check - clock.seconds_now()):.0f} s"
    )
    return [f"{plural(len(out), 'batch', 'batches')} out ({answered} of {lines} answered{then})"]


def estimate_as_text(figures: dict[str, Any]) -> str:
    """Return a run's expected effort as a line; a second line if items share a text."""
    cost, direct = figures["cost_usd"], figures["cost_direct_usd"]
    text = (
        f"{figures['items']} items, {figures['votes']} votes, {figures['calls']} calls, "
        f"about {figures['tokens_in']:,} tokens in and {figures['tokens_out']:,} out, "
        + ("cost unknown (no price is known for a model)" if cost is None else f"${cost:.4f}")
    )
    if figures["batch"]:
        text += " in batches" + ("" if direct is None else f" (${direct:.4f} asked directly)")
    if twins := figures["twins_in_words"]:
        text += f"\nnote: {twins}"
    if roles := figures["roles"]:
        text = f"{roles_as_text([ColumnRole(**role) for role in roles])}\n{text}"
    return text


def summary_as_text(figures: dict[str, Any]) -> str:
    """Return how a run ended, as a few lines."""
    cost = figures["cost_usd"]
    failed = ", ".join(f"{n} {kind}" for kind, n in figures["failures"].items())
    lines = [
        f"Run {figures['run']}: {_status(figures)}. {figures['votes']} of {figures['planned']} "
        f"votes ({figures['abstentions']} abstentions), "
        f"{figures['calls']} calls{_reused_text(figures)}, "
        f"{'cost unknown' if cost is None else f'${cost:.4f}'}, {figures['seconds']:.1f} s."
    ]
    if figures["lost_calls"]:
        lines.append(lost_calls_words(figures["lost_calls"]))
    if failed:
        lines.append(f"Failed: {failed}. `rubric-studio retry {figures['run']}` asks them again.")
        lines += [f"  {kind}: {reason}" for kind, reason in figures["reasons"].items() if reason]
    elif figures["status"] == "budget":
        lines.append(
            "Its budget is spent. Ask the same with a higher --budget and the --seed that "
            f"`rubric-studio show {figures['run']}` says: a new run pays only for what is left."
        )
    elif figures["status"] != "done":
        if sentence := batches_note(figures):
            lines.append(sentence)
        lines.append(f"`rubric-studio resume {figures['run']}` goes on with the rest.")
    lines.append(f"`rubric-studio show {figures['run']}` says more.")
    return "\n".join(lines)


def _status(figures: dict[str, Any]) -> str:
    finished = figures["status"] == "done"
    return "incomplete" if finished and not figures["complete"] else str(figures["status"])


def _reused_text(figures: dict[str, Any]) -> str:
    """Return how many answers earlier runs provided, and the saved cost if it is known."""
    if not figures["cached"]:
        return ""
    saved = figures["saved_usd"]
    return f" and {figures['cached']} answers from earlier runs" + (
        f" (saved ${saved:.4f})" if saved else ""
    )
