"""Read XML of office files event by event, without expanding entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from xml.parsers import expat

from core.errors import InputError


#: Stops reading early.
class Enough(Exception):
    """Raised by a handler to stop reading."""


Attributes = Mapping[str, str]


def _nothing(_: str) -> None:
    return None


def walk(
    chunks: Iterable[bytes],
    name: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = _nothing,
    text: Callable[[str], None] = _nothing,
) -> None:
    """Report every tag and text of a document, without namespace prefixes.

    Raises:
        InputError: invalid XML, or entities, which no office program writes.
    """

    def opened(tag: str, given: dict[str, str]) -> None:
        start(_local(tag), {_local(key): value for key, value in given.items()})

    def declared(*_: object) -> None:
        raise InputError("This file declares entities, which is refused.", (), name)

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda tag: end(_local(tag))
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = declared
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except Enough:
        return
    except expat.ExpatError as error:
        raise InputError(f"This file is damaged: {error}.", (), name) from None


def _local(name: str) -> str:
    return name.rpartition(":")[2]
