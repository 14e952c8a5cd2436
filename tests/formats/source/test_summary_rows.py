"""Rows that are no items: means among the names of raters, where such a word may be an answer."""

from __future__ import annotations

from core.formats.source.summary_rows import summary_rows


def test_a_mean_among_the_names_of_raters_is_a_row_of_means() -> None:
    rows = [
        {"text": text, "rater": rater, "score": score}
        for text, marks in (("a", ("2", "3", "2.5")), ("b", ("4", "5", "4.5")))
        for rater, score in zip(("Kim", "Lee", "Mean"), marks, strict=True)
    ]
    assert summary_rows(["text", "rater", "score"], rows) == {2: "Mean", 5: "Mean"}


def test_average_is_an_answer_where_no_numbers_above_have_this_mean() -> None:
    # Every third answer is "average"; the marks beside it are no means of those above.
    rows = [
        {"text": f"t{n}", "reviewer verdict": ("poor", "good", "average")[n % 3]}
        | {"words": str(100 + 7 * n)}
        for n in range(9)
    ]
    assert summary_rows(["text", "reviewer verdict", "words"], rows) == {}
