"""Files: problems in TOML, channels in JSON, priors from tables of records.

Files are verified on reading, and written atomically.
"""

from __future__ import annotations

from mechdesign.files.folders import data_folder
from mechdesign.files.mechanisms import SavedMechanism, load_channel, load_mechanism, save
from mechdesign.files.problems import load_problem
from mechdesign.writing.atomic import write_atomically

__all__ = [
    "SavedMechanism",
    "data_folder",
    "load_channel",
    "load_mechanism",
    "load_problem",
    "save",
    "write_atomically",
]
