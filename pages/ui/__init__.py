"""Shared by every screen: routes, session and address, text by others, widgets, forms.

Imports no screen. Text that others wrote reaches the page only through `text`.
"""
