"""What a provider of logins says of itself is asked once, and anew where a sign-in failed by it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from authlib.integrations.starlette_client import OAuth, StarletteOAuth2App
from joserfc.errors import BadSignatureError, InvalidClaimError
from joserfc.jwk import RSAKey
from starlette.requests import Request

from core.services.access import login_provider
from tests.services.access.at_the_door import Provider, providing

#: How a sign-in fails: by its issuer, by its signature, without anybody in what came back.
FAILED = (InvalidClaimError, BadSignatureError, KeyError)
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider, and clients of it that keep what it says, as on a server."""
    for name in ("load_server_metadata", "authorize_access_token"):
        monkeypatch.setattr(StarletteOAuth2App, name, getattr(StarletteOAuth2App, name))
    login_provider.share_metadata()
    with providing() as made:
        yield made


def client(provider: Provider) -> Any:
    """A client as Streamlit makes one for each step of a sign-in."""
    kind = {"client_id": "studio", "client_secret": "x", "client_kwargs": {"scope": "openid"}}
    return OAuth().register("one", server_metadata_url=provider.url + DISCOVERY, **kind)


def request(session: dict[str, Any], query: str = "") -> Request:
    said = {"type": "http", "method": "GET", "headers": [], "query_string": query.encode()}
    return Request({**said, "session": session})


async def sign_in(provider: Provider) -> str:
    """Somebody signs in; the address that comes back."""
    session = dict[str, Any]()
    begun = await client(provider).authorize_redirect(request(session), "http://here/callback")
    sent = parse_qs(urlsplit(begun.headers["location"]).query)
    provider.who = {"email": "ann@example.org", "nonce": sent["nonce"][0]}
    query = f"code=c&state={sent['state'][0]}"
    token = await client(provider).authorize_access_token(request(session, query))
    return str(token["userinfo"]["email"])


def test_all_who_begin_at_once_wait_for_one_answer(provider: Provider) -> None:
    async def begin() -> Any:
        return await client(provider).authorize_redirect(request({}), "http://here/callback")

    async def twenty() -> list[Any]:
        return await asyncio.gather(*(begin() for _ in range(20)), return_exceptions=True)

    provider.broken = True
    assert {type(one) for one in asyncio.run(twenty())} == {httpx2.HTTPStatusError}
    assert provider.asked[DISCOVERY] == 1
    # What failed is not kept.
    provider.broken = False
    assert {one.status_code for one in asyncio.run(twenty())} == {302}
    assert provider.asked[DISCOVERY] == 2


def test_people_sign_in_with_what_was_kept_and_a_new_key_is_fetched(provider: Provider) -> None:
    async def some() -> None:
        for _ in range(3):
            assert await sign_in(provider) == "ann@example.org"
        assert (provider.asked[DISCOVERY], provider.asked["/keys"]) == (1, 1)
        provider.key = RSAKey.generate_key(2048, {"kid": "second"})
        assert await sign_in(provider) == "ann@example.org"
        assert (provider.asked[DISCOVERY], provider.asked["/keys"]) == (1, 2)

    asyncio.run(some())


@pytest.mark.parametrize("changed", ["issuer", "key of the same name", "address of tokens"])
def test_after_a_sign_in_that_failed_everything_is_asked_anew(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    async def some() -> None:
        await sign_in(provider)
        if changed == "issuer":
            provider.issuer = "https://elsewhere.example"
        elif changed == "address of tokens":
            provider.tokens = "/tokens/v2"
        else:
            provider.key = RSAKey.generate_key(2048, {"kid": "first"})
        # At most once a minute, or whoever fails on purpose would have it asked each time.
        for _ in range(2):
            with pytest.raises(FAILED):
                await sign_in(provider)
        assert provider.asked[DISCOVERY] == 1
        monkeypatch.setattr(login_provider, "ANEW", -1.0)
        with pytest.raises(FAILED):
            await sign_in(provider)
        assert await sign_in(provider) == "ann@example.org"
        assert provider.asked[DISCOVERY] == 2

    asyncio.run(some())


def test_what_is_kept_grows_old(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    assert login_provider.KEPT == 3600
    monkeypatch.setattr(login_provider, "KEPT", -1.0)

    async def twice() -> None:
        for _ in range(2):
            await client(provider).authorize_redirect(request({}), "http://here/callback")

    asyncio.run(twice())
    assert provider.asked[DISCOVERY] == 2
