"""A worker process, and who watches over it: started, watched, ended where it hangs, replaced.

`keeper` is for others.
"""

__all__ = ["keeper"]
