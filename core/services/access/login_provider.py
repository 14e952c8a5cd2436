"""A cache of the login provider's OpenID Connect metadata and keys.

Streamlit makes a new client for each step of a sign-in, and each client fetches the metadata. So a
stranger who begins many sign-ins would make the server send as many requests. Authlib, which
Streamlit signs in with, is installed only with a login.
"""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec
from typing import Any

#: Seconds for which metadata is cached, and the shortest time between fetches after failed
#: sign-ins.
KEPT, ANEW = 3600.0, 60.0


class _Kept:
    """The metadata of a provider, or the request for it, and when it was sent."""

    def __init__(self, asked: asyncio.Task[Any]) -> None:
        self._asked, self._since = asked, time.monotonic()

    def is_older_than(self, seconds: float) -> bool:
        return time.monotonic() - self._since > seconds

    @property
    def is_fresh(self) -> bool:
        failed = self._asked.done() and (self._asked.cancelled() or self._asked.exception())
        return not failed and not self.is_older_than(KEPT)

    async def metadata(self) -> Any:
        # Shielded, so that cancelling one caller does not cancel the request for the others.
        return await asyncio.shield(self._asked)


def share_metadata() -> None:
    """Make every client share one fetch per provider while its metadata is fresh.

    Sign-ins during a fetch wait for its answer. Authlib fetches unknown keys itself. If a sign-in
    fails anyway (another issuer, other addresses, keys without names), the next sign-in fetches
    everything again.
    """
    if find_spec("authlib") is None:
        return
    from authlib.integrations.starlette_client import StarletteOAuth2App

    loads = dict[tuple[str, str], _Kept]()
    client = StarletteOAuth2App
    load, authorize = client.load_server_metadata, client.authorize_access_token

    def name(app: Any) -> tuple[str, str]:
        return str(app.name), str(app.client_id)

    async def loaded(self: Any) -> Any:
        pending = loads.get(name(self))
        if pending is None or not pending.is_fresh:
            pending = loads[name(self)] = _Kept(asyncio.ensure_future(load(self)))
        # All clients share this object. Authlib adds the keys that it fetches.
        self.server_metadata = await pending.metadata()
        return self.server_metadata

    async def authorized(self: Any, *given: Any, **named: Any) -> Any:
        token: Any = {}
        try:
            token = await authorize(self, *given, **named)
            return token
        finally:
            pending = loads.get(name(self))
            if not token.get("userinfo") and pending is not None and pending.is_older_than(ANEW):
                del loads[name(self)]

    client.load_server_metadata = loaded
    client.authorize_access_token = authorized
