"""The JSON schemas of replies: as tight as every provider's strict mode takes them."""

from __future__ import annotations

from collections.abc import Sequence

Schema = dict[str, object]


def reply_schema(count: int) -> Schema:
    """The JSON schema of a reply to ``count`` options.

    The number is bounded, the quotes are not counted (several strict modes refuse ``maxItems``). An
    endpoint that refuses the bounds, too, is asked for plain JSON instead; see
    ``core.judging.calling``.
    """
    return _object(
        {
            "evidence": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
            "option": {"type": "integer", "minimum": 1, "maximum": count},
        }
    )


def rubric_schema(counts: Sequence[int]) -> Schema:
    """The JSON schema of a reply to several criteria with so many options each.

    One property per criterion and not a list of entries: so each has its own bound, none can be
    left out, and none can be there twice.
    """
    ids = ids_of(len(counts))
    return _object({id_: reply_schema(n) for id_, n in zip(ids, counts, strict=True)})


def ids_of(count: int) -> tuple[str, ...]:
    """The ids under which criteria are shown and answered.

    >>> ids_of(2)
    ('c1', 'c2')
    """
    return tuple(f"c{number}" for number in range(1, count + 1))


def _object(properties: dict[str, object]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
