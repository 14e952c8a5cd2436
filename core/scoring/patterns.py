"""Patterns for pre-checks: families, personal data, and phrases in any spelling."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import NamedTuple

from core.domain.gates import Family

#: The named group marks the match. Each string is a template for ``compile_template``, with spaces
#: removed.
PERSONAL = (
    r"(?P<ssn>(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4})",
    r"(?P<card>\d(?:[\s-]?\d){12,18})",
    r"(?P<iban>[a-z]{2}\d{2}(?:\s?[a-z0-9]{4}){2,7}(?:\s?[a-z0-9]{1,3})?)",
    r"(?P<email>[a-z0-9_.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4})",
    r"(?P<phone>\+\d(?:[\s.()/-]?\d){7,14})",
    r"(?:password|passwd|passphrase|passcode|pwd|api[\s_-]?key|secret[\s_-]?key|access[\s_-]?token)"
    r"[\"']?\s{0,3}(?:is:?|=|:=|:|->)\s{0,3}(?P<quote>[\"'])?(?P<secret>[^\s\"',;]{4,80})",
    r"pin[\s_-]?(?:code|number)?\s{0,3}(?:is:?|=|:)\s{0,3}(?P<pin>\d{4,8})",
)
_NOBODYS = re.compile(r"@(?:[a-z0-9-]+\.)*(?:example|test|invalid|localhost|domain)(?:\.[a-z]+)?$")
_NOT_VALUES = frozenset(
    ("password", "passphrase", "required", "changeme", "secret", "optional", "unknown")
)


def is_personal(match: re.Match[str]) -> bool:
    """Return whether a match's digits or words are plausible for its pattern."""
    kind = match.lastgroup
    groups = match.groupdict()
    if groups.get("card"):
        return _is_card_number(groups["card"])
    if groups.get("iban"):
        return _is_account_number(groups["iban"])
    if groups.get("email"):
        return _NOBODYS.search(groups["email"]) is None
    if groups.get("secret"):
        return _is_secret(groups["secret"], quoted=bool(groups.get("quote")))
    return kind is not None


