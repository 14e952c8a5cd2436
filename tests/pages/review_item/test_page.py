"""The reviewing screen, act by act. The run's votes are in `tests.services.reviewed`.

Item 1 is i0 (all judges say MET), item 2 is i1 (MET, MET, UNMET: split).
"""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.review import QueueSettings
from core.domain.rubric import Criterion
from core.services.review import adjudication, claims, reviewers
from core.store.store import Store
from pages.review_item.opened import REVIEW_ACT
from pages.ui import identity, routes, state
from pages.ui.places import work
from pages.ui.places.settling import option_keys
from tests.pages import reviewing as at
from tests.pages.conftest import open_page, shown
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

SPLIT = reviewed.DOUBTFUL


def outcome(store: Store, queue_id: int, item: str, criterion: str) -> tuple[str | None, str]:
    """What a cell is settled as, and its state in the queue."""
    cells = {c.criterion: c.state for c in store.queues.cells(queue_id, item)}
    found = adjudication.settled_cells(store, store.queues.get(queue_id).run_id).get(
        (item, criterion)
    )
    return (None if found is None else found.label), cells[criterion]


def test_a_verdict_is_committed_blind_then_the_votes_appear_and_it_is_confirmed(
    store: Store,
) -> None:
    queue = at.queue(store, rule=SPLIT)
    app = at.sit_down(store, queue, "Ben")
    # i0 is unanimous and not in doubt: the first doubtful item is i1, the second of the run.
    assert "Item 2" in shown(app)
    assert "name is hidden" in shown(app)
    before = shown(app)
    assert not [word for word in ("ann", "bob", "cem", "secret-reason") if word in before]
    assert "As the law says." in before  # the item's context
    at.choose(app, 2, "Right", MET)
    at.choose(app, 2, "Short", UNMET)
    at.commit(app, 2)
    votes = shown(app)
    assert "These are the judges" in votes
    assert all(word in votes for word in ("ann", "bob", "cem", "secret-reason"))
    # 2 of 3 judges say MET of both criteria; so was I of Right, and not of Short.
    assert "as you said" in votes
    assert "not your verdict" in votes
    assert outcome(store, queue, "i1", "Short") == (None, "needs_review")
    at.commit(app, 2)
    # i1 scored (3 * 1 + 1 * 1) / 4 = 1; with Short UNMET it is 3 / 4.
    assert "score 1.00 → <b>0.75</b>" in shown(app)
    assert "Item 3" in shown(app)
    assert outcome(store, queue, "i1", "Short") == ("UNMET", "resolved")


def test_what_the_judges_say_too_is_confirmed_by_itself_where_a_lead_set_that(
    store: Store,
) -> None:
    queue = at.queue(store, rule=SPLIT, settings=QueueSettings(confirm_same=True))
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 2, "Right", MET)
    at.choose(app, 2, "Short", UNMET)
    at.commit(app, 2)
    # Most judges say MET of Right, too; of Short I differ, and that waits for me.
    assert "Right: confirmed, because the panel agrees" in shown(app)
    assert outcome(store, queue, "i1", "Right") == ("MET", "resolved")
    assert outcome(store, queue, "i1", "Short") == (None, "needs_review")
    at.commit(app, 2)
    # i2: most say UNMET of both. One press, and the next item is there.
    at.choose(app, 3, "Right", UNMET)
    at.choose(app, 3, "Short", UNMET)
    at.commit(app, 3)
    assert "Item 4" in shown(app)
    assert "Right, Short: confirmed, because the panel agrees" in shown(app)
    assert outcome(store, queue, "i2", "Short") == ("UNMET", "resolved")


