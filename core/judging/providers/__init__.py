"""One request in, one completion out, or a ``CallError`` that says why not. Litellm is imported
in ``litellm_provider`` only, when it is used.
"""
