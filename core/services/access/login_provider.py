"""What the provider of the login says of itself (its OpenID Connect metadata and keys) is kept.

Streamlit makes a new client for each step of a sign-in, and each asks the provider anew. So whoever
begins sign-ins, which needs none, made the server ask as often. Authlib, which Streamlit signs in
with, is there only where a login is installed.
"""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec
from typing import Any

#: For so many seconds it is kept; after a sign-in that failed it is asked anew, at most so often.
KEPT, ANEW = 3600.0, 60.0


class _Kept:
    """What one provider said, or is about to say, and since when."""

    def __init__(self, asked: asyncio.Task[Any]) -> None:
        self._asked, self._since = asked, time.monotonic()

    def old(self, seconds: float) -> bool:
        return time.monotonic() - self._since > seconds

    @property
    def good(self) -> bool:
        failed = self._asked.done() and (self._asked.cancelled() or self._asked.exception())
        return not failed and not self.old(KEPT)

    async def said(self) -> Any:
        # Whoever goes away does not take it from the others who wait for it.
        return await asyncio.shield(self._asked)


def keep() -> None:
    """From now on each provider is asked once, for as long as what it said counts.

    All who sign in meanwhile wait for the same answer. Keys that are not known are fetched anew by
    Authlib; where a sign-in fails all the same (another issuer, other addresses, keys without
    names), the next one asks for everything anew.
    """
    if find_spec("authlib") is None:
        return
    from authlib.integrations.starlette_client import StarletteOAuth2App

    kept = dict[tuple[str, str], _Kept]()
    client = StarletteOAuth2App
    load, authorize = client.load_server_metadata, client.authorize_access_token

    def name(app: Any) -> tuple[str, str]:
        return str(app.name), str(app.client_id)

    async def loaded(self: Any) -> Any:
        one = kept.get(name(self))
        if one is None or not one.good:
            one = kept[name(self)] = _Kept(asyncio.ensure_future(load(self)))
        # One thing for all clients: Authlib adds the keys that it fetched.
        self.server_metadata = await one.said()
        return self.server_metadata

    async def authorized(self: Any, *given: Any, **named: Any) -> Any:
        token: Any = {}
        try:
            token = await authorize(self, *given, **named)
            return token
        finally:
            one = kept.get(name(self))
            if not token.get("userinfo") and one is not None and one.old(ANEW):
                del kept[name(self)]

    client.load_server_metadata = loaded
    client.authorize_access_token = authorized
