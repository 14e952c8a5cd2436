"""The entry: `streamlit run app.py` (with the repository's root on PYTHONPATH).

The frame is a script of its own, so that Streamlit's legacy `pages/` mode never starts and the
server, not the first browser, decides how long the Runner lives.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import streamlit as st

from core.services import open_store
from core.services.demo import ensure_example
from core.services.serving import runner_beside
from core.settings import load_settings


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """What begins and ends with the server."""
    import pandas
    import plotly.graph_objects

    # Pages of figures stand on NumPy and SciPy: the first visitor should not wait for them.
    import core.services.agreeing

    # What is imported by now stays: the collector need not look at it again on every rerun.
    gc.collect()
    gc.freeze()
    settings = load_settings()
    ensure_example(open_store(settings))
    with runner_beside(settings):
        warm = (pandas, plotly.graph_objects, core.services.agreeing)
        yield {"warm": tuple(module.__name__ for module in warm)}


app = st.App(Path(__file__).parent / "pages" / "frame.py", lifespan=lifespan)
