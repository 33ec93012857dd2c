"""Clients: a table of certified integers, a sampler in C or JavaScript, and test vectors.

The table is the form that a device uses: for a channel the alias table of
:meth:`mechdesign.Channel.privatize`, for a structured mechanism its few integers. Test vectors are
random bytes with the report that the library draws from them: another sampler with the same bytes
must send the same reports.
"""

from __future__ import annotations

import base64
import copy
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.channel import BITS, Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, UnsupportedError, known_word
from mechdesign.files import SavedMechanism
from mechdesign.mechanisms import LIPRandomizedResponse, Mechanism
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.reported_sets import (
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from mechdesign.reports import Labels
from mechdesign.sampling import AliasTable, Source
from mechdesign.writing.atomic import write_atomically

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


EDGES = 0.25
"""The share of words that are thresholds of the law, or just below."""


class VectorSource(Source):
    """A stream of 64-bit words for each record that records the words taken.

    Some of the words are ``edges``, the others random.
    """

    simulated = True
    has_own_streams = True

    def __init__(self, count: int, seed: int, edges: npt.NDArray[np.uint64]) -> None:
        self._generator, self._edges = np.random.default_rng(seed), edges
        self._taken: list[list[bytes]] = [[] for _ in range(count)]
        self._records: npt.NDArray[np.intp] = np.arange(count)

    def of(self, records: slice | npt.NDArray[Any]) -> Source:
        """Return the source of some of the records."""
        some = copy.copy(self)
        some._records = self._records[records]
        return some

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return new words, an equal number per record."""
        words = self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)
        edge = self._generator.random(count) < EDGES
        words[edge] = self._generator.choice(self._edges, int(edge.sum()))
        each = words.astype("<u8").reshape(len(self._records), -1)
        for record, own in zip(self._records.tolist(), each, strict=True):
            self._taken[record].append(own.tobytes())
        return words

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        """Return bytes of new words; the mechanisms of clients take whole words."""
        return self.words(count // 8).view(np.uint8)

    def taken(self) -> list[str]:
        """Return the words taken by each record, in hexadecimal and in order."""
        return [b"".join(parts).hex() for parts in self._taken]


def vector_lines(saved: SavedMechanism, count: int) -> list[str]:
    """Return lines with an input number, the bytes in hexadecimal, and the report.

    A share of the words is at the thresholds of the law, to detect off-by-one errors. A report is a
    number, or a set in hexadecimal as in a file of reports. The lines are deterministic.
    """
    table, mechanism = client_table(saved), saved.mechanism
    if isinstance(mechanism, ContinuousChannel):  # has no table
        raise AssertionError
    source = VectorSource(count, int(table["digest"], 16), _edges(table["law"]))
    codes: Int64Array = np.arange(count) % len(mechanism.inputs)
    data = mechanism.draw(codes, source)
    reports = map(str, data.tolist()) if data.ndim == 1 else mechanism.alphabet.write(data)
    lines = zip(codes.tolist(), source.taken(), reports, strict=True)
    return [f"{x} {taken} {report}" for x, taken, report in lines]


def _edges(law: Mapping[str, str]) -> npt.NDArray[np.uint64]:
    """Return words at the thresholds of cells, or at multiples of a mechanism's masses."""
    if "thresholds" in law:
        bits = int(law["cell_bits"])
        thresholds = np.frombuffer(base64.b64decode(law["thresholds"]), "<u8").tolist()
        at = [(n % (1 << bits) << 64 - bits) + 4 * t for n, t in enumerate(thresholds)]
    else:
        numbers = [int(text) for key, text in law.items() if key != "kind"]
        masses = [*numbers, *((1 << BITS) - number for number in numbers)]
        at = [mass << shift for mass in masses for shift in (1, 2)]
    return np.array([word % (1 << 64) for edge in at for word in (edge, edge - 1)], dtype=np.uint64)


LANGUAGES = ("c", "javascript")

VECTORS = 100
"""Number of test vectors of a client."""

SOURCES = Path(__file__).parent

IN_THE_PAGE = "/* the client and its table */"


def export_client(
    saved: SavedMechanism, folder: str | os.PathLike[str], languages: Iterable[str] = LANGUAGES
) -> list[Path]:
    """Write the client of a channel or a structured mechanism to a folder.

    For C: ``mechdesign_client.h``, the sampler, and ``mechdesign_table.h``, the table. For
    JavaScript: ``mechdesign_client.mjs``, ``mechdesign_table.json``, and ``device.html``, a page
    with both that draws in the browser. For both: ``vectors.txt``.

    Parameters
    ----------
    saved
        A verified file, from :func:`mechdesign.load_mechanism`.
    folder
        The output folder, created if missing; existing files are replaced.
    languages
        ``"c"``, ``"javascript"``, or both.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If a language is unknown, or a file cannot be written.
    UnsupportedError
        If clients do not support this mechanism.
    """
    wanted = [known_word(language, LANGUAGES, "language") for language in languages]
    table = client_table(saved)
    files = {"vectors.txt": "\n".join(vector_lines(saved, VECTORS)) + "\n"}
    if "c" in wanted:
        files["mechdesign_client.h"] = _source("mechdesign_client.h")
        files["mechdesign_table.h"] = _c_table(table)
    if "javascript" in wanted:
        client, text = _source("mechdesign_client.mjs"), json.dumps(table, indent=1)
        files["mechdesign_client.mjs"] = client
        files["mechdesign_table.json"] = text + "\n"
        safe = text.replace("<", r"\u003c")  # a label must not close the script element
        page = _source("device.html")
        files["device.html"] = page.replace(IN_THE_PAGE, f"{client}\nconst table = {safe};\n")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(place), "a folder that can be made", f"{error.strerror}") from None
    for name, text in files.items():
        write_atomically(place / name, text)
    return [place / name for name in files]


