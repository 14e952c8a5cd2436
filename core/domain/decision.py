"""The decision: from a score to pass, fail or review."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from core.domain.base import Noun, broken

#: Far beyond any score, so that sums and differences of thresholds stay finite.
ScoreThreshold = Annotated[float, Field(ge=-1e100, le=1e100)]


class Decision(Noun):
    """Thresholds in units of the score: 0 to 1 where it is normalised, else points.

    An item passes from ``pass_at`` on and fails below ``fail_below`` (``pass_at`` where it is not
    given); between the two a person decides, and so they do for every score that is no further
    than ``review_within`` from a threshold.
    """

    pass_at: ScoreThreshold
    fail_below: ScoreThreshold | None = None
    review_within: Annotated[float, Field(ge=0, le=1e100)] = 0.0

    @model_validator(mode="after")
    def _check(self) -> Decision:
        if self.fail_below is not None and self.fail_below > self.pass_at:
            raise broken(
                f"is {self.fail_below:g}, above pass_at ({self.pass_at:g}).",
                "Make it at most pass_at, or leave it out.",
                "fail_below",
            )
        return self

    @property
    def floor(self) -> float:
        """Below this an item fails."""
        return self.pass_at if self.fail_below is None else self.fail_below

    def beyond_unit(self) -> str | None:
        """The first field that no score from 0 to 1 could reach, or ``None``."""
        given = {"pass_at": self.pass_at, "fail_below": self.floor}
        given["review_within"] = self.review_within
        return next((name for name, value in given.items() if not 0 <= value <= 1), None)
