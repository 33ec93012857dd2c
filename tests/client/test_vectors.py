"""The clients in C and JavaScript send the reports of the library, from the same random bytes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import mechdesign as md
from mechdesign.client import export_client, vector_lines

HERE = Path(__file__).parent

VECTORS = [2_000, pytest.param(100_000, marks=pytest.mark.long)]
DRAWS = 10
"""So many draws from the system's bits for each vector, where they are counted."""

FLAGS = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror"]
FLAGS += ["-fsanitize=undefined", "-fno-sanitize-recover"]

Drawn = md.Channel | md.mechanisms.Mechanism


def designed(size: int, notion: md.LDP, utility: object) -> md.Channel:
    return md.design(md.Problem(range(size), notion, utility)).channel


def random_channel(n_inputs: int, n_outputs: int, seed: int) -> md.Channel:
    """Return a channel with entries of every size, zeros among them."""
    entries = np.random.default_rng(seed).gamma(0.2, size=(n_inputs, n_outputs)) + 1e-12
    entries[entries < 1e-6] = 0
    entries[:, 0] += 1e-3
    rows = [[Fraction(float(e)) for e in row] for row in entries]
    return md.Channel.from_matrix([[e / sum(row) for e in row] for row in rows])


def few_bits() -> md.Channel:
    numerators = np.array([[3 << 30, 1 << 30], [1 << 30, 3 << 30]])
    return md.Channel(numerators, inputs=["a b", 'quote"s \\ é'], outputs=["\n", "*/"], bits=32)


CHANNELS: dict[str, Callable[[], Drawn]] = {
    "losses": lambda: designed(8, md.LDP(2), md.MeanAbsoluteError()),
    "risk": lambda: designed(5, md.LDP(1), md.L2Risk()),
    "information": lambda: designed(6, md.LDP("1/2"), md.MutualInformation()),
    "41 labels": lambda: designed(41, md.LDP(1), md.MeanAbsoluteError()),
    "identity": lambda: md.Channel.from_matrix(np.eye(4).tolist()),
    "one output": lambda: md.Channel.from_matrix([[1], [1]]),
    "few bits": few_bits,
    "wide": lambda: random_channel(3, 300, 1),
    "tall": lambda: random_channel(200, 7, 2),
    "17 outputs": lambda: random_channel(2, 17, 3),
}

STRUCTURED: dict[str, Callable[[], Drawn]] = {
    "randomized response": lambda: md.mechanisms.GeneralizedRandomizedResponse(1000, 3),
    "Hadamard, one block": lambda: md.mechanisms.HadamardResponse(43_750, 1),
    "Hadamard, blocks": lambda: md.mechanisms.HadamardResponse(500, 4),
    "projective, a small field": lambda: md.mechanisms.ProjectiveGeometryResponse(500, "1/2"),
    "projective, a large field": lambda: md.mechanisms.ProjectiveGeometryResponse(22_000, 5),
    "optimized unary": lambda: md.mechanisms.OptimizedUnaryEncoding(130, 1),
    "symmetric unary": lambda: md.mechanisms.SymmetricUnaryEncoding(["a", "b", "c"], 2),
    "LIP": lambda: md.mechanisms.LIPRandomizedResponse(
        range(4), 2, md.Prior([0.4, 0.3, 0.15, 0.15])
    ),
}

MANY_DRAWS = ("losses", "Hadamard, blocks", "LIP")
"""Of which reports are drawn from the system's bits, too."""


@pytest.fixture(scope="module", params=VECTORS)
def vectors(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module", params=[*CHANNELS, *STRUCTURED])
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, vectors: int
) -> tuple[Path, Drawn]:
    """Return the folder of a client, with more vectors, and the channel or mechanism."""
    drawn = {**CHANNELS, **STRUCTURED}[request.param]()
    folder = tmp_path_factory.mktemp("client")
    md.save(drawn, folder / "file.json")
    saved = md.load_mechanism(folder / "file.json")
    export_client(saved, folder)
    (folder / "many.txt").write_text("\n".join(vector_lines(saved, vectors)) + "\n")
    if request.param in MANY_DRAWS:
        (folder / "draws.txt").write_text(str(DRAWS * vectors))
    return folder, drawn


