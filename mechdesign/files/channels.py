"""Channel files: JSON with the answer, the exact integers, the problem and the proof."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechdesign.certify import Verified, verify
from mechdesign.certify.channel_file import FORMAT
from mechdesign.channel import Channel
from mechdesign.errors import CertificateError, InputError
from mechdesign.files.disk import read_text, write_atomically
from mechdesign.files.problems import read_domain
from mechdesign.prior import Prior
from mechdesign.solution import Solution

__all__ = ["SavedChannel", "checked_channel", "load_channel", "read_document", "save_solution"]


@dataclass(frozen=True)
class SavedChannel:
    """A channel file that was checked.

    Attributes
    ----------
    channel
        The exact channel.
    prior
        The prior that it was designed for.
    document
        Everything in the file.
    verified
        The claims that hold.
    """

    channel: Channel
    prior: Prior
    document: dict[str, Any]
    verified: Verified


def save_solution(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution with its certificate to a JSON file, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    write_atomically(Path(path), _text(solution.document()))


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
    return checked_channel(read_document(Path(path)))


def read_document(file: Path) -> Any:
    """Return the parsed JSON of a file.

    Raises
    ------
    InputError
        If it cannot be read or is no JSON.
    """
    text = read_text(file)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or absurdly deep or long
        raise InputError(str(file), "a JSON file, whole", error) from None


def checked_channel(document: Any) -> SavedChannel:
    """Return the channel of a document, once every claim in it is checked.

    Raises
    ------
    CertificateError
        If a claim does not hold, or the document is of something else.
    """
    verified = verify(document)
    if document["format"] != FORMAT["format"]:
        raise CertificateError("this is a mechanism file, which holds no matrix")
    stated, saved = document["problem"], document["channel"]
    channel = Channel(
        [[int(entry) for entry in row] for row in saved["numerators"]],
        inputs=read_domain(stated["domain"]),
        outputs=saved["outputs"],
        bits=saved["bits"],
    )
    return SavedChannel(channel, Prior(stated["prior"]), document, verified)
