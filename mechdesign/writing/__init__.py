"""Atomic file writing, and text that is safe for terminals and spreadsheets."""
