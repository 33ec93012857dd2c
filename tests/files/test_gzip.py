"""Saved files that are compressed: the same documents, and no way around the limits."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import mechdesign as md
from mechdesign import resources


def test_a_name_that_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    solution = md.design(md.Problem(range(4), md.LDP(1), md.HammingLoss()))
    plain, packed = tmp_path / "channel.json", tmp_path / "channel.json.gz"
    assert md.save(solution, plain) == md.save(solution, packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.stat().st_size < plain.stat().st_size / 2
    assert md.load_channel(packed).document == md.load_channel(plain).document
    renamed = tmp_path / "renamed.json"
    renamed.write_bytes(packed.read_bytes())
    assert md.load_channel(renamed).verified == md.load_channel(plain).verified


def test_a_compressed_file_is_bounded_by_what_it_holds(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 10**7))
    with resources.allow(bytes=10**6), pytest.raises(md.LimitError, match="bytes"):
        md.load_channel(bomb)


@pytest.mark.parametrize("cut", [3, 12, -9, -1])
def test_a_damaged_one_is_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "channel.json.gz"
    md.save(md.design(md.Problem(range(4), md.LDP(1), md.HammingLoss())), file)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(md.InputError, match="cannot read the file"):
        md.load_channel(file)
