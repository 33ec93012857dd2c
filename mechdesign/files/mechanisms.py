"""Mechanism files: JSON with the integer parameters; and saving and loading of any mechanism."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.channel import Channel
from mechdesign.continuous import Box, ContinuousChannel, Interval
from mechdesign.designs.continuous.solution import ContinuousSolution
from mechdesign.designs.solution import Solution
from mechdesign.errors import CertificateError, InputError, LimitError, shown_kind
from mechdesign.files.channels import (
    SavedMechanism,
    checked_channel,
    save_bare_channel,
    save_solution,
    verified_file,
)
from mechdesign.files.problems import read_domain
from mechdesign.kernel import verify
from mechdesign.notions import NOTIONS
from mechdesign.prior import Prior
from mechdesign.writing.atomic import write_atomically

if TYPE_CHECKING:
    from mechdesign.mechanisms import Mechanism

__all__ = [
    "SavedMechanism",
    "load_mechanism",
    "save",
    "save_mechanism",
]


def save(
    result: Solution | ContinuousSolution | Channel | Mechanism,
    path: str | os.PathLike[str],
) -> None:
    """Write a solution with its certificate, a channel, or a structured mechanism to a JSON file.

    The file is written whole or not at all.

    Parameters
    ----------
    result
        What to save.
    path
        The file.

    Raises
    ------
    InputError
        If the file cannot be written, or what is given is none of these.
    """
    if isinstance(result, Solution | ContinuousSolution):
        save_solution(result, path)
    elif isinstance(result, Channel):
        save_bare_channel(result, path)
    else:
        from mechdesign.mechanisms import Mechanism  # where one is saved it is loaded already

        if not isinstance(result, Mechanism):
            raise InputError("result", "a Solution, a Channel or a Mechanism", shown_kind(result))
        save_mechanism(result, path)


def save_mechanism(mechanism: Mechanism, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Write a structured mechanism to a JSON file, whole or not at all, and return what is in it.

    Raises
    ------
    InputError
        If the file cannot be written.
    CertificateError
        If it is not a mechanism that the checker accepts.
    """
    document = mechanism.document()
    verify(document)
    write_atomically(Path(path), json.dumps(document, indent=1) + "\n")
    return document


def load_mechanism(path: str | os.PathLike[str]) -> SavedMechanism:
    """Read a channel file, continuous or not, or a mechanism file, and check every claim in it.

    Raises
    ------
    InputError
        If it cannot be read or is no JSON.
    CertificateError
        If a claim does not hold.
    """
    return verified_file(path, _checked)


def _checked(document: Any) -> SavedMechanism:
    """Return the mechanism of a document after checking every claim in it."""
    if isinstance(document, dict) and "rounding" in document:
        return _continuous(document)
    if not isinstance(document, dict) or "law" not in document:
        return checked_channel(document)
    from mechdesign.mechanisms.registry import restored

    verified, problem = verify(document), document["problem"]
    (table,), law = problem["privacy"], _as_numbers(document["law"])
    try:
        prior = Prior(problem["prior"]) if "prior" in problem else None
        notion = NOTIONS[table["notion"]](**{k: v for k, v in table.items() if k != "notion"})
        mechanism = restored(law.pop("kind"), read_domain(problem["domain"]), notion, law, prior)
    except LimitError:
        raise
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise CertificateError(f"the file contains no valid mechanism: {error}") from None
    return SavedMechanism(mechanism, prior, document, verified)


def _continuous(document: dict[str, Any]) -> SavedMechanism:
    """Return the channel of a continuous input after checking every claim of its file."""
    verified = verify(document)
    saved = document["channel"]
    try:
        nodes = Channel(
            [[int(entry) for entry in row] for row in saved["numerators"]],
            outputs=saved["outputs"],
            bits=saved["bits"],
        )
        channel = _on_nodes(document, nodes)
    except LimitError:
        raise
    except InputError as error:
        raise CertificateError(f"the file contains no valid channel: {error}") from None
    return SavedMechanism(channel, None, document, verified)


def _on_nodes(document: dict[str, Any], nodes: Channel) -> ContinuousChannel:
    rounding, ends = document["rounding"], [s["interval"] for s in document["problem"]["domain"]]
    if len(ends) == 1:
        return ContinuousChannel(Interval(*ends[0]), rounding["kind"], rounding["axes"][0], nodes)
    low, high = zip(*ends, strict=True)
    return ContinuousChannel(Box(low, high), rounding["kind"], rounding["axes"], nodes)


TEXTS = ("kind", "epsilon")
"""Parameters that are text themselves, not integers."""


def _as_numbers(parameters: Any) -> Any:
    """Return parameters with their integers as numbers."""
    if isinstance(parameters, Mapping):
        return {
            key: entry if key in TEXTS else _as_numbers(entry) for key, entry in parameters.items()
        }
    if isinstance(parameters, list):
        return [_as_numbers(entry) for entry in parameters]
    return int(parameters)
