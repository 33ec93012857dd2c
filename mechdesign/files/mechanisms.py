"""Channel files and mechanism files: JSON with exact integers, the problem and the proof."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mechdesign.channel import Channel
from mechdesign.continuous import Box, ContinuousChannel, Interval
from mechdesign.designs.solution import Solution
from mechdesign.errors import CertificateError, InputError, LimitError, shown_kind
from mechdesign.files.problems import read_domain
from mechdesign.files.reading import read_verified
from mechdesign.kernel import Verified, verify
from mechdesign.notions import NOTIONS
from mechdesign.prior import Prior
from mechdesign.reports import Reports
from mechdesign.sampling import Randomness
from mechdesign.writing.atomic import write_atomically

if TYPE_CHECKING:
    from mechdesign.mechanisms import Mechanism


@dataclass(frozen=True, repr=False)
class SavedMechanism:
    """A verified file of a channel or a structured mechanism.

    Attributes
    ----------
    mechanism
        The channel or mechanism.
    prior
        The prior of the design; None if it needs none, or was saved without a problem.
    document
        The content of the file.
    verified
        The verified claims.
    """

    mechanism: Channel | Mechanism | ContinuousChannel
    prior: Prior | None
    document: dict[str, Any]
    verified: Verified

    @property
    def channel(self) -> Channel:
        """The mechanism, which :func:`load_channel` ensures is a channel on labels."""
        return cast(Channel, self.mechanism)

    def privatize(self, records: Any, rng: Randomness = None) -> Reports:
        """Draw a report for each record."""
        return self.mechanism.privatize(records, rng)

    def __repr__(self) -> str:
        return f"{self.mechanism!r}\n{self.verified}"


def save(result: Solution | Channel | Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a solution with its certificate, a channel, or a structured mechanism to a JSON file.

    The file is written atomically.

    Parameters
    ----------
    result
        The object to save.
    path
        The file.

    Raises
    ------
    InputError
        If the file cannot be written, or the object has another type.
    CertificateError
        If the checker does not accept the mechanism.
    """
    is_solution = isinstance(result, Solution)
    if not is_solution and not isinstance(result, Channel):
        from mechdesign.mechanisms import Mechanism  # where one is saved it is loaded already

        if not isinstance(result, Mechanism):
            raise InputError("result", "a Solution, a Channel or a Mechanism", shown_kind(result))
    document = result.document()
    if not is_solution:
        verify(document)
    if "channel" in document:
        text = _text(document)
    else:
        text = json.dumps(document, indent=None if is_solution else 1) + "\n"
    write_atomically(Path(path), text)


def _text(document: dict[str, Any]) -> str:
    """Return indented JSON with one line per row of a large table."""
    channel = dict(document["channel"])
    tables = {key: channel[key] for key in ("matrix", "numerators")}
    channel |= {key: f"{key} of the channel" for key in tables}
    text = json.dumps({**document, "channel": channel}, indent=1) + "\n"
    for key, rows in tables.items():
        lines = ",\n   ".join(map(json.dumps, rows))
        text = text.replace(f'  "{key}": "{channel[key]}"', f'  "{key}": [\n   {lines}\n  ]', 1)
    return text


def load_channel(path: str | os.PathLike[str]) -> SavedMechanism:
    """Read a channel file and verify all its claims.

    Raises
    ------
    InputError
        If it cannot be read or is not JSON.
    CertificateError
        If a claim does not hold, or the file is not of a channel on labels.
    """
    saved = load_mechanism(path)
    if not isinstance(saved.mechanism, Channel):
        raise CertificateError("the file has no channel on labels; use load_mechanism")
    return saved


def load_mechanism(path: str | os.PathLike[str]) -> SavedMechanism:
    """Read a file of a channel, a continuous channel or a mechanism, and verify all its claims.

    Raises
    ------
    InputError
        If it cannot be read or is not JSON.
    LimitError
        If it exceeds a resource limit.
    CertificateError
        If a claim does not hold.
    """
    document, verified = read_verified(path)
    return SavedMechanism(*_restored(document, str(path)), document, verified)


def _restored(
    document: dict[str, Any], path: str
) -> tuple[Channel | Mechanism | ContinuousChannel, Prior | None]:
    """Return the mechanism and the prior of a verified document."""
    kind = "mechanism" if "law" in document else "channel"
    try:
        return _structured(document) if kind == "mechanism" else _channel(document)
    except LimitError as error:
        raise error.inside_file(path) from None
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        reason = f"the file contains no valid {kind}: {error}"
        raise CertificateError(f"{path}: refused: {reason}") from None


def _structured(document: dict[str, Any]) -> tuple[Mechanism, Prior | None]:
    from mechdesign.mechanisms.registry import restored

    problem, law = document["problem"], _as_numbers(document["law"])
    (table,) = problem["privacy"]
    prior = Prior(problem["prior"]) if "prior" in problem else None
    notion = NOTIONS[table["notion"]](**{k: v for k, v in table.items() if k != "notion"})
    return restored(law.pop("kind"), read_domain(problem["domain"]), notion, law, prior), prior


def _channel(document: dict[str, Any]) -> tuple[Channel | ContinuousChannel, Prior | None]:
    """Return a channel on labels, or a continuous channel from its channel on nodes."""
    problem, saved = document["problem"], document["channel"]
    rounding = document.get("rounding")
    channel = Channel(
        [[int(entry) for entry in row] for row in saved["numerators"]],
        inputs=read_domain(problem["domain"]) if rounding is None else None,
        outputs=saved["outputs"],
        bits=saved["bits"],
    )
    if rounding is None:
        return channel, Prior(problem["prior"]) if "prior" in problem else None
    ends = [side["interval"] for side in problem["domain"]]
    kind, axes = rounding["kind"], rounding["axes"]
    if len(ends) == 1:
        return ContinuousChannel(Interval(*ends[0]), kind, axes[0], channel), None
    return ContinuousChannel(Box(*zip(*ends, strict=True)), kind, axes, channel), None


TEXTS = ("kind", "epsilon")
"""Parameters that are text, not integers."""


def _as_numbers(parameters: Any) -> Any:
    """Return parameters with integers parsed from text."""
    if isinstance(parameters, Mapping):
        return {
            key: entry if key in TEXTS else _as_numbers(entry) for key, entry in parameters.items()
        }
    if isinstance(parameters, list):
        return [_as_numbers(entry) for entry in parameters]
    return int(parameters)
