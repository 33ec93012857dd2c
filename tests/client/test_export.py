"""Exports hold the certified integers; mechanisms without a client are refused."""

from __future__ import annotations

import base64
import json
import re
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.client import LANGUAGES, client_table, export, export_client
from tests.cli_support import Run
from tests.strategies import examples

FILES = {
    "c": ["mechdesign_client.h", "mechdesign_table.h"],
    "javascript": ["mechdesign_client.mjs", "mechdesign_table.json", "device.html"],
}


def saved(drawn: object, folder: Path) -> md.files.SavedMechanism:
    md.save(drawn, folder / "file.json")
    return md.load_mechanism(folder / "file.json")


def masses(law: dict[str, str], n_rows: int, n_outputs: int) -> list[list[int]]:
    """Return the law of an alias table by adding up its cells, in units of 2**-62."""
    bits = int(law["cell_bits"])
    thresholds = np.frombuffer(base64.b64decode(law["thresholds"]), "<u8").tolist()
    aliases = np.frombuffer(base64.b64decode(law["aliases"]), "<u2").tolist()
    found = [[0] * max(n_outputs, 1 << bits) for _ in range(n_rows)]
    for place, (threshold, alias) in enumerate(zip(thresholds, aliases, strict=True)):
        row, cell = found[place >> bits], place & ((1 << bits) - 1)
        row[cell] += threshold
        row[alias] += (1 << 62 - bits) - threshold
    return found


@examples(12)
@given(st.data())
def test_the_cells_add_up_to_the_certified_integers(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    n_rows, n_outputs = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 20))
    weights = st.lists(st.integers(0, 10**6), min_size=n_outputs, max_size=n_outputs).filter(any)
    rows = [
        [Fraction(w, sum(row)) for w in row] for row in data.draw(st.tuples(*[weights] * n_rows))
    ]
    channel = md.Channel.from_matrix(rows)
    law = client_table(saved(channel, tmp_path_factory.mktemp("channel")))["law"]
    for found, exact in zip(masses(law, *channel.shape), channel.numerators.tolist(), strict=True):
        assert found[:n_outputs] == exact
        assert not any(found[n_outputs:])


def test_the_truth_is_one_output_more(tmp_path: Path) -> None:
    response = md.mechanisms.LIPRandomizedResponse(["a", "b"], 1, md.Prior([0.4, 0.6]))
    law = client_table(saved(response, tmp_path))["law"]
    ((*fresh, truth, _),) = masses(law, 1, 3)
    assert response.parameters() == {"fresh": fresh, "truth": truth}


def test_a_mechanism_is_its_few_integers(tmp_path: Path) -> None:
    cells = md.mechanisms.HadamardResponse(4_375, 1)
    table = client_table(saved(cells, tmp_path))
    assert table["law"] == {
        "kind": cells.name,
        **{k: str(v) for k, v in cells.parameters().items()},
    }
    assert (table["inputs"], table["outputs"]) == (4_375, 8_192)
    assert table["privacy"][0]["certified"] is True
    export_client(md.load_mechanism(tmp_path / "file.json"), tmp_path)
    assert (tmp_path / "mechdesign_table.h").stat().st_size < 1000


def test_the_digest_is_that_of_the_list_of_labels(tmp_path: Path) -> None:
    both = [
        md.mechanisms.GeneralizedRandomizedResponse(labels, 1)
        for labels in (["a", "b"], ["a", "c"])
    ]
    first, second = (client_table(saved(response, tmp_path))["digest"] for response in both)
    assert first != second
    assert md.load_mechanism(tmp_path / "file.json").document["digest"].endswith(second)


@pytest.mark.parametrize("language", [None, *LANGUAGES])
def test_the_command_writes_what_was_asked_for(
    language: str | None, tmp_path: Path, printed: Run
) -> None:
    channel = md.Channel.from_matrix([[1, 0], [0, 1]], inputs=["</script>", "b"])
    saved(channel, tmp_path)
    words = [] if language is None else ["--language", language]
    printed("export", str(tmp_path / "file.json"), "--client", f"{tmp_path}/out", *words)
    wanted = [name for key in FILES if language in (None, key) for name in FILES[key]]
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {*wanted, "vectors.txt"}
    if "device.html" in written:
        page = (tmp_path / "out" / "device.html").read_text()
        assert page.count("</script>") == 1  # that of the page
        assert not re.search(r"https?://|fetch\(|import ", page.split("<script")[1].split("*/")[-1])
        table = json.loads((tmp_path / "out" / "mechdesign_table.json").read_text())
        assert table["inputs"] == ["</script>", "b"]


def test_a_table_has_as_many_outputs_as_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coin = saved(md.Channel.from_matrix([[1, 0], [0, 1]]), tmp_path)
    for most, is_refused in ((2, False), (1, True)):
        monkeypatch.setattr(export, "MOST_OUTPUTS", most)
        with pytest.raises(md.UnsupportedError) if is_refused else nullcontext():
            assert client_table(coin)["law"]["kind"] == "channel"


@pytest.mark.parametrize(
    "drawn",
    [
        md.mechanisms.SubsetSelection(6, 1),
        md.mechanisms.GeometricNoise([1, 2, 3], 1),
        md.Channel.from_matrix([[1, 0], [0, 1]]).then(md.Channel.from_matrix([[1, 0], [0, 1]])),
    ],
    ids=["subsets", "noise", "a product of channels"],
)
def test_what_clients_do_not_draw_is_refused(drawn: object, tmp_path: Path, refused: Run) -> None:
    saved(drawn, tmp_path)
    words = ["export", str(tmp_path / "file.json"), "--client", f"{tmp_path}/out"]
    assert "client: expected" in refused(*words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("label", ["a\0b", "\ud800"])
def test_labels_that_c_cannot_hold_are_refused(label: str, tmp_path: Path, refused: Run) -> None:
    saved(md.Channel.from_matrix([[1], [1]], inputs=[label, "b"]), tmp_path)
    words = ["export", str(tmp_path / "file.json"), "--client", f"{tmp_path}/out"]
    assert "labels in UTF-8 without zero bytes" in refused(*words)
    assert not (tmp_path / "out").exists()


def test_wrong_input_is_one_line(tmp_path: Path, refused: Run) -> None:
    saved(md.Channel.from_matrix([[1]]), tmp_path)
    with pytest.raises(md.InputError, match="language: expected"):
        export_client(md.load_mechanism(tmp_path / "file.json"), tmp_path, ["rust"])
    (tmp_path / "file").write_text("")
    words = ["export", str(tmp_path / "file.json"), "--client", str(tmp_path / "file")]
    assert "a folder that can be made" in refused(*words)
