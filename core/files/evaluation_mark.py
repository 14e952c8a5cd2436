"""What a table of Gradescope's evaluations begins with."""

from __future__ import annotations

#: The two columns that no other table has.
MARKS = ("Assignment Submission ID", "Question Submission ID")


def looks_like_evaluations(data: bytes) -> bool:
    r"""Whether a file begins like such a table.

    >>> looks_like_evaluations(b"Assignment Submission ID,Question Submission ID,Score\n1,2,3")
    True
    """
    head = data[:4000].split(b"\n", 1)[0]
    return all(mark.encode() in head for mark in MARKS)
