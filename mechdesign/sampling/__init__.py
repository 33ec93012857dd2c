"""Exact sampling: random bits from the operating system, and integers with exact probabilities."""

from __future__ import annotations

from mechdesign.sampling.alias import AliasTable
from mechdesign.sampling.keyed import (
    KeyedSource,
    check_key,
    subkey,
    tags_of_numbers,
    tags_of_texts,
)
from mechdesign.sampling.sources import (
    SIMULATION,
    Randomness,
    Source,
    below,
    chances,
    coin_rows,
    coin_words,
    pieces,
    rational_coin,
    source_of,
    stream_of,
)

__all__ = [
    "SIMULATION",
    "AliasTable",
    "KeyedSource",
    "Randomness",
    "Source",
    "below",
    "chances",
    "check_key",
    "coin_rows",
    "coin_words",
    "pieces",
    "rational_coin",
    "source_of",
    "stream_of",
    "subkey",
    "tags_of_numbers",
    "tags_of_texts",
]
