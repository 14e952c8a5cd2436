"""The list of rubrics and the editor of one.

The draft (`pages.ui.drafts`) is kept in the store after every change; nothing here
holds a second copy of it.
"""
