"""A channel without a problem is saved, checked and loaded, and claims nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.kernel import digest, verify

GRID = md.Channel.from_matrix([[1, 0], ["1/3", "2/3"]], inputs=md.Domain.grid(1, 2, "1/2"))
TEXT = md.Channel.from_matrix([["1/2", "1/4", "1/4"]] * 2, inputs=["a", "b"], outputs=[0, 0.5, "x"])


@pytest.mark.parametrize(
    "channel", [GRID, TEXT, TEXT.then(md.Channel.from_matrix([[1]] * 3, inputs=[0, 0.5, "x"]))]
)
def test_a_channel_comes_back_as_it_was(channel: md.Channel, tmp_path: Path) -> None:
    file = tmp_path / "channel.json"
    md.save(channel, file)
    assert md.load_channel(file).channel == channel
    assert md.load_channel(file).prior is None
    assert md.load_mechanism(file).mechanism == channel
    assert "NOT claimed: privacy" in str(md.load_channel(file).verified)


TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a row sum": lambda d: d["channel"]["numerators"][0].__setitem__(0, "1"),
    "the matrix": lambda d: d["channel"]["matrix"][0].__setitem__(0, 0.4),
    "an input": lambda d: d["channel"]["inputs"].__setitem__(0, "c"),
    "inputs alike": lambda d: d["problem"]["domain"].__setitem__("values", ["a", "a"]),
    "outputs alike": lambda d: d["channel"].__setitem__("outputs", [0, 0, "x"]),
    "the bits": lambda d: d["channel"].__setitem__("bits", 61),
    "a claim of privacy": lambda d: d.__setitem__("privacy", [{"notion": "ldp", "epsilon": 0}]),
    "a claim within the inputs": lambda d: d["problem"]["domain"].__setitem__("privacy", "ldp"),
    "a decoder": lambda d: d["channel"].__setitem__("decoder", [1, 2, 3]),
    "no channel": lambda d: d.pop("channel"),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_what_was_changed_is_refused(change: str, tmp_path: Path) -> None:
    file = tmp_path / "channel.json"
    md.save(TEXT, file)
    document = json.loads(file.read_text())
    verify(document)
    TAMPERED[change](document)
    with pytest.raises(md.CertificateError, match="digest"):
        verify(document)
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError):
        verify(document)


def test_a_proof_without_its_problem_is_no_bare_channel(tmp_path: Path) -> None:
    document = md.design(md.Problem(2, md.LDP(1), md.HammingLoss())).document()
    del document["certificate"]
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError, match="title: bare file has no such key"):
        verify(document)
