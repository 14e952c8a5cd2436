"""Compare runs: what changed, what flipped, what it cost (`?runs=1,2,3`, `&a=1&b=2`)."""

from __future__ import annotations

from pages.measure._compare import overview

overview.show()
