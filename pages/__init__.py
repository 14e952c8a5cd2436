"""The screens, one folder each; `ui` has what they share.

A screen's `page.py` is the script that Streamlit runs. It imports its own folder, `pages.ui`, and
services, figures, domain and text of `core`; never another screen, never the store.
"""
