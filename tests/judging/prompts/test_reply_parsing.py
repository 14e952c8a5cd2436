"""Reading replies: what is tolerated, what is refused, and that nothing is ever guessed."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.judging.prompts.reply_parsing import Reply, Unreadable, read_replies, read_reply

GOOD = '{"evidence": ["a quote"], "reason": "It says so.", "option": 2}'
READ = Reply(("a quote",), "It says so.", 2)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here is my verdict:\n{GOOD}\nI hope that helps, don't hesitate to ask.",
        f'The set {{a, b}} and "quotes" come first. {GOOD}',
        f'{{"option": 2}} was my first thought, and it stays: {GOOD}',
        f'{GOOD} {{"note": "no option here"}}',
        f'A 5" screen was asked for. {GOOD}',
        '{"evidence": "a quote", "reason": " It says so. ", "option": "2"}',
        '{"evidence": ["a quote", "", 5, null], "reason": "It says so.", "option": 2.0}',
        '{"evidence": ["a quote"], "reason": "It says so.", "option": " 2 ", "more": {"x": 1}}',
    ],
)
def test_a_whole_object_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_reply(text, 3) == READ


def test_braces_and_escaped_quotes_inside_strings_do_not_end_the_object() -> None:
    reply = {"evidence": ['}{ "x} \\'], "reason": '{"option": 1}', "option": 3}
    assert read_reply(f"So: {json.dumps(reply)} Done.", 3) == Reply(
        ('}{ "x} \\',), '{"option": 1}', 3
    )


@pytest.mark.parametrize("text", [None, "", "  \n\t"])
def test_nothing_is_empty(text: str | None) -> None:
    assert read_reply(text, 3) == Unreadable("empty", "The reply was empty.")


@pytest.mark.parametrize("option", ["0", "4", "-1", '"4"', "4.0", "1e300", "9" * 4000])
def test_a_number_that_was_not_shown_is_out_of_range(option: str) -> None:
    found = read_reply(f'{{"evidence": [], "reason": "", "option": {option}}}', 3)
    assert found == Unreadable("out_of_range", "The reply's option was not from 1 to 3.")


@pytest.mark.parametrize(
    "text",
    [
        "I choose option 2.",
        "2",
        "[2]",
        '"2"',
        '{"evidence": [], "reason": "no number"}',
        '{"option": true}',
        '{"option": null}',
        '{"option": "two"}',
        '{"option": "2. MET"}',
        '{"option": 2.5}',
        '{"option": [2]}',
        '{"option": NaN}',
        '{"option": Infinity}',
        '{"option": ' + "9" * 5000 + "}",
        GOOD[:-5],
        "{" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"result": ' + GOOD + "}",
    ],
)
def test_anything_else_is_malformed_and_never_a_vote(text: str) -> None:
    found = read_reply(text, 3)
    assert isinstance(found, Unreadable)
    assert found.kind == "malformed"


def test_an_object_before_one_that_was_cut_off_is_not_taken_for_the_answer() -> None:
    # The first object is a thought; the real answer was truncated and is unknown.
    found = read_reply('Maybe {"option": 1}? No: {"evidence": ["x"], "reason": "because', 3)
    assert isinstance(found, Unreadable)
    assert found.kind == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        '{"option": 2} ... {"option": 1}',
        f'{{"option": 1}} was my first thought, but: {GOOD}',
        f'{GOOD} Reply in this form: {{"option": "none"}}',
        '{"option": "2"} {"option": 2} {"option": 3}',
    ],
)
def test_two_answers_that_differ_are_no_answer(text: str) -> None:
    found = read_reply(text, 3)
    assert found == Unreadable(
        "malformed", "The reply held several answers that name other options."
    )
    # Of several criteria only the one that has two answers is lost.
    both = (
        '{"c1": {"option": 1}, "c2": {"option": 2}} So: {"c1": {"option": 1}, "c2": {"option": 1}}'
    )
    first, second = read_replies(both, {"c1": 2, "c2": 2})
    assert isinstance(first, Reply)
    assert second == Unreadable("malformed", "The reply held several answers to c2 that differ.")


def test_at_most_three_quotes_are_kept() -> None:
    found = read_reply('{"evidence": ["a", "b", "c", "d"], "reason": "r", "option": 1}', 2)
    assert isinstance(found, Reply)
    assert found.evidence == ("a", "b", "c")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("option"), inner),
    max_leaves=10,
)


@given(text=st.text() | st.text(alphabet='{}[]",:\\option 123.e-'), n=st.integers(1, 9))
@example(text='{"option": 1e999}', n=3)
@example(text="\ud800{", n=3)
def test_no_text_makes_it_raise_or_invent_a_number(text: str, n: int) -> None:
    found = read_reply(text, n)
    assert isinstance(found, Unreadable) or 1 <= found.shown <= n


@given(value=JSON_VALUES, before=st.text(), after=st.text(), n=st.integers(1, 9))
def test_no_json_makes_it_raise_or_invent_a_number(
    value: object, before: str, after: str, n: int
) -> None:
    found = read_reply(before + json.dumps(value) + after, n)
    assert isinstance(found, Unreadable) or 1 <= found.shown <= n


@given(
    evidence=st.lists(st.text(min_size=1).filter(str.strip), max_size=3),
    reason=st.text(),
    shown=st.integers(1, 5),
)
def test_what_a_strict_judge_writes_is_read_back(
    evidence: list[str], reason: str, shown: int
) -> None:
    text = json.dumps({"evidence": evidence, "reason": reason, "option": shown})
    wanted = Reply(tuple(quote.strip() for quote in evidence), reason.strip(), shown)
    assert read_reply(text, 5) == wanted
    assert read_reply(f"```json\n{text}\n```", 5) == wanted


ENTRY = {"evidence": ["a quote"], "reason": "It says so.", "option": 2}
SEVERAL = {"c1": 2, "c2": 3}


def test_each_criterion_has_its_own_reply_and_its_own_bound() -> None:
    text = json.dumps({"c1": ENTRY, "c2": {**ENTRY, "option": 3}})
    assert read_replies(text, SEVERAL) == [READ, Reply(("a quote",), "It says so.", 3)]
    assert read_replies(f"Here:\n```json\n{text}\n```", SEVERAL)[0] == READ


@pytest.mark.parametrize(
    ("entries", "kind", "message"),
    [
        ("", "malformed", "The reply left out c2."),
        (', "c3": {"option": 1}', "malformed", "The reply left out c2."),
        (
            ', "c2": {"option": 1}, "c2": {"option": 2}',
            "malformed",
            "The reply held c2 more than once.",
        ),
        (
            ', "c2": {"option": 1, "option": 2}',
            "malformed",
            "The reply's option for c2 was there more than once.",
        ),
        (', "c2": 2', "malformed", 'The reply\'s c2 was no object with the key "option".'),
        (
            ', "c2": {"reason": "x"}',
            "malformed",
            'The reply\'s c2 was no object with the key "option".',
        ),
        (
            ', "c2": [{"option": 2}]',
            "malformed",
            'The reply\'s c2 was no object with the key "option".',
        ),
        (
            ', "c2": {"option": "MET"}',
            "malformed",
            "The reply's option for c2 was not a whole number.",
        ),
        (
            ', "c2": {"option": 4}',
            "out_of_range",
            "The reply's option for c2 was not from 1 to 3.",
        ),
    ],
)
def test_an_entry_that_cannot_be_read_fails_alone(entries: str, kind: Any, message: str) -> None:
    text = f'{{"c1": {json.dumps(ENTRY)}{entries}}}'
    assert read_replies(text, SEVERAL) == [READ, Unreadable(kind, message)]


@pytest.mark.parametrize(
    "text",
    [
        "c1: 2, c2: 3",
        json.dumps([{"id": "c1", **ENTRY}, {"id": "c2", **ENTRY}]),
        json.dumps({"criteria": {"c1": ENTRY, "c2": ENTRY}}),
        json.dumps(ENTRY),
        '{"c1": {"option": 2}, "c2": {"opt',
        "{}",
    ],
)
def test_a_reply_in_another_form_is_malformed_for_all(text: str) -> None:
    assert {one.kind for one in read_replies(text, SEVERAL) if isinstance(one, Unreadable)} == {
        "malformed"
    }
    assert not any(isinstance(one, Reply) for one in read_replies(text, SEVERAL))


def test_an_empty_reply_is_empty_for_all() -> None:
    assert read_replies(" ", SEVERAL) == [Unreadable("empty", "The reply was empty.")] * 2


def test_an_option_named_twice_is_no_vote() -> None:
    found = read_reply('{"option": 1, "option": 2}', 3)
    assert found == Unreadable("malformed", "The reply's option was there more than once.")


@given(value=JSON_VALUES, entry=JSON_VALUES, before=st.text(), n=st.integers(1, 9))
def test_no_json_makes_several_replies_raise_or_invent_a_number(
    value: object, entry: object, before: str, n: int
) -> None:
    for text in (json.dumps({"c1": value, "c2": entry}), before + json.dumps(value)):
        for found in read_replies(text, {"c1": n, "c2": n}):
            assert isinstance(found, Unreadable) or 1 <= found.shown <= n
