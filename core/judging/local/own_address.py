"""Servers at loopback and private addresses, where waiting costs nothing.

Such a server may take minutes for an answer, and keeps working on a question after its client has
given up. So calls to it wait as long as the server responds to anything at all.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.domain.panel import Judge
from core.judging.known_providers import PLAIN, split_model_name

#: The default timeout.
USUAL = float(Judge.model_fields["timeout"].default)
#: Names that lead to the same machine or the local network.
_NAMES = ("localhost", "host.docker.internal")
_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@lru_cache(maxsize=1024)
def is_private_address(address: str) -> bool:
    """Return whether a web address is on this machine or in a private network.

    >>> is_private_address("http://127.0.0.1:8080/v1"), is_private_address("http://10.0.0.7/v1"), is_private_address("https://a.com")
    (True, True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        # A name without a dot can only be resolved in the local network.
        return bool(host) and ("." not in host or host in _NAMES or host.endswith(_ENDINGS))


def address_of(judge: Judge) -> str:
    """Return the judge's own address, or its provider's usual one."""
    provider = PLAIN.get(split_model_name(judge.model)[0])
    return judge.api_base or (provider.base if provider else "")


def is_local(judge: Judge) -> bool:
    """Return whether the judge's model is a file, or on this machine or a private network.

    >>> is_local(Judge(name="j", model="ollama/llama3.2")), is_local(Judge(name="j", model="gpt-x"))
    (True, False)
    """
    return not judge.offline and (
        judge.model.startswith("file:") or is_private_address(address_of(judge))
    )


def is_patient(judge: Judge) -> bool:
    """Return whether calls wait without a limit: for a local judge with the default timeout."""
    return judge.timeout == USUAL and is_local(judge)
