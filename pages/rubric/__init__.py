"""The list of rubrics and the editor of one.

The store keeps the draft (`pages.ui.drafts`) after every change; nothing here holds a second
copy of it.
"""
