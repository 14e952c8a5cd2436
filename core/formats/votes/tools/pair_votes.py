"""Votes on pairs of answers from Chatbot Arena and MT-Bench, as contests.

An item is a task under two systems, in the order in which they were shown. The question is which
answer is better, overall or by several criteria. MT-Bench's judge saw each pair in both orders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE
from core.formats.columns.text_columns import text_shape
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.tables.table import Table
from core.formats.votes.structure.values import first_rows
from core.formats.votes.tools.fields import fields_of_items, value_as_text
from core.formats.votes.tools.messages import conversation_text, objects_in, shared_turns
from core.formats.votes.tools.shapes import Rows, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolQuestion, ToolResults

OVERALL = "overall"
#: With more raters, individuals do not matter and count as one.
MOST_RATERS = 200
_ASKED = "Which answer serves the one who set the task better, all things considered?"
_WORTH = {A_BETTER: 1.0, B_BETTER: 0.0, TIE: 0.5, BOTH_BAD: 0.5}
_TEXTLESS = {"first": "", "second": ""}
_SAID = {
    "a": A_BETTER,
    "model_a": A_BETTER,
    "b": B_BETTER,
    "model_b": B_BETTER,
    "tie": TIE,
    "tie (inconsistent)": TIE,
    "tie (bothbad)": BOTH_BAD,
    "both_bad": BOTH_BAD,
    "bothbad": BOTH_BAD,
}


class PairContests:
    """Collects pairs in their order."""

    def __init__(self, kind: Any, title: str) -> None:
        self.found = ToolResults(kind, title)
        self._places: dict[str, int] = {}
        self._met: dict[tuple[str, frozenset[str]], str] = {}

    def item_of_pair(self, task: str, a: str, b: str, fields: Mapping[str, Any]) -> str:
        """Return the item of a pair as shown, adding it if it is new."""
        first, second = (self._places.setdefault(name, len(self._places)) for name in (a, b))
        id = f"{task} · {first}-{second}"[:480]
        leads = self._met.setdefault((task, frozenset((a, b))), id)
        meta = {
            "task": task,
            "first": a,
            "second": b,
            "swapped": first > second,
            "leads": leads == id,
            "sources": [f"{task} · {a}", f"{task} · {b}"],
        }
        if fields["submission"] == _TEXTLESS:
            meta[TEXT_AVAILABLE] = False
        self.found.items.setdefault(id, {**fields, "meta": meta})
        return id

    def vote(
        self,
        item: str,
        rater: str,
        kind: RaterKind,
        choice: str | None,
        reason: str,
        question: str = OVERALL,
    ) -> None:
        """Add an answer; ``None`` if the rater gave no readable one."""
        self.found.answers.append(ToolAnswer(item, question, rater, kind, choice, reason))

    def results(self) -> ToolResults:
        """Return all results; "both bad" is an option only if it was chosen."""
        results = self.found
        choices = {answer.value for answer in results.answers}
        labels = [A_BETTER, B_BETTER, TIE, *([BOTH_BAD] if BOTH_BAD in choices else [])]
        options = tuple((label, _WORTH[label]) for label in labels)
        for name in dict.fromkeys(answer.question for answer in results.answers):
            asked = _ASKED if name == OVERALL else f"Which answer is better by this: {name}?"
            results.questions[name] = ToolQuestion(asked, options, nominal=True)
        raters = {answer.rater for answer in results.answers}
        if len(raters) > MOST_RATERS:
            results.answers = [answer._replace(rater="people") for answer in results.answers]
            results.note(f"{len(raters):,} people voted; they are one rater here, 'people'.")
        swapped = len(results.items) > len(self._met)
        design = {
            **({} if swapped else {"orders": "one"}),
            **({"both_bad": True} if BOTH_BAD in choices else {}),
        }
        results.contest = {"design": design, "systems": list(self._places), "datasets": []}
        return results


class PairTasks:
    """Names the task of a row: its id, made unique if other answers have the same id."""

    def __init__(self) -> None:
        self._first: dict[str, dict[str, str]] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self._used = Counter[str]()

    def swap_if_reversed(self, task: str, fields: dict[str, Any]) -> bool:
        """Return whether a row has a task's answers in reverse order; if so, swap them."""
        first = self._first.setdefault(task, fields["submission"])
        is_reversed = bool(first != fields["submission"])
        fields["submission"] = first
        return is_reversed

    def task_name(self, id: Any, fields: Mapping[str, Any]) -> str:
        """Return the name of the task with these answers, in either order."""
        answers = sorted(fields["submission"].values())
        task = "" if id in (None, "") else str(id)
        key = (task, *(() if task else (fields["prompt"],)), *answers)
        if key not in self._names:
            self._used[task] += 1
            number = self._used[task]
            again = f"{task} ({number})" if number > 1 else task
            self._names[key] = again if task else f"pair {number}"
        return self._names[key]


# Chatbot Arena, and people's judgments of MT-Bench


