"""One-sentence explanations: settings of asking, rules of voting, and failures with their fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.panel import Asking, Cascade, Judge, JudgeKind, Panel
from core.domain.rubric import Scale
from core.services.judges.registry import key_status
from core.text import numbers as fmt

#: The description of each kind of judge that has no model.
WITHOUT_MODEL: Mapping[JudgeKind, str] = {
    "classifier": "learns from labels",
    "neighbours": "learns from labels",
    "check": "rules",
    "command": "a program",
    "function": "Python code",
}


def who_answers(judge: Judge) -> str:
    """Return the judge's model, or its kind if it has none.

    >>> who_answers(Judge(name="Ann", model="some-model"))
    'some-model'
    """
    return WITHOUT_MODEL.get(judge.kind, judge.model)


MODES = {
    "criterion": (
        "One criterion per call",
        "Each criterion has the judge's whole attention and no answer colours another. The usual "
        "choice.",
    ),
    "rubric": (
        "The whole rubric in one call",
        "Fewest calls: one per item. Answers can colour each other, and an unreadable "
        "reply loses them all.",
    ),
    "two_step": (
        "Assess first, then choose",
        "The judge assesses in words, then chooses the option. This can help on hard criteria, "
        "and doubles the calls.",
    ),
}
STYLES = {
    "full": (
        "Full",
        "All rules, with quotes and a reason in each answer. The usual choice.",
    ),
    "brief": (
        "Brief",
        "A fifth of the words and the option alone, without a reason. For small models on your "
        "own machine, which do not follow long rules well.",
    ),
}
LOGPROBS_SAYS = (
    "Keeps with every vote the probability that the model gave each option "
    "(log-probabilities). An ordinal rule can use their mean, and Agreement shows how "
    "far they can be trusted. Costs nothing. A provider without log-probabilities "
    "refuses the call, or its votes say that they are missing."
)

DECIDES_SAYS = (
    "For guard models, classifiers and small models. The judge answers Yes or No, or "
    "with an option's number, and the answer is read from the probabilities of its "
    "first token, if the server sends them. Such votes have no reasons, and are many "
    "times as fast."
)
TEMPLATES = {
    "plain": "Plain: Yes or No, or a number",
    "granite_guardian": "Granite Guardian",
    "shieldgemma": "ShieldGemma",
    "llama_guard": "Llama Guard",
    "prometheus": "Prometheus",
    "systemone": "Decision model (/v1/systemone)",
}
FLIPS = {
    "off": (
        "Off",
        "Options are shown in one order. Position bias is not measured.",
    ),
    "check": (
        "Check",
        "Asks again with the options reversed and records both: the difference shows how often "
        "the order decides. The first answer counts. This doubles the calls.",
    ),
    "require": (
        "Require both to agree",
        "Like Check, but if the two answers differ, the judge counts as abstaining. This is the "
        "most careful way, and doubles the calls.",
    ),
}
LAYOUTS = {
    "auto": "Whichever costs less",
    "item_first": "The item first",
    "criterion_first": "The criterion first",
}
LAYOUT_SAYS = (
    "Changes only the order of the parts of a prompt. Providers charge less when calls start "
    "with the same text. The order hardly changes verdicts."
)
FEW_SHOT_SAYS = (
    "Labelled examples shown with every question, balanced over the options. A few "
    "often bring a judge closer to your standard; each makes every prompt longer and "
    "more expensive. 0: none."
)
EXAMPLES_FROM = (
    "Examples come from labelled items: those in the dataset's calibration part, or else a "
    "share drawn by the seed. Those items are not graded, and an item is never its own example."
)
REASONS_SAYS = (
    "Examples include the labeller's reason, if there is one, so that models have more "
    "to learn from."
)
INSTRUCTIONS_SAYS = (
    "These instructions are added after the built-in text, for every model without "
    "instructions of its own. They cannot replace the built-in text. {rubric} and "
    "{criterion} are replaced by the names."
)
BALANCED_SAYS = (
    "Every order of the options comes up equally often over items and replicates, instead of being "
    "drawn by chance. Steadier on small runs; costs nothing."
)
CACHE_SAYS = (
    "An answer to exactly the same request, kept from an earlier run, is used again and costs "
    "nothing. The least recently used are deleted above a gigabyte (RUBRIC_STUDIO_CACHE). Turn "
    "the cache off to ask everything again."
)

GOES_ON = {
    "on_abstention": ("it abstains", "The stage's verdict is an abstention."),
    "on_split": ("it is split", "The stage's judges, or their replicates, do not all agree."),
    "on_failure": ("a call failed", "A vote of the stage is missing."),
    "near_gate": (
        "the cell is near a gate",
        "One option up or down would change what a gate of the rubric does.",
    ),
}
CONFIDENCE_SAYS = (
    "The stage's judges state a lower mean confidence. Offline judges state a confidence, "
    "fitted on labels; models usually do not."
)
CASCADE_SAYS = (
    "Cheap judges first: only cells that stay doubtful go on to the next stage, and "
    "the last stage that was asked decides. Saves most of the calls; confident "
    "mistakes of the first stage remain."
)
EARLY_STOP_SAYS = (
    "Judges of a stage are asked one after the other, until the outstanding votes can "
    "no longer change the verdict. The verdict stays the same, but there are fewer "
    "votes to measure agreement with, and a run takes longer."
)
SHADOW_SAYS = (
    "A shadow's votes are kept and measured but do not count: a way to try out a judge. A "
    "shadow costs as much as any other judge."
)


def asking_line(asking: Asking) -> str:
    """Return how models are asked, in one line.

    >>> asking_line(Asking())
    'one criterion per call'
    >>> asking_line(Asking(mode="rubric", few_shot=3, flip="check"))
    'the whole rubric in one call, 3 examples, order checked'
    """
    parts = [_lower_first(MODES[asking.mode][0])]
    if asking.few_shot:
        parts.append(fmt.plural(asking.few_shot, "example"))
    if asking.flip != "off":
        parts.append("order checked" if asking.flip == "check" else "both orders must agree")
    if asking.balanced:
        parts.append("orders balanced")
    if asking.layout != "auto":
        parts.append(_lower_first(LAYOUTS[asking.layout]))
    if not asking.cache:
        parts.append("nothing from the cache")
    return ", ".join(parts)


def seating_line(
    cascade: Cascade | None, early_stop: bool, stages: Mapping[str, int], shadows: int
) -> str:
    """Return stages, early stop and shadows in one line; empty if all judges answer and count."""
    parts = [fmt.plural(len(set(stages.values())), "stage")] if cascade else []
    parts += ["early stop"] if early_stop else []
    parts += [fmt.plural(shadows, "shadow judge")] if shadows else []
    return ", ".join(parts)


def panel_line(panel: Panel) -> str:
    """Return a panel's asking, stages and shadows in one line; without models only stages."""
    models = any(not judge.offline for judge in panel.judges)
    stages = {judge.name: judge.stage for judge in panel.judges}
    shadows = sum(judge.shadow for judge in panel.judges)
    seats = seating_line(panel.cascade, panel.early_stop, stages, shadows)
    return ", ".join(part for part in (asking_line(panel.asking) if models else "", seats) if part)


