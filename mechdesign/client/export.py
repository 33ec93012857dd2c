"""Export of a client: the table, the sampler in C or JavaScript, and test vectors."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.client.table import client_table
from mechdesign.client.vectors import vector_lines
from mechdesign.errors import InputError, known_word
from mechdesign.files import SavedMechanism
from mechdesign.writing.atomic import write_atomically

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
            lines += [f"static const {ctype} md_{key}[] = {{", *_c_rows(cells), "};"]
            fields[key] = f"md_{key}"
            fields["cells"] = str(len(cells))
    fields |= {key: f"{number}u" for key, number in law.items()}
    lines += ["static const md_table md_channel = {"]
    lines += [f"  .{key} = {field}," for key, field in fields.items()]
    return "\n".join([*lines, "};", "#endif", ""])


def _c_rows(cells: list[int]) -> list[str]:
    return [
        "  " + "".join(f"{cell:#x}u," for cell in cells[n : n + 8]) for n in range(0, len(cells), 8)
    ]


def _c_text(label: str) -> str:
    """Return an ASCII string literal, with quotes, backslashes and other UTF-8 bytes in octal."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in label.encode())
    return f'  "{"".join(plain)}",'