def test_one_note_explains_all_cells_of_an_item_that_need_one(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", UNMET)  # all three judges say MET of i0
    at.choose(app, 1, "Short", UNMET)
    at.commit(app, 1)
    at.commit(app, 1)
    assert "A note is needed. One note is enough for all 2 cells." in shown(app)

    at.write(app, 1, "Right", "The reference says so.")
    at.commit(app, 1)

    assert "Item 2" in shown(app)
    run = store.queues.get(queue).run_id
    final = [e for e in store.events.of_run(run, queue) if e.action == "final"]
    assert {e.criterion: e.reason for e in final} == dict.fromkeys(
        ("Right", "Short"), "The reference says so."
    )


def test_the_last_answer_commits_where_a_reviewer_wants_that(store: Store) -> None:
    queue = at.queue(store, rule=SPLIT, settings=QueueSettings(confirm_same=True))
    app = at.sit_down(store, queue, "Ben")
    app.toggle(key=state.key(REVIEW_ACT, "at once")).set_value(True).run()
    # i1: most judges say MET of Right, and of Short, too.
    at.choose(app, 2, "Right", MET)
    assert outcome(store, queue, "i1", "Right")[1] == "needs_review"
    at.choose(app, 2, "Short", UNMET)
    assert outcome(store, queue, "i1", "Right") == ("MET", "resolved")
    # Of Short I differ from most judges; as they differ, too, it is final.
    assert outcome(store, queue, "i1", "Short") == ("UNMET", "resolved")
    assert "Item 3" in shown(app)

    # It is this reviewer's own choice, kept for the next time, and an act that can be undone.
    at.act(app, at.UNDO)
    assert outcome(store, queue, "i1", "Short") == (None, "needs_review")
    again = at.sit_down(store, queue, "Ben")
    assert again.toggle(key=state.key(REVIEW_ACT, "at once")).value
    assert not at.sit_down(store, queue, "Ann").toggle(key=state.key(REVIEW_ACT, "at once")).value


def test_texts_drawn_at_random_are_reviewed_by_one_press(store: Store) -> None:
    run = reviewed.graded(store, 12)

    at.at(store, "Ben", routes.REVIEW_ITEM, run=run.id, rule="random")

    (queue,) = store.queues.list()
    assert (len(queue.rule.items or ()), queue.rule.only_draws) == (10, True)
    assert store.queues.size(queue.id) == 20  # both criteria of each text
    # A second press finds it.
    at.at(store, "Ben", routes.REVIEW_ITEM, run=run.id, rule="random")
    assert len(store.queues.list()) == 1


def scale(*labels: str, **more: Any) -> Criterion:
    """An ordered question with these options, the first the best."""
    top = len(labels) - 1
    options = [{"label": one, "value": (top - at) / top} for at, one in enumerate(labels)]
    return build_model(
        Criterion,
        {"name": "Right", "requirement": "Is it?", "scale": "ordinal", "options": options, **more},
        "criterion",
    )


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (("0", "1", "2", "3", "4", "5"), ["0", "1", "2", "3", "4", "5"]),
        (("5", "4", "3", "2", "1"), ["5", "4", "3", "2", "1"]),
        # Where one label is no digit, keys are places, and stand on the buttons.
        (("10", "5", "0"), ["1", "2", "3"]),
        (("bad", "good"), ["1", "2"]),
        (tuple(f"L{n}" for n in range(11)), [*"123456789", "Shift+1", "Shift+2"]),
    ],
)
def test_the_key_of_a_digit_is_that_digit_and_else_the_place(
    labels: tuple[str, ...], keys: list[str]
) -> None:
    assert option_keys(scale(*labels).options) == keys


def test_an_option_beside_a_scale_of_digits_has_a_key_that_is_no_digit() -> None:
    options = [
        *({"label": str(n), "value": n / 2} for n in range(3)),
        {"label": "No text", "na": 1},
    ]
    assert option_keys(scale("a", "b", options=options).options) == ["0", "1", "2", "Shift+1"]


