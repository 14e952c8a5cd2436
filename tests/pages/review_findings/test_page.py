"""The page that tells what reviews are worth, on the run of ``tests.services.reviewed``.

Of every four items the votes give MET on the first two, and only the first is not split.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from urllib.parse import parse_qs

from streamlit.testing.v1 import AppTest

from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer
from core.services.results import weight_fit
from core.services.results.browsing import results_state
from core.services.review import claims, commit_reveal
from core.store.store import Store
from pages.review_findings.calibrated import fit_mark
from pages.review_findings.words import RECORD_ACT, RECORD_FIELD
from pages.ui import routes, state
from pages.ui.identity import NAME, SESSION
from tests.pages.conftest import FRAME, shown, visit
from tests.pages.reviewing import queue as make_queue
from tests.pages.ways import Work, offered
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit

AUDITED = QueueRule(near_mark=None, audit_share=1.0)


def open_record(store: Store, name: str = "Lea", **address: object) -> AppTest:
    """The page in front of a person, with these address parameters."""
    sit(store, "Lea")
    sit(store, name)
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    app.session_state[NAME] = name
    app.session_state[SESSION] = "tab"
    app.run()
    for key, value in address.items():
        app.query_params[key] = str(value)
    visit(app, routes.RECORD)
    assert not app.exception
    return app


def read(app: AppTest) -> str:
    """What one reads of our own HTML, on one line."""
    body = " ".join(str(e.proto.body) for e in app.get("html") if "<style>" not in e.proto.body)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def settle_all(store: Store, queue: int, option: int = MET) -> None:
    for item in dict.fromkeys(cell.item_id for cell in store.queues.cells(queue)):
        reviewed.settle(store, sit(store, "Ada"), queue, item, option, note="I looked.")


def test_before_any_review_the_page_says_what_to_do(store: Store) -> None:
    assert "Nothing has been reviewed yet" in shown(open_record(store))


def test_all_cells_stand_beside_the_hard_ones(store: Store) -> None:
    queue = make_queue(store, 40, AUDITED)
    settle_all(store, queue)
    text = read(open_record(store, queue=queue, view="all"))
    # The votes say MET on half of all cells; of the split three of four items, on a third.
    assert "All cells estimated from the two rows below 50% 50% to 50% 80" in text
    assert "Picked as doubtful hard cells; do not generalise 33%" in text
    # Everything was audited, so nothing is left to be spoken of.
    assert "Never looked at 0 cells, from the random audit" in text
    # People say MET everywhere; the votes on half.
    assert "All criteria, by weight" in text
    assert "0.50 1.00 1.00 to 1.00" in text


def test_a_few_audited_cells_say_how_many_more_would_do(store: Store) -> None:
    queue = make_queue(store, 8, QueueRule(near_mark=None, audit_share=0.5))
    drawn = sum(cell.audit for cell in store.queues.cells(queue))
    assert 0 < drawn < 4
    settle_all(store, queue)
    app = open_record(store, queue=queue, view="all")
    assert f"{10 - drawn} more random cells would be enough" in read(app)
    assert "10 are needed to speak of the rest" in read(app)


def test_an_audit_speaks_before_it_is_decided_to_its_end(store: Store) -> None:
    rule = QueueRule.only(stale=True, audit_share=0.5, most=40, criteria=("Right",))
    queue = make_queue(store, 80, rule)
    items = [cell.item_id for cell in store.queues.cells(queue)]
    # Half of 40 cells are drawn, of 80; 15 of these 20 are decided, all as the votes say.
    assert len(items) == 20
    for item in items[:15]:
        panel = MET if int(item[1:]) % 4 < 2 else UNMET
        reviewed.settle(store, sit(store, "Ada"), queue, item, panel)
    text = read(open_record(store, queue=queue, view="all"))
    assert (
        "Of 20 cells drawn at random 15 are decided: people gave the panel's verdict on 15. "
        "Whatever the other 5 turn out to be, people would confirm" in text
    )


def test_the_promise_follows_the_share_that_one_allows(store: Store) -> None:
    nothing = QueueRule.only(stale=True, audit_share=0.5)
    queue = make_queue(store, 80, nothing)
    for item in dict.fromkeys(cell.item_id for cell in store.queues.cells(queue)):
        panel = MET if int(item[1:]) % 4 < 2 else UNMET
        reviewed.settle(store, sit(store, "Ada"), queue, item, panel)
    app = open_record(store, queue=queue, view="all")
    # People confirm every verdict that was drawn: the surest level that has enough labels holds.
    # The first random draw of a run may use four of the 5 %.
    assert "With 96.0% confidence no more than" in read(app)
    assert any("This is audit 1 and may do so in 4.00%" in one.value for one in app.caption)
    app.slider(key=state.key(RECORD_FIELD, "alpha", queue)).set_value(1).run()
    # .01 needs 321 labels even if all agree (ln .04 / ln .99 = 320.3).
    assert "321 are needed" in read(app)


def test_what_others_settled_of_the_rest_is_told(store: Store) -> None:
    nothing = QueueRule.only(stale=True, audit_share=0.5)
    queue = make_queue(store, 80, nothing)
    drawn = {(cell.item_id, cell.criterion) for cell in store.queues.cells(queue)}
    settle_all(store, queue)
    run = store.runs.get(store.queues.get(queue).run_id)
    other = reviewed.make_queue(store, run, EVERYTHING.model_copy(update={"criteria": ("Short",)}))
    settle_all(store, other)
    besides = sum(("i" + str(n), "Short") not in drawn for n in range(80))
    rest = 160 - len(drawn) - besides
    text = read(open_record(store, queue=queue, view="all"))
    assert f"Never looked at {rest} cells, from the random audit, and {besides} more" in text
    # The votes say MET on half, people everywhere: nothing is accepted, and it says why.
    assert re.search(
        r"disagree with people, and \d+ of \d+ that were settled elsewhere do. Of", text
    )
    assert "Settled elsewhere" in text


def test_what_a_queue_changed_and_which_criteria_are_at_fault(store: Store) -> None:
    queue = make_queue(store, 4)
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, queue, "i0", MET)
    reviewed.settle(store, ada, queue, "i2", MET)
    reviewed.settle(store, ada, queue, "i1", None, why="ambiguous_criterion", note="Which?")
    # The findings begin with it, whatever the address does not say.
    app = open_record(store, queue=queue)
    text = read(app)
    assert text.index("What people changed People settled 6 cells. Of 4 with a verdict") > 0
    assert "they changed 2 (50%)" in text
    assert "Changed 2 Kept 2 Verdicts where the panel had none 0 Cannot assess 2" in text
    assert "Not known: no cell has the verdicts of two reviewers" in text
    (work,) = offered(app, store)
    # The votes say MET of both criteria of i0 and UNMET of those of i2.
    assert work == Work("Step through the 1 item that people changed", ("i2",), None)
    text = read(app)
    assert "2 cells are open" in text
    # Two criteria, each called ambiguous in one of three verdicts.
    assert "Right 1 0 0 3 Short 1 0 0 3" in text
    # Nobody looked at the votes before confirming.
    assert "Not known: no verdict was confirmed after the votes were shown." in text


def hrefs(app: AppTest) -> dict[str, dict[str, str]]:
    """The addresses of the links in our own HTML, by their words."""
    body = " ".join(str(e.proto.body) for e in app.get("html"))
    links = re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', body)
    return {
        words: {name: one for name, (one,) in parse_qs(html.unescape(to).split("?")[1]).items()}
        for to, words in links
    }


def test_the_counts_lead_to_the_cells_behind_them(store: Store) -> None:
    queue = make_queue(store, 4)
    # The votes say MET on i0 and i1, UNMET on i2 and i3; two cells each.
    for item in ("i0", "i1", "i2"):
        reviewed.settle(store, sit(store, "Ada"), queue, item, MET)
    links = hrefs(open_record(store, queue=queue))
    assert links["2"] == {"queue": str(queue), "view": "session", "show": "mended"}
    app = open_record(store, **links["2"])
    text = read(app)
    assert "Cells on which people changed the panel's verdict" in text
    assert "i2 Right UNMET MET i2 Short UNMET MET" in text
    assert hrefs(app)["i2"] == {"run": "1", "item": "i2", "at": "Short"}
    assert "i0 Right MET MET" in read(open_record(store, **links["4"]))
    strange = open_record(store, queue=queue, show="nothing")
    assert "The address asks for 'nothing', which is not a list on this page." in read(strange)


def test_two_reviewers_are_compared_by_their_first_verdicts_with_kappa(store: Store) -> None:
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = make_queue(store, 40, EVERYTHING.model_copy(update={"criteria": ("Right",)}), settings)
    ada, bob = sit(store, "Ada"), sit(store, "Bob")
    for n in range(40):
        reviewed.settle(store, ada, queue, f"i{n}", n % 2, note="x")
        # Bob differs on every fifth item, 4 times from each of Ada's two options.
        reviewed.settle(store, bob, queue, f"i{n}", n % 2 if n % 5 else 1 - n % 2, note="x")
    app = open_record(store, queue=queue)
    text = read(app)
    assert "Two reviewers gave the same first verdict on 32 of 40 cells (80%)." in text
    # Both say MET on 20 of 40: chance agreement is .5, so kappa = (.8 - .5) / (1 - .5) = .6.
    assert re.search(r"Right 0\.60 0\.\d\d to 0\.\d\d 32 8 Ada and Bob", text)
    differ = read(open_record(store, **hrefs(app)["8"]))
    # i0 is open yet: what both said is told once an adjudicator has resolved it.
    hidden = "shown once the cell is resolved"
    assert "Right: cells with different verdicts" in differ
    assert f"Item Criterion Ada Bob i0 Right {hidden}" in differ
    assert "i1 Right UNMET UNMET" in read(open_record(store, **hrefs(app)["32"]))
    # To others than the two and leads nobody is named; to the two they are.
    other = read(open_record(store, "Cid", queue=queue))
    assert "32 8 A reviewer and another reviewer" in other
    assert "Ada" not in other
    assert "32 8 Ada and Bob" in read(open_record(store, "Bob", queue=queue))
    gone = read(open_record(store, queue=queue, show="differ", at=7))
    assert "two reviewers who share no cell of this queue" in gone


def test_weights_of_judges_are_used_and_given_up_with_one_click(store: Store) -> None:
    queue = make_queue(store, 24)
    run = store.queues.get(queue).run_id
    # People say what cem says wherever he votes: majority is wrong on two of three kinds of items.
    for n in range(24):
        option = UNMET if n % 4 == 1 else MET
        reviewed.settle(store, sit(store, "Ada"), queue, f"i{n}", option, note="Cem is right.")
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run)
    assert lease is not None
    store.leases.release(lease, "done", now=reviewed.NOW)
    (right, short) = weight_fit.fitted_offers(store, run)
    assert right.offered
    app = open_record(store, queue=queue, view="calibrated")
    assert "✓ offered" in read(app)
    calls, before = store.runs.get(run).calls, results_state(store, store.runs.get(run))
    app.button(key=state.key(RECORD_ACT, "use")).click().run()
    assert "in use" in read(app)
    assert results_state(store, store.runs.get(run)) != before
    assert [one.used for one in weight_fit.fitted_offers(store, run)] == [
        right.offered,
        short.offered,
    ]
    app.button(key=state.key(RECORD_ACT, "plain")).click().run()
    assert not [one for one in weight_fit.fitted_offers(store, run) if one.used]
    assert store.runs.get(run).calls == calls
    # What pages keep of the run is worked out anew after either.
    assert results_state(store, store.runs.get(run)) != before


def test_only_leads_read_about_others_and_only_if_they_ask(store: Store) -> None:
    queue = make_queue(store, 4)
    reviewed.settle(store, sit(store, "Ada"), queue, "i0", MET)
    reviewed.settle(store, sit(store, "Zoe"), queue, "i1", MET)
    plain = open_record(store, "Zoe", queue=queue, view="people")
    assert "Verdicts 2" in read(plain)
    assert "Ada" not in shown(plain) + read(plain)
    lead = open_record(store, queue=queue, view="people")
    assert "Verdicts 2" not in read(lead)
    lead.toggle(key=state.key(RECORD_FIELD, "others")).set_value(True).run()
    assert read(lead).count("Verdicts 2") == 2


def test_a_second_look_is_offered_and_kept(store: Store) -> None:
    settings = QueueSettings(mode="blind", repeat_share=1.0)
    queue = make_queue(store, 8, EVERYTHING, settings)
    for n in range(6):
        reviewed.settle(store, sit(store, "Ada"), queue, f"i{n}", MET)
    app = open_record(store, "Ada", queue=queue, view="again")
    # Nothing of what was said, by judges or by Ada herself.
    assert "secret" not in read(app) + shown(app)
    assert [one.value for one in app.radio] == [None, None]
    again = state.key(RECORD_ACT, "again", 1)
    app.button(key=again).click().run()
    assert "Give a verdict on every criterion first" in shown(app)
    app.radio[0].set_value(0)
    app.radio[1].set_value(1)
    app.button(key=again).click().run()
    assert "No item is due for a second look" in shown(app)
    people = open_record(store, "Ada", queue=queue, view="people")
    # MET again on Right, UNMET on Short.
    assert "Same verdict on a second look 50% 1 of 2" in read(people)


def test_a_lead_sets_how_many_items_come_back(store: Store) -> None:
    queue = make_queue(store, 4)
    app = open_record(store, queue=queue, view="people")
    app.slider(key=state.key(RECORD_FIELD, "repeat", queue)).set_value(25).run()
    assert store.queues.get(queue).settings.repeat_share == 0.25


def test_a_cell_tells_its_story(store: Store) -> None:
    queue = make_queue(store, 4)
    ada = sit(store, "Ada")
    ticket = reviewed.take(store, ada, queue, "i1")
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)}).ticket
    commit_reveal.reveal(store, ticket)
    ticket = commit_reveal.finish(
        store, ticket, {"Right": ReviewerAnswer(MET, note="**Oh** <b>")}
    ).ticket
    claims.release(store, ticket)
    run = store.queues.get(queue).run_id
    # As the Run page links to it.
    text = read(open_record(store, run=run, item="i1", criterion="Right"))
    for told in ("said UNMET", "saw the votes", "changed UNMET to MET", "settled it as MET"):
        assert f"Ada {told}" in text
    assert "**Oh** <b>" in text


def test_nobody_reads_what_others_said_of_a_cell_that_is_open(store: Store) -> None:
    queue = make_queue(store, 4, EVERYTHING, QueueSettings(mode="blind", reviewers=2))
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", MET, note="plainly")
    address = {"queue": queue, "item": "i1", "criterion": "Right"}
    text = read(open_record(store, "Bob", **address))
    assert "Ada gave a verdict (shown once the cell is resolved)" in text
    assert "plainly" not in text
    assert "said MET" not in text
    assert "said MET, blind" in read(open_record(store, "Ada", **address))
    reviewed.settle(store, sit(store, "Bob"), queue, "i1", MET)
    assert "Ada said MET, blind" in read(open_record(store, "Bob", **address))


def test_five_files_can_be_taken_away_half_way(store: Store) -> None:
    queue = make_queue(store, 4)
    app = open_record(store, queue=queue, view="record")
    assert [one.label for one in app.get("download_button")] == [
        "Judgements, CSV",
        "Items, CSV",
        "Judgements, JSON lines",
        "Record",
        "Labelled dataset",
    ]


def test_a_fit_that_says_one_thing_of_every_cell_is_called_a_constant(store: Store) -> None:
    queue = make_queue(store, 24)
    run = store.queues.get(queue).run_id
    for n in range(24):
        reviewed.settle(
            store, sit(store, "Ada"), queue, f"i{n}", UNMET if n % 4 == 1 else MET, note="x"
        )
    offer = weight_fit.fitted_offers(store, run)[0]
    assert offer.fitted is not None
    sure = offer.fitted
    constant = sure.model_copy(update={"constant": "MET", "offered": False})
    assert "✓ offered" in fit_mark(offer, sure)
    assert "a constant" in fit_mark(replace(offer, fitted=constant), constant)
