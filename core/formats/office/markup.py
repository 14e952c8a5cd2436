"""Read XML of office files event by event, without expanding entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from xml.parsers import expat

from core.errors import InputError


class Enough(Exception):
    """Raised by a handler to stop reading."""


Attributes = Mapping[str, str]


def _ignore(_: str) -> None:
    return None


def walk(
    chunks: Iterable[bytes],
    name: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = _ignore,
    text: Callable[[str], None] = _ignore,
    quick: bool = False,
) -> None:
    """Report every tag and text of a document, without namespace prefixes.

    ``quick``: if the first tag has no prefix, all tags are reported as written.

    Raises:
        InputError: invalid XML, or entities, which no office program writes.
    """

    def report_start(tag: str, attributes: dict[str, str]) -> None:
        start(
            _local_name(tag),
            attributes and {_local_name(key): value for key, value in attributes.items()},
        )

    def refuse_declaration(*_: object) -> None:
        raise InputError("This file declares entities, which is refused.", (), name)

    def report_end(tag: str) -> None:
        end(_local_name(tag))

    def handle_first_tag(tag: str, attributes: dict[str, str]) -> None:
        plain = quick and ":" not in tag
        parser.StartElementHandler = start if plain else report_start
        parser.EndElementHandler = end if plain else report_end
        report_start(tag, attributes)

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handle_first_tag
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse_declaration
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except Enough:
        return
    except expat.ExpatError as error:
        raise InputError(f"This file is damaged: {error}.", (), name) from None


#: Cached, because a document repeats a few names.
@lru_cache(maxsize=1000)
def _local_name(name: str) -> str:
    return name.rpartition(":")[2]
