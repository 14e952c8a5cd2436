"""Segments as the messages of a chat request, and where providers may keep what is shared."""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.votes import Segment

JOINT = "\n\n"


def messages(segments: Iterable[Segment]) -> list[dict[str, str]]:
    r"""Chat messages: neighbours of the same role become one message, a blank line between.

    >>> messages([Segment("system", "S"), Segment("user", "a"), Segment("user", "b")])
    [{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': 'a\n\nb'}]
    """
    sent: list[dict[str, str]] = []
    for segment in segments:
        if sent and sent[-1]["role"] == segment.role:
            sent[-1]["content"] += f"{JOINT}{segment.text}"
        else:
            sent.append({"role": segment.role, "content": segment.text})
    return sent


def shared_ends(segments: Iterable[Segment]) -> tuple[tuple[int, int], ...]:
    """Where pieces end that other calls share: (index of the message, characters into it).

    >>> shared_ends([Segment("user", "ab", shared=True), Segment("user", "c")])
    ((0, 2),)
    """
    ends, role, index, length = list[tuple[int, int]](), "", -1, 0
    for segment in segments:
        if segment.role == role:
            length += len(JOINT) + len(segment.text)
        else:
            role, index, length = segment.role, index + 1, len(segment.text)
        if segment.shared:
            ends.append((index, length))
    return tuple(ends)