def test_on_a_scale_from_zero_each_digit_chooses_itself_and_cannot_assess_moves(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    criteria = (scale("0", "1", "2", "3", "4", "5"), reviewed.RUBRIC.criteria[1])
    rubric = reviewed.RUBRIC.model_copy(update={"criteria": criteria})
    monkeypatch.setattr(reviewed, "RUBRIC", rubric)
    app = at.sit_down(store, at.queue(store), "Ben")

    def shortcuts(*starts: str) -> list[str]:
        buttons = [b.proto for b in app.button if b.label.startswith(starts)]
        return [button.shortcut for button in buttons if button.shortcut]

    assert shortcuts("**") == ["0", "1", "2", "3", "4", "5"]
    assert shortcuts("Cannot assess") == ["x"]
    at.act(app, at.WHY)
    assert "Why can it not be assessed? (X goes back)" in shown(app)
    at.act(app, at.WHY)
    at.choose(app, 1, "Right", 5)
    # The next question has other labels: its places are its keys, and 0 is free.
    assert shortcuts("**MET", "**UNMET") == ["1", "2"]
    assert shortcuts("Cannot assess") == ["0"]


def test_committing_too_early_jumps_to_what_is_missing_and_keeps_the_item(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", MET)
    at.commit(app, 1)
    assert "1 cell has no verdict yet" in shown(app)
    assert "✓ MET" in str([b.label for b in app.button])
    assert at.has(app, "option", 1, "Short", MET)


def test_against_judges_who_all_agree_a_note_is_asked_for_and_nothing_is_lost(
    store: Store,
) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", UNMET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    assert "not your verdict: they all agree" in shown(app)
    at.commit(app, 1)
    assert "note" in shown(app).lower()
    assert outcome(store, queue, "i0", "Right") == (None, "needs_review")
    at.write(app, 1, "Right", "It contradicts the reference.")
    at.commit(app, 1)
    assert outcome(store, queue, "i0", "Right") == ("UNMET", "resolved")
    notes = {
        s.note for s in adjudication.settled_cells(store, store.queues.get(queue).run_id).values()
    }
    assert "It contradicts the reference." in notes


def test_cannot_assess_asks_why_and_is_a_legal_end(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.act(app, at.WHY)
    assert "Why can it not be assessed?" in shown(app)
    at.act(app, at.WHY)  # the same key goes back
    at.cannot(app, 1, "Right", "criterion_wrong")
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    at.write(app, 1, "Right", "It asks for a source that nobody was given.")
    at.commit(app, 1)
    run = store.queues.get(queue).run_id
    (right,) = [
        s for s in adjudication.settled_cells(store, run).values() if s.criterion == "Right"
    ]
    assert (right.uncertain, right.why) == (True, "criterion_wrong")
    assert outcome(store, queue, "i0", "Right")[1] == "resolved"


def test_a_skipped_item_comes_last_and_counts_as_nothing(store: Store) -> None:
    queue = at.queue(store, count=3)
    app = at.sit_down(store, queue, "Ben")
    at.write(app, 1, "Right", "I want to read its source first.")
    at.act(app, at.SKIP)
    (skipped,) = [e for e in store.events.of_run(1, queue) if e.action == "skip"]
    assert skipped.reason == "I want to read its source first."
    assert "Item 2" in shown(app)
    assert "0 of 6 cells resolved" in shown(app)
    at.act(app, "following")
    at.act(app, "following")
    assert "Item 1" in shown(app)


def test_undo_takes_the_last_act_back_again_and_again_until_there_is_none(store: Store) -> None:
    queue = at.queue(store)
    run = store.queues.get(queue).run_id
    before = reviewed.pictures(store, run)
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", MET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    at.commit(app, 1)
    assert outcome(store, queue, "i0", "Right") == ("MET", "resolved")
    at.act(app, at.UNDO)
    assert "Taken back: your confirmation" in shown(app)
    assert "Item 1" in shown(app)
    at.act(app, at.UNDO)
    assert "Taken back: your verdict" in shown(app)
    assert reviewed.pictures(store, run) == before
    at.act(app, at.UNDO)
    assert "You have nothing to undo" in shown(app)


def test_undo_of_what_met_anothers_verdict_leads_to_a_flag_for_a_lead_and_further_back(
    store: Store,
) -> None:
    queue = at.queue(store, rule=SPLIT, settings=QueueSettings(reviewers=2))
    reviewed.sit(store, "Lea")
    reviewed.settle(store, reviewed.sit(store, "Ben"), queue, "i2", UNMET)
    for name in ("Ben", "Ann"):
        reviewed.settle(store, reviewed.sit(store, name), queue, "i1", MET)
    app = at.sit_down(store, queue, "Ben")
    at.act(app, at.UNDO)
    assert (
        "Item 2: your verdict on “Right” and “Short” was already compared with another reviewer"
        in shown(app)
    )
    (note,) = [area for area in app.text_area if area.label == "Note for the lead"]
    assert note.value == "I want to change my verdict on “Right” and “Short”: "
    note.set_value("I misread it.")
    at.act(app, "ask lead")
    assert "Flagged for a lead." in shown(app)
    assert not [area for area in app.text_area if area.label == "Note for the lead"]
    # The lead finds it on the queue's page, the note with it, and can send it back.
    lea = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    assert "Send decided cells back (2 flagged)" in [one.label for one in lea.expander]
    assert "I misread it." in shown(lea)
    # U takes the flag away; U again offers it again, and once more goes on to what came before.
    at.act(app, at.UNDO)
    assert "Taken back: the flag" in shown(app)
    at.act(app, at.UNDO)
    at.act(app, at.UNDO)
    assert "Taken back: your confirmation" in shown(app)
    assert "Item 3" in shown(app)


def test_a_flag_needs_a_reason_goes_to_its_role_and_can_be_taken_away(store: Store) -> None:
    queue = at.queue(store, count=1)
    app = at.sit_down(store, queue, "Ben")
    at.act(app, at.FLAG)
    at.choose(app, 1, "Right", "lead")
    assert "Say what is wrong" in shown(app)
    at.write(app, 1, "Right", "The prompt is cut off.")
    at.act(app, at.FLAG)
    at.choose(app, 1, "Right", "lead")
    # The rest of the item stays Ben's; the flagged cell is not.
    assert "flagged for a lead" in shown(app)
    assert at.has(app, "option", 1, "Short", MET)
    claims.release(store, claims.claim(store, reviewed.sit(store, "Ben"), queue, "i0"))
    lead = at.sit_down(store, queue, "Lea")
    assert "The prompt is cut off." in shown(lead)
    at.act(lead, at.FLAG)
    at.choose(lead, 1, "Right", "all")
    assert [c.flagged for c in store.queues.cells(queue, "i0")] == [None, None]


def test_a_draft_outlives_the_page_and_a_closed_tab_offers_to_go_on(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben", session="first")
    at.choose(app, 1, "Right", UNMET)
    again = at.sit_down(store, queue, "Ben", session="first")  # the same tab, loaded anew
    assert "✓ UNMET" in str([b.label for b in again.button])
    other = at.sit_down(store, queue, "Ben", session="second")
    assert "One item is still open" in shown(other)
    at.act(other, "take back")
    assert "✓ UNMET" in str([b.label for b in other.button])
    assert "Item 1" in shown(other)


def test_an_assisted_item_shows_the_votes_at_once_and_says_so(store: Store) -> None:
    settings = QueueSettings(mode="assisted", assisted_share=1.0)
    queue = at.queue(store, settings=settings)
    app = at.sit_down(store, queue, "Ben")
    assert "are shown on this item" in shown(app)
    assert "secret-reason" in shown(app)
    at.choose(app, 1, "Right", MET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    assert outcome(store, queue, "i0", "Right") == ("MET", "resolved")  # final at once


def test_a_blind_queue_never_shows_the_votes(store: Store) -> None:
    queue = at.queue(store, settings=QueueSettings(mode="blind"))
    app = at.sit_down(store, queue, "Ben")
    assert "It is final when you commit it" in shown(app)
    at.choose(app, 1, "Right", MET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    assert "secret-reason" not in shown(app)
    assert "Item 2" in shown(app)
    assert outcome(store, queue, "i0", "Right") == ("MET", "resolved")
    # On item 2 two of three judges say MET and the score is 1. Against them, and taken back, the
    # line says what is settled or open again, and neither what was before nor how often they err.
    at.choose(app, 2, "Right", UNMET)
    at.choose(app, 2, "Short", UNMET)
    at.commit(app, 2)
    assert "Right: settled as <b>UNMET</b>" in shown(app)
    at.act(app, at.UNDO)
    assert "Taken back: your verdict and your confirmation." in shown(app)
    assert "Right: open again" in shown(app)
    assert not [word for word in ("→", "score 1.00", "judges right") if word in shown(app)]


def test_the_line_says_how_often_judges_were_right_on_what_is_settled(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", MET)  # all three judges say MET of i0
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    at.commit(app, 1)
    assert "Right: stays MET, panel right on 1 of 1 settled" in shown(app)
    at.choose(app, 2, "Right", UNMET)  # of i1 two do
    at.choose(app, 2, "Short", MET)
    at.commit(app, 2)
    at.commit(app, 2)
    assert "Right: MET → <b>UNMET</b>, panel right on 1 of 2 settled" in shown(app)
    assert "Short: stays MET, panel right on 2 of 2 settled" in shown(app)


def test_a_note_can_be_kept_and_used_again(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.write(app, 1, "Right", "No source is given.")
    at.act(app, "snippet keep")
    at.choose(app, 1, "Right", UNMET)  # Short is active now
    at.act(app, "snippet", 0)
    assert app.text_area[0].value == "No source is given."
    at.act(app, "snippet gone", 0)
    assert not at.has(app, "snippet", 0)


def test_evidence_marks_sentences_for_the_active_cell(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Ben")
    at.act(app, "evidence")
    app.pills[0].select(1).run()
    at.choose(app, 1, "Right", MET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    at.commit(app, 1)
    run = store.queues.get(queue).run_id
    told = [e.evidence for e in store.events.of_run(run, queue) if e.action == "final"]
    # The submission is one sentence: "Answer number 0." is 16 characters long.
    assert [[0, 16, "Answer number 0."]] in [[list(s) for s in spans] for spans in told]


def test_the_bar_says_how_far_i_am_and_foretells_no_time_before_three_items(store: Store) -> None:
    queue = at.queue(store, count=4, settings=QueueSettings(mode="blind"))
    app = at.sit_down(store, queue, "Ben")
    assert "0 of 4 items by you · " in shown(app)
    for number in (1, 2, 3):
        assert f"{number - 1} of 4 items by you · " in shown(app)
        at.choose(app, number, "Right", MET)
        at.choose(app, number, "Short", MET)
        at.commit(app, number)
    # Three were decided in moments, so one more takes less than half a minute.
    assert "3 of 4 items by you, under a minute · 6 of 8 cells resolved" in shown(app)


def test_without_a_queue_and_at_the_end_of_one_the_page_says_what_to_do(store: Store) -> None:
    queue = at.queue(store, count=1, settings=QueueSettings(mode="blind"))
    app = at.sit_down(store, queue, "Ben")
    at.choose(app, 1, "Right", MET)
    at.choose(app, 1, "Short", MET)
    at.commit(app, 1)
    assert "No items left for you" in shown(app)
    assert "Everything in this queue is done." in shown(app)
    assert [one.label for one in app.get("download_button")] == ["Grades (Excel)"]
    assert "Last decision:" in shown(app)


def test_what_is_against_all_judges_needs_a_note_even_if_it_was_committed_at_once(
    store: Store,
) -> None:
    queue = at.queue(store, settings=QueueSettings(confirm_same=True))
    app = at.sit_down(store, queue, "Ben")
    app.toggle(key=state.key(REVIEW_ACT, "at once")).set_value(True).run()
    # All three judges say MET of i0.
    at.choose(app, 1, "Right", UNMET)
    at.choose(app, 1, "Short", MET)
    assert "All judges chose another option" in shown(app)
    assert "secret-reason" in shown(app)
    assert outcome(store, queue, "i0", "Short") == ("MET", "resolved")
    assert outcome(store, queue, "i0", "Right") == (None, "needs_review")
    at.write(app, 1, "Right", "The law says so.")
    at.commit(app, 1)
    assert outcome(store, queue, "i0", "Right") == ("UNMET", "resolved")


def test_where_a_note_is_needed_ones_last_notes_are_taken_by_one_press(store: Store) -> None:
    queue = at.queue(store, count=5, settings=QueueSettings(confirm_same=True))
    app = at.sit_down(store, queue, "Ben")
    app.toggle(key=state.key(REVIEW_ACT, "at once")).set_value(True).run()
    # All three judges say MET of i0 and i4 (items 1 and 5); of the others they differ.
    at.choose(app, 1, "Right", UNMET)
    at.choose(app, 1, "Short", MET)
    assert not at.has(app, "last note", 0)  # there is none yet
    at.write(app, 1, "Right", "The law says so.")
    at.commit(app, 1)
    for number in (2, 3, 4):
        assert not at.has(app, "last note", 0)  # nothing is asked for
        at.choose(app, number, "Right", MET)
        at.choose(app, number, "Short", MET)
    at.choose(app, 5, "Right", UNMET)
    at.choose(app, 5, "Short", UNMET)
    assert "All judges chose another option" in shown(app)
    at.act(app, "last note", 0)
    assert "No items left for you" in shown(app)
    settled = adjudication.settled_cells(store, store.queues.get(queue).run_id)
    assert {settled["i4", name].note for name in ("Right", "Short")} == {"The law says so."}
    ann = reviewed.sit(store, "Ann")
    assert reviewers.last_notes(store, ann, queue) == []  # each person's own


@pytest.mark.parametrize("others", [False, True])
def test_disagreements_are_settled_at_once_where_nobody_has_reviewed_yet(
    store: Store, monkeypatch: pytest.MonkeyPatch, others: bool
) -> None:
    run = reviewed.graded(store).id
    if others:
        reviewed.sit(store, "Ada")
    monkeypatch.setattr(identity, "_browser_memory", lambda: ("", "tab"))

    app = open_page(routes.REVIEW_ITEM, run=str(run), rule=work.SPLIT)

    assert ("Who reviews?" in shown(app)) == others
    assert ("Give your verdict." in shown(app)) != others
    assert [one.name for one in store.reviewers.list()] == (["Ada"] if others else ["Grader"])
