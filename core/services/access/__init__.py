"""Who may do what: asked by every service that writes or exports, answered here alone.

The lowest of the services: imports no other. A store acts for somebody (`Store.acting`); without
a grant of `allowing.allowed` what is not trusted can write nothing, so a verb that forgets to ask
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
