"""Who may have pages of a server open: people who signed in, and beside them a few who have not.

Whoever has not signed in takes none of the places of those who have, only a small share beside
them, and one address only a part of that: so nobody can lock others out without saying who they
are. How long such a page stays is in ``core/services/runs/limits.py``.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

#: Beside so many places for who signed in there is one for who has not; an address may take a
#: third of those, one person a fifth of the places of all. Small servers have a few at least.
STRANGERS, OF_AN_ADDRESS, OF_A_PERSON = 10, 3, 5
#: So many a minute, from one address and in all: pages opened without a sign-in (Streamlit keeps
#: what 128 that were left hold, for two minutes), and steps of a sign-in, of each kind.
PAGES_A_MINUTE, STEPS_A_MINUTE = (30, 60), (60, 600)

_FULL = (
    "This server has as many open pages as it can serve ({most}). Close one that you do not need, "
    "or try again in a few minutes."
)
_OF_A_PERSON = (
    "You have as many pages open as one person may ({most}). Close one that you do not need."
)
_ELSEWHERE = (
    "As many pages are open from one address ({most}) as may be. Close one that you do not need, "
    "or try again in a few minutes."
)
_STRANGERS = (
    "As many people have this page open without having signed in as may: {all} in all, {most} from "
    "one address. Log in, or wait a minute: it is tried again by itself."
)
SLOWLY = "Too many of these come from your address, or from everywhere. Try again in a minute."


@dataclass(frozen=True, slots=True)
class Visit:
    """Who opens a page: a member's e-mail address (``None``: has not signed in; empty: nobody need
    on this server), and the network address that they come from.
    """

    who: str | None
    address: str


class OpenPages:
    """The pages that are open, and whether there is room for one more.

    Args:
        most: so many may be open of people who signed in.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.strangers = max(2, most // STRANGERS)
        self.of_an_address = max(2, self.strangers // OF_AN_ADDRESS)
        self.of_a_person = max(10, most // OF_A_PERSON)
        self._open = Counter[Visit]()
        self._opened = Minute(*PAGES_A_MINUTE)

    def why_not(self, visit: Visit) -> str:
        """Why there is no room for this page, as a sentence; empty where there is.

        >>> OpenPages(300).why_not(Visit(None, "192.0.2.7"))
        ''
        """
        if visit.who is None:
            every = self._count(lambda one: one.who is None)
            here = self._open[visit]
            if every < self.strangers and here < self.of_an_address:
                return ""
            return _STRANGERS.format(all=self.strangers, most=self.of_an_address)
        if self._count(lambda one: one.who is not None) >= self.most:
            return _FULL.format(most=self.most)
        half = max(1, self.most // 2)
        away = bool(visit.address) and not is_loopback(visit.address)
        if not visit.who and away and self._open[visit] >= half:
            return _ELSEWHERE.format(most=half)
        if visit.who and self._count(lambda one: one.who == visit.who) >= self.of_a_person:
            return _OF_A_PERSON.format(most=self.of_a_person)
        return ""

    def enter(self, visit: Visit, now: float) -> str:
        """Take a place at this second, unless the sentence that comes back says why not."""
        why = self.why_not(visit)
        if not why and visit.who is None and not self._opened.take(visit.address, now):
            why = SLOWLY
        if not why:
            self._open[visit] += 1
        return why

    def leave(self, visit: Visit) -> None:
        """Give back the place that was taken."""
        self._open[visit] -= 1
        if not self._open[visit]:
            del self._open[visit]

    def _count(self, of: Callable[[Visit], bool]) -> int:
        return sum(many for key, many in self._open.items() if of(key))


class Minute:
    """Counts what happens in a minute by address, and lets so many happen from each and in all."""

    def __init__(self, each: int, in_all: int) -> None:
        self._each, self._in_all = each, in_all
        self._minute, self._counts = -1, Counter[str]()

    def take(self, address: str, now: float) -> bool:
        """Whether one more may happen at this second; if so it is counted.

        >>> minute = Minute(1, 10)
        >>> minute.take("192.0.2.7", 0.0), minute.take("192.0.2.7", 59.0)
        (True, False)
        >>> minute.take("192.0.2.7", 60.0)
        True
        """
        if int(now // 60) != self._minute:
            self._minute, self._counts = int(now // 60), Counter()
        # No more addresses are kept than may come in all.
        if self._counts[address] >= self._each or self._counts.total() >= self._in_all:
            return False
        self._counts[address] += 1
        return True


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("192.0.2.7"), is_loopback("localhost")
    (True, False, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def network(address: str) -> str:
    """The address by which somebody counts: of IPv6 the network that one customer is given.

    >>> network("192.0.2.7"), network("::ffff:192.0.2.7"), network("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address) or ip.is_loopback:
        return address
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip), 64), strict=False))
