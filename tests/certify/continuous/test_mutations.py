"""Changed files of an interval or a box: `verify` accepts one only where a second checker does."""

from __future__ import annotations

import collections
import copy
import functools
import json
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Channel, Prior, UnbiasedVariance
from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.continuous.continuous_file import _columns, _outputs, read_problem
from mechdesign.certify.continuous.kernel import Kernel
from mechdesign.certify.continuous.plane import PlaneKernel, read_plane, read_points
from mechdesign.errors import CertificateError, InputError, MechdesignError
from mechdesign.files import load_mechanism
from tests.corpus import CONTINUOUS, document_of
from tests.independent.continuous import check
from tests.independent.rationals import RefusedError
from tests.mutations import Document, Mutator

SEED = 17


@functools.cache
def pool() -> list[Document]:
    return [document_of(name) for name in CONTINUOUS]


def claims(document: Document) -> Document:
    """Return the value as it is, so that a change of the channel or the law is a forgery."""
    try:
        channel, kernel = document["channel"], kernel_of(document)
        changed: dict[str, Any] = {"value": float(kernel.value()), "cells": kernel.stated.size}
        if "decoder" in channel:
            channel["decoder"] = [float(reading) for reading in kernel.readings()]
    except MechdesignError as error:
        raise RefusedError(str(error)) from None
    return changed


def kernel_of(document: Document) -> Any:
    """Return the kernel of a file; unbiased readings are found anew."""
    problem, channel = document["problem"], document["channel"]
    if "axes" in channel:
        stated = read_plane(problem, channel["axes"])
        return PlaneKernel(stated, *_columns(stated, channel), read_points(channel["outputs"]))
    on_line = read_problem(problem, channel["points"])
    columns, bits = _columns(on_line, channel)
    read = None
    if "readings" in channel:
        rows = [list(map(int, row)) for row in channel["numerators"]]
        utility = UnbiasedVariance(on_line.nodes, on_line.utility["worst_case"])
        read = Readings.of(utility.decoder(Channel(rows, bits=bits), Prior(on_line.prior)))
        channel["readings"] = read.table
    return Kernel(on_line, columns, bits, _outputs(on_line, channel["outputs"]), read)


def accepted(raw: bytes, file: Path) -> bool:
    file.write_bytes(raw)
    try:
        load_mechanism(file)
    except (CertificateError, InputError):
        return False
    return True


def compare(seed: int, count: int, file: Path) -> collections.Counter[str]:
    mutator, ends = Mutator(pool(), seed, claims), collections.Counter[str]()
    for number in range(count):
        raw = mutator.text() if number % 4 == 0 else json.dumps(mutator.tree()).encode()
        if not accepted(raw, file):
            ends["refused"] += 1
            continue
        ends["accepted"] += 1
        try:
            check(json.loads(raw))
        except RefusedError as error:
            kept = file.with_name(f"disagreement_{number}.json")
            kept.write_bytes(raw)
            pytest.fail(f"mutant {number} is accepted, but {error}: {kept}")
    return ends


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_second_checker_confirms_honest_files(name: str, tmp_path: Path) -> None:
    document = document_of(name)
    assert accepted(json.dumps(document).encode(), tmp_path / "file.json")
    check(document)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_second_checker_refuses_false_claims(name: str) -> None:
    document = document_of(name)
    less = 0.999 if "worst" in name or "matrix" in name else 1 - 1e-5  # at 21 numbers of a cell
    less = 0.6 if "plane" in name else less  # the value is at least the loss there
    with pytest.raises(RefusedError, match="the loss"):
        check({**document, "value": document["value"] * less})
    with pytest.raises(RefusedError, match="the bound"):
        check({**document, "bound": document["value"] * (1.5 if "plane" in name else 1.05)})
    problem = copy.deepcopy(document["problem"])
    for table in problem["privacy"]:
        for key in ("epsilon", "delta", "upper"):
            if isinstance(table.get(key), str):
                table[key] = "0.001"
    if "matrix" not in name:
        with pytest.raises(RefusedError, match="is broken"):
            check({**document, "problem": problem})


def test_changed_files_are_refused_or_true(tmp_path: Path) -> None:
    ends = compare(SEED, 500, tmp_path / "file.json")
    assert ends["accepted"] > 20
    assert ends["refused"] > 250


@pytest.mark.long
@pytest.mark.slow
def test_twenty_thousand_changed_files(tmp_path: Path) -> None:
    ends = compare(SEED + 1, 20_000, tmp_path / "file.json")
    assert ends["accepted"] > 800
