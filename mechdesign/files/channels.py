"""Channel files: JSON with the answer, the exact integers, the problem and the proof."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mechdesign.channel import Channel
from mechdesign.designs.solution import Solution
from mechdesign.errors import CertificateError, InputError, LimitError
from mechdesign.files.problems import read_domain
from mechdesign.files.reading import read_json_text
from mechdesign.kernel import Verified, parse, verify
from mechdesign.kernel.documents import FORMAT
from mechdesign.prior import Prior
from mechdesign.writing.atomic import write_atomically

if TYPE_CHECKING:
    from mechdesign.continuous import ContinuousChannel
    from mechdesign.designs.continuous.solution import ContinuousSolution
    from mechdesign.mechanisms import Mechanism

__all__ = [
    "SavedChannel",
    "SavedMechanism",
    "checked_channel",
    "load_channel",
    "read_document",
    "save_solution",
    "verified_file",
]


@dataclass(frozen=True)
class SavedMechanism:
    """A file of a channel or of a structured mechanism that was checked.

    Attributes
    ----------
    mechanism
        What draws reports, and reads them.
    prior
        The prior that it was designed for; None where it needs none, or is saved by itself.
    document
        Everything in the file.
    verified
        The claims that hold.
    """

    mechanism: Channel | Mechanism | ContinuousChannel
    prior: Prior | None
    document: dict[str, Any] = field(repr=False)
    verified: Verified


@dataclass(frozen=True)
class SavedChannel(SavedMechanism):
    """A channel file that was checked; see :class:`SavedMechanism`."""

    mechanism: Channel

    @property
    def channel(self) -> Channel:
        """The exact channel."""
        return self.mechanism


S = TypeVar("S", bound=SavedMechanism)


def save_solution(
    solution: Solution | ContinuousSolution, path: str | os.PathLike[str]
) -> dict[str, Any]:
    """Write a solution with its certificate to a JSON file, and return what is in it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    document = solution.document()
    is_matrix = "channel" in document  # else the channel is a structured mechanism
    write_atomically(Path(path), _text(document) if is_matrix else json.dumps(document) + "\n")
    return document


def save_bare_channel(channel: Channel, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Write a channel to a JSON file that claims nothing, and return what is in it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    document = channel.document()
    verify(document)
    write_atomically(Path(path), _text(document))
    return document


def _text(document: dict[str, Any]) -> str:
    """Return indented JSON, but each row of a large table on a line of its own."""
    channel = dict(document["channel"])
    tables = {key: channel[key] for key in ("matrix", "numerators")}
    channel |= {key: f"{key} of the channel" for key in tables}
    text = json.dumps({**document, "channel": channel}, indent=1) + "\n"
    for key, rows in tables.items():
        lines = ",\n   ".join(map(json.dumps, rows))
        text = text.replace(f'  "{key}": "{channel[key]}"', f'  "{key}": [\n   {lines}\n  ]', 1)
    return text


def load_channel(path: str | os.PathLike[str]) -> SavedChannel:
    """Read a channel file, and check every claim in it before returning it.

    Raises
    ------
    InputError
        If it cannot be read or is no JSON.
    CertificateError
        If a claim does not hold.
    """
    return verified_file(path, checked_channel)


def verified_file(path: str | os.PathLike[str], check: Callable[[Any], S]) -> S:
    """Return what a check finds in a file.

    Raises
    ------
    InputError
        If it cannot be read or is no JSON.
    LimitError
        If it asks for more than is allowed.
    CertificateError
        If the check finds a claim that does not hold.
    """
    try:
        return check(read_document(Path(path)))
    except LimitError as error:
        raise error.inside_file(str(path)) from None


def read_document(file: Path) -> Any:
    """Return the parsed JSON of a file.

    Raises
    ------
    InputError
        If it cannot be read or is no JSON.
    """
    text = read_json_text(file)
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:  # no JSON, or absurdly deep or long
        hint = ""
        if file.suffix.lower() == ".toml":
            hint = f"mechdesign solve {file} -o channel.json designs a channel for a problem"
        fault = f"not a complete JSON file: {error}"
        raise InputError(str(file), "a JSON file", error, hint, fault) from None


def checked_channel(document: Any) -> SavedChannel:
    """Return the channel of a document after checking every claim in it.

    Raises
    ------
    CertificateError
        If a claim does not hold, or the document is of something else.
    """
    verified = verify(document)
    if not is_channel_file(document):
        raise CertificateError("the file has no channel on labels; use load_mechanism")
    stated, saved = document["problem"], document["channel"]
    try:
        channel = Channel(
            [[int(entry) for entry in row] for row in saved["numerators"]],
            inputs=read_domain(stated["domain"]),
            outputs=saved["outputs"],
            bits=saved["bits"],
        )
        prior = Prior(stated["prior"]) if "prior" in stated else None
    except LimitError:
        raise
    except InputError as error:
        raise CertificateError(f"the file contains no valid channel: {error}") from None
    return SavedChannel(channel, prior, document, verified)


def is_channel_file(document: Any) -> bool:
    """Return whether a document has the format of a channel on labels, with or without claims."""
    is_one = isinstance(document, dict) and document.get("format") == FORMAT
    return is_one and "channel" in document and "rounding" not in document
