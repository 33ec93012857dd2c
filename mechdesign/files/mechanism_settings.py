"""The part of a problem file that a structured mechanism needs: no utility, and any size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.files.problems import (
    TABLES,
    check_keys,
    read_domain,
    read_prior,
    read_privacy,
    read_toml,
    section_of,
)
from mechdesign.notions import Notion
from mechdesign.prior import Prior

__all__ = ["Setting", "load_setting"]


@dataclass(frozen=True)
class Setting:
    """What records are, and what must stay secret of them.

    Attributes
    ----------
    domain
        The inputs.
    privacy
        The notions.
    prior
        How likely the inputs are; None where the file does not say.
    """

    domain: Domain
    privacy: tuple[Notion, ...]
    prior: Prior | None


def load_setting(path: str | os.PathLike[str]) -> Setting:
    """Read the tables ``[domain]``, ``[privacy]`` and ``[prior]`` of a problem file.

    The other tables are not read, and the domain may be too large for a matrix.

    Raises
    ------
    InputError
        If it is not such a file; the message names the file, the key, what was expected and what
        was given.
    """
    file = Path(path)
    table = read_toml(file)
    try:
        check_keys(table, "", TABLES, required=("domain", "privacy"))
        domain = read_domain(section_of(table, "domain"))
        privacy = read_privacy(table["privacy"], domain, file.parent)
        given = None
        if "prior" in table:
            given = read_prior(section_of(table, "prior"), domain, file.parent)
    except InputError as error:
        raise error.inside_file(str(file)) from None
    return Setting(domain, tuple(privacy), given)
