"""The arena's logic: blind, once each, taken back, gone on with."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset
from core.services.pairwise import arena_people, blind_arena
from core.services.pairwise.design import Design
from core.store.store import Store
from pages.ui import routes
from tests.browser.hostile import hostile
from tests.pages.conftest import open_page, shown
from tests.pages.contested import held
from tests.pages.pairwise.test_page import scored
from tests.services.pairwise.world import dataset

PAGE = routes.ARENA
SYSTEMS = ("weak", "best")


def press(app: AppTest, key: str) -> AppTest:
    next(one for one in app.button if one.key == key).click().run()
    assert not app.exception
    return app


def keys_of(app: AppTest) -> list[str]:
    return [one.key or "" for one in app.button if (one.key or "").startswith("arena_act/vote")]


def entered(run_id: int, person: str = "Zoe") -> AppTest:
    """The arena after somebody gave a name and pressed Start."""
    app = open_page(PAGE, run=str(run_id))
    app.text_input[0].set_value(person)
    next(one for one in app.button if one.label == "Start").click().run()
    assert not app.exception
    return press(app, "arena_act/start")


def better(app: AppTest) -> str:
    """The letter of the answer that is worth more."""
    page = shown(app)
    a, b = (int(part[0]) for part in page.split(" worth ")[1:3])
    return "A" if a > b else "B"


def test_without_a_contest_it_says_where_one_is_held(store: Store) -> None:
    app = open_page(PAGE)
    app.text_input[0].set_value("Zoe")
    next(one for one in app.button if one.label == "Start").click().run()
    assert "No contest yet" in shown(app)


def test_the_list_of_contests_names_no_system(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=2)
    app = open_page(PAGE)
    app.text_input[0].set_value("Zoe")
    next(one for one in app.button if one.label == "Start").click().run()
    page = shown(app)
    assert "you have not voted" in page
    assert f"Contest {run_id}" in str([link.proto for link in app.get("page_link")])
    assert "weak" not in page + str([link.proto for link in app.get("page_link")])


def test_names_are_there_after_the_vote_and_gone_with_the_next_contest(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=3)
    app = entered(run_id)
    assert keys_of(app) == [f"arena_act/vote/{c}" for c in ("A", "B", "tie", "none")]
    assert "best" not in shown(app)
    page = shown(press(app, f"arena_act/vote/{better(app)}"))
    assert "You chose <b>best</b>" in page
    assert "The judges: <b>best</b>" in page
    assert "the same" in page
    assert "agree on 1 of 1 (100%)" in page
    assert keys_of(app) == []
    page = shown(press(app, "arena_act/next"))
    assert "best" not in page
    assert "<b>2</b> of 3" in page


def test_both_bad_is_offered_where_the_judges_could_say_it(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=1, design=Design(both_bad=True))
    assert "arena_act/vote/both_bad" in keys_of(entered(run_id))


def test_not_to_answer_is_neither_the_same_nor_another_answer(store: Store) -> None:
    app = press(entered(held(store, "ada", systems=SYSTEMS, tasks=1)), "arena_act/vote/none")
    page = shown(app)
    assert "You chose <b>no answer</b>" in page
    assert "the same</span>" not in page
    assert "no contest yet has been decided by both you and the judges" in page


def test_a_vote_taken_back_is_kept_and_counts_no_more(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=3)
    app = press(entered(run_id), "arena_act/vote/tie")
    page = shown(press(app, "arena_act/undo"))
    assert "Your last vote is withdrawn" in page
    assert "<b>2</b> of 3" in page  # another contest: the names of that one were seen
    (arena,) = arena_people.arenas_of(store, [run_id])
    assert (arena.votes, arena.withdrawn) == (1, 1)
    assert blind_arena.people_judge_agreement(store, [arena.run_id])[""][0].n == 0
    assert next(one for one in app.button if one.key == "arena_act/undo").disabled


def test_one_goes_on_where_one_stopped_and_nothing_comes_twice(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=3)
    app = press(entered(run_id), "arena_act/vote/A")
    app = press(press(app, "arena_act/next"), "arena_act/leave")
    assert "1 of 3" in shown(app)
    again = entered(run_id, "zoe ")
    assert "<b>2</b> of 3" in shown(again)
    for _ in range(2):
        press(press(again, "arena_act/vote/B"), "arena_act/next")
    assert "You have voted on every contest" in shown(again)
    assert len(arena_people.arenas_of(store, [run_id])) == 1


def test_a_vote_given_in_another_window_meanwhile_is_not_overwritten(store: Store) -> None:
    run_id = held(store, "ada", systems=SYSTEMS, tasks=2)
    app = entered(run_id)
    (arena,) = arena_people.arenas_of(store, [run_id])
    blind = blind_arena.next_blind(store, arena.run_id)
    assert blind is not None
    blind_arena.vote(store, arena.run_id, blind.item, blind.question, "tie")
    press(app, "arena_act/vote/A")
    assert "This contest has your vote already" in shown(app)
    assert "<b>2</b> of 2" in shown(app)


def test_a_run_that_is_no_contest_is_refused(store: Store) -> None:
    run_id = scored(store, held(store, "ada", systems=SYSTEMS, tasks=1))
    app = open_page(PAGE, run=str(run_id))
    app.text_input[0].set_value("Zoe")
    next(one for one in app.button if one.label == "Start").click().run()
    assert f"Run {run_id} is not a contest" in shown(app)


def test_answers_and_names_that_attack_are_shown_as_they_are(store: Store) -> None:
    data: Dataset = dataset((hostile("one"), hostile("two")), 1)
    items = tuple(
        item.model_copy(
            update={"submission": f"{item.submission}\n{hostile('answer')}", "prompt": hostile("p")}
        )
        for item in data.items
    )
    app = entered(held(store, "ada", data=data.model_copy(update={"items": items})))
    for page in (shown(app), shown(press(app, "arena_act/vote/A"))):
        assert "<script>" not in page
        assert "<img" not in page
