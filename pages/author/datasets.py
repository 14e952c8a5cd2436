"""Datasets: the list, the import (`?dataset=new`), or one dataset (`?dataset=ID&item=ITEM`)."""

from __future__ import annotations

from pages.author._datasets import browsing, importing, listing
from pages.ui import state

_dataset = state.address(state.DATASET)
if _dataset is None:
    listing.show()
elif _dataset == state.NEW:
    importing.show()
else:
    browsing.show()
