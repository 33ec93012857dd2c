"""Files: problems in TOML, channels in JSON, priors from tables of records.

A file is checked before it is believed, and written whole or not at all.
"""

from __future__ import annotations

from mechdesign.files.channels import SavedChannel, load_channel, save
from mechdesign.files.disk import data_folder, write_atomically
from mechdesign.files.problems import load_problem

__all__ = [
    "SavedChannel",
    "data_folder",
    "load_channel",
    "load_problem",
    "save",
    "write_atomically",
]
