"""Providers: a request in, a completion out, or a ``CallError`` with the reason.

Providers know nothing of rubrics. Only ``litellm_provider`` imports litellm, on first use. No
result contains a secret.
"""
