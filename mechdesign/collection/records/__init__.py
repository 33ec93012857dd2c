"""Files of records: privatize records and count reports, one chunk at a time."""

from __future__ import annotations

from mechdesign.collection.ledger import read_ledger
from mechdesign.collection.records.csv_files import check_table_name, save_estimate
from mechdesign.collection.records.privatize import PrivatizedFile, privatize_file, tally_file

__all__ = [
    "PrivatizedFile",
    "check_table_name",
    "privatize_file",
    "read_ledger",
    "save_estimate",
    "tally_file",
]
