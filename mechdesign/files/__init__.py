"""Files: problems in TOML, channels in JSON, priors from tables of records.

Files are verified on reading, and written atomically. Modules are imported when they are first
used: to verify a file the kernel is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from mechdesign.files.mechanisms import SavedMechanism, load_channel, load_mechanism, save
    from mechdesign.files.problems import load_problem
    from mechdesign.files.reading import data_folder

__all__ = [
    "SavedMechanism",
    "data_folder",
    "load_channel",
    "load_mechanism",
    "load_problem",
    "save",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "mechanisms": ["SavedMechanism", "load_channel", "load_mechanism", "save"],
        "problems": ["load_problem"],
        "reading": ["data_folder"],
    },
)
