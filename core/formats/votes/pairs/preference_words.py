"""Words that say which of two answers is better, in several languages."""

from __future__ import annotations

import re
from functools import lru_cache

from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE
from core.formats.source.heading_words import plain_heading
from core.text.names import fold

LEFT = frozenset(("first", "left", "links", "gauche", "izquierda", "esquerda", "sinistra", "lewa"))
RIGHT = frozenset(("second", "right", "rechts", "droite", "derecha", "direita", "destra", "prawa"))
_FIRST = LEFT | {"l", "erste", "premiere", "primera", "primeira", "prima", "eerste", "pierwsza"}
_SECOND = RIGHT | {"r", "zweite", "deuxieme", "segunda", "seconda", "tweede", "druga"}
_ANSWERS = (
    r"model|system|response|answer|output|completion|generation|translation|summary|reply|option"
    r"|candidate|assistant|text|version|antwort|ubersetzung|fassung|reponse|traduction|texte"
    r"|respuesta|traduccion|texto|resposta|traducao|versao|risposta|traduzione|testo|versione"
    r"|antwoord|tekst|vertaling|odpowiedz|svar|opcion|opzione|opcao|optie|opcja"
)
#: Words around an answer that say how much better it is, or that add nothing.
_DEGREES = re.compile(
    r"\b((?P<much>much|far|slightly|somewhat|clearly|significantly|strongly|marginally"
    r"|moderately|considerably|vastly|a (?:lot|bit|little)|little"
    r"|viel|etwas|weitaus|wesentlich|deutlich|leicht|klar|ein (?:wenig|bisschen)|een beetje"
    r"|u[nm] (?:peu|poco|po|pouco|tanto|tantinho)|beaucoup|bien|assai|legerement|nettement"
    r"|mucho|algo"
    r"|ligeramente|claramente|molto|poco|leggermente|nettamente|muito|pouco|ligeiramente|veel|iets"
    r"|duidelijk|duzo|znacznie|troche|nieco)"
    r"|is|are|was|the|prefer|preferred|i|better|best|wins?|ist|besser|est|meilleure?|mieux|es|mejor"
    r"|migliore|melhor|is|beter|lepsza|lepszy|battre|bedre)\b"
    r"|更好|更佳|更优|较好|比较好|の方が(?:良|い)い|のほうが(?:良|い)い|가 더 (?:좋음|낫다)"
)
_EQUAL = re.compile(
    r"\b(tied?\b|equal|same|draw\b|similar|indifferent|no (\w+ )?(difference|preference)|neutral"
    r"|neither (\w+ )?better|gleich|unentschied|kein(e|er)? (unterschied|praferenz|besser)|remis"
    r"|egal|ex aequo|pareil|pas de (difference|preference)|sans preference|match nul"
    r"|empat|iguais|igual|egaux|equivalent|even\b"
    r"|indistint|sin (diferencia|preferencia)|sem (diferenca|preferencia)"
    r"|pari\b|parita|paregg|ugual|nessuna (differenza|preferenza)|gelijk|geen (verschil|voorkeur)"
    r"|rown|bez roznicy|jednakow|lika\b|oavgjort|uavgjort|tasapeli|ничья|одинаков|без разницы)"
    r"|平局|一样|相同|差不多|相当|不相上下|同し|同等|同程度|引き分け|무승부|같음|비슷"
)
_BOTH = re.compile(r"\b(both|beide|les deux|ambos|ambas|entramb|obie|obydw)")
_BAD = re.compile(
    r"bad\b|poor|schlecht|mauvais|\bmal[oa]s?\b|\bruin|cattiv|scars|slecht|\bzl[aey]\b"
)
_BETTER = re.compile(r"\b(better|besser|mieux|meilleur|mejor|miglior|melhor|beter|lepsz|worse)")
_NEITHER = re.compile(
    r"(neither|keine|aucune?|ningun[oa]?|nessun[oa]|nenhuma?|geen|zadn[aey])"
    r"( (of them|von beiden|des deux|de las dos|delle due|das duas|van beide))?"
)
#: `A>B`, `b << a`, `A = B`.
_RELATION = re.compile(r"(.+?)\s*(>+|<+|~?=+|≈)\s*(.+)")