def goes_on_line(cascade: Cascade) -> str:
    """Return when a cell escalates to the next stage.

    >>> goes_on_line(Cascade(on_failure=False, below_confidence=0.7))
    'goes on when it abstains, it is split, or its confidence is below 0.70'
    """
    conditions = [caption for name, (caption, _) in GOES_ON.items() if getattr(cascade, name)]
    if cascade.below_confidence is not None:
        conditions.append(f"its confidence is below {fmt.score(cascade.below_confidence)}")
    if not conditions:
        return "never goes on"
    if len(conditions) == 1:
        return f"goes on when {conditions[0]}"
    return f"goes on when {', '.join(conditions[:-1])}, or {conditions[-1]}"


def stage_lines(
    cascade: Cascade, stages: Mapping[str, int], shadows: Sequence[str] | frozenset[str] = ()
) -> list[tuple[str, str]]:
    """Return every stage as (its judges, its next step), in order; ``stages`` is by judge.

    >>> stage_lines(Cascade(), {"a": 0, "b": 4})[1]
    ('Stage 2: b', 'decides')
    """
    numbers = sorted(set(stages.values()))
    lines = []
    for place, number in enumerate(numbers, start=1):
        names = [
            f"{name} (shadow)" if name in shadows else name
            for name, stage in stages.items()
            if stage == number
        ]
        next_step = goes_on_line(cascade) if place < len(numbers) else "decides"
        lines.append((f"Stage {place}: {', '.join(names)}", next_step))
    return lines


