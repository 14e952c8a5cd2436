"""Why nobody was reached, or an answer did not arrive, in plain words."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

#: What aiohttp and httpx name the failure to reach anybody at all.
_UNREACHED = {
    "ConnectError",
    "ConnectTimeout",
    "ClientConnectorError",
    "ClientConnectorDNSError",
    "ClientConnectorCertificateError",
    "ClientConnectorSSLError",
}


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what caused it, what caused that and so on."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def unreached(error: BaseException) -> bool:
    """Whether no request went out, because no connection came about."""
    return any(type(one).__name__ in _UNREACHED for one in chain(error))


def connection_words(error: BaseException) -> str:
    """What went wrong with a connection, in plain words; empty where nothing is known of it.

    >>> connection_words(ConnectionRefusedError(111, "Connection refused"))
    'nobody answers at this address and port (connection refused).'
    """
    causes = list(chain(error))
    # aiohttp keeps the error of the system beside the chain.
    causes += [one for cause in causes if (one := getattr(cause, "os_error", None)) is not None]
    causes += [
        one for cause in causes if (one := getattr(cause, "certificate_error", None)) is not None
    ]
    return next((words for cause in causes if (words := _words(cause))), "")


def _words(cause: BaseException) -> str:
    # aiohttp's own kinds of these two say less than what caused them.
    if why := getattr(cause, "verify_message", ""):
        return f"the server's certificate is not trusted ({why})."
    if isinstance(cause, ssl.SSLError) and (reason := getattr(cause, "reason", "")):
        why = reason.replace("_", " ").lower()
        return f"no secure connection came about ({why}). Check https:// against http://."
    if isinstance(cause, socket.gaierror):
        return "no computer of this name is known (DNS). Check the address and the network."
    if isinstance(cause, ConnectionRefusedError):
        return "nobody answers at this address and port (connection refused)."
    if isinstance(cause, ConnectionResetError):
        return "the server cut the connection before it had answered."
    return ""
