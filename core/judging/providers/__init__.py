"""One request in, one completion out, or a ``CallError`` that says why not.

Knows nothing of rubrics. Litellm is imported in ``litellm_provider`` only, when it is used; no
secret is in anything that comes out.
"""
