"""Saved files that are compressed: the same documents, and no way around the limits."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mechdesign import (
    LDP,
    HammingLoss,
    InputError,
    LimitError,
    Problem,
    design,
    load_channel,
    resources,
    save,
)


def test_a_name_that_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    solution = design(Problem(range(4), LDP(1), HammingLoss()))
    plain, packed = tmp_path / "channel.json", tmp_path / "channel.json.gz"
    assert save(solution, plain) == save(solution, packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.stat().st_size < plain.stat().st_size / 2
    assert load_channel(packed).document == load_channel(plain).document
    renamed = tmp_path / "renamed.json"
    renamed.write_bytes(packed.read_bytes())
    assert load_channel(renamed).verified == load_channel(plain).verified


def test_a_compressed_file_is_bounded_by_what_it_holds(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 10**7))
    with resources.allow(bytes=10**6), pytest.raises(LimitError, match="bytes"):
        load_channel(bomb)


@pytest.mark.parametrize("cut", [3, 12, -9, -1])
def test_a_damaged_one_is_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "channel.json.gz"
    save(design(Problem(range(4), LDP(1), HammingLoss())), file)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(InputError, match="cannot read the file"):
        load_channel(file)
