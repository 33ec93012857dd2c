"""The page that is a device, in Chromium: it draws, keeps its report, and sends nothing."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.client import export_client, vector_lines

pytestmark = pytest.mark.slow

VECTORS = 100_000

PLAYED = """([table, lines]) => {
  let bytes, used;
  const random = (out) => out.set(bytes.subarray(used, (used += out.length)));
  const make = (options) => new Client(table, { random, ...options });
  const clients = [make({}), ...("thresholds" in table.law ? [make({ constantTime: true })] : [])];
  let wrong = 0;
  for (const line of lines) {
    const [input, hex, wanted] = line.split(" ");
    bytes = Uint8Array.from(hex.match(/../g), (two) => parseInt(two, 16));
    for (const client of clients) {
      used = 0;
      const report = client.drawNumber(Number(input));
      const two = (byte) => byte.toString(16).padStart(2, "0");
      wrong += (client.outputs ? String(report) : Array.from(report, two).join("")) !== wanted;
    }
  }
  return wrong;
}"""

DRAWN: dict[str, md.Channel | md.mechanisms.Mechanism] = {
    "channel": md.design(md.Problem(range(8), md.LDP(2), md.MeanAbsoluteError())).channel,
    "randomized response": md.mechanisms.GeneralizedRandomizedResponse(1000, 3),
    "Hadamard": md.mechanisms.HadamardResponse(500, 4),
    "projective": md.mechanisms.ProjectiveGeometryResponse(22_000, 5),
    "unary": md.mechanisms.OptimizedUnaryEncoding(130, 1),
    "LIP": md.mechanisms.LIPRandomizedResponse(4, 2, md.Prior([0.4, 0.3, 0.15, 0.15])),
}


@pytest.fixture(scope="module")
def tab() -> Iterator[Any]:
    """Return a browser tab; skip the test without a browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[explorer]'")
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def exported(drawn: md.Channel | md.mechanisms.Mechanism, folder: Path) -> Path:
    md.save(drawn, folder / "file.json")
    export_client(md.load_mechanism(folder / "file.json"), folder, ["javascript"])
    return folder


@pytest.mark.parametrize("name", DRAWN)
def test_chromium_sends_the_same_reports(name: str, tmp_path: Path, tab: Any) -> None:
    folder = exported(DRAWN[name], tmp_path)
    tab.goto((folder / "device.html").as_uri())
    tab.add_script_tag(
        type="module",
        content=(folder / "mechdesign_client.mjs").read_text() + "window.Client = Client;",
    )
    tab.wait_for_function("window.Client !== undefined")
    table = json.loads((folder / "mechdesign_table.json").read_text())
    saved = md.load_mechanism(folder / "file.json")
    assert tab.evaluate(PLAYED, [table, vector_lines(saved, VECTORS)]) == 0


def test_a_device_answers_once_and_sends_nothing(tmp_path: Path, tab: Any) -> None:
    folder = exported(DRAWN["channel"], tmp_path)
    asked: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((folder / "device.html").as_uri())
    assert tab.locator("#answer option").all_inner_texts() == list(map(str, range(8)))
    reports = set()
    for answer in ("0", "7", "3") * 5:
        tab.select_option("#answer", answer)
        tab.click("text=Draw my report")
        reports.add(tab.inner_text("#report"))
    tab.reload()
    assert reports == {tab.inner_text("#report")}
    assert "the same" in tab.inner_text("#note")
    with tab.expect_download() as saved:
        tab.click("text=Save the report")
    (row,) = csv.DictReader(Path(saved.value.path()).read_text().splitlines())
    table = json.loads((folder / "mechdesign_table.json").read_text())
    assert row == {"digest": table["digest"], "report": reports.pop()}
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data"}
    assert errors == []
    refused = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert tab.evaluate(refused) == "refused"