def _is_card_number(text: str) -> bool:
    """Return whether a card number's check digit is right (Luhn, US patent 2950048, 1960).

    >>> _is_card_number("4111 1111 1111 1111"), _is_card_number("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in text if c.isdecimal()]
    doubled = [d if at % 2 == 0 else sum(divmod(2 * d, 10)) for at, d in enumerate(digits[::-1])]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_account_number(text: str) -> bool:
    """Return whether an account number's check digits are right (ISO 13616, mod 97-10).

    >>> _is_account_number("gb82 west 1234 5698 7654 32")
    True
    >>> _is_account_number("gb83 west 1234 5698 7654 32")
    False
    """
    plain = "".join(text.split())
    rearranged = plain[4:] + plain[:4]
    return len(plain) >= 15 and int("".join(str(int(c, 36)) for c in rearranged)) % 97 == 1


def _is_secret(value: str, *, quoted: bool) -> bool:
    """Return whether the text after ``password =`` is a value, not code or a placeholder.

    >>> _is_secret("hunter2", quoted=False), _is_secret("os.environ[", quoted=False)
    (True, False)
    """
    value = value.rstrip(".!?)")
    if value in _NOT_VALUES or set(value) & set("()[]{}<>$%") or len(set(value)) < 3:
        return False
    has_digit = any(c.isdigit() for c in value)
    has_mark = any(not c.isalnum() and c not in "._-/" for c in value)
    return len(value) >= 4 and (quoted or has_digit or has_mark)


# Phrases in text, ignoring case, accents, kinds of quotes and look-alike characters.
#
# ``FoldedText`` normalises a text and remembers the origin of each character, so that findings can
# be shown in their original spelling. Every pattern built here takes time linear in the text: gaps
# and wildcards are bounded, and separators never overlap with words.

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        # Cyrillic and Greek letters that look like Latin ones.
        **dict(zip("асеорхуіѕјԁкмтвн", "aceopxyisjdkmtbh", strict=True)),
        **dict(zip("αορτικν", "aoptikv", strict=True)),
    }
)
#: Patterns of the characters that may separate two words of a phrase, and of a word that a gap may
#: skip.
SEPARATOR = r"[^\w.!?;]{1,6}"
_WORD = r"\w{1,40}"
# A run of marks matches only at its start. Otherwise a run of ten thousand marks would take
# seconds.
_BREAK = re.compile(r"(?<![.!?])[.!?]+[\"')\]]*(?=\s|$)|\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,3}[.)])\s)")


class FoldedText:
    """A normalised text: lower case, no accents, plain quotes, no invisible characters."""

    def __init__(self, original: str) -> None:
        self.original = original
        self._at: list[int] | None = None
        self._found = dict[re.Pattern[str], list[tuple[int, int]]]()
        self._ends = dict[int, int]()
        if original.isascii():
            self.text = original.lower()
            return
        parts, at = list[str](), list[int]()
        for index, character in enumerate(original):
            plain = _fold_character(character)
            parts.append(plain)
            at.extend([index] * len(plain))
        self.text, self._at = "".join(parts), at

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original position of a non-empty stretch of the normalised text."""
        if self._at is None:
            return start, end
        return self._at[start], self._at[end - 1] + 1

    def first_match(self, pattern: re.Pattern[str], low: int, high: int) -> str:
        """Return the first match of a pattern within a stretch of the normalised text, or "".

        All matches are found once and cached, so a text full of findings does not take quadratic
        time.
        """
        spans = self._spans(pattern)
        at = bisect_left(spans, (low, 0))
        return self._original_text(spans[at]) if at < len(spans) and spans[at][1] <= high else ""

    def last(self, pattern: re.Pattern[str], low: int, high: int) -> tuple[str, int]:
        """Return the last match within the stretch and its end, or an empty one."""
        spans = self._spans(pattern)
        at = bisect_right(spans, high, key=lambda span: span[1]) - 1
        if at < 0 or spans[at][0] < low:
            return "", low
        return self._original_text(spans[at]), spans[at][1]

    def _spans(self, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
        if pattern not in self._found:
            all_spans = (match.span() for match in pattern.finditer(self.text))
            self._found[pattern] = [span for span in all_spans if span[0] < span[1]]
        return self._found[pattern]

    def _original_text(self, span: tuple[int, int]) -> str:
        return self.text[span[0] : span[1]]

    def asks(self, start: int, end: int) -> bool:
        """Return whether a stretch of the normalised text ends with a question mark."""
        if end not in self._ends:
            at = end
            while at > 0 and self.text[at - 1].isspace():
                at -= 1
            self._ends[end] = at
        return self._ends[end] > start and self.text[self._ends[end] - 1] == "?"

    @cached_property
    def _sentence_breaks(self) -> list[int]:
        return [match.end() for match in _BREAK.finditer(self.text)]

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the bounds, in the normalised text, of the sentences that contain a passage.

        A sentence ends with its mark, at an empty line, and before a list item.
        """
        before = bisect_right(self._sentence_breaks, start)
        after = bisect_left(self._sentence_breaks, end)
        low = self._sentence_breaks[before - 1] if before else 0
        return low, self._sentence_breaks[after] if after < len(self._sentence_breaks) else len(
            self.text
        )


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character.casefold().translate(_PLAIN))
    letters = (c for c in plain if unicodedata.category(c) not in ("Mn", "Cf"))
    return "".join(letters).translate(_PLAIN)


def compile_template(template: str) -> re.Pattern[str]:
    r"""Compile a template: a regular expression in which a space separates words.

    ``<n>`` after a space stands for up to ``n`` further words.

    >>> compile_template("make <2> (?:bomb|gun)s?").search("to make a very small bomb") is None
    True
    >>> compile_template("make <2> (?:bomb|gun)s?").search("to make a small-bomb").group()
    'make a small-bomb'
    """
    gapped = re.sub(r" <(\d)>", lambda m: f"(?:{SEPARATOR}{_WORD}){{0,{m.group(1)}}}?", template)
    return re.compile(rf"(?<!\w)(?:{gapped.replace(' ', SEPARATOR)})(?!\w)")


@lru_cache(maxsize=1024)
def compile_phrase(words: str) -> re.Pattern[str]:
    """Compile an author's phrase (``core.domain.gates``).

    >>> compile_phrase("explos* ... <number>").search("explosives, of which 30").group()
    'explosives, of which 30'
    """
    gap = f"(?:{SEPARATOR}{_WORD}){{0,8}}?"
    parts = list[str]()
    for word in FoldedText(words).text.split():
        if word == "...":
            parts.append(gap)
            continue
        pattern = re.escape(word).replace(r"\*", r"\w{0,40}").replace("<number>", r"\d{1,40}")
        parts.append((SEPARATOR if parts else "") + pattern)
    joined = "".join(parts)
    boundary = r"(?<!\w)" if re.match(r"[\w*<]", words.strip()) else ""
    right = r"(?!\w)" if re.search(r"[\w*>]$", words.strip()) else ""
    return re.compile(f"{boundary}{joined}{right}")


# The ready-made families of pre-check patterns, and the excuses for their findings.
#
# Templates are as in ``compile_template``. A family looks for *instructions*, not for a topic: each
# pattern holds an act with its object and, if the words alone are harmless, a sign of instruction
# ("how to", "steps for", "your own"). The patterns are English and cheap; they miss other wordings
# and do not replace a judge. An excuse must be in the same sentence and name its subject: "I cannot
# explain how to ..." refuses, "I can't stress enough ..." does not.


class FamilyPatterns(NamedTuple):
    """``keep`` validates a match; an ``excuses`` pattern in its sentence drops it."""

    patterns: tuple[re.Pattern[str], ...]
    refusable: bool = True
    excuses: tuple[re.Pattern[str], ...] = ()
    keep: Callable[[re.Match[str]], bool] = bool


_MAKE = (
    "(?:mak(?:e|ing)|build(?:ing)?|assembl(?:e|ing)|construct(?:ing)?|cook(?:ing)? up|"
    "produc(?:e|ing)|synthesi[sz](?:e|ing)|prepar(?:e|ing)|craft(?:ing)?|creat(?:e|ing)|"
    "manufactur(?:e|ing)|rig(?:ging)?|cook(?:ing)?|brew(?:ing)?)"
)
_HOW = (
    "(?:how to|how (?:do|can|would|could) (?:i|you|we|one)|how (?:i|you|we) can|ways? to|"
    "want to|like to|able to)"
)
_GUIDE = "(?:instructions?|recipe|steps?|guide|directions|method|tutorial|blueprints?|plans)"
_CHARGE = (
    r"(?<!bath[\x20-])(?:bombs?|explosives?|explosive devices?|detonators?|grenades?|"
    "molotov cocktails?|ieds?|"
    "nerve (?:agents?|gas)|sarin|ricin|mustard gas|chlorine gas|poison gas|tatp|napalm|thermite|"
    "meth|methamphetamine)"
)
_GUN = (
    r"(?<!toy[\x20-])(?<!glue[\x20-])(?<!nail[\x20-])(?<!heat[\x20-])(?<!water[\x20-])"
    "(?:guns?|rifles?|pistols?|firearms?|handguns?|shotguns?|silencers?)"
    "(?! (?:safe|rack|cabinet|case|holster|emplacement|law|licence|license))"
)
_ACCESS = (
    "(?:accounts?|e-?mails?|inbox|phones?|computers?|laptops?|networks?|wi-?fi|routers?|servers?|"
    "systems?|databases?|webcams?|banks?|website|instagram|facebook|gmail|whatsapp)"
)
_MALWARE = (
    "(?:keyloggers?|ransomware|malware|spyware|trojans?|rootkits?|botnets?|computer virus(?:es)?)"
    "(?! (?:analysis|detection|detector|removal|protection|scanner|research|infections?))"
)
_SELF = "(?:yourself|myself|oneself|your own body)"

_PATTERNS: dict[Family, tuple[str, ...]] = {
    "dangerous_instructions": (
        f"{_HOW} <3> {_MAKE} <4> {_CHARGE}",
        f"{_HOW} {_MAKE} <4> {_CHARGE}",
        f"{_GUIDE} (?:for|to|on|of) <2> {_MAKE} <4> {_CHARGE}",
        f"{_GUIDE} (?:for|to) <2> {_CHARGE}",
        f"to {_MAKE} <3> {_CHARGE} "
        "(?:mix|combine|add|take|get|fill|pack|pour|you(?:'ll)? need|start|first)",
        "(?:mix|combine|blend|soak|stir) <6> ammonium nitrate <6> (?:fuel oil|diesel|petrol)",
        "(?:wire|connect|attach|insert|solder) <5> (?:detonator|blasting cap|fuse) <8> "
        "(?:charge|explosives?|bomb)",
    ),
    "weapon_making": (
        f"{_HOW} <2> (?:{_MAKE}|print|3d print|convert) <4> {_GUN}",
        f"{_MAKE} (?:your|my) own <2> {_GUN}",
        f"{_MAKE} <3> {_GUN} (?:at home|yourself|in your garage|from (?:scratch|parts|a kit))",
        f"3d print <3> {_GUN}",
        f"{_GUIDE} (?:for|to|on) <2> {_MAKE} <4> {_GUN}",
        f"ghost guns? <4> {_GUIDE}",
        "(?:convert|modify|turn) <4> (?:rifle|pistol|gun) <4> (?:full auto|fully automatic)",
        "(?:file|grind|remove) <3> serial numbers? <4> (?:gun|pistol|rifle|firearm|weapon)",
    ),
    "malware_hacking": (
        f"(?:hack|break) into <4> {_ACCESS}",
        f"{_HOW} <2> hack <4> {_ACCESS}",
        f"(?:steps?|guide|tutorial) (?:to|for|on) hack(?:ing)? <4> {_ACCESS}",
        f"{_HOW} <2> (?:crack|steal|bypass|phish) <4> "
        "(?:passwords?|logins?|credentials|two-factor|2fa|paywall|card numbers?)",
        f"(?:{_MAKE}|set up|write|send|clone) <3> "
        "phishing (?:page|site|e-?mail|kit|message|campaign)s?",
        f"(?:{_HOW}|{_GUIDE} (?:to|for)|code (?:to|for)) <2> "
        f"(?:writ(?:e|ing)|cod(?:e|ing)|{_MAKE}|install(?:ing)?|deploy(?:ing)?|spread(?:ing)?) <4> "
        f"{_MALWARE}",
        f"(?:install|deploy|spread) (?:a|the|this|your) <2> {_MALWARE} <4> (?:on|onto|to)",
    ),
    "self_harm": (
        "(?:ways?|how|methods?|steps) (?:to|of|for) <2> "
        f"(?:hurt|harm|kill|cut|starve|poison)(?:ing)? {_SELF}",
        "how to <2> (?:commit suicide|end (?:my|your) (?:own )?life|hang (?:my|your)self|overdose)",
        "(?:painless|quick(?:est)?|easy|easiest|best|effective|reliable) <3> "
        "(?:suicide|to die|to end (?:my|your) life)",
        "suicide (?:methods?|instructions?)(?! (?:restriction|prevention))",
        "(?:you should|just|go and|go|why don't you) (?:kill|hurt|cut|harm) yourself",
    ),
    "personal_data": PERSONAL,
}

# Words of refusal: not every "can't" refuses.
_NOT = (
    "(?:can't|cannot|can not|won't|will not|wouldn't|shouldn't|(?:not|un)(?: )?(?:able|willing) to|"
    "not going to|not allowed to|refuse to|decline to|must not)"
)
_HOWEVER = (
    "(?:(?:in good conscience|possibly|really|simply|ever|legally|ethically|safely|also|just) )?"
)
_TELL = (
    "(?:help(?! (?:but|myself|yourself|thinking|it))|assist|provide|give|offer|share|tell|explain|"
    "describe|show|teach|write|support|answer|discuss|supply|list|guide|instruct|advise|comply|"
    "do that|go into|create|generate|produce)"
)
REFUSES = compile_template(rf"(?<!you\x20)(?<!they\x20)(?<!who\x20){_NOT} {_HOWEVER}{_TELL}")
REFUSES_IT = compile_template(
    f"(?:{_NOT} {_HOWEVER}(?:help|assist|do|answer|discuss|explain|support|comply)"
    "(?: you)?(?: with)?(?: (?:that|this|it|those|such requests?)))"
)
#: After one of these words a refusal no longer applies.
CONTRAST = compile_template(
    "(?:but|however|though|yet|anyway|instead|except|here's|here is|so let me)"
)
_EXCUSES: dict[Family, tuple[str, ...]] = {
    "self_harm": (
        "(?:call|contact|text|ring|reach out to|talk to|speak (?:to|with)|tell|see) <6> "
        "(?:hotline|helpline|lifeline|crisis line|samaritans|doctor|gp|therapist|counsell?or|"
        "emergency services|someone you trust|988|999|911|112)",
    ),
    "malware_hacking": (
        "(?:prevent|stop|keep|block) <5> from <3> "
        "(?:hack|break|steal|crack|install|deploy|spread)(?:ing)?",
        "(?:protect|defend|guard|secure|safe) <6> (?:against|from)",
    ),
}


@lru_cache(maxsize=len(_PATTERNS))
def family_patterns(name: Family) -> FamilyPatterns:
    """Return the patterns of a family, compiled on first use."""
    return FamilyPatterns(
        tuple(map(compile_template, _PATTERNS[name])),
        name != "personal_data",
        tuple(map(compile_template, _EXCUSES.get(name, ()))),
        is_personal if name == "personal_data" else bool,
    )
