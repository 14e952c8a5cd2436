"""Review: which cells reviewers get, by which rules, and their possible answers.

A cell is an (item, criterion) of a run. Its state is stored as events; everything here is either a
rule chosen by a user or a value passed around.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from core.domain.base import Noun, defect

Role = Literal["reviewer", "adjudicator", "lead"]
ROLES: tuple[Role, ...] = ("reviewer", "adjudicator", "lead")
Mode = Literal["blind", "until_commit", "assisted"]
Policy = Literal["unanimous", "majority", "adjudicator"]
Assignment = Literal["pool", "named", "round_robin"]
Order = Literal["impact", "change", "entropy", "margin", "spread", "random", "dataset"]
#: How the audit draws: all cells equally, equally many of each verdict, or doubtful ones more
#: often.
DrawKind = Literal["even", "strata", "doubt"]
CellState = Literal["needs_review", "needs_others", "disagreement", "resolved"]
#: ``review``: an independent verdict; ``resolve``: the verdict that ends a disagreement.
Part = Literal["review", "resolve"]
Provenance = Literal["human_single", "human_consensus", "adjudicated", "imported"]
SettledState = Literal["active", "stale", "retired"]
#: Why a cell is queued. ``failure``: a call failed, or the cell has no verdict. ``chosen``: a user
#: named it, or chose all cells. ``gold``: its label is known, so that reviewers can be compared
#: with it. ``regrade``: a regrade was requested from outside.
Reason = Literal[
    "failure",
    "split",
    "margin",
    "abstention",
    "near_gate",
    "near_mark",
    "flip",
    "stale",
    "chosen",
    "audit",
    "gold",
    "regrade",
]
#: How similar the answers of a group are: the same words, nearly the same, or related.
Closeness = Literal["same", "near", "related"]
#: Why a cell cannot be assessed.
Why = Literal[
    "missing_info",
    "ambiguous_criterion",
    "ambiguous_item",
    "out_of_expertise",
    "criterion_wrong",
    "split_criterion",
]
WHYS: dict[Why, str] = {
    "missing_info": "Something needed is missing",
    "ambiguous_criterion": "The criterion is ambiguous",
    "ambiguous_item": "The submission is ambiguous",
    "out_of_expertise": "I do not know enough about it",
    "criterion_wrong": "The criterion is wrong",
    "split_criterion": "The criterion asks two things",
}

Share = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, Field(max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class QueueRule(Noun):
    """Which cells of a run are queued. A cell is queued for every reason that applies.

    ``margin``: the top share of the votes minus the second is below this. ``near_mark``: the item's
    score is this close to a threshold of the rubric's decision, and this cell can move it across.
    ``None`` disables either. ``undecided``: cells without a verdict, also where all judges are
    switched off. ``everything`` takes all cells. ``items`` and ``criteria`` restrict all of these.
    ``audit_share``: the probability of each cell without another reason.
    ``gold_share``: the probability of each further cell with a label in the dataset. ``most``: the
    largest number of cells (``None``: no cap). Both shares are then shares of it, and the reasons
    fill the rest, from the start of the queue's order. ``requested``: cells with a regrade request,
    even if settled. ``draw``: which cells are more likely in the audit; ``audit_share`` is then the
    mean probability, and a cap is not allowed. ``drawn``: ``items`` are a random draw from those
    that lacked a label at this review event.
    """

    split: bool = True
    margin: Annotated[float | None, Field(gt=0, le=1)] = None
    abstention: bool = True
    failure: bool = True
    undecided: bool = False
    near_gate: bool = False
    near_mark: Annotated[float | None, Field(ge=0, le=1e100)] = None
    flip: bool = True
    stale: bool = True
    everything: bool = False
    items: tuple[str, ...] | None = None
    criteria: tuple[str, ...] | None = None
    audit_share: Share = 0.1
    gold_share: Share = 0.0
    most: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    requested: bool = False
    draw: DrawKind = "even"
    drawn: Annotated[int | None, Field(ge=0)] = None

    @classmethod
    def only(cls, **fields: Any) -> QueueRule:
        """Return a rule with only these reasons, and without an audit unless one is given.

        >>> QueueRule.only(split=True).failure, QueueRule.only(audit_share=0.5).only_draws
        (False, True)
        """
        none = dict.fromkeys(("split", "abstention", "failure", "flip", "stale"), False)
        return cls.model_validate({**none, "audit_share": 0.0, **fields})

    @model_validator(mode="after")
    def _without_limit(self) -> QueueRule:
        if self.draw != "even" and self.most is not None:
            raise defect(
                "gives cells other chances, which a cap would make unknown.",
                "Leave the cap off, or draw every cell alike.",
                "draw",
            )
        return self

    @property
    def only_draws(self) -> bool:
        """Return whether only random draws queue cells."""
        if self.drawn is not None:
            return True
        reasons = (self.split, self.abstention, self.failure, self.near_gate, self.flip, self.stale)
        rules = self.everything or self.undecided or self.requested or self.gold_share > 0
        return not (any(reasons) or rules or self.margin is not None or self.near_mark is not None)


class QueueSettings(Noun):
    """How reviewers work through a queue.

    ``mode``: ``blind`` never shows judges' votes; ``until_commit`` shows them after the reviewer
    commits a verdict; ``assisted`` shows them at once on a random ``assisted_share`` of the items
    (the others are as in ``until_commit``, to measure anchoring). ``reviewers`` independent people
    look at each item of a random ``overlap_share``, one person at each other item. ``policy``
    settles a cell with several reviewers: all agree, most agree, or an adjudicator always decides.
    ``assignees`` are names; with ``pool`` and no names anyone may review. ``repeat_share`` of a
    person's items come back later (``services.review.second_looks``). ``confirm_same``: a blind
    verdict equal to the panel's needs no second confirmation.
    """

    mode: Mode = "until_commit"
    assisted_share: Share = 0.2
    reviewers: Annotated[int, Field(ge=1, le=5)] = 1
    overlap_share: Share = 1.0
    policy: Policy = "unanimous"
    assignment: Assignment = "pool"
    assignees: tuple[Name, ...] = ()
    lease_seconds: Annotated[float, Field(ge=10, le=86_400)] = 600.0
    repeat_share: Share = 0.0
    confirm_same: bool = False

    @model_validator(mode="after")
    def _check(self) -> QueueSettings:
        if self.policy == "majority" and self.reviewers < 3:
            raise defect(
                "needs at least three reviewers.",
                "Raise reviewers, or ask for unanimity.",
                "policy",
            )
        if self.confirm_same and self.mode == "blind":
            raise defect(
                "would tell that the panel says the same, which a blind queue never does.",
                "Show votes after the verdict, or leave it off.",
                "confirm_same",
            )
        if self.assignment != "pool" and len(set(self.assignees)) < self.reviewers:
            raise defect(
                f"names too few people for {self.reviewers} reviewers per item.",
                "Name more people, or lower reviewers.",
                "assignees",
            )
        return self


class Span(NamedTuple):
    """A passage of the submission as evidence for a verdict: characters ``start`` to ``end``."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class ReviewerAnswer:
    """A reviewer's answer for a cell.

    ``option`` is an index into ``choices``; ``None`` means that the cell cannot be assessed, for
    the reason ``why``.
    """

    option: int | None
    why: Why | None = None
    note: str = ""
    evidence: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """A reviewer in a session (a browser tab)."""

    name: str
    role: Role
    session: str

    @property
    def resolves(self) -> bool:
        """Return whether this person may resolve disagreements."""
        return self.role != "reviewer"


@dataclass(frozen=True, slots=True)
class SettledCell:
    """How reviewers settled a cell. ``option`` is ``None`` if ``uncertain``: it cannot be assessed.

    ``label`` is the option's label, ``None`` if uncertain: the cell has no true label then.
    ``people`` decided it; ``event_id`` is the event that settled it.
    """

    item_id: str
    criterion: str
    option: int | None
    label: str | None
    why: Why | None
    provenance: Provenance
    people: tuple[str, ...]
    note: str
    event_id: int
    state: SettledState = "active"

    @property
    def uncertain(self) -> bool:
        """Return whether the cell was settled as impossible to assess."""
        return self.label is None


@dataclass(frozen=True, slots=True)
class Case:
    """A submission on which reviewers and judges disagree. Options are labels.

    Reasons may be empty.
    """

    criterion: str
    text: str
    people: str
    judges: str
    why_people: str = ""
    why_judges: str = ""
