"""Tables of other libraries, in memory and in engines: reports come back in the same type."""

from __future__ import annotations

from mechdesign.collection.tables.adapters import privatize, tally

__all__ = ["privatize", "tally"]
