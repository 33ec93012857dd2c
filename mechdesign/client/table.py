"""The table of a client: the certified integers of a channel in the form that a device uses.

For a channel it is the alias table used by :meth:`mechdesign.Channel.privatize`, for a structured
mechanism its few integers. So a client with the same random bytes sends the same report.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray
from mechdesign.channel import BITS, Channel
from mechdesign.domain import Domain
from mechdesign.errors import UnsupportedError
from mechdesign.files import SavedMechanism
from mechdesign.mechanisms import LIPRandomizedResponse, Mechanism
from mechdesign.mechanisms.codes.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.subsets.unary_encoding import (
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from mechdesign.reports import Labels
from mechdesign.sampling import AliasTable

FORMAT = {"format": "mechdesign-client", "version": 1}

FEW_INTEGERS = {
    kind.name
    for kind in (
        GeneralizedRandomizedResponse,
        HadamardResponse,
        ProjectiveGeometryResponse,
        OptimizedUnaryEncoding,
        SymmetricUnaryEncoding,
    )
}
"""Mechanisms for which a client needs only the integers of their file."""

MOST_OUTPUTS = 1 << 16
"""Maximum number of outputs, which are numbered by two bytes."""


def client_table(saved: SavedMechanism) -> dict[str, Any]:
    """Return the table from which a device draws reports, as JSON data.

    Parameters
    ----------
    saved
        A verified file, from :func:`mechdesign.load_mechanism`.

    Returns
    -------
    dict
        ``digest`` identifies the mechanism together with its labels. ``privacy`` has the claims of
        the file. ``inputs`` and ``outputs`` are labels as text, or a number n for 0, ..., n - 1;
        ``outputs`` is missing if reports are sets of inputs. ``law`` has integers as text, and
        tables as Base64 of little-endian bytes: ``thresholds`` with 8 bytes per cell, ``aliases``
        with 2.

    Raises
    ------
    UnsupportedError
        If clients do not support this mechanism.

    Examples
    --------
    >>> import tempfile
    >>> from mechdesign import load_mechanism, save
    >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(GeneralizedRandomizedResponse(["yes", "no", "unsure"], 1), f"{folder}/file.json")
    ...     table = client_table(load_mechanism(f"{folder}/file.json"))
    >>> table["inputs"], table["law"]["kind"], table["privacy"][0]["epsilon"]
    (['yes', 'no', 'unsure'], 'randomized-response', 1.0)
    """
    mechanism = saved.mechanism
    if isinstance(mechanism, Channel):
        law = _channel_law(mechanism)
    elif isinstance(mechanism, LIPRandomizedResponse):
        law = _lip_law(mechanism)
    elif isinstance(mechanism, Mechanism) and mechanism.name in FEW_INTEGERS:
        law = dict(mechanism.to_table()["law"])
    else:
        name = getattr(mechanism, "name", "continuous")
        known = ", ".join(sorted({*FEW_INTEGERS, LIPRandomizedResponse.name}))
        expected = f"a channel of labels, or one of {known}"
        hint = "mechdesign privatize draws from it, where Python runs"
        raise UnsupportedError("client", expected, name, hint)
    table: dict[str, Any] = {
        **FORMAT,
        "digest": mechanism.digest,
        "privacy": saved.document.get("privacy", []),
        "inputs": _texts(mechanism.inputs),
    }
    if isinstance(mechanism.alphabet, Labels):
        table["outputs"] = _texts(mechanism.alphabet.outputs)
    return {**table, "law": law}


def _channel_law(channel: Channel) -> dict[str, Any]:
    """Return the alias table of a channel, always with 62 bits."""
    if channel.bits > BITS or len(channel.outputs) > MOST_OUTPUTS:
        expected = f"a channel over at most 2**{BITS}, with at most {MOST_OUTPUTS} outputs"
        given = f"one over 2**{channel.bits}, with {len(channel.outputs)} outputs"
        raise UnsupportedError("client", expected, given)
    return {"kind": "channel", **_cells(channel.numerators << (BITS - channel.bits))}


def _lip_law(mechanism: LIPRandomizedResponse) -> dict[str, Any]:
    """Return one row for all inputs, whose last output represents the true input."""
    masses = mechanism.parameters()
    if len(masses["fresh"]) >= MOST_OUTPUTS:
        expected = f"fewer than {MOST_OUTPUTS} inputs"
        raise UnsupportedError("client", expected, str(len(masses["fresh"])))
    return {"kind": mechanism.name, **_cells(np.array([[*masses["fresh"], masses["truth"]]]))}


def _cells(numerators: AnyArray) -> dict[str, str]:
    cell_bits, thresholds, aliases = AliasTable(numerators, BITS).cells()
    return {
        "cell_bits": str(cell_bits),
        "thresholds": base64.b64encode(thresholds.astype("<u8").tobytes()).decode(),
        "aliases": base64.b64encode(aliases.astype("<u2").tobytes()).decode(),
    }


def _texts(labels: Domain) -> int | list[str]:
    texts = list(labels.texts)
    return len(texts) if texts == list(map(str, range(len(texts)))) else texts
