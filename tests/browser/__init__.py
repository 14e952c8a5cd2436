"""Journeys through the app in a real Chromium."""
