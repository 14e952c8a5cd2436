"""Providers: a request in, a completion out, or a ``CallError`` with the reason.

Providers do not depend on rubrics. Only ``litellm_provider`` imports litellm, on first use. No
result contains a secret.
"""
