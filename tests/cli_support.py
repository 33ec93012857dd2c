"""The type of the fixtures that run a command."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]
"""Runs a command, given by its words, and returns a text."""
