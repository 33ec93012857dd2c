"""Tables in memory and in engines: labels in, reports out, of the same kind."""

from __future__ import annotations

from mechdesign.collection.tables.calls import privatize, tally

__all__ = ["privatize", "tally"]
