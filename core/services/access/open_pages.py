"""Limits on a server's open pages: for signed-in people, and a few for others.

Visitors who have not signed in share a few places of their own. One network address gets only part
of these, so an anonymous visitor cannot lock others out. ``core/services/runs/limits.py`` decides
how long their pages stay open.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable

#: Visitors have one place for each ten places of signed-in people. An address may use a third of
#: the visitors' places, and a person a fifth of the others. Small servers have at least a few
#: places.
STRANGERS, OF_AN_ADDRESS, OF_A_PERSON = 10, 3, 5
#: The most per minute, from one address and in total: pages opened without a sign-in (Streamlit
#: keeps the memory of 128 closed pages for two minutes), and sign-in steps of each kind.
PAGES_A_MINUTE, STEPS_A_MINUTE = (30, 60), (60, 600)

_FULL = (
    "This server has reached its limit of open pages ({most}). Close one that you do not need, or "
    "try again in a few minutes."
)
_OF_A_PERSON = (
    "You have reached the limit of open pages per person ({most}). Close one that you do not need."
)
_ELSEWHERE = (
    "The limit of open pages from one address is reached ({most}). Close one that you do not "
    "need, or try again in a few minutes."
)
_STRANGERS = (
    "As many people have this page open without having signed in as may: {all} in all, {most} from "
    "one address. Log in, or wait a minute: it is tried again by itself."
)
SLOWLY = "Too many of these come from your address, or from everywhere. Try again in a minute."


#: A page's visitor: a member's e-mail address, and their network address. The first is ``None`` for
#: visitors who have not signed in, and empty on servers without sign-ins.
Visit = tuple[str | None, str]


class OpenPages:
    """The open pages, and whether there is room for another.

    Args:
        most: the most pages open to signed-in people.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.strangers = max(2, most // STRANGERS)
        self.of_an_address = max(2, self.strangers // OF_AN_ADDRESS)
        self.of_a_person = max(10, most // OF_A_PERSON)
        self._open = Counter[Visit]()
        self._opened = RateLimit(*PAGES_A_MINUTE)

    def why_not(self, visit: Visit) -> str:
        """Return why there is no room for this page; empty if there is.

        >>> OpenPages(300).why_not((None, "192.0.2.7"))
        ''
        """
        who, address = visit
        if who is None:
            all_places = self._count_places(lambda member: member is None)
            open_here = self._open[visit]
            if all_places < self.strangers and open_here < self.of_an_address:
                return ""
            return _STRANGERS.format(all=self.strangers, most=self.of_an_address)
        if self._count_places(lambda member: member is not None) >= self.most:
            return _FULL.format(most=self.most)
        half = max(1, self.most // 2)
        is_remote = bool(address) and not is_loopback(address)
        if not who and is_remote and self._open[visit] >= half:
            return _ELSEWHERE.format(most=half)
        if who and self._count_places(lambda member: member == who) >= self.of_a_person:
            return _OF_A_PERSON.format(most=self.of_a_person)
        return ""

    def enter(self, visit: Visit, now: float) -> str:
        """Take a place now; return why that is impossible, or an empty string."""
        reason = self.why_not(visit)
        who, address = visit
        if not reason and who is None and not self._opened.take(address, now):
            reason = SLOWLY
        if not reason:
            self._open[visit] += 1
        return reason

    def leave(self, visit: Visit) -> None:
        """Free one place of the visitor."""
        self._open[visit] -= 1
        if not self._open[visit]:
            del self._open[visit]

    def _count_places(self, matches: Callable[[str | None], bool]) -> int:
        return sum(number for (member, _), number in self._open.items() if matches(member))


class RateLimit:
    """A limit per minute, for each address and in total."""

    def __init__(self, per_address: int, total: int) -> None:
        self._per_address, self._total = per_address, total
        self._minute, self._counts = -1, Counter[str]()

    def take(self, address: str, now: float) -> bool:
        """Count another event now if the limit allows it; return whether it does.

        >>> minute = RateLimit(1, 10)
        >>> minute.take("192.0.2.7", 0.0), minute.take("192.0.2.7", 59.0)
        (True, False)
        >>> minute.take("192.0.2.7", 60.0)
        True
        """
        if int(now // 60) != self._minute:
            self._minute, self._counts = int(now // 60), Counter()
        # The total limit also bounds the number of stored addresses.
        if self._counts[address] >= self._per_address or self._counts.total() >= self._total:
            return False
        self._counts[address] += 1
        return True


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine's own.

    >>> is_loopback("127.0.0.1"), is_loopback("192.0.2.7"), is_loopback("localhost")
    (True, False, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def network_of(address: str) -> str:
    """Return the address by which limits count: for IPv6 the network of one customer.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::1:2:3:4")
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