def output(*words: str | Path) -> list[str]:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def checked(lines: list[str], drawn: Drawn, vectors: int) -> None:
    """No report differs, and the draws of input 0 have its probabilities."""
    assert lines[0].split() == [str(vectors), "0"]
    if len(lines) == 1:
        return
    counts = np.array(lines[1].split(), dtype=float)
    expected = np.array(
        [float(drawn.probability(drawn.inputs.labels[0], y)) for y in labels(drawn)]
    )
    possible = expected > 0
    assert counts[~possible].sum() == 0
    assert counts.sum() == DRAWS * vectors
    expected *= DRAWS * vectors
    few = np.where(expected < 5, 0, np.cumsum(expected >= 5))  # rare ones together
    c, e = np.bincount(few, counts), np.bincount(few, expected)
    used = e > 0
    statistic = ((c - e)[used] ** 2 / e[used]).sum()
    assert statistic <= chi2.ppf(1 - 1e-9, max(int(used.sum()) - 1, 1))


def labels(drawn: Drawn) -> list[object]:
    return drawn.outputs() if isinstance(drawn, md.mechanisms.Mechanism) else list(drawn.outputs)


def arguments(folder: Path) -> list[str]:
    """Return the file of vectors, and how many reports are to be drawn besides."""
    many = folder / "draws.txt"
    return [str(folder / "many.txt"), *([many.read_text()] if many.exists() else [])]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_sends_the_same_reports(
    compiler: str, exported: tuple[Path, Drawn], vectors: int
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    folder, drawn = exported
    program = folder / f"check_{compiler}"
    output(compiler, *FLAGS, "-I", folder, HERE / "check.c", "-o", program)
    checked(output(program, *arguments(folder)), drawn, vectors)


@pytest.mark.slow
def test_javascript_sends_the_same_reports(exported: tuple[Path, Drawn], vectors: int) -> None:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    folder, drawn = exported
    checked(output("node", HERE / "check.mjs", folder, *arguments(folder)), drawn, vectors)


WRONG = """
import { readFileSync } from "node:fs";
const { Client } = await import(process.argv[1] + "/mechdesign_client.mjs");
const client = new Client(JSON.parse(readFileSync(process.argv[1] + "/mechdesign_table.json")));
const refused = (draw) => {
  try { return draw(); } catch (error) { return error.message; }
};
for (const wrong of [-1, 13, 0.5, NaN, undefined, null, "1"]) {
  console.log(refused(() => client.drawNumber(wrong)));
}
for (const wrong of ["", " 1", "0x1", "1.0", "13", "secret", null, false, undefined, []]) {
  console.log(refused(() => client.draw(wrong)));
}
const ledger = new Map();
const kept = { getItem: (name) => ledger.get(name), setItem: (...pair) => ledger.set(...pair) };
console.log(client.permanent(7, kept) === [...ledger.values()][0]);
"""
"""Numbers and labels that are none, and a ledger that has undefined for what it does not know."""


def test_javascript_draws_for_inputs_only(tmp_path: Path) -> None:
    """The number "1" as text would add up to another law, and 0.5 would show in the report."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    md.save(md.mechanisms.GeneralizedRandomizedResponse(13, 1), tmp_path / "file.json")
    export_client(md.load_mechanism(tmp_path / "file.json"), tmp_path, ["javascript"])
    *refused, kept = output("node", "--input-type=module", "-e", WRONG, tmp_path)
    number = "expected the number of an input, given another"
    label = "expected a label of the table, given another"
    assert refused == [number] * 7 + [label] * 10
    assert kept == "true"
