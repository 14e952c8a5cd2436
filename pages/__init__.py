"""The screens. ``frame.py`` is the script Streamlit runs; one file per screen below it."""
