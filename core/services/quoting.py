"""Where a judge's quote stands in the text it was taken from."""

from __future__ import annotations

import unicodedata

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-"})
_EDGES = " \t\n\"'.…"


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    r"""The span ``(start, end)`` of ``quote`` in ``text``, or ``None`` where it is not there.

    The exact words are looked for first. Then case, runs of white space, kinds of quotation marks
    and dashes, and marks around the quote do not count: models copy carelessly, but what is not
    there word by word is not found.

    >>> find_quote("The  Sun\nrises.", '"the sun rises"')
    (0, 14)
    >>> find_quote("The sun rises.", "The moon rises") is None
    True
    """
    if not quote.strip():
        return None
    exact = text.find(quote)
    if exact >= 0:
        return exact, exact + len(quote)
    folded, places = _folded(text)
    wanted = _folded(quote.strip(_EDGES + "“”„‘’"))[0].strip()
    at = folded.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place it came from."""
    letters, places = list[str](), list[int]()
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            plain = " "
        else:
            plain = unicodedata.normalize("NFKC", letter).casefold().translate(_QUOTES)
        letters += plain
        places += [place] * len(plain)
    return "".join(letters), places
