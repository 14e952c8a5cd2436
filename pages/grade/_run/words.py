"""What is said of runs: their status, and what to do about failures."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.panel import Judge
from core.domain.runs import RunRow
from core.services import numbers as fmt
from core.services.registry import key_status
from pages.ui.text import one_line

IMPORTED_EMPTY = "They are empty where they came from, and count as no vote."
#: So many raters are named in a line; the rest are counted.
NAMED = 12
NOBODY = "The process that worked on this run is gone, and nobody works on it now."

_RETRY = "Retry the failures later."
_NEW_RUN = "Change the judge on the Judges page and start a new run: a run keeps its judges."
ADVICE = {
    "rate_limit": "The provider turned calls away because too many came at once. "
    "Retry the failures later, or use a judge with a lower concurrency.",
    "timeout": "No answer came within the judge's timeout. Retry the failures; if it happens "
    "often, raise the timeout and start a new run.",
    "connection": "The provider could not be reached. Check the network and the judge's address, "
    "then retry the failures.",
    "server": f"The provider had a fault of its own. {_RETRY}",
    "not_found": f"The provider does not know this model. {_NEW_RUN}",
    "bad_request": f"The provider did not accept the request. {_NEW_RUN}",
    "context_length": "The item is too long for this model. Use a model with a longer context.",
    "refusal": "The model declined to judge. Another judge may not; retrying seldom helps.",
    "content_filter": "The provider blocked the text. Another provider may not.",
    "empty": f"The model answered nothing. {_RETRY} With a token limit, raise it.",
    "malformed": "The answer could not be read as an option. Retry the failures; if it happens "
    "often, this model is not fit to be a judge.",
    "out_of_range": "The model chose an option that was not offered. Retry the failures.",
    "internal": "This is a defect in Rubric Studio. Retry the failures, and please report it.",
}


def advice(kind: str, judges: Sequence[Judge]) -> str:
    """What a person can do about a kind of failure; names the variables of missing keys."""
    if kind not in ("missing_key", "auth"):
        return ADVICE.get(kind, _RETRY)
    names = sorted({name for judge in judges if (name := key_status(judge)[0])})
    which = " and ".join(names) or "the provider's variable"
    if kind == "missing_key":
        return (
            f"Set {which} in the environment of the app, start it again, then retry the failures."
        )
    return f"The provider refused the key. Check {which}, then retry the failures."


def versions_line(row: RunRow) -> str:
    """What was graded with what, with the versions."""
    return (
        f"{one_line(row.rubric_name, 70)}, {row.version_words}, on "
        f"{one_line(row.dataset_name, 70)}, version {row.dataset_number}"
    )


def raters_line(row: RunRow) -> str:
    """Who judged, or rated elsewhere; many are counted."""
    names = [one_line(judge.name, 60) for judge in row.panel.judges]
    more = f" and {fmt.count(len(names) - NAMED)} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def votes_words(row: RunRow) -> str:
    """How many votes there are, of how many planned; an import has what it has."""
    if not row.panel.askable:
        return fmt.plural(row.votes, "vote")
    return f"{fmt.count(row.votes)} of {fmt.plural(row.planned, 'vote')}"


def cost_words(row: RunRow) -> str:
    """What a run cost; says where a part of it is unknown."""
    if not row.calls:
        return "no calls"
    if row.cost_unknown == row.calls:
        return "cost unknown"
    return f"{spent_words(row)} (some prices unknown)" if row.cost_unknown else spent_words(row)


def spent_words(row: RunRow) -> str:
    """What a run's calls cost, where a figure is called that: never $0.00 for what is unknown."""
    if row.cost_unknown == row.calls:
        return "unknown"
    return fmt.cost(row.cost) + (" and more" if row.cost_unknown else "")


def known_words(row: RunRow) -> str:
    """How many answers were kept from earlier runs, and what that saved where it is known."""
    saved = f", saved {fmt.cost(row.saved)}" if row.saved else ""
    return f"{fmt.plural(row.cached, 'answer')} from earlier runs{saved}"