def _source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def _c_table(table: Mapping[str, Any]) -> str:
    """Return the table as C99 constants."""
    law = dict(table["law"])
    lines = [
        "/* The table of a mechdesign client. */",
        "#ifndef MECHDESIGN_TABLE_H",
        "#define MECHDESIGN_TABLE_H",
        '#include "mechdesign_client.h"',
    ]
    fields = {
        "version": str(table["version"]),
        "digest": f'"{table["digest"]}"',
        "kind": "MD_" + law.pop("kind").upper().replace("-", "_"),
    }
    for key in ("inputs", "outputs"):
        if isinstance(labels := table.get(key, 0), list):
            lines += [f"static const char *const md_{key}[] = {{", *map(_c_text, labels), "};"]
            fields[f"{key[:-1]}_labels"] = f"md_{key}"
        fields[key] = str(len(labels) if isinstance(labels, list) else labels)
    for key, kind, ctype in (("thresholds", "<u8", "uint64_t"), ("aliases", "<u2", "uint16_t")):
        if key in law:
            cells = np.frombuffer(base64.b64decode(law.pop(key)), kind).tolist()
            texts = [f"{cell:#x}u," for cell in cells]
            rows = ["  " + "".join(texts[n : n + 8]) for n in range(0, len(texts), 8)]
            lines += [f"static const {ctype} md_{key}[] = {{", *rows, "};"]
            fields[key] = f"md_{key}"
            fields["cells"] = str(len(cells))
    fields |= {key: f"{number}u" for key, number in law.items()}
    lines += ["static const md_table md_channel = {"]
    lines += [f"  .{key} = {field}," for key, field in fields.items()]
    return "\n".join([*lines, "};", "#endif", ""])


def _c_text(label: str) -> str:
    """Return an ASCII string literal, with quotes, backslashes and other UTF-8 bytes in octal."""
    try:
        encoded = label.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if 0 in encoded:  # it would end the text
        expected = "labels in UTF-8 without zero bytes, for C"
        raise UnsupportedError("client", expected, "others", "--language javascript")
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in encoded)
    return f'  "{"".join(plain)}",'
