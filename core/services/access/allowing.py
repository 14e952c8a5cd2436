"""The check that every service makes first: may the current user do this?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from core import clock
from core.domain.access import Verb, allow

if TYPE_CHECKING:
    from core.store.store import Store

ServiceT = TypeVar("ServiceT", bound=Callable[..., Any])
#: Longer arguments are shortened in the record of changes.
LONGEST = 120


def allowed(verb: Verb) -> Callable[[ServiceT], ServiceT]:
    """Mark a service, whose first argument is a store, as allowed only to users with this right.

    Its first write adds a line to the record of changes in the same transaction: the user, the
    service, and its arguments, shortened. A service called by another service does not ask again.

    For other users the service raises ``NotAllowed``, which says who may, before it does anything.
    """

    def guarded_service(service: ServiceT) -> ServiceT:
        name = f"{service.__module__.removeprefix('core.services.')}.{service.__name__}"
        signature = inspect.signature(service)

        @wraps(service)
        def checked_call(store: Store, *args: Any, **kwargs: Any) -> Any:
            if store.actor.trusted and not store.actor.audited:
                return service(store, *args, **kwargs)
            arguments = signature.bind(store, *args, **kwargs).arguments
            about = {key: plain_argument(value) for key, value in list(arguments.items())[1:]}
            with store.authorised(verb, name, about, clock.now()):
                return service(store, *args, **kwargs)

        return cast("ServiceT", checked_call)

    return guarded_service


def require(store: Store, verb: Verb) -> None:
    """Raise ``NotAllowed`` unless the current user may do this; for services that only read."""
    allow(store.actor, verb)


def plain_argument(value: object, depth: int = 0) -> Any:
    """Return an argument as the record stores it: short plain data, never a whole text or file.

    >>> plain_argument({"name": "x" * 200, "ids": [1, 2, 3]})["ids"]
    [1, 2, 3]
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]} … ({len(value)} characters)"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Mapping) and depth < 2:
        return {str(key): plain_argument(part, depth + 1) for key, part in list(value.items())[:20]}
    if isinstance(value, Sequence) and depth < 2:
        shown = [plain_argument(part, depth + 1) for part in value[:10]]
        return [*shown, f"… ({len(value)} in all)"] if len(value) > 10 else shown
    named = {key: getattr(value, key, None) for key in ("id", "name", "item_id", "email")}
    named = {
        key: inner_value for key, inner_value in named.items() if isinstance(inner_value, str | int)
    }
    return {
        "a": type(value).__name__,
        **{key: plain_argument(inner_value) for key, inner_value in named.items()},
    }