# A table has few different words, and a row for each of its many answers.
@lru_cache(maxsize=4096)
def option_of(word: str, first: str, second: str) -> str | None:
    """Return the option that a word names beside answers with these headings, or ``None``.

    >>> option_of("A is much better", "answer_a", "answer_b"), option_of("B>>A", "one", "two")
    ('A is better', 'B is better')
    >>> option_of("ex æquo", "texte 1", "texte 2"), option_of("gpt4", "gpt4_response", "b")
    ('Tie', 'A is better')
    >>> option_of("", "Left text", "Right text"), option_of("is better", "left", "right")
    (None, None)
    """
    bare = fold(word).strip("[]() .!")
    if not bare or re.match(r"[-−]\d", bare):  # -1 is a number, not the end of a heading
        return None
    if match := _RELATION.fullmatch(bare):
        if match[2].strip("~=≈") == "":
            return TIE
        better, worse = (match[1], match[3]) if match[2][0] == ">" else (match[3], match[1])
        option = _side_of(better, first, second) or _LETTERS.get(better)
        other = _side_of(worse, first, second) or _LETTERS.get(worse)
        return option if option != other else None
    said = plain_heading(bare.replace("æ", "ae").replace("un po'", "un po"))
    if _side_of(said, first, second):
        return _side_of(said, first, second)
    if (
        bare in ("c", "=")
        or (_BOTH.match(said) and not _BETTER.search(said))
        or _EQUAL.search(said)
    ):
        is_tie = not _BETTER.search(_EQUAL.sub("", said))
        return (BOTH_BAD if _BAD.search(said) else TIE) if is_tie else None
    if _NEITHER.fullmatch(said):
        return BOTH_BAD
    return _side_of(" ".join(_DEGREES.sub(" ", said).split()), first, second)


_LETTERS = {"a": A_BETTER, "b": B_BETTER}


@lru_cache(maxsize=4096)
def is_graded_preference(word: str) -> bool:
    """Return whether a word also says how much better an answer is.

    >>> [is_graded_preference(word) for word in ("A slightly better", "A>>B", "A is better")]
    [True, True, False]
    """
    degrees = _DEGREES.finditer(plain_heading(word))
    return ">>" in word or "<<" in word or any(match["much"] for match in degrees)


def _side_of(word: str, first: str, second: str) -> str | None:
    """Return the side that a word is: a heading, its letter or system, left or right."""
    if not word:
        return None
    plain = plain_heading(word)
    for option, usual, heading in ((A_BETTER, _FIRST, first), (B_BETTER, _SECOND, second)):
        if plain in usual or (heading and plain == plain_heading(heading)):
            return option
        if heading and _distinctive_part(plain) in (
            _distinctive_part(plain_heading(heading)),
            heading_end(heading),
        ):
            return option
    return None


def _distinctive_part(words: str) -> str:
    """Return a heading without the words for any answer: the letter, or the system."""
    return " ".join(re.sub(rf"\b({_ANSWERS})s?\b", " ", words).split()) or words


def heading_end(heading: str) -> str:
    """Return the last letter or number of a heading, or "".

    >>> [heading_end(name) for name in ("response_a", "Answer 2", "回答A", "responses[1]")]
    ['a', '2', 'a', 'b']
    """
    if match := re.fullmatch(r".+\[([01])\]", heading):
        return "ab"[int(match[1])]
    match = re.fullmatch(
        r".*[^\W\d_].*?(?:[\s_.-]+(\w)|(\d+|(?<=[\u3040-\u9fff])[a-z]))", fold(heading).strip()
    )
    return (match[1] or match[2] or "") if match else ""
