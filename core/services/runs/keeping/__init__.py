"""A worker process and its keeper, which starts it, watches it, and replaces it if it hangs.

`keeper` is public.
"""

__all__ = ["keeper"]
