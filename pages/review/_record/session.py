"""What came of the queue: what was mended, what is left, the time, and doubtful criteria."""

from __future__ import annotations

from core.domain.review_records import QueueRow
from core.services import authoring, review_session, viewing
from core.services import numbers as fmt
from core.services.review_session import Session, Trouble
from pages.review._record.keeping import kept
from pages.review._record.words import minutes, said, section
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import Figure, figures, table


def show(queue: QueueRow) -> None:
    """Figures, time, and the criteria that people found at fault."""
    found = kept("session", queue, lambda: review_session.session(store(), queue.id))
    section("What people changed")
    figures(
        [
            Figure("Mended", fmt.count(found.mended), "Verdicts that people changed."),
            Figure("Kept", fmt.count(found.kept), "Verdicts that people gave as well."),
            Figure("Given", fmt.count(found.given), "Cells on which the votes had no verdict."),
            Figure("Nobody can say", fmt.count(found.uncertain), "Settled as not assessable."),
        ]
    )
    said(_left(found))
    _troubles(queue, found)


def _left(found: Session) -> str:
    parts = []
    if found.each_seconds is not None:
        parts.append(
            f"{minutes(found.minutes)} were spent on {fmt.plural(found.timed, 'verdict')}, half "
            f"of them in less than {fmt.seconds(found.each_seconds)}."
        )
    if not found.left:
        parts.append("Nothing is left in this queue.")
        return " ".join(parts)
    parts.append(
        f"{fmt.plural(found.left, 'cell')} are open, expected to change about "
        f"{fmt.number(found.flips, 2)} outcomes and scores by {fmt.score(found.change)} in sum."
    )
    if found.left_minutes is not None:
        parts.append(f"At that pace they take {minutes(found.left_minutes)}.")
    return " ".join(parts)


def _troubles(queue: QueueRow, found: Session) -> None:
    section("Criteria that people found at fault")
    if not found.troubles:
        said("None: nobody called a criterion ambiguous, wrong, or two questions in one.")
        return
    table(
        ("Criterion", "Ambiguous", "Wrong", "Two in one", "Of verdicts"),
        (_trouble(one) for one in found.troubles),
        name="Criteria that people found at fault",
        numbers=(1, 2, 3, 4),
    )
    run = viewing.require_run(store(), queue.run_id)
    rubric = authoring.version(store(), run.rubric_version_id)
    routes.link(routes.RUBRICS, "Mend the rubric", {state.RUBRIC: rubric.rubric_id}, icon="edit")


def _trouble(one: Trouble) -> list[str]:
    counts = (one.ambiguous, one.wrong, one.double, one.of)
    return [esc(one.criterion), *map(fmt.count, counts)]