def _lower_first(caption: str) -> str:
    return caption[0].lower() + caption[1:]


SCALE_NAMES: Mapping[str, str] = {
    "binary": "Yes/no",
    "ordinal": "Levels",
    "nominal": "Categories",
}

RULE_WORDS: dict[Scale, dict[str, str]] = {
    "binary": {
        "majority": (
            "The answer of most judges. Each judge counts once, whatever its weight; a tie takes "
            "the worse answer."
        ),
        "weighted": "Like majority, but every judge counts with its weight.",
        "unanimous": "Met only if no judge says unmet. Strict: one doubt is enough.",
        "any": "Met as soon as one judge says so. Lenient: one yes is enough.",
    },
    "ordinal": {
        "mean": "The average level, moved to the nearest one that exists.",
        "median": "The level in the middle. One judge far off cannot move it.",
        "weighted_mean": "The average, every judge counting with its weight.",
        "mode": "The level that was chosen most often.",
        "min": "The lowest level any judge chose.",
        "max": "The highest level any judge chose.",
        "soft_mean": "Like mean, but a vote with a probability for each level counts as its "
        "expected level (G-Eval). Other votes count as the chosen level.",
    },
    "nominal": {
        "mode": "The category that was chosen most often.",
        "weighted_mode": "Like mode, but every judge counts with its weight.",
        "unanimous": "A category only if all agree; otherwise an abstention, where there is one.",
    },
}


def rule_label(rule: str) -> str:
    """Return a rule's name for display.

    >>> rule_label("weighted_mean")
    'Weighted mean'
    """
    return rule.replace("_", " ").capitalize()


_RETRY = "Retry the failures later."
_NEW_RUN = "Change the judge on the Judges page and start a new run: a run keeps its judges."
ADVICE = {
    "rate_limit": "The provider turned calls away because too many came at once. "
    "Retry the failures later, or use a judge with a lower concurrency.",
    "timeout": "No answer came within the judge's timeout. Retry the failures; if it happens "
    "often, raise the timeout and start a new run.",
    "connection": "The provider could not be reached. Check the network and the judge's address, "
    "then retry the failures.",
    "server": f"The provider had an internal error. {_RETRY}",
    "not_found": f"The provider does not know this model. {_NEW_RUN}",
    "bad_request": f"The provider did not accept the request. {_NEW_RUN}",
    "context_length": "The item is too long for this model. Use a model with a longer context.",
    "refusal": "The model declined to judge. Another judge may not; retrying seldom helps.",
    "content_filter": "The provider blocked the text. Another provider may not.",
    "empty": f"The model's reply was empty. {_RETRY} If a token limit is set, raise it.",
    "malformed": "The answer could not be read as an option. Retry the failures; if it happens "
    "often, this model is not fit to be a judge.",
    "out_of_range": "The model chose an option that was not offered. Retry the failures.",
    "code": "The judge's own code failed on this item. Fix it and grade again.",
    "expired": (
        "The provider did not process these questions in time. Retry the failures: only "
        "these are sent again."
    ),
    "internal": "This is a defect in Rubric Studio. Retry the failures, and please report it.",
}


def failure_advice(kind: str, judges: Sequence[Judge]) -> str:
    """Return how to fix a kind of failure, with the variables of missing keys."""
    if kind not in ("missing_key", "auth"):
        return ADVICE.get(kind, _RETRY)
    names = sorted({name for judge in judges if (name := key_status(judge)[0])})
    variables = " and ".join(names) or "the provider's variable"
    if kind == "missing_key":
        place = "in the environment of the app"
        return f"Set {variables} {place}, restart the app, then retry the failures."
    return f"The provider refused the key. Check {variables}, then retry the failures."
