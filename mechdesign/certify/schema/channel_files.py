"""The tables of channel files, with a proof or bare."""

from __future__ import annotations

from mechdesign.certify.forms import (
    COUNT,
    LABEL,
    NUMBER,
    SIGNED,
    SIZE,
    TEXT,
    TRUTH,
    WHOLE,
    AnyOf,
    Fixed,
    Form,
    ListOf,
    Table,
)
from mechdesign.certify.schema.certificates import CERTIFICATES, NUMBERS
from mechdesign.certify.schema.problems import DOMAIN, LABELS, PROBLEM

__all__ = ["BARE_CHANNEL_FILE", "CHANNEL_FILE", "CLAIM", "EXACT_READINGS"]

READING = AnyOf([NUMBER, LABEL, NUMBERS])

EXACT_READINGS = Table("exact readings", {"numerators": ListOf(SIGNED), "denominator": WHOLE})

CHANNEL_KEYS: dict[str, Form] = {
    "inputs": LABELS,
    "outputs": LABELS,
    "matrix": ListOf(NUMBERS),
    "bits": COUNT,
    "numerators": ListOf(ListOf(WHOLE)),
}

CLAIM = Table(
    "claim of privacy",
    {"notion": TEXT, "leakage": NUMBER, "certified": Fixed(True)},
    {"epsilon": SIZE, "delta": SIZE, "secret": LABELS},
)

PHASES = ("compile", "presolve", "solve", "repair", "certify")

CHANNEL_FILE = Table(
    "channel file",
    {
        "format": Fixed("mechdesign-channel"),
        "version": Fixed(1),
        "title": TEXT,
        "source": TEXT,
        "status": AnyOf([Fixed("optimal"), Fixed("bounded")]),
        "objective": TEXT,
        "sense": AnyOf([Fixed("minimize"), Fixed("maximize")]),
        "value": NUMBER,
        "bound": NUMBER,
        "gap": SIZE,
        "bound_proved": TRUTH,
        "route": TEXT,
        "privacy": ListOf(CLAIM, least=1),
        "channel": Table(
            "channel",
            CHANNEL_KEYS,
            {"decoder": ListOf(READING, least=1), "readings": EXACT_READINGS},
        ),
        "seconds": SIZE,
        "timings": Table("timings", {}, dict.fromkeys(PHASES, SIZE)),
        "why": TEXT,
        "considered": ListOf(Table("closed form considered", {"name": TEXT, "reason": TEXT})),
        "notes": ListOf(TEXT),
        "problem": PROBLEM,
        "certificate": CERTIFICATES,
        "digest": TEXT,
    },
)

BARE_CHANNEL_FILE = Table(
    "bare channel file",
    {
        "format": Fixed("mechdesign-bare-channel"),
        "version": Fixed(1),
        "domain": DOMAIN,
        "channel": Table("bare channel", CHANNEL_KEYS),
        "digest": TEXT,
    },
)
