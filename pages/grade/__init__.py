"""Screens of one section of the navigation."""
