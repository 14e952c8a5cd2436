"""The list of queues, the form of a new one, and who one is."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.review import QueueRule
from core.services.queueing.queue_cells import rule_for_splits
from core.services.review import queues, regrades, reviewers
from core.store.store import Store
from pages.queues.labels import LABELS
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD, QUEUES_ACT
from pages.ui import identity, routes, state
from pages.ui.identity import IDENTITY, SESSION
from pages.ui.routes import Screen
from tests.pages import reviewing as at
from tests.pages.conftest import FRAME, open_page, shown, visit
from tests.services import reviewed
from tests.services.reviewed import UNMET


def sign_in(app: AppTest, name: str) -> AppTest:
    app.text_input(key=state.key(IDENTITY, "name")).set_value(name)
    (start,) = [b for b in app.button if b.label == "Start"]
    start.click().run()
    assert not app.exception
    return app


def test_a_name_is_asked_for_once_and_the_first_person_is_a_lead(store: Store) -> None:
    app = open_page(routes.QUEUES)
    assert "Who reviews?" in shown(app)
    sign_in(app, "  Ada ")
    assert "You are **Ada** (lead)." in shown(app)
    assert "Nothing to review yet" in shown(app)
    (leave,) = [b for b in app.button if b.label == "Not you?"]
    leave.click().run()
    assert "Who reviews?" in shown(app)


def test_no_name_is_refused(store: Store) -> None:
    app = sign_in(open_page(routes.QUEUES), "  ")
    assert "Who reviews?" in shown(app)
    assert app.error


def test_a_queue_is_counted_before_it_is_made_and_then_opened(store: Store) -> None:
    reviewed.graded(store, 4)
    app = sign_in(open_page(routes.QUEUES), "Ada")
    app.button(key=state.key(QUEUES_ACT, "new")).click().run()
    # No item is split on 0; 1, 2 and 3 are, on both criteria: six cells of three items, and the
    # audit is set to none.
    app.slider(key=state.key(QUEUE_FIELD, "audit")).set_value(0).run()
    assert [m.value for m in app.metric] == ["6", "3"]
    # The rubric passes from .5 on, so what is near that mark is asked for; no score is.
    assert app.checkbox(key=state.key(QUEUE_FIELD, "near_mark 1")).value
    app.checkbox(key=state.key(QUEUE_FIELD, "everything")).check().run()
    assert [m.value for m in app.metric] == ["8", "4"]
    app.button(key=state.key(QUEUE_ACT, "make")).click().run()
    assert not app.exception
    assert [str(t.value) for t in app.title] == ["Doubtful cells"]
    assert [b.label for b in app.button if "Start reviewing" in b.label] == [
        "Start reviewing (4 items)"
    ]
    (row,) = queues.queues_of_run(store)
    assert (row.author, row.rule.everything, row.rule.near_mark) == ("Ada", True, 0.05)


def test_a_cap_says_what_it_leaves_out_and_stays_with_the_queue(store: Store) -> None:
    reviewed.graded(store, 8)
    app = sign_in(open_page(routes.QUEUES), "Ada")
    app.button(key=state.key(QUEUES_ACT, "new")).click().run()
    app.slider(key=state.key(QUEUE_FIELD, "audit")).set_value(0).run()
    app.checkbox(key=state.key(QUEUE_FIELD, "most")).check().run()
    app.number_input(key=state.key(QUEUE_FIELD, "most", "limit")).set_value(4).run()
    # Of eight items six are doubtful on both criteria: twelve cells.
    assert next(m.value for m in app.metric) == "4"
    assert "8 more cells also match and are left out by the cap" in shown(app)
    app.button(key=state.key(QUEUE_ACT, "make")).click().run()
    assert not app.exception
    assert (queues.queues_of_run(store)[0].rule.most, queues.queue_progress(store, 1).total) == (
        4,
        4,
    )
    assert "4 cells" in shown(app)


def test_the_audit_of_a_capped_queue_is_said_before_and_after_it_is_made(store: Store) -> None:
    reviewed.graded(store, 24)
    app = sign_in(open_page(routes.QUEUES), "Ada")
    app.button(key=state.key(QUEUES_ACT, "new")).click().run()
    app.checkbox(key=state.key(QUEUE_FIELD, "most")).check().run()
    app.number_input(key=state.key(QUEUE_FIELD, "most", "limit")).set_value(10).run()
    app.slider(key=state.key(QUEUE_FIELD, "audit")).set_value(20).run()
    # A fifth of ten cells is drawn; the rest are the first of 36 doubtful ones.
    assert next(m.value for m in app.metric) == "10"
    assert "8 doubtful, 2 random" in shown(app)
    app.button(key=state.key(QUEUE_ACT, "make")).click().run()
    assert not app.exception
    assert "8 doubtful, 2 random" in shown(app)


def test_disagreements_are_settled_in_one_press_and_a_second_finds_the_queue_that_is_open(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    app = at.at(store, "Ada", routes.RUN, run=run.id)

    def settle() -> tuple[str, dict[str, list[str]]]:
        (link,) = [
            e.proto for e in app.get("page_link") if e.proto.label == "Settle 12 disagreements"
        ]
        return link.page, parse_qs(link.query_string)

    assert settle() == (routes.REVIEW_ITEM.url, {"run": ["1"], "rule": ["split"]})
    app = at.at(store, "Ada", routes.REVIEW_ITEM, run=run.id, rule="split")
    (made,) = queues.queues_of_run(store)
    assert (made.rule, made.name) == (rule_for_splits(), "Disagreements")
    # What the judges say, too, takes one press.
    assert made.settings.confirm_same
    # The first item is open, and the address names the queue.
    assert app.query_params[state.QUEUE] == str(made.id)
    assert "Give your verdict" in shown(app)
    # A second press goes on with the queue that is there.
    app = at.at(store, "Ada", routes.RUN, run=run.id)
    assert settle() == (routes.REVIEW_ITEM.url, {"queue": [str(made.id)]})
    at.at(store, "Ben", routes.REVIEW_ITEM, run=run.id, rule="split")
    assert [one.id for one in queues.queues_of_run(store)] == [made.id]


def test_a_run_that_nobody_has_reviewed_says_what_is_worth_a_look_and_begins_with_one_press(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    app = at.at(store, "Ada", routes.RECORD, run=run.id)
    found = queues.preview_queue(store, run.id, QueueRule())
    text = shown(app)
    assert f"{found.cells} cells of 16 are worth a look, on {found.items} items" in text
    assert f"judges disagree ({found.by_reason['split']})" in text

    next(one for one in app.button if one.label == "Start reviewing").click().run()

    assert not app.exception
    (made,) = queues.queues_of_run(store)
    assert (made.name, made.rule) == ("Doubtful cells", QueueRule())


def test_cells_drawn_at_random_are_asked_for_with_one_link(store: Store) -> None:
    run = reviewed.graded(store, 30)
    app = at.at(store, "Ada", routes.QUEUES, new="queue", run=run.id, rule="random")
    assert "Cells drawn at random" in shown(app)
    app.button(key=state.key(QUEUE_ACT, "make")).click().run()
    assert not app.exception
    (made,) = queues.queues_of_run(store)
    # 20 for each of two criteria.
    assert (made.rule.only_draws, made.rule.most) == (True, 40)
    assert queues.queue_progress(store, made.id).total == 40


def test_a_regrade_is_asked_for_queued_and_read_with_the_votes(store: Store) -> None:
    run = reviewed.graded(store, 4)
    item = at.at(store, "Ada", routes.RUN, run=run.id, item="i1")
    (link,) = [e.proto for e in item.get("page_link") if e.proto.label == "Request a regrade"]
    address = {name: one for name, (one,) in parse_qs(link.query_string).items()}
    assert address == {"show": "regrades", "run": str(run.id), "item": "i1"}
    # The item is filled in: who asks and why are left to say.
    app = at.at(store, "Ada", routes.QUEUES, **address)
    for what, said in (("by", "<b>Tom</b>"), ("note", "<i>Look</i> again.")):
        key = state.key(QUEUE_FIELD, "regrade", run.id, what)
        (area,) = [w for w in [*app.text_input, *app.text_area] if w.key == key]
        area.set_value(said).run()
    app.button(key=state.key(QUEUE_ACT, "regrade")).click().run()
    assert not app.exception
    assert "&lt;i&gt;Look&lt;/i&gt; again." in shown(app)
    assert "<b>Tom</b>" not in shown(app)
    # One of the two cells was meant; the request on the other is taken back.
    asked = [one for one in regrades.requests_of(store, run.id) if one.criterion == "Short"]
    key = state.key(QUEUE_FIELD, "regrade", run.id, "mistaken")
    app.selectbox(key=key).set_value(asked[0].event_id).run()
    app.button(key=state.key(QUEUE_ACT, "regrade back")).click().run()
    assert not app.exception
    assert "withdrawn" in shown(app)
    app.button(key=state.key(QUEUE_ACT, "regrades")).click().run()
    (queue,) = queues.queues_of_run(store)
    assert [str(t.value) for t in app.title] == ["Regrade requests"]
    ben = at.sit_down(store, queue.id, "Ben")
    assert "Look" not in shown(ben)
    at.choose(ben, 2, "Right", reviewed.MET)
    at.commit(ben, 2)
    assert "&lt;i&gt;Look&lt;/i&gt; again." in shown(ben)
    assert "a regrade was requested" in shown(ben)
    # Ada leads and sees on the card that Ben is at the only item; Ben does not see who is how far.
    assert "Ben 0 of 1" in shown(at.at(store, "Ada", routes.QUEUES))
    assert "Ben 0 of 1" not in shown(at.at(store, "Ben", routes.QUEUES))


def test_the_list_says_how_far_each_queue_is_and_what_there_is_for_me(store: Store) -> None:
    queue = at.queue(store, count=2)
    reviewed.settle(store, reviewed.sit(store, "Ben"), queue, "i0", reviewed.MET)
    app = at.sit_down(store, queue, "Ben", page=routes.QUEUES)
    app.button[0].click().run()  # All queues
    assert "2 of 4 cells resolved" in shown(app)
    links = [str(e.proto.label) for e in app.get("page_link")]
    assert "Review 1 item" in links


def test_a_lead_changes_how_a_queue_is_worked_off_and_who_may_what(store: Store) -> None:
    queue = at.queue(store)
    reviewed.sit(store, "Ben")
    app = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    app.number_input(key=state.key(QUEUE_FIELD, f"queue {queue}", "reviewers")).set_value(3)
    app.run()
    app.button(key=state.key(QUEUE_ACT, "save")).click().run()
    assert not app.exception
    assert queues.queue_by_id(store, queue).settings.reviewers == 3
    (role,) = [s for s in app.selectbox if s.label == "Ben"]
    role.set_value("adjudicator").run()
    assert {r.name: r.role for r in reviewers.all_reviewers(store)}["Ben"] == "adjudicator"


def test_the_last_lead_cannot_step_down(store: Store) -> None:
    queue = at.queue(store)
    app = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    (role,) = [s for s in app.selectbox if s.label == "Lea"]
    role.set_value("reviewer").run()
    assert {r.name: r.role for r in reviewers.all_reviewers(store)}["Lea"] == "lead"
    assert app.error


@pytest.mark.parametrize("installed", [True, False])
def test_where_a_login_is_configured_nobody_can_give_a_name(
    store: Store, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(identity, "login_configured", lambda: True)
    monkeypatch.setattr(identity, "claims", lambda: None)
    monkeypatch.setattr(identity, "find_spec", lambda name: name if installed else None)
    app = open_page(routes.QUEUES)
    assert "Log in to review" in shown(app)
    assert not app.text_input
    assert [b.label for b in app.button] == (["Log in"] if installed else [])
    assert ("is not installed" in shown(app)) == (not installed)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"email": "Ada@Example.org", "email_verified": True}, "You are **ada&#64;"),
        ({"sub": "1234", "email": "", "email_verified": True}, "does not say that your e-mail"),
        # Some providers write it as text, some say nothing: only a plain yes is one.
        ({"email": "a@b.c", "email_verified": False}, "does not say that your e-mail"),
        ({"email": "a@b.c", "email_verified": "false"}, "does not say that your e-mail"),
        ({"email": "a@b.c"}, "does not say that your e-mail"),
    ],
)
def test_a_login_names_its_reviewer_by_what_the_provider_guarantees(
    store: Store, monkeypatch: pytest.MonkeyPatch, user: dict[str, object], words: str
) -> None:
    monkeypatch.setattr(identity, "login_configured", lambda: True)
    monkeypatch.setattr(identity, "claims", lambda: user)
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    app.session_state[SESSION] = "tab"
    app.run()
    visit(app, routes.QUEUES)
    assert words in shown(app)


def test_what_reviewers_say_of_a_criterion_reaches_its_author(store: Store) -> None:
    queue = at.queue(store, count=1)
    ben = at.sit_down(store, queue, "Ben")
    at.cannot(ben, 1, "Right", "criterion_wrong")
    at.choose(ben, 1, "Short", reviewed.MET)
    at.commit(ben, 1)
    at.write(ben, 1, "Right", "It asks for a source.")
    at.commit(ben, 1)
    app = at.sit_down(store, queue, "Ben", page=routes.QUEUES)
    app.button[0].click().run()  # All queues
    app.button(key=state.key(QUEUES_ACT, "issues")).click().run()
    assert "It asks for a source." in shown(app)
    assert "The criterion is wrong" in shown(app)
    assert "Edit Answers" in [str(e.proto.label) for e in app.get("page_link")]


def test_a_lead_sends_decided_cells_back_and_says_why(store: Store) -> None:
    queue = at.queue(store, count=1)
    reviewed.settle(store, reviewed.sit(store, "Ben"), queue, "i0", reviewed.MET)
    app = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    app.multiselect(key=state.key(QUEUE_FIELD, "send back", queue)).set_value(
        [("i0", "Right")]
    ).run()
    app.button(key=state.key(QUEUE_ACT, "send back")).click().run()
    assert "Say why" in shown(app)
    why = state.key(QUEUE_FIELD, "send back why", queue)
    app.text_input(key=why).set_value("The reference was wrong.").run()
    app.button(key=state.key(QUEUE_ACT, "send back")).click().run()
    assert "1 cell sent back" in shown(app)
    states = {c.criterion: c.state for c in store.queues.cells(queue, "i0")}
    assert states == {"Right": "needs_review", "Short": "resolved"}


def test_one_criterion_can_be_reviewed_across_all_items(store: Store) -> None:
    run = reviewed.graded(store, 2)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    app = at.sit_down(store, queue, "Ben", page=routes.QUEUES)
    app.run()
    # Drawn again, it still says that all criteria are meant.
    narrow = app.selectbox(key=state.key(QUEUE_FIELD, "criterion", queue))
    assert (narrow.value, narrow.options[0]) == ("", "All criteria")
    narrow.set_value("Short").run()
    app.button(key=state.key(QUEUE_ACT, "start")).click().run()
    assert "only Short" in shown(app)
    assert app.query_params[state.CRITERION] == "Short"
    app = at.sit_down(store, queue, "Ben")
    app.query_params[state.CRITERION] = "Short"
    app.run()
    # The other criterion of the item is neither there nor asked for before the next item comes.
    assert "It is right." not in shown(app)
    at.choose(app, 1, "Short", UNMET)
    at.commit(app, 1)
    assert "These are the judges" in shown(app)
    at.write(app, 1, "Short", "It is long.")  # all judges said MET
    at.commit(app, 1)
    assert "Item 2" in shown(app)
    states = {c.criterion: c.state for c in store.queues.cells(queue, "i0")}
    assert states == {"Right": "needs_review", "Short": "resolved"}
    # Of the item only this cell is told: its score would tell of the one still to be judged.
    assert "Short: MET → <b>UNMET</b>" in shown(app)
    assert "score" not in shown(app).split("Last decision:")[1].split("</div>")[0]


@pytest.mark.parametrize(
    ("page", "title", "tells", "asks"),
    [
        (routes.QUEUES, "Review", "People settle", "Who reviews?"),
        (routes.ARENA, "Arena", "Which answer is better?", "Who votes?"),
    ],
)
def test_whoever_is_asked_for_a_name_sees_what_for(
    store: Store, page: Screen, title: str, tells: str, asks: str
) -> None:
    app = open_page(page)
    assert [one.value for one in app.title] == [title]
    assert app.caption[0].value.startswith(tells)
    assert asks in shown(app)


def test_labels_are_planned_and_their_queue_is_made_in_one_click(store: Store) -> None:
    reviewed.graded(store, 16)
    app = sign_in(open_page(routes.QUEUES, new=LABELS), "Ada")
    page = shown(app)
    assert "guessed from how far votes agree" in page
    assert "An estimate of the time appears once people have reviewed with this rubric." in page
    app.number_input(key=state.key(QUEUE_FIELD, LABELS, "labels", 1)).set_value(20).run()
    app.segmented_control(key=state.key(QUEUES_ACT, LABELS, "draw")).set_value("doubt").run()
    app.button(key=state.key(QUEUE_ACT, LABELS, "make")).click().run()
    assert not app.exception
    (made,) = queues.queues_of_run(store)
    assert (made.name, made.rule.draw, made.rule.audit_share) == (
        "20 random labels",
        "doubt",
        20 / 32,
    )