def _read_arena(rows: Rows, title: str) -> ToolResults:
    contests = PairContests("arena", title)
    strange = 0
    for at, row in enumerate(rows, start=1):
        choice = _SAID.get(str(row["winner"]).strip().casefold())
        strange += choice is None
        talks = [objects_in(row.get(f"conversation_{side}")) for side in "ab"]
        asked = row.get("prompt") or row.get("question")
        turn, question = row.get("turn"), row.get("question_id")
        task = f"row {at}" if question in (None, "") else str(question)
        task = f"{task}, turn {turn}" if turn is not None else task
        shared = shared_turns(*talks)
        fields: dict[str, Any] = {"prompt": conversation_text(talks[0][:shared] or asked)}
        if all(talks):
            first, second = (conversation_text(talk[shared:]) for talk in talks)
            fields["submission"] = {"first": first, "second": second}
        item = contests.item_of_pair(
            task, str(row["model_a"]), str(row["model_b"]), _pair_texts(fields)
        )
        rater = str(row.get("judge") or row.get("judge_user") or "person")
        model = isinstance(row.get("judge"), list) or rater.startswith(("gpt", "claude"))
        contests.vote(item, rater, "llm" if model else "human", choice, "")
    if strange:
        contests.found.note(f"{strange:,} votes name no winner; they are failures.")
    return contests.results()


def _pair_texts(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the texts of a pair, empty if they are in another file."""
    return fields if "submission" in fields else fields | {"submission": dict(_TEXTLESS)}


# MT-Bench's own pairs: the judge saw model 1 as A in the first game, and as B in the second


def _read_pairs(rows: Rows, title: str) -> ToolResults:
    contests = PairContests("mt_bench", title)
    for row, fields in zip(rows, _texts_beside(rows), strict=True):
        first, second = str(row["model_1"]), str(row["model_2"])
        task = f"question {row['question_id']}, turn {row.get('turn', 1)}"
        judge = row["judge"]
        rater = str(judge[0] if isinstance(judge, list) and judge else judge)
        for game, (a, b) in (("g1", (first, second)), ("g2", (second, first))):
            winner = str(row[f"{game}_winner"])
            named = {"model_1": first, "model_2": second}.get(winner)
            choice = {a: A_BETTER, b: B_BETTER}.get(named or "") or (
                TIE if winner == "tie" else None
            )
            answers = [*fields["submission"].values()][:: 1 if game == "g1" else -1]
            shown = {"submission": dict(zip(("first", "second"), answers, strict=True))}
            item = contests.item_of_pair(task, a, b, fields | shown)
            contests.vote(item, rater, "llm", choice, str(row.get(f"{game}_judgment") or ""))
    return contests.results()


def _texts_beside(rows: Rows) -> list[dict[str, Any]]:
    """Return the texts of each row: those of the answers are empty if other files hold them."""
    others = [{k: v for k, v in row.items() if k not in _ROLES_OF_PAIRS} for row in rows]
    texts = [{key: value_as_text(value) for key, value in row.items()} for row in others]
    columns = tuple(dict.fromkeys(key for row in texts for key in row))
    table = first_rows(Table("", "json", columns, tuple(texts), (None,) * len(texts)))
    answers = [c for c in columns if (shape := text_shape(table, c)) and shape.sentences]
    sides = [(c, of) for c in answers if (of := _heading_of_second(c)) in answers and of != c]
    first, second = sides[0] if len(sides) == 1 else ("", "")
    told = [{k: v for k, v in row.items() if k not in (first, second)} for row in others]
    about = fields_of_items(
        [row | {"submission": of.get(first, "")} for row, of in zip(told, texts, strict=True)]
    )
    return [
        fields | {"submission": {"first": of.get(first, ""), "second": of.get(second, "")}}
        for fields, of in zip(about, texts, strict=True)
    ]


_SECOND = {"1": "2", "a": "b", "A": "B", "first": "second", "First": "Second"}


def _heading_of_second(heading: str) -> str:
    """Return the heading of the second of two answers, from that of the first.

    >>> _heading_of_second("answer_1"), _heading_of_second("Reply A"), _heading_of_second("data")
    ('answer_2', 'Reply B', 'data')
    """
    return re.sub(r"1|(?<![^\W_])[aA](?![^\W_])|[fF]irst", lambda m: _SECOND[m[0]], heading)


_OF_ARENA = {"model_a", "model_b", "winner"}
_OF_PAIRS = {"question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge"}


def _is_arena(row: Mapping[str, Any]) -> bool:
    """Return whether a row is the Arena's: with conversations, or without any text.

    With texts in other columns it is a table of pairs.
    """
    talks = isinstance(row.get("conversation_a"), list)
    return row.keys() >= _OF_ARENA and (talks or not any(map(_has_text, row.values())))


def _has_text(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and len(value.split()) > 3


ARENA = of_rows(
    _is_arena,
    _read_arena,
    roles={
        **dict.fromkeys(("question_id", "turn"), "item"),
        **dict.fromkeys(("judge", "judge[]", "judge_user"), "rater"),
        "model_a": "first_system",
        "model_b": "second_system",
        "winner": "label",
        "conversation_a[].content": "first",
        "conversation_b[].content": "second",
    },
)
_ROLES_OF_PAIRS = {
    **dict.fromkeys(("question_id", "turn"), "item"),
    **dict.fromkeys(("judge", "judge[]"), "rater"),
    "model_1": "first_system",
    "model_2": "second_system",
    **dict.fromkeys(("g1_winner", "g2_winner"), "label"),
    **dict.fromkeys(("g1_judgment", "g2_judgment"), "reason"),
}
MT_BENCH_PAIRS = of_rows(
    lambda row: row.keys() >= _OF_PAIRS,
    _read_pairs,
    roles=_ROLES_OF_PAIRS,
)
