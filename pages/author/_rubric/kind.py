"""What kind of question a criterion is: its scale, its weight, how its votes settle."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.rules import RULES, Scale
from core.services import draft_options as options
from core.services import numbers as fmt
from core.services.draft_types import CriterionDraft
from core.services.mentions import share_of, weight_of
from pages.author._rubric import work
from pages.ui import state
from pages.ui.rule_words import SCALE_NAMES
from pages.ui.text import esc
from pages.ui.widgets import row, shown_errors, tag

REWARD, PENALTY = "Reward", "Penalty"
#: No rule of the criterion's own.
PANELS = ""
RULE_WORDS: Mapping[str, str] = {
    PANELS: "the panel's rule",
    "majority": "majority of heads",
    "weighted": "majority of judges' weights",
    "unanimous": "unanimous",
    "any": "any judge is enough",
    "mean": "mean, then the nearest level",
    "median": "median, then the nearest level",
    "weighted_mean": "mean by judges' weights",
    "mode": "most votes",
    "min": "lowest level voted",
    "max": "highest level voted",
    "weighted_mode": "most votes by judges' weights",
}


def show_kind(name: str, criterion: CriterionDraft) -> None:
    """Which answers, for or against, and how much it weighs."""
    uid = criterion["uid"]
    weight = criterion["weight"] or 0.0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = work.field(name, uid, "scale")
        state.seed(key, criterion["scale"])
        st.segmented_control(
            "Answer",
            list(SCALE_NAMES),
            key=key,
            required=True,
            format_func=lambda scale: SCALE_NAMES[scale],
            on_change=_on_scale,
            args=(name, uid),
        )
        key = work.field(name, uid, "effect")
        state.seed(key, PENALTY if weight < 0 else REWARD)
        st.segmented_control(
            "Effect",
            [REWARD, PENALTY],
            key=key,
            required=True,
            on_change=_on_weight,
            args=(name, uid),
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        _weight(name, uid, weight)
        _share(name, uid, weight)
        if weight < 0:
            words = esc(_penalty_words(criterion, weight))
            row([tag("− Penalty", "bad"), f"<span>{words}</span>"], width="content")


def _weight(name: str, uid: str, weight: float) -> None:
    key = work.field(name, uid, "points")
    state.seed(key, abs(weight))
    st.number_input(
        "Weight",
        min_value=0.0,
        key=key,
        step=1.0,
        format="%.6g",
        width=120,
        on_change=_on_weight,
        args=(name, uid),
    )


def _share(name: str, uid: str, weight: float) -> None:
    """The weight as a share of all points, to be read or set."""
    others = _others(name, uid)
    share = share_of(weight, others)
    if share is None or not others:
        return
    st.number_input(
        "% of points",
        min_value=0.0,
        max_value=99.0,
        key=work.held(name, round(100 * share, 2), uid, "share"),
        step=1.0,
        format="%.4g",
        width=120,
        help="Sets the weight so that it is this share of all points that can be won.",
        on_change=_on_share,
        args=(name, uid),
    )


def _others(name: str, uid: str) -> float:
    criteria = work.draft(name)["criteria"]
    return sum(max(0.0, c["weight"] or 0.0) for c in criteria if c["uid"] != uid)


def _on_share(name: str, uid: str) -> None:
    with shown_errors():
        share = float(state.get(work.field(name, uid, "share")) or 0.0) / 100
        weight = weight_of(share, _others(name, uid))
        if weight is not None:
            work.set_value(name, "criterion", (uid,), "weight", weight)
            state.put(work.field(name, uid, "points"), weight)


def _penalty_words(criterion: CriterionDraft, weight: float) -> str:
    points = fmt.plural(1, "point") if abs(weight) == 1 else f"{fmt.number(abs(weight))} points"
    if criterion["scale"] == "binary":
        return f"MET is bad: it takes {points} away."
    return f"The higher the option's value, the worse: value 1 takes {points} away."


def _on_scale(name: str, uid: str) -> None:
    with shown_errors():
        scale = str(state.get(work.field(name, uid, "scale")))
        work.change(name, options.change_scale(work.draft(name), uid, scale))


def _on_weight(name: str, uid: str) -> None:
    with shown_errors():
        size = float(state.get(work.field(name, uid, "points")) or 0.0)
        penalises = state.get(work.field(name, uid, "effect")) == PENALTY
        work.set_value(name, "criterion", (uid,), "weight", -size if penalises and size else size)


def _on_rule(name: str, uid: str) -> None:
    with shown_errors():
        rule = state.get(work.field(name, uid, "aggregation")) or None
        work.set_value(name, "criterion", (uid,), "aggregation", rule)


def show_rules(name: str, criterion: CriterionDraft) -> None:
    """How votes settle, tags, and whether a choice is forced."""
    uid = criterion["uid"]
    scale: Scale = criterion["scale"]  # type: ignore[assignment]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = work.field(name, uid, "aggregation")
        state.seed(key, criterion["aggregation"] or PANELS)
        st.selectbox(
            "When judges disagree",
            [PANELS, *RULES[scale]],
            key=key,
            format_func=lambda rule: RULE_WORDS[rule],
            width=270,
            on_change=_on_rule,
            args=(name, uid),
        )
        key = work.field(name, uid, "tags")
        state.seed(key, list(criterion["tags"]))
        tags = {t: None for c in work.draft(name)["criteria"] for t in c["tags"]}
        st.multiselect(
            "Tags",
            list(tags),
            key=key,
            accept_new_options=True,
            placeholder="Type and press Enter",
            width=240,
            on_change=work.on_field,
            args=(name, "criterion", (uid,), "tags"),
        )
        key = work.field(name, uid, "forced_choice")
        state.seed(key, criterion["forced_choice"])
        st.toggle(
            "Forced choice",
            key=key,
            help='Takes away the added answer "Cannot assess".',
            disabled=any(o["na"] for o in criterion["options"]),
            on_change=work.on_field,
            args=(name, "criterion", (uid,), "forced_choice"),
        )
