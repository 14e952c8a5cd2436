"""Permissions: every service that writes or exports asks here who may do it.

The lowest of the services: it imports no other. A store acts for a user (`Store.acting`). Without a
grant of `allowing.allowed` an untrusted user can write nothing, so a service that forgets to ask
fails closed.
"""

__all__ = [
    "allowing",
    "blindness",
    "login_provider",
    "members",
    "open_pages",
    "permits",
    "providers",
    "spending",
]
