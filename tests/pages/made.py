"""Datasets that the tests of pages look at."""

from __future__ import annotations

from core.domain.library import DatasetVersion
from core.services.datasets import catalog
from core.store.store import Store

CSV = (
    "id,prompt,answer,model,label:tone,reason:tone\n"
    "a,Greet.,Hello.,gpt,Good,kind\nb,Greet.,Go away.,llama,Bad,\nc,Greet.,Hm.,llama,,\n"
)
HOSTILE = "**b** ![x](http://127.0.0.1:9/x) <script>alert(1)</script> \u202eevil $1 and $2 :smile:"


def kept(store: Store, text: str = CSV, name: str = "tone.csv") -> DatasetVersion:
    """The version that holds this text."""
    table = catalog.read_source(text, name)
    dataset = catalog.check(table, catalog.suggest_mapping(table)).dataset
    assert dataset is not None
    version, _ = catalog.import_dataset(store, dataset, source=name)
    return version
